"""Fourier transforms: each is the transpose of another one, or of itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..rule import rule
from .structure import part

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.rule_kernels import Kernels
    from ...typing import Shape

# By what the transpose in the other direction is divided, if this one is divided so.
_OTHER = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _resized(k: Kernels, x: Native, axis: int, length: int) -> Native:
    """Return an array with a length along an axis, cut at its end or filled with zeros."""
    shape = k.shape(x)
    if shape[axis] >= length:
        return x if shape[axis] == length else part(k, x, axis, 0, length)
    rest = k.full(0, x, (*shape[:axis], length - shape[axis], *shape[axis + 1 :]))
    return k.concat(x, rest, axis=axis)


def _along(k: Kernels, g: Native, x: Native, axes: Sequence[int]) -> Native:
    for axis in axes:
        g = _resized(k, g, axis, k.shape(x)[axis])
    return g


def _mirrored(k: Kernels, g: Native, axis: int, count: int, norm: str) -> Native:
    """Return the cotangent of the half of a spectrum of which real numbers were made."""
    found = k.rfft(g, n=count, axis=axis, norm=norm)
    # All but the first, and the one in the middle, count for the other half too.
    times = np.full(count // 2 + 1, 2.0)
    times[0] = 1
    if count % 2 == 0:
        times[-1] = 1
    weights = times.reshape(-1, *[1] * (k.ndim(g) - axis - 1)).astype(k.dtype(g))
    return k.multiply(found, k.array(weights, g))


def _one(name: str) -> None:
    def transpose(k: Kernels, g: Native, out: Native, x: Native, *, n: int, axis: int, norm: str) -> Native:
        return _along(k, getattr(k, name)(g, n=n, axis=axis, norm=norm), x, [axis])

    rule(name, transpose, uses=())


def _several(name: str) -> None:
    def transpose(k: Kernels, g: Native, out: Native, x: Native, *, s: Shape, axes: Shape, norm: str) -> Native:
        return _along(k, getattr(k, name)(g, s=s, axes=axes, norm=norm), x, axes)

    rule(name, transpose, uses=())


def _rfft(k: Kernels, g: Native, out: Native, x: Native, *, n: int, axis: int, norm: str) -> Native:
    return _along(k, k.fft(_resized(k, g, axis, n), n=n, axis=axis, norm=norm), x, [axis])


def _rfftn(k: Kernels, g: Native, out: Native, x: Native, *, s: Shape, axes: Shape, norm: str) -> Native:
    return _along(k, k.fftn(_resized(k, g, axes[-1], s[-1]), s=s, axes=axes, norm=norm), x, axes)


def _irfft(k: Kernels, g: Native, out: Native, x: Native, *, n: int, axis: int, norm: str) -> Native:
    return _along(k, k.conj(_mirrored(k, g, axis, n, _OTHER[norm])), x, [axis])


def _irfftn(k: Kernels, g: Native, out: Native, x: Native, *, s: Shape, axes: Shape, norm: str) -> Native:
    found = k.conj(_mirrored(k, g, axes[-1], s[-1], _OTHER[norm]))
    if len(axes) > 1:
        found = k.ifftn(found, s=s[:-1], axes=axes[:-1], norm=norm)
    return _along(k, found, x, axes)


def _hfft(k: Kernels, g: Native, out: Native, x: Native, *, n: int, axis: int, norm: str) -> Native:
    return _along(k, _mirrored(k, g, axis, n, norm), x, [axis])


def _ihfft(k: Kernels, g: Native, out: Native, x: Native, *, n: int, axis: int, norm: str) -> Native:
    return _rfft(k, k.conj(g), out, x, n=n, axis=axis, norm=_OTHER[norm])


for _name in ("fft", "ifft"):
    _one(_name)
for _name in ("fftn", "ifftn"):
    _several(_name)
rule("rfft", _rfft, uses=())
rule("rfftn", _rfftn, uses=())
rule("irfft", _irfft, uses=())
rule("irfftn", _irfftn, uses=())
rule("hfft", _hfft, uses=())
rule("ihfft", _ihfft, uses=())
