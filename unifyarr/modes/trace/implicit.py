"""Implicit arguments: what a function reads beside its arguments, in closures, globals and attributes of arguments.

Each is a *place*: a name in a namespace, or a cell. A compiled function looks at all places before each call. Where one
holds another object than before, the call is of another cache key, unless it's an array of the same type: then the
program reads that. A place to which the function assigns arrays gets new ones at each call.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable, Iterator, Sequence
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any, NamedTuple, TypeVar

from ..._core.arrays.array import Array
from ..._core.arrays.structures import holds_state, is_structure
from ..._core.engines.handle import LOADED, loaded_backends
from ..._core.engines.refusals import is_own_module
from ..._core.engines.tracing import Running, running
from ..._core.values.caller import where
from ..._core.values.pickling import Wrapper
from ...container.container import flatten
from ...errors import LostStateError
from ..capturing import Capturing
from .survivors import Search
from .traced import Traced

Result = TypeVar("Result")
# What a place holds that has no value.
MISSING: Any = type("Missing", (), {"__slots__": (), "__repr__": lambda self: "<missing>"})()


class ClosureVariable:
    """A variable that a function has from the one around it."""

    __slots__ = ("cell", "name")

    def __init__(self, cell: CellType, name: str) -> None:
        self.cell, self.name = cell, name

    def get(self) -> Any:
        """Return what is there."""
        try:
            return self.cell.cell_contents
        except ValueError:
            return MISSING

    def set(self, value: Any) -> None:
        """Put a value there."""
        if value is MISSING:
            del self.cell.cell_contents
        else:
            self.cell.cell_contents = value

    def told(self) -> tuple[object, object]:
        """Return where the compiled core finds it."""
        return self.cell, None

    def key(self) -> tuple[int, object]:
        """Return what tells the place from others."""
        return id(self.cell), None

    def described(self) -> str:
        """Return what an error calls it."""
        return Search([self]).keeper([self.cell]) or self.name


class Named:
    """A name in a namespace: a global variable, or an attribute of an argument."""

    __slots__ = ("name", "namespace")

    def __init__(self, namespace: dict[str, Any], name: str) -> None:
        self.namespace, self.name = namespace, name

    def get(self) -> Any:
        """Return what is there."""
        return self.namespace.get(self.name, MISSING)

    def set(self, value: Any) -> None:
        """Put a value there."""
        if value is MISSING:
            self.namespace.pop(self.name, None)
        else:
            self.namespace[self.name] = value

    def told(self) -> tuple[object, object]:
        """Return where the compiled core finds it."""
        return self.namespace, self.name

    def key(self) -> tuple[int, object]:
        """Return what tells the place from others."""
        return id(self.namespace), self.name

    def described(self) -> str:
        """Return what an error calls it."""
        return Search([self]).holder(self.namespace, self.name) or self.name


class Attribute(Named):
    """An attribute of an argument, or of what a variable is."""

    __slots__ = ()


Place = ClosureVariable | Named


class State(NamedTuple):
    """The places of a call, and what they hold."""

    places: list[Place]
    values: list[Any]


class Stateful(NamedTuple):
    """What a traced function returns that assigns arrays to places: its own result, and their new values."""

    result: Any
    values: tuple[Any, ...]


@functools.lru_cache(maxsize=8192)
def _names_in(code: CodeType, end: str) -> tuple[str, ...]:
    """Return the names in a function's code, and in that of functions that it makes, for instructions of one end."""
    found = {each.argval for each in dis.get_instructions(code) if each.opname.endswith(end)}
    for each in code.co_consts:
        if isinstance(each, CodeType):
            found.update(_names_in(each, end))
    return tuple(sorted(found))


def _is_users(function: FunctionType) -> bool:
    """Return whether a function is of the program or a library that it uses, and not of the package or an engine."""
    return not is_own_module(str(function.__module__), loaded_backends())


def _unwrapped(value: Any) -> Any:
    """Return the function that a value stands for, or the value."""
    while True:
        if isinstance(value, Wrapper):
            value = value._function
        elif isinstance(value, functools.partial):
            value = value.func
        elif isinstance(value, MethodType):
            value = value.__func__
        else:
            return value


def _functions_in(value: Any) -> Iterator[FunctionType]:
    """Yield the functions that a value is, or stands for."""
    function = _unwrapped(value)
    if isinstance(function, FunctionType) and _is_users(function):
        yield function


def _variables_around(function: Callable[..., Any]) -> Iterator[ClosureVariable]:
    """Yield the variables that functions of the program have from those around them.

    They are the function, those that it wraps, and those in their variables.
    """
    waiting, seen = [function], set[int]()
    while waiting:
        each = _unwrapped(waiting.pop())
        if isinstance(each, FunctionType) and id(each) not in seen:
            seen.add(id(each))
            found = [ClosureVariable(cell, name) for name, cell in _cells_of(each)]
            waiting += [place.get() for place in found]
            if _is_users(each):
                yield from found


def _cells_of(function: FunctionType) -> Iterator[tuple[str, CellType]]:
    return zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)


