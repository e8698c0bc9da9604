"""Helpers shared by files of the torch backend: dtypes, and workarounds for dtypes without kernels.

torch 2.13 stores ``uint16``, ``uint32`` and ``uint64`` but computes little with them, and its complex kernels for
addition and negation lose special values. Two exact detours serve most kernels: ``by_bits`` and ``by_parts``.
"""

from __future__ import annotations

import cmath
import functools
import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad

from ..._native import core
from ...errors import InplaceUpdateError
from ..base.abilities import STORED as ALL_STORED
from ..kernels import Applied
from ._private import (
    base_of,
    count_modes,
    get_unwrapped,
    is_batchedtensor,
    is_functorch_wrapped_tensor,
    is_gradtrackingtensor,
    maybe_get_level,
    peek_interpreter_stack,
    temporarily_pop_interpreter_stack,
)

Kernel = Callable[..., Any]

DTYPES: dict[np.dtype[Any], torch.dtype] = {
    np.dtype(name): getattr(torch, name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
}
BFLOAT16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
# Those that NumPy's exchange of memory doesn't know, which goes by their bits; the last ones only store numbers.
OF_ML_DTYPES: dict[np.dtype[Any], torch.dtype] = {
    np.dtype(getattr(ml_dtypes, name)): getattr(torch, name)
    # torch has names for integers of less than a byte, but can't even copy them.
    for name in ("bfloat16", *(name for name in ALL_STORED if name.startswith("float")))
    if hasattr(torch, name) and hasattr(ml_dtypes, name)
}
DTYPES |= OF_ML_DTYPES
STORED = frozenset(OF_ML_DTYPES.values()) - {torch.bfloat16}
NUMPY_DTYPES = {native: dtype for dtype, native in DTYPES.items()}

# The unsigned integers without kernels, and the signed ones of equal width.
SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}
UNSIGNED = frozenset(SIGNED)
# Numbers that are only stored are moved by their bits, too.
_BITS = SIGNED | dict.fromkeys(STORED, torch.int8)
COMPLEX = frozenset({torch.complex64, torch.complex128})
HALF = frozenset({torch.float16, torch.bfloat16})
FLOAT = HALF | {torch.float32, torch.float64}
SIGNED_INTEGER = frozenset({torch.int8, torch.int16, torch.int32, torch.int64})
BOOL = frozenset({torch.bool})
UINT8 = frozenset({torch.uint8})
INTEGER = SIGNED_INTEGER | UINT8 | UNSIGNED
WIDE = frozenset({torch.float32, torch.float64})

# Exponents for which the engine's power to a number is wrong for some infinities or for the zeros they give.
ODD_POWERS = frozenset({-0.5, -2.0})
# Up to how many elements Python looks at one by one.
FEW = 64
# Numbers beyond aren't taken beside float32, and counted otherwise beside integers.
_GREATEST = {torch.float32: 3e38, torch.float64: math.inf, torch.int64: 2**31, torch.int32: 2**30}


# Methods of these names take their arguments in another order.
_OTHERWISE = frozenset({"where", "polygamma"})
# Functions without derivatives.
_UNDERIVED = frozenset(
    (
        *("eq", "ge", "gt", "le", "lt", "ne", "isfinite", "isinf", "isnan", "signbit", "gcd", "lcm"),
        *("logical_and", "logical_not", "logical_or", "logical_xor"),
        *("bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"),
    )
)


def as_method(function: Kernel, *, in_place: bool = False) -> Any:
    """Return the method of tensors that a function of torch's is, the function itself if it's none, or is sooner.

    torch parses the arguments of a method sooner. But where it looks for derivatives it refers to the tensor once more,
    and counts that in Python: a method has to take the lock again for that, and a function has counted it before.
    With ``in_place``, the method that writes to its tensor, or ``None``.
    """
    otherwise = None if in_place else function
    name = getattr(function, "__name__", "")
    if getattr(torch, name, None) is not function or name in _OTHERWISE or not (in_place or name in _UNDERIVED):
        return otherwise
    method = getattr(Tensor, name, None)
    written = getattr(Tensor, f"{name}_", None) if in_place else method
    return written if type(method) is type(written) is _METHOD else otherwise


_METHOD = type(Tensor.add)


def takes_number(dtype: torch.dtype, value: float) -> bool:
    """Return whether the engine takes a Python number beside an array of a dtype, in that dtype, as NumPy does."""
    kind, greatest = type(value), _GREATEST.get(dtype)
    if greatest is None or not (kind is int or (kind is float and dtype in WIDE)):
        return False
    return -greatest <= value <= greatest


def as_signed(x: Tensor) -> Tensor:
    """Return ``x``, or a view of its bits as signed integers where the engine has no kernels for it."""
    signed = _BITS.get(x.dtype)
    return x if signed is None else x.view(signed)


def as_dtype(bits: Tensor, dtype: torch.dtype) -> Tensor:
    """Undo ``as_signed``. Only where there is something to undo: a view as another dtype records no gradient."""
    return bits if bits.dtype is dtype else bits.view(dtype)


