"""Large arrays, function by function, beside NumPy or torch: the best of several runs that alternate.

python benchmarks/large.py [--size 500000] [--over 1.3] [--only TEXT] [BACKEND ...]

A row is one call on arrays of 500,000 elements, or on matrices of about as many: it shows the cost of a workaround, and
hides the fixed cost of a call. ``--over`` shows the rows whose ratio is greater, ``--only`` those whose call has a text
in it.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import time
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

REPEATS = 15

# A call of ours, the one of NumPy, and the one of torch: expressions of the arrays that ``arrays`` makes; "=" is the
# call of ours with the engine's module in place of "ua", and "-" says that the engine has none.
ROWS = """
sort(x)                              | =                                    | xp.sort(x).values
sort(i)                              | =                                    | xp.sort(i).values
sort(x, stable=False)                | np.sort(x)                           | xp.sort(x).values
sort(x, descending=True)             | np.sort(x)[::-1]                     | xp.sort(x, descending=True).values
argsort(x)                           | np.argsort(x, stable=True)           | xp.argsort(x, stable=True)
argsort(x, stable=False)             | np.argsort(x)                        | xp.argsort(x)
argsort(i)                           | np.argsort(i, stable=True)           | xp.argsort(i, stable=True)
count_nonzero(b)                     | =                                    | =
count_nonzero(x)                     | =                                    | =
count_nonzero(m, axis=0)             | =                                    | xp.count_nonzero(m, dim=0)
clip(x, 0, 0.5)                      | =                                    | =
clip(x, 0)                           | np.clip(x, 0, None)                  | =
clip(x, y, z)                        | =                                    | =
clip(i, 10, 500)                     | =                                    | =
maximum(x, 0)                        | =                                    | xp.clamp_min(x, 0)
maximum(x, y)                        | =                                    | =
pow(x, 2)                            | np.square(x)                         | =
pow(u, 0.5)                          | np.sqrt(u)                           | =
pow(x, 3)                            | =                                    | =
bincount(s)                          | =                                    | =
bincount(s, weights=x)               | =                                    | =
histogram(x, 50)                     | =                                    | xp.histogram(x, 50)
eye(700)                             | =                                    | xp.eye(700, dtype=xp.float64)
linspace(0, 1, n)                    | =                                    | xp.linspace(0, 1, n, dtype=xp.float64)
arange(n)                            | =                                    | =
zeros(n)                             | =                                    | xp.zeros(n, dtype=xp.float64)
full(n, 1.5)                         | =                                    | xp.full((n,), 1.5, dtype=xp.float64)
random.Generator(0).random(n)        | host.random(n)                       | -
random.Generator(0).normal(size=n)   | host.normal(size=n)                  | -
random.Generator(0).integers(9, size=n) | host.integers(9, size=n)          | -
cov(few)                             | =                                    | =
corrcoef(few)                        | =                                    | =
matmul(few, few.T)                   | =                                    | =
matmul(batch, other)                 | =                                    | =
einsum("ij->j", m)                   | =                                    | =
einsum("ij,kj->ik", few, few)        | =                                    | =
einsum("ij,ij->i", m, m)             | =                                    | =
tensordot(few, few.T, axes=1)        | =                                    | xp.tensordot(few, few.T, dims=1)
erf(x)                               | scipy.erf(x)                         | =
erfc(x)                              | scipy.erfc(x)                        | =
nn.gelu(x)                           | 0.5 * x * (1 + scipy.erf(x * 0.5**0.5)) | xp.nn.functional.gelu(x)
nn.relu(x)                           | np.maximum(x, 0)                     | xp.relu(x)
nn.sigmoid(x)                        | 1 / (1 + np.exp(-x))                 | xp.sigmoid(x)
nn.softmax(m)                        | by_hand.softmax(m)                   | xp.softmax(m, -1)
nn.log_softmax(m)                    | by_hand.log_softmax(m)               | xp.log_softmax(m, -1)
nn.linear(few, few)                  | few @ few.T                          | xp.nn.functional.linear(few, few)
nn.logsumexp(m, axis=1)              | np.log(np.exp(m).sum(1))             | xp.logsumexp(m, 1)
tan(x)                               | =                                    | =
tanh(x)                              | =                                    | =
expm1(x)                             | =                                    | =
sinh(x)                              | =                                    | =
floor_divide(x, u)                   | =                                    | =
floor_divide(i, 7)                   | =                                    | =
remainder(x, u)                      | =                                    | =
remainder(i, 7)                      | =                                    | =
nextafter(x, y)                      | =                                    | =
add(x, f)                            | =                                    | =
multiply(i, 2.5)                     | =                                    | =
sum(x)                               | =                                    | =
sum(b)                               | =                                    | =
sum(m, axis=0)                       | =                                    | xp.sum(m, 0)
prod(m, axis=1)                      | =                                    | xp.prod(m, 1)
mean(m, axis=1)                      | =                                    | xp.mean(m, 1)
max(x)                               | =                                    | xp.amax(x)
min(m, axis=0)                       | =                                    | xp.amin(m, 0)
std(x)                               | =                                    | xp.std(x, correction=0)
var(m, axis=0)                       | =                                    | xp.var(m, 0, correction=0)
any(b)                               | =                                    | =
argmax(x)                            | =                                    | =
argmin(m, axis=1)                    | =                                    | xp.argmin(m, 1)
cumulative_sum(x)                    | =                                    | xp.cumsum(x, 0)
cumulative_prod(x)                   | =                                    | xp.cumprod(x, 0)
diff(x)                              | =                                    | =
median(x)                            | =                                    | xp.quantile(x, 0.5)
quantile(x, 0.3)                     | =                                    | =
where(b, x, y)                       | =                                    | =
where(b, x, 0)                       | =                                    | =
nonzero(b)                           | =                                    | xp.nonzero(b, as_tuple=True)
searchsorted(ordered, x)             | =                                    | =
take(x, j)                           | =                                    | xp.index_select(x, 0, j)
take_along_axis(m, jm, axis=1)       | =                                    | xp.take_along_dim(m, jm, 1)
unique_values(s)                     | np.unique(s)                         | xp.unique(s)
unique_counts(s)                     | =                                    | xp.unique(s, return_counts=True)
unique_inverse(s)                    | =                                    | xp.unique(s, return_inverse=True)
isin(s, few_s)                       | =                                    | =
concat([x, y])                       | =                                    | xp.cat([x, y])
stack([x, y])                        | =                                    | =
roll(x, 3)                           | =                                    | =
flip(m, axis=0)                      | np.flip(m, 0).copy()                 | xp.flip(m, (0,))
repeat(x, 2)                         | =                                    | xp.repeat_interleave(x, 2)
tile(x, (2,))                        | =                                    | =
tril(m)                              | =                                    | =
triu(m)                              | =                                    | =
linalg.trace(m)                      | =                                    | xp.trace(m)
kron(thin, thin)                     | =                                    | =
astype(x, "float32")                 | x.astype("float32")                  | x.to(xp.float32)
interp(x, ordered, ordered)          | =                                    | -
fft.fft(x)                           | =                                    | =
fft.rfft(x)                          | =                                    | =
linalg.inv(square)                   | =                                    | =
linalg.solve(square, square)         | =                                    | =
linalg.svd(square)                   | =                                    | =
linalg.qr(square)                    | =                                    | =
linalg.eigh(symmetric)               | =                                    | =
linalg.cholesky(symmetric)           | =                                    | =
linalg.det(square)                   | =                                    | =
linalg.vector_norm(x)                | =                                    | =
linalg.matrix_norm(m)                | =                                    | =
"""


def arrays(size: int) -> dict[str, np.ndarray]:
    """Return the operands by name, as arrays of NumPy."""
    host = np.random.default_rng(0)
    side = round(size**0.5)
    x, y, z = (host.normal(size=size) for _ in range(3))
    square = host.normal(size=(200, 200))
    few = host.normal(size=(20, size // 20))
    return {
        "x": x,
        "y": y,
        "z": np.maximum(y, z),
        "u": host.uniform(0.1, 3, size),
        "f": x.astype(np.float32),
        "i": host.integers(0, 1 << 40, size),
        "s": host.integers(0, 1000, size),
        "j": host.integers(0, size, size),
        "b": x > 0,
        "m": host.normal(size=(side, side)),
        "jm": host.integers(0, side, (side, side)),
        "few": few,
        "few_s": np.arange(0, 1000, 7),
        "ordered": np.sort(host.normal(size=1000)),
        "thin": host.normal(size=(26, 26)),
        "batch": host.normal(size=(40, 50, 60)),
        "other": host.normal(size=(40, 60, 30)),
        "square": square,
        "symmetric": square @ square.T + np.eye(200),
    }


class by_hand:
    """Functions that NumPy lacks."""

    @staticmethod
    def softmax(x: np.ndarray) -> np.ndarray:
        powers = np.exp(x - x.max(-1, keepdims=True))
        powers /= powers.sum(-1, keepdims=True)
        return powers

    @staticmethod
    def log_softmax(x: np.ndarray) -> np.ndarray:
        shifted = x - x.max(-1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def interleaved(calls: tuple[Callable[[], Any], ...]) -> list[float]:
    """Return microseconds of each call in this process, the best of runs that alternate."""
    times: list[list[float]] = [[] for _ in calls]
    numbers = [max(1, int(0.005 / max(timeit.timeit(call, number=1) for _ in range(2)))) for call in calls]
    for _ in range(REPEATS):
        for call, number, found in zip(calls, numbers, times, strict=True):
            found.append(timeit.timeit(call, timer=time.process_time, number=number) / number)
    return [1e6 * min(each) for each in times]


def rows(backend: str, size: int) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Return by its text the native call and ours, of a backend's rows."""
    names: dict[str, Any] = {"ua": ua, "n": size, "by_hand": by_hand, "host": np.random.Generator(np.random.Philox(0))}
    names["np"] = names["xp"] = np
    if importlib.util.find_spec("scipy") is not None:
        names["scipy"] = importlib.import_module("scipy.special")
    if backend == "torch":
        names["xp"] = importlib.import_module("torch")
    own: dict[str, Any] = {name: ua.asarray(each) for name, each in arrays(size).items()}
    natives: dict[str, Any] = {name: each.native for name, each in own.items()}
    found = {}
    for line in ROWS.strip().splitlines():
        text, of_numpy, of_torch = (part.strip() for part in line.split("|"))
        native = of_torch if backend == "torch" else of_numpy
        if native == "-" or ("scipy" in native and "scipy" not in names):
            continue
        native = f"xp.{text}" if native == "=" else native
        calls = (eval(f"lambda: {native}", names | natives), eval(f"lambda: ua.{text}", names | own))
        found[text] = calls
    return found


def report(backend: str, options: argparse.Namespace) -> None:
    """Print the rows of a backend, and how many there are."""
    with ua.use_backend(backend):
        print(f"\n{backend:44} native µs    ours µs  ratio")
        ratios = []
        for text, calls in rows(backend, options.size).items():
            if options.only not in text:
                continue
            try:
                for call in calls:
                    call()
            except Exception as error:
                print(f"  {text:42} {type(error).__name__}: {error}")
                continue
            native, ours = interleaved(calls)
            ratios.append(ours / native)
            if ratios[-1] > options.over:
                print(f"  {text:42} {native:9.1f}  {ours:9.1f} {ratios[-1]:6.2f}", flush=True)
        print(f"  {len(ratios)} rows: median {np.median(ratios):.2f}, worst {max(ratios, default=0):.2f}")


def main() -> None:
    """Read the options, and report each backend."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("backends", nargs="*", default=["numpy", "torch"])
    parser.add_argument("--size", type=int, default=500_000)
    parser.add_argument("--over", type=float, default=0.0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    for backend in options.backends:
        report(backend, options)


if __name__ == "__main__":
    main()
