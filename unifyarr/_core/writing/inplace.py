"""The one write path: ``x[...] = v``, ``x += y``, ``out=`` and ``inplace_update`` all end in ``assign``.

Everything that can fail is checked before the first byte is written.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import repeat
from typing import Any

from numpy import float64
from numpy.exceptions import ComplexWarning

from ...errors import DeviceError, InplaceUpdateError, ReadOnlyError, ShapeError, TracedMutationError
from ...modes.debug import check_write
from ...typing import Shape
from ..arrays import convert
from ..arrays.array import Array, wrap
from ..arrays.overlap import overlapping
from ..arrays.ownership import LOCK, Held, Pending, Writing, alike, read, rebind, release, run_of, settled
from ..arrays.recipes import is_read_only, root_of, steps_with
from ..arrays.views import Elements, Masked, MaskedByValue, Places, ViewStep, put_through, store
from ..arrays.weak import WeakFloat, kind_of
from ..engines import dtypes
from ..engines.dtypes import DType
from ..engines.natives import backend_of_native, mismatch
from ..engines.refusals import explains
from ..engines.tracing import checking, take, unrepeatable
from ..values.caller import where
from ..values.lengths import PartialShape, equal_as_known
from ..values.native import Native
from ..values.shapes import broadcast
from .write_log import tell_copied


def as_target(target: Any, what: str = "out") -> Array:
    """Return what was passed as the target of a write as an array; a native array that can't be written is an error."""
    target = take(target, is_written=True)
    if isinstance(target, Array):
        return target
    import numpy as np

    from ..engines.registry import load

    backend = backend_of_native(target)
    if isinstance(target, np.ndarray):
        backend, target = load("numpy"), np.asarray(target)
    if backend is None:
        raise TypeError(f"{what} is an array that can be written, not {type(target).__name__}")
    if not backend.can_write(target):
        raise InplaceUpdateError(
            f"{what} is a native {type(target).__name__}, which can't be changed: wrap it, "
            f"x = ua.asarray(native), pass x and take x.native afterwards"
        )
    return convert.lift(target, backend)


def check_target(target: Array, ensure_in_backend: bool = False) -> None:
    """Raise unless the target of a write may be written now."""
    root = root_of(target)
    backend, native = root._backend, root._native
    held = isinstance(native, Held)
    if is_read_only(target):
        raise ReadOnlyError("the target of the write is read-only: write to a copy of it, x.copy()")
    if not held and backend.can_write(native):
        backend.check_writable(native)
        return
    if ensure_in_backend:
        raise InplaceUpdateError(
            f"a native {type(settled(native)).__name__} of backend {backend.name!r} can't be changed in place, and "
            "ensure_in_backend=True insists on it: leave it out, or keep the values in ua.variable(x)"
        )
    trace = backend.trace()
    # What is in a record or a batch was made inside, or is captured there.
    if trace is not None and getattr(root, "_born", None) is not trace and backend.around is backend:
        raise TracedMutationError(
            f"{where()} writes to an array that was made outside the running trace, which would leave a dead tracer "
            "in it: return the new values from the traced function and write them outside"
        )


def fit_dtype(value: object, target: Array, *, what: str, assigned: bool = False) -> tuple[Native, Shape]:
    """Return a value that isn't a number as a native array of the target's dtype, and its shape, whatever that is."""
    backend, dtype = target._backend, target.dtype
    if isinstance(value, Array) or backend_of_native(value) is not None:
        array = convert.as_array(value, backend)
        check_device(target, array, what)
    else:
        array = _from_data(value, target, assigned)
    if assigned:
        array = _without_imaginary(array, dtype)
    if array.dtype is dtype:
        return read(array), array.shape
    if not assigned:
        dtypes.check_cast(array.dtype, dtype, what)
    return backend.kernel("astype")(read(array), dtype=dtype.dtype), array.shape


def fit(value: object, target: Array, shape: Shape, *, exact: bool, what: str, assigned: bool = False) -> Native:
    """Return a value as a native array of the target's dtype and of ``shape``, checked and cast as a write needs it.

    ``exact`` demands the shape itself, where otherwise the value broadcasts to it. What is ``assigned``, as in
    ``x[...] = v``, takes any cast, as in NumPy; all else casts under ``same_kind``. Where a length of ``shape`` isn't
    known, the target has that shape.
    """
    backend, dtype = target._backend, target.dtype
    if type(value) is WeakFloat and dtype.rank < 2:
        value = value.known()
    if assigned and type(value) is float64:
        # A number of Python's too.
        value = float(value)
    if kind_of(value) in dtypes.SCALARS:
        if not assigned:
            dtypes.check_cast(kind_of(value), dtype, what)
        elif type(value) is not WeakFloat:
            value = dtypes.as_assigned(value, dtype, what)
        native = convert.scalar(value, dtype, backend, convert.device_of([target], backend))
        given: Shape = ()
    else:
        native, given = fit_dtype(value, target, what=what, assigned=assigned)
    is_known = type(shape) is not PartialShape
    # Whether what broadcasts has all lengths of the target, only their values tell.
    if not ((exact or is_known) and equal_as_known(given, shape)):
        # As NumPy, leading axes of length one fall away.
        while not exact and len(given) > len(shape) and given[0] == 1:
            given = given[1:]
            native = backend.kernel("reshape")(native, shape=given)
        if exact or len(given) > len(shape) or not equal_as_known(broadcast(given, shape), shape):
            raise ShapeError(f"{what} has shape {shape}, but the value has {given}")
        native = backend.kernel("broadcast_to")(native, shape=shape) if is_known else repeated_like(native, target)
    return native


