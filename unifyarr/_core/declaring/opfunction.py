"""The function that ``op`` makes of a body: called as that is, and told of kernels."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import partial, update_wrapper, wraps
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from ..values.called import make_boundaries
from ..values.maps import IOMap
from ..values.pickling import qualified
from .declare import Declaration
from .user_ops import Function, Maps, OpFacts, Pairs

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result", covariant=True)

# What is said of an operation elsewhere than by assigning to an attribute, and where.
_SAID = {
    "view_map": "to the decorator, @ua.op(view_map={0: (0,)})",
    **dict.fromkeys(
        ("destroy_map", "scratch", "tolerate_same", "tolerate_aliased", "inplace"),
        "of an in-place kernel, @f.inplace(backend, destroy_map={0: (0,)})",
    ),
    **dict.fromkeys(("kernel", "perform"), "by registering a kernel, @f.kernel(backend)"),
    **dict.fromkeys(("vjp", "grad"), "by a function of arrays, @f.vjp"),
    "infer": "by a function of types, @f.infer",
    "kind": 'to the decorator, @ua.op(kind="elementwise")',
    "harmless": 'to the decorator, @ua.op(kind="elementwise", harmless=0.5)',
    **dict.fromkeys(("nout", "declaration"), "by the annotations of its body"),
}


@make_boundaries
class OpFunction(Generic[Arguments, Result]):
    """A function that ``op`` declares."""

    __name__: str
    __qualname__: str
    _operation: OpFacts
    if TYPE_CHECKING:

        def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            """Compute the operation."""
            raise NotImplementedError

    else:
        # Calls read the function from the slot.
        __slots__ = ("__call__", "__dict__", "__weakref__")

    def __init__(
        self,
        body: Callable[Arguments, Result],
        view_map: Maps | None,
        arrays: Iterable[str] | None = None,
        kind: str = "rows",
        harmless: float = 1,
    ) -> None:
        operation = OpFacts(body, view_map, arrays, kind, harmless)
        declaration = Declaration(_with_out(body), "mixed", view_map=operation.record.view_map, operation=operation)
        update_wrapper(self, declaration.body)
        vars(self).update(_operation=operation, declaration=declaration)
        self.__call__ = declaration.function()  # type: ignore[method-assign, assignment]
        declaration.public = self

    def kernel(self, backend: str, /, *, natives: str | None = None) -> Callable[[Function], Function]:
        """Register the kernel for a backend."""
        return self._operation.kernel(backend, natives=natives)

    def inplace(
        self,
        backend: str,
        /,
        *,
        destroy_map: Maps | None = None,
        scratch: Iterable[int] = (),
        tolerate_same: Pairs = (),
        tolerate_aliased: Pairs = (),
    ) -> Callable[[Function], Function]:
        """Register a destructive twin of the kernel for a backend."""
        return self._operation.inplace(
            backend,
            destroy_map=destroy_map,
            scratch=scratch,
            tolerate_same=tolerate_same,
            tolerate_aliased=tolerate_aliased,
        )

    def vjp(self, function: Function, /) -> Function:
        """Declare the derivative: the cotangents of the arrays, given that of the result."""
        return self._operation.vjp(function)

    def infer(self, function: Function, /) -> Function:
        """Declare the types of the results, by those of the arrays."""
        return self._operation.infer(function)

    @property
    def view_map(self) -> IOMap:
        """For outputs the arrays whose memory kernels may return for them."""
        return self._operation.record.view_map

    def __setattr__(self, name: str, value: object) -> None:
        if name in _SAID:
            raise AttributeError(f"{name} of {self.__name__}() is not assigned: it's declared {_SAID[name]}")
        super().__setattr__(name, value)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Be a method where the body was one."""
        return self if instance is None else MethodType(self, instance)

    def __copy__(self) -> OpFunction[Arguments, Result]:
        return self

    def __deepcopy__(self, memo: object) -> OpFunction[Arguments, Result]:
        return self

    def __reduce__(self) -> str:
        return qualified(self)

    def __repr__(self) -> str:
        return f"<op {self.__qualname__}>"


def _with_out(body: Callable[..., object]) -> Callable[..., object]:
    """Return the body with a parameter ``out``: as the caller writes there, it may do without."""
    signature = inspect.signature(body)
    if "out" in signature.parameters:
        return body

    @wraps(body)
    def declared(*args: object, out: object = None, **kwargs: object) -> Any:
        return body(*args, **kwargs)

    out = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Array | None")
    vars(declared)["__signature__"] = signature.replace(parameters=[*signature.parameters.values(), out])
    return declared


def _named(body: Any) -> Any:
    """Return a body with a name and a signature, which a partial or an object that can be called may lack."""
    if not callable(body):
        raise TypeError(f"op() takes a function, the body of the operation, not {type(body).__name__}")
    try:
        inspect.signature(body)
    except (TypeError, ValueError):
        raise TypeError(
            f"{body!r} has no signature, which says what of an op is an array: wrap it in a function with annotations"
        ) from None
    if isinstance(getattr(body, "__name__", None), str) and isinstance(getattr(body, "__qualname__", None), str):
        return body
    inner = body
    while isinstance(inner, partial):
        inner = inner.func
    inner = inner if hasattr(inner, "__qualname__") else type(inner)

    def function(*args: object, **kwargs: object) -> object:
        return body(*args, **kwargs)

    function = update_wrapper(function, inner)
    function.__wrapped__ = body
    return function


def declare(
    body: Callable[..., Any], view_map: Maps | None, arrays: Iterable[str] | None, kind: str, harmless: float
) -> object:
    """Return the function that ``op`` makes of a body."""
    return OpFunction(_named(body), view_map, arrays, kind, harmless)
