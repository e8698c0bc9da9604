"""Errors for arguments that a function's signature has no place for. They say what to write instead."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

import numpy as np

from ..declaring.signature import Parameters
from ..values.elsewhere import KEYWORDS

# Stands for an argument that isn't passed beyond the positional parameters.
ABSENT = object()


def refuse_positional(
    parameters: Parameters, name: str, beyond: Sequence[Any], defaults: Sequence[Any] | None = None
) -> NoReturn:
    """Raise for positional arguments where parameters are keyword-only.

    With ``defaults``, ``beyond`` has the values of all keyword-only parameters too: those that were passed by position
    have gone to the parameters that follow, and the first one that has its default ends them.
    """
    given = list(beyond)
    if defaults is not None:
        rest = zip(given[1:], defaults, strict=False)
        given = given[: 1 + next((n for n, (value, default) in enumerate(rest) if value is default), len(defaults))]
    keywords = [each for each in _numpys_order(name, parameters) if each not in ("out", "backend")]
    keywords = keywords or list(parameters.keywords)
    shown = [
        f"{each}={value!r}" if isinstance(value, (int, str, tuple)) else f"{each}=..."
        for each, value in zip(keywords, given, strict=False)
    ]
    count = len(parameters.positional)
    raise TypeError(
        f"{name}() takes {count} positional argument{'s' if count != 1 else ''} ({', '.join(parameters.positional)}) "
        f"but {count + len(given)} were given: pass {', '.join(parameters.keywords)} by name, as in {', '.join(shown)}"
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


def refuse_keywords(parameters: Parameters, name: str, unknown: dict[str, Any]) -> NoReturn:
    """Raise for keyword arguments that no parameter has the name of."""
    taken = [*parameters.positional, *parameters.keywords]
    keyword = next(iter(unknown))
    found = [each for each in KEYWORDS.get(keyword, ()) if each in taken] or get_close_matches(keyword, taken, 1)
    instead = f"write {found[0]}=, since " if found else ""
    raise TypeError(
        f"{name}() got an unexpected keyword argument {keyword!r}: {instead}its arguments are {', '.join(taken)}"
    )
