"""The engine of a batch, as the frontend sees an engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.engines.handle import Handle
from .._core.values.lengths import shape_of
from ..backends import Backend
from ..errors import TraceError
from .natives import Batched
from .selections import BatchedSelection


class BatchBackend(Backend[Batched]):
    """The engine of a batch as the frontend sees one: what isn't said here is asked of the backend of the values."""

    mutable = False
    native_types = (Batched,)
    modules = ()

    def __init__(self, base: Handle) -> None:
        self.base = base
        for name in ("has_shapes", "has_values", "has_strides", "warns", "has_fixed_dtypes", "no_trace"):
            setattr(self, name, getattr(base, name))

    @property
    def name(self) -> str:
        return self.base.name

    # -- what an array is for one element of the batch ----------------------------------------------------------------

    def dtype(self, native: Batched) -> Any:
        return self.base.dtype(_stored(native))

    def shape(self, native: Batched) -> Any:
        if isinstance(native, BatchedSelection):
            shape, axis = self.shape(native.dense), native.axis
            return shape_of((*shape[:axis], None, *shape[axis + 1 :]))
        shape = self.base.shape(native.value)
        return shape if native.is_constant else shape[1:]

    def strides(self, native: Batched) -> Any:
        if native.layout is not None:
            return native.layout
        if isinstance(native, BatchedSelection):
            # What is selected has memory of its own, if any.
            return None
        strides = self.base.strides(native.value)
        return strides if native.is_constant or strides is None else strides[1:]

    def as_stored(self, old: Batched, new: Batched) -> Batched:
        if not self.has_strides or isinstance(new, BatchedSelection):
            return new
        strides = self.strides(old)
        return new if self.strides(new) == strides else Batched(new.value, new.is_constant, strides)

    def device(self, native: Batched) -> Any:
        return self.base.device(_stored(native))

    def devices(self) -> Any:
        return self.base.devices()

    def as_device(self, device: object) -> Any:
        return self.base.as_device(device)

    def place_beside(self, native: Batched) -> Any:
        return self.base.place_beside(_stored(native))

    def may_meet(self, first: Batched, second: Batched) -> bool:
        return self.base.may_meet(_stored(first), _stored(second))

    def meeting(self, devices: Any) -> Any:
        return self.base.meeting(devices)

    def sharding(self, native: Batched) -> Any:
        return self.base.sharding(_stored(native))

    def as_dtype(self, dtype: object) -> Any:
        return self.base.as_dtype(dtype)

    def supports_dtype(self, dtype: Any, device: Any = None) -> bool:
        return self.base.supports_dtype(dtype, device)

    # -- values -------------------------------------------------------------------------------------------------------

    def read(self, native: Batched) -> Batched:
        return native

    def as_native(self, value: Any) -> Batched:
        return value if isinstance(value, Batched) else Batched(self.base.as_native(value), True)

    def from_numpy(self, array: np.ndarray, *, device: Any = None, copy: bool = True) -> Batched:
        return Batched(self.base.from_numpy(array, device=device, copy=True), True)

    def to_numpy(self, native: Batched) -> np.ndarray:
        return self.base.to_numpy(native.value)

    def copy(self, native: Batched) -> Batched:
        # Nothing writes a native of a batch.
        if isinstance(native, BatchedSelection):
            return native
        return Batched(native.value, native.is_constant)

    def to_device(self, native: Batched, device: Any) -> Batched:
        return Batched(self.base.to_device(native.value, device), native.is_constant)

    def from_dlpack(self, x: Any, **options: Any) -> Batched:
        return Batched(self.base.from_dlpack(x, **options), True)

    def handed_out(self, native: Batched) -> Any:
        return self.base.handed_out(self._constant(native))

    def dlpack(self, native: Batched, **options: Any) -> Any:
        return self.base.dlpack(self._constant(native), **options)

    def dlpack_device(self, native: Batched) -> Any:
        return self.base.dlpack_device(native.value)

    def _constant(self, native: Batched) -> Any:
        if not native.is_constant:
            raise TraceError(
                "the engine's own array is asked of an array inside vmap(), which each element of the batch has "
                "another one for: use functions of unifyarr, declare the engine's code as an operation with @ua.op, or "
                "name the engine that is to batch the function, vmap(..., backend='torch') for example"
            )
        return native.value

    # -- memory, which nothing writes ---------------------------------------------------------------------------------

    def can_write(self, native: Batched) -> bool:
        return False

    def check_writable(self, native: Batched) -> None:
        """Nothing here is written in place, which is asked before."""

    def is_read_only(self, native: Batched) -> bool:
        return False

    def assign(self, native: Batched, value: Batched) -> None:
        raise AssertionError("a write to an array of a batch rebinds it")

    def may_share_memory(self, first: Batched, second: Batched) -> bool:
        return _stored(first) is _stored(second)

    def supports_out(self, kernel: Any) -> bool:
        return False

    # -- traces and derivatives ---------------------------------------------------------------------------------------

    def trace(self) -> object:
        return self.base.trace()

    def trace_state(self) -> object:
        return self.base.trace_state()

    def type_key(self, native: Batched) -> Any:
        return self.shape(native), self.dtype(native), native.is_constant

    def is_traced(self, native: Batched) -> bool:
        return not native.is_constant or self.base.is_traced(native.value)

    def hides_values(self, native: Batched) -> bool:
        return not native.is_constant or self.base.hides_values(native.value)

    def knows_values(self, native: Batched) -> bool:
        return native.is_constant and self.base.knows_values(native.value)

    def holds_anywhere(self, native: Batched) -> bool | None:
        base = self.base
        if native.is_constant:
            return base.holds_anywhere(native.value)
        return base.holds_anywhere(base.as_native(any_of(base, native.value)))

    def records_gradient(self, native: Batched) -> bool:
        return self.base.records_gradient(_stored(native))

    def carries_derivative(self, native: Batched) -> bool:
        return self.base.carries_derivative(_stored(native))

    def held_fixed(self, native: Batched) -> Batched:
        return Batched(self.base.held_fixed(native.value), native.is_constant, native.layout)

    def known_number(self, native: Batched) -> float | None:
        return self.base.known_number(native.value) if native.is_constant else None


def _stored(native: Batched) -> Any:
    """Return a value that has the dtype and the device of a native."""
    return native.dense.value if isinstance(native, BatchedSelection) else native.value


def any_of(base: Handle, value: Any) -> Any:
    """Return whether a condition holds for one element of a batch at least."""
    told = {"result": ((), np.dtype(np.bool))} if base.records else {}
    return base.kernel("any")(value, axis=(0,), keepdims=False, **told)
