"""Kernels for natives of which the compiled core sees at once what Python would take longer to find out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._native import core

# The numbers that the core has for its questions.
_QUESTIONS = {"unwatched": 1, "finite": 2, "begins with another number than zero": 4, "beside integers": 8}


def guarded(kernel: Callable[..., Any], otherwise: Callable[..., Any], *questions: str) -> Callable[..., Any]:
    """Return a kernel that calls another one where all natives are seen to be as that asks.

    Parameters
    ----------
    kernel
        Serves natives that are so.
    otherwise
        Takes the same arguments, and serves all natives.
    questions
        ``"unwatched"``: no derivative can be taken through them. ``"finite"``: they are a few floats, side by side in
        memory and all finite. ``"begins with another number than zero"``: they are a few floats, the first of which
        isn't zero. ``"beside integers"``: what else is passed are integers of Python's.
    """
    number = sum(_QUESTIONS[each] for each in questions)
    return otherwise if core is None else core.Guarded(kernel, otherwise, number)
