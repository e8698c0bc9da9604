"""How much memory a compiled function's programs use, and where each value is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...modes.trace.replaying import TransformedOp
from ..core.basic import Apply, Constant, Variable
from ..core.fgraph import FunctionGraph
from ..core.lifetimes import Lifetime, lifetimes, peak, settled
from ..core.memory import memory_plan
from ..core.names import describe, name_of, title
from ..kernels.executors import Schedule
from ..loops.bodies import Body
from ..loops.ops import BodiesOp
from .tables import TextTable, bytes_text

if TYPE_CHECKING:
    from ..._core.engines.handle import Handle
    from ..run.program import Program


# The most buffers that a table lists.
SHOWN = 50


@dataclass(frozen=True)
class Buffer:
    """A piece of memory that a program uses.

    Attributes
    ----------
    kind
        ``"input"``, ``"constant"``, ``"result"`` or ``"temporary"``.
    type
        The dtype and shape of the value that it was made for.
    bytes
        Its size, ``None`` if that isn't known.
    variables
        The values in it: inputs and constants by name, results of operations by step and operation.
    first, last
        The steps from which and until which it's held: -1 for memory that is there before the first step, the number of
        steps for memory that is there after the last.
    """

    kind: str
    type: str
    bytes: int | None
    variables: tuple[str, ...]
    first: int
    last: int


@dataclass(frozen=True)
class BodyMemory:
    """What one step of a loop, or a branch, holds beside what it's passed.

    Attributes
    ----------
    step, name
        The step of the program that runs it, and the name of that loop or branch.
    buffers
        The pieces of memory that it uses; their steps are its own.
    steps
        The number of operations that it runs.
    peak
        The most bytes that are held at one time.
    bodies
        The loops and branches inside.
    """

    step: int
    name: str
    buffers: tuple[Buffer, ...]
    steps: int
    peak: int
    bodies: tuple[BodyMemory, ...]

    def _rows(self, depth: int = 1) -> Iterator[tuple[str, ...]]:
        before = "  " * depth
        yield (f"{before}in {self.step} {self.name}", "", bytes_text(self.peak), "", "", f"{self.steps} operations")
        for each in self.buffers:
            if each.kind in ("temporary", "result"):
                yield _row(each, self.steps, f"{before}  ")
        for body in self.bodies:
            yield from body._rows(depth + 1)


@dataclass(frozen=True)
class ProgramMemory:
    """The memory of a function compiled for arguments of one structure, shape and dtype.

    Attributes
    ----------
    arguments, backend
        The types of the arrays that it was compiled for, and their backend.
    buffers
        The pieces of memory that it uses.
    steps
        The number of operations that it runs.
    inputs, constants, results
        The bytes of the inputs, of the constants that it keeps, and of the results that it makes.
    peak_before, peak_after
        The most bytes that are held at one time, apart from inputs and constants: by the traced graph, where each
        result that isn't a view has memory of its own, and by the graph that runs. Memory that an operation uses
        internally isn't counted. JAX, which compiles the whole graph, reports its own figure. TensorFlow reports none,
        so that it's ``None`` there.
    bodies
        The loops and branches, whose memory is part of ``peak_after``: none on an engine that plans its memory itself.
    refusal
        Why the engine's own compiler doesn't compile it, ``None`` if it does, or if there's none.
    refused
        Changes of rewrites that people added, which the graph refused: what would have been overwritten too early.
    """

    arguments: tuple[str, ...]
    backend: str
    buffers: tuple[Buffer, ...]
    steps: int
    inputs: int
    constants: int
    results: int
    peak_before: int
    peak_after: int | None
    bodies: tuple[BodyMemory, ...] = ()
    refusal: str | None = None
    refused: tuple[str, ...] = ()

    def _table(self) -> TextTable:
        after = "planned by the engine" if self.peak_after is None else bytes_text(self.peak_after)
        # Only the largest buffers, in their order.
        large = sorted(self.buffers, key=lambda each: -(each.bytes or 0))[:SHOWN]
        shown = [each for each in self.buffers if any(each is other for other in large)]
        rows = [_row(each, self.steps) for each in shown]
        rows += [row for body in self.bodies for row in body._rows()]
        rest = (
            [f"… {len(self.buffers) - len(shown)} more, none of them larger"] if len(shown) < len(self.buffers) else []
        )
        return TextTable(
            [f"({_listed(self.arguments)}) on {self.backend}, {self.steps} operations"],
            ["memory", "type", "bytes", "from", "to", "holds"],
            "llrrrl",
            rows or [("none", "", "", "", "", "")],
            [
                *rest,
                f"inputs {bytes_text(self.inputs)}, constants {bytes_text(self.constants)}, "
                f"results {bytes_text(self.results)}",
                f"peak beside inputs and constants: {bytes_text(self.peak_before)} as traced, {after} as run",
                *([] if self.refusal is None else [self.refusal]),
                *self.refused,
            ],
        )

    def __str__(self) -> str:
        return str(self._table())

    def _repr_html_(self) -> str:
        return self._table().html()


@dataclass(frozen=True)
class MemoryReport:
    """The memory of a compiled function, for each of its programs."""

    function: str
    programs: tuple[ProgramMemory, ...]

    def __str__(self) -> str:
        if not self.programs:
            return f"{self.function} wasn't compiled for any arguments yet: call it, or pass some to memory()"
        return "\n\n".join(f"{self.function}{each}" for each in self.programs)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(each._repr_html_() for each in self.programs) or f"<p>{self}</p>"


def memory_report(function: str, programs: Iterable[Program]) -> MemoryReport:
    """Return the memory of some programs of a function."""
    return MemoryReport(function, tuple(map(_of_program, programs)))


def _of_program(program: Program) -> ProgramMemory:
    made, fgraph = program.made, program.fgraph
    # An engine with immutable arrays computes views into memory of their own.
    views = bool(program.backend.mutable)
    traced = FunctionGraph(made.inputs, [*made.updates.values(), *made.computed, *made.effects])
    before = lifetimes(traced, traced.toposort(), {}, views=views)
    nodes = settled(fgraph)
    after = lifetimes(fgraph, nodes, memory_plan(fgraph, order=nodes), views=views)
    buffers, bodies = _buffers(after, nodes), () if program.backend.can_compile else _bodies(nodes)

    def total(kind: str) -> int:
        return sum(each.bytes or 0 for each in buffers if each.kind == kind)

    return ProgramMemory(
        arguments=tuple(f"{variable}: {describe(variable.type)}" for variable in fgraph.inputs),
        backend=program.backend.name,
        buffers=buffers,
        steps=len(nodes),
        inputs=total("input"),
        constants=total("constant"),
        results=total("result"),
        peak_before=peak(before),
        peak_after=_as_run(program.backend, fgraph, after, bodies),
        bodies=bodies,
        refusal=program.refusal,
        refused=tuple(dict.fromkeys(_refused(fgraph))),
    )


def _buffers(memory: Sequence[Lifetime], nodes: Sequence[Apply]) -> tuple[Buffer, ...]:
    steps = {node: number for number, node in enumerate(nodes)}

    def name(variable: Variable) -> str:
        if variable.owner is None:
            return name_of(variable)
        output = f".{variable.index}" if len(variable.owner.outputs) > 1 else ""
        return f"{steps[variable.owner]} {title(variable.owner.op)}{output}"

    return tuple(
        Buffer(
            _buffer_kind(each, len(nodes)),
            describe(each.root.type) or "?",
            each.bytes,
            tuple(map(name, each.variables)),
            each.first,
            each.last,
        )
        for each in memory
    )


def _bodies(nodes: Sequence[Apply]) -> tuple[BodyMemory, ...]:
    return tuple(
        _of_body(number, node.op.name, body)
        for number, node in enumerate(nodes)
        if isinstance(node.op, BodiesOp)
        for body in node.op.bodies
    )


def _refused(fgraph: FunctionGraph) -> Iterator[str]:
    for name, reason in fgraph.history.refusals:
        yield f"rewrite {name} is refused: {reason}"
    for node in fgraph.apply_nodes:
        if isinstance(node.op, BodiesOp):
            for body in node.op.bodies:
                yield from _refused(body.rewritten)
        elif isinstance(node.op, TransformedOp):
            yield from _refused(node.op.fgraph)


def _of_body(step: int, name: str, body: Body) -> BodyMemory:
    fgraph = body.rewritten
    nodes = settled(fgraph)
    memory = lifetimes(fgraph, nodes, memory_plan(fgraph, order=nodes), views=bool(body.backend.mutable))
    bodies = _bodies(nodes)
    return BodyMemory(step, name, _buffers(memory, nodes), len(nodes), peak(memory, inside=_most(bodies)), bodies)


def _most(bodies: Sequence[BodyMemory]) -> dict[int, int]:
    """Map each step to the most that one of its bodies holds: they run one after another."""
    most: dict[int, int] = {}
    for each in bodies:
        most[each.step] = max(most.get(each.step, 0), each.peak)
    return most


def _as_run(
    backend: Handle, fgraph: FunctionGraph, memory: Sequence[Lifetime], bodies: Sequence[BodyMemory]
) -> int | None:
    if not backend.can_compile:
        return peak(memory, inside=_most(bodies))
    return backend.held_bytes(Schedule(fgraph, {}), [variable.type for variable in fgraph.inputs])


def _buffer_kind(memory: Lifetime, steps: int) -> str:
    if memory.is_given:
        return "constant" if isinstance(memory.root, Constant) else "input"
    return "result" if memory.last == steps else "temporary"


def _listed(names: Sequence[str], limit: int = 4) -> str:
    more = f", … {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def _row(buffer: Buffer, steps: int, before: str = "") -> tuple[str, ...]:
    first = "start" if buffer.first < 0 else str(buffer.first)
    last = "end" if buffer.last >= steps else str(buffer.last)
    return f"{before}{buffer.kind}", buffer.type, bytes_text(buffer.bytes), first, last, _listed(buffer.variables)
