"""Arrays of unknown length as arguments of every function, compiled and eager.

``python -m tests.graph.unknown_lengths BACKEND [COUNT] [SEED] [NAME ...]`` takes the calls of
``unifyarr/testing/cases``, and makes one of their arrays inside the function: by a mask, by indices or by counts. It
lists compiled functions or gradients with other results than the eager ones, and errors that aren't about lengths.
"""

from __future__ import annotations

import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import unifyarr as ua
from unifyarr.errors import LostDerivativeError, TraceError, UnknownShapeError
from unifyarr.testing.cases import CASES, Case

from ..functions.calls import UNSET
from ..oracle import as_numpy
from .special_values import differs, gradient, programs

# Functions that take indices, scatter, or read lengths.
INDEXING = (
    *("take", "take_along_axis", "gather", "scatter", "segment_sum", "segment_mean", "nn.embedding", "concat", "mean"),
    *("cumulative_sum", "where", "bincount", "nn.softmax", "nn.logsumexp", "argmax", "matmul", "array_equiv"),
)


def _by_mask(x: ua.Array, counts: ua.Array) -> ua.Array:
    return x[counts > 0]


def _by_places(x: ua.Array, counts: ua.Array) -> ua.Array:
    return ua.take(x, ua.flatnonzero(counts), axis=0)


def _by_rows(x: ua.Array, counts: ua.Array) -> ua.Array:
    return x[ua.argwhere(counts)[:, 0]]


def _by_counts(x: ua.Array, counts: ua.Array) -> ua.Array:
    return ua.repeat(x, counts, axis=0)


def _sorted(x: ua.Array, counts: ua.Array) -> ua.Array:
    return ua.unique_values(x * counts if x.ndim == 1 else x)


MAKERS = (_by_counts, _by_mask, _by_places, _by_rows, _sorted)


def hidden(function: Callable[..., Any], place: int, make: Callable[..., Any]) -> Callable[..., list[ua.Array]]:
    """Return a function whose last argument decides which elements of one of the others it takes."""

    def program(*given: ua.Array) -> list[ua.Array]:
        *arrays, counts = given
        arrays[place] = make(arrays[place], counts)
        return function(*arrays)

    return program


def differences(backend: str, name: str, count: int, seed: int, *, slopes: bool = False) -> Iterator[str]:
    """Yield a text for each case of which a compiled function gives another result than an eager one."""
    draw = np.random.default_rng([seed, zlib.crc32(name.encode())])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in CASES[name]:
            yield from _of_case(backend, name, case, count, draw, slopes)


def _of_case(backend: str, name: str, case: Case, count: int, draw: np.random.Generator, slopes: bool) -> Iterator[str]:
    function, arrays = programs(name, case)
    for place in [place for place, x in enumerate(arrays) if x.ndim and len(x)]:
        for make in MAKERS:
            program = hidden(function, place, make)
            compiled = ua.compile(gradient(program) if slopes else program)
            eager = gradient(program) if slopes else program
            length = len(arrays[place])
            # First all elements, each once; then fewer, and more by counts.
            for counts in (np.ones(length, np.int64), *draw.integers(0, 3, (count, length))):
                text = _difference(backend, eager, compiled, [*arrays, counts])
                if text:
                    of = f"{'gradient of ' * slopes}{name} {case.options}, argument {place} {make.__name__}"
                    yield f"{of} {counts}: {text}"
                if text is not None:
                    break


def _difference(
    backend: str, eager: Callable[..., Any], compiled: Callable[..., Any], given: Sequence[np.ndarray]
) -> str | None:
    """Return how two calls differ, an empty text where both refuse, and ``None`` if they give the same."""
    try:
        expected = _results(backend, eager, given)
    except (ValueError, TypeError, IndexError, ArithmeticError, NotImplementedError, LostDerivativeError):
        return None
    try:
        found = _results(backend, compiled, given)
    except (TraceError, UnknownShapeError, LostDerivativeError):
        return ""
    except Exception as error:
        # Whatever it is, it's another error than one about lengths.
        return f"{type(error).__name__}: {error}\neager {expected}"
    if len(found) == len(expected) and not any(map(differs, found, expected, ["float64"] * len(found))):
        return None
    return f"compiled {found}\neager {expected}"


def _results(backend: str, function: Callable[..., Any], arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    with ua.use_backend(backend):
        return [as_numpy(each) for each in function(*[ua.asarray(x, copy=True) for x in arrays])]


def main(backend: str, *rest: str) -> None:
    """List the differences on a backend."""
    numbers = [int(each) for each in rest if each.isdigit()]
    names = [each for each in rest if not each.isdigit()] or [name for name in CASES if name not in UNSET]
    count, seed = [*numbers, *(3, 0)[len(numbers) :]]
    found = 0
    for name in names:
        for slopes in (False, True):
            for text in differences(backend, name, count, seed, slopes=slopes):
                found += 1
                print(text, flush=True)
    print(f"{len(names)} functions on {backend}: {found} differences")


if __name__ == "__main__":
    main(*sys.argv[1:])
