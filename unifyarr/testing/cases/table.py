"""What the lines of the table are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

A = np.array([[0.25, -0.5, 0.75], [0.5, 0.125, -1.0]])
B = np.array([[2.0, 3.0, -1.5], [0.5, 1.0, 4.0]])
K, J = np.array([[7, -8, 9], [1, 0, 5]]), np.array([[2, 3, 1], [4, 1, 2]])
Q = np.array([[3.0, 1.0, 0.5], [1.0, 4.0, 0.0], [0.5, 0.0, 5.0]])
V = np.array([1.0, -2.0, 3.0])
Z = A + 1j * B
N = np.where(A == 0.5, np.nan, A)
TRUTH = A > 0
ROW, COLUMN = A[:1], A[:1].T.copy()
IDENTITY = np.eye(3)
INDEX = np.array([1, 0])
SCALAR = np.array(3.0)

# A batch of signals, images and volumes, with kernels.
SIGNALS = np.linspace(-1.0, 2.0, 16).reshape(1, 2, 8) ** 3
IMAGES = np.linspace(-1.0, 2.0, 40).reshape(1, 2, 4, 5) ** 3
VOLUMES = np.linspace(-1.0, 2.0, 24).reshape(1, 1, 2, 3, 4) ** 3
KERNELS = np.linspace(2.0, -1.0, 36).reshape(2, 2, 3, 3)


class Draws:
    """A generator that draws the same numbers at each call."""

    def random(self, size: Any) -> np.ndarray:
        return np.linspace(0, 1, int(np.prod(size)), endpoint=False).reshape(size)


@dataclass(frozen=True)
class Case:
    """A call of a function: NumPy's arrays among its arguments, in lists too, stand for arrays of a backend."""

    arguments: tuple[Any, ...]
    options: dict[str, Any] = field(default_factory=dict)
    # Whether this very call copies where the declaration allows views.
    copies: bool = False
    # What is made of an array before the call.
    view: Callable[[Any], Any] | None = None

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return tuple(_arrays(self.arguments))

    def call(self, function: Callable[..., Any], arrays: Any, **more: Any) -> Any:
        """Call a function with these arrays in the places of NumPy's."""
        rest = iter(arrays if self.view is None else map(self.view, arrays))
        return function(*(_replaced(each, rest) for each in self.arguments), **self.options, **more)


def _arrays(nest: Any) -> Iterator[np.ndarray]:
    for each in nest:
        if isinstance(each, np.ndarray):
            yield each
        elif isinstance(each, list):
            yield from _arrays(each)


def _replaced(value: Any, arrays: Iterator[Any]) -> Any:
    if isinstance(value, list):
        return [_replaced(each, arrays) for each in value]
    return next(arrays) if isinstance(value, np.ndarray) else value


def case(*arguments: Any, **options: Any) -> Case:
    return Case(arguments, options)


def copying(*arguments: Any, **options: Any) -> Case:
    """Return a case in which a function that returns views has to copy."""
    return Case(arguments, options, copies=True)


def of_view(view: Callable[[Any], Any], *arguments: Any) -> Case:
    """Return a case of a view that can't be viewed in the way wanted."""
    return Case(arguments, copies=True, view=view)


CASES: dict[str, list[Case]] = {}
# Those that return several arrays.
RETURNING_SEVERAL: set[str] = set()


def line(names: str, *cases: Case) -> None:
    """Give one function, or several, their cases."""
    for name in names.split():
        if name in CASES:
            raise ValueError(f"{name} has two lines of cases")
        CASES[name] = list(cases)


def several(names: str, *cases: Case) -> None:
    """Give their cases to functions that return several arrays."""
    line(names, *cases)
    RETURNING_SEVERAL.update(names.split())


def names(prefix: str, text: str) -> str:
    """Return words with a prefix."""
    return " ".join(prefix + name for name in text.split())
