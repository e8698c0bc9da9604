"""NaN, infinities and -0.0 among the arguments of every function: compiled, eager and on NumPy.

``python -m tests.graph.special_values BACKEND [COUNT] [SEED] [NAME ...]`` calls each function of
``unifyarr/testing/cases``, or those that are named, so many times in each dtype. It lists where a compiled function,
or its compiled gradient, gives another result than the eager one. Functions of extremes are compared with NumPy, too.
"""

from __future__ import annotations

import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import unifyarr as ua
from unifyarr.container.container import flatten, unflatten
from unifyarr.errors import LostDerivativeError, TraceError, UnknownShapeError
from unifyarr.testing.cases import CASES, Case

from ..functions.calls import UNSET, find
from ..oracle import as_numpy

DTYPES = ("float64", "float32", "float16", "bfloat16", "complex128")
VALUES = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -2.5])
# The units that finite results may differ by, those of half precision included.
TOLERANCE = {"float64": 1e-6, "float32": 1e-3, "float16": 0.1, "bfloat16": 0.2, "complex128": 1e-6}
# Their least or greatest element decides the result, or enters the computation.
OF_EXTREMES = (
    *("max", "min", "maximum", "minimum", "clip", "ptp", "fmax", "fmin", "argmax", "argmin", "nanmax", "nanmin"),
    *("nanargmax", "nanargmin", "hypot", "logaddexp", "logaddexp2", "sort", "argsort", "median", "where", "isnan"),
    *("greater", "greater_equal", "less", "less_equal", "equal", "not_equal", "segment_max", "segment_min", "abs"),
    *("linalg.vector_norm", "linalg.matrix_norm", "linalg.norm", "nn.max_pool1d", "nn.max_pool2d", "nn.relu"),
    *("nn.relu6", "nn.leaky_relu", "nn.softmax", "nn.log_softmax", "nn.logsumexp", "nn.hardtanh", "erf", "interp"),
)
# An engine's pivots and iterations decide where a NaN goes.
DECOMPOSING = frozenset(
    {
        *("cholesky", "cond", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "lu", "lu_factor"),
        *("lu_solve", "matrix_power", "matrix_rank", "pinv", "qr", "slogdet", "solve", "solve_triangular", "svd"),
        *("svdvals", "tensorinv", "tensorsolve", "expm"),
    }
)


def _is_unset(name: str, given: Sequence[np.ndarray]) -> bool:
    """Return whether a function's result for arguments is documented to differ between backends."""
    if name == "interp":
        places = given[1].astype(np.float64)
        return bool((np.diff(places[~np.isnan(places)]) < 0).any() or (np.diff(np.isnan(places) * 1) < 0).any())
    # An infinite part and NaN are infinite to C99, and NaN where their squares are added up.
    return "norm" in name and any(bool((np.isinf(x) & np.isnan(x)).any()) for x in given if x.dtype.kind == "c")


def special(x: np.ndarray, dtype: str, draw: np.random.Generator) -> np.ndarray:
    """Return an array with special values at some places; one of other kinds than floats as it is."""
    if x.dtype.kind not in "fc":
        return x
    kind = np.dtype(ua.bfloat16 if dtype == "bfloat16" else dtype)
    if kind.kind != "c" and x.dtype.kind == "c":
        kind = x.dtype
    # Several NaNs hide how one spreads.
    share = draw.choice([0.0, 1 / max(x.size, 1), 0.3, 0.7])
    chosen = draw.random(x.shape) < share
    values = np.where(chosen, draw.choice(VALUES, x.shape), x.real)
    with np.errstate(all="ignore"):
        if kind.kind == "c":
            return values + 1j * np.where(chosen & (draw.random(x.shape) < 0.5), draw.choice(VALUES, x.shape), x.imag)
        return values.astype(kind)


def programs(name: str, case: Case) -> tuple[Callable[..., Any], list[np.ndarray]]:
    """Return a function of the arrays among the arguments of a case, and these arrays."""
    leaves, spec = flatten((list(case.arguments), dict(case.options)))
    places = [place for place, x in enumerate(leaves) if isinstance(x, np.ndarray)]

    def function(*arrays: ua.Array) -> list[ua.Array]:
        given = list(leaves)
        for place, x in zip(places, arrays, strict=True):
            given[place] = x if case.view is None else case.view(x)
        arguments, options = unflatten(spec, given)
        found = find(name)(*arguments, **options)
        return [each for each in flatten(found)[0] if isinstance(each, ua.Array)]

    return function, [leaves[place] for place in places]


