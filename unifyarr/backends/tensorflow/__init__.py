"""The TensorFlow backend: immutable tensors, and variables, which are written in place."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, final

import numpy as np

from ...errors import CopyError, DeviceError, DtypeError, InplaceUpdateError
from .. import base
from ..base.plain import LEARNT, Plain
from ..kernels import described, kernel_modules, own_error
from ..memory import export, reads_marks
from . import _items, _loops, elementwise, pure, transformations
from ._devices import device_name, device_names, on, placed
from ._engine import (
    MAX_SLICE,
    NUMPY_DTYPES,
    STORED,
    TENSORFLOW_DTYPES,
    EagerTensor,
    ResourceVariable,
    carries_derivative,
    from_fresh,
    from_host,
    is_alone,
    is_traced,
    may_record,
    raw,
    tf,
)
from ._private import (
    dtype_of_eager,
    is_eager,
    shape_of_eager,
    trace_cell,
    type_of_eager,
    values_of_eager,
)
from ._whole import Whole

_VARIABLE: Any = tf.Variable
# From how many bytes on a variable for a run of writes costs less than the copies that it saves.
_PAYS = 1 << 18
# DLPack's numbers of device types.
_DLPACK_CPU = 1


def _as_tensor(native: Any, dtype: Any = None, name: str | None = None) -> Any:
    return tf.convert_to_tensor(native, dtype, name=name)


def _deep_copy(native: Any) -> Any:
    with tf.device(native.device):
        return raw.DeepCopy(x=native)


# Up to how many elements a constant is one for XLA too, which computes with it beforehand.
_CONSTANT = 128


@final
class Backend(base.Backend[Any]):
    """TensorFlow, as the frontend sees an engine."""

    name = "tensorflow"
    # Eager tensors first, as the most frequent ones; then symbolic tensors, and all kinds of variables.
    native_types: tuple[type, ...] = (EagerTensor, ResourceVariable, tf.Tensor, tf.Variable)
    mutable = False
    # ``tf.Variable`` is, by ``can_write``.
    has_variables = True
    modules = kernel_modules(__package__, "pure", "transformations")

    # TensorFlow's functions compute with the tensor itself, which tapes and graphs see, and not with its values.
    protocols: Mapping[str, Callable[..., Any]] = {"__tf_tensor__": _as_tensor}

    items: Mapping[str, Callable[..., Any]] = _items.ITEMS

    can_compile = can_transform = True
    # Replacements for kernels that write, inside TensorFlow's transformations.
    pure_kernels = pure.KERNELS
    vjp = staticmethod(transformations.vjp)
    with_pullback = staticmethod(transformations.with_pullback)

    def on_host(
        self, function: Callable[..., list[np.ndarray]], natives: Sequence[Any], types: Callable[[], Sequence[Any]]
    ) -> list[Any]:
        """Return the results of a function of NumPy's arrays, which a graph calls back."""
        if not any(map(is_traced, natives)):
            return super().on_host(function, natives, types)
        return transformations.called_back(function, natives, types())

    observed = staticmethod(transformations.observed)
    later = staticmethod(transformations.later)
    jvp = staticmethod(transformations.jvp)
    vmap = staticmethod(transformations.vmap)
    scan = staticmethod(_loops.scan)
    while_loop = staticmethod(_loops.while_loop)
    switch = staticmethod(_loops.switch)

    # -- what an array is -------------------------------------------------------------------------------------------

    def dtype(self, native: Any) -> np.dtype[Any]:
        """Return the dtype of a native array as a ``numpy.dtype``."""
        try:
            return NUMPY_DTYPES[native.dtype]
        except KeyError:
            raise DtypeError(f"{native.dtype} is none of the dtypes of the package: cast it first") from None

    def shape(self, native: Any) -> tuple[int, ...]:
        """Return the shape of a native array as a tuple of ``int``."""
        return shape_of_eager(native) if type(native) is EagerTensor else tuple(native.shape.as_list())

    def as_dtype(self, dtype: object) -> np.dtype[Any] | None:
        """Return the ``numpy.dtype`` of an engine's own dtype object, ``None`` for anything else."""
        return NUMPY_DTYPES.get(dtype) if isinstance(dtype, tf.DType) else None

    def read(self, native: Any) -> Any:
        """Return the value of a variable, which later writes to it don't change, or the tensor itself."""
        # Without the instance check of variables, which runs through Python.
        return native if type(native) is EagerTensor or not isinstance(native, _VARIABLE) else native.value()

    no_trace = True
    trace_state = staticmethod(is_eager)
    trace_cell = trace_cell
    type_key = type_of_eager
    dtype_key = None if dtype_of_eager is None else staticmethod(dtype_of_eager)
    has_fixed_dtypes = True

    def plain_way(self, name: str, kernel: Callable[..., Any] | None) -> Plain:
        """Return how arrays are made of lists; elementwise functions are learnt."""
        return _items.PLAIN.get(name, LEARNT)

    # -- devices and dtypes -----------------------------------------------------------------------------------------

    def devices(self) -> list[str]:
        """Return the names of all devices, the default one first."""
        names = device_names()
        return list(names) if is_alone() else sorted(names, key=device_name("").__ne__)

    def device(self, native: Any) -> str:
        """Return the name of the device that an array lives on."""
        return device_name(native.device)

    def as_device(self, device: object) -> str:
        """Return TensorFlow's spelling of a device for a name or for any of its own spellings."""
        # torch's and JAX's name of a GPU too.
        known = device.replace("cuda", "gpu", 1) if isinstance(device, str) else ""
        if not known or (name := device_name(known)) not in device_names():
            given = described(device)
            raise DeviceError(f"device {given} is not one of TensorFlow's, which are {list(device_names())}")
        return f"/device:{name.upper()}" if ":" in name else f"/device:{name.upper()}:0"

    def supports_dtype(self, dtype: np.dtype[Any], device: object = None) -> bool:
        """Return whether arrays of ``dtype`` exist on ``device``."""
        return dtype in TENSORFLOW_DTYPES

    # -- values in and out ------------------------------------------------------------------------------------------

    def from_numpy(self, array: np.ndarray, *, device: Any = None, copy: bool = True) -> Any:
        """Return a tensor with the values of ``array``: always a copy, since a tensor never changes."""
        if device is None and tf.executing_eagerly():
            return from_host(array)
        # Outside of the graph the values stay known.
        with tf.init_scope(), on(device):
            return tf.constant(array)

    def adopt(self, array: np.ndarray, *, device: Any = None) -> Any:
        """Return a tensor of an ``array`` that nothing else refers to, in its memory where TensorFlow can."""
        if device is None and tf.executing_eagerly():
            return from_fresh(array)
        return self.from_numpy(array, device=device)

    def to_numpy(self, native: Any) -> np.ndarray:
        """Return the values as a NumPy array, which may share memory and must not be written."""
        if type(native) is EagerTensor:
            array: np.ndarray = np.asarray(values_of_eager(native))
        else:
            native = self.read(native)
            # NumPy can't take a 0-d bfloat16 by itself.
            array = np.asarray(native if native.ndim else native.numpy())
        array.flags.writeable = False
        return array

    @staticmethod
    def values_of(native: Any) -> np.ndarray | None:
        """Return the values of a tensor in memory of their own, ``None`` if a derivative is taken through it."""
        return None if carries_derivative(native) else np.array(values_of_eager(native))

    def copy(self, native: Any) -> Any:
        """Return an independent native array of equal values: a tensor, which never changes, is its own copy."""
        return self.read(native)

    def to_device(self, native: Any, device: Any) -> Any:
        """Return the array on ``device``: itself where it is there already."""
        if device_name(native.device) == device_name(device):
            return native
        with tf.device(device):
            return tf.identity(native)

    def from_dlpack(self, x: Any, *, device: Any = None, copy: bool | None = None) -> Any:
        """Return a tensor with the values of an object with ``__dlpack__``: always a copy."""
        if copy is False:
            raise CopyError("a TensorFlow tensor never shares memory that could be written: use copy=None or copy=True")
        if x.__dlpack_device__()[0] == _DLPACK_CPU:
            try:
                # NumPy takes what TensorFlow refuses: strided and read-only memory.
                return self.from_numpy(np.from_dlpack(x), device=device)
            except (BufferError, RuntimeError, TypeError):
                pass  # NumPy knows no bfloat16.
        try:
            native = _deep_copy(tf.experimental.dlpack.from_dlpack(x.__dlpack__()))
        except tf.errors.InvalidArgumentError as error:
            raise BufferError(f"TensorFlow can't take this DLPack tensor: {error.message}") from error
        return native if device is None else self.to_device(native, device)

    def dlpack(
        self, native: Any, *, dl_device: tuple[int, int] | None = None, copy: bool | None = None, **request: Any
    ) -> object:
        """Return a DLPack capsule of a copy; with ``copy=False`` of the memory itself, marked if marks are read.

        TensorFlow waits for the device before it exports anything, so that every stream may read it.
        """
        native = self.read(native)
        if dl_device is not None and tuple(dl_device) != tuple(self.dlpack_device(native)):
            raise BufferError(f"a TensorFlow tensor on {self.device(native)} can't be exported to DLPack's {dl_device}")
        if copy is False and not reads_marks(request.get("max_version")):
            # Who insists on the memory and reads no marks gets it as TensorFlow itself hands it out.
            return tf.experimental.dlpack.to_dlpack(native)
        if self.dlpack_device(native)[0] == _DLPACK_CPU and native.dtype != tf.bfloat16:
            # TensorFlow can't mark a capsule, NumPy's view of its memory can.
            return export(self.to_numpy(native), writable=False, copy=copy, **request)
        if copy is False:
            raise BufferError("this memory of TensorFlow can't be exported as read-only: pass copy=None")
        return tf.experimental.dlpack.to_dlpack(_deep_copy(native))

    def dlpack_device(self, native: Any) -> tuple[int, int]:
        """Return the DLPack device type and number."""
        kind, number = self.read(native).__dlpack_device__()
        # The host's memory has no parts.
        return kind, 0 if kind == _DLPACK_CPU else number

    # -- memory -----------------------------------------------------------------------------------------------------

    def can_write(self, native: Any) -> bool:
        """Return whether the engine can write this native array in place at all: a variable."""
        return type(native) is not EagerTensor and isinstance(native, _VARIABLE)

    def check_writable(self, native: Any) -> None:
        """Raise where a write to this native array is forbidden."""
        if not self.can_write(native):
            raise InplaceUpdateError(
                "a TensorFlow tensor can't be changed in place: write into a tf.Variable or a copy"
            )

    def is_read_only(self, native: Any) -> bool:
        """Return whether the engine marks this native array as read-only."""
        return False

    def may_share_memory(self, first: Any, second: Any) -> bool:
        """Return whether two natives share memory: the very same tensor, or one variable."""
        if first is second:
            return True
        return isinstance(first, _VARIABLE) and isinstance(second, _VARIABLE) and first.handle is second.handle

    def as_constant(self, native: Any) -> Any:
        """Return a small constant as one of the graph: a tensor from outside is passed to each run."""
        if is_traced(native) or native.dtype == tf.bfloat16 or native.shape.num_elements() > _CONSTANT:
            return native
        return tf.constant(native.numpy(), native.dtype)

    # The cheapest attributes of an eager tensor.
    cache_reads: Mapping[str, str] = (
        {"dtype": "is", "shape": "==", "device": "=="}
        if type_of_eager is None
        else {"_datatype_enum()": "==", "_shape_tuple()": "==", "device": "=="}
    )

    def compiled(
        self, function: Callable[..., Any], *, donate: Mapping[int, int] | None = None, exact: bool = False
    ) -> Callable[..., Any]:
        """Return a function of natives, which returns natives, compiled as a whole: by XLA, where that can.

        XLA doesn't raise where values are refused, such as an index out of bounds, and draws other random numbers: what
        has to be ``exact`` runs without it.
        """
        return Whole(function, exact)

    def of_types(
        self, function: Callable[..., Sequence[Any]], types: Sequence[Any]
    ) -> list[tuple[tuple[int, ...], np.dtype[Any]]] | None:
        """Return the shapes and dtypes of the arrays that a function returns: it's traced in a graph, and not run."""
        given = [tf.TensorSpec(each.shape, TENSORFLOW_DTYPES[each.dtype]) for each in types]
        traced = tf.function(function, autograph=False).get_concrete_function(*given)
        found = [(each.shape, NUMPY_DTYPES[each.dtype]) for each in traced.structured_outputs]
        if not all(shape.is_fully_defined() for shape, _ in found):
            return None
        return [(tuple(shape.as_list()), dtype) for shape, dtype in found]

    def wait(self, natives: Any) -> None:
        """Wait until a tensor, or each of several, is computed: until all is that any device has to do."""
        tf.test.experimental.sync_devices()

    def variable(self, native: Any) -> Any:
        """Return a variable with the values of a tensor."""
        with tf.device(native.device):
            return tf.Variable(native)

    def assign(self, native: Any, value: Any) -> None:
        """Overwrite a variable by a value of its shape and dtype."""
        native.assign(value, read_value=False)

    def begin_run(self, native: Any, kernel: str) -> Any:
        """Return a variable with the values of a tensor for a run of writes, ``None`` where it wouldn't pay.

        The variable shares the tensor's memory, and copies it before a write if anybody else still has it. Tapes don't
        see such writes.
        """
        if not tf.is_tensor(native) or is_traced(native) or native.dtype in STORED:
            return None
        if native.dtype.size * native.shape.num_elements() < _PAYS:
            return None
        if not self.goes_on(native, kernel):
            return None
        with tf.device(native.device):
            return tf.Variable(native, trainable=False)

    def goes_on(self, holder: Any, kernel: str) -> bool:
        """Return whether a kernel writes only the touched elements of a variable, and no tape has to record it."""
        return kernel in ("set_window", "scatter") and holder.shape.rank <= MAX_SLICE and not may_record()

    def end_run(self, holder: Any) -> Any:
        """Return the values of a run's variable as a tensor, which no graph computes though one may be traced now."""
        with tf.init_scope():
            # Else a variable that was written in parts copies itself at each read, not only before a write.
            raw.DisableCopyOnRead(resource=holder.handle)
            return holder.value()

    # -- tracing and gradients --------------------------------------------------------------------------------------

    def trace(self) -> object | None:
        """Return the graph of the running ``tf.function``, ``None`` if none is."""
        # Weak references to one object are one object; a strong one would keep the graph alive.
        return None if tf.executing_eagerly() else weakref.ref(tf.compat.v1.get_default_graph())

    def is_traced(self, native: Any) -> bool:
        """Return whether a native array stands for values that are not known yet."""
        return is_traced(native)

    def records_gradient(self, native: Any) -> bool:
        """Return ``False``: a tape sees all operations."""
        return False

    def carries_derivative(self, native: Any) -> bool:
        """Return whether a tape or an accumulator follows this native."""
        return carries_derivative(native if type(native) is EagerTensor else self.read(native))

    # -- what it refuses --------------------------------------------------------------------------------------------

    def own_error(self, error: Exception) -> type[Exception] | None:
        """Return the class of error to raise for one of TensorFlow's own, ``None`` for any other."""
        return own_error(error, ("tensorflow",), "OOM|RESOURCE_EXHAUSTED|[Oo]ut of memory")

    # -- kernels ----------------------------------------------------------------------------------------------------

    def as_kernel(self, function: Callable[..., Any], module: ModuleType) -> Callable[..., Any]:
        """Return a kernel that runs where its arrays live."""
        return placed(function, module is elementwise)
