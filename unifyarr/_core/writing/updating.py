"""``v += w`` of a view that is a recipe of one window: in one step of the engine where it has such.

Elsewhere the window is read, unless its value is known, and written back. What isn't plain takes the general path:
other steps and backends, traces, variables, and arrays so large that a run of writes pays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from math import prod
from typing import Any, cast

from ...typing import Shape
from ..arrays.array import Array
from ..arrays.elements import Element
from ..arrays.operators import OPERATORS
from ..arrays.ownership import LOCK, MANY, rebind
from ..arrays.recipes import View
from ..arrays.views import Window
from ..declaring.declare import DECLARATIONS
from ..declaring.plain import let_cast, standing_for
from ..engines import dtypes
from ..engines.handle import Handle, casts_itself, has_one_device
from ..engines.kernels import bound
from ..engines.refusals import is_refusal
from ..engines.tracing import mode
from ..values.called import boundary
from ..values.native import Native
from .inplace import rewrite
from .storing import put_native
from .write_log import tell_copied

running_mode = mode.get
_ARRAYS = frozenset({Array, Element, View})


class _Update:
    """How windows are updated by a function, on a backend."""

    def __init__(self, backend: Handle, name: str) -> None:
        declaration = DECLARATIONS[name]
        kernel = backend.kernel(name)
        # The function may not have been called yet.
        let_cast(backend, declaration)
        assert declaration.ufunc is not None
        self.ufunc = declaration.ufunc
        self.compute = backend.plain[name]
        # By the root's dtype, what gives the native of a number.
        self.numbers = cache(partial(standing_for, backend, self.ufunc))
        # Of a window: two functions of the root and the other operand, the second one of which uses up the root.
        in_one_step = casts_itself(kernel) and backend.type_key is not None
        self.at_once = backend.updating(kernel) if in_one_step else None
        # Or of small windows, by an op that writes what it computes: it takes the root, the other operand and the axes.
        self.into_window = getattr(kernel, "into_window", None)
        self.casts = cache(self._casts)
        self._backend, self._key_of = backend, cast(Callable[[Any], Any], backend.type_key)
        # What tells the update that was done last from others, and its function.
        self._last: tuple[Any, ...] = (None,) * 4

    def in_one_step(self, window: Window, native: Any, other: object) -> Callable[..., Any] | None:
        """Return what the engine updates a part of a small array by, ``None`` where there's more to look at."""
        given, beside = self._key_of(native), self._key_of(other)
        last, one, two, found = self._last
        if last is not window or one is not given or two is not beside:
            found = self._found(window, native, other)
            self._last = window, given, beside, found
        return found  # type: ignore[no-any-return]

    def _found(self, window: Window, native: Any, other: Any) -> Callable[..., Any] | None:
        shape = self._backend.shape(native)
        if prod(shape) >= MANY or shape == _lengths(window) or not self.casts(native.dtype, other.dtype):
            return None
        assert self.at_once is not None
        pure, _ = self.at_once(window.axes, window.order)
        return pure  # type: ignore[no-any-return]

    def _casts(self, dtype: Any, other: Any) -> bool:
        # Whether the result goes into an array of the first dtype.
        given = dtypes.BY_NUMPY[dtype], dtypes.BY_NUMPY[other]
        try:
            dtypes.check_cast(dtypes.loop(self.ufunc, *given)[-1], given[0], "the view")
        except TypeError:
            return False
        return True


@cache
def _update_of(backend: Handle, name: str) -> _Update | None:
    if backend.mutable or not has_one_device(backend) or name not in backend.kernels:
        return None
    if DECLARATIONS[name].ufunc is None:
        # It's more than one elementwise kernel.
        return None
    return _Update(backend, name)


@lru_cache(maxsize=1024)
def _window_kernels(backend: Handle, window: Window) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return what reads a window, and what writes one back."""
    if window.order == tuple(range(len(window.axes))):
        # There's one device: none has to run where its arrays are.
        get, put = (getattr(kernel, "unplaced", kernel) for kernel in map(backend.kernel, ("get_window", "set_window")))
        return bound(get, {"window": window.axes}), bound(put, {"window": window.axes})
    return lambda native: window.get(backend, native), lambda native, value: window.put(backend, native, value)


@lru_cache(maxsize=1024)
def _lengths(window: Window) -> Shape | None:
    """Return the shape of the array that is all in a window, as it is; ``None`` if none is."""
    lengths = tuple([length for _, _, length in window.axes])
    return lengths if window.is_identity(lengths) else None


def update(view: View, name: str, other: Any) -> bool:
    """Write to a view what a function of it and another operand gives; return whether that was done."""
    backend, root, window = view._backend, view._root, view._steps[0]
    how = _update_of(backend, name)
    # The token before the native: see ``rebind``.
    token, native, plain = root._token, root._native, backend.native_type
    if how is None or len(view._steps) > 1 or type(window) is not Window or type(native) is not plain:
        return False
    if backend.trace_state() is not backend.no_trace:
        return False
    kind = type(other)
    if kind is int or kind is float:
        found = how.numbers(native.dtype)
        other = found and found(other)
    elif kind in _ARRAYS and other._backend is backend:
        other = other._native
    if type(other) is not plain:
        return False
    if how.at_once is not None and (step := how.in_one_step(window, native, other)) is not None:
        with LOCK:
            return rebind(root, step(native, other), owned=backend.destroys, instead_of=native)
    shape_of = backend.shape
    shape = shape_of(native)
    if shape == _lengths(window):
        # ``x[:] += w`` is ``x += w``.
        new = NotImplemented if prod(shape) >= MANY else how.compute(native, other)
        return new is not NotImplemented and put_native(root, new, native, new is not native and new is not other)
    if how.at_once is not None:
        if not how.casts(native.dtype, other.dtype):
            return False
        pure, destructive = how.at_once(window.axes, window.order)

        def write(old: Native, results: list[Native] | None) -> Any:
            return pure(old, other) if results is None else destructive(old, other, results=results)

        if rewrite(root, write):
            tell_copied(root)
        return True
    if prod(shape) >= MANY:
        return False
    if how.into_window is not None and len(window.order) == len(window.axes):
        new = how.into_window(native, other, window.axes, window.order)
        if type(new) is plain:
            with LOCK:
                return rebind(root, new, instead_of=native)
    get, put = _window_kernels(backend, window)
    value = view._value if getattr(view, "_seen", None) is token else get(native)
    found = how.compute(value, other)
    if type(found) is not plain or found.dtype is not native.dtype or shape_of(found) != shape_of(value):
        return False
    new = put(native, found)
    with LOCK:
        if type(new) is not plain or not rebind(root, new, owned=backend.destroys, instead_of=native):
            return False
        view._value, view._seen = found, root._token
    return True


def _operator(name: str, function: str) -> Callable[..., Any]:
    general: Callable[[View, object], object] = getattr(Array, name)

    def operator(self: View, other: object, /) -> object:
        if running_mode() is None:
            try:
                if update(self, function, other):
                    return self
            except Exception as error:
                if not is_refusal(error, self._backend):
                    raise
                # The general path says what is wrong.
        return general(self, other)

    operator.__name__, operator.__qualname__, operator.__doc__ = name, f"View.{name}", general.__doc__
    return operator


for _function, _forms in OPERATORS.items():
    if "in_place" in _forms:
        _name = _forms["in_place"].__name__
        setattr(View, _name, boundary(_operator(_name, _function)))