class Implicit:
    """The places of one function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        # Places whose values the function changes itself, but not to arrays: what happens once, at the first call.
        self._ignored: set[tuple[int, object]] = set()

    def state(self, args: Sequence[object], kwargs: dict[str, object]) -> State:
        """Return the state of a call: variables of all functions that it may reach, and attributes of objects.

        The objects are those among the arguments and in these variables.
        """
        found: dict[tuple[int, object], Place] = {}
        seen: set[int] = set()
        attributes: set[str] = set()
        owners: list[Any] = []
        waiting: list[Any] = [self._function]
        waiting += [x for x in (*args, *kwargs.values()) if not is_structure(x)]
        while waiting:
            each = waiting.pop()
            if _has_state(each) and not any(each is x for x in owners):
                owners.append(each)
                waiting += [method for cls in type(each).__mro__[:-1] for method in vars(cls).values()]
            for function in _functions_in(each):
                if id(function) in seen:
                    continue
                seen.add(id(function))
                attributes.update(_names_in(function.__code__, "_ATTR"))
                for place in _places_of(function):
                    if self._add(place, found):
                        waiting.append(place.get())
        for x in owners:
            for name in sorted(attributes & vars(x).keys()):
                self._add(Attribute(vars(x), name), found)
        places = list(found.values())
        return State(places, [place.get() for place in places])

    def _add(self, place: Place, found: dict[tuple[int, object], Place]) -> bool:
        key = place.key()
        if key in found or _ignoring(place) in self._ignored or place.get() is MISSING:
            return False
        found[key] = place
        return True

    def ignore(self, place: Place) -> None:
        """Look at a place no more."""
        self._ignored.add(_ignoring(place))


def _ignoring(place: Place) -> tuple[int, object]:
    # Functions keep their variables, but arguments come and go.
    return (0, place.name) if type(place) is Attribute else place.key()


def _places_of(function: FunctionType) -> Iterator[Place]:
    for name, cell in _cells_of(function):
        yield ClosureVariable(cell, name)
    for name in _names_in(function.__code__, "_GLOBAL"):
        if not name.startswith("__"):
            yield Named(function.__globals__, name)


def _has_state(x: Any) -> bool:
    """Return whether an argument is an object that is told by its identity, of a class of the program's own."""
    cls: Any = type(x)
    if not isinstance(getattr(x, "__dict__", None), dict):
        return False
    return (cls.__eq__ is object.__eq__ and _is_users_class(cls)) or holds_state(cls)


@functools.lru_cache(maxsize=1024)
def _is_users_class(cls: type) -> bool:
    return any(_is_users(each) for each in vars(cls).values() if isinstance(each, FunctionType))


class PlaceTracer:
    """A function that is traced with its places: it notes which of them it assigns arrays to."""

    def __init__(self, function: Callable[..., Any], places: Sequence[Place]) -> None:
        self._places, self.written, self.changed = places, list[Place](), list[Place]()
        functools.update_wrapper(self, function, updated=())
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function; all places hold what they held before."""
        trace = running()
        assert isinstance(trace, Capturing)
        trace.places = self._places
        before = [place.get() for place in self._places]
        try:
            result = self._function(*args, **kwargs)
        except BaseException:
            for place, old in _assigned(self._places, before):
                place.set(old)
            raise
        self.written, self.changed = [], []
        values = []
        for place, old in zip(self._places, before, strict=True):
            new = place.get()
            if new is old:
                continue
            leaves = [leaf for leaf in flatten(new)[0] if isinstance(leaf, Array)]
            if not leaves:
                self.changed.append(place)
            elif all(type(x._native) is Traced or x._backend is LOADED.get(x._backend.name) for x in leaves):
                self.written.append(place)
                values.append(new)
                place.set(old)
            # What a record or a batch inside of the trace made is lost with that: the trace says so.
        return Stateful(result, tuple(values)) if values else result


def _assigned(places: Sequence[Place], before: Sequence[object]) -> Iterator[tuple[Place, object]]:
    """Yield the places that hold other arrays than before, and what they held."""
    for place, old in zip(places, before, strict=True):
        if place.get() is not old and _holds_arrays(place.get()):
            yield place, old


def assigning_nothing(trace: Running | None, function: Callable[..., Any], call: Callable[[], Result]) -> Result:
    """Return the result of a call that traces the function of a loop or branch; raise if that assigns to variables.

    It assigns no arrays to the places of the functions whose traces are running, and nothing to variables that these
    have made, which they may read. A branch is traced whether it runs or not, and a step that is traced once may run
    any number of times.
    """
    places: list[Place] = []
    while trace is not None:
        places += trace.places if isinstance(trace, Capturing) else ()
        trace = trace.around
    known = {place.key() for place in places}
    made = [place for place in _variables_around(function) if place.key() not in known]
    before, old = ([place.get() for place in each] for each in (places, made))
    result = call()
    assigned: list[tuple[Place, str]] = [(place, "an array") for place, _ in _assigned(places, before)]
    assigned += [(place, "a value") for place, value in zip(made, old, strict=True) if place.get() is not value]
    for place, kind in assigned:
        raise LostStateError(
            f"the function of a loop or branch at {where()} assigns {kind} to {place.described()}. It is traced "
            "once, whether it runs or not, and however often: return the value and assign it outside, or write to an "
            "array that is there already, x[...] = value"
        )
    return result


def _holds_arrays(value: Any) -> bool:
    return any(isinstance(leaf, Array) for leaf in flatten(value)[0])
