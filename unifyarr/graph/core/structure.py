"""Comparing graphs by their structure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from .basic import Constant, Variable
from .nodes import sorted_nodes


def structure(inputs: Sequence[Variable], outputs: Sequence[Variable], updates: Mapping[int, int]) -> Hashable:
    """Return what two graphs have equal that compute the same by the same operations in the same way.

    These are the types of the inputs, the operations and what they're applied to, the outputs, and which inputs the
    outputs are for; not the names of variables, and not the features.
    """
    numbers: dict[Variable, Hashable] = {}
    for variable in inputs:
        numbers[variable] = len(numbers)

    def number(variable: Variable) -> Hashable:
        if variable not in numbers:
            assert isinstance(variable, Constant)
            numbers[variable] = (_value(variable), _type(variable))
        return numbers[variable]

    nodes = []
    for place, node in enumerate(sorted_nodes(outputs, numbers)):
        nodes.append((node.op, node.op.declared, tuple(map(number, node.inputs)), tuple(map(_type, node.outputs))))
        numbers.update((output, (place, output.index)) for output in node.outputs)
    return tuple(map(_type, inputs)), tuple(nodes), tuple(map(number, outputs)), frozenset(updates.items())


def _type(variable: Variable) -> Hashable:
    found = variable.type
    return None if found is None else (tuple(found.shape), str(found.dtype), variable.indestructible)


def _value(constant: Constant) -> Hashable:
    data, key = constant.data, constant.signature()
    if key != id(data):
        return key
    if hasattr(data, "__dask_tokenize__"):
        # Values that aren't computed have a name, which they decide.
        return (type(data), data.__dask_tokenize__())
    # The arrays of most engines have one of the two methods.
    values = data if hasattr(data, "tolist") else data.numpy() if hasattr(data, "numpy") else None
    return key if values is None else (str(data.dtype), tuple(data.shape), repr(values.tolist()))
