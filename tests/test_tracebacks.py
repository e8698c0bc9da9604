"""Tracebacks of errors: they end where the user's code is, unless all of them is asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from unifyarr._native import core

PROGRAM = """
import pdb, sys, traceback
import numpy as np
import unifyarr as ua
import unifyarr.numpy as unp

ua.set_backend(sys.argv[1])
x = ua.ones(3)
seen = []


def names(error):
    return [each.name for each in traceback.extract_tb(error.__traceback__)]


def fails(call):
    try:
        call()
    except Exception as error:
        return names(error)


def thrown(x):
    raise KeyError("mine")


def function(): ua.add(x, ua.ones(4))
def operator(): return x + ua.ones(4)
def reflected(): return [1.0] * 4 - x
def in_place():
    global x
    x += ua.ones(4)
def element(): return x[0] + ua.ones((2, 2))[0, 5]
def read(): return x[7]
def written(): x[7] = 1.0
def deleted(): del x[0]
def axis(): return ua.sum(x, axis=4)
def arguments(): return ua.add()
def known():
    for _ in range(5):
        ua.sort(x)
    return ua.sort(x, axis=3)
def container(): return ua.exp(ua.Container(x=x, y=["a"]))

compiled = ua.compile(lambda x: ua.add(x, ua.ones(4)))


def method(): x.sum(axis=4)
def method_arguments(): x.reshape(1, 2, ordering="C")
def python_method(): x.dot(ua.ones(7))
def conversion(): float(x)
def truth(): return not x
def getter(): return x.mT
def setter(): x.shape = (2, 2)
def view_in_place():
    v = x[:2]
    v += ua.ones(4)
def numpy_function(): unp.concatenate([x, ua.ones((2, 2))])
def numpy_ufunc(): unp.add(x, ua.ones(4))
def namespace(): ua.result_type("no such dtype")
def gradient(): ua.grad(lambda x: x)(x)
def own_gradient(): ua.custom_vjp(lambda x: x)(x)
def draw(): ua.random.Generator(1).normal(size=-1)
def report(): ua.compile(thrown).graph()
def batches(): ua.vmap(lambda x: x)(1.0)
def option_of_compile(): ua.compile(thrown, mode="none")
def loop(): ua.fori_loop(0, 2, 3, x)
def backend(): ua.set_backend("none")


CALLS = [
    function, operator, reflected, in_place, element, read, written, deleted, axis, arguments, known, method,
    method_arguments, python_method, conversion, truth, getter, setter, view_in_place, numpy_function, numpy_ufunc,
    namespace, gradient, own_gradient, batches, option_of_compile, draw, report, loop, backend,
]
for call in CALLS:
    print(call.__name__, fails(call)[-1])
# What the user's own function raises is shown as it came.
# The last frame of a traced function is the user's own.
print("compiled", fails(lambda: compiled(x))[-1])
print("own", fails(lambda: ua.vmap(thrown)(x))[-1])
"""
NAMES = [
    "function",
    "operator",
    "reflected",
    "in_place",
    "element",
    "read",
    "written",
    "deleted",
    "axis",
    "arguments",
    "known",
    "method",
    "method_arguments",
    "python_method",
    "conversion",
    "truth",
    "getter",
    "setter",
    "view_in_place",
    "numpy_function",
    "numpy_ufunc",
    "namespace",
    "gradient",
    "own_gradient",
    "batches",
    "option_of_compile",
    "draw",
    "report",
    "loop",
    "backend",
]


def run(backend: str, **environment: str) -> dict[str, str]:
    """Return the last frame of each error that the program meets."""
    command = [sys.executable, "-c", PROGRAM, backend]
    given = {**os.environ, **environment}
    shown = subprocess.run(
        command, capture_output=True, text=True, check=True, env=given, cwd=Path(__file__).parents[1]
    )
    return dict(line.split() for line in shown.stdout.splitlines())  # type: ignore[misc]


@pytest.mark.skipif(core is None, reason="without the compiled core tracebacks are shown in full")
def test_the_last_frame_is_the_users(backend: str) -> None:
    found = run(backend, UNIFYARR_TRACEBACK="")
    assert found == {**{name: name for name in NAMES}, "compiled": "<lambda>", "own": "thrown"}


def test_tracebacks_in_full() -> None:
    found = run("numpy", UNIFYARR_TRACEBACK="full")
    assert found["own"] == "thrown"
    assert found["axis"] not in NAMES
