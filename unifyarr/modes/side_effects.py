"""Effects: functions print values and check them, in the order in which it's written.

An effect is known before its values are. Where these are known it happens at once; a trace makes it a node
(``trace/effect_nodes.py``), which runs wherever the graph does.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from ..container.container import unflatten
from ..errors import CheckError


class HERE:
    """The place of an array among what is printed."""


# Whether what runs was run before, for its effects too: a derivative that computes something again.
silent: ContextVar[bool] = ContextVar("unifyarr_silent", default=False)


@contextmanager
def silenced() -> Iterator[None]:
    """Run what happens inside the block without effects."""
    token = silent.set(True)
    try:
        yield
    finally:
        silent.reset(token)


class Effect(NamedTuple):
    """A text to print, or a check that raises with it, and the line of the user's code.

    ``leaves`` and ``spec`` have the arguments of the text, with ``HERE`` in place of arrays. The first array of a check
    is its condition. ``cuts`` has for each array the axis along which a mask, the array behind it, selects elements, or
    ``None``. ``batches`` says for each batch around, the outermost first, which arrays have its axis.
    """

    is_check: bool
    text: str
    leaves: tuple[Any, ...]
    spec: Any
    line: str
    cuts: tuple[int | None, ...] = ()
    batches: tuple[tuple[bool, ...], ...] = ()

    def happen(self, values: Sequence[Any]) -> None:
        """Print, or check, for values of the arrays: for each element of a batch by itself."""
        for each in _elements(values, self.batches):
            given = iter(each)
            arrays = [next(given) if axis is None else _selected(next(given), next(given), axis) for axis in self.cuts]
            if not self.is_check:
                print(self._shown(arrays))
            elif not np.all(arrays[0]):
                raise CheckError(f"{self._shown(arrays[1:])} (checked at {self.line})")

    def _shown(self, arrays: Sequence[np.ndarray]) -> str:
        found = iter(arrays)
        args, kwargs = unflatten(self.spec, [next(found) if x is HERE else x for x in self.leaves])
        return self.text.format(*args, **kwargs)


def _selected(x: np.ndarray, mask: np.ndarray, axis: int) -> np.ndarray:
    return np.compress(mask, x, axis)


def _elements(values: Sequence[np.ndarray], batches: Sequence[tuple[bool, ...]]) -> Iterator[Sequence[np.ndarray]]:
    if not batches:
        yield values
        return
    is_batched, *inner = batches
    sizes = [len(x) for x, is_in in zip(values, is_batched, strict=True) if is_in]
    if not sizes:
        yield from _elements(values, inner)
    for place in range(sizes[0] if sizes else 0):
        yield from _elements([x[place] if is_in else x for x, is_in in zip(values, is_batched, strict=True)], inner)


# Errors of effects that an engine's program called back, by the numbers that the program returns.
_failed: dict[int, Exception] = {}
_numbers = itertools.count(1)
_LOCK = threading.Lock()


def noting(effect: Effect) -> Callable[..., np.ndarray]:
    """Return a function that a program of the engine calls with a number and the values, and that raises nothing.

    It returns the number of an error, 0 if there was none so far. After an error nothing happens.
    """

    def run(number: np.ndarray, *values: np.ndarray) -> np.ndarray:
        if number:
            return np.asarray(number, np.int32)
        try:
            effect.happen([np.asarray(x) for x in values])
        except Exception as error:
            with _LOCK:
                found = next(_numbers) % (2**31 - 1) + 1
                _failed[found] = error
            return np.asarray(found, np.int32)
        return np.asarray(0, np.int32)

    return run


def raise_noted(number: int) -> None:
    """Raise the error of a number that a program has returned, if it isn't 0."""
    if number:
        with _LOCK:
            error = _failed.pop(number)
        raise error
