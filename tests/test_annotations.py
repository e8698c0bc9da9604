"""Array parameters of a declared function are found by the type of their annotation, wherever its name is from."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, NewType, Optional, TypeVar, Union

import numpy as np
import pytest
from numpy.typing import NDArray

import unifyarr as ua
from unifyarr import Array
from unifyarr import Array as A  # noqa: N817
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._core.declaring.signature import AnnotationScope, outputs_of, parameters_of, vocabulary
from unifyarr.typing import ArrayLike, Scalar

from .oracle import assert_same
from .user_ops import array

# ruff: noqa: UP007, UP045

if TYPE_CHECKING:
    from unifyarr import Array as Unseen

Named = NewType("Named", A)
Bound = TypeVar("Bound", bound=A)
Free = TypeVar("Free")


class Pair(NamedTuple):
    first: Array
    second: Array


def test_an_array_by_another_name_is_one(backend: str) -> None:
    @ua.op
    def f(x: A, /) -> A:
        return x + 1

    assert_same(f([1.0, 2.0]), np.array([2.0, 3.0]))


def test_what_only_has_array_in_its_name_is_none(backend: str) -> None:
    seen: list[Any] = []

    def key(table: Any) -> int:
        seen.append(type(table))
        return int(table.sum())

    class Table:
        """Something that can be hashed, in place of an ``NDArray``."""

        def sum(self) -> int:
            return 3

    @ua.op
    def g(x: Array, table: NDArray[np.float64], /) -> Array:
        return x * key(table)

    assert_same(g(array(1, 2), Table()), np.array([3.0, 6.0]))  # type: ignore[arg-type]
    assert seen == [Table]
    assert parameters_of(AnnotationScope(g)).arrays == {"x"}


def test_a_literal_is_text(backend: str) -> None:
    @ua.op
    def h(x: Array, how: Literal["Array", "list"] = "list", /) -> Array:
        return x + len(how)

    assert_same(h(array(1, 2)), np.array([5.0, 6.0]))
    assert_same(h(array(1, 2), "Array"), np.array([6.0, 7.0]))


def test_names_that_annotations_alone_use_are_seen(backend: str) -> None:
    import unifyarr as local

    @ua.op
    def f(x: local.Array, /) -> local.Array:
        return x + 1

    assert_same(f([1.0, 2.0]), np.array([2.0, 3.0]))


def test_names_of_the_function_around_are_seen(backend: str) -> None:
    from unifyarr import Array as Local

    @ua.op
    def f(x: Local, /) -> Array:
        assert isinstance(x, Local)
        return x + 1

    assert_same(f([1.0]), np.array([2.0]))


def test_names_that_only_annotations_use_are_seen_where_the_op_is_declared(backend: str) -> None:
    import unifyarr as local

    @ua.op
    def f(x: local.Array, /) -> local.Array:
        return x + 1

    assert_same(f([1.0]), np.array([2.0]))


def test_an_annotation_without_a_meaning_is_refused() -> None:
    def f(x: Unseen, how: str = "", /) -> Unseen:
        return x

    with pytest.raises(TypeError, match=r"annotation 'Unseen' of x of f\(\).*NameError.*arrays=\('x',\)"):
        ua.op(f)

    def result(x: Array, /) -> Unseen:
        return x

    with pytest.raises(TypeError, match=r"annotation 'Unseen' of the result of result\(\)"):
        ua.op(result)


def test_arrays_may_be_named_instead(backend: str) -> None:
    @ua.op(arrays=("x", "others"))
    def f(x: Unseen, scale: Any, /, *others: Unseen) -> Unseen:
        return sum(others, x) * scale  # type: ignore[return-value]

    assert_same(f([1.0, 2.0], 2, [3.0, 4.0], array(5, 6)), np.array([18.0, 24.0]))
    with pytest.raises(TypeError, match=r"arrays of g\(\) names 'y', but its parameters are x"):

        @ua.op(arrays=("y",))
        def g(x: Array, /) -> Array:
            return x


KINDS: dict[str, tuple[Any, ...]] = {
    "arrays": (A, "A", ArrayLike, "ArrayLike", Annotated[A, "a note"], Named, Bound, Union[A, str], "'A'"),
    "weak": (Optional[A], "A | None", A | None, "A | float", "A | Scalar | None", Union[ArrayLike, Scalar]),
    "sequences": (Sequence[A], "Sequence[A]", list["A"], tuple[A, ...], tuple[A, "A"], Sequence[Optional[A]]),
    "numbers": (float, "float | None", Scalar, "int | float", complex, "float | str"),
    "": (int, "bool", np.ndarray, Any, Callable[[A], A], type[A], Mapping[str, A], tuple[A, int], Literal["A"], Free),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_annotations(kind: str) -> None:
    for annotation in KINDS[kind]:

        def f(x: Any) -> None: ...

        f.__annotations__["x"] = annotation
        found = parameters_of(AnnotationScope(f))
        kinds = {each for each in ("arrays", "weak", "sequences", "numbers") if "x" in getattr(found, each)}
        assert kinds == ({kind} if kind else set()), annotation


def test_scalars_stay_where_the_annotation_names_them() -> None:
    def f(x: A | None, y: A | float, z: A | Scalar | None) -> None: ...

    assert parameters_of(AnnotationScope(f)).weak == {"x", "y", "z"}
    assert parameters_of(AnnotationScope(f)).scalars == {"y", "z"}


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("A", (False, 1)),
        ("tuple[A, A]", (True, 2)),
        (tuple[A, ...], (True, None)),
        (Pair, (True, 2)),
        ("Pair", (True, 2)),
        (None, (None, None)),
        (Any, (None, None)),
        ("A | tuple[A, A]", (None, None)),
    ],
)
def test_results(annotation: Any, expected: tuple[bool | None, int | None]) -> None:
    def f(x: A) -> Any: ...

    f.__annotations__["return"] = annotation
    assert outputs_of(AnnotationScope(f)) == expected


def test_what_wraps_a_function_has_its_names(backend: str) -> None:
    class Scaled:
        def __call__(self, x: A, by: float = 2.0) -> A:
            return x * by

        def method(self, x: A) -> A:
            return x * 4.0

    for body in (Scaled(), partial(Scaled(), by=2.0), partial(partial(Scaled().__call__))):
        assert_same(ua.op(body)([1.0]), np.array([2.0]))
    assert_same(ua.op(Scaled().method)([1.0]), np.array([4.0]))


def test_annotations_of_the_package_have_a_meaning() -> None:
    for declaration in DECLARATIONS.values():
        parameters = declaration.parameters
        assert parameters.arrays | parameters.weak | parameters.sequences or declaration.category == "creation"


def test_elementwise_functions_have_two_signatures() -> None:
    for declaration in DECLARATIONS.values():
        if declaration.ufunc is not None and declaration.operation is None:
            scope = AnnotationScope(declaration.body, vocabulary())
            assert declaration.parameters == parameters_of(scope)
            assert declaration.returns_one_array == (outputs_of(scope)[0] is False)


ROOT = Path(ua.__file__).parent
# How often annotations may say ``Any`` in a thousand lines of code. Natives are ``Native``; an ``Any`` that stays is of
# what no type tells, such as the native of an array, whose class its backend alone knows.
MOST_ANYS = {"_core": 45.5, "graph": 34.5, "derivatives": 7.5, "modes": 101.5}


def lines_and_anys(source: str) -> tuple[int, int]:
    """Return how many lines of code there are, without comments and docstrings, and how often ``Any`` is said."""
    tree = ast.parse(source)
    values = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    texts = [each for each in values if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    docs = {line for node in texts for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    imported = sum(
        alias.name == "Any" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
    )
    blank = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = [each for each in tokenize.generate_tokens(io.StringIO(source).readline) if each.type not in blank]
    lines = {line for each in tokens for line in range(each.start[0], each.end[0] + 1)}
    anys = sum(each.type == tokenize.NAME and each.string == "Any" for each in tokens)
    return len(lines - docs), anys - imported


@pytest.mark.parametrize("room", MOST_ANYS)
def test_annotations_say_what_things_are(room: str) -> None:
    counts = [lines_and_anys(path.read_text()) for path in (ROOT / room).rglob("*.py")]
    lines, anys = map(sum, zip(*counts, strict=True))
    assert lines > 1000
    assert 1000 * anys <= MOST_ANYS[room] * lines, f"{anys} in {lines} lines: {1000 * anys / lines:.1f} in a thousand"


def test_anys_are_counted() -> None:
    source = '"""Any."""\nfrom typing import Any\n\nx: dict[str, Any] = {}  # Any\n\n\ndef f(y: Any) -> Any: ...\n'
    assert lines_and_anys(source) == (3, 3)


def test_attributes_are_declared() -> None:
    """An attribute that mypy doesn't know is declared, not ignored, alone or beside something else."""
    ignoring = [
        path
        for path in ROOT.rglob("*.py*")
        if path.suffix in (".py", ".pyi") and re.search(r"type: ignore\[[^]]*\battr-defined\b", path.read_text())
    ]
    assert not ignoring
