"""What to write in the place of Python that asks for a value inside a trace."""

from __future__ import annotations

import ast
import itertools
import linecache
from collections.abc import Iterator, Mapping
from functools import lru_cache
from opcode import opmap
from types import FrameType, ModuleType
from typing import Any, Protocol, TypeGuard

from ..._core.values.caller import NUMERIC

Place = tuple[int, int, int, int]
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

WHILE = "write the loop as ua.while_loop(condition, body, carry)"
UNTIL = "a loop that ends when something holds is ua.while_loop(condition, body, carry)"
IF = "write the branch as ua.cond(predicate, function, function), or choose element by element by ua.where()"
IF_ELSE = "choose by ua.where(condition, a, b), or branch by ua.cond(predicate, function, function)"
LOGIC = "in the place of `and`, `or`, `not` and `a < b < c` write `(a < b) & (b < c)`, `|` and `~`"
WITHIN = "in the place of `in` write ua.any(x == value)"
CHECK = "check it outside, before or after the call"
RANGE = "a loop of as many steps as an array says is ua.fori_loop(start, stop, body, carry); over rows it's ua.scan()"
SLICE = (
    "the length of a slice has to be known: write to all and choose by ua.where(ua.arange(n) < stop, x, 0), or take a "
    "part of a known length by an array of indices, x[start + ua.arange(length)]"
)
CHOSEN = (
    "choose one of several functions by ua.switch(index, functions), and one of several rows of an array by x[index]"
)
NUMBER = "leave it a 0-d array, which does what a number does; to decide by it use ua.where() or ua.cond()"
TEXT = "return it, and print it after the call"
NATIVE = "use the functions of unifyarr in the place of NumPy's and SciPy's"
ANY = (
    "choose between values with ua.where(), branch with ua.cond(), loop with ua.while_loop(), ua.fori_loop() or "
    "ua.scan()"
)
LENGTH = "lengths have to be known: pass the number as a Python integer"
# What builtins and methods are here.
INSTEAD = {
    "max": "the larger of two is ua.maximum(a, b), the largest of an array ua.max(x)",
    "min": "the smaller of two is ua.minimum(a, b), the smallest of an array ua.min(x)",
    "any": "write ua.any(x), which is an array too; to decide by it use ua.where() or ua.cond()",
    "all": "write ua.all(x), which is an array too; to decide by it use ua.where() or ua.cond()",
    "sorted": "write ua.sort(x)",
    "round": "write ua.round(x)",
    "int": f"write ua.astype(x, ua.int64), or {NUMBER}",
    "bool": f"write ua.astype(x, ua.bool), or {NUMBER}",
    "range": RANGE,
    **dict.fromkeys(("float", "complex", "item"), NUMBER),
    **dict.fromkeys(("tolist", "str", "repr", "format", "print"), TEXT),
    **dict.fromkeys(
        (
            *("arange", "array_split", "broadcast_to", "empty", "eye", "full", "geomspace", "identity", "linspace"),
            *("logspace", "ones", "rand", "randn", "repeat", "reshape", "resize", "split", "tile", "tri", "zeros"),
        ),
        LENGTH,
    ),
    **{
        name: f"ua.{name}(a, b) gives an array; to decide by it use ua.where() or ua.cond()"
        for name in ("allclose", "array_equal", "array_equiv")
    },
    "roll": "a shift that values say is x[(ua.arange(n) - shift) % n]",
}


def advice(frame: FrameType) -> str:
    """Return what to write in the place of what a frame is about to do, which asks for a value."""
    place = _place(frame)
    source = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
    if place is None or not source:
        return ANY
    try:
        tree = _parsed(source)
    except SyntaxError:
        # A notebook's magic, for example.
        return ANY
    path = list(_path(tree, place))[::-1]
    return _of_truth(path) if _asks_for_truth(frame) else _of(path, {**frame.f_globals, **frame.f_locals})


# Jumps up to Python 3.12, and an instruction of its own since 3.13.
_TRUTH = {
    number
    for name, number in opmap.items()
    if name == "TO_BOOL" or name.removesuffix("_OR_POP").endswith(("IF_TRUE", "IF_FALSE"))
}


def _asks_for_truth(frame: FrameType) -> bool:
    return frame.f_code.co_code[frame.f_lasti] in _TRUTH


