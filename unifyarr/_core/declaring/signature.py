"""What the signature of a declared function says: which parameters are arrays, from the types of their annotations.

An annotation is the object that it names where the function was written, never its text: ``import Array as A`` is an
array, ``NDArray`` and ``Literal["Array"]`` are none.
"""

from __future__ import annotations

import collections.abc
import contextlib
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Any

from ... import typing as own
from ..arrays.array import Array
from ..engines import dtypes
from ..values.records import Record


class Parameters(Record):
    """What a signature says: which parameters are arrays, and how the body is called."""

    positional: tuple[str, ...]
    variadic: str | None
    keywords: tuple[str, ...]
    # Parameters that take one array, one array or ``None`` or a Python scalar, a sequence of arrays.
    arrays: frozenset[str]
    weak: frozenset[str]
    sequences: frozenset[str]
    # Those of ``weak`` that take a Python scalar as it is.
    scalars: frozenset[str]
    # Parameters that take a mapping of arrays, which is the body's business.
    mappings: frozenset[str]
    # Parameters that take a number which is the same for all elements, and no array.
    numbers: frozenset[str]
    # All that take arrays, in their order.
    operands: tuple[str, ...]


@cache
def vocabulary() -> dict[str, object]:
    """Return the names that modules of the package import for type checkers alone, and use in annotations."""
    return {**vars(typing), **vars(collections.abc), **vars(own), "Array": Array}


def parameters_of(scope: AnnotationScope, arrays: Iterable[str] | None = None) -> Parameters:
    """Return what a signature says, from the kinds and the annotations of its parameters.

    ``arrays`` names the parameters that are arrays, in place of annotations.
    """
    body, given = scope.body, scope.signature.parameters
    named = None if arrays is None else _checked(body, given, arrays)
    found: dict[str, list[str]] = {key: [] for key in ("arrays", "weak", "sequences", "scalars", "mappings", "numbers")}
    for name, parameter in given.items():
        if name == "out":
            continue
        if named is None:
            members = scope.members_of(parameter.annotation, f"{name} of {body.__name__}()")
        else:
            members = {_ARRAY} if name in named else set()
        variadic = parameter.kind is parameter.VAR_POSITIONAL
        if members & {float, complex} and members <= {*_SCALARS, str, None}:
            found["numbers"].append(name)
        elif _SEQUENCE in members or (variadic and _ARRAY in members):
            found["sequences"].append(name)
        elif _MAPPING in members:
            found["mappings"].append(name)
        elif _ARRAY in members:
            found["weak" if members & {*_SCALARS, None} else "arrays"].append(name)
            if members & _SCALARS:
                found["scalars"].append(name)
    operands = {*found["arrays"], *found["weak"], *found["sequences"]}
    return Parameters(
        tuple([name for name, each in given.items() if each.kind <= each.POSITIONAL_OR_KEYWORD]),
        next((name for name, each in given.items() if each.kind is each.VAR_POSITIONAL), None),
        tuple([name for name, each in given.items() if each.kind is each.KEYWORD_ONLY]),
        **{what: frozenset(each) for what, each in found.items()},
        operands=tuple([name for name in given if name in operands]),
    )


def elementwise_parameters(names: Iterable[str]) -> Parameters:
    """Return the parameters of an elementwise function: one array, or several arrays and scalars."""
    operands = tuple(names)
    every: frozenset[str] = frozenset(operands)
    none: frozenset[str] = frozenset()
    arrays, weak = (every, none) if len(operands) == 1 else (none, every)
    return Parameters(operands, None, ("out",), arrays, weak, none, weak, none, none, operands)


def outputs_of(scope: AnnotationScope) -> tuple[bool | None, int | None]:
    """Return whether a function returns a tuple, and of how many arrays, as far as its annotation says it."""
    what = f"the result of {scope.body.__name__}()"
    hint = scope.resolved(scope.signature.return_annotation, what)
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        return True, len(hint._fields)
    if typing.get_origin(hint) is tuple:
        several = typing.get_args(hint)
        return True, None if Ellipsis in several else len(several)
    return (False, 1) if scope.members_of(hint, what) == {_ARRAY} else (None, None)


def _checked(body: Callable[..., object], given: Mapping[str, object], arrays: Iterable[str]) -> tuple[str, ...]:
    named = (arrays,) if isinstance(arrays, str) else tuple(arrays)
    for name in named:
        if name not in given:
            raise TypeError(f"arrays of {body.__name__}() names {name!r}, but its parameters are {', '.join(given)}")
    return named


