"""SciPy's special functions on tensors, with a derivative by the last argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..kernels import by_host, scipy_values
from ._shared import HALF


def of_scipy(name: str, slope: Callable[..., Tensor], reason: str) -> Callable[..., Tensor]:
    """Return a kernel of arrays of one shape; ``slope`` is the derivative by the last of them, the others have none."""

    class Computed(torch.autograd.Function):
        @staticmethod
        def forward(*arrays: Tensor) -> Tensor:
            first = arrays[0]
            values = scipy_values(name, *(x.detach().cpu().numpy() for x in arrays))
            return torch.from_numpy(values).to(first.device)

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
            return Computed.apply(*first), 0  # type: ignore[no-untyped-call]

    @by_host(reason)
    def kernel(*arrays: Tensor) -> Tensor:
        dtype = arrays[0].dtype
        # NumPy has no bfloat16, and a derivative in half precision would overflow on the way.
        wide = (x.float() for x in arrays) if dtype in HALF else arrays
        return Computed.apply(*wide).to(dtype)  # type: ignore[no-untyped-call,no-any-return]

    return kernel
