"""A row of the table of clients: a program, and its outcome for an array of ours."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

import unifyarr as ua

VALUES = np.arange(12.0).reshape(3, 4)
Program = Callable[[Any], Any]


class Outcome(Enum):
    """The outcome for an array of ours."""

    KEEPS = "works, and gives our array"
    CONVERTS = "works, and gives the client's own or NumPy's"
    REFUSES = "refused by the client"
    DIFFERS = "differs without a word"


class Case(NamedTuple):
    """A row: the client, the use, the program, the outcome, and the client's error if it refuses."""

    client: str
    what: str
    program: Program
    outcome: Outcome = Outcome.CONVERTS
    words: str = ""


def like(x: Any, values: Any) -> Any:
    """Return values as an array of the same kind: ours on the backend of ``x``, or NumPy's."""
    return ua.asarray(values, backend=x.backend) if isinstance(x, ua.Array) else np.asarray(values)
