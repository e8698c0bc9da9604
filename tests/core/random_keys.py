"""Keys of all kinds, read and written on arrays of ours as on NumPy's: eager, compiled, in batches and differentiated.

``python -m tests.core.random_keys BACKEND COUNT SEED [HOW]`` tries many, in one way or in each.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import unifyarr as ua

from ..oracle import assert_same

SHAPES = [(4,), (2, 3), (3, 1), (0, 3), (2, 1, 3)]
KINDS = ["array", "array", "number", "mask", "masks", "truth", "slice", "int", "none", "stop"]


def numbered(shape: tuple[int, ...], dtype: str = "int64") -> np.ndarray:
    """Return an array of that shape whose elements all differ."""
    return np.arange(10, 10 + np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


@st.composite
def index_arrays(draw: st.DrawFn, length: int, shapes: Any = ((), (2,), (2, 1))) -> Any:
    """Draw an array of integers that indexes an axis, now and then out of bounds."""
    # One shape beside (): all of them broadcast, and engines compile for each.
    shape = draw(st.sampled_from(shapes))
    beyond = draw(st.integers(0, 9)) == 0
    low, high = (-length - 1, length) if beyond else (-length, length - 1)
    if low > high:
        return np.zeros((0,), np.int64)
    dtype = draw(st.sampled_from(["int64", "int8", "uint8"]))
    return draw(npst.arrays(dtype, shape, elements=st.integers(max(low, 0) if dtype == "uint8" else low, high)))


@st.composite
def keys(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Draw a key: integers, 0-d arrays, arrays, masks of any axes and of none, slices, ``None``, ``...`` anywhere."""
    items: list[Any] = []
    axis, ndim = 0, len(shape)
    # Before which axis an ellipsis stands, and how many it covers: most often none.
    at, covered = draw(st.integers(0, ndim + 2)), draw(st.sampled_from([0, 0, 0, 1, ndim]))
    while axis < ndim or at == axis:
        if at == axis:
            items.append(...)
            axis, at = min(axis + covered, ndim), -1
            continue
        kind = draw(st.sampled_from(KINDS))
        if kind == "stop" and at >= 0:
            break
        length = shape[axis]
        if kind == "none":
            items.append(None)
            continue
        if kind == "truth":
            items.append(np.asarray(draw(st.booleans())))
            continue
        if kind == "mask":
            items.append(draw(npst.arrays(bool, (length,))))
        elif kind == "masks":
            # It ends before the ellipsis.
            end = draw(st.integers(axis + 1, at if axis < at < ndim else ndim))
            items.append(draw(npst.arrays(bool, shape[axis:end])))
            axis = end - 1
        elif kind in ("array", "number"):
            items.append(draw(index_arrays(length, **({"shapes": ((),)} if kind == "number" else {}))))
        elif kind == "int" and length:
            items.append(draw(st.integers(-length, length - 1)))
        else:
            items.append(draw(st.slices(length)))
        axis += 1
    return tuple(items)


def is_number(item: Any) -> bool:
    """Return whether an item of a key is a 0-d array of integers."""
    return isinstance(item, np.ndarray) and not item.ndim and item.dtype != bool


def to_numpy(key: Any) -> Any:
    """Return a key as NumPy means it: it copies for its 0-d arrays, and gives a view for its scalars."""
    items = tuple(item[()] if is_number(item) else item for item in (key if isinstance(key, tuple) else (key,)))
    return items if isinstance(key, tuple) else items[0]


def is_view(key: tuple[Any, ...], selected: Any) -> bool:
    """Return whether what NumPy selects shares memory with the array."""
    return not isinstance(selected, np.generic) and not any(isinstance(item, np.ndarray) for item in to_numpy(key))


FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "NumPy array": lambda item: item,
    "array": lambda item: ua.asarray(item, copy=True),
    "native": lambda item: ua.asarray(item, copy=True).native,
    # A list of no elements has no dtype, and of no axes is a number.
    "list": lambda item: item.tolist() if item.ndim and item.size else item,
}


def in_form(key: Any, form: str) -> Any:
    """Return a key with its NumPy arrays turned into arrays, natives or lists."""
    return tuple(FORMS[form](item) if isinstance(item, np.ndarray) else item for item in key)


def outcome(values: np.ndarray, key: Any) -> np.ndarray | None:
    """Return NumPy's selection, ``None`` if it raises ``IndexError``."""
    try:
        return np.array(values[to_numpy(key)])
    except IndexError:
        return None


class Case(NamedTuple):
    """A key of an array that has elements for it, and the value to write there."""

    shape: tuple[int, ...]
    key: tuple[Any, ...]
    value: np.ndarray


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a key that fits an array."""
    shape = draw(st.sampled_from(SHAPES))
    key = draw(keys(shape))
    selected = outcome(numbered(shape), key)
    hypothesis.assume(selected is not None)
    assert selected is not None
    return Case(shape, key, -numbered(selected.shape, "float64"))


def play(xp: Any, x: Any, key: Any, value: Any) -> list[Any]:
    """Read and write by a key, and write through the first view; return the values after each step."""
    part = x[key]
    if isinstance(part, np.generic):
        part = np.array(part)
    found = [xp.asarray(part, copy=True)]
    x[key] = value
    found.append(xp.asarray(x, copy=True))
    x[key] += 100.0
    found.append(xp.asarray(x, copy=True))
    part += 1000.0
    part[...] = part[...] * 2.0
    return [*found, xp.asarray(x, copy=True), xp.asarray(part, copy=True)]


def expected(case: Case) -> list[np.ndarray]:
    """Return NumPy's values after each step."""
    return play(np, numbered(case.shape, "float64"), to_numpy(case.key), case.value)


