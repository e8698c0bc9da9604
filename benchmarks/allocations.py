"""How many arrays composed functions make on their way, beside the same computation by hand with ``out=``.

python benchmarks/allocations.py [numpy|torch ...] [--shape 1024,1024]

A row counts the allocations of the size of the whole input in one call, the most bytes at a time over those before it,
and the least milliseconds of several calls. The functions and their twins stand in ``tests/allocations.py``. Where Ivy
is installed, its own functions stand beside them, on its NumPy backend.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import timeit
from collections.abc import Callable
from pathlib import Path

import numpy as np

import unifyarr as ua

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.allocations import ENTRIES, MEASURES, calls

Calls = dict[str, Callable[[], object]]


def of_ivy(name: str, shape: tuple[int, int]) -> Calls:
    """Return Ivy's own function as a call, where it's installed and has one."""
    function = ENTRIES[name].ivys
    if function is None or importlib.util.find_spec("ivy") is None:
        return {}
    import ivy

    ivy.set_backend("numpy")
    given, out = ENTRIES[name].arrays(*shape)
    arrays = [ivy.array(each) for each in given]
    target = ivy.array(out)
    return {"Ivy": lambda: function(ivy, *arrays, out=target)}


def report(backend: str, shape: tuple[int, int]) -> None:
    size = 8 * shape[0] * shape[1]
    print(f"\n{backend}, float64 {shape[0]} x {shape[1]}: {size:,} bytes")
    print(f"{'':16}{'':12}{'arrays':>8}{'peak bytes':>14}{'peak':>8}{'ms':>9}")
    for name, entry in ENTRIES.items():
        timed = calls(entry, backend, shape)
        timed |= of_ivy(name, shape) if backend == "numpy" else {}
        for who, call in timed.items():
            count, peak = MEASURES[backend](call, size)
            best = min(timeit.repeat(call, number=1, repeat=20))
            print(f"{name:16}{who:12}{count:8}{peak:14,}{peak / size:8.3f}{best * 1e3:9.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("backends", nargs="*", default=[each for each in MEASURES if each in ua.available_backends()])
    parser.add_argument("--shape", default="1024,1024")
    options = parser.parse_args()
    examples, length = map(int, options.shape.split(","))
    print(f"NumPy {np.__version__}")
    for backend in options.backends:
        report(backend, (examples, length))


if __name__ == "__main__":
    main()
