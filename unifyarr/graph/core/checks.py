"""Checks of arguments, made before a graph is changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .basic import Apply, Variable, same_type

if TYPE_CHECKING:
    from .fgraph import FunctionGraph


def check_graph(fgraph: object) -> None:
    """Raise unless the argument is a graph."""
    from .fgraph import FunctionGraph

    if not isinstance(fgraph, FunctionGraph):
        raise TypeError(f"rewrites and plans take a FunctionGraph, not {type(fgraph).__name__}")


def check_limits(**limits: object) -> None:
    """Raise unless all limits are integers from 0 on, or ``None``."""
    for name, limit in limits.items():
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
            raise ValueError(f"{name} is an integer from 0 on, or None for no limit, not {limit!r}")


def check_variables(what: str, variables: Iterable[object]) -> None:
    """Raise unless all are variables."""
    for variable in variables:
        if not isinstance(variable, Variable):
            kind = type(variable).__name__
            raise TypeError(f"{what} are variables, not {kind}: wrap a value, Constant(value)")


def check_known(fgraph: FunctionGraph, what: str, variables: Iterable[Variable]) -> None:
    """Raise unless all variables belong to the graph."""
    variables = list(variables)
    check_variables(what, variables)
    for variable in variables:
        if variable not in fgraph.clients:
            raise ValueError(
                f"{what} are variables of the graph, but {variable} isn't: a graph has copies of its variables "
                "(its inputs are fgraph.inputs), unless it's made with clone=False"
            )


def check_type(old: Variable, new: Variable) -> None:
    """Raise if one variable can't replace the other because of its type."""
    if not same_type(old.type, new.type):
        raise TypeError(f"{new} of type {new.type} can't replace {old} of type {old.type}: cast or reshape it")


def check_results(what: str, node: Apply, results: object) -> Sequence[Any]:
    """Return the list that a function gave for the outputs of a node; raise if its length is wrong."""
    if not isinstance(results, Sequence) or len(results) != len(node.outputs):
        came = f"{len(results)}" if isinstance(results, Sequence) else type(results).__name__
        raise TypeError(f"{what} returns a list of {len(node.outputs)}, one for each output of {node}, not {came}")
    return results