def _place(frame: FrameType) -> Place | None:
    positions = list(frame.f_code.co_positions())
    line, end_line, column, end_column = positions[frame.f_lasti // 2]
    if line is None or end_line is None or column is None or end_column is None:
        return None
    return line, column, end_line, end_column


@lru_cache(maxsize=8)
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)


def _path(tree: ast.AST, place: Place) -> Iterator[ast.AST]:
    """Yield the nodes that contain a place, from the outermost to the innermost."""
    node: ast.AST | None = tree
    while node is not None:
        yield node
        node = next((child for child in ast.iter_child_nodes(node) if _contains(child, place)), None)


class _Placed(Protocol):
    lineno: int
    col_offset: int
    end_lineno: int
    end_col_offset: int


def _has_place(node: ast.AST) -> TypeGuard[_Placed]:
    return hasattr(node, "lineno")


def _contains(node: ast.AST, place: Place) -> bool:
    if not _has_place(node):
        # Such as a comprehension: its parts say where it is.
        return any(_contains(child, place) for child in ast.iter_child_nodes(node))
    begin, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return begin <= place[:2] and place[2:] <= end


def _of(path: list[ast.AST], names: Mapping[str, Any]) -> str:
    """Return the advice for nodes, from the innermost to the outermost, given what names are there."""
    return _of_expression(path[0], names) or _of_truth(path)


def _of_truth(path: list[ast.AST]) -> str:
    """Return the advice for an expression whose truth is asked for, and what it's in."""
    # Before Python 3.12, where the test is no comparison, that is in the place of the whole statement. pytest writes an
    # `assert` anew in such a way.
    if hasattr(path[0], "test"):
        return _of_test(path[0], path)
    if isinstance(path[0], _COMPREHENSIONS):
        return IF_ELSE
    logic = ""
    for node, parent in itertools.pairwise(path):
        if getattr(parent, "test", None) is node:
            return _of_test(parent, path)
        if isinstance(parent, ast.comprehension):
            return IF_ELSE
        if isinstance(node, ast.Compare) and any(isinstance(each, (ast.In, ast.NotIn)) for each in node.ops):
            return WITHIN
        if isinstance(node, (ast.BoolOp, ast.UnaryOp, ast.Compare)):
            logic = LOGIC
        elif not isinstance(parent, (ast.BoolOp, ast.UnaryOp, ast.Compare)):
            break
    if any(isinstance(each, ast.JoinedStr) for each in _within(path)):
        return TEXT
    return logic or ANY


def _of_expression(node: ast.AST, names: Mapping[str, Any]) -> str:
    if isinstance(node, ast.Subscript):
        keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return SLICE if any(isinstance(each, ast.Slice) for each in keys) else CHOSEN
    if not isinstance(node, ast.Call):
        return ""
    if _library_of(node.func, names) in NUMERIC:
        return NATIVE
    if isinstance(node.func, ast.Name):
        return INSTEAD.get(node.func.id, "")
    if not isinstance(node.func, ast.Attribute):
        return ""
    name, of = node.func.attr, node.func.value
    module = of.id if isinstance(of, ast.Name) else ""
    if module in ("math", "cmath"):
        return f"write ua.{name}(x)"
    return INSTEAD.get(name, "")


def _library_of(function: ast.expr, names: Mapping[str, Any]) -> str:
    """Return the first part of the name of the module that a function is taken from."""
    while isinstance(function, ast.Attribute):
        function = function.value
    found = names.get(function.id) if isinstance(function, ast.Name) else None
    module = found.__name__ if isinstance(found, ModuleType) else getattr(found, "__module__", None)
    return str(module).partition(".")[0]


def _of_test(statement: ast.AST, path: list[ast.AST]) -> str:
    if isinstance(statement, ast.While):
        return WHILE
    if isinstance(statement, ast.IfExp):
        return IF_ELSE
    if isinstance(statement, ast.Assert):
        return CHECK
    if isinstance(statement, ast.If):
        ends = any(isinstance(each, (ast.Break, ast.Return)) for each in ast.walk(statement))
        return UNTIL if ends and any(isinstance(each, (ast.For, ast.While)) for each in _within(path)) else IF
    return ANY


def _within(path: list[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes of a path up to the function that they're in."""
    for node in path:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return
        yield node
