"""Declarations about a backend's kernels: native, with a workaround, on the host, or missing.

A kernel is any callable on native arrays. An engine's own function needs no decoration: it is native. ``Facts`` lists
everything that can be declared of other kernels, and the decorators here declare most of it. A kernel's semantics are
the same on every engine: see its record in ``unifyarr/_core/kernels``.
"""

from __future__ import annotations

import functools
import importlib
import math
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, TypedDict, TypeVar, Unpack, cast

import numpy as np

from ..errors import BackendFeatureError, EngineError, ShapeError

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# How long NumPy looks for an element that two arrays have in common, before it says that there may be one.
EFFORT = 10_000


# Errors that NumPy users catch. An engine's errors of these classes say clearly which argument is wrong.
_CLEAR = (TypeError, ValueError, LookupError, ArithmeticError, MemoryError, BufferError, Warning)


def kernel_modules(package: str | None, *others: str) -> tuple[ModuleType, ...]:
    """Return the modules of kernels in a backend's package: all of its files but private ones and ``others``."""
    package = str(package)
    names = [each.name for each in pkgutil.iter_modules(sys.modules[package].__path__)]
    kernels = [name for name in names if name[0] != "_" and name not in others]
    return tuple([importlib.import_module(f"{package}.{name}") for name in kernels])


def own_error(error: Exception, engines: tuple[str, ...], lack: str) -> type[Exception] | None:
    """Return the class of error to raise for one of an engine's own, ``None`` for an error of anybody else.

    ``engines`` are the modules that define the engine's error classes, beside Python's ``RuntimeError``; ``lack`` is a
    regular expression for its messages about lack of memory.
    """
    kind = type(error)
    own = kind in (RuntimeError, NotImplementedError, SystemError) or kind.__module__.split(".")[0] in engines
    if not own or isinstance(error, _CLEAR):
        return None
    if re.search(lack, str(error)):
        return MemoryError
    return BackendFeatureError if isinstance(error, NotImplementedError) else EngineError


def check_number(selected: int, given: int) -> None:
    """Raise unless there is a value for each of the places that a mask selects, or one for all of them."""
    if given not in (1, selected):
        raise ShapeError(f"the mask selects {selected} elements, but {given} values are assigned")


def described(device: object) -> str:
    """Describe an argument that was passed for a device; only device names are shown verbatim."""
    return repr(device) if isinstance(device, str) else f"a {type(device).__name__}"


def has_subnormals(values: np.ndarray) -> bool:
    """Return whether an array holds numbers below the least normal one, which some engines take for zeros.

    Half precision doesn't count: these engines compute it in single precision.
    """
    if values.dtype.kind == "c":
        values = np.stack([values.real, values.imag])
    elif values.dtype.kind == "V":
        values = values.astype(np.float32)
    if values.dtype.kind != "f" or values.dtype == np.float16:
        return False
    # Mostly there are none, and not even zeros. Python compares a few numbers in less time than NumPy. A first NaN is
    # the least one to it, any other isn't.
    if 0 < values.size <= 16 and min(map(abs, values.ravel().tolist())) >= _smallest_normal(values.dtype):
        return False
    # NumPy counts in a tenth of the time that a reduction takes to begin.
    small = np.count_nonzero(np.abs(values) < _smallest_normal(values.dtype))
    return bool(small > 0 and small > values.size - np.count_nonzero(values))


@functools.cache
def _smallest_normal(dtype: np.dtype[Any]) -> float:
    return float(np.finfo(dtype).smallest_normal)


def unique_inverse(x: np.ndarray, /) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of an array of NumPy's, each NaN one of its own, and the inverse, in the shape of ``x``."""
    values, inverse = np.unique_inverse(x)
    if values.size and values[-1] != values[-1]:
        # NumPy's sort without first indices is unstable: on some processors it exchanges NaNs.
        values, _, inverse, _ = np.unique_all(x)
    return values, inverse


def scipy_values(name: str, *arrays: np.ndarray) -> np.ndarray:
    """Return the values of SciPy's special function for arrays of one dtype, in that dtype.

    SciPy is imported here, at the first call that needs it.
    """
    try:
        scipy = importlib.import_module("scipy.special")
    except ImportError:
        raise BackendFeatureError(
            f"{name}() is computed by SciPy here, which isn't installed: pip install scipy"
        ) from None
    with np.errstate(all="ignore"):
        # Some of its loops for single precision underflow on the way, and it has none for half.
        found = getattr(scipy, name)(*(x.astype(np.float64, copy=False) for x in arrays))
        return np.asarray(found, arrays[0].dtype)


