"""TensorFlow's pieces that several files need: raw ops, dtypes, cached constants, and shapes of too many dimensions.

The kernels call ``tf.raw_ops``: they take half the time of the public functions, which convert their arguments first.
Raw ops convert a list or a tuple slowly (35 µs), so axes and shapes go in as cached constant tensors.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # Its start-up notices, and a line for each op that raises.

import tensorflow

from ...errors import ShapeError
from ..kernels import has_subnormals, state
from ._autograph import leave_alone
from ._private import EagerTensor as EagerTensor
from ._private import ResourceVariable as ResourceVariable
from ._private import (
    could_possibly_record,
    current_device,
    eager_adopted,
    eager_constant,
    eager_op,
    is_eager,
    pack_tangents,
    shape_of_eager,
    should_record_backprop,
    values_of_eager,
)

tf: Any = tensorflow


class _RawOps:
    """The functions of ``tf.raw_ops`` by name, without their wrapper, which allows keyword arguments only."""

    def __getattr__(self, name: str) -> Any:
        function = inspect.unwrap(getattr(tf.raw_ops, name))
        setattr(self, name, function)
        return function


raw: Any = _RawOps()


def direct(op: str) -> Callable[..., Any]:
    """Return an operation for eager tensors in eager code: calls that know of both need none of the rest of ``raw``'s.

    It takes the tensors as positional arguments, then attributes as pairs of name and value; it may return a list where
    ``raw``'s function returns a tuple. Its errors aren't meant for users.
    """
    return eager_op(op) or _by_place(getattr(raw, op))


def _by_place(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*given: Any) -> Any:
        count = next((place for place, each in enumerate(given) if type(each) is str), len(given))
        return function(*given[:count], **dict(zip(given[count::2], given[count + 1 :: 2], strict=True)))

    return run


leave_alone(__name__.partition(".")[0])

BOOL = frozenset({tf.bool})
SIGNED = frozenset({tf.int8, tf.int16, tf.int32, tf.int64})
UNSIGNED = frozenset({tf.uint8, tf.uint16, tf.uint32, tf.uint64})
INTEGER = SIGNED | UNSIGNED
WIDE = frozenset({tf.int64, tf.uint64})
HALF = frozenset({tf.float16, tf.bfloat16})
FLOAT = HALF | {tf.float32, tf.float64}
COMPLEX = frozenset({tf.complex64, tf.complex128})

# Storage-only dtypes. TensorFlow makes constants of other named dtypes, but casts none.
STORED = frozenset(map(tf.as_dtype, ("float8_e4m3fn", "float8_e5m2", "int4", "uint4")))
# XLA keeps two of them in a byte, and takes and gives tensors of TensorFlow, which have one, as if they had two.
NARROW = frozenset(dtype for dtype in STORED if dtype.is_integer)

TENSORFLOW_DTYPES: dict[np.dtype[Any], Any] = {
    np.dtype(getattr(ml_dtypes, dtype.name, dtype.name)): dtype
    for dtype in (*BOOL, *INTEGER, *HALF, tf.float32, tf.float64, *COMPLEX, *STORED)
}
NUMPY_DTYPES = {tensorflow: numpy for numpy, tensorflow in TENSORFLOW_DTYPES.items()}
REAL = {tf.complex64: tf.float32, tf.complex128: tf.float64}
# The integers that hold a floating-point number's bits.
BITS = {tf.float16: tf.int16, tf.bfloat16: tf.int16, tf.float32: tf.int32, tf.float64: tf.int64}

# Broadcasting binary ops take 5 dimensions after TensorFlow's own merging, slices and SelectV2 take 8.
MAX_BROADCAST = 5
MAX_SLICE = 8
# Up to how many elements Python looks at values in less time than NumPy.
FEW = 64
# From how many elements on a faster kernel is worth two calls more.
MANY = 1 << 15


@lru_cache(maxsize=1)
def is_alone() -> bool:
    """Return whether there's one device: then all arrays are there."""
    return len(tf.config.list_logical_devices()) == 1


@lru_cache(maxsize=1)
def is_cpu_alone() -> bool:
    """Return whether the host's processor is the one device."""
    return [each.device_type for each in tf.config.list_logical_devices()] == ["CPU"]


@lru_cache(maxsize=4096)
def integers(*values: int) -> Any:
    """Return a 1-d tensor of axes, sizes or indices."""
    dtype = np.int32 if all(-(2**31) <= value < 2**31 for value in values) else np.int64
    with tf.init_scope():
        return tf.constant(np.array(values, dtype))


@lru_cache(maxsize=1024)
def integer(value: int) -> Any:
    """Return a 0-d tensor of an axis."""
    with tf.init_scope():
        return tf.constant(np.int32(value))