# What an annotation allows, beside the types of Python's scalars, ``str`` and ``None``.
_ARRAY, _SEQUENCE, _MAPPING, _OTHER = "array", "sequence of arrays", "mapping of arrays", "other"
_SCALARS = frozenset(dtypes.SCALARS)


class AnnotationScope:
    """A function's signature, and the names that its annotations are made of: those that it sees, and others."""

    def __init__(
        self,
        body: Callable[..., object],
        names: Mapping[str, object] | None = None,
        signature: inspect.Signature | None = None,
    ) -> None:
        self.body = body
        self.signature = signature or inspect.signature(body)
        self._names = {**(names or {}), **_names_seen_by(body)}

    def members_of(self, annotation: object, what: str) -> set[object]:
        """Return what an annotation allows, each member of a union by itself."""
        return set(self._members(self.resolved(annotation, what), what))

    def resolved(self, annotation: object, what: str) -> object:
        """Return the type that an annotation of ``what`` is."""
        if annotation is inspect.Parameter.empty:
            return Any
        try:
            return self._evaluated(annotation)
        except Exception as error:
            raise TypeError(
                f"the annotation {annotation!r} of {what} can't be resolved ({type(error).__name__}: {error}): import "
                "its names where the function sees them, not for type checkers alone, or name the parameters that are "
                "arrays, @ua.op(arrays=('x',))"
            ) from error

    def _evaluated(self, annotation: object) -> object:
        while isinstance(annotation, (str, typing.ForwardRef)):
            text = annotation if isinstance(annotation, str) else annotation.__forward_arg__
            annotation = eval(text, self._names)
        return annotation

    def _members(self, hint: object, what: str) -> Iterator[object]:
        hint = self.resolved(hint, what)
        origin, parts = typing.get_origin(hint), typing.get_args(hint)
        if hint == own.ArrayLike or (isinstance(hint, type) and issubclass(hint, Array)):
            yield _ARRAY
        elif hint is None or hint is type(None):
            yield None
        elif hint is str or hint in dtypes.SCALARS:
            yield hint
        elif origin in (typing.Union, types.UnionType):
            for part in parts:
                yield from self._members(part, what)
        elif (meant := _meant(hint)) is not hint:
            yield from self._members(meant, what)
        elif self._is_mapping(origin, parts, what):
            yield _MAPPING
        elif self._is_sequence(origin, parts, what):
            yield _SEQUENCE
        else:
            yield _OTHER

    def _is_mapping(self, origin: object, parts: tuple[object, ...], what: str) -> bool:
        is_one = isinstance(origin, type) and issubclass(origin, collections.abc.Mapping) and len(parts) == 2
        return is_one and _ARRAY in self._members(parts[1], what)

    def _is_sequence(self, origin: object, parts: tuple[object, ...], what: str) -> bool:
        if not isinstance(origin, type) or not issubclass(origin, collections.abc.Iterable):
            return False
        items = [part for part in parts if part is not Ellipsis]
        return bool(items) and all(_ARRAY in self._members(part, what) for part in items)


def _meant(hint: Any) -> object:
    """Return what a name for a type stands for: an alias, a type with notes, a variable for types."""
    if typing.get_origin(hint) is typing.Annotated:
        return hint.__origin__
    if isinstance(hint, typing.TypeVar):
        return typing.Union[hint.__constraints__ or (hint.__bound__ or Any,)]  # noqa: UP007
    # A ``type`` statement's, and ``NewType``'s.
    return getattr(hint, "__value__", getattr(hint, "__supertype__", hint))


def _names_seen_by(body: Any) -> dict[str, object]:
    """Return what names mean where a function was written."""
    inner = inspect.unwrap(body)
    while isinstance(inner, partial):
        inner = inspect.unwrap(inner.func)
    if not hasattr(inner, "__globals__"):
        # An object that can be called.
        inner = type(inner).__call__
    code = getattr(inner, "__code__", None)
    names = {**getattr(inner, "__globals__", {}), **_locals_around(code)}
    for name, cell in zip(code.co_freevars if code else (), getattr(inner, "__closure__", None) or (), strict=False):
        # A cell is empty until what it's for is assigned.
        with contextlib.suppress(ValueError):
            names[name] = cell.cell_contents
    return names


def _locals_around(code: types.CodeType | None) -> dict[str, object]:
    """Return the local names of the function that defines one right now: annotations alone make no closure of them."""
    if code is None or "." not in code.co_qualname:
        # It's defined by a module.
        return {}
    frame = inspect.currentframe()
    while frame is not None:
        if any(each is code for each in frame.f_code.co_consts):
            return dict(frame.f_locals)
        frame = frame.f_back
    return {}
