"""What is known of batches of each kernel: a rule, that its body says it, or why there is none.

A rule takes one call for a whole batch: ``rule(call, *operands, **static)``, with natives of the batch, of which one is
no constant, and the static arguments of the call for one element. It returns values of the backend of the values, with
the batch as their first axis: one, or a tuple of several.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Rule = Callable[..., Any]

# What has a rule, by the kernel's name.
RULES: dict[str, Rule] = {}
# Kernels that batches do without: the body of the function computes the same by others.
COMPOSED: set[str] = set()
# Kernels that take no arrays, so that what they give is the same for all elements.
MADE: set[str] = set()
# Kernels whose results have a length that values decide, and what to do instead.
REFUSED: dict[str, str] = {}


def rule(names: str, function: Rule) -> None:
    """Give the rule of kernels."""
    for name in names.split():
        _check_new(name)
        RULES[name] = function


def composed(names: str) -> None:
    """Note kernels in whose place a batch goes through the body of the function."""
    for name in names.split():
        _check_new(name)
        COMPOSED.add(name)


def made(names: str) -> None:
    """Note kernels that take no arrays."""
    for name in names.split():
        _check_new(name)
        MADE.add(name)


def refused(names: str, instead: str) -> None:
    """Note kernels that have no results of one shape, with what to do instead."""
    for name in names.split():
        _check_new(name)
        REFUSED[name] = instead


def _check_new(name: str) -> None:
    if name in RULES or name in COMPOSED or name in MADE or name in REFUSED:
        raise AssertionError(f"the batch of {name} is declared twice")