def repeated_like(native: Native, x: Array) -> Native:
    """Return a native value of an array's dtype broadcast to its shape, of which no length need be known."""
    whole = tuple([(0, 1, length) for length in tuple.__iter__(x.shape)])
    return x._backend.kernel("set_window")(read(x), native, window=whole)


def check_device(target: Array, value: Array, what: str) -> None:
    """Raise ``DeviceError`` where a value isn't on the target's device: moving it would be a silent copy."""
    backend = target._backend
    if backend.mutable or backend.trace() is None:
        there = alike(root_of(target))
        given, wanted = value.device, backend.device(there)
        if given != wanted and not backend.may_meet(there, read(value)):
            raise DeviceError(
                f"{what} is on device {wanted!r}, but the value is on {given!r}: move it, with to_device()"
            )


def _without_imaginary(array: Array, dtype: DType) -> Array:
    # NumPy warns too, and takes the real part.
    if dtypes.rank(array.dtype) == 3 and dtypes.rank(dtype) in (1, 2):
        warnings.warn(
            f"an assignment casts {array.dtype} to {dtype} and drops the imaginary part: assign ua.real(x) to say so",
            ComplexWarning,
            stacklevel=7,
        )
        return wrap(array._backend.kernel("real")(read(array)), array._backend)
    return array


def _from_data(value: object, target: Array, assigned: bool) -> Array:
    import numpy as np

    backend = target._backend
    if convert.stays(value):
        return wrap(convert.from_data(value, backend, device=convert.device_of([target], backend)), backend)
    array = convert.to_numpy(value)
    is_weak = not isinstance(value, (np.ndarray, np.generic))
    if is_weak and (assigned or dtypes.rank(array.dtype) <= dtypes.rank(target.dtype)):
        # A list of Python numbers is weak, as they are.
        array = convert.to_numpy(value, target.dtype)
    device = convert.device_of([target], backend)
    return wrap(backend.from_numpy(array, device=device, copy=True), backend)


def assign(target: Array, native: Native, *last: ViewStep | Elements | Masked | Places | MaskedByValue) -> None:
    """Write a native value of the target's shape and dtype, which ``check_target`` and ``fit`` have passed.

    ``last`` is which elements of the target are written, if not all.
    """
    if put(target, native, *last):
        tell_copied(target)


def put(target: Array, native: Native, *last: ViewStep | Elements | Masked | Places | MaskedByValue) -> bool:
    """Do what ``assign`` does; return whether a donating engine had to copy the other elements for it."""
    unrepeatable()
    backend = target._backend
    root = root_of(target)
    steps = steps_with(target, *last)
    if not steps and backend.mutable:
        backend.assign(target._native, native)
        return False
    with LOCK:
        if _goes_into_run(root, steps, native):
            return False
        if steps:
            return rewrite(root, lambda old, results: put_through(backend, old, steps, native, results), native)
        rewrite(root, lambda old, results: store(backend, old, native), native)
        return False


def _goes_into_run(root: Array, steps: tuple[Any, ...], value: Native) -> bool:
    """Write into the holder of a run of writes, where there is one or may be one."""
    while (run := run_of(root, steps)) is not None:
        # Before the write, so that no view keeps an old value if an interrupt comes after it. Readers wait.
        root._token = object()
        put_through(root._backend, run.holder, steps, value)
        token = object()
        # A finalizer may have read meanwhile, which ends a run, or have written to something else than the holder.
        if root._native is run or getattr(root, "_run", None) is run:
            root._native, root._token = run, token
            return True
    return False