def scaled_root_mean_square(
    xp: Any, x: Any, axis: tuple[int, ...], eps: float, constant: Callable[[Any], Any] = lambda x: x
) -> Any:
    """Return the root of ``eps`` more than the mean square along axes, which stay; no square overflows.

    ``xp`` is NumPy, or a namespace with its functions. ``constant`` marks an array as constant to derivatives: the
    result doesn't depend on the scale.
    """
    scale = 1 if 0 in x.shape else xp.clip(xp.amax(xp.abs(constant(x)), axis, keepdims=True), 1, None)
    return scale * xp.sqrt(xp.mean(xp.square(x / scale), axis, keepdims=True) + eps / scale / scale)


def check_pivots(least: int, most: int, rows: int) -> None:
    """Raise unless the least and the greatest pivot of a factorization are numbers of rows."""
    if least < 0 or most >= rows:
        raise IndexError(
            f"the pivots of {rows} rows are from 0 to {rows - 1}, as lu_factor() returns them, not "
            f"{least if least < 0 else most}"
        )


def permutation(pivots: np.ndarray, rows: int) -> np.ndarray:
    """Return the order of rows after the exchanges of a factorization: of row 0 with row ``pivots[0]``, and so on."""
    check_pivots(pivots.min(initial=0), pivots.max(initial=0), rows)
    shape, count = (*pivots.shape[:-1], rows), pivots.shape[-1]
    flat = pivots.reshape(-1, count)
    if len(flat) < count:
        # Python exchanges two numbers sooner than NumPy.
        return np.array([_exchanged(each, rows) for each in flat.tolist()], np.int64).reshape(shape)
    order = np.repeat(np.arange(rows)[None], len(flat), axis=0)
    stack = np.arange(len(flat))
    for place in range(count):
        other = flat[:, place]
        order[:, place], order[stack, other] = order[stack, other], order[:, place].copy()
    return order.reshape(shape)


def _exchanged(pivots: list[int], rows: int) -> list[int]:
    order = list(range(rows))
    for place, other in enumerate(pivots):
        order[place], order[other] = order[other], order[place]
    return order


def exchanges(order: np.ndarray, count: int) -> np.ndarray:
    """Return the pivots of a factorization whose rows have come into an order: the inverse of ``permutation``."""
    flat = order.reshape(-1, order.shape[-1])
    now = np.repeat(np.arange(order.shape[-1])[None], len(flat), axis=0)
    pivots = np.empty((len(flat), count), np.int64)
    stack = np.arange(len(flat))
    for place in range(count):
        other = pivots[:, place] = (now == flat[:, place, None]).argmax(-1)
        now[:, place], now[stack, other] = now[stack, other], now[:, place].copy()
    return pivots.reshape(*order.shape[:-1], count)


class Facts(TypedDict, total=False):
    """Facts about an engine's implementation of a kernel, as attributes of the function."""

    # Whether ``kernel(..., out=native)`` writes into ``native`` and returns it.
    support_native_out: bool
    # The engine's own function, where the kernel does more; the dtypes that need a workaround, and the functions for
    # other dtypes and for these.
    native: Callable[..., Any]
    gaps: frozenset[Any]
    outside_gaps: Callable[..., Any]
    within_gaps: Callable[..., Any]
    # Where it doesn't come from the engine itself, and why.
    origin: str
    reason: str
    # Return a kernel for known static arguments, or for natives of known types too.
    bind: Callable[..., Callable[..., Any]]
    bind_in_graph: Callable[..., Callable[..., Any]]
    known: Callable[..., Callable[..., Any] | None]
    # For which types it returns ``NotImplemented``, and whether it does so inside transformations of the engine.
    declines: Callable[..., bool]
    declines_transformed: bool
    # Whether only derivatives call it: it returns more than its function does, or plain calls compute otherwise.
    for_derivatives: bool
    # Whether graphs on the host use the composition instead, and the function for arrays on accelerators.
    composed_on_host: bool
    off_host: Callable[..., Any]
    # Equivalent code in the engine's own functions, with the same bits, for graphs that the engine compiles.
    lowered: Callable[..., Any]
    # Whether an elementwise kernel casts its operands itself.
    casts_itself: bool
    # Equivalent code that ignores where its arrays are, or that raises the engine's own errors.
    unplaced: Callable[..., Any]
    plain: Callable[..., Any]
    # Versions that write to the buffer of the first operand, or to a window of it.
    destructive: Callable[..., Any]
    into_window: Callable[..., Any]
    # Whether ``set_window`` takes ``apart=True``.
    writes_apart: bool
    # NumPy's function of arrays that have axes, the formula of a special function, and the loop in C for a dtype.
    with_axes: Callable[..., Any]
    formula: Callable[..., Any]
    loop_for: Callable[[Any], str | None]
    # The one thing that it does for arrays of known types (``base/single.py``): steps of loops do it without Python.
    core: Callable[..., Any]


