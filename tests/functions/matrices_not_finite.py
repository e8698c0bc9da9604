"""Functions of random matrices with NaN and infinities: they return, and have an answer or NumPy's error.

Run ``python -m tests.functions.matrices_not_finite BACKEND COUNT SEED``.
"""

from __future__ import annotations

import faulthandler
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua
from unifyarr import linalg

from ..oracle import as_numpy

# A call of LAPACK that never returns can't be interrupted: the process ends.
SECONDS = 120
DTYPES = ["float32", "float64", "complex128"]
# These raise for a matrix that isn't finite.
REFUSING: dict[str, Callable[[Any], Any]] = {
    "eig": linalg.eig,
    "eigh": linalg.eigh,
    "eigvals": linalg.eigvals,
    "eigvalsh": linalg.eigvalsh,
    "svd": linalg.svd,
    "svdvals": linalg.svdvals,
    "pinv": linalg.pinv,
    "lstsq": lambda x: linalg.lstsq(x if x.ndim == 2 else x[-1], ua.ones(x.shape[-1], dtype=x.dtype)),
}
# These answer, or raise NumPy's error where NumPy does.
ANSWERING: dict[str, Callable[[Any], Any]] = {
    "det": linalg.det,
    "slogdet": linalg.slogdet,
    "qr": linalg.qr,
    "expm": linalg.expm,
    "lu": linalg.lu,
    "lu_factor": linalg.lu_factor,
    "third power": lambda x: linalg.matrix_power(x, 3),
    "inverse square": lambda x: linalg.matrix_power(x, -2),
    "inv": linalg.inv,
    "solve": lambda x: linalg.solve(x, ua.ones((*x.shape[:-1], 1), dtype=x.dtype)),
    "cholesky": linalg.cholesky,
}


def matrices(random: np.random.Generator, dtype: str) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return a positive definite matrix, the same or a stack with a number that isn't finite, and whether it's NaN."""
    size = int(random.integers(1, 9))
    half = random.normal(size=(size, size))
    good = (half @ half.T + size * np.eye(size)).astype(dtype)
    bad, number = good.copy(), random.choice([np.nan, np.inf, -np.inf])
    row, column = random.integers(size, size=2)
    if random.random() < 0.2:
        bad[:] = number
    else:
        bad[row, column] = bad[column, row] = number
    return good, np.stack([good, bad]) if random.random() < 0.5 else bad, bool(np.isnan(number))


def parts_of(found: Any) -> list[np.ndarray]:
    """Return the results of a call as NumPy's arrays."""
    return [as_numpy(part) for part in (found if isinstance(found, tuple) else (found,))]


def check(random: np.random.Generator) -> None:
    """Call each function once, of one matrix that isn't finite."""
    dtype = str(random.choice(DTYPES))
    good, bad, is_nan = matrices(random, dtype)
    for name, function in REFUSING.items():
        try:
            found = parts_of(function(ua.asarray(bad)))
        except np.linalg.LinAlgError:
            continue
        raise AssertionError(f"{name} of {bad!r} is {found}")
    for name, function in ANSWERING.items():
        try:
            found = parts_of(function(ua.asarray(bad)))
        except np.linalg.LinAlgError:
            # Zeros come of infinities: such a matrix is singular, or isn't positive definite.
            assert not is_nan, f"{name} of {bad!r} raises"
            continue
        number = next(part for part in reversed(found) if part.dtype.kind in "fc")
        if bad.ndim == 3:
            wanted = parts_of(function(ua.asarray(good)))
            for part, other in zip(found, wanted, strict=True):
                np.testing.assert_allclose(part[0], other, rtol=1e-3, atol=1e-3, err_msg=name)
            number = number[1]
        assert not is_nan or np.isnan(number).any(), f"{name} of {bad!r} is {found}"


def main(backend: str, count: str, seed: str) -> None:
    """Check as many matrices, and print the last one's number where a call never returns."""
    with ua.use_backend(backend), np.errstate(all="ignore"):
        for number in range(int(count)):
            print(f"\r{number}", end="", flush=True)
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            check(np.random.default_rng([int(seed), number]))
            faulthandler.cancel_dump_traceback_later()
    print("\nno difference")


if __name__ == "__main__":
    main(*sys.argv[1:])
