"""Programs in the compiled core and in Python: the same instructions give the same."""

from __future__ import annotations

import ast
import gc
import sys
import weakref
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.arrays.array import Array
from unifyarr._core.calling.programs import (
    CALL,
    DICT,
    EQUAL,
    FALSE,
    GET,
    ITEM,
    LIST,
    NATIVE,
    OWNER,
    SAME,
    SPREAD,
    TUPLE,
    WRAP,
    Builder,
    Instruction,
    PythonProgram,
)
from unifyarr._core.engines.registry import load
from unifyarr._native import core
from unifyarr.graph.run import argument_parts as nests

NUMPY = load("numpy")
KINDS = [PythonProgram] if core is None else [PythonProgram, core.Program]

kinds = pytest.mark.parametrize("kind", KINDS)


class Pair(NamedTuple):
    first: int
    second: int


def run(kind: Any, operands: list[Any], *code: tuple[Any, ...], constants: tuple[Any, ...] = ()) -> Any:
    """Run a program of these instructions, and return the value of its last slot."""
    size = 1 + max([0, *(slot for each in code for slot in (*each[2], *each[3]))])
    size = max(size, len(operands) + len(constants))
    whole = tuple([Instruction(*each, ()) for each in code])
    return kind(len(operands), constants, size, whole, size - 1)(*operands)


@kinds
def test_each_instruction(kind: Any) -> None:
    assert run(kind, [7, 2], (CALL, (divmod, ()), (0, 1), (2,))) == (3, 1)
    assert run(kind, ["10"], (CALL, (int, ("base",)), (0, 1), (2,)), constants=(2,)) == 2
    assert run(kind, [7, 2], (SPREAD, (divmod, ()), (0, 1), (2, 3))) == 1
    assert run(kind, [1j], (GET, "imag", (0,), (1,))) == 1.0
    assert run(kind, [(4, 5)], (ITEM, 1, (0,), (1,))) == 5
    assert run(kind, [4, 5], (TUPLE, tuple, (0, 1, 0), (2,))) == (4, 5, 4)
    assert run(kind, [4, 5], (LIST, None, (1, 0), (2,))) == [5, 4]
    assert run(kind, [], (TUPLE, tuple, (), (0,))) == ()
    named = run(kind, [4, 5], (TUPLE, Pair, (1, 0), (2,)))
    assert type(named) is Pair
    assert named == Pair(5, 4)
    made = run(kind, [4, 5], (DICT, ("b", 1), (1, 0), (2,)))
    assert list(made.items()) == [("b", 5), (1, 4)]


@kinds
def test_what_declines(kind: Any) -> None:
    one = object()
    for operation, what, operands, usual in [
        (SAME, None, [one, one], True),
        (SAME, None, [1.0, float("1")], False),
        (EQUAL, None, [1.0, float("1")], True),
        (EQUAL, None, [np.dtype("f4"), np.dtype("f8")], False),
        (FALSE, None, [0, 1], True),
        (FALSE, None, [1, 0], False),
    ]:
        code = ((operation, what, (0, 1), ()), (CALL, (float, ()), (), (2,)))
        assert run(kind, operands, *code) == (0.0 if usual else NotImplemented)
    declining = (CALL, (lambda x: NotImplemented, ()), (0,), (1,)), (CALL, (pytest.fail, ()), (1,), (2,))
    assert run(kind, [1], *declining) is NotImplemented


@kinds
def test_arrays(kind: Any) -> None:
    with ua.use_backend("numpy"):
        x = ua.arange(4.0)
    view = x[1:]
    assert run(kind, [x], (NATIVE, (np.ndarray, pytest.fail), (0,), (1,))) is x._native
    assert run(kind, [x], (NATIVE, (int, len), (0,), (1,))) == 4
    assert run(kind, [x], (OWNER, None, (0,), (1,))) is x
    assert run(kind, [view], (OWNER, None, (0,), (1,))) is x
    wrapping = (WRAP, (NUMPY, np.ndarray), (0, 1), (2,))
    made = run(kind, [x._native, x], wrapping)
    assert type(made) is Array
    assert made._native is x._native
    assert made.base is x
    assert run(kind, [x._native, None], wrapping).base is None
    assert run(kind, [1.0, None], wrapping) is NotImplemented
    assert run(kind, [1.0, None], (WRAP, (NUMPY, None), (0, 1), (2,)))._native == 1.0


