"""The rules of batches: one for each kind of kernels, and one for each kernel whose record asks for its own.

A rule takes one call for a whole batch: ``rule(call, *operands, **static)``, with natives of the batch, of which one is
no constant, and the static arguments of the call for one element. It returns values of the backend of the values, with
the batch as their first axis: one, or a tuple of several.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._core.kernels.record import Batch, Kernel, Kind, kernel_named

Rule = Callable[..., Any]

# Those of kinds, by name, and those of single kernels.
OF_KINDS: dict[str, Rule] = {}
OWN: dict[str, Rule] = {}


def kind_rule(kind: Kind, function: Rule) -> None:
    """Give the rule of a kind."""
    OF_KINDS[kind.name] = function


def rule(names: str, function: Rule) -> None:
    """Give the rule of kernels whose records ask for their own."""
    for name in names.split():
        if name in OWN or kernel_named(name).batch is not Batch.OWN:
            raise AssertionError(f"the batch of {name} is declared twice")
        OWN[name] = function


def rule_of(record: Kernel) -> Rule | None:
    """Return the rule of a kernel; ``None`` if batches don't pass it, or nothing says how."""
    if record.batch is Batch.KIND:
        return OF_KINDS.get(record.kind.name)
    return OWN.get(record.name) if record.batch is Batch.OWN else None