def assign_all(
    targets: Sequence[Array],
    values: Sequence[Any],
    as_native: Callable[[Array, Any], Native],
    what: str,
    nest: object = None,
) -> None:
    """Write a value to each of several targets: all of them, or none.

    ``as_native(target, value)`` returns a value as ``assign`` takes it. The values are as they were before the first
    write, whatever they share memory with. ``nest`` is the container whose leaves the targets are, if any.
    """
    values = [_as_source(x) for x in values]
    sources = {id(x): x for x in values if isinstance(x, Array)}
    places: dict[int, list[int]] = {}
    for place, x in enumerate(values):
        places.setdefault(id(x), []).append(place)
    arrays = [*targets, *sources.values()]
    count = len(targets)
    for first, second in overlapping(arrays):
        if second < count:
            one, other = (first, second) if nest is None else (path_of(nest, first), path_of(nest, second))
            raise ValueError(f"two {what} overlap, {one!r} and {other!r}: the second value would overwrite the first")
        # A value that lies elsewhere in its own target is copied too: an interrupted write is made again.
        if first < count and (places[id(arrays[second])] != [first] or arrays[first] is not arrays[second]):
            for place in places[id(arrays[second])]:
                values[place] = arrays[second].copy()
    natives = []
    with at(nest) as leaf:
        for leaf.place, (target, value) in enumerate(zip(targets, values, strict=True)):
            natives.append(as_native(target, value))
    copied: list[Array] = []

    def write(target: Array, native: Native) -> None:
        if put(target, native):
            copied.append(target)

    finish_all([partial(write, target, native) for target, native in zip(targets, natives, strict=True)])
    for x in copied:
        tell_copied(x)


def _as_source(value: object) -> object:
    # A value that may share memory with a target is an array.
    backend = None if isinstance(value, Array) else backend_of_native(value)
    return value if backend is None else convert.as_array(value, backend)


def finish_all(steps: Sequence[Callable[[], object]]) -> None:
    """Take all steps, each of which may be taken twice: an interrupt in between is raised when all are taken."""
    left = list(reversed(steps))
    try:
        _take_all(left)
    except Exception:
        raise
    except BaseException:
        finish_all(left[::-1])
        raise


def _take_all(left: list[Callable[[], object]]) -> None:
    while left:
        left[-1]()
        left.pop()


class at:
    """A context that adds to an error at which leaf of a container it was; a loop sets its ``place``."""

    __slots__ = ("nest", "place")

    def __init__(self, nest: object, place: int = 0) -> None:
        self.nest, self.place = nest, place

    def __enter__(self) -> at:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is not None and self.nest is not None:
            error.add_note(f"at the leaf {path_of(self.nest, self.place)!r} of a container")


def path_of(nest: Any, place: int) -> str:
    """Return the path of a leaf, of several containers like ``nest`` in a row."""
    paths: list[str] = nest.paths()
    return paths[place % len(paths)]


def rewrite(root: Array, write: Callable[[Native, list[Native] | None], Native], value: object = None) -> bool:
    """Give a root the native that ``write`` makes of its old one, and may use up where it gets a list for its result.

    A write that fails or is interrupted leaves the root as it was, or as it is after the write. ``value`` is what is
    written: a native that something else refers to. Returns whether the engine uses up natives, and not this one.
    """
    unrepeatable()
    backend = root._backend
    with LOCK:
        if isinstance(root._native, Pending) and (other := root._native.writing).under_way:
            # This is a finalizer, which Python runs in the middle of another write.
            other.later.append(lambda: rewrite(root, write, value))
            return False
        writing, pending = Writing(), None
        try:
            writing.under_way = True
            # Not ``while``: Python 3.12 and 3.13 take an interrupt at the end of its body for one behind the ``try``.
            for _ in repeat(None):
                pending = release(root, writing)
                old = settled(root._native) if pending is None else pending.native
                new = write(old, None if pending is None or pending.number is None else writing.results)
                if new is old or rebind(
                    root,
                    backend.as_stored(old, new),
                    owned=new is not value and backend.destroys,
                    instead_of=old if pending is None else None,
                ):
                    break
        finally:
            writing.under_way = False
            if pending is not None:
                writing.end((pending,))
    return pending is not None and pending.number is None


@explains("this write")
def update(
    target: Array,
    value: object,
    /,
    *,
    ensure_in_backend: bool = False,
    exact: bool = False,
    what: str = "x",
    assigned: bool = False,
) -> None:
    """Overwrite the target by a value: the whole path, from the checks to the write."""
    target, value = take(target), take(value)
    if checking():

        def write() -> None:
            update(target, value, ensure_in_backend=ensure_in_backend, exact=exact, what=what, assigned=assigned)

        check_write(f"the write to {what}", write, target, value)
        return
    check_target(target, ensure_in_backend)
    assign(target, fit(value, target, target.shape, exact=exact, what=what, assigned=assigned))


def check_backend(target: Array, backend: Any, what: str = "out") -> None:
    """Raise where a target belongs to another backend than the call."""
    if target._backend is not backend:
        raise mismatch(backend, target._backend)