@kinds
def test_errors_come_as_they_are(kind: Any) -> None:
    with pytest.raises(ZeroDivisionError):
        run(kind, [1, 0], (CALL, (divmod, ()), (0, 1), (2,)), (CALL, (pytest.fail, ()), (2,), (3,)))
    with pytest.raises(AttributeError):
        run(kind, [1], (GET, "missing", (0,), (1,)))
    with pytest.raises(IndexError):
        run(kind, [()], (ITEM, 0, (0,), (1,)))
    with pytest.raises(ValueError, match=r"several|results|longer|shorter"):
        run(kind, [7, 2], (SPREAD, (divmod, ()), (0, 1), (2, 3, 4)))
    with pytest.raises(ValueError, match=r"truth value"):
        run(kind, [np.ones(2), np.ones(2)], (EQUAL, None, (0, 1), ()))


@kinds
def test_memory_that_nothing_needs_is_free(kind: Any) -> None:
    class Big:
        pass

    seen: list[Any] = []

    def made(*_: Any) -> Any:
        big = Big()
        seen.append(weakref.ref(big))
        return big

    def asked(*_: Any) -> list[bool]:
        return [each() is None for each in seen]

    builder = Builder([], NUMPY, takes=("x",))
    builder.add(CALL, (made, ()), ["x"], ["first"])
    builder.add(CALL, (made, ()), ["first"], ["second"])
    builder.add(CALL, (asked, ()), ["second"], ["told"])
    whole = builder.returning("told")
    assert whole(1) == [True, False]
    assert [each() is None for each in seen] == [True, True]


@kinds
def test_many_slots(kind: Any) -> None:
    # More than there's room for on the stack of C.
    count = 500
    code = [(CALL, (int.__add__, ()), (place, 0), (place + 1,)) for place in range(count)]
    assert run(kind, [1], *code) == count + 1
    taken = tuple(range(count))
    assert run(kind, list(range(count)), (TUPLE, tuple, taken, (count,))) == taken


@pytest.mark.skipif(core is None, reason="of the compiled core")
def test_a_program_checks_what_it_is_made_of() -> None:
    with pytest.raises(ValueError, match="no slot 5"):
        core.Program(1, (), 2, ((TUPLE, tuple, (5,), (1,), ()),), 1)
    with pytest.raises(ValueError, match="the class"):
        core.Program(1, (), 2, ((TUPLE, list, (0,), (1,), ()),), 1)
    with pytest.raises(TypeError):
        core.Program(1, (), 2, ("abc",), 1)
    with pytest.raises(TypeError, match="1 operands got 2"):
        core.Program(1, (), 1, (), 0)(1, 2)
    with pytest.raises(ValueError, match="returns"):
        core.Program(1, (), 1, (), 3)


@kinds
def test_nothing_is_kept(kind: Any) -> None:
    kept = object()
    program = kind(1, (kept,), 3, (Instruction(TUPLE, tuple, (0, 1), (2,), ()),), 2)
    before = sys.getrefcount(kept)
    for _ in range(100):
        program(kept)
    assert sys.getrefcount(kept) == before
    cycle: list[Any] = []
    cycle.append(kind(0, (cycle, kept), 2, (), 0))
    del cycle
    gc.collect()
    assert sys.getrefcount(kept) == before


