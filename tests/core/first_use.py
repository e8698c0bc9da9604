"""Everything for the first time, in eight threads at once: ``python -m tests.core.first_use BACKEND ROUNDS SEED``.

First uses (loading a backend, making a dispatcher, a registration, a cache) happen once in a process, so that each
round is a process of its own. Its threads make the same calls in the same order, drawn from the seed, and wait for each
other before each call. The results of all threads must equal those of the same calls afterwards.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

THREADS = 8
Calls = dict[str, Callable[[], Any]]


def all_calls() -> Calls:
    """Return a call of everything by name; none has been made yet."""
    # Not above: the first import of the package is a first use too.
    from ..functions.calls import CALLS, SEVERAL, UNSET, find, lift

    def call(name: str) -> Callable[[], Any]:
        arguments, options = (CALLS | SEVERAL)[name]
        return lambda: find(name)(*(lift(name, each) for each in arguments), **options)

    calls = {name: call(name) for name in CALLS | SEVERAL if name not in UNSET}
    return calls | {name: getattr(_Others, name) for name in vars(_Others) if not name.startswith("_")}


class _Others:
    """Calls other than functions of arrays."""

    @staticmethod
    def container() -> Any:
        import unifyarr as ua

        c = ua.Container(a=ua.ones(3), b=[ua.zeros(2), {"c": ua.ones(1)}])
        c += 1
        return ua.sum(c * 2).leaves()

    @staticmethod
    def compiled() -> Any:
        import unifyarr as ua

        def program(x: Any, y: Any) -> Any:
            x[1:] += y[0]
            return {"total": ua.sum(x * y), "x": x * 2}

        x = ua.ones(4)
        return [*ua.compile(program)(x, ua.ones(4) * 3).values(), x]

    @staticmethod
    def gradient() -> Any:
        import unifyarr as ua

        return ua.grad(lambda x: ua.sum(x**3))(ua.asarray([1.0, 2.0]))

    @staticmethod
    def jacobian() -> Any:
        import unifyarr as ua

        return ua.jacobian(lambda x: x * x)(ua.asarray([1.0, 2.0]))

    @staticmethod
    def batch() -> Any:
        import unifyarr as ua

        return ua.vmap(lambda x: ua.sum(x * x))(ua.asarray([[1.0, 2.0], [3.0, 4.0]]))

    @staticmethod
    def file() -> Any:
        import unifyarr as ua

        with tempfile.TemporaryDirectory() as folder:
            ua.Container(a=ua.arange(3), b=[ua.ones(2)]).save(os.path.join(folder, "tree.npz"))
            return ua.Container.load(os.path.join(folder, "tree.npz")).leaves()

    @staticmethod
    def draws() -> Any:
        import unifyarr as ua

        generator = ua.random.Generator(3)
        return generator.normal(size=3), generator.integers(0, 9, size=3), generator.permutation(4)

    @staticmethod
    def native_draws() -> Any:
        import unifyarr as ua

        generator = ua.random.Generator(3, engine="native")
        return generator.normal(size=3).shape, generator.uniform(size=2).dtype == ua.float64

    @staticmethod
    def operation() -> Any:
        import unifyarr as ua

        @ua.op
        def twice_plus(x: ua.Array, y: ua.Array) -> ua.Array:
            return x * 2 + y

        return twice_plus(ua.ones(2), ua.ones(2)), ua.compile(lambda x: twice_plus(x, x))(ua.ones(2))

    @staticmethod
    def checked() -> Any:
        import unifyarr as ua

        with ua.debug():
            x = ua.ones(3)
            x[1:] = 2.0
            return ua.add(x, x, out=x)

    @staticmethod
    def writes() -> Any:
        import unifyarr as ua

        x = ua.zeros((3, 4))
        view, turned = x[1:], x.T[::-1]
        view[0] = 1.0
        turned[1] += 2.0
        x[x > 2.0] = 5.0
        x[np.array([0, 2])] = 7.0
        return ua.asarray(x, copy=True), view, turned

    @staticmethod
    def moves() -> Any:
        import pickle

        import unifyarr as ua

        x = ua.arange(4)
        return x.to_backend("numpy"), pickle.loads(pickle.dumps(x)), np.asarray(x), ua.to_backend([x], "numpy")

    @staticmethod
    def namespace() -> Any:
        import unifyarr as ua

        xp = ua.ones(2).__array_namespace__()
        return xp.sum(xp.asarray([1.0, 2.0])), str(xp.__array_namespace_info__().default_dtypes()["integral"])

    @staticmethod
    def from_numpy() -> Any:
        import unifyarr as ua

        return np.add(ua.ones(2), 1), np.concatenate([ua.ones(1), ua.zeros(1)])


def values(result: Any) -> Any:
    """Return the values of a result, for comparing."""
    if isinstance(result, (tuple, list)):
        return [values(each) for each in result]
    if isinstance(result, (str, bool, int)):
        return result
    return np.asarray(result)


def same(first: Any, second: Any) -> bool:
    if isinstance(first, list):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, np.ndarray):
        return first.dtype == second.dtype and np.array_equal(first, second, equal_nan=first.dtype.kind in "fc")
    return bool(first == second)


def in_this_process(backend: str, seed: int, count: int | None) -> list[str]:
    """Make calls in all threads at once; return the failures. ``count`` limits the number of functions."""
    import unifyarr as ua

    calls = all_calls()
    others = [name for name in vars(_Others) if not name.startswith("_")]
    functions = [name for name in calls if name not in others]
    draw = random.Random(seed)
    names = [*others, *(functions if count is None else draw.sample(functions, count))]
    draw.shuffle(names)
    results: list[dict[str, Any]] = [{} for _ in range(THREADS)]
    barrier = threading.Barrier(THREADS, timeout=300)

    def make(number: int) -> None:
        barrier.wait()
        with ua.use_backend(backend), np.errstate(all="ignore"):
            for name in names:
                barrier.wait()
                try:
                    results[number][name] = values(calls[name]())
                except BaseException:
                    results[number][name] = traceback.format_exc()

    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=make, args=(number,)) for number in range(THREADS)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    wrong: list[str] = []
    with ua.use_backend(backend), np.errstate(all="ignore"):
        for name in names:
            found = [each.get(name, "nothing, as the thread ended before") for each in results]
            errors = [each for each in found if isinstance(each, str)]
            expected = values(calls[name]())
            if errors:
                wrong.append(f"{name} in {len(errors)} of {THREADS} threads: {errors[0]}")
            elif not all(same(expected, each) for each in found):
                wrong.append(f"{name} gives {found}, and later {expected}")
    return wrong


def in_processes(backend: str, rounds: int, seed: int, count: int | None = None) -> list[str]:
    """Run rounds, each in a process of its own, and return the failures."""
    wrong = []
    for number in range(seed, seed + rounds):
        how = [sys.executable, "-m", __spec__.name if __spec__ else "tests.core.first_use", "--round", backend]
        result = subprocess.run(
            [*how, str(number), *([] if count is None else [str(count)])],
            capture_output=True,
            text=True,
            check=False,
            timeout=1800,
            cwd=Path(__file__).parents[2],
        )
        if result.returncode:
            wrong.append(f"seed {number}: {result.stdout}{result.stderr[-4000:]}")
    return wrong


if __name__ == "__main__":
    if sys.argv[1] == "--round":
        found = in_this_process(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else None)
    else:
        found = in_processes(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    print("\n".join(found) or "no difference")
    sys.exit(bool(found))
