"""Random functions of nests, called eagerly and compiled: dicts, lists, tuples, containers, in all orders of names.

``python -m tests.graph.random_nests COUNT SEED [BACKEND]`` compares so many, on each installed backend in turn if none
is given. Each function is called several times with nests that hold the same in another order, with other kinds of
numbers, and with keyword arguments in another order; it returns a nest that depends on all of that.
"""

from __future__ import annotations

import random
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import unifyarr as ua

NAMES = ("a", "b", "c", "B", "10", "9")
# Each of these may stand for the others of its row as a name, or as an argument that is no array.
EQUAL: tuple[tuple[Any, ...], ...] = ((1, True, 1.0), (0.0, -0.0), ("s", b"s"), (frozenset([1]), frozenset([True])))
SHAPE = (2,)


class Pair(NamedTuple):
    """A nest of a class with names."""

    first: Any
    second: Any


class Value(NamedTuple):
    """A leaf that is no array: one of a row of ``EQUAL``."""

    row: int


class Number(NamedTuple):
    """A leaf that is an array with one number, or a float."""

    value: float
    is_array: bool


class Node(NamedTuple):
    """A node: its kind, and names with items; a name is a string or a ``Value``."""

    kind: str
    items: tuple[tuple[Any, Any], ...]


KINDS = ("dict", "dict", "dict", "ordered", "default", "container", "list", "tuple", "pair", "deque")


def nest(draw: random.Random, depth: int, only_arrays: bool = False) -> Any:
    """Return a random description of a nest."""
    if not depth or draw.random() < 0.2:
        if only_arrays:
            return Number(float(draw.randint(1, 8)), True)
        kind = draw.random()
        return Value(draw.randrange(len(EQUAL))) if kind < 0.2 else Number(float(draw.randint(1, 8)), kind < 0.8)
    kind = draw.choice(["dict", "container", "list"] if only_arrays else KINDS)
    only_arrays |= kind == "container"
    count = 2 if kind == "pair" else draw.randint(0 if depth == 1 and not only_arrays else 1, 3)
    names: list[Any] = draw.sample(NAMES, count)
    if kind in ("dict", "ordered", "default") and not only_arrays and count and draw.random() < 0.3:
        names[0] = Value(draw.randrange(len(EQUAL)))
    return Node(kind, tuple((name, nest(draw, depth - 1, only_arrays)) for name in names))


def other_order(draw: random.Random, tree: Any) -> Any:
    """Return the description of a nest with the same items under the same names, in another order."""
    if not isinstance(tree, Node):
        return tree
    items = [(name, other_order(draw, item)) for name, item in tree.items]
    if tree.kind in ("dict", "ordered", "default", "container"):
        draw.shuffle(items)
    return tree._replace(items=tuple(items))


def built(draw: random.Random, tree: Any) -> Any:
    """Return the nest of a description, in which each ``Value`` is one of its row."""
    if isinstance(tree, Value):
        return draw.choice(EQUAL[tree.row])
    if isinstance(tree, Number):
        return ua.full(SHAPE, tree.value) if tree.is_array else tree.value
    names = [built(draw, name) if isinstance(name, Value) else name for name, _ in tree.items]
    items = [built(draw, item) for _, item in tree.items]
    named = dict(zip(names, items, strict=True))
    makers: dict[str, Callable[[], Any]] = {
        "dict": lambda: named,
        "ordered": lambda: OrderedDict(named),
        "default": lambda: defaultdict(list, named),
        "container": lambda: ua.Container(named),
        "list": lambda: items,
        "tuple": lambda: tuple(items),
        "pair": lambda: Pair(*items),
        "deque": lambda: deque(items),
    }
    return makers[tree.kind]()


