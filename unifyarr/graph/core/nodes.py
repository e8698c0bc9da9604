"""Walking from variables to the nodes that compute them, and copying what is there."""

from __future__ import annotations

from collections.abc import Container, Iterable

from ...errors import CycleError
from .basic import Apply, Variable


def sorted_nodes(variables: Iterable[Variable], known: Container[Variable] = ()) -> list[Apply]:
    """Return the nodes that compute variables from known ones, each after the nodes that it needs."""
    found: dict[Apply, None] = {}
    entered: set[Apply] = set()
    # A stack, since recursion would limit the depth of a chain.
    stack = [variable.owner for variable in variables if variable not in known]
    while stack:
        node = stack[-1]
        if node is None or node in found:
            stack.pop()
        elif node in entered:
            found[node] = None
            stack.pop()
        else:
            entered.add(node)
            for variable in reversed(node.inputs):
                owner = variable.owner
                if owner is not None and owner not in found and variable not in known:
                    if owner in entered:
                        raise CycleError(f"{owner} needs its own result", variable=variable, nodes=(owner, node))
                    stack.append(owner)
    return list(found)


def copy_nodes(inputs: Iterable[Variable], outputs: Iterable[Variable]) -> dict[Variable, Variable]:
    """Return a map: each variable between inputs and outputs -> a copy of it."""
    copies = {variable: variable.copy() for variable in inputs}
    for node in sorted_nodes(outputs, copies):
        # A variable that should be an input isn't copied; the new graph reports that it's missing.
        new = node.copy(copies.get(variable, variable) for variable in node.inputs)
        for old, copy in zip(node.outputs, new.outputs, strict=True):
            copies.setdefault(old, copy)
    for variable in outputs:
        copies.setdefault(variable, variable)
    return copies
