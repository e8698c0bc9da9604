"""The calls of ``mixed_arguments``: those of the tables that the tests of the namespaces have."""

from __future__ import annotations

import ast
import functools
import operator
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

import unifyarr as ua
import unifyarr.numpy as unp
from unifyarr.testing.calling import FUNCTIONS, find
from unifyarr.testing.cases import CASES

from ..numpy_namespace import (
    test_comparing,
    test_creation,
    test_fft,
    test_functional,
    test_grids,
    test_indexing,
    test_joining,
    test_lib,
    test_linalg,
    test_manipulation,
    test_memory,
    test_numerical,
    test_padding,
    test_polynomial,
    test_products,
    test_random,
    test_reductions,
    test_sets,
    test_sorting,
    test_statistics,
    test_ufuncs,
    test_writes,
)
from ..numpy_namespace.calls import DATA

_TEXTS = (
    *(test_comparing, test_creation, test_functional, test_grids, test_indexing, test_joining, test_lib),
    *(test_manipulation, test_memory, test_numerical, test_padding, test_polynomial, test_products, test_reductions),
    *(test_sets, test_sorting, test_statistics, test_ufuncs),
)
_OPERATORS = ("add", "mul", "truediv", "pow", "lt", "eq", "matmul", "iadd", "isub")


class Target(np.ndarray):
    """An array that a call writes."""


class Mixed(NamedTuple):
    """A call: NumPy's arrays among its arguments, in lists too, stand for arrays."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any]

    @property
    def places(self) -> list[np.ndarray]:
        """The arrays among the arguments, in their order."""
        return [x for x in leaves((self.arguments, self.options)) if isinstance(x, np.ndarray)]

    def call(self, given: list[Any]) -> Any:
        """Return the result of the call with other arguments at these positions."""
        rest = iter(given)
        arguments, options = (_replaced(each, rest) for each in (self.arguments, self.options))
        return self.function(*arguments, **options)


def leaves(nest: Any) -> Iterator[Any]:
    """Yield the leaves of a nest of lists, tuples and dictionaries."""
    if isinstance(nest, (list, tuple, dict)):
        for each in nest.values() if isinstance(nest, dict) else nest:
            yield from leaves(each)
    else:
        yield nest


def _replaced(nest: Any, rest: Iterator[Any]) -> Any:
    if type(nest) in (list, tuple):
        return type(nest)([_replaced(each, rest) for each in nest])
    if type(nest) is dict:
        return {key: _replaced(each, rest) for key, each in nest.items()}
    return next(rest) if isinstance(nest, np.ndarray) else nest


@functools.cache
def calls() -> list[Mixed]:
    """Return all calls that take an array."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [*_declared(), *_operators()]
        for mixed in (*_named(), *_written(), *_listed()):
            found += [mixed, *_of_protocol(mixed), *_of_method(mixed)]
        found += _drawing()
    return [mixed for mixed in found if mixed.places]


def _declared() -> Iterator[Mixed]:
    """Yield the calls of the main namespaces."""
    for name in FUNCTIONS:
        for case in CASES[name] if name != "from_dlpack" else ():
            if case.view is None:
                yield Mixed(name, find(name), case.arguments, case.options)


def _operators() -> Iterator[Mixed]:
    x, y = DATA["A"], DATA["v"]
    for name in _OPERATORS:
        left = x.copy().view(Target) if name in ("iadd", "isub") else x
        yield Mixed(f"operator.{name}", getattr(operator, name), (left, y), {})


def _named() -> Iterator[Mixed]:
    """Yield the calls of ``unifyarr.numpy`` that tests have as text."""
    for module in _TEXTS:
        for text in module.CALLS.strip().replace("\n", " | ").split(" | "):
            yield from _parsed(text, {name: values.copy() for name, values in DATA.items()}, None)


def _written() -> Iterator[Mixed]:
    """Yield calls that write their first argument."""
    for line in test_writes.STATEMENTS.strip().splitlines():
        name, statements = line.split(": ", 1)
        for text in statements.split(" | "):
            if text.startswith("np.") and text.endswith(")"):
                yield from _parsed(text[3:], {"x": DATA[name].copy()}, DATA[name].copy().view(Target))


def _parsed(text: str, data: dict[str, Any], target: Any) -> Iterator[Mixed]:
    """Yield the call that a text is, with ``target`` for x in its first argument."""
    node = ast.parse(f"np.{text}", mode="eval").body
    names = {"np": np, "zeros": lambda shape, dtype=float: np.zeros(shape, dtype).view(Target), **data}
    if not isinstance(node, ast.Call) or any(isinstance(each, ast.Starred) for each in node.args):
        return

    def value(part: ast.expr, **others: Any) -> Any:
        return eval(compile(ast.Expression(part), text, "eval"), {**names, **others})

    with suppress(Exception):
        first = {} if target is None else {"x": target}
        given = [value(each, **({} if place else first)) for place, each in enumerate(node.args)]
        options = {str(each.arg): value(each.value, **(first if each.arg == "out" else {})) for each in node.keywords}
        function = value(node.func, np=unp)
        yield Mixed(f"unp.{text}", function, tuple(given), options)


def _listed() -> Iterator[Mixed]:
    for module, space in ((test_linalg, "linalg"), (test_fft, "fft")):
        for name, arguments, options in module.CASES:
            yield Mixed(f"unp.{space}.{name}", getattr(getattr(unp, space), name), arguments, options)


def _drawing() -> Iterator[Mixed]:
    def draw(name: str, seed: int = 7) -> Callable[..., Any]:
        return lambda *args, **kwargs: getattr(unp.random.default_rng(seed), name)(*args, **kwargs)

    for name, arguments, options in test_random.NEW:
        yield Mixed(f"unp.random.{name}", draw(name), arguments, options)


class _Asked(Exception):
    """NumPy has asked an argument to compute a function."""


class _Spy:
    def __array_ufunc__(self, function: Any, method: str, *_: Any, **__: Any) -> Any:
        raise _Asked(function)

    def __array_function__(self, function: Any, *_: Any) -> Any:
        raise _Asked(function)


def _of_protocol(mixed: Mixed) -> Iterator[Mixed]:
    """Yield the call of NumPy's own function, if NumPy asks all of its arrays."""
    path = mixed.name.removeprefix("unp.").partition("(")[0]
    with suppress(AttributeError):
        function = operator.attrgetter(path)(np)
        yields = all(_asks(mixed._replace(function=function), place) for place in range(len(mixed.places)))
        if yields:
            yield mixed._replace(name=f"numpy.{mixed.name.removeprefix('unp.')}", function=function)


def _asks(mixed: Mixed, place: int) -> bool:
    given: list[Any] = [x.copy() for x in mixed.places]
    given[place] = _Spy()
    try:
        mixed.call(given)
    except _Asked as asked:
        # Functions call other ones, which ask too.
        return asked.args[0] in (mixed.function, getattr(mixed.function, "__self__", None))
    except Exception:
        return False
    return False


def _of_method(mixed: Mixed) -> Iterator[Mixed]:
    """Yield the call of the method of the first array."""
    name = mixed.name.removeprefix("unp.").partition("(")[0]
    first = mixed.arguments[0] if mixed.arguments else None
    if isinstance(first, np.ndarray) and hasattr(np.ndarray, name) and hasattr(ua.Array, name):

        def method(x: Any, *arguments: Any, **options: Any) -> Any:
            return getattr(x, name)(*arguments, **options)

        yield mixed._replace(name=f"Array.{mixed.name.removeprefix('unp.')}", function=method)