def kept(maxsize: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Keep the tensors that a function makes outside of all graphs, on each device where they're asked for.

    Axes, sizes and indices of 32 bits need no such care: accelerators read them from the host.
    """

    def decorate(make: Callable[..., Any]) -> Callable[..., Any]:
        @lru_cache(maxsize=maxsize)
        def made(device: str, *given: Any) -> Any:
            with tf.init_scope():
                return make(*given)

        def find(*given: Any) -> Any:
            return made("" if is_alone() else current_device(), *given)

        return find

    return decorate


@kept(1024)
def _scalar(text: str, dtype: Any) -> Any:
    kind = int if dtype in INTEGER or dtype in BOOL else complex if dtype in COMPLEX else float
    return tf.constant(np.array(kind(text), NUMPY_DTYPES[dtype]))


def constant(value: complex, dtype: Any) -> Any:
    """Return a 0-d tensor, from a cache whose key, a text, tells -0.0 from 0.0."""
    return _scalar(repr(value), dtype)


def scalar(value: float, like: Any) -> Any:
    """Return a 0-d tensor of ``like``'s dtype."""
    return _scalar(repr(value), like.dtype)


def cast(x: Any, dtype: Any) -> Any:
    return raw.Cast(x=x, DstT=dtype)


def reshape(x: Any, /, *, shape: tuple[int, ...]) -> Any:
    """Return ``x`` in another shape, in C order."""
    return raw.Reshape(tensor=x, shape=integers(*shape))


def swap_last(x: Any, axis: int) -> Any:
    """Swap an axis with the last one."""
    last = (len(shape_of_eager(x)) if type(x) is EagerTensor else x.ndim) - 1
    if axis == last:
        return x
    axes = list(range(last + 1))
    axes[axis], axes[-1] = axes[-1], axes[axis]
    return raw.Transpose(x=x, perm=integers(*axes))


def truth(x: Any) -> Any:
    """Return which elements aren't zero, NaN included."""
    return x if x.dtype is tf.bool else raw.NotEqual(x=x, y=raw.ZerosLike(x=x))


def parts(x: Any) -> tuple[Any, Any]:
    """Return the real and the imaginary part of a complex tensor."""
    dtype = REAL[x.dtype]
    return raw.Real(input=x, Tout=dtype), raw.Imag(input=x, Tout=dtype)


def join(real: Any, imag: Any) -> Any:
    return raw.Complex(real=real, imag=imag, Tout=tf.complex64 if real.dtype == tf.float32 else tf.complex128)


def may_record() -> bool:
    """Return whether somebody may ask for gradients: a tape that records, or the graph of a function."""
    return not is_eager() or could_possibly_record()


def is_variable(x: Any) -> bool:
    """Return whether a native is a variable, which TensorFlow finds out in Python."""
    return type(x) is not EagerTensor and isinstance(x, tf.Variable)


def is_traced(x: Any) -> bool:
    """Return whether a tensor is a node of a graph, whose values aren't known."""
    return type(x) is not EagerTensor and isinstance(x, tf.Tensor)


# Operations of graphs that run Python: a tape follows them, though they have no gradient.
_OPAQUE = frozenset({"PyFunc", "PyFuncStateless"})


def carries_derivative(x: Any) -> bool:
    """Return whether a tape or an accumulator follows a tensor."""
    if not could_possibly_record():
        return False
    if not should_record_backprop([x]):
        return bool(pack_tangents([x]).tangents)
    return not is_traced(x) or _reaches_source(x)


def _reaches_source(x: Any) -> bool:
    # Whether a path back from a node on a tape avoids ops without gradients.
    met, ahead = set(), [x]
    while ahead:
        op = ahead.pop().op
        if op.type in _OPAQUE or op.name in met:
            continue
        met.add(op.name)
        sources = [each for each in op.inputs if should_record_backprop([each])]
        if not sources:
            return True
        ahead += sources
    return False


def on_host(x: Any) -> Any:
    """Return a tensor's values as a NumPy array that shares its memory; None in a graph and on a GPU.

    A look at the values is much cheaper than a chain of ops, where the usual values need none.
    """
    if type(x) is EagerTensor and is_cpu_alone():
        return np.asarray(values_of_eager(x))
    if is_traced(x) or "CPU" not in x.device:
        return None
    return np.asarray(values_of_eager(x) if type(x) is EagerTensor else x.numpy())


# The dtypes of numbers that the engine takes from Python as they are.
_TAKEN = frozenset("dl?")


def from_host(array: np.ndarray) -> Any:
    """Return a tensor of NumPy's values, in eager code: of a number in a third of the time that an array takes."""
    if not array.ndim and array.dtype.char in _TAKEN and (number := array.item()):
        return tf.constant(number, array.dtype)
    # The engine keeps one tensor for both zeros, of scalars of NumPy's too: functions of 0-d arrays return these.
    return eager_constant(np.asarray(array))


def from_fresh(array: np.ndarray) -> Any:
    """Return a tensor of values that NumPy has computed just now, in their memory where the engine can."""
    return eager_adopted(array) if array.ndim else from_host(array)


def plain_on_host(x: Any) -> Any:
    """Return a tensor's values as NumPy's functions take them, None as above, where a tape may record, and of bfloat16.

    NumPy's functions sort and select in a fraction of the time of a chain of ops. They tell subnormal numbers from
    zeros, which the engine doesn't: None where there are any.
    """
    values = None if may_record() or x.dtype is tf.bfloat16 else on_host(x)
    return None if values is None or has_subnormals(values) else values


def has_nan(x: Any) -> bool:
    """Return whether a floating-point tensor may have NaN."""
    values = on_host(x)
    if values is None or not values.size:
        return values is None
    # The minimum is NaN if there is one, and needs no temporary array.
    least = values.min()
    return bool(least != least)


def part(x: Any, start: int, stop: int) -> Any:
    """Return a slice of a 1-d tensor."""
    return raw.StridedSlice(input=x, begin=integers(start), end=integers(stop), strides=integers(1))


def broadcast(x: Any, /, *, shape: tuple[int, ...]) -> Any:
    """Return ``x`` repeated to ``shape``: axis by axis where the ranks are too high for the engine."""
    if len(shape) <= MAX_BROADCAST:
        return raw.BroadcastTo(input=x, shape=integers(*shape))
    current = [1] * (len(shape) - x.ndim) + list(x.shape)
    for axis, (old, new) in enumerate(zip(tuple(current), shape, strict=True)):
        if old != new:
            before, after = math.prod(current[:axis]), math.prod(current[axis + 1 :])
            x = raw.BroadcastTo(input=reshape(x, shape=(before, 1, after)), shape=integers(before, new, after))
            current[axis] = new
    return reshape(x, shape=shape)


def broadcast_arrays(*arrays: Any) -> list[Any]:
    """Return the arrays in their common shape."""
    shapes = [tuple(x.shape) for x in arrays]
    if shapes.count(shapes[0]) == len(shapes):
        return list(arrays)
    common = np.broadcast_shapes(*shapes)
    return [x if shape == common else broadcast(x, shape=common) for x, shape in zip(arrays, shapes, strict=True)]


def _check_shapes(x1: Any, x2: Any) -> None:
    shapes = tuple(x1.shape), tuple(x2.shape)
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        raise ShapeError(f"arrays of the shapes {shapes[0]} and {shapes[1]} don't broadcast") from None


def binary(op: str) -> Callable[[Any, Any], Any]:
    """Return the raw op as a kernel of two arrays whose shapes broadcast, of any rank."""
    function = getattr(raw, op)

    def kernel(x1: Any, x2: Any, /) -> Any:
        # A graph fails only when it runs.
        if not type(x1) is type(x2) is EagerTensor and max(x1.ndim, x2.ndim) > MAX_BROADCAST:
            x1, x2 = broadcast_arrays(x1, x2)
        try:
            return function(x1, x2)
        except tf.errors.UnimplementedError:
            x1, x2 = broadcast_arrays(x1, x2)
            return function(x1, x2)
        except tf.errors.InvalidArgumentError:
            _check_shapes(x1, x2)
            raise

    kernel.__name__ = kernel.__qualname__ = op
    state(kernel, plain=direct(op))
    return kernel


def unary(op: str) -> Callable[[Any], Any]:
    """Return the raw op as a kernel of one array."""
    function = getattr(raw, op)

    def kernel(x: Any, /) -> Any:
        return function(x)

    kernel.__name__ = kernel.__qualname__ = op
    state(kernel, plain=direct(op))
    return kernel


def select(condition: Any, x1: Any, x2: Any, /) -> Any:
    """Return ``x1`` where the condition is true and ``x2`` elsewhere; their shapes broadcast."""
    if type(condition) is type(x1) is type(x2) is EagerTensor:
        try:
            if x1.dtype in WIDE and math.prod(shape_of_eager(condition)) >= MANY and not (x1.ndim and x2.ndim):
                # The engine repeats a number of these dtypes in six times the time that it takes for a real one.
                values = [raw.Bitcast(input=x, type=tf.float64) for x in (x1, x2)]
                return raw.Bitcast(input=raw.SelectV2(condition, *values), type=x1.dtype)
            return raw.SelectV2(condition, x1, x2)
        except tf.errors.UnimplementedError:
            # It has too many dimensions.
            pass
    if condition.ndim <= MAX_SLICE and x1.ndim <= MAX_SLICE and x2.ndim <= MAX_SLICE:
        return raw.SelectV2(condition=condition, t=x1, e=x2)
    condition, x1, x2 = broadcast_arrays(condition, x1, x2)
    flat = [reshape(x, shape=(-1,)) for x in (condition, x1, x2)]
    return reshape(raw.SelectV2(condition=flat[0], t=flat[1], e=flat[2]), shape=tuple(x1.shape))


def via(dtype: Any, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that computes in a dtype that holds the values exactly."""

    def through(*arrays: Any) -> Any:
        return cast(kernel(*(cast(x, dtype) for x in arrays)), arrays[0].dtype)

    return through


def sign_bit(x: Any) -> Any:
    """Return which floating-point numbers have a sign, -0.0 and NaN included."""
    bits = raw.Bitcast(input=x, type=BITS[x.dtype])
    return raw.Less(x=bits, y=raw.ZerosLike(x=bits))


def with_sign(magnitude: Any, sign: Any) -> Any:
    """Return ``magnitude`` with the sign of ``sign``, differentiably."""
    same = binary("Equal")(sign_bit(magnitude), sign_bit(sign))
    return select(same, magnitude, raw.Neg(x=magnitude))
