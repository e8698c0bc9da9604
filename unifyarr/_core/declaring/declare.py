"""Declaring functions: one real ``def`` each, from which the dispatcher is compiled at the first call.

``@primary`` marks a body that normalises its arguments and invokes a kernel, ``@elementwise`` one whose whole meaning
is a NumPy ufunc's, ``@view`` one that returns views, ``@compositional`` one made of other functions, ``@mixed`` one
made of other functions that a backend may have a better kernel for, ``@creation`` one whose result comes from no array.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np

from ..engines.handle import Handle
from ..kernels.record import declare_ufunc
from ..values import above
from ..values.lazily import cached_property
from .function import Function
from .signature import AnnotationScope, Parameters, elementwise_parameters, outputs_of, parameters_of, vocabulary
from .user_ops import OpFacts

F = TypeVar("F", bound=Callable[..., Any])
# Which inputs each output may share memory with, by position: the upper bound. A function says it where the number of
# outputs depends on the call.
ViewMap = Mapping[int, tuple[int, ...]] | Callable[[int], tuple[int, ...]]

DECLARATIONS: dict[str, Declaration] = {}


class Declaration:
    """What is known of a function: its body, its category, and what the machinery around the body has to do."""

    def __init__(
        self,
        body: Callable[..., object],
        category: str,
        *,
        ufunc: np.ufunc | None = None,
        view_map: ViewMap | None = None,
        kernels: tuple[str, ...] = (),
        derivatives: tuple[str, ...] = (),
        fast: bool = False,
        namespace: str = "",
        scratch: bool = False,
        takes_numbers: bool = False,
        updates: Mapping[str, tuple[str, ...]] | None = None,
        operation: OpFacts | None = None,
    ) -> None:
        self.body = body
        self.name = body.__name__
        self.category = category
        self.ufunc = ufunc
        # Whether it's an elementwise function of one array.
        self.is_unary = ufunc is not None and ufunc.nin == 1
        self.view_map: ViewMap = view_map or {}
        self.kernels = kernels
        # Kernels that are called where a derivative is taken, and no others, if a backend has them.
        self.derivatives = derivatives
        # Whether engines may have a way of their own for plain calls.
        self.fast = fast
        self.namespace = namespace
        # The name with its namespace, as in ``linalg.inv``.
        self.qualified_name = f"{namespace}.{self.name}" if namespace else self.name
        # Whether the compiled core does its plain calls, without a dispatcher.
        self.has_plain_calls = ufunc is not None or self.qualified_name == "matmul"
        # Whether the body, when everything is checked, works in ``out`` before the result is there.
        self.scratch = scratch
        # Whether it takes numbers beside arrays as elementwise functions do, and doesn't look at their values.
        self.takes_numbers = takes_numbers or ufunc is not None
        # Parameters that the body writes, keyed by the flag parameter that turns the write on:
        # ``{"training": ("mean", "var")}``.
        self.updates = updates or {}
        # The kernels of a function that a user declared.
        self.operation = operation
        # The function that users call, and those of the backends' own namespaces.
        self.public: Callable[..., object] = body
        self.bound: dict[str, Callable[..., object]] = {}

    # Read at the first use: annotations name what's above.
    @cached_property
    def signature(self) -> inspect.Signature:
        """The signature of the body."""
        return inspect.signature(self.body)

    @cached_property
    def _annotated(self) -> tuple[Parameters, bool]:
        if self.ufunc is not None:
            # These have two signatures between them, which needn't be read.
            return elementwise_parameters(list(self.signature.parameters)[: self.ufunc.nin]), self.ufunc.nout == 1
        scope = AnnotationScope(self.body, vocabulary(), self.signature)
        return parameters_of(scope), outputs_of(scope)[0] is False

    @property
    def parameters(self) -> Parameters:
        """What its signature says."""
        return self._annotated[0] if self.operation is None else self.operation.parameters

    @property
    def returns_one_array(self) -> bool:
        """Whether its annotation says that it returns an array, and no tuple of them."""
        return self._annotated[1]

    def viewed_by(self, output: int) -> tuple[int, ...]:
        """Return the positions of the inputs that an output may share memory with."""
        return self.view_map(output) if callable(self.view_map) else self.view_map.get(output, ())

    def updated_by(self, arguments: Mapping[str, object]) -> tuple[str, ...]:
        """Return the names of the arguments, beside ``out``, that a call with those writes."""
        asked = [names for condition, names in self.updates.items() if arguments[condition]]
        return tuple(name for names in asked for name in names if arguments[name] is not None)

    def function(self, backend: Handle | None = None) -> Callable[..., object]:
        """Return the function that users call.

        With a ``backend`` it is the function of that backend's namespace, where plain data goes to that backend.
        """
        function = Function(partial(self.dispatcher, backend))
        function.__name__ = self.name
        for attribute in ("__module__", "__qualname__", "__doc__"):
            setattr(function, attribute, getattr(self.body, attribute))
        # help(), inspect.signature() and doctest see the declaration.
        function.__wrapped__ = self.body
        function.declaration = self
        return cast(Callable[..., Any], function)

    def dispatcher(self, bound: Handle | None, function: object, /) -> object:
        """Return the dispatcher of a function, which is made at the first call."""
        return above.dispatch.dispatcher_of(self, bound, function)

    def of_backend(self, backend: Handle) -> Callable[..., object]:
        """Return the function of a backend's own namespace."""
        if backend.name not in self.bound:
            self.bound[backend.name] = self.function(backend)
        return self.bound[backend.name]


