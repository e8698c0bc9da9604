"""torch's private names, each beside the public way that serves without it; the backend uses no others."""

from __future__ import annotations

import ctypes
import os
from contextlib import nullcontext
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ...errors import BackendFeatureError
from ..private import private

# ``torch.func`` and ``torch.export`` ask users to register classes there; else containers aren't nodes.
register_pytree_node: Any = private("torch.utils._pytree.register_pytree_node")
MappingKey: Any = private("torch.utils._pytree.MappingKey")
if register_pytree_node is None or MappingKey is None:
    register_pytree_node = MappingKey = None


def _no(tensor: Any) -> bool:
    return False


# Nothing public gives the values of a tensor inside a transformation, nor says to which one it belongs.
get_unwrapped: Any = private("torch._C._functorch.get_unwrapped")
is_batchedtensor: Any = private("torch._C._functorch.is_batchedtensor")
is_functorch_wrapped_tensor: Any = private("torch._C._functorch.is_functorch_wrapped_tensor")
is_gradtrackingtensor: Any = private("torch._C._functorch.is_gradtrackingtensor")
maybe_get_level: Any = private("torch._C._functorch.maybe_get_level")
peek_interpreter_stack: Any = private("torch._C._functorch.peek_interpreter_stack")
temporarily_pop_interpreter_stack: Any = private("torch._functorch.pyfunctorch.temporarily_pop_interpreter_stack")
_ALL = (
    *(get_unwrapped, is_batchedtensor, is_functorch_wrapped_tensor, is_gradtrackingtensor),
    *(maybe_get_level, peek_interpreter_stack, temporarily_pop_interpreter_stack),
)
if None in _ALL:
    # Then no tensor counts as one of a transformation, and any call may be inside one.
    is_batchedtensor = is_functorch_wrapped_tensor = is_gradtrackingtensor = _no
    get_unwrapped = maybe_get_level = temporarily_pop_interpreter_stack = None
    # Its result isn't ``None``.
    peek_interpreter_stack = bool


def _one() -> int:
    return 1


# How many modes of functions are on: a default device is one. Without it the device is asked for each time.
count_modes: Any = private("torch._C._len_torch_function_stack") or _one
# How many modes are on that see each operation, as those without values do. Without it nothing is kept between calls.
count_dispatch_modes: Any = private("torch._C._len_torch_dispatch_stack") or _one

# The attribute of a subclass that doesn't override functions; without it, some such subclasses are refused.
disabled_torch_function: Any = private("torch._C._disabled_torch_function_impl")

# Writes several tensors in one call; without it each takes one.
foreach_copy_: Any = private("torch._foreach_copy_")

# Compute into several tensors in one call, which nothing interrupts; without them results are made before.
_SHORT = {"subtract": "sub", "multiply": "mul", "divide": "div", "negative": "neg"}
_SEVERAL = ("abs", "add", "cos", "divide", "exp", "log", "multiply", "negative", "sin", "sqrt", "subtract")
foreach_in_place: dict[str, Any] = {name: private(f"torch._foreach_{_SHORT.get(name, name)}_") for name in _SEVERAL}

# Compute new tensors of several in one call; without them each takes one.
foreach: dict[str, Any] = {name: private(f"torch._foreach_{_SHORT.get(name, name)}") for name in _SEVERAL}

# Attention on the CPU with the logarithms of its sums, and its derivative; without them both are composed.
flash_attention: Any = private("torch.ops.aten._scaled_dot_product_flash_attention_for_cpu")
flash_attention_backward: Any = private("torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward")


def _log_softmax_backward(g: Tensor, result: Tensor, axis: int, dtype: torch.dtype) -> Tensor:
    return g - result.exp() * g.sum(axis, keepdim=True)


def _softmax_backward(g: Tensor, result: Tensor, axis: int, dtype: torch.dtype) -> Tensor:
    weighed = g * result
    return weighed - result * weighed.sum(axis, keepdim=True)


# Derivatives that are one pass over memory; without them several give the same.
log_softmax_backward: Any = private("torch.ops.aten._log_softmax_backward_data") or _log_softmax_backward
softmax_backward: Any = private("torch.ops.aten._softmax_backward_data") or _softmax_backward
# Derivatives of normalisation with its means and scales; without them both are composed.
layer_norm_backward: Any = private("torch.ops.aten.native_layer_norm_backward")
group_norm_backward: Any = private("torch.ops.aten.native_group_norm_backward")
batch_norm_backward: Any = private("torch.ops.aten.native_batch_norm_backward")


# torch.compile takes what these make, and takes the functions of a module by itself.
FakeTensorMode: Any = private("torch._subclasses.FakeTensorMode")
make_fx: Any = private("torch.fx.experimental.proxy_tensor.make_fx")

# Reads the values of a constant while a program is exported; without it none is in a loop or branch.
disabled_modes: Any = private("torch.utils._python_dispatch._disable_current_modes") or nullcontext


def _einsum(subscripts: str, operands: tuple[Tensor, ...]) -> Tensor:
    return torch.einsum(subscripts, *operands)


# Without the Python function around it, which takes a third of the call on small arrays.
einsum: Any = private("torch._VF.einsum") or _einsum


def _refuse_inference(x: Tensor) -> None:
    if x.is_inference():
        raise RuntimeError("an inference tensor is written in inference mode alone")


# Gives the address where torch has a tensor or a storage; without it the compiled core asks for dtypes and shapes.
BODY = "torch.Tensor._cdata"
address_of: Any = None if private(BODY) is None else attrgetter("_cdata")

# The attribute that says how often a tensor was written.
VERSION = "_version" if private("torch.Tensor._version") is not None else None

# Raises for an inference tensor, of which there's no version, and takes less time than ``is_inference``.
refuse_inference: Any = _refuse_inference if VERSION is None else attrgetter(VERSION)

# Without it nothing that was known of a tensor is taken to hold later.
version_of: Any = (lambda _: object()) if VERSION is None else attrgetter(VERSION)

_has_base = private("torch.Tensor._base") is not None
_is_zero: Any = private("torch.Tensor._is_zerotensor")


def base_of(x: Tensor) -> Tensor:
    """Return the tensor whose view another one is, itself of one that is none or doesn't tell."""
    base = x._base if _has_base else None
    return x if base is None else base


def is_zero(x: Tensor) -> bool:
    """Return whether a tensor stands for zeros without memory, as gradients may; no where torch doesn't tell."""
    return _is_zero is not None and bool(_is_zero(x))


def standard_gamma(alpha: Tensor, generator: torch.Generator) -> Tensor:
    """Draw what ``torch.distributions.Gamma`` draws, which takes no generator itself."""
    draw = private("torch._standard_gamma")
    if draw is None:
        raise BackendFeatureError(
            f"torch {torch.__version__} draws no gamma numbers with a generator: use engine='host'"
        )
    drawn: Tensor = draw(alpha, generator=generator)
    return drawn


@cache
def inductor_compile() -> Any:
    """Return a compiler of graphs for tensors like the given ones, or ``None``; importing it takes a second."""
    return private("torch._inductor.compile")


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