def by_bits(function: Kernel) -> Kernel:
    """Compute on the bits as signed integers: moves and arithmetic modulo ``2**n`` can't tell the difference."""

    @functools.wraps(function)
    def kernel(*arrays: Tensor, **arguments: Any) -> Any:
        return function(*map(as_signed, arrays), **arguments).view(arrays[0].dtype)

    return kernel


def flip_order(x: Tensor) -> Tensor:
    """Map unsigned bits to signed integers of the same order, or back: it inverts the highest bit."""
    return as_signed(x).bitwise_xor(torch.iinfo(SIGNED.get(x.dtype, x.dtype)).min)


def by_order(function: Kernel) -> Kernel:
    """Compute on signed integers of the same order: comparing can't tell the difference."""

    @functools.wraps(function)
    def kernel(*arrays: Tensor, **arguments: Any) -> Any:
        return function(*map(flip_order, arrays), **arguments)

    return kernel


def from_parts(pairs: Tensor) -> Tensor:
    """Return the complex array of an array with a last axis of real and imaginary part."""
    return torch.view_as_complex(pairs if pairs.stride(-1) == 1 else pairs.contiguous())


def _pairs(x: Tensor) -> Tensor:
    # A lazily conjugated tensor has no such view.
    return torch.view_as_real(x.resolve_conj())