def filled(key: tuple[Any, ...], arrays: Any) -> tuple[Any, ...]:
    """Return a key with others in the place of its arrays of integers."""
    others = iter(arrays)
    return tuple(next(others) if is_index(item) else item for item in key)


def is_index(item: Any) -> bool:
    """Return whether an item of a key is an array of integers."""
    return isinstance(item, np.ndarray) and item.dtype != bool


def eager(case: Case) -> None:
    """Compare calls with NumPy's."""
    wanted = expected(case)
    for form in ("array", "NumPy array", "native"):
        x = ua.asarray(numbered(case.shape, "float64"), copy=True)
        found = play(ua, x, in_form(case.key, form), ua.asarray(case.value, copy=True))
        for step, (one, other) in enumerate(zip(found, wanted, strict=True)):
            assert_same(one, other, what=(step, form, case.key))


def compiled(case: Case) -> None:
    """Compare a compiled function of the array, the value and the index arrays; masks are constants."""
    wanted = expected(case)
    function = ua.compile(lambda x, value, *arrays: play(ua, x, filled(case.key, arrays), value))
    for _ in range(2):
        x = ua.asarray(numbered(case.shape, "float64"), copy=True)
        arrays = [ua.asarray(item, copy=True) for item in case.key if is_index(item)]
        found = function(x, ua.asarray(case.value, copy=True), *arrays)
        for step, (one, other) in enumerate(zip([*found, x], [*wanted, wanted[3]], strict=True)):
            assert_same(one, other, what=(step, case.key))


def batched(case: Case) -> None:
    """Compare a batch of two, whose index arrays count from either end."""
    mirrored = case._replace(key=tuple(~item.astype("int64") if is_index(item) else item for item in case.key))
    both = [expected(case), expected(mirrored)]
    arrays = [
        np.stack([one.astype("int64"), other])
        for one, other in zip(case.key, mirrored.key, strict=True)
        if is_index(one)
    ]
    xs = ua.asarray(np.stack([numbered(case.shape, "float64")] * 2))
    values = ua.asarray(np.stack([case.value] * 2))
    function = ua.vmap(lambda x, value, *arrays: tuple(play(ua, x, filled(case.key, arrays), value)))
    found = function(xs, values, *map(ua.asarray, arrays))
    for step, one in enumerate(found):
        assert_same(one, np.stack([each[step] for each in both]), what=(step, case.key))


def derived(case: Case) -> None:
    """Compare the gradients of a read and of a write with those that follow from NumPy's."""
    values, key = numbered(case.shape, "float64"), in_form(case.key, "array")
    weights, whole = ua.asarray(case.value), ua.asarray(-values)

    def written(x: ua.Array, value: ua.Array) -> ua.Array:
        x[key] = value
        return ua.sum(x * whole)

    wanted = np.zeros(case.shape)
    np.add.at(wanted, to_numpy(case.key), case.value)
    assert_same(ua.grad(lambda x: ua.sum(x[key] * weights))(ua.asarray(values)), wanted, what=case.key)
    # A number for each element: of equal places the last one is there in the end.
    numbers, places = np.full(case.shape, -1), np.arange(case.value.size).reshape(case.value.shape)
    numbers[to_numpy(case.key)] = places
    first, second = ua.grad(written, argnums=(0, 1))(ua.asarray(values, copy=True), weights)
    assert_same(first, np.where(numbers < 0, -values, 0.0), what=case.key)
    slopes = np.zeros(case.value.size)
    slopes[numbers[numbers >= 0]] = -values[numbers >= 0]
    assert_same(second, slopes.reshape(case.value.shape), what=case.key)


HOWS: dict[str, Callable[[Case], None]] = {
    "eager": eager,
    "compiled": compiled,
    "batched": batched,
    "derived": derived,
}


def run(backend: str, how: str, count: int, *, seed: int) -> None:
    """Compare so many keys on a backend, and raise the first difference with a short key."""

    @hypothesis.seed(seed)
    @settings(
        max_examples=count,
        phases=[Phase.generate, Phase.shrink],
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(case=cases())
    def all_are_numpys(case: Case) -> None:
        HOWS[how](case)

    with ua.use_backend(backend):
        all_are_numpys()


def main(backend: str, count: int, seed: int, *hows: str) -> None:
    """Try keys in each way, and tell how long it took."""
    for how in hows or HOWS:
        start = time.perf_counter()
        run(backend, how, count, seed=seed)
        print(f"{backend}, {how}: {count} keys, {time.perf_counter() - start:.0f} s, no difference from NumPy")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
