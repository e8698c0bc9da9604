"""The records of kernels: one for each, the only place that states its facts, and nothing is done without one."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._core.engines.registry import load
from unifyarr._core.kernels import record
from unifyarr._core.kernels.moving import METHODS
from unifyarr._core.kernels.record import ELEMENTWISE, KERNELS, KINDS, Alias, Derivative
from unifyarr.backends.kernels import Facts, state
from unifyarr.derivatives.rule import RULES
from unifyarr.testing import needs

from ..derivatives.cases import CASES
from ..derivatives.rules_oracle import of_rule, results

PACKAGE = Path(ua.__file__).parent
# One call of each kernel that has a rule of its own.
RULED = {name: (values, static) for name, values, static in reversed(CASES) if name in load("numpy").kernels}


def test_each_kernel_of_a_backend_has_a_record(backend: str) -> None:
    assert load(backend).kernels.keys() <= KERNELS.keys()


def test_what_is_said_of_an_implementation_is_declared(backend: str) -> None:
    for name, kernel in load(backend).kernels.items():
        # Engines have attributes of their own.
        if isinstance(kernel, FunctionType) and kernel.__module__.startswith("unifyarr."):
            said = {each for each in vars(kernel) if not each.startswith("_")}
            assert said <= Facts.__annotations__.keys(), name
    with pytest.raises(TypeError, match="gap is no fact of a kernel: these are support_native_out, native"):
        state(lambda x: x, gap=1)  # type: ignore[call-arg]


# Kernels that decline what no type tells: a device.
OF_DEVICES = {"ldexp"}


@needs("writes", why="a graph runs step by step: other engines trace kernels, which decline then")
def test_a_kernel_that_declines_says_when(backend: str) -> None:
    """A graph has a kernel that can't decline, or the operations of the body instead."""

    def names(code: CodeType) -> set[str]:
        inner = [names(each) for each in code.co_consts if isinstance(each, CodeType)]
        return {*code.co_names}.union(*inner)

    for name, kernel in load(backend).kernels.items():
        function = inspect.unwrap(kernel, stop=lambda each: not isinstance(each.__wrapped__, FunctionType))
        if isinstance(function, FunctionType) and "NotImplemented" in names(function.__code__):
            assert hasattr(kernel, "declines") or name in OF_DEVICES, name


def test_each_kernel_of_a_function_has_a_record() -> None:
    called = {name for each in DECLARATIONS.values() for name in (*each.kernels, *each.derivatives)}
    assert len(called) > 190
    assert called <= KERNELS.keys() - METHODS


def test_kinds_have_kernels_and_words() -> None:
    assert {each.kind for each in KERNELS.values()} == {*KINDS}
    assert len({each.name for each in KINDS}) == len(KINDS)
    assert all(each.summary for each in KINDS)


def test_a_kernel_is_declared_once() -> None:
    with pytest.raises(AssertionError, match="sort is declared twice"):
        record.declare(ELEMENTWISE, "sort")
    assert KERNELS["sort"].kind is not ELEMENTWISE


# -- what the records say -------------------------------------------------------------------------------------------


def test_a_derivative_that_is_lost_says_why() -> None:
    for name, each in KERNELS.items():
        if each.derivative is Derivative.LOST:
            assert name not in RULES
            assert len(each.instead) > 20


@pytest.mark.parametrize("name", sorted(name for name in RULED if KERNELS[name].kind is ELEMENTWISE))
def test_what_is_not_selected_is_harmless(name: str) -> None:
    """Elements that a mask leaves out are computed of a number where value and derivative are finite."""
    values, static = RULED[name]
    if name in ("where", "clip") or KERNELS[name].alias is not Alias.FRESH:
        pytest.skip("it computes nothing")
    operands = [np.full(x.shape, KERNELS[name].harmless, x.dtype) for x in values]
    with np.errstate(all="raise"):
        found = [*results("numpy", name, operands, static), *of_rule("numpy", name, operands, static)]
    assert all(np.isfinite(x).all() for x in found)


# -- facts stand in one place ------------------------------------------------------------------------------------------


def _statements(path: Path) -> Iterator[ast.stmt]:
    """Yield the statements of a module that declare something, beside functions, classes and public names."""
    for statement in ast.parse(path.read_text()).body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if is_text or isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
            continue
        if not ast.unparse(statement).startswith(("__all__", "NAMES")):
            yield statement


def _named(statement: ast.stmt) -> set[str]:
    """Return the kernels that a statement names, as texts, words in texts, or keywords."""
    found: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.update(node.value.split())
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
    return found & KERNELS.keys()


def _modules() -> Iterator[Path]:
    """Yield the modules that know no engine, beside those of records, NumPy's names and cases for tests."""
    apart = ("backends", "testing", "numpy")
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).parts
        if parts[0] not in apart and parts[:2] != ("_core", "kernels"):
            yield path


def test_few_statements_name_several_kernels() -> None:
    """Outside of records: tables of operators, of steps in C, and of words that are kernels' names too."""
    found = [
        f"{path.relative_to(PACKAGE)}:{statement.lineno}"
        for path in _modules()
        for statement in _statements(path)
        if len(_named(statement)) >= 3
    ]
    assert len(found) <= MOST_TABLES, found


MOST_TABLES = 10


@pytest.mark.parametrize("name", ["take", "sort", "scatter", "cholesky", "softmax"])
def test_the_facts_of_a_kernel_stand_in_few_files(name: str) -> None:
    """In its rules and its function, beside its record."""
    found: dict[str, Any] = {}
    for path in _modules():
        told = [statement for statement in _statements(path) if name in _named(statement)]
        decorated = [
            each
            for statement in ast.parse(path.read_text()).body
            if isinstance(statement, ast.FunctionDef)
            for each in statement.decorator_list
            if name in _named(ast.Expr(each))
        ]
        if told or decorated:
            found[str(path.relative_to(PACKAGE))] = told
    assert 1 <= len(found) <= 9, sorted(found)
