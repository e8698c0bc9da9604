"""The calls of a compiled function that one of its programs serves, without looking for it.

A call is opened into leaves, and natives of the arrays among them, unless they have another cache key than those of the
program. Instructions (``_core/calling/programs.py``) do the rest: they run the graph and build what the call returns.
A call of other arguments takes the general way. So does all that only that knows, such as arguments that overlap.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

from ..._core.arrays.array import Array
from ..._core.arrays.ownership import settled
from ..._core.arrays.recipes import make_view
from ..._core.arrays.views import Elements
from ..._core.calling.programs import CALL, FALSE, ITEM, LIST, SAME, SPREAD, TUPLE, WRAP, Builder
from ..._core.engines.current import current
from ..._core.engines.handle import Handle
from ..._core.engines.tracing import mode
from ..._core.values.exact import PLAIN
from ..._core.writing.indexing import view_at
from ..._native import core
from ...container.container import flatten, unflatten
from ...modes.trace.crossing import loses_gradients, must_run_in_python
from ..kernels.executors import Schedule
from .argument_parts import IS_ARRAY, IS_EQUAL, IS_FLOAT, IS_KEYED, ArgumentPart, Leaf, UnknownNestError, build, part_of
from .cache_keys import cache_key, leaf_key, structure_key
from .guards import can_guard, guard, is_guarded, knows_memory
from .program import Program, own
from .program_watch import ProgramWatch

# Takes what a call was passed, and returns the result.
Call = Callable[..., Any]
# The same, of ``args`` and ``kwargs``.
General = Callable[[tuple[object, ...], dict[str, object]], object]
# An address at which no block of memory is.
NOWHERE = id(None)


def general_way(method: General, function: Call) -> General:
    """Return the general way of calls, a method of the object that they are calls of, to which it refers weakly."""
    known = weakref.WeakMethod(method)

    def general(args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        way: Any = known()
        # Somebody may have kept the call alone: the function computes the same.
        return function(*args, **kwargs) if way is None else way(args, kwargs)

    return general


def generally(general: General) -> Call:
    """Return a call that takes the general way."""

    def call(*args: object, **kwargs: object) -> object:
        return general(args, kwargs)

    return call


class CalledProgram(Program):
    """A program, and what serves further calls of its key at once."""

    _called = False
    _straight: Call | None = None
    # What it reads beside its arguments.
    watch: ProgramWatch

    def straight(self, function: Call, leaves: Sequence[Any], spec: Any, general: General) -> Call | None:
        """Return what serves further calls; the flattened arguments are those of a call of ``function``."""
        if not self._called or self.has_any_lengths:
            # Many are called once.
            self._called = True
            return None
        if self._straight is None:
            self._straight = StraightCall(self, function, leaves).opened(spec, general)
        return self.watch.around(self._straight, generally(general))


class StraightCall:
    """A program's calls of ``function``, for arguments of the same key as some leaves.

    A program of instructions serves them, which takes the leaves, and then natives of those that are guarded. Where it
    can't, a call is served as a whole, of the leaves in a list, the arguments by place, and those by name.
    """

    def __init__(self, program: Program, function: Call, leaves: Sequence[Any]) -> None:
        self._program, self._leaves = program, leaves
        self._backend = program.crossing.array_backend
        self._guarded = [place for place in program.arrays if is_guarded(leaves[place])]
        self._in_core, self._writes = core is not None and can_guard(), writes_arguments(program, leaves)
        self._is_whole = not self._writes and not self._is_straight()
        # A second reference to a native keeps a write from using its memory.
        self._given = [] if self._writes or self._is_whole else self._guarded
        # Whether one test is of the memory of all arrays, those that were captured included.
        self._with_memory = self._in_core and bool(self._given) and knows_memory(self._backend)
        self._captured = program.made.captured if self._with_memory else []
        self._serve = whole(program, function) if self._is_whole else self._made()

    def _is_straight(self) -> bool:
        program, backend = self._program, self._backend
        if program.writes_back or program.options.by_nodes:
            return False
        if program.crossing.two_engines:
            return not program.destroyed
        if not backend.mutable:
            return True
        arrays = [*(self._leaves[place] for place in program.arrays), *program.made.captured]
        return all(is_guarded(x) and backend.read(x._native) is x._native for x in arrays)

    # Opening the arguments

    def opened(self, spec: Any, general: General) -> Call:
        """Return a call that opens its arguments and has them served, or takes the general way."""
        args, kwargs = unflatten(spec, [Leaf(place) for place in range(len(self._leaves))])
        try:
            if self._in_core:
                return self._in_core_call(args, kwargs, self._serve, general)
        except UnknownNestError:
            pass
        return self._flattened(spec, general)

    def _in_core_call(self, args: Sequence[object], kwargs: dict[str, object], serve: Call, general: General) -> Call:
        parts = tuple([part_of(each, self._part) for each in args])
        named = tuple([part_of(each, self._part) for each in kwargs.values()])
        test = self._guard() if self._guarded else None
        opened = parts, tuple(kwargs), named, key_of, test, self._captured
        return core.CompiledCall(*opened, serve, bool(self._given), self._is_whole, general)  # type: ignore[no-any-return]

    def _part(self, place: int) -> ArgumentPart:
        leaf = self._leaves[place]
        if place in self._guarded:
            return ArgumentPart(IS_ARRAY)
        if place in self._program.made.floats.places:
            return ArgumentPart(IS_FLOAT)
        return ArgumentPart(IS_EQUAL, leaf) if type(leaf) in PLAIN else ArgumentPart(IS_KEYED, key_of(leaf))

    def _guard(self) -> Call:
        arrays = [*(self._leaves[place] for place in self._guarded), *self._captured]
        return guard(arrays, self._program.destroyed if self._with_memory else (), self._program.clash)

    def _flattened(self, spec: Any, general: General) -> Call:
        """Return the same for nests that optree flattens, and where there's no compiled core."""
        structure, serve_whole = structure_key(spec), self._serve if self._is_whole else None
        serve = self._serve if serve_whole is None else _fitting
        if self._in_core:
            leaves = [Leaf(place) for place in range(len(self._leaves))]
            serve_leaves = self._in_core_call(leaves, {}, serve, _declined)
        else:
            serve_leaves = self._by_key(serve)

        def call(*args: object, **kwargs: object) -> object:
            leaves, found = flatten((args, kwargs), in_order=True)
            served = serve_leaves(*leaves) if structure_key(found) == structure else NotImplemented
            if serve_whole is not None and served is not NotImplemented:
                served = serve_whole(leaves, args, kwargs)
            return general(args, kwargs) if served is NotImplemented else served

        return call

    def _by_key(self, serve: Call) -> Call:
        floats, everywhere = self._program.made.floats.places, frozenset(range(len(self._leaves)))
        asked = everywhere.difference(floats)
        key, backend = cache_key(self._leaves, asked), self._backend
        given, arrays = self._given, self._program.arrays

        def serve_leaves(*leaves: Any) -> Any:
            is_same = mode.get() is None and cache_key(leaves, asked) == key
            if not is_same or not all(leaves[place]._backend is backend for place in arrays):
                return NotImplemented
            return serve(*leaves, *[leaves[place]._native for place in given])

        return serve_leaves

    # What is done with it

    def _made(self) -> Call:
        """Return the program that serves calls: it declines those that it isn't for, and runs the graph for others."""
        program, backend = self._program, self._backend
        leaves: list[Hashable] = [("x", place) for place in range(len(self._leaves))]
        self._builder = builder = Builder((), backend, takes=[*leaves, *self._read_before()])
        if not backend.mutable:
            # The trace of an engine may keep what it meets.
            builder.decline_traces()
        if not program.arrays:
            builder.add(CALL, (current, ()), [], ["current"])
            builder.add(SAME, None, ["current", builder.constant(backend)])
        targets = [leaves[place] for place in program.arrays]
        captured = builder.constant(program.made.captured)
        for number in range(len(program.made.captured)):
            # It may be another one at each call.
            builder.add(ITEM, number, [captured], [("captured", number)])
            targets.append(("captured", number))
        names: list[Hashable] = [("n", place) for place in program.arrays]
        if self._writes:
            inputs = targets
        elif program.crossing.two_engines:
            self._read(targets[: len(names)], names)
            self._decline_gradients(names)
            inputs = self._called(program.to_engine, targets)
        else:
            inputs = [*names, *(("m", number) for number in range(len(program.made.captured)))]
            self._read(targets, inputs)
            self._decline_gradients(names)
            if program.destroyed and backend.mutable and not self._with_memory:
                builder.add(CALL, (clashing(program), ()), [*inputs, *targets], ["clashes"])
                builder.add(FALSE, None, ["clashes"])
        return builder.returning(self._returned(targets, self._run(inputs + self._scalars())))

    def _read_before(self) -> list[Hashable]:
        """Return the names of the natives that a guard has read."""
        captured: list[Hashable] = [("m", number) for number in range(len(self._captured))]
        return [*(("n", place) for place in self._given), *captured]

    def _read(self, arrays: Sequence[Hashable], names: Sequence[Hashable]) -> None:
        """Read the natives of arrays that no guard has read."""
        read_before = {*self._read_before()}
        for array, name in zip(arrays, names, strict=True):
            if name not in read_before:
                self._builder.native(array, name)

    def _decline_gradients(self, natives: Sequence[Hashable]) -> None:
        if loses_gradients(self._backend, self._program.backend.name):
            for recorded in self._called(self._backend.records_gradient, natives):
                self._builder.add(FALSE, None, [recorded])

    def _called(self, function: Call, each: Sequence[Hashable]) -> list[Hashable]:
        """Return the names of what a function returns for each of some names."""
        names: list[Hashable] = [(function, one) for one in each]
        for one, name in zip(each, names, strict=True):
            self._builder.add(CALL, (function, ()), [one], [name])
        return names

    def _scalars(self) -> list[Hashable]:
        """Return the names of the natives that are made of floats."""
        floats, builder = self._program.made.floats, self._builder
        values: list[Hashable] = [("x", scalar.value.how) for scalar in floats.scalars]
        if not floats.are_leaves:
            values = [("value", number) for number in range(len(values))]
            builder.add(SPREAD, (floats.values, ()), [("x", place) for place in floats.places], values)
        natives: list[Hashable] = [("scalar", number) for number in range(len(values))]
        for make, value, native in zip(self._program.makers(), values, natives, strict=True):
            builder.add(CALL, (make, ()), [value], [native])
        return natives

    def _run(self, natives: Sequence[Hashable]) -> list[Hashable]:
        """Run the graph; return the names of the arrays that are made of its results."""
        program, builder = self._program, self._builder
        stores = len(program.stores)
        count = stores + len(program.made.computed)
        if not count:
            return []
        run = writing(program) if self._writes else program.executor()
        results: list[Hashable] = [("result", number) for number in range(count)]
        # Arrays that are written in place aren't looked at again.
        operation, filled = (SPREAD, results) if program.made.computed else (CALL, ["done"])
        builder.add(operation, (run.run if isinstance(run, Schedule) else run, ()), natives, filled)
        found = results[stores:]
        if program.crossing.two_engines:
            found = self._called(program.crossing.copy_back, found)
        arrays: list[Hashable] = [("array", number) for number in range(stores, count)]
        none = builder.constant(None)
        for native, array in zip(found, arrays, strict=True):
            builder.add(WRAP, (self._backend, None), [native, none], [array])
        if program.returns_new:
            reused = program.reusing.values()
            self._called(own, [x for number, x in enumerate(arrays, stores) if number not in reused])
        return arrays

    def _returned(self, targets: Sequence[Hashable], computed: Sequence[Hashable]) -> Hashable:
        """Build what the function returns, and return its name."""
        builder, how, found = self._builder, self._program.made, iter(computed)
        leaves: list[Hashable] = []
        for leaf in how.leaves:
            if leaf is None:
                leaves.append(next(found))
            elif leaf[0] is None:
                leaves.append(builder.constant(leaf[1]))
            else:
                view = targets[leaf[0]]
                for depth, step in enumerate(leaf[1]):
                    base, view = view, ("view", len(leaves), depth)
                    if type(step) is Elements:
                        builder.add(TUPLE, tuple, [next(found) for _ in step.indices], [(view, "key")])
                        builder.add(CALL, (view_at, ()), [base, (view, "key")], [view])
                    else:
                        builder.add(CALL, (make_view, ()), [base, builder.constant(step)], [view])
                leaves.append(view)
        try:
            return build(unflatten(how.spec, [Leaf(each) for each in leaves]), builder)
        except UnknownNestError:
            builder.add(LIST, None, leaves, ["leaves"])
            builder.add(CALL, (unflatten, ()), [builder.constant(how.spec), "leaves"], ["nest"])
            return "nest"


