"""Where the time of a call goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ..core.basic import Apply
from ..core.memory import memory_plan
from ..core.names import bytes_of
from ..kernels.executors import Schedule
from .tables import Table, bytes_text, seconds_text

if TYPE_CHECKING:
    from ..run.program import Program


@dataclass(frozen=True)
class OpTime:
    """The time of an operation, summed over all its applications in one call.

    ``inplace`` counts the applications that overwrote an input, out of ``calls``. ``bytes`` is how much all of them
    read and wrote; a view reads and writes nothing.
    """

    name: str
    calls: int
    inplace: int
    seconds: float
    bytes: int


@dataclass(frozen=True)
class ProfileReport:
    """The time of one call of a compiled function, by operation.

    Attributes
    ----------
    function, backend
        The name of the function, and the backend of its arrays.
    result
        What the call returned.
    ops
        The operations, the slowest first.
    elapsed
        The time of the whole call, which includes copying results back and creating arrays.
    notes
        Remarks that help to read the numbers.
    """

    function: str
    backend: str
    result: Any
    ops: tuple[OpTime, ...]
    elapsed: float
    notes: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """The sum of the operations' times."""
        return sum(op.seconds for op in self.ops)

    def _table(self) -> Table:
        total = self.seconds
        rows = [
            (
                op.name,
                str(op.calls),
                str(op.inplace),
                seconds_text(op.seconds),
                f"{100 * op.seconds / total if total else 0:.1f} %",
                f"{bytes_text(int(op.bytes / op.seconds))}/s" if op.bytes and op.seconds else "",
            )
            for op in self.ops
        ]
        calls, inplace = sum(op.calls for op in self.ops), sum(op.inplace for op in self.ops)
        rows.append(("all", str(calls), str(inplace), seconds_text(total), "", ""))
        return Table(
            [f"{self.function} on {self.backend}: {seconds_text(self.elapsed)}"],
            ["operation", "calls", "in place", "time", "share", "read and written"],
            "lrrrrr",
            rows,
            self.notes,
        )

    def __str__(self) -> str:
        return str(self._table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._table().html()


class _Timer:
    """Runs a node and measures its time."""

    def __init__(self, node: Apply, wait: Callable[[Any], object]) -> None:
        self.node, self.wait = node, wait
        self.run, self.seconds = node.op.bound(node), 0.0

    def __call__(self, *inputs: Any, **out: Any) -> Any:
        start = perf_counter()
        result = self.run(*inputs, **out)
        self.wait(result)
        self.seconds = perf_counter() - start
        return result


class _TimedRun:
    """Runs a program node by node, with a timer for each node."""

    def __init__(self, program: Program) -> None:
        self.backend, self.runs, self.warming = program.backend, 0, 0.0
        self.wait = program.backend.wait
        self.timers: list[_Timer] = []
        # Of what is fused the single operations are timed.
        self.fgraph = program.by_single_steps()
        self.schedule = Schedule(self.fgraph, memory_plan(self.fgraph), bound=self._timed)

    def _timed(self, node: Apply) -> _Timer:
        self.timers.append(_Timer(node, self.wait))
        return self.timers[-1]

    def __call__(self, *natives: Any) -> list[Any]:
        self.wait(natives)
        start = perf_counter()
        if not self.backend.mutable:
            # Such an engine compiles each kernel at its first call. It writes nothing in place, so that running twice
            # is harmless.
            self.schedule(*natives)
        self.warming = perf_counter() - start
        self.runs += 1
        return self.schedule(*natives)


def profile_report(
    function: str, program: Program, call: Callable[[Callable[..., Sequence[Any]]], Any]
) -> ProfileReport:
    """Return the report of ``call(run)``, which calls the function with ``run`` in place of its program."""
    run = _TimedRun(program)
    start = perf_counter()
    result = call(run)
    elapsed = perf_counter() - start - run.warming
    notes = []
    if not run.runs:
        notes.append("Arguments overlap, so that the function itself ran, and nothing is known of its operations.")
    elif program.backend.can_compile:
        name = program.backend.name
        notes.append(f"Operations ran one by one, each waited for: in a call {name} compiles them as a whole.")
        if program.refusal is not None:
            notes[-1] = program.refusal
    elif run.fgraph is not program.fgraph:
        notes.append(
            f"These are the single operations: a call runs {len(program.fgraph.apply_nodes)} in their place, some of "
            "them fused, and takes less time."
        )
    ops = _times(run.timers) if run.runs else ()
    return ProfileReport(function, program.backend.name, result, ops, elapsed, tuple(notes))


def _times(timers: Sequence[_Timer]) -> tuple[OpTime, ...]:
    found: dict[str, list[_Timer]] = {}
    for timer in timers:
        found.setdefault(timer.node.op.name, []).append(timer)
    times = [
        OpTime(
            name,
            len(each),
            sum(bool(timer.node.op.victims(timer.node)) for timer in each),
            sum(timer.seconds for timer in each),
            sum(_traffic(timer.node) for timer in each),
        )
        for name, each in found.items()
    ]
    return tuple(sorted(times, key=lambda op: -op.seconds))


def _traffic(node: Apply) -> int:
    if node.op.views(node):
        return 0
    return sum(bytes_of(variable) or 0 for variable in (*node.inputs, *node.outputs))
