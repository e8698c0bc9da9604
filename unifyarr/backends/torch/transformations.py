"""The transformations of torch, on functions of native arrays.

Each takes a function of arrays that returns two lists: the results, which are transformed, and auxiliary outputs.
Gradients of complex arrays are conjugated where torch's convention differs from JAX's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from ...errors import EngineError, UnifyarrError
from ._private import is_zero

Function = Callable[..., Any]


def _conjugates(arrays: Sequence[Tensor]) -> list[Tensor]:
    return [x.conj().resolve_conj() if x.is_complex() else x for x in arrays]


def _filled(arrays: Sequence[Tensor]) -> list[Tensor]:
    # Where there's nothing but zeros, torch may give a tensor without memory.
    return [torch.zeros_like(x) if is_zero(x) else x for x in arrays]


def vjp(function: Function, arrays: Sequence[Tensor], once: bool) -> tuple[list[Tensor], list[Tensor], Function]:
    """Return results, auxiliary outputs, and a function from cotangents of the results to gradients."""
    results, pullback, others = torch.func.vjp(function, *arrays, has_aux=True)

    def gradients(cotangents: Sequence[Tensor]) -> list[Tensor]:
        try:
            return _conjugates(_filled(pullback(_conjugates(cotangents))))
        except UnifyarrError:
            raise
        except RuntimeError as error:
            # As for tensors without values, on the meta device.
            raise EngineError(f"torch can't take this derivative: {error}") from error

    return results, others, gradients


@cache
def _load_rules() -> None:
    # torch warns of itself where it loads what forward mode needs.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.func.jvp(torch.neg, (torch.ones(()),), (torch.ones(()),))


def jvp(
    function: Function, arrays: Sequence[Tensor], tangents: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Return results, their tangents, and auxiliary outputs."""
    _load_rules()
    try:
        results, along, others = torch.func.jvp(function, tuple(arrays), tuple(tangents), has_aux=True)
    except NotImplementedError as error:
        if "jvp" not in str(error):
            raise
        return _by_transposing(function, arrays, tangents)
    return results, _filled(along), others


def _by_transposing(
    function: Function, arrays: Sequence[Tensor], tangents: Sequence[Tensor]
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Compute ``jvp`` of a function with a declared pullback, which torch accepts in reverse mode only."""
    results, pullback, others = torch.func.vjp(function, *arrays, has_aux=True)
    _, transposed = torch.func.vjp(lambda *cotangents: pullback(list(cotangents)), *map(torch.zeros_like, results))
    return results, _filled(transposed(tuple(tangents))), others


def vmap(function: Function, arrays: Sequence[Tensor]) -> list[Tensor]:
    """Return the results of a function, which returns one list, for each element of the first axes."""
    return list(torch.func.vmap(function)(*arrays))


def with_pullback(function: Function, pullback: Function) -> Function:
    """Return a function of tensors, which returns several, with a derivative of its own."""

    class WithPullback(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(*arrays: Tensor) -> tuple[Tensor, ...]:
            return tuple(function(*arrays))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: tuple[Tensor, ...]) -> None:
            ctx.save_for_backward(*inputs, *output)
            ctx.count = len(inputs)
            ctx.mark_non_differentiable(*(x for x in output if not _is_inexact(x)))

        @staticmethod
        def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
            inputs, outputs = ctx.saved_tensors[: ctx.count], ctx.saved_tensors[ctx.count :]
            found = pullback(inputs, outputs, _conjugates(upstream))
            return tuple(
                None if x is None or not _is_inexact(given) else _conjugates([x])[0]
                for x, given in zip(found, inputs, strict=True)
            )

        @staticmethod
        def vmap(
            info: Any, in_dims: tuple[int | None, ...], *arrays: Tensor
        ) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
            # The function is opaque, so it's called for each element of the batch.
            pairs = zip(arrays, in_dims, strict=True)
            given = [[x] * info.batch_size if dim is None else x.unbind(dim) for x, dim in pairs]
            rows = [WithPullback.apply(*row) for row in zip(*given, strict=True)]
            stacked = tuple(torch.stack(column) for column in zip(*rows, strict=True))
            return stacked, (0,) * len(stacked)

    def computed(*arrays: Tensor) -> Sequence[Tensor]:
        found: Sequence[Tensor] = WithPullback.apply(*arrays)
        return found

    return computed


def _is_inexact(x: Tensor) -> bool:
    return x.is_floating_point() or x.is_complex()
