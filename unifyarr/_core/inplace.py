"""The one write path: ``x[...] = v``, ``x += y``, ``out=`` and ``inplace_update`` all end in ``assign``.

Everything that can fail is checked before the first byte is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import DeviceError, InplaceUpdateError, ReadOnlyError, ShapeError, TracedMutationError
from ..typing import Shape
from . import convert, dtypes
from .debugging import check_write, checking
from .ownership import LOCK, Held, release, run_of, settled
from .selection import backend_of_native, mismatch
from .shapes import broadcast
from .tracing import capture
from .views import Elements, Masked, Step, overlapping, put_through, rebind, root_of, steps_with, store
from .wrapper import is_array, read, wrap

if TYPE_CHECKING:
    from ..array import Array


def as_target(target: object, what: str = "out") -> Array:
    """Return what was passed as the target of a write as an array; a native array that can't be written is an error."""
    if is_array(target):
        capture(target)
        return target
    import numpy as np

    from .selection import load

    backend = load("numpy") if isinstance(target, np.ndarray) else backend_of_native(target)
    if backend is None:
        raise TypeError(f"{what} is an array that can be written, not {type(target).__name__}")
    if not backend.can_write(target):
        raise InplaceUpdateError(
            f"{what} is a native {type(target).__name__}, which can't be changed: wrap it, "
            f"x = ua.asarray(native), pass x and take x.native afterwards"
        )
    return wrap(target, backend)


def check_target(target: Array, ensure_in_backend: bool = False) -> None:
    """Raise unless the target of a write may be written now."""
    root = root_of(target)
    backend, native = root._backend, root._native
    held = isinstance(native, Held)
    shown = root is target or all(step.writable for step in target._steps)  # type: ignore[attr-defined]
    if not shown or (not held and backend.is_read_only(native)):
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
    if trace is not None and getattr(root, "_born", None) is not trace:
        raise TracedMutationError(
            "an array that was made outside the running trace is written inside it, which would leave a dead tracer "
            "in it: return the new values from the traced function and write them outside"
        )


def fit(value: object, target: Array, shape: Shape, *, exact: bool, what: str) -> Any:
    """Return a value as a native array of the target's dtype and of ``shape``, checked and cast as a write needs it.

    ``exact`` demands the shape itself, where otherwise the value broadcasts to it.
    """
    backend, dtype = target._backend, target.dtype
    if type(value) in dtypes.SCALARS:
        dtypes.check_cast(type(value), dtype, what)
        native = convert.scalar(value, dtype, backend, convert.device_of([target], backend))
        given: Shape = ()
    else:
        if is_array(value) or backend_of_native(value) is not None:
            array = convert.as_array(value, backend)
            check_device(target, array, what)
        else:
            array = _from_data(value, target)
        given = array.shape
        if array.dtype != dtype:
            dtypes.check_cast(array.dtype, dtype, what)
            native = backend.kernel("astype")(read(array), dtype=dtype.dtype)
        else:
            native = read(array)
    if given != shape:
        # As NumPy, leading axes of length one fall away.
        while not exact and len(given) > len(shape) and given[0] == 1:
            given = given[1:]
            native = backend.kernel("reshape")(native, shape=given)
        if exact or len(given) > len(shape) or broadcast(given, shape) != shape:
            raise ShapeError(f"{what} has shape {shape}, but the value has {given}")
        native = backend.kernel("broadcast_to")(native, shape=shape)
    return native


def check_device(target: Array, value: Array, what: str) -> None:
    """Raise ``DeviceError`` where a value isn't on the target's device: moving it would be a silent copy."""
    backend = target._backend
    if backend.trace() is None:
        given, wanted = value.device, target.device
        if given != wanted:
            raise DeviceError(
                f"{what} is on device {wanted!r}, but the value is on {given!r}: move it, with to_device()"
            )


def _from_data(value: object, target: Array) -> Array:
    import numpy as np

    backend = target._backend
    array = convert.to_numpy(value)
    if not isinstance(value, (np.ndarray, np.generic)) and dtypes.rank(array.dtype) <= dtypes.rank(target.dtype):
        # A list of Python numbers is weak, as they are.
        array = convert.to_numpy(value, target.dtype)
    device = convert.device_of([target], backend)
    return wrap(backend.from_numpy(array, device=device, copy=True), backend)


