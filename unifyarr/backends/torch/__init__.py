"""The torch backend: tensors that are written in place, on the CPU and on GPUs."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, final

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad

from ...errors import DeviceError, DtypeError
from .. import base
from ..base.one_launch import OneLaunch
from ..base.plain import Plain
from ..base.values import FLOATING
from ..kernels import described, kernel_modules, own_error
from ..memory import export
from . import (
    _constants,
    _dlpack,
    _exporting,
    _fields,
    _indices,
    _targets,
    _together,
    host,
    inductor,
    plain,
    pure,
    transformations,
)
from ._items import NUMBERS, SELECTING, TAKES, number_of
from ._overlap import extent, independent, layout, may_share_memory
from ._private import (
    VERSION,
    MappingKey,
    disabled_torch_function,
    foreach_copy_,
    peek_interpreter_stack,
    register_pytree_node,
)
from ._shared import (
    COMPLEX,
    DTYPES,
    NUMPY_DTYPES,
    OF_ML_DTYPES,
    as_method,
    beneath,
    check_writable,
    default_device,
    derivatives,
    has_accelerator,
    has_address,
    is_expanded,
    is_plain,
    is_transforming,
    unwrapped,
    writes,
)

_READS_FIELDS = _fields.offer()

# Dtypes that NumPy takes as they are: complex tensors may be lazily conjugated.
_PLAIN = frozenset(DTYPES.values()) - COMPLEX - frozenset(OF_ML_DTYPES.values())


def _bits(itemsize: int) -> tuple[np.dtype[Any], torch.dtype]:
    # The unsigned integers of a size, NumPy's and torch's.
    return (np.dtype(np.uint8), torch.uint8) if itemsize == 1 else (np.dtype(np.uint16), torch.uint16)


def _is_shareable(array: np.ndarray) -> bool:
    # Whether torch can describe the memory of an array of native byte order.
    flags = array.flags
    if not flags.writeable or not flags.aligned:
        return False
    itemsize, strides = array.itemsize, array.strides
    return strides == (itemsize,) or all(step >= 0 and step % itemsize == 0 for step in strides)


def _strides(native: Tensor) -> tuple[int, ...]:
    # In elements: those of the memory that a tensor stands for, which it may not be in itself.
    return getattr(native, "stored_strides", None) or native.stride()


@final
class Backend(base.Backend[Tensor]):
    """torch, as the frontend sees an engine."""

    name = "torch"
    native_types: tuple[type, ...] = (torch.Tensor,)
    # ``check_writable`` says which single tensors torch forbids to write.
    mutable = has_strides = True
    has_negative_steps = False
    # These take a Python number beside a tensor, and treat it as NumPy does a weak scalar.
    takes_scalars = frozenset(
        {
            *("add", "subtract", "multiply", "divide"),
            *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
        }
    )
    writable_by = VERSION
    transformation = staticmethod(peek_interpreter_stack)
    borrow = staticmethod(_targets.borrow)
    number_of = staticmethod(number_of)
    memory_of = staticmethod(_targets.memory_of)
    plain_keys = "windows"
    # Where the core sees which memory a tensor has, and that it's on the CPU.
    plain_values = TAKES if _READS_FIELDS else None
    plain_selections = SELECTING if _READS_FIELDS else frozenset()
    items = plain.ITEMS
    modules = kernel_modules(__package__, "host", "inductor", "plain", "pure", "transformations")

    can_transform = True
    # Replacements for kernels that write, inside torch's transformations.
    pure_kernels = pure.KERNELS
    vjp = staticmethod(transformations.vjp)
    with_pullback = staticmethod(transformations.with_pullback)
    jvp = staticmethod(transformations.jvp)
    vmap = staticmethod(transformations.vmap)
    exported = staticmethod(_exporting.exported)
    exporting_line = staticmethod(_exporting.exporting_line)
    from_length = staticmethod(_exporting.from_length)
    as_constant = staticmethod(_exporting.as_constant)
    while_loop = staticmethod(_exporting.while_loop)
    switch = staticmethod(_exporting.switch)

    # -- what an array is -------------------------------------------------------------------------------------------

    def dtype(self, native: Tensor) -> np.dtype[Any]:
        """Return the dtype of a tensor as a ``numpy.dtype``."""
        try:
            return NUMPY_DTYPES[native.dtype]
        except KeyError:
            raise DtypeError(f"{native.dtype} is none of the dtypes of the package: cast it first") from None

    def shape(self, native: Tensor) -> tuple[int, ...]:
        """Return the shape of a tensor as a tuple of ``int``."""
        return tuple(native.shape)

    def as_dtype(self, dtype: object) -> np.dtype[Any] | None:
        """Return the ``numpy.dtype`` of a ``torch.dtype``, ``None`` for anything else."""
        return NUMPY_DTYPES.get(dtype) if isinstance(dtype, torch.dtype) else None

    def strides(self, native: Tensor) -> tuple[int, ...]:
        """Return the strides in bytes."""
        itemsize = native.itemsize
        return tuple(step * itemsize for step in _strides(native))

    def with_strides(self, native: Tensor, strides: tuple[int, ...]) -> Tensor:
        """Return a copy with these strides, which is only read: elements may lie in the same place."""
        if is_transforming():
            # There the last bits are torch's anyway, and a new tensor isn't of the batch.
            return native
        made = written = torch.empty_strided(
            native.shape, [step // native.itemsize for step in strides], dtype=native.dtype, device=native.device
        )
        for axis, step in enumerate(strides):
            if step == 0 and native.shape[axis] > 1:
                written, native = written.narrow(axis, 0, 1), native.narrow(axis, 0, 1)
        written.copy_(native)
        return made

    # Vectors and the remainder of a row are computed by functions of their own.
    by_layout: Mapping[str, str] = {
        **dict.fromkeys(base.Backend.reordering, FLOATING),
        **dict.fromkeys(("atan2", "atanh", "cbrt", "cosh", "exp2", "hypot", "logaddexp", "pow", "sinh"), FLOATING),
        **dict.fromkeys(("attention", "attention_with_sums", "attention_backward", "linear", "einsum"), FLOATING),
        **dict.fromkeys(("det", "gelu_with_slope", "sigmoid", "slogdet"), FLOATING),
        **dict.fromkeys(("abs", "divide", "multiply", "square"), "FD"),
    }
    # LAPACK's matrices lie by columns.
    reordering = base.Backend.reordering.union(
        ("cholesky", "eig", "eigh", "inv", "lu", "lu_factor", "matrix_power", "pinv", "qr", "solve"),
        ("solve_triangular", "svd"),
    )
    # Those in elements.
    layout_key = staticmethod(_strides)
    device_key = staticmethod(_constants.place_key)

    def as_stored(self, old: Tensor, new: Tensor) -> Tensor:
        """Return a tensor that takes another one's place, where nothing is written, with the strides that it had."""
        strides = _strides(old)
        if new.stride() == strides:
            return new
        # Somebody else may have the very tensor.
        stored = new.view_as(new)
        stored.stored_strides = strides
        return stored

    def read(self, native: Tensor) -> Tensor:
        """Return the tensor that kernels compute with: lazily conjugated or negated ones are resolved."""
        return native.resolve_conj().resolve_neg() if native.is_conj() or native.is_neg() else native

    def wait(self, natives: Any) -> None:
        """Wait until a tensor, or each of several, is computed."""
        if has_accelerator():
            torch.accelerator.synchronize()

    def check_type(self, native: Tensor) -> None:
        """Raise for a tensor of a subclass that redefines operations."""
        kind = type(native)
        functions = (Tensor.__torch_function__.__func__, disabled_torch_function)
        function = getattr(kind.__torch_function__, "__func__", kind.__torch_function__)
        if kind.__torch_dispatch__ is not Tensor.__torch_dispatch__ or function not in functions:
            raise TypeError(
                f"{kind.__module__.partition('.')[0]}.{kind.__qualname__} means something else than torch.Tensor does: "
                "pass its bare values, a DTensor's x.full_tensor() or x.to_local(), or x.as_subclass(torch.Tensor)"
            )

    # -- devices and dtypes -----------------------------------------------------------------------------------------

    def devices(self) -> list[str]:
        """Return the names of all devices, the default one first."""
        kind = _accelerator()
        found = [torch.device(kind, index) for index in range(torch.accelerator.device_count())] if kind else []
        return list(dict.fromkeys(map(_name, (torch.get_default_device(), torch.device("cpu"), *found))))

    def device(self, native: Tensor) -> str:
        """Return the name of the device that a tensor lives on."""
        return _name(native.device)

    def as_device(self, device: object) -> torch.device:
        """Return torch's own device for a name of ours or of torch's, or for a device of torch's."""
        try:
            if not isinstance(device, str | torch.device):
                raise TypeError(f"a {type(device).__name__} names no device")
            if isinstance(device, str):
                device = re.sub("^gpu", _accelerator() or "cuda", device)
            found = torch.device(device)
            # Only an array tells whether there is such an accelerator, and which one is meant without an index.
            return found if found.type == "cpu" else torch.empty(0, device=found).device
        # Without CUDA, asking for it is an AssertionError.
        except (RuntimeError, TypeError, ValueError, AssertionError) as error:
            known = self.devices()
            given = described(device)
            raise DeviceError(f"device {given} is not one of torch's, which are {known}: {error}") from error

    def supports_dtype(self, dtype: np.dtype[Any], device: Any = None) -> bool:
        """Return whether arrays of ``dtype`` exist on ``device``."""
        if device is None:
            return dtype in DTYPES
        # Apple's GPUs have no double precision.
        wide = DTYPES.get(dtype) in (torch.float64, torch.complex128)
        return dtype in DTYPES and not (wide and torch.device(device).type == "mps")

    # -- values in and out ------------------------------------------------------------------------------------------

    def from_numpy(self, array: np.ndarray, *, device: Any = None, copy: bool = True) -> Tensor:
        """Return a tensor with the values of ``array``; ``copy=False`` shares memory that torch can describe."""
        if device is None:
            device = default_device()
        if _constants.is_fill(array, device):
            return _constants.filled(array, device)
        if copy or (array.dtype.isnative and not _is_shareable(array)):
            array = np.array(array, order="C")
        try:
            native = torch.from_numpy(array)
        except (TypeError, ValueError):
            # The engine knows no other order of bytes, and no dtype that NumPy doesn't know by itself.
            array = np.array(array, array.dtype.newbyteorder("="), order="C")
            known = OF_ML_DTYPES.get(array.dtype)
            bits = array if known is None else array.view(_bits(array.itemsize)[0])
            native = torch.from_numpy(bits) if known is None else torch.from_numpy(bits).view(known)
        return native if device is None else native.to(device)

    def constant(self, array: np.ndarray, *, device: Any = None) -> Tensor:
        """Return a tensor of one number that is only read, which an accelerator keeps."""
        place = default_device() if device is None else device
        if not _constants.is_fill(array, place):
            return self.from_numpy(array, device=device)
        return _constants.constant(array, place)

    def stays(self, native: Tensor) -> bool:
        """Return whether a number may serve later calls: one that an accelerator doesn't keep may be a graph's own."""
        return native.is_cpu or _constants.known_number(native) is not None

    def computed(self, array: np.ndarray, *, device: Any = None, copy: bool = True, varies: bool = False) -> Tensor:
        """Return a tensor of values that NumPy computed: an accelerator counts evenly spaced ones by itself.

        It copies few others from those that it keeps.
        """
        place = default_device() if device is None else device
        if place is None or place.type == "cpu":
            return self.from_numpy(array, device=device, copy=copy)
        made = _constants.counted(array, place)
        if made is None and not varies and (kept := _constants.table(array, place)) is not None:
            made = kept.clone()
        return self.from_numpy(array, device=device, copy=copy) if made is None else made

    def table(self, array: np.ndarray, *, device: Any = None) -> Tensor:
        """Return a tensor of values that NumPy computed and that is only read, which an accelerator keeps."""
        place = default_device() if device is None else device
        kept = None if place is None or place.type == "cpu" else _constants.table(array, place)
        return self.computed(array, device=device) if kept is None else kept

    # Writes invalidate the noted bounds.
    note_bounds = staticmethod(_indices.note_bounds)

    def adopt(self, array: np.ndarray, *, device: Any = None) -> Tensor:
        """Return a tensor of an ``array`` that nothing else refers to, in its memory on the CPU."""
        return self.from_numpy(array, device=device, copy=False)

    def adopting(self, dtype: np.dtype[Any], device: Any = None) -> Callable[[np.ndarray], Tensor]:
        """Return a function that does what ``adopt`` does with arrays of one dtype, new and writable."""
        device = default_device() if device is None else torch.device(device)
        if dtype.kind in "biufc" and dtype.isnative and (device is None or device.type == "cpu"):
            known: Callable[[np.ndarray], Tensor] = torch.from_numpy
            return known
        return super().adopting(dtype, device)

    def host_memory(self, native: Tensor) -> np.ndarray | None:
        """Return the memory of a tensor that is about to be written, ``None`` where NumPy can't write it."""
        if native.device.type != "cpu" or not has_address(native) or native.is_conj() or native.is_neg():
            return None
        if self.records_gradient(native):
            return None
        # torch doesn't see the write, and gradients that need the old values have to.
        torch.autograd.graph.increment_version(native)
        return self.to_numpy(native)

    def to_numpy(self, native: Tensor) -> np.ndarray:
        """Return the values as a NumPy array, which shares memory on the CPU and must not be written."""
        if native.dtype in _PLAIN and native.is_cpu and is_plain(native) and not native.is_neg():
            # Inside a transformation of torch's, DLPack alone gives memory away.
            shared: np.ndarray = native.numpy() if peek_interpreter_stack() is None else np.from_dlpack(native)
            return shared
        if native.is_meta:
            raise TypeError("a tensor on the meta device has no values: make it on another device")
        native = self.read(native.detach()).cpu()
        dtype = NUMPY_DTYPES[native.dtype]
        bits = dtype in OF_ML_DTYPES
        native = native.view(_bits(native.itemsize)[1]) if bits else native
        known = unwrapped(native)
        array: np.ndarray = native.numpy() if known is native else np.from_dlpack(known)
        return array.view(dtype) if bits else array

    def release_to_numpy(self, native: Tensor) -> np.ndarray:
        """Return the values as a writable NumPy array; nothing else refers, or will refer, to the tensor."""
        return self.to_numpy(native)

    def copy(self, native: Tensor) -> Tensor:
        """Return an independent tensor of equal values."""
        return native.clone()

    def to_device(self, native: Tensor, device: Any) -> Tensor:
        """Return the tensor on ``device``: itself where it is there already."""
        return native.to(device)

    def from_dlpack(self, x: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
        """Return a tensor from an object with ``__dlpack__``, a copy where the producer's memory is read-only."""
        return _dlpack.receive(x, device, copy)

    def dlpack(self, native: Tensor, *, copy: bool | None = None, read_only: bool = False, **request: Any) -> object:
        """Return a DLPack capsule of the tensor, or of a copy if it is read-only."""
        native = unwrapped(self.read(native))
        if read_only and copy is not True:
            # torch can't mark a capsule, NumPy's view of its memory can.
            if native.device.type == "cpu" and native.dtype in _PLAIN | COMPLEX:
                return export(self.to_numpy(native), writable=True, copy=copy, read_only=True, **request)
            if copy is False:
                raise BufferError("this memory of torch can't be exported as read-only: pass copy=None")
            copy = True
        try:
            return native.__dlpack__(copy=copy, **request)
        except RuntimeError as error:
            # A device that isn't there, or a dtype that DLPack doesn't name.
            raise BufferError(f"torch can't export this tensor: {str(error).splitlines()[0]}") from error

    def dlpack_device(self, native: Tensor) -> tuple[int, int]:
        """Return the DLPack device type and number."""
        kind, number = native.__dlpack_device__()
        return int(kind), number

    # -- memory -----------------------------------------------------------------------------------------------------

    def can_write(self, native: Tensor) -> bool:
        """Return whether the engine can write this tensor in place at all."""
        return True

    def check_writable(self, native: Tensor) -> None:
        """Raise where torch forbids a write: to a leaf that records gradients, or to an inference tensor."""
        check_writable(native)

    # torch itself refuses to write elements that share memory.
    check_small = check_writable

    def is_read_only(self, native: Tensor) -> bool:
        """Return whether elements of the tensor share memory, as those of ``expand``, which NumPy makes read-only."""
        return is_expanded(native)

    def may_share_memory(self, first: Tensor, second: Tensor) -> bool:
        """Return whether two tensors overlap: ``True`` in doubt, ``False`` only when sure."""
        return may_share_memory(first, second)

    cache_reads: Mapping[str, str] = {
        "dtype": "is",
        "shape": "==",
        "stride()": "==",
        "device": "==",
        "is_conj()": "is",
        "is_neg()": "is",
    }

    def cache_key(self, native: Tensor) -> Hashable:
        """Return a cache key of a tensor."""
        return (native.dtype, native.shape, native.stride(), native.device, native.is_conj(), native.is_neg())

    def layout(self, native: Tensor) -> np.ndarray | None:
        """Return an array of NumPy's that lies where a tensor does, and is never read; ``None`` without an address."""
        return layout(native) if has_address(native) else None

    def extent(self, native: Tensor) -> tuple[int, int]:
        """Return the first address of a tensor and the one after its last."""
        return extent(native)

    def assign(self, native: Tensor, value: Tensor) -> None:
        """Overwrite a tensor in place by a value of its shape and dtype that it may overlap."""
        _assign(native, value)

    def assign_all(self, natives: Sequence[Tensor], values: Sequence[Tensor]) -> None:
        """Overwrite several tensors in place, which have no memory in common, as ``assign`` does."""
        # The engine has no derivative of it.
        recorded = any(x.requires_grad for x in (*natives, *values))
        if foreach_copy_ is not None and not recorded and not is_transforming():
            # An accelerator takes lists of one dtype in one launch.
            for dtype in {x.dtype: None for x in natives}:
                places = [place for place, x in enumerate(natives) if x.dtype is dtype]
                foreach_copy_([natives[place] for place in places], [values[place] for place in places])
            return
        for native, value in zip(natives, values, strict=True):
            native.copy_(value)

    def register_node(
        self,
        cls: type,
        flatten: Callable[[Any], tuple[list[Any], Any]],
        unflatten: Callable[[Any, Any], Any],
        names: Callable[[Any], Sequence[str]],
    ) -> None:
        """Make a class a node of torch's pytrees, which ``torch.func`` takes."""
        if register_pytree_node is None:
            return
        register_pytree_node(
            cls,
            flatten,
            lambda children, other: unflatten(other, children),
            flatten_with_keys_fn=lambda x: (
                list(zip(map(MappingKey, names(x)), flatten(x)[0], strict=True)),
                flatten(x)[1],
            ),
        )

    def host_loops(self) -> base.HostLoops:
        """Return how operations on tensors on the CPU are computed together."""
        return host.LOOPS

    def graph_compilers(self) -> Mapping[str, base.GraphCompiler]:
        """Return torch's own compiler, by its name."""
        return inductor.compilers()

    # -- tracing and gradients --------------------------------------------------------------------------------------

    def as_native(self, value: Any) -> Tensor:
        """Return the tensor of a number that stands for an element; a tensor as it is."""
        dtype = NUMBERS.get(type(value))
        if dtype is None:
            tensor: Tensor = value
            return tensor
        if is_transforming():
            # torch's functions make tensors of the transformation there, which mustn't outlive it.
            return torch.from_numpy(np.array(value, NUMPY_DTYPES[dtype]))
        return torch.scalar_tensor(value, dtype=dtype, device="cpu")

    def trace(self) -> object | None:
        """Return ``None``: torch's own transformations see writes to tensors."""
        return None

    def is_traced(self, native: Tensor) -> bool:
        """Return whether a tensor's values are unknown: on the meta device, or inside a transformation."""
        return not has_address(native)

    def hides_values(self, native: Tensor) -> bool:
        """Return whether the values of a tensor inside a transformation aren't known: those of a batch aren't."""
        return self.is_traced(unwrapped(native))

    def holds_anywhere(self, native: Tensor) -> bool | None:
        """Return whether a 0-d tensor is true, in a batch for one of its elements; ``None`` if it has no values."""
        known = beneath(native)
        return bool(known.any()) if has_address(known) else None

    def records_gradient(self, native: Tensor) -> bool:
        """Return whether torch records gradients through this tensor, or takes its derivative in forward mode."""
        if forward_ad._current_level >= 0 and forward_ad.unpack_dual(native).tangent is not None:
            return True
        return bool(native.requires_grad and torch.is_grad_enabled())

    def known_number(self, native: Tensor) -> float | None:
        """Return the number of a 0-d tensor on the host that torch records nothing of, or of a kept one."""
        number = _constants.known_number(native)
        return None if number is None or isinstance(number, complex) else float(number)

    def is_watched(self, *natives: Tensor) -> bool:
        """Return whether values are unknown, or a derivative may be taken through one of some tensors."""
        # As ``is_transforming`` does, without the call.
        if forward_ad._current_level < 0 and peek_interpreter_stack() is None:
            # Most are plain.
            for x in natives:
                if x.requires_grad or not x.is_cpu:
                    break
            else:
                return False
        # An abstract tensor has no address, or isn't plain.
        return any(
            x.is_meta or (not is_plain(x) and super(Backend, self).is_watched(x)) or not has_address(x) for x in natives
        )

    def carries_derivative(self, native: Tensor) -> bool:
        """Return whether a derivative is being taken through this tensor, by autograd or by a transformation."""
        return not is_plain(native) and bool(derivatives(native))

    # -- what it refuses --------------------------------------------------------------------------------------------

    def check_plain(self, native: Tensor) -> None:
        """Raise for a tensor that isn't dense: its kernels compute with memory that has strides."""
        if native.layout is torch.strided and not native.is_nested:
            return
        if native.is_nested:
            raise DtypeError("a nested tensor is no array: pad it, torch.nested.to_padded_tensor(x, 0.0)")
        raise DtypeError(f"a tensor of layout {native.layout} is no array: make it dense, x.to_dense()")

    def own_error(self, error: Exception) -> type[Exception] | None:
        """Return the class of error to raise for one of torch's own, ``None`` for any other."""
        return own_error(error, ("torch",), "allocate memory|out of memory")

    # -- calling kernels sooner ------------------------------------------------------------------------------------

    def plain_way(self, name: str, kernel: Callable[..., Any] | None) -> Plain:
        """Return which dtypes and numbers torch takes beside each other as NumPy does."""
        return plain.plain_way(name)

    def one_launch(self, name: str) -> OneLaunch | None:
        """Return how torch computes several calls of a kernel in one launch."""
        return _together.ONE_LAUNCH.get(name)

    def method(self, kernel: Callable[..., Any], *, in_place: bool = False) -> Any:
        """Return the method of tensors that a function of torch's is, which torch finds the arguments of sooner."""
        return as_method(kernel, in_place=in_place)

    # -- kernels ----------------------------------------------------------------------------------------------------

    def supports_out(self, kernel: Callable[..., Any]) -> bool:
        """Return whether ``kernel(..., out=native)`` writes into ``native``."""
        if getattr(kernel, "support_native_out", False):
            return True
        native = getattr(kernel, "native", kernel)
        return isinstance(native, type(torch.add)) and _takes_out(native)


def _accelerator() -> str | None:
    """Return torch's name of the kind of accelerators that it sees: "cuda", "mps", "xpu"; ``None`` without any."""
    # A build for one kind names it on machines that have none, too.
    found = torch.accelerator.current_accelerator() if torch.accelerator.device_count() else None
    return None if found is None else found.type


def _name(device: torch.device) -> str:
    if device.type in ("cpu", "meta"):
        return device.type
    return f"{'gpu' if device.type == 'cuda' else device.type}:{device.index or 0}"


@functools.cache
def _takes_out(native: Callable[..., Any]) -> bool:
    # torch's builtins have no signature, but the first line of the docstring shows one.
    return re.match(r"\s*.*\bout[=:]", native.__doc__ or "") is not None


@writes
def _assign(native: Tensor, value: Tensor) -> None:
    native.copy_(independent(value, native))
