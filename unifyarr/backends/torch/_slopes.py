"""Elementwise functions with a derivative of our own, by the last of their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..kernels import by_host, scipy_values
from ._shared import HALF

Function = Callable[..., Tensor]


def with_slope(function: Function, slope: Function) -> Function:
    """Return a function of tensors of one shape; ``slope`` is the derivative by the last one, the others have none.

    It may leave the engine: neither gradients nor transformations look into it.
    """

    class WithSlope(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(*arrays: Tensor) -> Tensor:
            return function(*arrays)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
            arrays = ctx.saved_tensors
            return *((None,) * (len(arrays) - 1)), upstream * slope(*arrays)

        @staticmethod
        def jvp(ctx: Any, *tangents: Tensor) -> Tensor:
            return tangents[-1] * slope(*ctx.saved_tensors)

        @staticmethod
        def vmap(info: Any, in_dims: tuple[int | None, ...], *arrays: Tensor) -> tuple[Tensor, int]:
            first = [
                x.expand(info.batch_size, *x.shape) if dim is None else x.movedim(dim, 0)
                for x, dim in zip(arrays, in_dims, strict=True)
            ]
            return WithSlope.apply(*first), 0

    def computed(*arrays: Tensor) -> Tensor:
        return WithSlope.apply(*arrays)

    return computed


def of_scipy(name: str, slope: Function, reason: str, narrow: Function | None = None) -> Function:
    """Return a kernel that computes with SciPy.

    ``narrow``, of tensors of float64, has the digits of float32: it computes narrower numbers on accelerators.
    """

    def on_host(*arrays: Tensor) -> Tensor:
        first = arrays[0]
        if narrow is not None and first.dtype is torch.float32 and first.device.type not in ("cpu", "mps"):
            return narrow(*(x.detach().double() for x in arrays)).to(first.dtype)
        values = scipy_values(name, *(x.detach().cpu().numpy() for x in arrays))
        return torch.from_numpy(values).to(arrays[0].device)

    computed = with_slope(on_host, slope)

    @by_host(reason)
    def kernel(*arrays: Tensor) -> Tensor:
        dtype = arrays[0].dtype
        # NumPy has no bfloat16, and a derivative in half precision would overflow on the way.
        wide = (x.float() for x in arrays) if dtype in HALF else arrays
        return computed(*wide).to(dtype)

    return kernel