def parts(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield names and items of a node in their order; nothing of a leaf."""
    if isinstance(tree, (dict, ua.Container)):
        yield from tree.items()
    elif isinstance(tree, (list, tuple, deque)):
        yield from enumerate(tree)


def walked(tree: Any, state: list[Any]) -> None:
    """Go through a nest in its order: ``state`` has the sum so far and a text of the leaves that aren't arrays."""
    if isinstance(tree, ua.Array):
        state[0] = state[0] * 2 + tree
    elif type(tree) is float or isinstance(tree, float):
        # Its value may be unknown in a trace: it's used as a number.
        state[0] = state[0] + tree
    elif not isinstance(tree, (dict, ua.Container, list, tuple, deque)):
        state[1] += repr(tree)
    for name, item in parts(tree):
        state[1] += f"{type(tree).__name__}:{name!r},"
        walked(item, state)


def reordered(tree: Any, seed: int) -> Any:
    """Return a nest like another one, in an order of names that follows from a number, with other arrays."""
    draw = random.Random(seed)

    def turned(each: Any) -> Any:
        if isinstance(each, ua.Array):
            return each + draw.randint(1, 3)
        if type(each) in (dict, OrderedDict, ua.Container):
            items = [(name, turned(item)) for name, item in each.items()]
            if type(each) is not ua.Container or not each._is_sequence:
                draw.shuffle(items)
                return type(each)(dict(items))
        if type(each) in (list, tuple):
            return type(each)([turned(item) for item in each])
        return each

    return turned(tree)


def arrays_by_name(draw: random.Random, order: int) -> dict[str, Any]:
    """Return a dict or a container of arrays, whose names are in one of some orders."""
    names = list(NAMES[:3])
    random.Random(order).shuffle(names)
    found = {name: ua.full(SHAPE, float(draw.randint(1, 4))) for name in names}
    return found if draw.random() < 0.5 else ua.Container(found)


def weighted(tree: Any) -> Any:
    """Return a sum in which the place of each array counts."""
    return sum(ua.sum(x * x) * (place + 1) for place, x in enumerate(tree.values()))


def transformed(tree: Any, way: str) -> Any:
    """Return a loop's or a transformation's result for arrays by name; it depends on the order of the names."""
    if way == "grad":
        return ua.grad(weighted)(tree)
    if way == "vmap":
        return ua.vmap(weighted)(tree)
    if way == "scan":

        def step(carry: Any, row: Any) -> Any:
            new = {name: x * (place + 1) + row for place, (name, x) in enumerate(carry.items())}
            return type(carry)(new), {name: x + place for place, (name, x) in enumerate(new.items())}

        return ua.scan(step, tree, ua.ones((2, *SHAPE)))
    return ua.fori_loop(0, 2, lambda i, each: type(each)({k: x + n for n, (k, x) in enumerate(each.items())}), tree)


WAYS = ("nothing", "nothing", "grad", "vmap", "scan", "fori_loop")


def compare(backend: str, seed: int) -> None:
    """Raise unless a random function gives the same eagerly and compiled, for nests in several orders."""
    draw = random.Random(seed)
    args = [nest(draw, 3) for _ in range(draw.randint(0, 2))]
    kwargs = {name: nest(draw, 2) for name in draw.sample(("p", "q", "r", "b"), draw.randint(0, 3))}
    way, order = draw.choice(WAYS), draw.randrange(100)

    def function(*args: Any, **kwargs: Any) -> Any:
        state = [ua.zeros(SHAPE), ""]
        walked((args, kwargs), state)
        *rest, last = args
        made = None if way == "nothing" else transformed(last, way)
        return *state, made, reordered((rest, kwargs), order)

    with ua.use_backend(backend):
        calls = []
        for number in range(draw.randint(2, 4)):
            given = [built(draw, other_order(draw, each)) for each in args]
            named = [(name, built(draw, other_order(draw, each))) for name, each in kwargs.items()]
            draw.shuffle(named)
            calls.append(([*given, arrays_by_name(draw, number)], dict(named)))
        compiled = ua.compile(function)
        # Calls in turn take the general way; repeated ones are straight.
        for given, named in [*calls, *calls[::-1], *(each for each in calls for _ in range(3))]:
            same(compiled(*given, **named), function(*given, **named), f"program {seed} on {backend}")


def same(found: Any, expected: Any, what: str = "") -> None:
    """Raise unless two nests have the same types, names in the same order, and values."""
    assert type(found) is type(expected), (what, found, expected)
    if isinstance(expected, ua.Array):
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected), what)
        assert found.dtype == expected.dtype, what
        return
    mine, theirs = list(parts(found)), list(parts(expected))
    assert [(type(name), repr(name)) for name, _ in mine] == [(type(name), repr(name)) for name, _ in theirs], (
        what,
        found,
        expected,
    )
    for (_, one), (_, other) in zip(mine, theirs, strict=True):
        same(one, other, what)
    if not theirs:
        assert repr(found) == repr(expected), (what, found, expected)


