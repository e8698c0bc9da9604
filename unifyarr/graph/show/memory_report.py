"""How much memory a compiled function's programs use, and where each value is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.basic import Constant, Variable
from ..core.fgraph import FunctionGraph
from ..core.lifetimes import Lifetime, lifetimes, peak, settled
from ..core.memory import memory_plan
from ..core.names import describe, name_of, title
from ..kernels.executors import Schedule
from .tables import Table, bytes_text

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
    refusal
        Why the engine's own compiler doesn't compile it, ``None`` if it does, or if there's none.
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
    refusal: str | None = None

    def _table(self) -> Table:
        after = "planned by the engine" if self.peak_after is None else bytes_text(self.peak_after)
        # Only the largest buffers, in their order.
        large = sorted(self.buffers, key=lambda each: -(each.bytes or 0))[:SHOWN]
        shown = [each for each in self.buffers if any(each is other for other in large)]
        rows = [
            (each.kind, each.type, bytes_text(each.bytes), *self._steps(each), _listed(each.variables))
            for each in shown
        ]
        rest = (
            [f"… {len(self.buffers) - len(shown)} more, none of them larger"] if len(shown) < len(self.buffers) else []
        )
        return Table(
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
            ],
        )

    def _steps(self, buffer: Buffer) -> tuple[str, str]:
        return (
            "start" if buffer.first < 0 else str(buffer.first),
            "end" if buffer.last >= self.steps else str(buffer.last),
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
    traced = FunctionGraph(made.inputs, [*made.updates.values(), *made.computed])
    before = lifetimes(traced, traced.toposort(), {}, views=views)
    nodes = settled(fgraph)
    after = lifetimes(fgraph, nodes, memory_plan(fgraph, order=nodes), views=views)
    steps = {node: number for number, node in enumerate(nodes)}

    def name(variable: Variable) -> str:
        if variable.owner is None:
            return name_of(variable)
        output = f".{variable.index}" if len(variable.owner.outputs) > 1 else ""
        return f"{steps[variable.owner]} {title(variable.owner.op)}{output}"

    def total(kind: str) -> int:
        return sum(each.bytes or 0 for each in buffers if each.kind == kind)

    buffers = tuple(
        Buffer(
            _buffer_kind(each, len(nodes)),
            describe(each.root.type) or "?",
            each.bytes,
            tuple(map(name, each.variables)),
            each.first,
            each.last,
        )
        for each in after
    )
    return ProgramMemory(
        arguments=tuple(f"{variable}: {describe(variable.type)}" for variable in fgraph.inputs),
        backend=program.backend.name,
        buffers=buffers,
        steps=len(nodes),
        inputs=total("input"),
        constants=total("constant"),
        results=total("result"),
        peak_before=peak(before),
        peak_after=_as_run(program.backend, fgraph, after),
        refusal=program.refusal,
    )


def _as_run(backend: Handle, fgraph: FunctionGraph, memory: Sequence[Lifetime]) -> int | None:
    if not backend.can_compile:
        return peak(memory)
    return backend.held_bytes(Schedule(fgraph, {}), [variable.type for variable in fgraph.inputs])


def _buffer_kind(memory: Lifetime, steps: int) -> str:
    if memory.is_given:
        return "constant" if isinstance(memory.root, Constant) else "input"
    return "result" if memory.last == steps else "temporary"


def _listed(names: Sequence[str], limit: int = 4) -> str:
    more = f", … {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
