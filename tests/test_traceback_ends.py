"""The last frame that a traceback shows is the user's, for a wrong call of anything public."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from unifyarr._native import core

from .hostile.judge import LONGEST

# It runs in a process of its own, since tests show tracebacks in full. Both modules are the user's there.
PROGRAM = """
import sys
import traceback
import unifyarr as ua

ua.set_backend(sys.argv[1])
from tests.test_error_names import CONSTRUCTORS, NUMPY_FUNCTIONS, attempts, wrong_calls
from tests.hostile.calls import good_calls

import warnings
import numpy as np

warnings.simplefilter("ignore")


def ends(name, calls):
    for what, call in calls:
        try:
            with np.errstate(all="ignore"):
                call()
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            if "/tests/" not in last.filename:
                yield f"{name} of {what}: {last.filename}:{last.lineno} {error!r}"


found = []
for name, make in good_calls().items():
    found += ends(name, attempts(make))
for name, function in NUMPY_FUNCTIONS.items():
    if name.rpartition(".")[2] not in CONSTRUCTORS:
        found += ends(name, wrong_calls(function))
print(len(found), *found[:20], sep="\\n")
"""


@pytest.mark.skipif(core is None, reason="without the compiled core tracebacks are shown in full")
def test_the_last_frame_is_the_users(backend: str) -> None:
    if backend not in ("numpy", "torch"):
        pytest.skip("the calls are the same on all backends, and the engines' own frames are left out alike")
    command = [sys.executable, "-c", PROGRAM, backend]
    given = {**os.environ, "UNIFYARR_TRACEBACK": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=given, cwd=Path(__file__).parents[1])
    count, *found = done.stdout.splitlines()
    assert count == "0", "\n".join(each[:LONGEST] for each in found)