def whole(program: Program, function: Call) -> Call:
    """Return a function that serves calls of another one as a whole."""
    backend, engine, arrays = program.crossing.array_backend, program.backend.name, program.arrays

    def serve(leaves: list[Any], args: tuple[object, ...], kwargs: dict[str, object]) -> object:
        if must_run_in_python(backend, engine, [leaves[place] for place in arrays]):
            return NotImplemented
        return program(leaves, partial(function, *args, **kwargs))

    return serve


def writes_arguments(program: Program, leaves: Sequence[Any]) -> bool:
    """Return whether all that a call writes are arrays among its arguments, whose memory the engine may use up."""
    how = program.handling
    targets = [*(leaves[place] for place in program.arrays), *program.made.captured]
    if not how.donated or how.assigned or how.checked or max(how.donated) >= len(program.arrays):
        return False
    # Views show other arrays, which may be among the arguments.
    return all(type(x) is Array and type(settled(x._native)) is x._backend.native_type for x in targets)


def writing(program: Program) -> Call:
    """Return a function of arguments, captured arrays and scalars that runs a graph which writes to arguments."""
    count, how = len(program.arrays) + len(program.made.captured), program.handling

    def write(*given: Any) -> Any:
        targets = given[:count]
        # Overlapping arguments are written in an order that only the function itself knows.
        return program.write(targets, given[count:], how) if len({*map(id, targets)}) == count else NotImplemented

    return write


