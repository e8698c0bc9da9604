"""Recording what a body does: the kernels that it calls, on which arrays and with which static arguments."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays.array import Array
from ..engines.dtypes import BY_NUMPY, DType
from ..engines.handle import Handle, has_one_device
from ..engines.kernels import bound
from ..values.native import Native
from .programs import Builder, KernelStep, bound_kernel

# How many bytes a constant of a shortcut has at most.
_CONSTANT = 64
_ATOMS = frozenset({int, str, DType, type, np.dtype})


@lru_cache(maxsize=4096, typed=True)
def integers(*values: object) -> Hashable:
    """Return what tells a tuple of ints from all other arguments, ``None`` for one of other things."""
    return (int, values) if all(type(each) is int for each in values) else None


def frozen(value: Any) -> Hashable:
    """Return what tells an argument from all others: 1, 1.0, True and the two zeros are equal, and mean other things.

    Raises ``TypeError`` for what no shortcut is kept for.
    """
    kind = type(value)
    if value is None or kind is bool:
        return value  # type: ignore[no-any-return]
    if kind in _ATOMS:
        return kind, value
    if kind is float:
        return kind, value or repr(value)
    if kind is complex:
        return kind, repr(value)
    if kind is tuple:
        return integers(*value) or tuple(map(frozen, value))
    if isinstance(value, np.dtype):
        return np.dtype, value
    raise TypeError


def beside(x: Any, backend: Handle, *, elementwise: bool) -> tuple[object, Hashable, object]:
    """Return the native of an operand that is no array of the backend, and what tells it apart: ``None`` of a number.

    Arrays and scalars of NumPy's are what their natives are. For an elementwise kernel an engine may have less to do.
    """
    if is_numpy_data(x):
        native = native_of_data(x, backend, elementwise=elementwise)
        return native, native.dtype, native.shape
    return None, frozen(x), None


def is_numpy_data(x: object) -> bool:
    """Return whether an operand is an array or a scalar of NumPy's."""
    return type(x) is np.ndarray or isinstance(x, np.generic)


def native_of_data(x: object, backend: Handle, *, elementwise: bool = False) -> Any:
    """Return the native of NumPy's data: a copy, or the data itself where these are natives.

    Raises ``TypeError`` where the general path has more to look at: other dtypes, and several devices.
    """
    array = np.asarray(x)
    known = BY_NUMPY.get(array.dtype)
    if known is None or not array.dtype.isnative:
        raise TypeError
    if backend.native_type is np.ndarray:
        return array
    if array.dtype is not known.dtype or not has_one_device(backend) or not backend.supports_dtype(array.dtype):
        raise TypeError
    return backend.elementwise_operand(array) if elementwise else backend.from_numpy(array)


