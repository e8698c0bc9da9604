"""The JAX backend: immutable arrays, compiled kernels, 64 bits."""

from __future__ import annotations

import functools
import os
import warnings
import weakref
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import product
from operator import attrgetter
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np

from ...errors import BackendFeatureError, DeviceError, InplaceUpdateError
from .. import base
from ..base.plain import Plain
from ..kernels import described, kernel_modules, own_error
from ..memory import SMALLEST, export, reads_marks
from ._private import (
    ARRAYS,
    NO_TRACE,
    SHARDING,
    JVPTracer,
    LinearizeTracer,
    backends_are_initialized,
    known_value,
    trace_cell,
    trace_state,
)


def _enable_64_bit() -> None:
    """Switch 64-bit dtypes on, which JAX reads when it makes an array, unless the environment decides."""
    if "JAX_ENABLE_X64" in os.environ or jax.config.jax_enable_x64:
        return
    # Only the making of a first array, or a question for devices, initialises a backend of JAX.
    if backends_are_initialized():
        warnings.warn(
            "unifyarr's JAX backend switches JAX to 64 bits now, but JAX was used before, with 32 bits: arrays made so "
            "far keep their dtypes, functions compiled so far are compiled again. Load the backend first, call "
            "jax.config.update('jax_enable_x64', True) before using JAX, or set JAX_ENABLE_X64 in the environment.",
            UserWarning,
            stacklevel=2,
        )
    jax.config.update("jax_enable_x64", True)


_enable_64_bit()

from . import _exporting, _loops, _several, indexing, transformations  # noqa: E402
from ._compiled import REFERENCES, casting, is_concrete, is_reference  # noqa: E402
from ._devices import extents, fitting, jit, may_meet, meeting, name_of, public, spread, whole  # noqa: E402
from ._donating import Donating  # noqa: E402
from ._items import get_copy  # noqa: E402
from ._memory import adopted, aligned, borrow, copied, entered, fetched  # noqa: E402
from ._spread import among_spread  # noqa: E402

_64_BIT = frozenset(map(np.dtype, ("int64", "uint64", "float64", "complex128")))

# Tracers that derivatives are taken through.
_DERIVED = (JVPTracer, LinearizeTracer)

# DLPack's number of the kind of device.
CPU = 1
# The stream that a DLPack consumer passes to ask for no synchronization.
_NO_WAITING = -1

_ONE = np.ones((), np.int32)
# The class of compiled functions.
_COMPILED = type(jax.jit(lambda native: native))


@functools.lru_cache
def _destructive_twin(kernel: Any) -> Callable[..., Any]:
    return Donating(kernel.__wrapped__, (0,))


def _told_of_spread(function: Any) -> Any:
    """Return a compiled function that is traced for arrays over several devices where it gets such."""
    if len(jax.devices()) == 1:
        return function

    @functools.wraps(function)
    def run(*natives: Any, **results: Any) -> Any:
        if not any(map(spread, natives)):
            return function(*natives, **results)
        with among_spread():
            return function(*natives, **results)

    return run


def _name_of(key: Any) -> str:
    """Return the name of a child in JAX's pytrees."""
    return str(next(getattr(key, each) for each in ("name", "key", "idx") if hasattr(key, each)))