def _in_blocks_apart(backend: Handle, *natives: Any) -> bool:
    return len({NOWHERE, *map(id, map(backend.block, natives))}) == len(natives) + 1


def clashing(program: Program) -> Callable[..., bool]:
    """Return a test of natives, followed by their arrays: whether a program can't write to them.

    It raises where the engine forbids it.
    """
    backend, clash, arrays = program.crossing.array_backend, program.clash, len(program.arrays)
    count = arrays + len(program.made.captured)
    is_read_only, check_writable = backend.is_read_only, backend.check_writable
    are_apart = partial(_in_blocks_apart if core is None else core.are_apart, backend)

    def clashes(*given: Any) -> bool:
        natives = given[:count]
        if not are_apart(*natives) and clash(given[count:]):
            return True
        for place in program.destroyed:
            # Arguments were found plain; a captured array may have been protected since the trace.
            if (place >= arrays and type(given[count + place]) is not Array) or is_read_only(natives[place]):
                return True
            check_writable(natives[place])
        return False

    return clashes


def _declined(args: object, kwargs: object) -> Any:
    return NotImplemented


def _fitting(*given: object) -> bool:
    return True


def key_of(leaf: object) -> Hashable:
    """Return the cache key of an argument, and an array's backend."""
    try:
        return (leaf_key(leaf), leaf._backend if isinstance(leaf, Array) else None)
    except TypeError:
        # The general way opens a nest, and says what it doesn't take.
        return None
