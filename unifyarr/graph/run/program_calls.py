"""The call of a compiled function, straight: one Python function for each program, made of what the program needs.

It looks whether its arguments are of the program's cache key, by the attributes of natives that the backend names, runs
the graph on the natives, and makes what the function returns. A call of other arguments takes the general way. So does
all that only that knows, such as arguments that overlap.
"""

from __future__ import annotations

import linecache
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ..._core.arrays.array import Array, blank_array
from ..._core.arrays.ownership import read
from ..._core.arrays.recipes import make_view
from ..._core.arrays.views import Elements
from ..._core.engines.current import current
from ..._core.engines.tracing import mode
from ..._core.writing.indexing import view_at
from ...container.container import unflatten
from ...modes.trace.crossing import loses_gradients
from ..kernels.executors import Schedule
from .cache_keys import PLAIN, leaf_key
from .guards import can_guard, guard, knows_memory, reads_of, value_of
from .nest_source import Leaf, Nests, Unknown
from .program import Program
from .program_watch import ProgramWatch
from .writing import writes_straight, writing_lines

# Takes what a call was passed, and returns the result.
Call = Callable[..., Any]
# The same, of ``args`` and ``kwargs``.
General = Callable[[tuple[Any, ...], dict[str, Any]], Any]
# Stands for an argument that wasn't passed.
MISSING = object()
# A call with names for so many natives is faster than one with all of them as a tuple.
FEW = 8


