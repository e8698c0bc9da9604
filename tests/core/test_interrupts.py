"""An interrupt, wherever Python takes one, leaves arrays as they were before a write or as they are after it."""

from __future__ import annotations

import ast
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.writing.inplace import rewrite
from unifyarr._native import core

from ..natives import skip_unless
from . import interrupts

Arrays = list[ua.Array]
SIZE = 6
ROOT = Path(__file__).parents[2]


def _swap(x: Any, y: Any) -> None:
    x[1:] += y[0]
    y[...] = x * 2.0


_compiled = ua.compile(_swap)


def _update(x: Any, value: Any, **options: Any) -> None:
    ua.inplace_update(x, value, **options)


# Writes to the first of two arrays.
ONE: dict[str, Callable[[Arrays], Any]] = {
    "x[2] = v": lambda a: a[0].__setitem__(2, 7.0),
    "x[1:4] = v": lambda a: a[0].__setitem__(slice(1, 4), 7.0),
    "x[1:4] = y": lambda a: a[0].__setitem__(slice(1, 4), a[1][:3]),
    "x[...] = y": lambda a: a[0].__setitem__(..., a[1]),
    "x[integers] = v": lambda a: a[0].__setitem__(np.array([0, 3]), 7.0),
    "x[mask] = v": lambda a: a[0].__setitem__(a[0] > 1, 7.0),
    "x[1:] = x[:-1]": lambda a: a[0].__setitem__(slice(1, None), a[0][:-1]),
    "view[1:] = v": lambda a: a[0][::-1].__setitem__(slice(1, 3), 7.0),
    "reshaped[0] = v": lambda a: a[0].reshape(2, 3).__setitem__(0, 7.0),
    "x += 1": lambda a: a[0].__iadd__(1.0),
    "x += y": lambda a: a[0].__iadd__(a[1]),
    "x[2:] *= y": lambda a: a[0][2:].__imul__(a[1][2:]),
    "add(out=x)": lambda a: ua.add(a[0], a[1], out=a[0]),
    "cumulative_sum(out=x)": lambda a: ua.cumulative_sum(a[1], out=a[0]),
    "inplace_update": lambda a: _update(a[0], a[1]),
    "inplace_increment": lambda a: ua.inplace_increment(a[0][1:], 2.0),
}
# Writes to both of them.
SEVERAL: dict[str, Callable[[Arrays], Any]] = {
    "container += 1": lambda a: ua.Container(x=a[0], y=a[1]).__iadd__(1.0),
    "container of views": lambda a: _update(ua.Container(x=a[0][::-1], y=[a[1][1:]]), 5.0),
    "views of one": lambda a: _update(ua.Container(x=a[0][:2], y=a[0][2:], z=a[1]), 5.0),
    "tuple of out": lambda a: ua.unstack(ua.ones((2, SIZE)) * 5.0, out=(a[0], a[1])),
    "compiled": lambda a: _compiled(a[0], a[1]),
}


def made() -> Arrays:
    """Return two arrays that own their natives."""
    arrays = [ua.arange(float(SIZE)), ua.arange(float(SIZE)) + 10.0]
    for x in arrays:
        x[0] = 0.5
        x += 0.25
    return arrays


def seen(arrays: Arrays, views: Arrays) -> list[list[float]]:
    return [x.tolist() for x in (*arrays, *views)]


def views_of(arrays: Arrays) -> Arrays:
    views = [x[::-1] for x in arrays] + [x[1:4] for x in arrays]
    for view in views:
        # Kept until the next write, where the engine's arrays are immutable.
        view.tolist()
    return views


def check_all_interrupts(write: Callable[[Arrays], Any]) -> None:
    """Interrupt a write at each place, and hold what there is then against what there was, and will be."""
    if sys.version_info >= (3, 12):
        pytest.skip("from Python 3.12 on the tracer isn't told of each instruction: real signals are tested")
    for _ in range(2):
        # The first call compiles, and the second one uses its caches.
        arrays = made()
        views = views_of(arrays)
        before = seen(arrays, views)
        write(arrays)
        after = seen(arrays, views)
    assert before != after
    # Every place where writes are fast; a third of them elsewhere, unless time is no matter.
    thorough = arrays[0]._backend.mutable or os.environ.get("UNIFYARR_TEST_PROFILE") == "thorough"
    number = 1
    while True:
        arrays = made()
        views = views_of(arrays)
        was_interrupted = interrupts.interrupted_at(number, lambda arrays=arrays: write(arrays))  # type: ignore[misc]
        found = seen(arrays, views)
        if not was_interrupted:
            assert found == after
            break
        assert found in (before, after), f"interrupted at place {number}"
        # All can be written again, another thread too.
        thread = threading.Thread(target=lambda arrays=arrays: [x.__setitem__(slice(2, 4), 3.0) for x in arrays])
        thread.start()
        thread.join(timeout=60)
        assert not thread.is_alive(), f"interrupted at place {number}, a lock is held"
        expected = [[*values[:2], 3.0, 3.0, *values[4:]] for values in found[:2]]
        assert seen(arrays, []) == expected
        assert [x.tolist() for x in views[:2]] == [values[::-1] for values in expected]
        number += 1 if thorough else 3
    # A write in C has no place where Python takes an interrupt.
    assert number > 3 or core is not None


@pytest.mark.parametrize("name", ONE)
def test_an_interrupted_write_is_made_or_not(backend: str, name: str) -> None:
    check_all_interrupts(ONE[name])