# -- state outside ----------------------------------------------------------------------------------------------------


class Model:
    """An object with attributes."""


class Slotted:
    """An object with slots."""

    __slots__ = ("kept",)


KEPT_HERE: Any = None


def keepers() -> dict[str, tuple[Callable[[Any], Any], Callable[[], Any], str]]:
    """Return ways to keep an array: a function that does it, one that takes it back, and the array's name in errors."""
    model, slotted, items, by_name, queue = Model(), Slotted(), [], {}, deque()
    first = ua.ones(SHAPE)
    container = ua.Container(a=first)
    model.items, held = [], None

    def to_global(x: Any) -> None:
        global KEPT_HERE
        KEPT_HERE = x

    def to_closure(x: Any) -> None:
        nonlocal held
        held = x

    def generator() -> Iterator[None]:
        kept = None
        while True:
            kept = yield kept

    running = generator()
    next(running)
    attribute = f"{Model.__qualname__}.kept"
    return {
        "attribute": (lambda x: setattr(model, "kept", x), lambda: setattr(model, "kept", None), attribute),
        "slot": (lambda x: setattr(slotted, "kept", x), lambda: setattr(slotted, "kept", None), "Slotted.kept"),
        "class": (lambda x: setattr(Model, "kept", x), lambda: setattr(Model, "kept", None), attribute),
        "list": (items.append, items.clear, "[0]"),
        "list of an object": (lambda x: model.items.append([x]), lambda: model.items.clear(), "Model.items[0][0]"),
        "dict": (lambda x: by_name.update(key={"a": x}), by_name.clear, "['key']['a']"),
        "queue": (queue.append, queue.clear, "[0]"),
        "container": (
            lambda x: container.__setitem__("a", x),
            lambda: container.__setitem__("a", first),
            "container['a']",
        ),
        "global": (to_global, lambda: to_global(None), f"KEPT_HERE of {__name__}"),
        "closure": (to_closure, lambda: to_closure(None), "held, a variable of the closure of"),
        "generator": (running.send, lambda: running.send(None), "a variable of the generator"),
    }


def compare_kept(backend: str, seed: int) -> None:
    """Raise unless a compiled function raises that keeps a traced array outside, and no other does."""
    draw = random.Random(seed)
    name = draw.choice(sorted(keepers()))
    keep, take_back, called = keepers()[name]
    place = draw.choice(["top", "scan", "cond", "grad", "inner"])
    is_taken_back, is_computed = draw.random() < 0.4, draw.random() < 0.5

    def kept(x: Any) -> Any:
        y = x * 2 if is_computed else x
        keep(y)
        if is_taken_back:
            take_back()
        return ua.sum(y)

    def function(x: Any) -> Any:
        if place == "scan":
            return ua.scan(lambda carry, row: (carry + kept(row), carry), ua.asarray(0.0), ua.stack([x, x]))
        if place == "cond":
            return ua.cond(ua.sum(x) > 0, lambda: kept(x), lambda: ua.sum(x))
        if place == "inner":
            return ua.compile(kept)(x)
        return ua.grad(kept)(x) if place == "grad" else kept(x)

    with ua.use_backend(backend):
        x = ua.ones(SHAPE)
        raised = None
        try:
            found = ua.compile(function)(x)
        except ua.errors.LostStateError as error:
            raised = str(error)
        finally:
            take_back()
        program = f"program {seed} on {backend}, {name} in {place}: {raised}"
        # A variable that the function itself assigns gets the new array at each call.
        is_state = name in ("global", "closure") and place in ("top", "inner")
        assert (raised is None) == (is_taken_back or is_state), program
        if raised is None:
            same(found, function(x), program)
        else:
            assert called in raised, program
            assert __file__ in raised or "argument" in raised, program


def main() -> None:
    """Compare as many programs as the command line says."""
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    for backend in sys.argv[3:] or ua.available_backends():
        for number in range(seed, seed + count):
            compare(backend, number)
            compare_kept(backend, number)
        print(f"{count} programs on {backend}: no difference")


if __name__ == "__main__":
    main()