@final
class Backend(base.Backend[Any]):
    """JAX, as the frontend sees an engine."""

    name = "jax"
    # The concrete class first. Tracers are instances of ``jax.Array`` through its metaclass, those of references of
    # ``jax.Ref``.
    native_types: tuple[type, ...] = (*ARRAYS, jax.Array, *REFERENCES)
    mutable = False
    # Calls return before their results are there.
    computes_later = True
    # ``jax.Ref``.
    has_variables = True
    modules = kernel_modules(__package__, "transformations")

    items: Mapping[str, Callable[..., Any]] = {"get_copy": get_copy}

    can_compile = can_transform = True
    vjp = staticmethod(transformations.vjp)
    with_pullback = staticmethod(transformations.with_pullback)

    def on_host(
        self, function: Callable[..., list[np.ndarray]], natives: Sequence[Any], types: Callable[[], Sequence[Any]]
    ) -> list[Any]:
        """Return the results of a function of NumPy's arrays, which compiled code calls back."""
        if all(map(is_concrete, natives)):
            return super().on_host(function, natives, types)
        return transformations.called_back(function, natives, types())

    observed = staticmethod(transformations.observed)
    exported = staticmethod(_exporting.exported)
    from_length = staticmethod(_exporting.from_length)
    later = staticmethod(transformations.later)
    jvp = staticmethod(transformations.jvp)
    vmap = staticmethod(transformations.vmap)
    scan = staticmethod(_loops.scan)
    while_loop = staticmethod(_loops.while_loop)
    switch = staticmethod(_loops.switch)

    # -- what an array is -------------------------------------------------------------------------------------------

    def dtype(self, native: Any) -> np.dtype[Any]:
        """Return the dtype of a native array as a ``numpy.dtype``."""
        return native.dtype

    def shape(self, native: Any) -> tuple[int, ...]:
        """Return the shape of a native array as a tuple of ``int``."""
        return native.shape

    def as_dtype(self, dtype: Any) -> np.dtype[Any] | None:
        """Return the ``numpy.dtype`` of one of JAX's scalar types, such as ``jax.numpy.float32``."""
        return np.dtype(dtype) if type(dtype) is type(jnp.float32) else None

    def read(self, native: Any) -> Any:
        """Return the value of a mutable reference, an array itself."""
        # A later write donates the reference's buffer, so the value is copied.
        return jnp.copy(native[...]) if is_reference(native) else native

    # Its type is an object of JAX's for all arrays of one dtype and shape.
    type_key = staticmethod(attrgetter("aval"))

    # -- devices and dtypes -----------------------------------------------------------------------------------------

    def devices(self) -> list[str]:
        """Return the names of all devices, the default one first."""
        default = jax.config.jax_default_device
        first = [default] if isinstance(default, jax.Device) else []
        return list(dict.fromkeys(map(name_of, (*first, *jax.devices(), *jax.devices("cpu")))))

    def device(self, native: Any) -> str | jax.sharding.Sharding:
        """Return the name of the device that an array lives on, its sharding where these are several."""
        if not is_concrete(native):
            known = known_value(native)
            if known is None:
                # A tracer has no device yet.
                return self.devices()[0]
            native = known
        if is_reference(native) or native.is_deleted():
            # Without reading it, which a write in another thread, or the one that is under way, would forbid.
            return public(native.sharding)
        return public(native.device)

    def as_device(self, device: object) -> jax.Device | jax.sharding.Sharding:
        """Return JAX's own device for a name, or a device or sharding of JAX itself."""
        if isinstance(device, jax.Device | jax.sharding.Sharding):
            return device
        # JAX's platform of all makers' GPUs is "gpu"; "cuda" is torch's name.
        known = device.replace("cuda", "gpu", 1) if isinstance(device, str) else None
        for candidate in (*jax.devices(), *jax.devices("cpu")) if known else ():
            if known in (name_of(candidate), candidate.platform, f"{candidate.platform}:{candidate.id}"):
                return candidate
        raise DeviceError(
            f"device {described(device)} is not one of JAX's, which are {self.devices()}, and no jax.sharding.Sharding"
        )

    def place_beside(self, native: Any) -> Any:
        """Return the device for data beside an array; ``None`` if that is uncommitted, so that JAX moves both."""
        if not is_concrete(native) or not getattr(native, "committed", True):
            return None
        sharding = spread(native)
        # Its axes needn't be those of the array.
        return self.device(native) if sharding is None else whole(sharding)

    def may_meet(self, first: Any, second: Any) -> bool:
        """Return whether JAX computes with two arrays together."""
        return may_meet(first, second)

    def meeting(self, devices: Iterable[Any]) -> Any:
        """Return the device of a result computed from arrays on several devices, or ``None`` if they can't be mixed."""
        return meeting(devices, self.devices()[0])

    def sharding(self, native: Any) -> jax.sharding.Sharding:
        """Return JAX's own sharding of an array."""
        known = native if is_concrete(native) else known_value(native)
        if known is None:
            raise BackendFeatureError("JAX chooses where the arrays of a trace lie when it compiles: ask outside of it")
        return known.sharding

    def supports_dtype(self, dtype: np.dtype[Any], device: object = None) -> bool:
        """Return whether arrays of ``dtype`` exist on ``device``: those of 64 bits only where JAX has them enabled."""
        return dtype not in _64_BIT or bool(jax.config.jax_enable_x64)

    # -- values in and out ------------------------------------------------------------------------------------------

    def from_numpy(self, array: np.ndarray, *, device: Any = None, copy: bool = True) -> jax.Array:
        """Return a native array with the values of ``array``, always a copy of them."""
        # JAX may use NumPy's memory as its own, even when asked not to: pass memory that nothing else refers to.
        array = array.copy(order="C")
        if not array.dtype.isnative:
            # A compiled function reads swapped bytes as they are.
            array = array.astype(array.dtype.newbyteorder("="))
        return self.adopt(array, device=device)

    def adopt(self, array: np.ndarray, *, device: Any = None) -> jax.Array:
        """Return a native array of an ``array`` that nothing else refers to, in its memory if that is aligned."""
        return entered(array, device)

    def to_numpy(self, native: Any) -> np.ndarray:
        """Return the values as a read-only NumPy array, which shares the memory of an array on the CPU."""
        known = known_value(native)
        return fetched(self.read(native if known is None else known))

    # Only for arrays that aren't traced, and so carry no derivative.
    values_of: Callable[[Any], np.ndarray | None] | None = staticmethod(np.array)  # type: ignore[assignment]

    def borrow_numpy(self, array: np.ndarray) -> jax.Array:
        """Return a native array that may share NumPy's memory, which must not change while it is used."""
        return jax.device_put(self.compiled_argument(array), may_alias=True)

    def compiled_argument(self, array: np.ndarray) -> np.ndarray:
        """Return the NumPy array for a compiled function: JAX takes it in a fifth of the time of a conversion."""
        return aligned(array)

    def elementwise_operand(self, array: np.ndarray) -> Any:
        """Return a copy of a small array as it is: compiled functions take it in less time than a conversion."""
        return array.copy(order="C") if array.nbytes < SMALLEST else self.from_numpy(array)

    borrow = staticmethod(borrow)

    def release_to_numpy(self, native: jax.Array) -> np.ndarray:
        """Return the values as a writable NumPy array; nothing else refers, or will refer, to the native."""
        return adopted(native)

    def copy(self, native: Any) -> jax.Array:
        """Return an independent native array of equal values."""
        return copied(self.read(native))

    def to_device(self, native: Any, device: Any) -> jax.Array:
        """Return the array on ``device``: itself where it is there already."""
        native = self.read(native)
        if is_concrete(native) and (device == native.device or device == native.sharding):
            return native
        return jax.device_put(native, fitting(device, native.shape))

    def from_dlpack(self, x: Any, *, device: Any = None, copy: bool | None = None) -> jax.Array:
        """Return a native array from an object with ``__dlpack__``: a copy, unless that is an array of JAX."""
        if isinstance(x, jax.Array):
            native = copied(x) if copy else x
        elif copy is False:
            raise BufferError("an array of JAX can't share memory that somebody else may write: pass copy=None")
        else:
            native = self._import(x)
        return native if device is None else self.to_device(native, device)

    def _import(self, x: Any) -> jax.Array:
        try:
            return self.from_numpy(np.from_dlpack(x))
        except (BufferError, RuntimeError, TypeError, ValueError):
            # Memory of an accelerator, or a dtype that NumPy doesn't exchange, such as bfloat16.
            return jax.block_until_ready(copied(jax.dlpack.from_dlpack(x)))

    def dlpack(self, native: Any, *, copy: bool | None = None, read_only: bool = False, **request: Any) -> object:
        """Return a DLPack capsule of a copy; with ``copy=False`` of the memory itself, marked if marks are read."""
        native = self.read(native)
        # JAX takes every number for a stream's address. Without one it waits for the values itself.
        if request.get("stream") == _NO_WAITING:
            request["stream"] = None
        if copy is False and not reads_marks(request.get("max_version")):
            # Who insists on the memory and reads no marks gets it as JAX itself hands it out.
            return native.__dlpack__(copy=False, **{**request, "max_version": None})
        if native.__dlpack_device__()[0] == CPU and native.dtype != "bfloat16":
            # JAX can't mark a capsule, NumPy's view of its memory can.
            return export(fetched(native), writable=False, copy=copy, read_only=read_only, **request)
        if copy is False:
            raise BufferError("this memory of JAX can't be exported as read-only: pass copy=None")
        return copied(native).__dlpack__(**request)

    def dlpack_device(self, native: Any) -> tuple[int, int]:
        """Return the DLPack device type and number."""
        kind, number = self.read(native).__dlpack_device__()
        return int(kind), number

    # -- memory -----------------------------------------------------------------------------------------------------

    def can_write(self, native: Any) -> bool:
        """Return whether this native is a mutable reference: arrays can't be written."""
        return is_reference(native)

    def check_writable(self, native: Any) -> None:
        """Raise for everything but a mutable reference."""
        if not is_reference(native):
            raise InplaceUpdateError("a JAX array can't be written in place: use a mutable reference, jax.new_ref(x)")

    def is_read_only(self, native: Any) -> bool:
        """Return False: an array is immutable rather than read-only, writes make a new one."""
        return False

    def may_share_memory(self, first: Any, second: Any) -> bool:
        """Return whether two natives overlap: ``True`` in doubt, ``False`` only when sure."""
        if first is second:
            return True
        if any(is_reference(native) or not is_concrete(native) for native in (first, second)):
            # Two references never overlap, and a tracer has no memory yet.
            return False
        try:
            extents_of_both = extents(first), extents(second)
        except (AttributeError, TypeError, ValueError, RuntimeError):
            return True
        return any(
            start < other_end and other_start < end
            for (start, end), (other_start, other_end) in product(*extents_of_both)
        )

    def as_stored(self, old: Any, new: Any) -> Any:
        """Return an array spread over the devices as the one that it replaces was, which XLA may not have chosen."""
        if type(new) is not ARRAYS[0] or type(old) is not ARRAYS[0] or new.sharding is old.sharding:
            return new
        return (
            new
            if spread(old) is None or old.sharding.is_equivalent_to(new.sharding, new.ndim)
            else jax.device_put(new, old.sharding)
        )

    def compiled(
        self, function: Callable[..., Any], *, donate: Mapping[int, int] | None = None, exact: bool = False
    ) -> Callable[..., Any]:
        """Return a function of natives, which returns new natives, compiled as a whole.

        ``donate`` says for arguments that may be used up which result is for the memory of each. With such, a call
        takes an empty list ``results`` too, which gets the results in the step that uses up the arguments: those for
        their memory first, in the order of the arguments.
        """
        if not donate:
            return _told_of_spread(jit(function))
        taking = [donate[place] for place in sorted(donate)]

        # JAX pairs donated buffers with results of the same type in order. Any other order of the results costs copies.
        def ordered(*natives: Any) -> list[Any]:
            found = list(function(*natives))
            return [found[number] for number in taking] + [x for number, x in enumerate(found) if number not in taking]

        whole = _told_of_spread(Donating(ordered, sorted(donate), several=True))
        if taking == list(range(len(taking))):

            def run_in_order(*natives: Any, results: list[Any]) -> list[Any]:
                whole(*natives, results=results)
                return results

            return run_in_order

        def run(*natives: Any, results: list[Any]) -> list[Any]:
            whole(*natives, results=results)
            given, rest = dict(zip(taking, results, strict=False)), iter(results[len(taking) :])
            return [given[number] if number in given else next(rest) for number in range(len(results))]

        return run

    def of_types(
        self, function: Callable[..., Sequence[Any]], types: Sequence[Any]
    ) -> list[tuple[tuple[int, ...], np.dtype[Any]]]:
        """Return the shapes and dtypes of the arrays that a function returns: nothing is computed or compiled."""
        given = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in types]
        return [(each.shape, each.dtype) for each in jax.eval_shape(function, *given)]

    def traced_once(self, function: Callable[..., Sequence[Any]]) -> Callable[..., Sequence[Any]]:
        """Return the function as one that JAX traces once for arrays of the same types."""
        return jax.jit(function)

    def held_bytes(self, function: Callable[..., Any], types: Sequence[Any]) -> int | None:
        """Return how much memory a function of arrays of given types, compiled as a whole, holds beside its inputs."""
        inputs = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in types]
        found = jax.jit(function).lower(*inputs).compile().memory_analysis()
        # Not every platform tells.
        return None if found is None else found.temp_size_in_bytes + found.output_size_in_bytes

    def wait(self, natives: Any) -> None:
        """Wait until an array, or each of several, is computed."""
        jax.block_until_ready(natives)

    def open_node(self, x: object) -> tuple[Sequence[Any], Any, Sequence[str]] | None:
        """Take a node of JAX's pytrees apart: children, structure and names; ``None`` for a leaf."""
        if jax.tree_util.all_leaves([x]):
            return None
        found, structure = jax.tree_util.tree_flatten_with_path(x, is_leaf=lambda each: each is not x)
        return [child for _, child in found], structure, [_name_of(key) for (key,), _ in found]

    def register_node(
        self,
        cls: type,
        flatten: Callable[[Any], tuple[list[Any], Any]],
        unflatten: Callable[[Any, Any], Any],
        names: Callable[[Any], Sequence[str]],
    ) -> None:
        """Make a class a node of JAX's pytrees."""

        def flatten_with_keys(x: Any) -> tuple[list[Any], Any]:
            children, other = flatten(x)
            return list(zip(map(jax.tree_util.DictKey, names(x)), children, strict=True)), other

        jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)

    cache_reads: Mapping[str, str] = {"aval": "is", SHARDING: "is"}

    def cache_key(self, native: Any) -> Hashable:
        """Return a cache key: the shape, the dtype and the device or sharding."""
        return (native.aval, native.sharding) if type(native) is ARRAYS[0] else (native.shape, native.dtype)

    def variable(self, native: Any) -> Any:
        """Return a mutable reference with the values of an array."""
        if not REFERENCES:
            raise BackendFeatureError("this version of JAX has no mutable references: use a newer one")
        return jax.new_ref(native)

    def assign(self, native: Any, value: Any) -> None:
        """Overwrite a mutable reference by a value of its shape and dtype."""
        self.check_writable(native)
        native[...] = value

    # -- tracing and gradients --------------------------------------------------------------------------------------

    no_trace = NO_TRACE
    trace_state = staticmethod(trace_state)
    trace_cell = trace_cell

    def trace(self) -> object | None:
        """Return a token of the trace that is running in this thread, ``None`` if none is."""
        trace = trace_state()
        # Weak references without callbacks to one object are one object; a strong one would keep the trace alive.
        return None if trace is NO_TRACE else weakref.ref(trace)

    def stages(self) -> bool:
        """Return whether operations are traced for compilation; transformations such as ``grad`` alone don't."""
        # Only a trace that compiles makes the sum of two constants abstract.
        return self.trace() is not None and not is_concrete(jax.lax.add(_ONE, _ONE))

    def is_traced(self, native: Any) -> bool:
        """Return whether a native array stands for values that are not known yet."""
        return isinstance(native, jax.core.Tracer)

    def hides_values(self, native: Any) -> bool:
        """Return whether the values of a tracer aren't known: inside ``jax.grad`` they are, inside ``jax.jit`` not."""
        return self.is_traced(native) and known_value(native) is None

    def records_gradient(self, native: Any) -> bool:
        """Return whether gradients may be recorded through this native: any trace may be part of one that does so."""
        return isinstance(native, jax.core.Tracer)

    def carries_derivative(self, native: Any) -> bool:
        """Return whether a derivative is being taken through this native, as far as known: not inside ``jax.jit``."""
        while isinstance(native, jax.core.Tracer):
            if isinstance(native, _DERIVED):
                return True
            # One of a batch may have one around it.
            native = getattr(native, "val", None)
        return False

    # -- what it refuses --------------------------------------------------------------------------------------------

    def check_plain(self, native: Any) -> None:
        """Raise for an array whose buffer is deleted."""
        if type(native) is ARRAYS[0] and native.is_deleted():
            raise ValueError("the JAX array has been deleted, or donated to a compiled function: copy it before")

    def own_error(self, error: Exception) -> type[Exception] | None:
        """Return the class of error to raise for one of JAX's own, ``None`` for any other."""
        return own_error(error, ("jax", "jaxlib"), "RESOURCE_EXHAUSTED|[Oo]ut of memory")

    # -- kernels ----------------------------------------------------------------------------------------------------

    def destructive(self, kernel: Callable[..., Any]) -> Callable[..., Any] | None:
        """Return the twin of a compiled kernel of arrays whose result takes the memory of the first, if there's one.

        It also takes a list ``results``. It adds the result in the same step that uses up the array, so that an
        interrupt finds either the array or the result.
        """
        return _destructive_twin(kernel) if isinstance(kernel, _COMPILED) else None

    def casting(
        self, kernel: Callable[..., Any], inputs: Callable[..., Sequence[np.dtype[Any]]]
    ) -> Callable[..., Any] | None:
        """Return a kernel whose casts are compiled with it, of one that is compiled."""
        return casting(kernel, inputs) if isinstance(kernel, _COMPILED) else None

    def plain_way(self, name: str, kernel: Callable[..., Any] | None) -> Plain:
        """Return how a function is computed of several arrays in one call."""
        return Plain(together=_several.TOGETHER.get(name))

    def updating(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """Return a compiled function that reads a window, computes and writes it, for any start of the window."""
        return indexing._updating(kernel)

    def supports_out(self, kernel: Callable[..., Any]) -> bool:
        """Return whether ``kernel(..., out=native)`` writes into ``native``: arrays are immutable, so none does."""
        return False
