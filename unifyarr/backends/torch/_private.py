"""What torch has no public name for, each with what happens without it. The backend uses nothing else of the kind."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ...errors import BackendFeatureError

try:
    # ``torch.func`` and ``torch.export`` ask users to register classes there. Without it, ours aren't nodes.
    from torch.utils._pytree import MappingKey, register_pytree_node
except ImportError:
    MappingKey = register_pytree_node = None

try:
    # Nothing public gives the values of a tensor inside a transformation, nor says to which one it belongs.
    from torch._C._functorch import (
        get_unwrapped,
        is_batchedtensor,
        is_functorch_wrapped_tensor,
        is_gradtrackingtensor,
        maybe_get_level,
        peek_interpreter_stack,
    )
    from torch._functorch.pyfunctorch import temporarily_pop_interpreter_stack
except ImportError:

    def is_functorch_wrapped_tensor(tensor: Any) -> bool:
        """Return the safe answer."""
        return False

    def is_gradtrackingtensor(tensor: Any) -> bool:
        """Return the safe answer."""
        return False

    is_batchedtensor = is_gradtrackingtensor
    # Of what is in no transformation nothing else is asked.
    nothing: Any = None
    # The safe answer, which isn't None: a transformation may be running.
    unseen: Any = bool
    peek_interpreter_stack = unseen
    get_unwrapped = maybe_get_level = temporarily_pop_interpreter_stack = nothing

# What a subclass has that says nothing itself of what functions do; without it, some such subclasses are refused.
disabled_torch_function = getattr(torch._C, "_disabled_torch_function_impl", None)

# Writes several tensors in one call; without it each takes one.
foreach_copy_ = getattr(torch, "_foreach_copy_", None)

# Compute into several tensors in one call, which nothing interrupts; without them results are made before.
foreach_in_place = {
    name: getattr(torch, f"_foreach_{short}_", None)
    for name, short in {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div"}.items()
}

# Attention on the CPU with the logarithms of its sums, and its derivative; without them both are composed.
flash_attention: Any = getattr(torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu", None)
flash_attention_backward: Any = getattr(torch.ops.aten, "_scaled_dot_product_flash_attention_for_cpu_backward", None)


def _log_softmax_backward(g: Tensor, result: Tensor, axis: int, dtype: torch.dtype) -> Tensor:
    return g - result.exp() * g.sum(axis, keepdim=True)


def _softmax_backward(g: Tensor, result: Tensor, axis: int, dtype: torch.dtype) -> Tensor:
    weighed = g * result
    return weighed - result * weighed.sum(axis, keepdim=True)


# Derivatives that are one pass over memory; without them several give the same.
log_softmax_backward: Any = getattr(torch.ops.aten, "_log_softmax_backward_data", _log_softmax_backward)
softmax_backward: Any = getattr(torch.ops.aten, "_softmax_backward_data", _softmax_backward)
# Normalisation with its means and scales, and its derivative; without them both are composed.
layer_norm: Any = getattr(torch.ops.aten, "native_layer_norm", None)
layer_norm_backward: Any = getattr(torch.ops.aten, "native_layer_norm_backward", None)


def _einsum(subscripts: str, operands: tuple[Tensor, ...]) -> Tensor:
    return torch.einsum(subscripts, *operands)


# Without the Python function around it, which takes a third of the call on small arrays.
einsum = getattr(getattr(torch, "_VF", None), "einsum", _einsum)


def _refuse_inference(x: Tensor) -> None:
    if x.is_inference():
        raise RuntimeError("an inference tensor is written in inference mode alone")


# Raises for an inference tensor, of which there's no version, and takes less time than ``is_inference``.
refuse_inference = attrgetter("_version") if hasattr(Tensor, "_version") else _refuse_inference


def base_of(x: Tensor) -> Tensor:
    """Return the tensor whose view another one is, itself of one that is none or doesn't tell."""
    base = getattr(x, "_base", None)
    return x if base is None else base


def is_zero(x: Tensor) -> bool:
    """Return whether a tensor stands for zeros without memory, as gradients may; no where torch doesn't tell."""
    return bool(getattr(x, "_is_zerotensor", bool)())


def standard_gamma(alpha: Tensor, generator: torch.Generator) -> Tensor:
    """Draw what ``torch.distributions.Gamma`` draws, which takes no generator itself."""
    draw = getattr(torch, "_standard_gamma", None)
    if draw is None:
        raise BackendFeatureError(
            f"torch {torch.__version__} draws no gamma numbers with a generator: use engine='host'"
        )
    drawn: Tensor = draw(alpha, generator=generator)
    return drawn


@cache
def library_of_kernels() -> ctypes.CDLL | None:
    """Return the library that has torch's kernels, and MKL if these use it: the one that's loaded, and no other."""
    file, loaded = getattr(torch, "__file__", None), getattr(os, "RTLD_NOLOAD", None)
    if file is None or loaded is None:
        return None
    try:
        return ctypes.CDLL(str(Path(file).parent / "lib" / "libtorch_cpu.so"), mode=loaded | os.RTLD_NOW)
    except OSError:
        return None


__all__ = [
    "MappingKey",
    "base_of",
    "disabled_torch_function",
    "einsum",
    "flash_attention",
    "flash_attention_backward",
    "foreach_copy_",
    "foreach_in_place",
    "get_unwrapped",
    "is_batchedtensor",
    "is_functorch_wrapped_tensor",
    "is_gradtrackingtensor",
    "is_zero",
    "layer_norm",
    "layer_norm_backward",
    "library_of_kernels",
    "log_softmax_backward",
    "maybe_get_level",
    "peek_interpreter_stack",
    "refuse_inference",
    "register_pytree_node",
    "softmax_backward",
    "standard_gamma",
    "temporarily_pop_interpreter_stack",
]