@pytest.mark.parametrize(
    "room", ["_core", "container", "derivatives", "functions", "graph", "modes", "random", "transformations"]
)
def test_no_text_is_compiled(room: str) -> None:
    for path in (Path(ua.__file__).parent / room).rglob("*.py"):
        called = [each.func for each in ast.walk(ast.parse(path.read_text())) if isinstance(each, ast.Call)]
        found = {each.id for each in called if isinstance(each, ast.Name)} & {"exec", "compile"}
        assert not found, f"{path} compiles text"


def test_programs_call_no_python(backend: str) -> None:
    if core is not None:
        builder = Builder([], load(backend), takes=("x",))
        assert type(builder.returning("x")) is core.Program


def _declined(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return "general", args, kwargs


@pytest.mark.skipif(core is None, reason="needs the compiled core")
def test_calls_are_opened_into_leaves() -> None:
    nest: Any = (nests.IS_TUPLE, None, ((nests.IS_FLOAT, None, ()), (nests.IS_EQUAL, "a", ())))
    named: Any = (nests.IS_DICT, ("b", 1), ((nests.IS_KEYED, 3, ()), (nests.IS_LIST, None, ())))
    opened = core.CompiledCall((nest,), ("x",), (named,), abs, None, [], lambda *leaves: leaves, True, False, _declined)
    whole = core.CompiledCall((nest,), ("x",), (named,), abs, None, [], lambda *all: all, False, True, _declined)
    fitting = {"b": -3, 1: []}
    assert opened((0.5, "a"), x=fitting) == (0.5, "a", -3)
    assert whole((0.5, "a"), x=fitting) == ([0.5, "a", -3], ((0.5, "a"),), {"x": fitting})
    others: list[tuple[Any, Any]] = [
        ((0.5,), fitting),
        ((0.5, "b"), fitting),
        ((1, "a"), fitting),
        ([0.5, "a"], fitting),
        ((0.5, "a"), {1: [], "b": -3}),
        ((0.5, "a"), {"b": -3, True: []}),
        ((0.5, "a"), {"b": 4, 1: []}),
        ((0.5, "a"), {"b": 3, 1: [0]}),
        ((0.5, "a"), {"b": 3}),
    ]
    for args, kwargs in others:
        assert opened(args, x=kwargs) == ("general", (args,), {"x": kwargs})
    assert opened() == ("general", (), {})
    assert opened((0.5, "a"), y=fitting) == ("general", ((0.5, "a"),), {"y": fitting})
    with pytest.raises(TypeError, match="bad operand type"):
        opened((0.5, "a"), x={"b": "text", 1: []})


@pytest.mark.skipif(core is None, reason="needs the compiled core")
@pytest.mark.parametrize(
    ("part", "error"),
    [(3, "is a tuple of its kind"), ((3, None), "is a tuple of its kind"), ((9, None, ()), "of kind 9 has no 0 parts"),
     ((nests.IS_DICT, (), ((nests.IS_FLOAT, None, ()),)), "of kind 6 has no 1 parts")],
)  # fmt: skip
def test_parts_of_arguments_are_checked(part: Any, error: str) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        core.CompiledCall((part,), (), (), abs, None, [], abs, True, False, _declined)


@pytest.mark.skipif(core is None, reason="needs the compiled core")
def test_calls_of_compiled_functions_keep_nothing() -> None:
    kept = object()
    call = core.CompiledCall(
        ((nests.IS_LIST, None, ((nests.IS_EQUAL, 1, ()), (nests.IS_KEYED, kept, ()))),), (), (), lambda x: x, None, [],
        lambda *leaves: leaves[1], True, False, _declined,
    )  # fmt: skip
    before = sys.getrefcount(kept)
    for _ in range(1000):
        assert call([1, kept]) is kept
        call([1, 2])
        call([2, kept])
    assert sys.getrefcount(kept) == before
    cycle: list[Any] = []
    cycle.append(core.CompiledCall((), (), (), cycle, None, [], kept, True, False, _declined))
    del cycle
    gc.collect()
    assert sys.getrefcount(kept) == before
