"""Fourier transforms on torch; complex results have the precision of their input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch import fft as engine

from ...errors import AxisError, ShapeError
from ..kernels import Applied, bound_by, known_by, worked_around
from ._shared import Kernel


def _call(native: Kernel, x: Tensor, lengths: tuple[int, ...], axes: tuple[int, ...], *arguments: Any) -> Tensor:
    if min(lengths) < 1:
        raise ShapeError(f"a Fourier transform has 1 point or more along each axis, not {lengths}")
    if x.dtype not in _NATIVE:
        # As in NumPy: half precision computes in float32, integers do in float64.
        x = x.to(torch.float32 if x.is_floating_point() else torch.float64)
    if x.numel():
        result = native(x, *arguments)
        # ihfft conjugates lazily.
        return result.resolve_conj() if result.is_conj() else result
    # The engine refuses arrays without elements: it gets zeros, as which missing points count, and the result is cut.
    result = native(x.new_zeros([n or 1 for n in x.shape]), *arguments).resolve_conj()
    return result[tuple(slice(0 if n == 0 and i not in axes else None) for i, n in enumerate(x.shape))]


_NATIVE = frozenset({torch.float32, torch.float64, torch.complex64, torch.complex128})
_REASON = "other kinds of error, no kernel for half precision, none for arrays without elements"


# Transforms of as many points as there are.
_OF_EQUAL_LENGTH = frozenset({engine.fft, engine.ifft, engine.rfft})


def _transform(native: Kernel) -> Kernel:
    def transforming(*, n: int, axis: int, norm: Any) -> Callable[[Tensor], Tensor]:
        # To the engine ``None`` is "backward", which it takes sooner.
        scaled = None if norm == "backward" else norm

        def transform(x: Tensor, /) -> Tensor:
            if n < 1 or x.dtype not in _NATIVE or not x.numel():
                return kernel(x, n=n, axis=axis, norm=norm)
            result: Tensor = native(x, n, axis, scaled)
            return result.resolve_conj() if result.is_conj() else result

        return transform

    def know(x: Tensor, *, n: int, axis: int, norm: Any) -> Callable[[Tensor], Tensor] | None:
        if n < 1 or x.dtype not in _NATIVE or not x.numel() or native is engine.ihfft:
            return None
        # The engine finds the usual arguments sooner by itself.
        length = None if n == x.shape[axis] and native in _OF_EQUAL_LENGTH else n
        scaled = None if norm == "backward" else norm
        return native if length is scaled is None and axis == x.dim() - 1 else Applied(native, length, axis, scaled)

    @known_by(know)
    @bound_by(transforming)
    @worked_around(_REASON)
    def kernel(x: Tensor, /, *, n: int, axis: int, norm: Any) -> Tensor:
        return _call(native, x, (n,), (axis,), n, axis, norm)

    return kernel


def _transforms(native: Kernel, *, real: bool) -> Kernel:
    @worked_around(_REASON)
    def kernel(x: Tensor, /, *, s: tuple[int, ...], axes: tuple[int, ...], norm: Any) -> Tensor:
        if axes:
            return _call(native, x, s, axes, s, axes, norm)
        if real:
            raise AxisError("a real Fourier transform needs one axis or more")
        return x.clone()

    return kernel


fft, ifft, rfft, irfft, hfft, ihfft = map(
    _transform, (engine.fft, engine.ifft, engine.rfft, engine.irfft, engine.hfft, engine.ihfft)
)
fftn, ifftn = (_transforms(native, real=False) for native in (engine.fftn, engine.ifftn))
rfftn, irfftn = (_transforms(native, real=True) for native in (engine.rfftn, engine.irfftn))