def assign(target: Array, native: Any, *last: Step | Elements | Masked) -> None:
    """Write a native value of the target's shape and dtype, which ``check_target`` and ``fit`` have passed.

    ``last`` is which elements of the target are written, if not all.
    """
    backend = target._backend
    root = root_of(target)
    steps = steps_with(target, *last)
    if not steps and backend.mutable:
        backend.assign(target._native, native)
        return
    with LOCK:
        run = run_of(root, steps)
        if run is not None:
            put_through(backend, run.holder, steps, native)
            root._token = object()
            return
        if steps:
            rewrite(root, lambda old, owned: put_through(backend, old, steps, native, owned), native)
        else:
            rewrite(root, lambda old, owned: store(backend, old, native), native)


def assign_all(
    targets: Sequence[Array],
    values: Sequence[Any],
    as_native: Callable[[Array, Any], Any],
    what: str,
    nest: Any = None,
) -> None:
    """Write a value to each of several targets: all of them, or none.

    ``as_native(target, value)`` returns a value as ``assign`` takes it. The values are as they were before the first
    write, whatever they share memory with. ``nest`` is the container whose leaves the targets are, if any.
    """
    values = [convert.as_array(x, backend) if (backend := backend_of_native(x)) is not None else x for x in values]
    sources = {id(x): x for x in values if is_array(x)}
    places: dict[int, list[int]] = {}
    for place, x in enumerate(values):
        places.setdefault(id(x), []).append(place)
    arrays = [*targets, *sources.values()]
    count = len(targets)
    for first, second in overlapping(arrays):
        if second < count:
            one, other = (first, second) if nest is None else (path_of(nest, first), path_of(nest, second))
            raise ValueError(f"two {what} overlap, {one!r} and {other!r}: the second value would overwrite the first")
        if first < count and places[id(arrays[second])] != [first]:
            for place in places[id(arrays[second])]:
                values[place] = arrays[second].copy()
    natives = []
    for place, (target, value) in enumerate(zip(targets, values, strict=True)):
        with at(nest, place):
            natives.append(as_native(target, value))
    for target, native in zip(targets, natives, strict=True):
        assign(target, native)


class at:
    """A context that adds to an error at which leaf of a container it was."""

    __slots__ = ("nest", "place")

    def __init__(self, nest: Any, place: int) -> None:
        self.nest, self.place = nest, place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is not None and self.nest is not None:
            error.add_note(f"at the leaf {path_of(self.nest, self.place)!r} of a container")


def path_of(nest: Any, place: int) -> str:
    """Return the path of a leaf, of several containers like ``nest`` in a row."""
    paths: list[str] = nest.paths()
    return paths[place % len(paths)]


def rewrite(root: Array, write: Callable[[Any, bool], Any], value: Any = None) -> None:
    """Give a root the native that ``write`` makes of its old one, and may destroy where its second argument says so.

    A write that fails leaves the root as it was. ``value`` is what is written: a native that somebody else has too.
    """
    with LOCK:
        old, owned = release(root)
        new = old
        try:
            new = write(old, owned)
        finally:
            if new is old:
                root._native = old
            else:
                backend = root._backend
                rebind(root, backend.as_stored(old, new), owned=new is not value and backend.destroys)


def update(
    target: Array, value: object, *, ensure_in_backend: bool = False, exact: bool = False, what: str = "x"
) -> None:
    """Overwrite the target by a value: the whole path, from the checks to the write."""
    if checking.get():

        def write() -> None:
            update(target, value, ensure_in_backend=ensure_in_backend, exact=exact, what=what)

        check_write(f"the write to {what}", write, target, value)
        return
    check_target(target, ensure_in_backend)
    assign(target, fit(value, target, target.shape, exact=exact, what=what))


def check_backend(target: Array, backend: Any, what: str = "out") -> None:
    """Raise where a target belongs to another backend than the call."""
    if target._backend is not backend:
        raise mismatch(backend, target._backend)
