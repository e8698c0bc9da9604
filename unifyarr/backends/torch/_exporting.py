"""Functions as programs of ``torch.export`` and of ONNX, by torch's own exporters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from traceback import walk_tb
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.fx.traceback import annotate, preserve_node_meta

from ...errors import BackendFeatureError
from ._private import disabled_modes
from ._shared import DTYPES

Function = Callable[..., Any]
# How many elements of a constant are written out.
MOST = 64
# The key of the program's line in the metadata of torch's nodes.
LINE = "unifyarr line"


class _Program(torch.nn.Module):  # type: ignore[misc]
    """A function of tensors, whose arguments have names."""

    def __init__(self, function: Callable[..., Sequence[Tensor]], names: Sequence[str]) -> None:
        super().__init__()

        def forward(*tensors: Tensor) -> tuple[Tensor, ...]:
            # No result is an argument, or another result.
            return tuple([x.clone() for x in function(*tensors)])

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        signature = inspect.Signature([inspect.Parameter(each, kind) for each in names])
        vars(forward)["__signature__"] = signature
        self.forward = forward


def exported(to: str, function: Callable[..., Sequence[Tensor]], types: Sequence[Any], names: Sequence[str]) -> Any:
    """Return a program of ``torch.export``, or of ONNX, for tensors of types whose first length may be ``None``."""
    if to == "onnx":
        try:
            import onnxscript  # noqa: F401
        except ImportError as error:
            raise BackendFeatureError("torch writes ONNX by onnxscript: pip install unifyarr[onnx]") from error
    identifiers = _identifiers(names)
    dynamic = [each.shape[:1] == (None,) for each in types]
    length = torch.export.Dim("length", min=1) if any(dynamic) else None
    # With an unusual length, since torch would take 0 and 1 for constants.
    given = tuple(
        torch.zeros((7, *each.shape[1:]) if is_any else each.shape, dtype=DTYPES[each.dtype])
        for each, is_any in zip(types, dynamic, strict=True)
    )
    shapes = {name: {0: length} if is_any else None for name, is_any in zip(identifiers, dynamic, strict=True)}
    with torch.no_grad(), preserve_node_meta(), _explained(to):
        program = torch.export.export(
            _Program(function, identifiers),
            given,
            dynamic_shapes=shapes if length is not None else None,
            strict=False,
            # Conditions that hold for some lengths alone are checked when the program runs.
            prefer_deferred_runtime_asserts_over_guards=length is not None,
        )
        if to == "torch":
            return program
        return torch.onnx.export(program, dynamo=True, verbose=False)


@contextmanager
def _explained(to: str) -> Iterator[None]:
    """Raise what torch's exporters refuse as an error of ours, with their first words."""
    try:
        yield
    except BackendFeatureError:
        raise
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        told = [line for line in lines if "Error" in line or "not " in line] or lines
        raise BackendFeatureError(f"torch refuses to export to {to!r}{_place(error)}: {' '.join(told[:2])}") from error


def exporting_line(line: str) -> AbstractContextManager[object]:
    """Note the program's line in the nodes that torch makes meanwhile."""
    # Dynamo, which reads the functions of loops and branches, knows no such notes.
    return nullcontext() if torch.compiler.is_dynamo_compiling() else annotate({LINE: line})


def _place(error: BaseException | None) -> str:
    """Return the line of the node that a converter was at, for a message; empty if none is known."""
    while error is not None:
        for frame, _ in walk_tb(error.__traceback__):
            for each in frame.f_locals.values():
                if isinstance(each, torch.fx.Node) and (line := each.meta.get("custom", {}).get(LINE)):
                    return f", at {line}"
        error = error.__cause__
    return ""


def _identifiers(names: Sequence[str]) -> list[str]:
    """Return names of arguments that Python takes, no two of which are the same."""
    found: list[str] = []
    for place, name in enumerate(names):
        plain = re.sub(r"\W+", "_", name).strip("_")
        found.append(plain if plain.isidentifier() and plain not in found else f"argument_{place}")
    return found


def as_constant(native: Tensor) -> Tensor:
    """Return a constant of a loop or branch: computed where that is exported, whose functions have no tensors."""
    if not torch.compiler.is_exporting():
        return native
    if native.numel() > MOST:
        raise BackendFeatureError(
            f"a loop or branch has a constant of {native.numel()} elements, of which torch exports {MOST} at most: "
            "make the array outside of its function"
        )
    with disabled_modes():
        values = native.flatten().tolist()
    numbers = [torch.full((), value, dtype=native.dtype) for value in values]
    return numbers[0] if native.dim() == 0 else torch.stack(numbers).reshape(native.shape)


def while_loop(
    condition: Callable[..., Tensor],
    body: Callable[..., list[Tensor]],
    state: Sequence[Tensor],
    constants: Sequence[Tensor],
) -> list[Tensor] | None:
    """Return the carry once the condition is false, as one operator of a program that is exported."""
    if not torch.compiler.is_exporting():
        return None

    def step(*carried: Tensor) -> tuple[Tensor, ...]:
        return tuple([x.clone() for x in body(*carried)])

    # ``torch.while_loop`` has dynamo read the functions.
    return list(torch.ops.higher_order.while_loop(condition, step, tuple(state), tuple(constants)))


def switch(
    index: Tensor, branches: Sequence[Callable[..., list[Tensor]]], operands: Sequence[Tensor]
) -> list[Tensor] | None:
    """Call one of several functions on the operands, as operators of a program that is exported."""
    if not torch.compiler.is_exporting():
        return None

    def chosen(number: int) -> Callable[..., tuple[Tensor, ...]]:
        def branch(index: Tensor, *operands: Tensor) -> tuple[Tensor, ...]:
            return tuple([x.clone() for x in branches[number](*operands)])

        def either(index: Tensor, *operands: Tensor) -> tuple[Tensor, ...]:
            cond = torch.ops.higher_order.cond
            return tuple(cond(index == number, branch, chosen(number + 1), (index, *operands)))

        return branch if number == len(branches) - 1 else either

    return list(chosen(0)(index, *operands))


def from_length(length: Any, dtype: np.dtype[Any]) -> Tensor:
    """Return a 0-d tensor of a length."""
    return torch.full((), length, dtype=DTYPES[dtype])
