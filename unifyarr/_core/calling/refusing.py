"""Errors for arguments that a function's signature has no place for. They say what to write instead."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NoReturn, Protocol

import numpy as np

from ..declaring.signature import Parameters
from ..values.elsewhere import KEYWORDS

# Stands for an argument that isn't passed.
_ABSENT: Any = object()


class Taking(Protocol):
    """What a function takes: its parameters in their order, with ``...`` for a default that isn't there."""

    qualified_name: str
    names: tuple[str, ...]
    defaults: tuple[object, ...]
    # How many are passed by place, the first of them by nothing else; and the place of the one for all further ones.
    positional: int
    only_positional: int
    variadic: int


def values_of(
    taking: Taking, parameters: Parameters, given: tuple[Any, ...], named: dict[str, object]
) -> tuple[object, ...]:
    """Return arguments in the places of their parameters, or raise ``TypeError``."""
    name, names = taking.qualified_name, taking.names
    values = [_ABSENT] * len(names)
    count = min(len(given), taking.positional)
    values[:count] = given[:count]
    by_name = dict.fromkeys(names[taking.only_positional :])
    if taking.variadic >= 0:
        values[taking.variadic] = given[count:]
        del by_name[names[taking.variadic]]
    elif len(given) > count:
        _refuse_positional(parameters, name, given[count:], count)
    for keyword, value in named.items():
        if keyword not in by_name:
            _refuse_keyword(parameters, name, names[: taking.only_positional], keyword)
        place = names.index(keyword)
        if place < count:
            raise TypeError(f"{name}() got multiple values for argument {keyword!r}")
        values[place] = value
    missing = []
    for place, default in enumerate(taking.defaults):
        if values[place] is _ABSENT:
            values[place] = default
            if default is ...:
                missing.append(repr(names[place]))
    if missing:
        raise TypeError(f"{name}() is missing the argument{'s' if len(missing) > 1 else ''} {' and '.join(missing)}")
    return tuple(values)


def _refuse_positional(parameters: Parameters, name: str, beyond: Sequence[object], count: int) -> NoReturn:
    """Raise for positional arguments where parameters are keyword-only, or where there are none."""
    keywords = [each for each in _numpys_order(name, parameters) if each not in ("out", "backend")]
    keywords = keywords or list(parameters.keywords)
    shown = [
        f"{each}={value!r}" if isinstance(value, (int, str, tuple)) else f"{each}=..."
        for each, value in zip(keywords, beyond, strict=False)
    ]
    instead = f": pass {', '.join(parameters.keywords)} by name, as in {', '.join(shown)}" if keywords else ""
    raise TypeError(
        f"{name}() takes {count} positional argument{'s' if count != 1 else ''} ({', '.join(parameters.positional)}) "
        f"but {count + len(beyond)} were given{instead}"
    )


def _numpys_order(name: str, parameters: Parameters) -> list[str]:
    """Return the keyword-only parameters, first those that NumPy's function of the same name takes by position."""
    try:
        parameters_there = inspect.signature(getattr(np, name)).parameters.values()
        theirs = [each.name for each in parameters_there if each.kind is not each.KEYWORD_ONLY]
    except (AttributeError, TypeError, ValueError):
        # Some functions of NumPy's, written in C, have no signature.
        theirs = []
    order = {each: place for place, each in enumerate(theirs)}
    return sorted(parameters.keywords, key=lambda each: order.get(each, len(order)))


def _refuse_keyword(parameters: Parameters, name: str, by_place: Sequence[str], keyword: str) -> NoReturn:
    """Raise for a keyword argument that no parameter takes by that name."""
    taken = [*parameters.positional, *parameters.keywords]
    if keyword in by_place:
        raise TypeError(f"{name}() takes {keyword} by place and not by name: its arguments are {', '.join(taken)}")
    found = [each for each in KEYWORDS.get(keyword, ()) if each in taken] or get_close_matches(keyword, taken, 1)
    instead = f"write {found[0]}=, since " if found else ""
    raise TypeError(
        f"{name}() got an unexpected keyword argument {keyword!r}: {instead}its arguments are {', '.join(taken)}"
    )
