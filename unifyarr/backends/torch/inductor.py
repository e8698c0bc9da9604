"""torch's own compiler of graphs: functions of ours become graphs of torch's operations, which it fuses."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..base.lowering import GraphCompiler
from . import _private
from ._shared import DTYPES
from .host import LOOPS

Function = Callable[..., Any]

# Complex numbers it leaves to eager kernels, and of unsigned integers of more than a byte torch has few kernels.
_DTYPES = frozenset({"bool", "int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32", "float64"})


# Where launches cost most, and it compiles for all that there is.
_BY_DEFAULT = {"cuda", "xpu"}


def _is_default(device: torch.device) -> bool:
    return device.type in _BY_DEFAULT


class _Stage:
    """Tensors to trace functions with: without values, but with a device."""

    @functools.cached_property
    def mode(self) -> Any:
        """The mode of torch's in which tensors have no values."""
        # Constants have values.
        mode = _private.FakeTensorMode(allow_non_fake_inputs=True)
        # An address would be zero in place of an error, by which kernels know that there's none.
        mode._allow_unsafe_data_ptr_access = False
        return mode

    def stand_in(
        self, shape: Sequence[int], dtype: np.dtype[Any], strides: Sequence[int] | None, device: torch.device
    ) -> Tensor:
        with self.mode:
            if strides is None:
                return torch.empty(tuple(shape), dtype=DTYPES[dtype], device=device)
            steps = [step // dtype.itemsize for step in strides]
            return torch.empty_strided(tuple(shape), steps, dtype=DTYPES[dtype], device=device)

    def like(self, x: Tensor) -> Tensor:
        with self.mode:
            return torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device)


def _results(function: Function, stand_ins: Sequence[Tensor]) -> list[Tensor] | None:
    try:
        with torch.no_grad():
            found = function(*stand_ins)
    # The engine raises errors of many classes where values are asked for, and kernels those that explain them.
    except Exception:
        return None
    results = list(found) if isinstance(found, (tuple, list)) else [found]
    return results if all(isinstance(x, Tensor) for x in results) else None


def graph_of(function: Function, natives: Sequence[Tensor], host: Mapping[int, int]) -> torch.fx.GraphModule:
    """Return the graph of torch's operations that a function runs on tensors like these.

    It writes the results that ``host`` maps to arguments to these, and returns the others.
    """

    def run(*tensors: Tensor) -> list[Tensor]:
        found = function(*tensors)
        for key, place in host.items():
            tensors[place].copy_(found[key])
        return [x for key, x in enumerate(found) if key not in host]

    stage = _Stage()
    with torch.no_grad():
        module: torch.fx.GraphModule = _private.make_fx(run, _allow_non_fake_inputs=True)(*map(stage.like, natives))
    _tidy(module, next((x.device for x in natives if x.dim()), torch.device("cpu")))
    return module


def _tidy(module: torch.fx.GraphModule, device: torch.device) -> None:
    """Drop what nothing needs, and make numbers known to the compiler, which would read them from memory."""
    graph = module.graph
    for node in [each for each in graph.nodes if each.op == "get_attr"]:
        value = getattr(module, node.target)
        if isinstance(value, Tensor) and value.dim() == 0:
            with graph.inserting_before(node):
                known = graph.call_function(torch.ops.aten.full.default, ([], value.item()))
            known.kwargs = {"dtype": value.dtype, "device": device}
            node.replace_all_uses_with(known)
            graph.erase_node(node)
    graph.eliminate_dead_code()
    module.recompile()


def _compiled(function: Function, natives: Sequence[Tensor], host: Mapping[int, int]) -> Callable[..., list[Tensor]]:
    module = graph_of(function, natives, host)
    run: Callable[..., Any] = compile_graph(module, natives)
    return lambda *tensors: list(run(*tensors))


def compile_graph(module: torch.fx.GraphModule, natives: Sequence[Tensor]) -> Callable[..., Any]:
    """Return a function of tensors like these that runs a graph, compiled by inductor."""
    with torch.no_grad():
        compile = _private.inductor_compile()
        if compile is None:
            return torch.compile(module, dynamic=False, fullgraph=True)
        # Without the guards of ``torch.compile``, which take longer than a small graph runs: programs have their own.
        compiled: Callable[..., Any] = compile(module, list(natives))
        return compiled


def compilers() -> Mapping[str, GraphCompiler]:
    """Return torch's compilers by their names; none if this torch lacks the interface to pass them graphs."""
    if _private.make_fx is None or _private.FakeTensorMode is None:
        return {}
    stage = _Stage()
    return {
        "inductor": GraphCompiler(
            dtypes=_DTYPES,
            is_default=_is_default,
            layout=Tensor.stride,
            stand_in=stage.stand_in,
            results=_results,
            compiled=_compiled,
            is_plain=LOOPS.is_plain,
            note_write=LOOPS.note_write,
        )
    }