class Recording:
    """What a body did, in slots: the operands come first, and each result has the next one."""

    def __init__(self, operands: Sequence[Array | None]) -> None:
        # All arrays are kept alive, so that their identities tell them apart.
        self.arrays: list[Array | None] = list(operands)
        self.count = len(operands)
        self.slots = {id(x): slot for slot, x in enumerate(operands) if x is not None}
        self.steps: list[KernelStep] = []
        # The last one by the kernel itself, which may write to a target, if it wrote to nothing.
        self.last: KernelStep | None = None
        self.constants: dict[int, Any] = {}
        self.is_repeatable = True
        self.watches_gradients = False
        self.watches_layout = False

    def constant(self, x: Array) -> None:
        if x.nbytes > _CONSTANT or not x._backend.stays(x._native) or not self._tells_device(x._backend):
            # It lies beside an operand.
            self.is_repeatable = False
        self.constants[self._new(x)] = x._native

    def view(self, x: Array, step: Any, view: Array) -> None:
        slot = self.slots.get(id(x))
        if slot is None:
            self.is_repeatable = False
            return
        # The kernels that the step calls, without the step.
        taped = _Tape(x._backend)
        step.get(taped, x._native)
        *before, (kernel, static) = taped.calls or [(_same, {})]
        for each, arguments in before:
            result = self._new(None)
            self.steps.append(KernelStep(each, (slot,), arguments, None, result))
            slot = result
        self.steps.append(KernelStep(kernel, (slot,), static, None, self._new(view)))

    def call(
        self, kernel: Callable[..., Any], operands: Sequence[Array], static: Mapping[str, object], results: Any
    ) -> None:
        try:
            frozen(tuple([value for name, value in static.items() if name != "device"]))
            inputs = tuple([self.slots[id(x)] for x in operands])
        except (KeyError, TypeError):
            self.is_repeatable = False
            return
        of_device = "device" in static and (self.count or static["device"])
        if of_device and not self._tells_device(_backend_of(results)):
            # The device may be that of an operand.
            self.is_repeatable = False
            return
        kernel = _outside_gaps(kernel, [x._native for x in operands], _backend_of(results))
        if type(results) is tuple:
            kernel, static = _known(kernel, [x._native for x in operands], static)
            self.steps.append(KernelStep(kernel, inputs, static, None, tuple(map(self._new, results))))
            return
        out, self.last = self.slots.get(id(results)), None
        if results.shape:
            kernel = getattr(kernel, "with_axes", kernel)
        if out is None:
            result = self._new(results)
            self.last = KernelStep(kernel, inputs, static, None, result)
            kernel, static = _known(kernel, [x._native for x in operands], static)
            self.steps.append(KernelStep(kernel, inputs, static, None, result))
        elif out < self.count or out in self.constants:
            self.is_repeatable = False
        else:
            self.steps.append(KernelStep(kernel, inputs, static, out, out))

    def pass_through(self, look: Callable[[Native], Native], x: Array) -> None:
        """Note that a body looks at an array in between, by a function that returns its native as it is."""
        slot = self.slots.get(id(x))
        if slot is None or slot < self.count:
            self.is_repeatable = False
            return
        self.steps.append(KernelStep(look, (slot,), {}, None, self._new(x)))

    def _tells_device(self, backend: Handle) -> bool:
        """Return whether the key has the device where the body makes arrays: the one there is, or that of operands."""
        return has_one_device(backend) or (self.count > 0 and backend.device_key is not None)

    def _new(self, x: Array | None) -> int:
        """Return the slot of a new array, or of a native that no array holds."""
        self.arrays.append(x)
        if x is not None:
            self.slots[id(x)] = len(self.arrays) - 1
        return len(self.arrays) - 1

    def slot_of(self, x: Array) -> int | None:
        """Return the slot of a result that a kernel made."""
        slot = self.slots.get(id(x), -1)
        return None if slot < self.count or slot in self.constants else slot

    def aliases_constant(self, x: Array) -> bool:
        """Return whether a result shares the memory of a constant, which its owner would write."""
        backend = x._backend
        return backend.mutable and any(backend.may_share_memory(x._native, each) for each in self.constants.values())

    def is_one_call(self) -> bool:
        """Return whether the body called one kernel, on nothing but the operands, and told it no dtype."""
        if len(self.steps) != 1 or self.constants:
            return False
        return not any(isinstance(each, (np.dtype, DType, type)) for each in self.steps[0].static.values())

    def compute(self, program: Builder, results: list[int]) -> None:
        """Make a program compute the natives in slots from those of the operands."""
        program.compute(self._needed(results), self.constants, results)

    def into(self, result: int, supports_out: Callable[..., bool]) -> list[KernelStep] | None:
        """Return the steps, the last of which writes the result in a slot to ``out``; ``None`` where it can't be so."""
        if self.last is None or self.last.results != result or not supports_out(self.last.kernel):
            return None
        *before, last = self._needed([result])
        known = bound_kernel(last.kernel, last.static, "out").kernel
        return [*before, (last if supports_out(known) else self.last)._replace(out="out")]

    def _needed(self, results: list[int]) -> list[KernelStep]:
        if any(each.out is not None for each in self.steps):
            # What is written to shows in views of it: all is done again, in the same order.
            return self.steps
        needed, steps = set(results), []
        for each in reversed(self.steps):
            if not needed.isdisjoint(each.results if isinstance(each.results, tuple) else (each.results,)):
                needed.update(each.inputs)
                steps.append(each)
        return steps[::-1]


class _Tape:
    """A backend that notes the kernels that one step of a view calls, each on the result of the one before."""

    def __init__(self, backend: Handle) -> None:
        self._backend = backend
        self.calls: list[tuple[Callable[..., object], Mapping[str, object]]] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._backend, name)

    def kernel(self, name: str) -> Callable[..., Any]:
        kernel = self._backend.kernel(name)

        def noted(native: Native, **static: object) -> Native:
            self.calls.append(_known(kernel, (native,), static))
            return kernel(native, **static)

        return noted


def _same(native: Native) -> Native:
    return native


def prepared(
    kernel: Callable[..., object], natives: Sequence[Native], static: Mapping[str, object], backend: Handle
) -> Callable[..., object]:
    """Return a kernel for the dtypes and shapes of natives, with its static arguments."""
    kernel, static = _known(_outside_gaps(kernel, natives, backend), natives, static)
    return bound(kernel, static) if static else kernel


def _outside_gaps(kernel: Callable[..., object], natives: Sequence[Any], backend: Handle) -> Callable[..., object]:
    if has_one_device(backend):
        # Some are wrapped to run where their arrays are.
        kernel = getattr(kernel, "unplaced", kernel)
    gaps = getattr(kernel, "gaps", None)
    if gaps is not None and natives and natives[0].dtype not in gaps:
        kernel = getattr(kernel, "outside_gaps", kernel)
    return kernel


def _known(
    kernel: Callable[..., object], natives: Sequence[Native], static: Mapping[str, object]
) -> tuple[Callable[..., object], Mapping[str, object]]:
    """Return a kernel for the dtypes and shapes of natives and the static arguments, where there's one."""
    know = getattr(kernel, "known", None)
    found = None if know is None else know(*natives, **static)
    return (kernel, static) if found is None else (found, {})


def _backend_of(results: Any) -> Handle:
    one: Array = results[0] if type(results) is tuple else results
    return one._backend
