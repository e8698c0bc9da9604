"""Repeated draws: the compiled core looks up the cached draw without a Python call.

A method of a generator becomes a function of the core when the first draw of its name is remembered. Where that finds
nothing it calls the method that was written, which checks everything.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from .._core.arrays.array import Array, marked
from .._core.engines.current import current
from .._core.engines.handle import Handle
from .._core.values.called import Called, call_of
from .._native import core
from ._arguments import STAGING
from ._host import KNOWN, Draw, key_of

# The parameters that each such method has.
_WHERE = ("size", "dtype", "device", "backend", "out")


class _Draws:
    """The fallback for draws of one method that the core hasn't cached; see ``Dispatcher``."""

    # There are no plain calls, and a program returns the array itself.
    plain, takes_arrays, shows, creates, is_fast, is_bound, has_known = 0, True, False, True, False, False, True
    by_layout = False
    variadic, mapped = -1, 0

    def __init__(self, method: Callable[..., Any], signature: inspect.Signature) -> None:
        self._method, self._signature = method, signature
        self.name, self.qualified_name = method.__name__, method.__qualname__
        parameters = list(signature.parameters.values())
        self.names = tuple(signature.parameters)
        self.defaults = tuple([... if each.default is each.empty else each.default for each in parameters])
        self.positional = sum(each.kind is not each.KEYWORD_ONLY for each in parameters)
        self.only_positional = sum(each.kind is each.POSITIONAL_ONLY for each in parameters)
        self.out = self.names.index("out")
        self._own = [each for each in self.names if each not in ("self", *_WHERE)]
        # The generator goes to the program; all else tells the draw, which is on the current backend.
        roles = {"self": b"i", "out": b"o", "backend": b"n"}
        self.roles = b"".join([roles.get(each, b"t") for each in self.names])

    def bind(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
        """Return arguments in the order of the parameters, or raise the method's error."""
        try:
            bound = self._signature.bind(*arguments, **keywords)
        except TypeError:
            self._method(*arguments, **keywords)
            raise
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def find(self, *values: Any) -> Any:
        """Return the function that repeats a cached draw, and ``...`` for any other."""
        given = dict(zip(self.names, values, strict=True))
        if given["self"]._host is None or STAGING:
            return ...
        where, own = tuple([given[each] for each in _WHERE]), {each: given[each] for each in self._own}
        try:
            found = KNOWN.get(key_of(self.name, where, own))
        except TypeError:
            # Parameters that are no numbers.
            return ...
        return ... if found is None or not found.is_certain else _repeating(self.name, found)

    def rest(self, *values: Any) -> Any:
        """Draw by the method."""
        given = dict(zip(self.names, values, strict=True))
        by_place = [given.pop(each) for each in self.names[: self.positional]]
        return self._method(*by_place, **given)

    __call__ = rest

    def refused(self, error: Exception, backend: Handle) -> bool:
        """Return that errors of a draw are the caller's."""
        return False

    def usual(self) -> Handle:
        """Return the backend where arrays are made."""
        return current()


def _repeating(name: str, draw: Draw) -> Callable[[Any], Any]:
    """Return a function that repeats a draw of a generator."""
    arguments, backend, _, make, _ = draw
    plain, as_native = backend.native_type, backend.as_native

    def repeat(generator: Any) -> Array:
        host = generator._host
        if host is None or STAGING:
            return NotImplemented
        # NumPy allocates before it draws, and nothing fails after that.
        with generator._lock:
            values = getattr(host, name)(*arguments)
        native = values if make is None else make(values)
        return marked(native if type(native) is plain else as_native(native), backend, None)

    return repeat


def compile_method(cls: type, name: str) -> None:
    """Put a function of the core in the place of a written method, where ``name`` is also that of NumPy's method."""
    owner = next(each for each in cls.__mro__ if name in vars(each))
    method = vars(owner)[name]
    if isinstance(method, Called):
        # Tracebacks end at functions of the core, too.
        method = call_of(method)
    if core is None or hasattr(method, "__wrapped__") or method.__module__ != owner.__module__:
        return
    signature = inspect.signature(method)
    own = [each for each in signature.parameters if each not in ("self", *_WHERE)]
    if tuple(signature.parameters) == ("self", *own, *_WHERE):
        draws = _Draws(method, signature)
        setattr(owner, name, functools.update_wrapper(core.Function(lambda _: draws), method))