def _declare(body: F, category: str, **options: Any) -> F:
    declaration = Declaration(body, category, **options)
    DECLARATIONS[declaration.qualified_name] = declaration
    declaration.public = declaration.function()
    return cast(F, declaration.public)


# What the docstrings of all elementwise functions share.
_ELEMENTWISE_DOC = """
    Parameters
    ----------
    {operands}
    out
        An array of the result's shape, and of a dtype that the result casts to, to write the result to.

    Returns
    -------
    Array
        A new array of the operands' broadcast shape, or ``out``.

    Raises
    ------
    ShapeError
        If the operands don't broadcast, or ``out`` has another shape than the result.
    TypeError
        If there's no such operation for the dtypes, or the result doesn't cast to ``out``.

    Source: {standard}NumPy's ``{ufunc}``, for values, dtypes and special cases.
    """
_OPERANDS = {
    1: "x\n        An array of any shape.",
    2: "x1, x2\n        Arrays whose shapes broadcast, or scalars.",
}


def in_docstring(text: str) -> str:
    """Return lines of a function's docstring as the compiler leaves them: since Python 3.13 without indentation."""
    return text.replace("\n    ", "\n") if sys.version_info >= (3, 13) else text


def elementwise(ufunc: np.ufunc, *, standard: bool = True, **facts: object) -> Callable[[F], F]:
    """Declare an elementwise function with the dtypes of a NumPy ufunc, and its kernel; the body is only a signature.

    ``standard`` says whether the Array API standard has the function, which the docstring names as its source, and
    ``facts`` what isn't so for most elementwise kernels: see ``kernels/record.py``.
    """

    def decorate(body: F) -> F:
        named = f"Array API standard 2025.12, ``{body.__name__}``; " if standard else ""
        shared = _ELEMENTWISE_DOC.format(operands=_OPERANDS[ufunc.nin], standard=named, ufunc=ufunc.__name__)
        body.__doc__ = f"{(body.__doc__ or '').rstrip()}\n{in_docstring(shared)}"
        declare_ufunc(body.__name__, ufunc, **facts)
        return _declare(body, "elementwise", ufunc=ufunc, kernels=(body.__name__,), fast=True)

    return decorate


def primary(
    *,
    kernels: tuple[str, ...] | None = None,
    view_map: ViewMap | None = None,
    namespace: str = "",
    takes_numbers: bool = False,
) -> Callable[[F], F]:
    """Declare a function whose body normalises arguments and invokes a kernel, named as itself if not said else.

    ``takes_numbers`` says that it takes numbers beside arrays as elementwise functions do.
    """
    return lambda body: _declare(
        body,
        "primary",
        kernels=(body.__name__,) if kernels is None else kernels,
        view_map=view_map,
        namespace=namespace,
        takes_numbers=takes_numbers,
    )


def view(view_map: ViewMap | None = None, *, namespace: str = "") -> Callable[[F], F]:
    """Declare a function that returns views of its inputs, of the first one if no ``view_map`` says otherwise."""
    return lambda body: _declare(body, "view", view_map=view_map or {0: (0,)}, namespace=namespace)


def compositional(*, namespace: str = "", scratch: bool = False, takes_numbers: bool = False) -> Callable[[F], F]:
    """Declare a function whose body is made of other functions.

    ``scratch`` says that the body keeps what it needs on the way in ``out``, once it has checked everything.
    """
    return lambda body: _declare(
        body, "compositional", namespace=namespace, scratch=scratch, takes_numbers=takes_numbers
    )


def mixed(
    *,
    kernels: tuple[str, ...] | None = None,
    derivatives: tuple[str, ...] = (),
    namespace: str = "",
    scratch: bool = False,
    takes_numbers: bool = False,
    updates: Mapping[str, tuple[str, ...]] | None = None,
) -> Callable[[F], F]:
    """Declare a function made of other functions whose body first offers the call to a kernel, with ``attempt``.

    A backend may lack the kernel, which is named as the function if not said else, or decline a call by returning
    ``NotImplemented``. ``derivatives`` names kernels that only derivatives of the function call. ``updates`` names
    parameters that the body writes, keyed by the flag parameter that turns the write on.
    """
    return lambda body: _declare(
        body,
        "mixed",
        kernels=(body.__name__,) if kernels is None else kernels,
        derivatives=derivatives,
        namespace=namespace,
        scratch=scratch,
        takes_numbers=takes_numbers,
        updates=updates,
    )


def creation(
    *,
    kernels: tuple[str, ...] = (),
    view_map: ViewMap | None = None,
    fast: bool = False,
    namespace: str = "",
    takes_numbers: bool = False,
) -> Callable[[F], F]:
    """Declare a function that makes arrays on the backend that the call names or that is current.

    ``fast`` says that engines may make them at once.
    """
    return lambda body: _declare(
        body,
        "creation",
        kernels=kernels,
        view_map=view_map,
        fast=fast,
        namespace=namespace,
        takes_numbers=takes_numbers,
    )