@pytest.mark.parametrize("name", SEVERAL)
def test_interrupted_writes_of_several_arrays_are_all_made_or_none(backend: str, name: str) -> None:
    if name == "compiled" and backend in ("numpy", "torch"):
        pytest.skip("a compiled function writes to the memory of these engines step by step: see docs/contract.md")
    check_all_interrupts(SEVERAL[name])


def test_what_an_interrupt_left_keeps_its_memory_to_itself(backend: str) -> None:
    skip_unless(backend, "jax", why="donation")
    # A native that somebody took before or after the interrupt is never used up.
    for number in range(1, 400):
        x, _ = made()
        earlier = x.native
        values = np.array(earlier)
        was_interrupted = interrupts.interrupted_at(number, lambda x=x: x.__setitem__(2, 7.0))  # type: ignore[misc]
        later = x.native
        kept = np.array(later)
        for _ in range(2):
            x[1] = 3.0
            x += 1.0
        np.testing.assert_array_equal(np.array(earlier), values)
        np.testing.assert_array_equal(np.array(later), kept)
        if not was_interrupted:
            return
    raise AssertionError("the write never came to its end")


@pytest.mark.parametrize("program", ["rounds", "elements"])
def test_real_signals_lose_nothing(backend: str, program: str) -> None:
    if program == "elements":
        # TensorFlow would make tensors of many numbers: see ``_VALUES``.
        skip_unless(backend, "jax", why="arrays that a write uses up")
        if core is None:
            pytest.skip("without the compiled core an interrupt in JAX's own Python loses the array")
    # In a process of its own: a signal in the middle of an engine's code may leave the engine's caches or locks broken.
    seconds = "2" if program == "rounds" else "6"
    arguments = [sys.executable, "-m", "tests.core.interrupts", backend, seconds, "20261122", program]
    result = subprocess.run(arguments, capture_output=True, text=True, check=False, cwd=ROOT, timeout=240)
    assert result.returncode == 0, result.stdout + result.stderr[-2000:]
    assert "interrupts, 0 arrays wrong" in result.stdout


def test_an_interrupt_while_an_engine_tells_a_shape_is_raised(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_unless(backend, "jax", why="a class of arrays whose shape a function of Python tells")
    x = ua.ones(3)
    x += 1.0

    def interrupted(_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(x.native), "shape", property(interrupted))
        with pytest.raises(KeyboardInterrupt):
            x += 1.0
    assert x.tolist() == [2.0, 2.0, 2.0]


def test_a_finalizer_may_write_in_the_middle_of_a_write(backend: str) -> None:
    failures: list[Any] = []
    done: list[int] = []

    class Finalizer:
        """Part of a cycle, which only the garbage collector finds."""

        def __init__(self, x: ua.Array, place: int) -> None:
            self.x, self.place, self.itself = x, place, self

        def __del__(self) -> None:
            try:
                self.x[self.place] = 9.0
                done.append(self.place)
            except BaseException as error:
                failures.append(error)

    before = gc.get_threshold()
    x = ua.zeros(64)
    values = np.zeros(64)
    gc.collect()
    # The collector runs at every other allocation.
    gc.set_threshold(1)
    try:
        for number in range(300):
            place = 32 + number % 32
            Finalizer(x, place)
            x[place] = 0.0
            for k in range(3):
                x[(number + k) % 32] = float(number)
                values[(number + k) % 32] = number
    finally:
        gc.set_threshold(*before)
        gc.collect()
    assert not failures
    assert len(done) == 300
    assert x[:32].tolist() == values[:32].tolist()


def test_a_finalizer_in_the_middle_of_a_write_comes_after_it(backend: str) -> None:
    # As if the garbage collector ran in the engine's own call.
    x = ua.zeros(4)
    x[0] = 1.0
    ran = []

    def interfere(old: Any, results: list[Any] | None) -> Any:
        kernel, value = x._backend.kernel("set_window"), ua.asarray([5.0]).native
        if results is None:
            new = kernel(old, value, window=((0, 1, 1),))
        else:
            # The engine has used up the array.
            new = kernel.destructive(old, value, window=((0, 1, 1),), results=results)
        if not ran:
            ran.append(1)
            x[1] = 2.0
            x[2:] = ua.asarray([3.0, 4.0])
        return new

    rewrite(x, interfere)
    assert x.tolist() == [5.0, 2.0, 3.0, 4.0]
    x[1] = 4.0
    assert x.tolist() == [5.0, 4.0, 3.0, 4.0]


def _uncaught(node: ast.AST, is_guarded: bool = False) -> Iterator[int]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from _uncaught(child)
            continue
        if is_guarded and isinstance(child, ast.While):
            yield child.lineno
        yield from _uncaught(child, is_guarded or isinstance(child, (ast.Try, ast.With)))


def test_no_while_loop_stands_in_a_try_or_with() -> None:
    # In Python 3.12 and 3.13 the jump back of such a loop isn't covered by its handler, in 3.14 that of "while True"
    # isn't: an interrupt there would leave a lock taken. A ``for`` loop, and a loop in a function of its own, are.
    assert list(_uncaught(ast.parse("def f():\n with lock:\n  while g():\n   h()"))) == [3]
    assert not list(_uncaught(ast.parse("with lock:\n def f():\n  while g():\n   h()")))
    found = {
        str(path.relative_to(ROOT)): lines
        for path in sorted(ROOT.glob("unifyarr/**/*.py"))
        if (lines := list(_uncaught(ast.parse(path.read_text()))))
    }
    assert not found, "move the loop into a function"
