"""NumPy's own functions on arrays: ``np.add(nd, x)``, ``np.sum(x)``, ``scipy.special.erf(x)`` return our arrays.

What ``unifyarr.numpy`` has a counterpart of is that, on the backend of the arrays: it's traced, differentiated and
compiled. The rest is NumPy's on the host, which refuses to lose a derivative and knows no values inside a trace.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays.array import Array, wrap
from ..arrays.convert import device_of, lift
from ..arrays.leaving import check_leaving, is_floating
from ..arrays.ownership import read
from ..arrays.weak import WeakFloat
from ..engines import dtypes
from ..engines.foreign import is_plain, overrides
from ..engines.handle import Handle
from ..engines.natives import backend_of_native, mismatch
from ..engines.tracing import current
from ..values import above
from ..values.arguments import MOST_AXES
from ..values.native import Native
from ..writing.inplace import as_target, assign_all, check_target, fit, update
from ..writing.sharing import share_memory

# The parameter that a function of NumPy's writes, beside ``out``.
WRITES: dict[Callable[..., object], str] = {
    np.copyto: "dst",
    np.fill_diagonal: "a",
    np.put: "a",
    np.putmask: "a",
    np.place: "arr",
    np.put_along_axis: "arr",
}


# Functions that pass what they get to a function of the caller's, which may write there.
_CALLERS = frozenset((np.apply_along_axis, np.apply_over_axes))


# Packages that keep what NumPy's functions return where only NumPy's arrays can be, once they're loaded, by name with a
# dot behind. They get NumPy's: a frame of pandas' over an array of ours breaks where it's shown.
KEEPERS: tuple[str, ...] = ()


def know_keeper(name: str) -> None:
    """Have NumPy's functions give NumPy's arrays where a package calls them."""
    global KEEPERS
    KEEPERS = (*KEEPERS, f"{name}.")


def answer_ufunc(
    x: Array, /, ufunc: np.ufunc, method: str, inputs: tuple[object, ...], kwargs: dict[str, Any]
) -> object:
    """Answer NumPy's question about a ufunc or its method."""
    given = (*inputs, *kwargs.get("out", ()))
    if any(overrides(each, "__array_ufunc__") and _is_of_another(each) for each in given if type(each) is not Array):
        # NumPy asks that library next.
        return NotImplemented
    if KEEPERS and method != "at" and _is_kept(kwargs):
        return _for_keeper(getattr(ufunc, method), inputs, kwargs)
    return serve_ufunc(ufunc, method, inputs, kwargs)


def answer_function(
    x: Array,
    /,
    function: Callable[..., Any],
    types: Iterable[type],
    args: tuple[object, ...],
    kwargs: dict[str, object],
) -> object:
    """Answer NumPy's question about another of its functions."""
    others = [kind for kind in types if kind is not Array]
    if others and _asks_another((args, kwargs), others):
        return NotImplemented
    if KEEPERS and _is_kept(kwargs):
        return _for_keeper(function, args, kwargs)
    return serve_function(function, args, kwargs)


def _is_of_another(x: object) -> bool:
    """Return whether an object that answers a protocol of NumPy's is of another library: not ours, nor an engine's."""
    if isinstance(x, (Array, WeakFloat)):
        return False
    return isinstance(x, np.ndarray) or backend_of_native(x) is None


def _leaves(x: object, depth: int = 0) -> Iterator[object]:
    """Yield what lists, tuples and dicts hold that are nested no deeper than arrays."""
    held = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else None
    if held is None or depth > MOST_AXES:
        yield x
    else:
        for each in held:
            yield from _leaves(each, depth + 1)


def _asks_another(x: object, kinds: list[type]) -> bool:
    """Return whether NumPy asks another library than this one: one of the types in an argument is that library's."""
    return any(
        type(each) in kinds and overrides(each, "__array_function__") and _is_of_another(each) for each in _leaves(x)
    )


def _is_kept(kwargs: dict[str, object]) -> bool:
    """Return whether it's a keeper that called the function of NumPy's which asks us, for an array of its own."""
    caller = sys._getframe(3).f_globals.get("__name__", "")
    return f"{caller}.".startswith(KEEPERS) and kwargs.get("out") is None


def _for_keeper(function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, Any]) -> object:
    host = _Host(getattr(function, "__name__", "a function"))
    result = function(*map(host.lend, args), **{name: host.lend(value) for name, value in kwargs.items()})
    host.check(result)
    return result


def serve_ufunc(function: np.ufunc, method: str, inputs: tuple[object, ...], kwargs: dict[str, Any]) -> object:
    """Serve a ufunc or its method: our counterpart of it, else NumPy on the host."""
    out = kwargs.get("out")
    own = above.following.COUNTERPARTS.get(function)
    target = inputs[0] if method == "at" else None
    if own is not None and (function.nout == 1 or out is None) and _is_ours((target, out), (inputs, kwargs)):
        call = own if method == "__call__" else getattr(own, method)
        return call(*inputs, **kwargs) if out is None else call(*inputs, **{**kwargs, "out": out[0]})
    host = _Host(function.__name__)
    # NumPy passes ``out`` as a tuple, with ``None`` where it shall make the array itself.
    targets = None if out is None else tuple(None if each is None else host.open(each) for each in out)
    if method == "at":
        target, *others = inputs
        args = [host.open(target, "the target of at()"), *map(host.lend, others)]
    else:
        args = [*map(host.lend, inputs)]
    rest = {name: host.lend(value) for name, value in kwargs.items() if name != "out"}
    if targets is not None:
        rest["out"] = targets
    return host.close(getattr(function, method)(*args, **rest))


