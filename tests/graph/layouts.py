"""Every function in a compiled function, on arrays that lie in memory in all ways.

Whether a reshape is a view depends on a result's layout, and so do the last bits of results computed from it. So a
compiled function has to know both, whatever the values are: each case of ``unifyarr/testing/cases`` is traced for one
set of values, and called for it and for another one.

``python -m tests.graph.layouts BACKEND COUNT SEED [NAME]`` runs many, and lists the differences.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import unifyarr as ua
from unifyarr.container.container import flatten, unflatten
from unifyarr.errors import TraceError, UnknownShapeError
from unifyarr.graph.kernels.laidout import is_alike
from unifyarr.testing.cases import CASES, Case

from ..functions.calls import PUBLIC, UNSET, find

DTYPES = ("bool", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64", "complex128")
# Numbers that kernels look at: zeros are divided by, and infinities are mended.
ODD: dict[str, Sequence[Any]] = {
    "b": (False, True),
    "u": (0, 1, 3),
    "i": (0, 1, -1, 3),
    "f": (0.0, 1.0, -1.5, np.inf, np.nan),
    "c": (0.0, 1 + 1j, -2j, np.inf),
}
# They draw, read no values, or return residuals of matrices of full rank only.
LEFT_OUT = UNSET | {"nn.dropout", "from_dlpack", "may_share_memory", "shares_memory", "linalg.lstsq"}
LAYOUTS = ("C", "permuted", "with gaps", "backwards", "broadcast")


def laid_out(rng: np.random.Generator, values: np.ndarray, layout: str) -> ua.Array:
    """Return an array of these values that lies in memory in another way; of a broadcast one the first are repeated."""
    order = tuple(rng.permutation(values.ndim).tolist())
    back = tuple(np.argsort(order).tolist())
    moved = np.ascontiguousarray(values.transpose(order))
    if not values.ndim or layout == "C":
        return ua.asarray(values, copy=True)
    if layout == "with gaps":
        wide = np.zeros([2 * length for length in moved.shape], moved.dtype)
        wide[(slice(None, None, 2),) * moved.ndim] = moved
        return ua.permute_dims(ua.asarray(wide, copy=True)[(slice(None, None, 2),) * moved.ndim], back)
    if layout == "backwards":
        return ua.permute_dims(ua.flip(ua.asarray(np.flip(moved), copy=True)), back)
    # NumPy's ``astype`` puts the repeated axis of such an array last; its ufuncs, which cast too, don't.
    is_cast = values.dtype.kind in "biu" and ua.current_backend() == "numpy"
    if layout == "broadcast" and moved.shape[0] and not is_cast:
        return ua.permute_dims(ua.broadcast_to(ua.asarray(moved[:1], copy=True), moved.shape), back)
    return ua.permute_dims(ua.asarray(moved, copy=True), back)


class Drawn:
    """A call of a function, how its arrays lie, and two sets of values for them."""

    def __init__(self, rng: np.random.Generator, names: Sequence[str]) -> None:
        self.name = str(rng.choice(names))
        self.case: Case = CASES[self.name][rng.integers(len(CASES[self.name]))]
        self.leaves, self.spec = flatten((list(self.case.arguments), dict(self.case.options)))
        self.places = [place for place, x in enumerate(self.leaves) if isinstance(x, np.ndarray)]
        arrays = [self.leaves[place] for place in self.places]
        self.layouts = [str(rng.choice(LAYOUTS)) for _ in arrays]
        self.dtype = str(rng.choice(DTYPES)) if arrays and rng.random() < 0.5 else None
        dtypes = [x.dtype if self.dtype is None or x.dtype != arrays[0].dtype else self.dtype for x in arrays]
        times = int(rng.choice([1, 7]))
        plain = [_cast(_grown(rng, x, times), dtype) for x, dtype in zip(arrays, dtypes, strict=True)]
        self.values = [plain, [_odd(rng, x) if x.dtype != np.int64 or self.dtype else x for x in plain]]
        self.seed = int(rng.integers(2**31))

    def function(self, *arrays: ua.Array) -> list[Any]:
        """Call the function."""
        given = list(self.leaves)
        for place, x in zip(self.places, arrays, strict=True):
            given[place] = x
        arguments, options = unflatten(self.spec, given)
        return list(flatten(find(self.name)(*arguments, **options))[0])

    def arrays(self, number: int) -> list[ua.Array]:
        """Return new arrays of one of the sets of values."""
        rng = np.random.default_rng(self.seed)
        return [laid_out(rng, x, layout) for x, layout in zip(self.values[number], self.layouts, strict=True)]

    def __repr__(self) -> str:
        shapes = [x.shape for x in self.values[0]]
        return f"{self.name} of {self.dtype or 'its dtypes'}, {shapes}, {self.layouts}, {self.case.options}"


def _grown(rng: np.random.Generator, x: np.ndarray, times: int) -> np.ndarray:
    if times == 1 or x.ndim < 2 or x.dtype.kind not in "fc":
        return x
    # Enough elements for sums to round, and no singular matrix.
    wide = np.tile(x, (1,) * (x.ndim - 2) + (times, times))
    return wide + rng.normal(size=wide.shape) + 9 * times * np.eye(*wide.shape[-2:])


def _cast(x: np.ndarray, dtype: Any) -> np.ndarray:
    if np.dtype(dtype).kind in "biu" and x.dtype.kind in "fc":
        x = np.nan_to_num(abs(x))
    return (x.real if x.dtype.kind == "c" and np.dtype(dtype).kind != "c" else x).astype(dtype)


def _odd(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    return rng.choice(np.asarray(ODD[x.dtype.kind]), x.shape).astype(x.dtype)


def differences(drawn: Drawn) -> Iterator[str]:
    """Yield the differences between eager and compiled calls."""
    said: list[list[Any]] = []

    def writing(*arrays: ua.Array) -> list[Any]:
        results = [x for x in drawn.function(*arrays) if isinstance(x, ua.Array)]
        said.append([x.strides for x in results])
        results = [x.copy() if x.base is not None or any(x is each for each in arrays) else x for x in results]
        for x in results:
            if x.ndim > 1:
                ua.reshape(x, (-1,))[...] = 1
        return results

    def copying(*arrays: ua.Array) -> list[Any]:
        copies = [ua.reshape(ua.reshape(x, (-1,)), x.shape) if x.ndim > 1 else x for x in arrays]
        return [x for x in drawn.function(*copies) if isinstance(x, ua.Array)]

    for function in (writing, copying):
        compiled = ua.compile(function)
        for number in range(2):
            said.clear()
            expected = _outcome(function, drawn.arrays(number))
            lies = list(said)
            said.clear()
            found = _outcome(compiled, drawn.arrays(number))
            if isinstance(found, (TraceError, UnknownShapeError)) or isinstance(expected, Exception):
                continue
            if isinstance(found, Exception):
                yield f"{function.__name__}, call {number}: raises {found!r}"
                continue
            for place, (one, other) in enumerate(zip(found, expected, strict=True)):
                if not np.array_equal(one, other, equal_nan=other.dtype.kind in "fc"):
                    yield f"{function.__name__}, call {number}: result {place} is\n{one}\nand not\n{other}"
            if lies and said:
                for place, (one, other) in enumerate(zip(said[0], lies[0], strict=True)):
                    shape, itemsize = expected[place].shape, expected[place].itemsize
                    if len(one) > 1 and not is_alike(shape, itemsize, one, other):
                        yield f"result {place} of shape {shape} has strides {one}, and not {other}"


def _outcome(function: Callable[..., Any], arrays: Sequence[ua.Array]) -> Any:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            return [np.asarray(x) for x in function(*arrays)]
    except Exception as error:
        return error


def run(backend: str, count: int, seed: int, *names: str) -> Iterator[str]:
    """Yield the differences in so many calls."""
    rng = np.random.default_rng(seed)
    with ua.use_backend(backend):
        for _ in range(count):
            drawn = Drawn(rng, names or [name for name in PUBLIC if name in CASES and name not in LEFT_OUT])
            yield from (f"{drawn}: {difference}" for difference in differences(drawn))


def main(backend: str, count: int, seed: int, *names: str) -> None:
    """List the differences."""
    number = 0
    for number, difference in enumerate(run(backend, count, seed, *names), 1):
        print(difference, flush=True)
    print(f"{backend}: {count} calls, {number} differences from eager ones")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
