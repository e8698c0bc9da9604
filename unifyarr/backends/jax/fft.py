"""Fourier transforms on JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..kernels import worked_around
from ._compiled import Kernel, compiled

INVERSE_NORM = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _one_axis(transform: Kernel) -> Kernel:
    def kernel(x: jax.Array, /, *, n: int, axis: int, norm: Any) -> jax.Array:
        return transform(x, n, axis, norm)

    kernel.__name__ = kernel.__qualname__ = transform.__name__
    return compiled(kernel)


def _all_axes(transform: Kernel) -> Kernel:
    def kernel(x: jax.Array, /, *, s: tuple[int, ...], axes: tuple[int, ...], norm: Any) -> jax.Array:
        return transform(x, s, axes, norm)

    kernel.__name__ = kernel.__qualname__ = transform.__name__
    return compiled(kernel)


fft = _one_axis(jnp.fft.fft)
ifft = _one_axis(jnp.fft.ifft)
rfft = _one_axis(jnp.fft.rfft)
irfft = _one_axis(jnp.fft.irfft)
hfft = _one_axis(jnp.fft.hfft)


@worked_around("JAX scales by a complex number, which changes signs of zero")
@compiled
def ihfft(x: jax.Array, /, *, n: int, axis: int, norm: Any) -> jax.Array:
    return jnp.conj(jnp.fft.rfft(x, n, axis, INVERSE_NORM[norm]))


fftn = _all_axes(jnp.fft.fftn)
ifftn = _all_axes(jnp.fft.ifftn)
rfftn = _all_axes(jnp.fft.rfftn)
irfftn = _all_axes(jnp.fft.irfftn)
