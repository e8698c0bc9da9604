"""Arrays and floats of a trace that outlive it: where they were made, and the object that keeps them."""

from __future__ import annotations

import gc
import inspect
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence, Set
from types import (
    BuiltinMethodType,
    CellType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    MemberDescriptorType,
    MethodType,
)
from typing import Any, NoReturn

from ..._core.arrays.weak import WeakFloat
from ..._core.values.caller import is_ours, line_of, users_place
from ...container.container import Container, flatten
from ...errors import LostStateError, TraceError
from ...graph.core.names import describe, leaf_names
from .traced import Traced

# How far from an array its keeper is looked for, and how many are named.
_DEPTH, _MOST = 12, 3


class MadeInTrace:
    """The natives and floats that are made in one trace."""

    def __init__(self) -> None:
        self._noted: list[tuple[weakref.ref[Any], CodeType, int]] = []

    def note(self, made: object) -> None:
        """Note what is made by the line of the user's code that is running."""
        code, instruction = place = users_place()
        self._noted.append((weakref.ref(made), code, instruction))
        if type(made) is Traced and (node := made.variable.owner) is not None and node.place is None:
            node.place = place

    def check(self, function: Callable[..., Any], results: Sequence[Any], asked: Set[int]) -> None:
        """Raise if something is still there, and not only because of a traceback.

        ``results`` has the objects that the function returned. A float is part of these, or else has the value of this
        call for good, as an integer has. ``asked`` has the places of floats that are part of the cache key.
        """

        def kept() -> list[tuple[object, CodeType, int]]:
            found = ((ref(), code, instruction) for ref, code, instruction in self._noted)
            return [each for each in found if each[0] is not None and not is_known(each[0])]

        def is_known(made: Any) -> bool:
            return type(made) is WeakFloat and (not results or made.places <= asked)

        for generation in range(3):
            if not kept():
                return
            # Cycles of objects are found only here, the youngest ones in the least time.
            gc.collect(generation)
        _refuse(function, results, kept())


class Outlived(Traced):
    """A native whose trace has ended: it has a type still, and can't be computed with."""

    __slots__ = ()

    @property
    def type(self) -> Any:
        """The shape and dtype."""
        return _variable_of(self).type

    @property
    def shape(self) -> Any:
        """The shape."""
        return _variable_of(self).type.shape

    @property
    def dtype(self) -> Any:
        """The dtype as NumPy has it."""
        return _variable_of(self).type.dtype

    @property
    def variable(self) -> NoReturn:  # type: ignore[override]
        """Nothing: a graph has it no longer."""
        raise TraceError(
            "an array outlived the trace of a compiled function, which raised an error that says where it's kept: put "
            "an array in its place"
        )


def _variable_of(native: Traced) -> Any:
    return vars(Traced)["variable"].__get__(native)


def _refuse(
    function: Callable[..., object], results: Sequence[object], kept: Sequence[tuple[object, CodeType, int]]
) -> None:
    """Raise an error that names what is kept and by what, unless nothing but frames of tracebacks keep it."""
    found: dict[str, str] = {}
    advice = (
        "return the array and assign it outside, or write to an array that is there already, x[...] = value. Until "
        "then what keeps it has no value"
    )
    # The last one made may lead to the others.
    for made, code, instruction in reversed(kept):
        search = Search([kept, *kept], results)
        keeper = search.keeper([made])
        if keeper is None or keeper in found or (isinstance(made, WeakFloat) and not search.is_result):
            continue
        if search.is_result:
            advice = "return nests of arrays, in tuples, lists, dicts and containers, and make the object outside"
        found[keeper] = f"{_what(made, line_of(code, instruction))}{f', is kept by {keeper}' if keeper else ''}"
        if len(found) == _MOST:
            break
    if not found:
        return
    for made, _, _ in kept:
        if type(made) is Traced:
            made.__class__ = Outlived
    raise LostStateError(
        f"{_name(function)} leaves something of its trace behind: {'; '.join(found.values())}. A compiled "
        f"function runs once, on arrays without values, and later calls run its graph alone: {advice}"
    )


