"""What is passed for a number is differentiated, or refused where a derivative is taken by it: it's never lost.

The calls are those of ``unifyarr/testing/cases``, with an array in the place of each number and of each default.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
import unifyarr.numpy as as_numpy_has_it
from unifyarr.container.container import flatten
from unifyarr.errors import LostDerivativeError

from ..functions.calls import CALLS, PUBLIC, SEVERAL, Case, find
from ..natives import skip_unless
from .every_gradient import MORE, PARTS, _lifted, _real_parts

# What takes no numbers, or is asked for before anything is computed.
OTHERS = frozenset({"out", "dtype", "device", "backend", "chunks", "copy"})
# Numbers that are passed beside those of the call.
TRIED = (0.37, 1.63)
# Where differences show a jump, or a corner: what is left out, and what is tried.
JUMPS = {("arange", "start"), ("arange", "stop"), ("quantile", "q")}

Path = tuple[int, ...]


def _places(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield where a number may stand in an argument, and what stands there."""
    if isinstance(value, (list, tuple)):
        for place, each in enumerate(value):
            yield from _places(each, (*path, place))
    elif value is None or type(value) in (int, float):
        yield path, value


def _put(value: Any, path: Path, x: Any) -> Any:
    if not path:
        return x
    return type(value)(_put(each, path[1:], x) if place == path[0] else each for place, each in enumerate(value))


def _calls(name: str) -> Iterator[tuple[str, Callable[[Any], ua.Array], list[float]]]:
    """Yield functions of one number: the function by each of its parameters; and which numbers to try."""
    declaration = getattr(find(name), "declaration", None)
    parameters = inspect.signature(declaration.body if declaration else find(name)).parameters
    for case in MORE.get(name) or [CALLS.get(name) or SEVERAL[name]]:
        for number, (key, parameter) in enumerate(parameters.items()):
            if key in OTHERS or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            by_place = parameter.kind is not parameter.KEYWORD_ONLY and number < len(case[0])
            given = case[0][number] if by_place else case[1].get(key, parameter.default)
            for path, stands in _places(given):
                of = [] if stands is None or not np.isfinite(stands) else [float(stands), stands + 0.03]
                yield f"{name}({key})", _by(name, case, number if by_place else key, given, path), [*of, *TRIED]


def _by(name: str, case: Case, key: int | str, given: Any, path: Path) -> Callable[[Any], ua.Array]:
    def function(x: Any) -> ua.Array:
        arguments = [_lifted(name, each) for each in case[0]]
        options = {each: _lifted(name, value) for each, value in case[1].items()}
        (arguments if isinstance(key, int) else options)[key] = _put(given, path, x)  # type: ignore[call-overload,index]
        result = PARTS.get(name, lambda result: result)(find(name)(*arguments, **options))
        total = ua.zeros(())
        for leaf in flatten(result)[0]:
            for part in _real_parts(leaf) if isinstance(leaf, ua.Array) else ():
                weights = np.cos(np.arange(part.size, dtype=float)).reshape(part.shape)
                total = total + ua.sum(ua.where(ua.isfinite(part), part, 0) * weights)
        return total

    return function


def _difference(function: Callable[[Any], ua.Array], x: float) -> float | None:
    """Return the derivative by differences, ``None`` where no number can be passed."""
    try:
        low, _, high = (float(function(x + step)) for step in (-1e-6, 0.0, 1e-6))
    except Exception:
        return None
    return (high - low) / 2e-6


@pytest.mark.parametrize("part", range(4))
def test_no_parameter_loses_a_derivative(backend: str, part: int) -> None:
    skip_unless(backend, "numpy", "torch", why="each call is compiled for itself")
    lost, count = [], 0
    with np.errstate(all="ignore"):
        for name in PUBLIC[part::4]:
            for described, function, numbers in _calls(name) if name in CALLS or name in SEVERAL else ():
                for x in numbers:
                    expected = _difference(function, x)
                    if expected is None or tuple(described[:-1].split("(")) in JUMPS:
                        continue
                    count += 1
                    try:
                        found = float(ua.grad(function)(ua.asarray(x)))
                    except (LostDerivativeError, TypeError):
                        # It says so.
                        continue
                    if abs(found - expected) > 1e-4 * (1 + abs(expected)):
                        lost.append(f"{described} at {x}: {found}, where differences are {expected}")
    assert not lost
    assert count > 40


NAMES: dict[str, Callable[[Any], Any]] = {
    "hanning": lambda x: as_numpy_has_it.hanning(4 * x),
    "kaiser": lambda x: as_numpy_has_it.kaiser(4, x),
    "lstsq": lambda x: as_numpy_has_it.linalg.lstsq(np.eye(2), np.ones(2), rcond=x * 1e-3)[0],
    "diff": lambda x: ua.Container(a=x).diff(ua.Container(a=x), rtol=x),
    "sgd": lambda x: ua.optim.sgd(0.1, momentum=x),
}


@pytest.mark.parametrize("name", NAMES)
def test_numbers_that_names_of_numpy_and_others_take(backend: str, name: str) -> None:
    with pytest.raises(LostDerivativeError):
        ua.grad(lambda x: (NAMES[name](x), x)[1])(ua.asarray(0.5))
