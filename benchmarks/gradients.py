"""Derivatives: time and memory beside the same by hand, by the engines' own, and by PyTensor's.

python benchmarks/gradients.py [--programs square,network] [--engines numpy,torch,jax] [--rounds 7] [--threads 1]
    [--json FILE]

Rows and their ratios are those of ``benchmarks/compiled.py``, from which the measuring is: contenders take turns, and
each one's first result is compared with that of NumPy by hand. Aims are of the least time of the process. By hand on
NumPy the derivative is written out, in place; on torch it's ``torch.autograd``, and ``torch.func`` for Jacobians; on
JAX one ``jax.jit`` of ``jax.grad``; on TensorFlow a ``tf.GradientTape`` in a ``tf.function``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
import unifyarr as ua
from benchmarks import figures as figure
from benchmarks.compiled import DISTRIBUTIONS, Figures, Name, report, rows
from benchmarks.programs import COMPILED, NOT_COMPILED, REFERENCES, adjoint, recurrence, slopes, steps

PROGRAMS = {
    "square": slopes.SQUARE,
    "jacobian": slopes.JACOBIAN,
    "hessian": slopes.HESSIAN,
    "network": steps.NETWORK,
    "entropy": steps.ENTROPY,
    "attention": steps.TRANSFORMER,
    "wave": adjoint.PROGRAM,
    "scan": recurrence.KEPT,
    "checkpoint": recurrence.AGAIN,
}
# How many times as long as the reference of its engine ours may take.
AIMS = {
    ("square", "numpy", NOT_COMPILED): 20,
    ("square", "numpy", COMPILED): 6,
    ("square", "torch", NOT_COMPILED): 1,
    ("square", "torch", COMPILED): 0.5,
    ("network", "numpy", COMPILED): 2,
    ("network", "torch", COMPILED): 1,
    ("network", "jax", COMPILED): 1.3,
    ("attention", "torch", COMPILED): 1.1,
    ("attention", "jax", COMPILED): 1.1,
    ("wave", "numpy", COMPILED): 1,
}
# Programs whose memory shows more than the cost of a call.
LARGE = "attention", "wave", "scan", "checkpoint"


def aims(program: str, figures: dict[Name, Figures]) -> Iterator[str]:
    """Yield the aims of a program, and the results."""
    for (engine, name), mine in figures.items():
        beside = engine, REFERENCES.get(engine, "")
        if name not in (COMPILED, NOT_COMPILED) or beside not in figures:
            continue
        if (limit := AIMS.get((program, engine, name))) is not None:
            found = min(mine.process) / min(figures[beside].process)
            yield f"{program}: {name} on {engine} takes {found:.2f} of the time of {beside[1]} (at most {limit})"
        peak = figures[beside].peak
        if program in LARGE and mine.peak is not None and peak:
            yield f"{program}: {name} on {engine} takes {mine.peak / peak:.2f} of the memory of {beside[1]} (at most 1)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--engines", default="numpy,torch,jax,tensorflow,pytensor")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="write all figures there, too")
    options = parser.parse_args()
    ua.set_num_threads(options.threads)
    engines = options.engines.split(",")
    if "torch" in engines and importlib.util.find_spec("torch") is not None:
        import torch

        torch.set_num_threads(options.threads)
    versions = figure.versions(DISTRIBUTIONS)
    print(", ".join(versions.values()))
    table: list[dict[str, Any]] = []
    lines: list[str] = []
    for name in options.programs.split(","):
        program = PROGRAMS[name]
        for size in program.sizes:
            figures = report(program, size, engines, options.rounds)
            table += rows(name, size, figures)
            lines += aims(name, figures)
    print("\nAims", *lines, sep="\n  ")
    if options.json:
        what = {"versions": versions, "threads": options.threads, "rounds": options.rounds, "rows": table}
        Path(options.json).write_text(json.dumps(what, indent=1) + "\n")


if __name__ == "__main__":
    main()
