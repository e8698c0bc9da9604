"""Names of a traced function's inputs, and texts for variables and operations in drawings and tables."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from .basic import Constant, Op, Type, Variable

# The most elements of a constant that are shown.
SHOWN = 4


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return a function's parameters; empty if it has no signature."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        # Some functions that aren't written in Python have no signature.
        return []


def positional(function: Callable[..., Any]) -> list[str]:
    """Return the names of the parameters that take one argument by position."""
    single = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [each.name for each in parameters(function) if each.kind in single]


def leaf_parameters(function: Callable[..., Any], spec: Any) -> Iterator[tuple[str | int, Sequence[Any]]]:
    """Yield for each leaf of a call's arguments its parameter, and its path inside that argument.

    The parameter is a name, or a position if it has no name. ``spec`` is the structure of the pair (positional
    arguments, named arguments).
    """
    single = positional(function)
    for named, first, *path in spec.paths():
        yield (single[first] if not named and first < len(single) else first), path


def leaf_names(function: Callable[..., Any], spec: Any) -> list[str]:
    """Return a name for each leaf of a call's arguments: its parameter and the path inside it, ``p['w']``."""
    count = len(positional(function))
    rest = next((each.name for each in parameters(function) if each.kind is each.VAR_POSITIONAL), "args")
    names = []
    for parameter, path in leaf_parameters(function, spec):
        name = f"{rest}[{parameter - count}]" if isinstance(parameter, int) else parameter
        names.append(name + "".join(f"[{_entry(each)}]" for each in path))
    return names


def _entry(entry: Any) -> str:
    # A container that is a list or a tuple has its positions as names in the tree.
    return entry if isinstance(entry, str) and entry.isdigit() else repr(entry)


def title(op: Op) -> str:
    """Return an operation's name with its static arguments; a window is written as an index."""
    static: Mapping[str, Any] = getattr(op, "static", {})
    shown = {key: value for key, value in static.items() if key != "window"}
    window = f"[{', '.join(_slice(*each) for each in static['window'])}]" if "window" in static else ""
    arguments = f"({', '.join(f'{key}={value}' for key, value in shown.items())})" if shown else ""
    return f"{op}{window}{arguments}"


def _slice(start: int, step: int, length: int) -> str:
    if length is None:
        # All of an axis whose length isn't known.
        return ":"
    stop = start + step * length
    # A backward slice that includes the first element has no number for its end.
    return f"{start}:{stop if stop >= 0 else ''}{f':{step}' if step != 1 else ''}"


def describe(type: Type | None) -> str:
    """Return a type's dtype and shape as text."""
    if type is None:
        return ""
    lengths = ["?" if length is None else str(length) for length in type.shape]
    return f"{type.dtype} ({', '.join(lengths)}{',' if len(lengths) == 1 else ''})"


def name_of(variable: Variable) -> str:
    """Return the name of a variable without an owner; for a small constant its value."""
    if isinstance(variable, Constant) and variable.name is None:
        return _value(variable)
    return repr(variable)


def _value(constant: Constant) -> str:
    shape = getattr(constant.data, "shape", None)
    if shape is None:
        return repr(constant)
    data = constant.data
    if prod(shape) <= SHOWN:
        # The arrays of most engines have one of the two attributes.
        found = data if hasattr(data, "tolist") else data.numpy() if hasattr(data, "numpy") else np.asarray(data)
        return str(found.tolist())
    return "constant"


def bytes_of(variable: Variable) -> int | None:
    """Return the number of bytes of a value, ``None`` if that isn't known."""
    type = variable.type
    if type is None or any(length is None for length in type.shape):
        return None
    try:
        size = np.dtype(type.dtype).itemsize
    except TypeError:
        return None
    return int(prod(length for length in type.shape if length is not None) * size)