def general_way(method: Callable[[tuple[Any, ...], dict[str, Any]], Any], function: Callable[..., Any]) -> General:
    """Return the general way of calls, a method of the object that they are calls of, to which it refers weakly."""
    known = weakref.WeakMethod(method)

    def general(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        way: Any = known()
        # Somebody may have kept the call alone: the function computes the same.
        return function(*args, **kwargs) if way is None else way(args, kwargs)

    return general


def generally(general: General) -> Call:
    """Return a call that takes the general way."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return general(args, kwargs)

    return call


def passed(*args: Any) -> tuple[object, ...]:
    """Return those of the arguments that were passed."""
    return tuple([each for each in args if each is not MISSING])


class CalledProgram(Program):
    """A program, and what serves further calls of its key at once."""

    _called = False
    _straight: StraightCall | None = None
    # What it reads beside its arguments.
    watch: ProgramWatch

    def straight(self, function: Callable[..., Any], leaves: Sequence[Any], spec: Any, general: General) -> Call | None:
        """Return what serves further calls; the flattened arguments are those of a call of ``function``."""
        if not self._called:
            # Many are called once.
            self._called = True
            return None
        if self._straight is None:
            self._straight = StraightCall(self, function, leaves, spec, general)
            self.watch.names = self._straight.names
        else:
            self._straight.learn(leaves)
        return self.watch.around(self._straight.call, self._straight.generally)


class StraightCall(Nests):
    """The source of a program's call, and the names that it uses.

    ``leaves`` and ``spec`` are the flattened arguments of a call of ``function`` that the program is for.
    """

    def __init__(
        self, program: Program, function: Callable[..., Any], leaves: Sequence[Any], spec: Any, general: General
    ) -> None:
        self._program, self._function = program, function
        self._kinds = [type(leaf) for leaf in leaves]
        self._reads = [reads_of(leaf) for leaf in leaves]
        self._backend = program.crossing.array_backend
        self._names: dict[str, Any] = {
            "MISSING": MISSING,
            "passed": passed,
            "general": general,
            "running_mode": mode.get,
            "Array": Array,
            "blank_array": blank_array,
            "backend": self._backend,
        }
        self._arrays = program.arrays
        writes = writes_straight(program, leaves)
        is_straight = writes or self._is_straight(leaves)
        # Whether one function tests all arrays, and their memory.
        self._together = is_straight and not writes and can_guard() and self._are_readable()
        self._with_memory = self._together and knows_memory(self._backend)
        # Whether their natives are passed on as they come: no line is about a single one, and they're many.
        single = self._loses_gradients or (program.destroyed and not self._with_memory)
        self._all_at_once = self._together and not single and len(self._arrays) > FEW
        taken, opened = self._taken(spec, len(leaves))
        self._args = "".join(f"{name}, " for name in taken)
        lines = [f"global {', '.join(self._learned)}"] if self._learned else []
        others = " or ".join(["more", *(f"{name} is MISSING" for name in taken[-1:])])
        lines += [f"if {others}: return general(passed({self._args}*more), kwargs)"]
        lines += ["if running_mode() is not None: return MISS", *opened, *self._guards(leaves)]
        lines += self._run(writes) if is_straight else self._general()
        first = [f"{name}=MISSING, " for name in taken]
        source = f"def call({''.join([*first, '/, ']) if first else ''}*more, **kwargs):\n    " + "\n    ".join(lines)
        # Lines that leave a call to the general way say so for short.
        source = source.replace("return MISS\n", f"return general(({self._args}), kwargs)\n") + "\n"
        filename = f"<unifyarr call {id(self)}>"
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        weakref.finalize(self, linecache.cache.pop, filename, None)
        exec(compile(source, filename, "exec"), self._names)
        self.names, self.call = self._names, self._names["call"]
        self.generally = generally(general)

    def _is_straight(self, leaves: Sequence[Any]) -> bool:
        program, backend = self._program, self._backend
        if program.writes_back or program.options.mode == "debug":
            return False
        if program.crossing.two_engines:
            return not program.destroyed
        if not backend.mutable:
            return True
        arrays = [*(leaves[place] for place in self._arrays), *program.made.captured]
        return all(reads_of(x) and backend.read(x._native) is x._native for x in arrays)

    @property
    def _loses_gradients(self) -> bool:
        return loses_gradients(self._backend, self._program.backend.name)

    def _are_readable(self) -> bool:
        return bool(self._arrays) and all(self._reads[place] for place in self._arrays)

    @property
    def _learned(self) -> list[str]:
        """The names of what is compared by identity first."""
        if self._together:
            return []
        return [
            f"n{place}_{number}"
            for place, reads in enumerate(self._reads)
            for number, operator in enumerate(reads.values())
            if operator == "is"
        ]

    def learn(self, leaves: Sequence[Any]) -> None:
        """Take what is compared by identity from other arguments of the program's key."""
        if self._together:
            # The one function does so by itself.
            return
        for place, reads in enumerate(self._reads):
            for name, (expression, operator) in enumerate(reads.items()):
                if operator == "is":
                    self._names[f"n{place}_{name}"] = value_of(leaves[place]._native, expression)

    # What was passed

    def _guards(self, leaves: Sequence[Any]) -> Iterator[str]:
        """Yield lines that give the natives of arrays their names, ``n0`` and so on, unless the key is another one."""
        if not self._backend.mutable:
            # The trace of an engine may keep what it meets.
            cell = self._backend.trace_cell
            self._names |= {"trace_state": self._backend.trace_state, "cell": cell, "no_trace": self._backend.no_trace}
            yield f"if {'trace_state()' if cell is None else 'cell.value'} is not no_trace: return MISS"
        if not self._arrays:
            yield f"if {self._named('current', current)}() is not backend: return MISS"
        if self._together:
            yield from self._guarded(leaves)
        for place, leaf in enumerate(leaves):
            x, wanted = f"x{place}", f"key{place}"
            if self._reads[place] and self._together:
                continue
            if self._reads[place]:
                self._names["native_type"] = self._backend.native_type
                yield f"if type({x}) is not Array or {x}._backend is not backend: return MISS"
                yield f"n{place} = {x}._native"
                tests, by_identity = [f"type(n{place}) is not native_type"], []
                for number, (expression, operator) in enumerate(self._reads[place].items()):
                    name = self._named(f"n{place}_{number}", value_of(leaf._native, expression))
                    if operator == "is":
                        by_identity.append((f"n{place}.{expression}", name))
                    else:
                        tests.append(f"n{place}.{expression} != {name}")
                yield f"if {' or '.join(tests)}: return MISS"
                for found, name in by_identity:
                    yield f"if {found} is not {name}:"
                    yield f"    if {found} != {name}: return MISS"
                    # The engine's results have one object at each call, which isn't that of the first arguments.
                    yield f"    {name} = {found}"
            elif place in self._program.made.floats.places:
                yield f"if type({x}) is not float: return MISS"
            elif type(leaf) in PLAIN:
                yield f"if {self._is_other(x, wanted, leaf)}: return MISS"
            else:
                self._names |= {"leaf_key": leaf_key, wanted: leaf_key(leaf)}
                yield f"if leaf_key({x}) != {wanted}: return MISS"
                if isinstance(leaf, Array):
                    yield f"if {x}._backend is not backend: return MISS"
                    yield f"n{place} = {self._named('read', read)}({x})"
        if self._arrays and self._loses_gradients:
            self._names["records_gradient"] = self._backend.records_gradient
            yield f"if {' or '.join(f'records_gradient(n{place})' for place in self._arrays)}: return MISS"

    def _guarded(self, leaves: Sequence[Any]) -> Iterator[str]:
        """Yield lines that test all arrays at once, and give their natives names."""
        program = self._program
        captured = program.made.captured if self._with_memory and not program.crossing.two_engines else []
        arrays = [*(leaves[place] for place in self._arrays), *captured]
        written = program.destroyed if self._with_memory else ()
        test = self._named("guard", guard(arrays, written, program.clash))
        names = [f"x{place}" for place in self._arrays]
        names += [self._named(f"captured{number}", x) for number, x in enumerate(captured)]
        natives = [f"n{place}" for place in self._arrays] + [f"m{number}" for number in range(len(captured))]
        yield f"natives = {test}({', '.join(names)})"
        yield "if natives is None: return MISS"
        if not self._all_at_once:
            yield f"{', '.join(natives)}, = natives"

    # What is done with it

    def _run(self, writes: bool) -> Iterator[str]:
        """Yield lines that run the graph and return what the function returns; ``writes`` if it writes back."""
        program, backend = self._program, self._program.backend
        arrays = self._arrays
        natives = ["*natives"] if self._all_at_once else [f"n{place}" for place in arrays]
        targets = [f"x{place}" for place in arrays]
        for number, x in enumerate(program.made.captured):
            self._names |= {f"captured{number}": x, "read": read}
            targets.append(f"captured{number}")
            if self._all_at_once and self._with_memory:
                continue
            natives.append(f"m{number}")
            if program.crossing.two_engines or self._with_memory:
                continue
            yield f"m{number} = captured{number}._native" if backend.mutable else f"m{number} = read(captured{number})"
        if program.crossing.two_engines:
            self._names |= {"to_engine": program.to_engine, "copy_back": program.crossing.copy_back}
            natives = [f"to_engine({x})" for x in targets]
        if program.destroyed and backend.mutable and not self._with_memory:
            self._names |= {"block": backend.block, "NOWHERE": id(None), "clash": program.clash}
            blocks = ", ".join(f"id(block({each}))" for each in natives)
            # Most arrays lie in memory of their own.
            yield f"if len({{NOWHERE, {blocks}}}) != {len(natives) + 1} and clash([{', '.join(targets)}]): return MISS"
            self._names["is_read_only"], self._names["check_writable"] = backend.is_read_only, backend.check_writable
            for place in program.destroyed:
                # Arguments were found plain; a captured array may have been protected since the trace.
                is_other = f"type({targets[place]}) is not Array or " if place >= len(arrays) else ""
                yield f"if {is_other}is_read_only({natives[place]}): return MISS"
                yield f"check_writable({natives[place]})"
        floats = program.made.floats
        if floats.scalars:
            self._names |= {f"as_native{number}": make for number, make in enumerate(program.makers())}
            values = [f"x{scalar.value.how}" for scalar in floats.scalars]
            if not floats.are_leaves:
                values = [f"v{number}" for number in range(len(values))]
                arguments = ", ".join(f"x{place}" for place in floats.places)
                yield f"{', '.join(values)}, = {self._named('floats', floats.values)}({arguments})"
            natives += [f"as_native{number}({value})" for number, value in enumerate(values)]
        stores = len(program.stores)
        results = [f"r{number}" for number in range(stores + len(program.made.computed))]
        given = f"{''.join(f'{each}, ' for each in results)} = "
        if writes:
            if len(targets) > 1:
                # Overlapping arguments are written in an order that only the function itself knows.
                yield f"if len({{{', '.join(f'id({x})' for x in targets)}}}) != {len(targets)}: return MISS"
            yield from writing_lines(program, targets, natives, self._names)
            yield "if not done:"
            yield f"    del {', '.join(f'p{place}' for place in program.handling.donated)}"
            yield f"    {self._of_program()}"
            yield f"{given}results"
        elif results:
            run = program.executor()
            self._names["run"] = run.run if isinstance(run, Schedule) else run
            # What is written in place isn't looked at again.
            yield f"{given if program.made.computed else ''}run({', '.join(natives)})"
        in_arguments = program.reusing.values()
        computed = []
        for number, native in enumerate(results[stores:]):
            computed.append(f"y{number}")
            yield f"y{number} = blank_array()"
            yield f"y{number}._native = {f'copy_back({native})' if program.crossing.two_engines else native}"
            yield f"y{number}._backend = backend"
            yield f"y{number}._base = None"
            if program.returns_new and number + stores not in in_arguments:
                yield f"y{number}._owned = True"
        yield f"return {self._returned(targets, computed)}"

    def _general(self) -> Iterator[str]:
        """Yield lines that leave the call to the program, once it's known to be its own."""
        natives = [f"n{place}" for place in self._arrays]
        if natives:
            # What refers to a native keeps a write from using its memory.
            yield f"del {', '.join(natives)}"
        yield self._of_program()

    def _of_program(self) -> str:
        self._names |= {"program": self._program, "function": self._function, "partial": partial}
        leaves = ", ".join(f"x{place}" for place in range(len(self._kinds)))
        return f"return program([{leaves}], partial(function, {self._args}**kwargs))"

    def _returned(self, targets: Sequence[str], computed: Sequence[str]) -> str:
        how, found = self._program.made, iter(computed)
        leaves = []
        for number, leaf in enumerate(how.leaves):
            if leaf is None:
                leaves.append(next(found))
            elif leaf[0] is None:
                leaves.append(self._named(f"value{number}", leaf[1]))
            else:
                view = targets[leaf[0]]
                for depth, step in enumerate(leaf[1]):
                    if type(step) is Elements:
                        self._names["view_at"] = view_at
                        view = f"view_at({view}, ({''.join(f'{next(found)}, ' for _ in step.indices)}))"
                    else:
                        self._names |= {"make_view": make_view, f"step{number}_{depth}": step}
                        view = f"make_view({view}, step{number}_{depth})"
                leaves.append(view)
        try:
            return self._built(unflatten(how.spec, [Leaf(each) for each in leaves]))
        except Unknown:
            self._names |= {"unflatten": unflatten, "spec_of_result": how.spec}
            return f"unflatten(spec_of_result, [{', '.join(leaves)}])"
