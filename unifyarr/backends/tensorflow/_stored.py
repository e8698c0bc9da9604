"""Dtypes that TensorFlow stores but has few kernels for: kernels that move elements use a wider dtype.

TensorFlow casts four of these dtypes, exactly and with NumPy's rounding. It selects, scatters and rolls none of them,
and of the integers it reads no part either. Each of their numbers is one of the wider dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, wraps
from typing import Any

import numpy as np

from ...errors import DtypeError
from ._engine import (
    NARROW,
    NUMPY_DTYPES,
    STORED,
    EagerTensor,
    carries_derivative,
    cast,
    integer,
    is_variable,
    kept,
    may_record,
    raw,
    reshape,
    tf,
)
from ._private import dtype_of_eager

# Stored dtype -> dtype that holds its numbers and has all kernels.
_WIDER = {dtype: tf.float16 if dtype.is_floating else tf.int8 if dtype.name == "int4" else tf.uint8 for dtype in STORED}
_BY_NUMBER = {dtype.as_datatype_enum: wider for dtype, wider in _WIDER.items()}
# A number is looked up in a fraction of the time of the dtype itself.
_number_of = dtype_of_eager or (lambda x: x.dtype.as_datatype_enum)


def _wider(x: Any) -> Any:
    return _BY_NUMBER.get(_number_of(x)) if type(x) is EagerTensor else _WIDER.get(x.dtype)


def stores(x: Any) -> bool:
    """Return whether a tensor holds numbers that are only stored."""
    return _wider(x) is not None


def moves(place: int = 0) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Have a kernel move numbers that are only stored in a wider dtype; the array at ``place`` holds them."""

    def decorate(kernel: Callable[..., Any]) -> Callable[..., Any]:
        moving: Any = _moving(kernel, place)
        bind, know = getattr(kernel, "bind", None), getattr(kernel, "known", None)
        if bind is not None:
            moving.bind = lambda **static: _moving(bind(**static), place)

        def known(*natives: Any, **static: Any) -> Any:
            # Other dtypes skip this check from now on.
            if _wider(natives[place]) is not None:
                return None
            found = None if know is None else know(*natives, **static)
            if found is not None:
                return found
            return partial(kernel, **static) if bind is None or not static else bind(**static)

        moving.known = known
        return moving

    return decorate


def _moving(kernel: Callable[..., Any], place: int) -> Callable[..., Any]:
    @wraps(kernel)
    def moving(*arrays: Any, **arguments: Any) -> Any:
        x = arrays[place]
        wider = _BY_NUMBER.get(_number_of(x)) if type(x) is EagerTensor else _WIDER.get(x.dtype)
        if wider is None:
            return kernel(*arrays, **arguments)
        dtype, first = x.dtype, arrays[0]
        moved = kernel(*[cast(_value(x), wider) if x.dtype == dtype else x for x in arrays], **arguments)
        if moved is NotImplemented:
            return NotImplemented
        if is_variable(first):
            first.assign(cast(moved, dtype), read_value=False)
            return first
        return cast(moved, dtype)

    return moving


def _value(x: Any) -> Any:
    return x.value() if is_variable(x) else x


def wide_dtype(dtype: Any) -> Any:
    """Return the dtype in which a loop carries a dtype: TensorFlow's loops can't carry 4-bit integers."""
    return _WIDER[dtype] if dtype in NARROW else dtype


def widened(natives: Iterable[Any]) -> list[Any]:
    """Return tensors as a loop carries them."""
    return [cast(x, _WIDER[x.dtype]) if x.dtype in NARROW else x for x in natives]


def narrowed(natives: Iterable[Any], dtypes: Iterable[Any]) -> list[Any]:
    """Undo ``widened``."""
    return [cast(x, dtype) if dtype in NARROW else x for x, dtype in zip(natives, dtypes, strict=True)]


def check_recorded(x: Any, dtype: Any) -> None:
    """Raise where TensorFlow follows a tensor that is cast to a stored dtype: it would lose the derivative there."""
    if may_record() and x.dtype.is_floating and carries_derivative(x):
        raise DtypeError(
            f"TensorFlow's own derivatives stop at {dtype.name} without a word: take ua.grad without backend=, which "
            "goes through, or ua.stop_gradient() first"
        )


@kept(8)
def _bits_of_half(dtype: Any) -> Any:
    # All half-precision numbers in ``dtype``, indexed by their bits.
    with np.errstate(all="ignore"):
        halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(NUMPY_DTYPES[dtype])
    return tf.constant(halves.view(np.uint8))


@kept(8)
def _of_bits(dtype: Any) -> Any:
    return tf.constant(np.arange(256, dtype=np.uint8).view(NUMPY_DTYPES[dtype]))


def to_bits(x: Any) -> Any:
    """Return the bits of floating-point numbers of a byte as ``tf.uint8``, which TensorFlow's cast of bits can't."""
    halves = reshape(raw.Bitcast(input=cast(x, tf.float16), type=tf.uint16), shape=(-1,))
    bits = raw.GatherV2(params=_bits_of_half(x.dtype), indices=cast(halves, tf.int32), axis=integer(0))
    return reshape(bits, shape=tuple(x.shape))


def from_bits(bits: Any, dtype: Any) -> Any:
    """Return the numbers of a dtype of a byte whose bits are given as ``tf.uint8``."""
    places = reshape(cast(bits, tf.int32), shape=(-1,))
    return reshape(raw.GatherV2(params=_of_bits(dtype), indices=places, axis=integer(0)), shape=tuple(bits.shape))
