"""What the inputs of a traced function are called, and how variables and operations read in a picture or a table."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from .basic import Constant, Op, Type, Variable

# How many elements of a constant are shown.
SHOWN = 4


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a function, none of one that doesn't tell."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        # So it is with some that aren't written in Python.
        return []


def positional(function: Callable[..., Any]) -> list[str]:
    """Return the names of the parameters that may be passed by position, each for one argument."""
    single = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [each.name for each in parameters(function) if each.kind in single]


def leaf_parameters(function: Callable[..., Any], spec: Any) -> Iterator[tuple[str | int, Sequence[Any]]]:
    """Yield for each leaf of a call's arguments the parameter that it came in by, and its path from there.

    The parameter is a name, or a position for which there's none. ``spec`` is the structure of the pair of positional
    and named arguments.
    """
    single = positional(function)
    for named, first, *path in spec.paths():
        yield (single[first] if not named and first < len(single) else first), path


def leaf_names(function: Callable[..., Any], spec: Any) -> list[str]:
    """Return what each leaf of a call's arguments is called: its parameter and its path from there, ``p['w']``."""
    count = len(positional(function))
    rest = next((each.name for each in parameters(function) if each.kind is each.VAR_POSITIONAL), "args")
    names = []
    for parameter, path in leaf_parameters(function, spec):
        name = f"{rest}[{parameter - count}]" if isinstance(parameter, int) else parameter
        names.append(name + "".join(f"[{_entry(each)}]" for each in path))
    return names


def _entry(entry: Any) -> str:
    # The places of a container's sequence are names in its tree.
    return entry if isinstance(entry, str) and entry.isdigit() else repr(entry)


def title(op: Op) -> str:
    """Return an operation's name with its static arguments; a window reads like an index."""
    static: Mapping[str, Any] = getattr(op, "static", {})
    shown = {key: value for key, value in static.items() if key != "window"}
    window = f"[{', '.join(_slice(*each) for each in static['window'])}]" if "window" in static else ""
    arguments = f"({', '.join(f'{key}={value}' for key, value in shown.items())})" if shown else ""
    return f"{op}{window}{arguments}"


def _slice(start: int, step: int, length: int) -> str:
    stop = start + step * length
    # From the back a slice ends before the first element, which no number says.
    return f"{start}:{stop if stop >= 0 else ''}{f':{step}' if step != 1 else ''}"


def describe(type: Type | None) -> str:
    """Return a type's dtype and shape."""
    if type is None:
        return ""
    lengths = ["?" if length is None else str(length) for length in type.shape]
    return f"{type.dtype} ({', '.join(lengths)}{',' if len(lengths) == 1 else ''})"


def name_of(variable: Variable) -> str:
    """Return what a variable without an owner is called: a small constant by its value."""
    if isinstance(variable, Constant) and variable.name is None:
        return _value(variable)
    return repr(variable)


def _value(constant: Constant) -> str:
    shape = getattr(constant.data, "shape", None)
    if shape is None:
        return repr(constant)
    data = constant.data
    if prod(shape) <= SHOWN:
        # Every engine's arrays have one of the two.
        return str(data.tolist() if hasattr(data, "tolist") else data.numpy().tolist())
    return "constant"


def bytes_of(variable: Variable) -> int | None:
    """Return how much memory a value takes, ``None`` if that isn't known."""
    type = variable.type
    if type is None or any(length is None for length in type.shape):
        return None
    try:
        size = np.dtype(type.dtype).itemsize
    except TypeError:
        return None
    return int(prod(length for length in type.shape if length is not None) * size)
