"""The slots of arrays: the table of ``Slots`` says which modules write them, and their invariants."""

from __future__ import annotations

import ast
import gc
import inspect
import re
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import unifyarr as ua
from unifyarr._core.arrays import slots
from unifyarr._core.arrays.array import Array
from unifyarr._core.arrays.recipes import View, is_recipe
from unifyarr._core.arrays.slots import Slots
from unifyarr._core.arrays.views import Window
from unifyarr._native import core

ROOT = Path(ua.__file__).parent
NAMES = {*slots.NAMES, *View.__slots__}
# Classes with slots of the same names: writes to their own aren't writes to an array's.
ARRAYS = {"Array", "View", "Slots"}


def table() -> dict[str, set[str]]:
    """Return which modules write each slot, as the docstring's table has it."""
    # Python 3.13 leaves no indentation.
    text = inspect.cleandoc(Slots.__doc__ or "").replace("\n", "\n    ")
    rule, *lines = re.findall(r"^    .*$", text, re.MULTILINE)[-200:]
    while not rule.startswith("    ==="):
        rule, *lines = lines
    last = rule.rindex(" =") + 1
    written: dict[str, set[str]] = {}
    for line in lines:
        if line[4:].startswith("``"):
            slot = line.split("``")[1]
            written[slot] = set()
        if written and not line.startswith("    ==="):
            written[slot] |= set(line[last:].split())
    return written


def stores(tree: ast.AST, cls: str | None = None) -> Iterator[str]:
    """Yield the slots that a module writes: in its code, and in the source texts that it compiles."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from stores(node, node.name)
            continue
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and node.attr in NAMES:
            own = isinstance(node.value, ast.Name) and node.value.id == "self"
            if not own or cls in ARRAYS:
                yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (slot for slot in re.findall(r"^\s*\w+\.(_\w+) = ", node.value, re.MULTILINE) if slot in NAMES)
        yield from stores(node, cls)


def test_the_table_has_every_slot() -> None:
    assert set(table()) == NAMES


def test_a_slot_is_written_by_the_modules_of_the_table_alone() -> None:
    written: dict[str, set[str]] = {slot: set() for slot in NAMES}
    for path in ROOT.rglob("*.py"):
        for slot in stores(ast.parse(path.read_text())):
            written[slot].add(path.stem)
    assert written == table(), "the table in the docstring of Slots says who writes each slot"


def check(x: Any) -> None:
    """Raise unless an array satisfies the table of slots."""
    base = x._base
    assert base is None or (base._base is None and base._backend is x._backend)
    if not is_recipe(x):
        return
    assert isinstance(x, View)
    assert not is_recipe(x._root)
    assert x._root._token is not None
    assert x._steps
    assert not any(isinstance(one, Window) and isinstance(two, Window) for one, two in zip(x._steps, x._steps[1:]))
    x.tolist()
    if hasattr(x, "_seen"):
        assert x._seen is x._root._token
        assert x._backend.to_numpy(x._value).tolist() == x.tolist()


def test_what_is_always_true_of_slots(backend: str) -> None:
    x = ua.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], backend=backend)
    views = [x[0], x[0][1:], x.T, x.T[1], x.T[1][::-1], x.flat, x.flat[2:], x[:, :2].reshape(2, 2), x.mT.mT]
    for step in range(3):
        for view in (x, *views):
            check(view)
            view[...] = step
            view += 1
            check(view)
        check(x)
    x += x
    for view in views:
        check(view)


def test_a_value_that_was_handed_out_is_not_owned(backend: str) -> None:
    x = ua.zeros(3, backend=backend)
    x += 1
    x[0] = 2.0
    x.native
    assert not getattr(x, "_owned", False)


def test_the_compiled_core_has_the_same_slots() -> None:
    if core is None:
        pytest.skip("the package was installed without its compiled part")
    found = [name for name, member in vars(core.Slots).items() if inspect.ismemberdescriptor(member)]
    assert sorted(found) == sorted(slots.NAMES)
    assert Slots.__base__ is core.Slots


def test_a_slot_that_is_not_set_is_an_attribute_error() -> None:
    x = ua.zeros(2)
    for name in ("_token", "_born", "_element"):
        with pytest.raises(AttributeError):
            getattr(x, name)
        with pytest.raises(AttributeError):
            delattr(x, name)
    x._token = x
    del x._token
    assert not hasattr(x, "_token")


def test_cycles_of_arrays_are_collected() -> None:
    x = ua.zeros(2)
    x._key, seen = [x], weakref.ref(x)
    del x
    gc.collect()
    assert seen() is None


def test_arrays_have_no_other_slots() -> None:
    x = ua.zeros(2)
    with pytest.raises(AttributeError):
        x.other = 1  # type: ignore[attr-defined]
    assert Array.__slots__ == ()