def serve_function(function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, Any]) -> object:
    """Serve a function of NumPy's: our counterpart of it, else NumPy on the host."""
    if function in (np.shares_memory, np.may_share_memory):
        first, second, *work = args
        return share_memory(first, second, lambda one, other: function(one, other, *work, **kwargs))
    given = _signature(function).bind(*args, **kwargs)
    arguments = given.arguments
    written = _written(function, arguments)
    own = None if function in _CALLERS or _holds_objects(function, args) else above.following.COUNTERPARTS.get(function)
    targets = [arguments[name] for name in written]
    if own is not None and _is_ours(targets, (*arguments.values(),), subclasses=False):
        for target in targets:
            check_target(as_target(target))
        return own(*args, **kwargs)
    host = _Host(getattr(function, "__name__", "a function"))
    if arguments.get("overwrite_input"):
        # It allows NumPy to destroy the input, and values that nobody destroys are as good.
        arguments["overwrite_input"] = False
    for name, value in arguments.items():
        arguments[name] = host.open(value, name) if name in written else host.lend(value)
    return host.close(function(*given.args, **given.kwargs))


def _is_ours(written: Any, read: Any, *, subclasses: bool = True) -> bool:
    """Return whether our functions can do a call: they write our arrays, and read these and numbers.

    What means something else by its operators is refused by them, or with ``subclasses=False`` left to NumPy.
    """
    for each in written:
        if isinstance(each, tuple):
            if not _is_ours(each, ()):
                return False
        elif each is not None and not isinstance(each, Array):
            return False
    return not any(_is_foreign(each, subclasses) for each in _leaves(read))


def _holds_objects(function: Callable[..., object], args: tuple[object, ...]) -> bool:
    """Return whether a function that only gives its arguments a shape got what NumPy keeps as objects or text."""
    return function is np.broadcast_arrays and any(x is None or isinstance(x, str) for x in args)


def _is_foreign(x: object, subclasses: bool) -> bool:
    if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and is_plain(x)):
        # Objects, text, dates and records.
        return x.dtype not in dtypes.BY_NUMPY
    return isinstance(x, np.ndarray) and not subclasses


@lru_cache(maxsize=1024)
def _signature(function: Callable[..., object]) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except ValueError:
        return inspect.signature(lambda *args, **kwargs: None)


def _written(function: Callable[..., object], arguments: dict[str, object]) -> set[str]:
    """Return the names of the arguments that a call of a function of NumPy's writes."""
    names = {"out", WRITES.get(function, "out")}
    if function is np.nan_to_num and not arguments.get("copy", True):
        names.add("x")
    return {name for name in names if arguments.get(name) is not None}


class _Host:
    """One call of NumPy's on the host: the values that it gets of our arrays, and what becomes of its results.

    Values to read are passed as read-only: a function that wrote into them would change the memory of one engine and a
    copy of another's. Where a function is known to write, it writes into a copy of the values, which the one write path
    stores when the call has succeeded.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.backend: Handle | None = None
        self._arrays: list[Array] = []
        # What was passed to be written, and what NumPy writes in its place.
        self.opened: list[tuple[object, np.ndarray]] = []

    def lend(self, x: object, depth: int = 0) -> object:
        """Return what NumPy reads in the place of an argument."""
        if not isinstance(x, (Array, np.ndarray)) and (own := backend_of_native(x)) is not None:
            x = lift(x, own)
        if isinstance(x, Array):
            x = current(x)
            self._meet(x)
            values = x._backend.to_numpy(read(x)).view()
            values.flags.writeable = False
            return values
        if isinstance(x, (list, tuple)):
            if depth > MOST_AXES:
                raise ValueError(f"lists are nested deeper than the {MOST_AXES} axes that an array can have")
            items = [self.lend(each, depth + 1) for each in x]
            if any(new is not old for new, old in zip(items, x, strict=True)):
                return items if isinstance(x, list) else tuple(items)
        return x

    def open(self, x: Any, what: str = "out") -> object:
        """Return what NumPy writes in the place of an argument."""
        values = x
        if not isinstance(x, np.ndarray):
            target = as_target(x, what)
            check_target(target)
            self._meet(target)
            values = np.array(target._backend.to_numpy(read(target)))
        self.opened.append((x, values))
        return values

    def _meet(self, x: Array) -> None:
        if self.backend is not None and self.backend is not x._backend:
            raise mismatch(self.backend, x._backend)
        self.backend = x._backend
        self._arrays.append(x)

    def check(self, *results: object) -> None:
        """Raise where a derivative would be lost: the results are NumPy's."""
        if is_floating(list(results)):
            for x in self._arrays:
                check_leaving(x, f"{self.name}() of NumPy's")

    def close(self, result: object) -> object:
        """Store what NumPy wrote, and return its result with our arrays in the place of its own."""
        self.check(result, *(values for _, values in self.opened))
        written = [(as_target(x), values) for x, values in self.opened if x is not values]
        if len(written) == 1:
            update(*written[0], exact=True, what="out")
        elif written:
            targets, values = zip(*written, strict=True)
            assign_all(targets, values, _as_native, "arrays of out")
        return self._lift(result)

    def _lift(self, x: Any) -> object:
        for given, values in self.opened:
            if x is values:
                return given
        if self.backend is None:
            return x
        if isinstance(x, np.ndarray) and not is_plain(x):
            return x
        if isinstance(x, (np.ndarray, np.generic)) and x.dtype in dtypes.BY_NUMPY:
            device = device_of(self._arrays, self.backend)
            return wrap(self.backend.from_numpy(np.asarray(x), device=device, copy=True), self.backend)
        if type(x) in (list, tuple):
            return type(x)(map(self._lift, x))
        return x


def _as_native(target: Array, values: object) -> Native:
    return fit(values, target, target.shape, exact=True, what="out")