def check_unchanged(function: Callable[..., object], nest: object, before: tuple[Sequence[object], object]) -> None:
    """Raise if a function has changed the nests that it was passed, which were flattened in order before."""
    (leaves, spec), (after, structure) = before, flatten(nest, in_order=True)
    if structure == spec and all(new is old for new, old in zip(after, leaves, strict=True)):
        return
    sides = (spec, leaves), (structure, after)
    named = [dict(zip(leaf_names(function, each), items, strict=True)) for each, items in sides]
    names = [name for name in named[0] | named[1] if named[0].get(name, spec) is not named[1].get(name, spec)]
    where = f", at {', '.join(names[:_MOST])}" if names else " to another order"
    raise LostStateError(
        f"{_name(function)} changes a list, dict, container or structure that it was passed{where}. A compiled "
        "function is passed copies of these, and its caller wouldn't see it: write to the array that is there, "
        "x[...] = value, or return the new nest"
    )


def _name(function: Callable[..., object]) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is not None and is_ours(code.co_filename):
        return "the function of a loop, branch or transformation"
    return f"{getattr(function, '__name__', type(function).__name__)}()"


def _what(made: Any, line: str) -> str:
    if isinstance(made, WeakFloat):
        return "a float that was passed" if isinstance(made.how, int) else f"a float, computed at {line}"
    variable = _variable_of(made)
    is_passed = variable.owner is None and variable.name is not None and not variable.name.startswith("captured")
    type = describe(variable.type)
    return f"its argument {variable.name}, {type}" if is_passed else f"an array, {type}, made at {line}"