def state(kernel: Kernel, **facts: Unpack[Facts]) -> Kernel:
    """Set facts of a kernel, and return it."""
    for name, value in facts.items():
        if name not in Facts.__annotations__:
            raise TypeError(f"{name} is no fact of a kernel: these are {', '.join(Facts.__annotations__)}")
        setattr(kernel, name, value)
    return kernel


def facts_of(kernel: Callable[..., Any]) -> Facts:
    """Return the declared facts of a kernel."""
    return cast(Facts, vars(kernel))


def with_core(core: Callable[..., Any]) -> Callable[[Kernel], Kernel]:
    """Declare the one thing that a kernel does for arrays of known types."""
    return lambda kernel: state(kernel, core=core)


def support_native_out(kernel: Kernel) -> Kernel:
    """Declare that ``kernel(..., out=native)`` writes into ``native`` and returns it."""
    return state(kernel, support_native_out=True)


def lowered_by(function: Callable[..., Any]) -> Callable[[Kernel], Kernel]:
    """Declare the function that the engine's own compiler takes in a kernel's place, with last bits of its own.

    A compiled function whose graph that compiler takes calls the kernel as a whole, even if it's one for derivatives.
    """
    return lambda kernel: state(kernel, lowered=function)


def bound_by(
    bind: Callable[..., Callable[..., Any]], in_graph: Callable[..., Callable[..., Any]] | None = None
) -> Callable[[Kernel], Kernel]:
    """Declare a function that returns a kernel for known static arguments: faster than passing them at each call.

    The function that it returns takes no ``out``. A graph binds the kernel by ``in_graph``, if that's given.
    """

    def decorate(kernel: Kernel) -> Kernel:
        if in_graph is not None:
            state(kernel, bind_in_graph=in_graph)
        return state(kernel, bind=bind)

    return decorate


class Applied:
    """A function with arguments that come after the arrays: ``Applied(torch.cumsum, 0)(x)`` is ``torch.cumsum(x, 0)``.

    Shortcuts call the function itself. Positional arguments are faster than keyword arguments.
    """

    # Whether the function takes the arrays as one tuple.
    is_packed = False

    def __init__(self, function: Callable[..., Any], *after: Any) -> None:
        self.function, self.after = function, after

    def __call__(self, *arrays: Any) -> Any:
        """Call the function on arrays, and on the arguments after them."""
        return self.function(*arrays, *self.after)


class Packed(Applied):
    """The same for a function that takes the arrays as one tuple, as ``torch.cat`` does."""

    is_packed = True

    def __call__(self, *arrays: Any) -> Any:
        """Call the function on the tuple of arrays, and on the arguments after it."""
        return self.function(arrays, *self.after)


def writes_apart(kernel: Kernel) -> Kernel:
    """Declare that ``set_window`` takes ``apart=True``: the target doesn't share memory with the value.

    Graphs pass it where the array was reshaped, since there XLA on the CPU overwrites elements before it reads them.
    """
    return state(kernel, writes_apart=True)


def known_by(know: Callable[..., Callable[..., Any] | None]) -> Callable[[Kernel], Kernel]:
    """Declare a function that returns a kernel for natives of known dtypes and shapes, or ``None``.

    It takes natives with dtypes and shapes, and the static arguments. Shortcuts then call the function that it returned
    on natives alone, without checking dtypes and shapes again. If it raises, or returns something of another type, the
    call takes the general path.
    """

    def decorate(kernel: Kernel) -> Kernel:
        return state(kernel, known=know)

    return decorate