def differs(found: np.ndarray, expected: np.ndarray, dtype: str) -> bool:
    """Return whether results differ in their NaNs and infinities, or in numbers by more than rounding."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return True
    if found.dtype.kind not in "fcV":
        return not np.array_equal(found, expected)
    if found.dtype.kind == "c":
        # A product of infinities has parts that depend on how it's computed.
        found, expected = (np.where(np.isfinite(x), x, np.nan * 1j) for x in (found, expected))
        return any(differs(getattr(found, part), getattr(expected, part), dtype) for part in ("real", "imag"))
    one, other = found.astype("float64"), expected.astype("float64")
    return not np.allclose(one, other, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype], equal_nan=True)


def gradient(function: Callable[..., Any]) -> Callable[..., list[ua.Array]]:
    """Return the derivatives of the sum of a function's results by its arrays of floats."""

    def total(*arrays: ua.Array) -> ua.Array:
        return sum((ua.sum(ua.real(x)) for x in function(*arrays) if x.dtype.dtype.kind in "fcV"), ua.asarray(0.0))

    def slopes(*arrays: ua.Array) -> list[ua.Array]:
        places = tuple(place for place, x in enumerate(arrays) if x.dtype.dtype.kind in "fcV")
        return list(ua.grad(total, argnums=places)(*arrays))

    return slopes


def differences(backend: str, name: str, dtype: str, count: int, seed: int, *, slopes: bool = False) -> Iterator[str]:
    """Yield a text for each case of which a compiled function gives another result than an eager one."""
    draw = np.random.default_rng([seed, zlib.crc32(name.encode())])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in CASES[name]:
            function, arrays = programs(name, case)
            if not any(x.dtype.kind in "fc" and x.size for x in arrays):
                continue
            if slopes:
                function = gradient(function)
            compiled = ua.compile(function)
            for _ in range(count):
                given = [special(x, dtype, draw) for x in arrays]
                text = _difference(backend, name, function, compiled, given, dtype, name in OF_EXTREMES and not slopes)
                if text:
                    yield f"{'gradient of ' * slopes}{name} {dtype} {case.options}: of {given}\n{text}"
                    break


def _difference(
    backend: str,
    name: str,
    function: Callable[..., Any],
    compiled: Callable[..., Any],
    given: Sequence[np.ndarray],
    dtype: str,
    beside_numpy: bool,
) -> str:
    try:
        expected = _results(backend, function, given)
    except (ValueError, TypeError, ArithmeticError, NotImplementedError, LostDerivativeError):
        # It's refused, and compiled functions may not see such values.
        return ""
    try:
        found = _results(backend, compiled, given)
    except (TraceError, UnknownShapeError):
        return ""
    if any(differs(*pair, dtype) for pair in zip(found, expected, strict=True)):
        return f"compiled {found}\neager {expected}"
    if not beside_numpy or _is_unset(name, given):
        return ""
    wanted = _results("numpy", function, given)
    return f"{backend} {expected}\nNumPy {wanted}" if any(map(differs, expected, wanted, [dtype] * len(wanted))) else ""


def _results(backend: str, function: Callable[..., Any], arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    with ua.use_backend(backend):
        return [as_numpy(each) for each in function(*[ua.asarray(x, copy=True) for x in arrays])]


def main(backend: str, *rest: str) -> None:
    """List the differences on a backend."""
    numbers = [int(each) for each in rest if each.isdigit()]
    names = [each for each in rest if not each.isdigit()] or [*CASES]
    names = [name for name in names if name not in UNSET and name.removeprefix("linalg.") not in DECOMPOSING]
    count, seed = [*numbers, *(10, 0)[len(numbers) :]]
    found = 0
    for name in names:
        for dtype in DTYPES:
            for slopes in (False, True):
                for text in differences(backend, name, dtype, count, seed, slopes=slopes):
                    found += 1
                    print(text, flush=True)
    print(f"{len(names)} functions on {backend}: {found} differences")


if __name__ == "__main__":
    main(*sys.argv[1:])
