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

for call in (function, operator, reflected, in_place, element, read, written, deleted, axis, arguments, known):
    print(call.__name__, fails(call)[-1])
# What the user's own function raises is shown as it came.
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
    assert found == {**{name: name for name in NAMES}, "own": "thrown"}


def test_tracebacks_in_full() -> None:
    found = run("numpy", UNIFYARR_TRACEBACK="full")
    assert found["own"] == "thrown"
    assert found["axis"] not in NAMES
