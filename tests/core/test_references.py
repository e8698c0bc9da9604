"""Counting references: trusted where it's tried and true, and nothing is used up elsewhere."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.arrays import ownership
from unifyarr.backends import references as _references

from ..natives import skip_unless
from ..oracle import assert_same

SIZE = 1 << 17
INTERPRETERS = ("python3.11", "python3.12", "python3.13", "python3.13t", "python3.14", "python3.14t", "pypy3")


def is_known(version: tuple[int, ...]) -> bool:
    """Say whether an interpreter of that version, with its lock, is known to count each reference."""
    return version < (3, 14)


def test_this_interpreter_is_looked_at() -> None:
    has_lock = not sysconfig.get_config_var("Py_GIL_DISABLED")
    known = sys.implementation.name == "cpython" and has_lock and is_known(sys.version_info)
    assert known == _references.COUNTED


@pytest.mark.parametrize("way", _references.WAYS, ids=lambda way: way.__name__)
def test_a_second_reference_shows(way: Callable[[_references.Holder], int]) -> None:
    if not is_known(sys.version_info):
        pytest.skip("this version borrows references: nothing is used up here, whatever the count")
    assert way(_references.Holder()) == _references.count(_references.Holder()) + 1 + (way is _references.WAYS[3])


def test_a_second_reference_in_another_thread_shows() -> None:
    if not _references.COUNTED:
        pytest.skip("nothing is used up by this interpreter")
    holder, has, counted = _references.Holder(), threading.Event(), threading.Event()

    def keep() -> None:
        second = holder.held
        has.set()
        counted.wait(timeout=60)
        del second

    thread = threading.Thread(target=keep)
    thread.start()
    assert has.wait(timeout=60)
    found = _references.count(holder)
    counted.set()
    thread.join()
    assert found == _references.count(_references.Holder()) + 1


def test_a_count_that_misses_references_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_references, "count", lambda holder: 2)
    assert not _references.sees_every_reference()
    assert not _references.can_be_trusted()


@pytest.mark.parametrize("what", ["version", "lock", "implementation"])
def test_an_interpreter_that_is_not_known_is_not_trusted(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if what == "version":
        monkeypatch.setattr(_references, "BORROWS", sys.version_info[:2])
    elif what == "lock":
        monkeypatch.setattr(_references, "has_no_lock", lambda: True)
    else:
        monkeypatch.setattr(sys.implementation, "name", "another")
    assert not _references.can_be_trusted()


def _found(name: str) -> str | None:
    # pyenv keeps interpreters apart, and has something on the path that finds some of them.
    versions = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    kept = sorted(str(path) for path in versions.glob(f"*/bin/{name}"))
    return kept[0] if kept else shutil.which(name)


@pytest.mark.parametrize("name", INTERPRETERS)
def test_the_interpreters_that_are_here(name: str) -> None:
    path = _found(name)
    code = (
        "import runpy, sys; found = runpy.run_path(sys.argv[1]); "
        "print(found['COUNTED'], *sys.version_info[:2], sys.implementation.name, "
        "found['has_no_lock']())"
    )
    if path is None:
        pytest.skip(f"{name} is not installed here")
    command = [path, "-I", "-c", code, _references.__file__]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not result.returncode, result.stderr
    counted, major, minor, implementation, is_free = result.stdout.split()
    known = implementation == "cpython" and is_free == "False" and is_known((int(major), int(minor)))
    assert (counted == "True") == known


def test_the_file_stands_alone() -> None:
    # As it's run by other interpreters, which lack all that is installed here.
    assert runpy.run_path(_references.__file__)["COUNTED"] == _references.COUNTED


@pytest.fixture
def uncounted(backend: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a backend on an interpreter whose counts can't be trusted."""
    monkeypatch.setattr(ownership, "COUNTED", False)
    if backend == "jax":
        from unifyarr.backends.jax import _memory

        monkeypatch.setattr(_memory, "COUNTED", False)
    return backend


WRITES: dict[str, Callable[[Any], Any]] = {
    "slice": lambda x: x.__setitem__(slice(10, 20), 3.0),
    "integers": lambda x: x.__setitem__([0, 5], 4.0),
    "mask": lambda x: x.__setitem__(x > 9.0, 5.0),
    "view": lambda x: x[::-1].__setitem__(slice(3, 9), 6.0),
    "operator": lambda x: x.__iadd__(1.0),
}


@pytest.mark.chunks(SIZE // 4)
@pytest.mark.parametrize("name", WRITES)
def test_without_counts_writes_copy_and_are_right(uncounted: str, name: str) -> None:
    values, x = np.arange(float(SIZE)), ua.arange(float(SIZE))
    for _ in range(4):
        place = x._native.unsafe_buffer_pointer() if uncounted == "jax" else None
        WRITES[name](x)
        WRITES[name](values)
        # The new memory is taken before the old is given back.
        assert uncounted != "jax" or x._native.unsafe_buffer_pointer() != place
    assert_same(x, values)


def test_without_counts_memory_is_not_used_twice(uncounted: str) -> None:
    skip_unless(uncounted, "jax", why="NumPy's arrays in memory that JAX takes")
    from unifyarr.backends.jax import _memory

    # A length that no other test has.
    array = np.frombuffer(bytes(4094), np.uint8)[1:]
    assert _memory.aligned(array).tolist() == array.tolist()
    assert array.nbytes not in _memory._rooms