def declines(when: Callable[..., bool], *, transformed: bool = False) -> Callable[[Kernel], Kernel]:
    """Declare for which types a kernel returns ``NotImplemented``, which it does by itself.

    ``when`` takes the kernel's arguments, with types in place of arrays: ``x.shape``, and ``x.dtype`` as in NumPy. A
    compiled function is traced without running kernels, so a kernel in its graph can't decline any more.
    ``transformed`` declines all calls inside the engine's transformations, such as ``grad``.
    """

    def decorate(kernel: Kernel) -> Kernel:
        return state(kernel, declines=when, declines_transformed=transformed)

    return decorate


def composed_on_host(kernel: Kernel) -> Kernel:
    """Declare that graphs on the host have the composition in a kernel's place: there loops are fused.

    So it gives the same bits there, or declines arrays of the host. On an accelerator each launch takes time.
    """
    return state(kernel, composed_on_host=True)


def for_derivatives(kernel: Kernel) -> Kernel:
    """Declare that only derivatives call a kernel: it gives more than its function, or plain calls do otherwise."""
    return state(kernel, for_derivatives=True)


def not_implemented(reason: str) -> Callable[..., Any]:
    """Return a kernel that says why the engine has none."""

    def kernel(*arrays: Any, **arguments: Any) -> Any:
        raise BackendFeatureError(reason)

    return state(kernel, origin="not implemented", reason=reason)


def worked_around(reason: str, *, origin: str = "worked around") -> Callable[[Kernel], Kernel]:
    """Declare that a kernel stands in for one that the engine lacks or gets wrong, and why."""

    def decorate(kernel: Kernel) -> Kernel:
        return state(kernel, origin=origin, reason=reason)

    return decorate


def by_host(reason: str) -> Callable[[Kernel], Kernel]:
    """Declare that a kernel computes with NumPy on the host, and why."""
    return worked_around(reason, origin="host")


def fills_gaps(native: Callable[..., Any], gaps: Iterable[Any], reason: str) -> Callable[[Kernel], Kernel]:
    """Use ``native``, except where the first array's dtype is one of ``gaps``: there the decorated kernel.

    ``gaps`` are native dtypes. ``out=`` reaches ``native`` alone: the workaround never sees it.
    """
    gaps = frozenset(gaps)

    def decorate(workaround: Kernel) -> Kernel:
        @functools.wraps(workaround)
        def kernel(x: Any, /, *arrays: Any, out: Any = None, **arguments: Any) -> Any:
            if x.dtype in gaps:
                return workaround(x, *arrays, **arguments)
            if out is None:
                return native(x, *arrays, **arguments)
            return native(x, *arrays, out=out, **arguments)

        # The workaround may have set it.
        kernel.__dict__.pop("plain", None)
        state(kernel, native=native, gaps=gaps, outside_gaps=native, within_gaps=workaround)
        return worked_around(reason)(kernel)  # type: ignore[return-value]

    return decorate


def bits(
    shape: tuple[int, ...], before: np.dtype[Any], after: np.dtype[Any]
) -> tuple[tuple[int, ...], np.dtype[Any], tuple[int, ...]]:
    """Return how an array of one dtype is read as another one by an engine's cast of bits, which takes real numbers.

    Real and imaginary parts along a last axis, and bools as bytes: the shape that the cast takes, its dtype, and the
    shape of its result. A cast to smaller numbers adds a last axis, and a cast to greater ones removes one.
    """
    given, wanted = _unit(before), _unit(after)
    nbytes = math.prod(shape) * before.itemsize
    taken: tuple[int, ...] = (nbytes // given.itemsize,)
    if wanted.itemsize > given.itemsize:
        taken = (nbytes // wanted.itemsize, wanted.itemsize // given.itemsize)
    found = shape
    if before.itemsize != after.itemsize:
        found = (*shape[:-1], shape[-1] * before.itemsize // after.itemsize)
    return taken, wanted, (*found, 2) if after.kind == "c" else found


def _unit(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.kind == "c":
        return np.dtype(f"f{dtype.itemsize // 2}")
    return np.dtype(np.uint8) if dtype.kind == "b" else dtype