class Search:
    """A search for the object that keeps something alive, from referrer to referrer.

    ``ours`` are objects that don't count, and ``results`` those that a function returned.
    """

    def __init__(self, ours: Sequence[object], results: Sequence[object] = ()) -> None:
        self._ours, self._results = {id(each) for each in ours}, {id(each) for each in results}
        # How each object that was found leads to the one that is kept: what is written after its name.
        self._ways: dict[int, str] = {}
        # The last name of the way of a dict, which may be that of an attribute.
        self._keys: dict[int, tuple[object, str]] = {}
        self.is_result = False

    def keeper(self, level: list[object]) -> str | None:
        """Return a name for what keeps the object in a list; the empty one if it isn't found, ``None`` for a frame."""
        name, meets_frames = "", False
        self._ways |= {id(each): "" for each in level}
        for _ in range(_DEPTH):
            above: list[object] = []
            # A tuple of its own for the call, which Python 3.13 finds as a referrer.
            arguments = tuple(level)
            self._ours |= {id(level), id(above), id(arguments)}
            referrers = gc.get_referrers(*arguments)
            self._ours.add(id(referrers))
            for each in referrers:
                if id(each) in self._ways or id(each) in self._ours:
                    continue
                if isinstance(each, FrameType):
                    # That of a traceback, since those that run aren't found.
                    meets_frames = True
                    continue
                if isinstance(each, GeneratorType) and each.gi_running:
                    continue
                found = self._named(each, level)
                if found is not None and not self._is_of_traceback(each):
                    return found
                if isinstance(each, (Container, list, dict, set)):
                    name = name or f"a {type(each).__name__}, its item {self._ways[id(each)]}"
                above.append(each)
            if not above:
                break
            level = above
        return None if meets_frames else name or self._global(level)

    def _global(self, level: Sequence[object]) -> str:
        """Return a name for the variable of a module that keeps one of some objects: ``gc.freeze`` hides modules."""
        for name, module in list(sys.modules.items()):
            for key, value in list(getattr(module, "__dict__", {}).items()):
                if any(value is each for each in level):
                    return f"the global {key}{self._ways[id(value)]} of {name}"
        return ""

    def holder(self, namespace: dict[str, object], name: str) -> str | None:
        """Return a name for a variable or attribute of a namespace, as that of what keeps its value."""
        self._ways[id(namespace[name])] = ""
        return self._named(namespace, [namespace[name]]) or self.keeper([namespace])

    def _is_of_traceback(self, each: object, depth: int = 3) -> bool:
        """Return whether an object is a variable of a frame that has ended, and nothing else leads to it."""
        referrers = gc.get_referrers(each)
        self._ours.add(id(referrers))
        others = [one for one in referrers if id(one) not in self._ours]
        self._ours.add(id(others))
        # In loops, since the generator of an expression would be one more referrer.
        for one in others:
            if not isinstance(one, FrameType) and not (depth and self._is_of_traceback(one, depth - 1)):
                return False
        return bool(others)

    def _named(self, each: object, level: Sequence[object]) -> str | None:
        """Note the way from an object to one of a level that it refers to; return its name if it has one."""
        child = next((one for one in level if any(one is x for x in gc.get_referents(each))), level[0])
        way = self._way(each, child, self._ways[id(child)])
        self._ways[id(each)] = way
        if id(each) in self._results:
            self.is_result = True
            kind = type(each).__name__
            return f"{way} of its result, a {kind}" if way else f"its result, a {kind}"
        if isinstance(each, dict):
            module = sys.modules.get(each.get("__name__", ""))
            if module is not None and vars(module) is each:
                return f"the global {self._keys[id(each)][0]}{self._keys[id(each)][1]} of {module.__name__}"
        elif isinstance(each, FunctionType):
            code, cells = each.__code__, each.__closure__ or ()
            names = [name for name, cell in zip(code.co_freevars, cells, strict=True) if id(cell) in self._ways]
            if names:
                return f"{names[0]}{way}, a variable of the closure of {each.__qualname__}()"
            return (
                f"{each.__qualname__}{way}" if way.startswith(".") else f"a default argument of {each.__qualname__}()"
            )
        elif isinstance(each, (GeneratorType, CoroutineType)) and not _is_passed_on(each):
            return f"a variable of the generator {each.__qualname__}()"
        elif isinstance(each, type):
            return f"{each.__qualname__}{way}"
        elif way.startswith(".") and not _is_passed_on(each):
            return f"{type(each).__qualname__}{way}"
        return None

    def _way(self, each: object, child: object, way: str) -> str:
        if isinstance(each, (list, tuple, deque)):
            place = next((place for place, one in enumerate(each) if one is child), None)
            is_closure = isinstance(child, CellType)
            return way if place is None or is_closure else f"[{place}]{way}"
        if isinstance(each, dict):
            key = next((key for key, one in each.items() if one is child), None)
            self._keys[id(each)] = key, way
            return f"[{key!r}]{way}"
        if _is_passed_on(each) or isinstance(each, GeneratorType):
            return way
        if id(child) in self._keys and (isinstance(each, type) or getattr(each, "__dict__", None) is child):
            key, way = self._keys[id(child)]
            return f".{key}{way}"
        names = [*getattr(each, "__dict__", ()), *(name for cls in type(each).__mro__ for name in _slots(cls))]
        return next((f".{name}{way}" for name in names if _attribute(each, name) is child), way)


def _is_passed_on(each: object) -> bool:
    """Return whether an object has no name of its own in a way: one of the package or of Python's calls."""
    if isinstance(each, GeneratorType):
        return is_ours(each.gi_code.co_filename)
    return (
        isinstance(each, (CellType, MethodType, BuiltinMethodType))
        or type(each).__module__.partition(".")[0] == "unifyarr"
    )


def _slots(cls: type) -> Iterator[str]:
    slots = vars(cls).get("__slots__", ())
    yield from (slots,) if isinstance(slots, str) else slots


def _attribute(x: object, name: str) -> object:
    found = getattr(x, "__dict__", {}).get(name)
    slot = inspect.getattr_static(type(x), name, None)
    return slot.__get__(x) if found is None and isinstance(slot, MemberDescriptorType) and hasattr(x, name) else found
