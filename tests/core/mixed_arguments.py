"""Calls of an array beside plain arguments: ``python -m tests.core.mixed_arguments COUNT SEED [BACKEND]``.

One array argument of a call is an array of a backend, or its engine's own. The others are NumPy arrays or lists, and
another backend is the current one. The result must be the same as if all of them were arrays of the backend.
"""

from __future__ import annotations

import collections
import functools
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

import unifyarr as ua
from unifyarr._core.engines.natives import backend_of_native
from unifyarr.testing.calling import UNSET
from unifyarr.testing.comparing import TOLERANCE, as_numpy, assert_values

from .mixed_calls import Mixed, Target, calls, leaves

# Lists of their elements become arrays of the same dtype.
_LISTED = ("bool", "int64", "float64", "complex128")
# Engines' own operators and methods take no NumPy arrays.
_OURS = ("operator.", "Array.", "numpy.")


class Draw(NamedTuple):
    """A call, the index of its one array, and the forms of all arguments."""

    mixed: Mixed
    place: int
    forms: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.mixed.name} with ({', '.join(self.forms)})"


def drawn(random: np.random.Generator, backend: str) -> Draw:
    """Return a random call."""
    table = calls()
    mixed = table[random.integers(len(table))]
    places = mixed.places
    place = int(random.integers(len(places))) if not mixed.name.startswith("Array.") else 0
    forms = []
    for number, x in enumerate(places):
        if isinstance(x, Target):
            forms.append("array")
        elif number == place:
            takes_native = backend != "numpy" and not mixed.name.startswith(_OURS)
            forms.append(str(random.choice(["array", "native"])) if takes_native else "array")
        else:
            forms.append(str(random.choice(["ndarray", "list"] if _is_listed(x, mixed) else ["ndarray"])))
    return Draw(mixed, place, tuple(forms))


def _is_listed(x: np.ndarray, mixed: Mixed) -> bool:
    # How deep its lists are nested means something to ``block``.
    return x.dtype.name in _LISTED and x.size > 0 and x.ndim > 0 and ".block(" not in mixed.name


def _in_form(x: np.ndarray, form: str, backend: str, device: str | None) -> Any:
    if form == "ndarray":
        return x.copy()
    if form == "list":
        return x.tolist()
    array = ua.asarray(np.array(x), backend=backend, device=device, copy=True)
    return array.native if form == "native" else array


def _outcome(mixed: Mixed, forms: tuple[str, ...], backend: str, device: str | None) -> list[Any]:
    """Return the leaves of the result of a call, and of the arrays that it writes."""
    given = [_in_form(x, form, backend, device) for x, form in zip(mixed.places, forms, strict=True)]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = mixed.call(given)
    written = [x for x, place in zip(given, mixed.places, strict=True) if isinstance(place, Target)]
    return [*leaves(result), *written]


def complaint(draw: Draw, backend: str, current: str, device: str | None = None) -> str | None:
    """Make a call, and return the failure, if any."""
    mixed = draw.mixed
    with suppress(Exception), ua.use_backend(backend):
        wanted = _outcome(mixed, ("array",) * len(draw.forms), backend, device)
        with ua.use_backend(current):
            try:
                found = _outcome(mixed, draw.forms, backend, device)
                assert len(found) == len(wanted), f"gives {len(found)} results, not {len(wanted)}"
                for mine, right in zip(found, wanted, strict=True):
                    _compare(mixed.name, mine, right)
            except Exception as error:
                return f"{type(error).__name__}: {error}".partition("\n")[0]
    return None


def _compare(name: str, mine: Any, right: Any) -> None:
    if not isinstance(right, ua.Array):
        assert type(mine) is type(right), f"gives {type(mine).__name__}, not {type(right).__name__}"
        return
    if not isinstance(mine, ua.Array):
        own = backend_of_native(mine)
        assert own is not None, f"gives {type(mine).__name__}, not an array"
        mine = ua.asarray(mine)
    assert mine.backend == right.backend, f"gives an array of {mine.backend}"
    assert mine.device == right.device, f"gives an array on {mine.device}"
    assert (mine.dtype, mine.shape) == (right.dtype, right.shape), f"gives {mine.dtype} of shape {mine.shape}"
    if name.rpartition(".")[2] not in UNSET:
        tolerance = TOLERANCE.get(right.dtype.name)
        assert_values(as_numpy(mine), as_numpy(right), rtol=tolerance, atol=1e-12, signed_zeros=False, what=name)


@functools.cache
def backends() -> list[str]:
    """Return the backends that compute at once."""
    return [name for name in ua.available_backends() if name != "dask"]


def findings(count: int, seed: int, backend: str, current: str, device: str | None = None) -> Iterator[str]:
    """Make random calls of arrays of a backend, and yield the failures."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        draw = drawn(random, backend)
        wrong = complaint(draw, backend, current, device)
        if wrong is not None:
            yield f"{draw}, an array of {backend}, while {current} is current: {wrong}"


def main(count: int, seed: int, only: str | None = None) -> int:
    """Make calls on each backend, print the failures, and return their number."""
    bad = 0
    for backend in backends() if only is None else [only]:
        found = collections.Counter(findings(count, seed, backend, "numpy" if backend != "numpy" else "torch"))
        for text in sorted(found):
            print(text)
        print(f"{backend}: {count} calls, seed {seed}, {len(found)} findings", flush=True)
        bad += len(found)
    return bad


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]) > 0)