def parts(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the real and the imaginary part of a complex array."""
    real, imag = _pairs(x).unbind(-1)
    return real, imag


def by_parts(function: Kernel) -> Kernel:
    """Compute on real and imaginary parts alike."""

    @functools.wraps(function)
    def kernel(*arrays: Tensor, **arguments: Any) -> Any:
        return from_parts(function(*map(_pairs, arrays), **arguments))

    return kernel


def cast(x: Tensor, dtype: torch.dtype, *, copy: bool = False) -> Tensor:
    """Return ``x`` in ``dtype``; the imaginary part goes silently, where the engine warns."""
    if x.is_complex() and not dtype.is_complex and dtype is not torch.bool:
        x = _pairs(x)[..., 0]
    if dtype in STORED and x.dtype is not dtype:
        return _stored(x, dtype)
    return x.to(dtype, copy=copy)


# Larger values round to no number of the dtype. The engine gives the greatest one then, and not NaN.
_LARGEST = 464.0


def _stored(x: Tensor, dtype: torch.dtype) -> Tensor:
    if dtype is not torch.float8_e4m3fn:
        return x.to(dtype)
    x = x.float()
    return x.masked_fill(x.abs() > _LARGEST, math.nan).to(dtype)


def has_address(x: Tensor) -> bool:
    """Return whether a tensor has an address: not on the meta device, nor inside ``torch.func.vmap`` for example."""
    try:
        x.data_ptr()
    except RuntimeError:
        return False
    return not x.is_meta


def unwrapped(x: Tensor) -> Tensor:
    """Return the values of a tensor through which gradients are taken: inside ``torch.func.grad`` they are known."""
    while is_gradtrackingtensor(x):
        x = get_unwrapped(x)
    return x


def beneath(x: Tensor) -> Tensor:
    """Return the tensor inside the wrappers of transformations, which has all elements of a batch."""
    while is_functorch_wrapped_tensor(x):
        x = get_unwrapped(x)
    return x


def derivatives(x: Tensor) -> list[str]:
    """Return which derivatives are being taken through a tensor, ``"reverse"`` or ``"forward"`` each, inside out."""
    forward = forward_ad._current_level >= 0
    if not is_gradtrackingtensor(x) and not is_batchedtensor(x):
        reverse = x.requires_grad and torch.is_grad_enabled()
        return ["reverse"] * reverse + ["forward"] * (forward and forward_ad.unpack_dual(x).tangent is not None)
    innermost = peek_interpreter_stack()
    if innermost is not None and innermost.level() > maybe_get_level(x):
        # Inside of a transformation the tangents of those around it can't be seen.
        with temporarily_pop_interpreter_stack():
            return derivatives(x)
    within = derivatives(get_unwrapped(x))
    if is_batchedtensor(x):
        return within
    if x.requires_grad:
        return ["reverse", *within]
    return ["forward", *within] if forward and forward_ad.unpack_dual(x).tangent is not None else within


def in_order(result: Tensor, *arrays: Tensor) -> Tensor:
    """Return a result with its axes in memory as the engine's own loop over the arrays has them.

    So a kernel that takes another way for some values gives results of one layout.
    """
    if result.dim() < 2 or all(x.is_contiguous() and x.dim() == result.dim() for x in (result, *arrays)):
        return result
    steps = torch.add(arrays[0], arrays[-1]).stride()
    if result.stride() == steps:
        return result
    order = sorted(range(result.dim()), key=lambda axis: -steps[axis])
    back = sorted(range(result.dim()), key=order.__getitem__)
    return result.permute(order).contiguous().permute(back)


@functools.cache
def has_accelerator() -> bool:
    """Return whether there's another device than the CPU that has memory."""
    return torch.accelerator.device_count() > 0


def default_device() -> torch.device | None:
    """Return the device where torch makes tensors by default, ``None`` for the CPU."""
    if not count_modes():
        return None
    device: torch.device = torch.get_default_device()
    return None if device.type == "cpu" else device


def reducing(native: Kernel, x: Tensor, axis: tuple[int, ...], keepdims: bool) -> Kernel:
    """Return a reduction for arrays of the type of ``x``: over all axes torch is faster without naming them."""
    return native if len(axis) == x.dim() and not keepdims else Applied(native, axis, keepdims)


def _never(x: Tensor) -> bool:
    return False


def _unknown(x: Tensor) -> bool | None:
    return None


# Checks by the compiled core: whether no derivative can be taken, and whether a few elements are finite.
is_unwatched: Callable[[Tensor], bool] = _never if core is None else core.is_unwatched
are_few_finite: Callable[[Tensor], bool | None] = _unknown if core is None else core.is_finite


def is_plain(x: Tensor) -> bool:
    """Return whether no derivative is taken through a tensor: none that is known, and no transformation is running."""
    if is_unwatched(x):
        return True
    return not x.requires_grad and forward_ad._current_level < 0 and peek_interpreter_stack() is None


def is_finite(x: Tensor) -> bool:
    """Return whether all elements are surely finite: the sum of large ones may not be, and ``vmap`` hides it.

    On an accelerator it would take time to look at values.
    """
    told = are_few_finite(x)
    if told is not None:
        return told
    if not x.is_cpu:
        return False
    try:
        ndim = x.dim()
        if ndim <= 2 and x.numel() <= FEW:
            # Python looks at a few numbers sooner than the engine adds them up.
            values = x.tolist()
            return cmath.isfinite(values if ndim == 0 else sum(values) if ndim == 1 else sum(map(sum, values)))
        return cmath.isfinite(x.detach().sum().item())
    except RuntimeError:
        if has_address(x):
            raise
        return False


def are_finite(x: Tensor, y: Tensor) -> bool:
    """Return whether all elements of two arrays are surely finite, as ``is_finite`` does."""
    if x.is_cpu and y.is_cpu and x.dim() == 1 == y.dim() and x.numel() + y.numel() <= FEW:
        try:
            return cmath.isfinite(sum(x.tolist() + y.tolist()))
        except RuntimeError:
            # Inside ``vmap``, where the other one may be known.
            pass
    return is_finite(x) and is_finite(y)


def are_all_finite(x: Tensor, *, unknown: bool) -> bool:
    """Return whether all elements are finite; ``unknown`` inside ``vmap``, where elements of a batch may differ."""
    if is_finite(x) or not x.numel():
        return True
    # One kernel has the greatest absolute value, or NaN: that of a complex number may overflow where no part does.
    greatest = torch.linalg.vector_norm(_pairs(x.detach()) if x.is_complex() else x.detach(), math.inf)
    try:
        return math.isfinite(greatest)
    except RuntimeError:
        if has_address(greatest):
            raise
        return unknown


def is_transforming() -> bool:
    """Return whether any derivative but autograd's, or a batch, is being taken in this thread."""
    return forward_ad._current_level >= 0 or (
        peek_interpreter_stack is not None and peek_interpreter_stack() is not None
    )


def holds(condition: Tensor, *, unknown: bool) -> bool:
    """Return whether a 0-d condition holds; ``unknown`` inside ``vmap``, where elements of a batch may differ."""
    try:
        return bool(condition)
    except RuntimeError:
        if has_address(condition):
            raise
        return unknown


def is_expanded(x: Tensor) -> bool:
    """Return whether several elements share one place in memory."""
    if 0 not in x.stride() or not x.numel():
        return False
    return any(step == 0 and n > 1 for n, step in zip(x.shape, x.stride(), strict=True))


def check_writable(x: Tensor) -> None:
    """Raise where torch forbids writing to ``x``, before anything is written."""
    if x.requires_grad and torch.is_grad_enabled():
        base = base_of(x)
        if base.is_leaf and base.requires_grad:
            raise InplaceUpdateError(
                "torch forbids writing to a leaf tensor that requires gradients while it records them: "
                "write under torch.no_grad(), or update x.detach() or a copy, x.copy()"
            )
    if x.is_inference() and not torch.is_inference_mode_enabled():
        raise InplaceUpdateError(
            "torch forbids writing to an inference tensor outside torch.inference_mode(): update a copy, x.copy()"
        )
    if is_expanded(x):
        raise InplaceUpdateError(
            "several elements of this expanded tensor share one place in memory: update a copy, x.copy()"
        )


def writes(kernel: Kernel) -> Kernel:
    """Check the first array before ``kernel`` writes to it; what torch forbids is an ``InplaceUpdateError``."""

    @functools.wraps(kernel)
    def write(x: Tensor, *arrays: Tensor, **arguments: Any) -> Any:
        check_writable(x)
        try:
            return kernel(x, *arrays, **arguments)
        except NotImplementedError:
            raise
        except RuntimeError as error:
            raise InplaceUpdateError(f"torch refuses to write to this tensor: {error}; update a copy") from error

    return write
