"""Where the time of a call goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ...modes.side_effects import silenced
from ..core.basic import Apply
from ..core.memory import memory_plan
from ..core.names import bytes_of
from ..kernels.executors import Executor, Schedule
from ..kernels.hosting import run_of
from ..loops.bodies import Body
from ..loops.ops import BodiesOp
from .drawing import svg
from .tables import TextTable, bytes_text, seconds_text

if TYPE_CHECKING:
    from ..._core.engines.handle import Handle
    from ..run.program import Program


@dataclass(frozen=True)
class OpTime:
    """The time of an operation, summed over all its applications in one call.

    ``inplace`` counts the applications that overwrote an input, out of ``calls``. ``bytes`` is how much all of them
    read and wrote; a view reads and writes nothing. ``inside`` has the operations of the steps of a loop, or of the
    branch that was taken.
    """

    name: str
    calls: int
    inplace: int
    seconds: float
    bytes: int
    inside: tuple[OpTime, ...] = ()

    def nested(self, depth: int = 0) -> Iterator[tuple[int, OpTime]]:
        """Yield this operation and all inside, each with its depth."""
        yield depth, self
        for each in self.inside:
            yield from each.nested(depth + 1)


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
    _drawn: str | None = field(default=None, repr=False, compare=False)

    def svg(self) -> str:
        """Return the graph of the operations as an SVG image, with the share of each in the time."""
        if self._drawn is None:
            raise ValueError("nothing is known of the operations, since the function itself ran: pass arguments apart")
        return self._drawn

    @property
    def seconds(self) -> float:
        """The sum of the operations' times."""
        return sum(op.seconds for op in self.ops)

    def _table(self) -> TextTable:
        total = self.seconds
        rows = [
            (
                "  " * depth + op.name,
                str(op.calls),
                str(op.inplace),
                seconds_text(op.seconds),
                f"{100 * op.seconds / total if total else 0:.1f} %",
                f"{bytes_text(int(op.bytes / op.seconds))}/s" if op.bytes and op.seconds else "",
            )
            for each in self.ops
            for depth, op in each.nested()
        ]
        calls, inplace = sum(op.calls for op in self.ops), sum(op.inplace for op in self.ops)
        rows.append(("all", str(calls), str(inplace), seconds_text(total), "", ""))
        return TextTable(
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
        drawn = "" if self._drawn is None else f'<div style="overflow: auto">{self._drawn}</div>'
        return f"<div>{self._table().html()}{drawn}</div>"


class _Timer:
    """Runs a node and measures its time; of a loop or branch also the nodes inside."""

    def __init__(self, node: Apply, backend: Handle, wait: Callable[[Any], object]) -> None:
        self.node, self.wait = node, wait
        self.inside: _Bodies | None = None
        self.run: Callable[..., Any]
        if isinstance(node.op, BodiesOp):
            self.inside = _Bodies(wait)
            self.run = partial(node.op.watched, self.inside)
        else:
            self.run = run_of(backend, node)
        self.calls, self.seconds = 0, 0.0

    def __call__(self, *inputs: Any, **out: Any) -> Any:
        start = perf_counter()
        result = self.run(*inputs, **out)
        self.wait(result)
        self.seconds += perf_counter() - start
        self.calls += 1
        return result

    def reset(self) -> None:
        """Forget the calls so far."""
        self.calls, self.seconds = 0, 0.0
        for each in self.inside.timers if self.inside is not None else ():
            each.reset()


class _Bodies:
    """Runs the bodies of a loop or branch node by node, with a timer for each node."""

    def __init__(self, wait: Callable[[Any], object]) -> None:
        self.wait = wait
        self.timers: list[_Timer] = []
        self._runs: dict[Body, Executor] = {}

    def steps(self, body: Body, plain: Executor, *, last: int | None = None, what: str = "") -> Executor:
        """Return what runs a body once for each step."""
        if body not in self._runs:
            # Of what is fused the single operations are timed.
            fgraph = body.by_single_steps()
            self._runs[body] = Schedule(fgraph, memory_plan(fgraph), bound=partial(self._timed, body.backend)).run
        return self._runs[body]

    def branch(self, body: Body, number: int) -> Executor:
        """Return what runs a branch."""
        return self.steps(body, body.pure)

    def _timed(self, backend: Handle, node: Apply) -> _Timer:
        self.timers.append(_Timer(node, backend, self.wait))
        return self.timers[-1]


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
        self.timers.append(_Timer(node, self.backend, self.wait))
        return self.timers[-1]

    def __call__(self, *natives: Any) -> list[Any]:
        self.wait(natives)
        start = perf_counter()
        if not self.backend.mutable:
            # Such an engine compiles each kernel at its first call. It writes nothing in place, so that running twice
            # is harmless.
            with silenced():
                self.schedule(*natives)
            for timer in self.timers:
                timer.reset()
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
    times = {timer.node: timer.seconds for timer in run.timers}
    drawn = svg(run.fgraph, seconds=times) if run.runs else None
    return ProfileReport(function, program.backend.name, result, ops, elapsed, tuple(notes), drawn)


def _times(timers: Sequence[_Timer]) -> tuple[OpTime, ...]:
    found: dict[str, list[_Timer]] = {}
    for timer in timers:
        if timer.calls:
            found.setdefault(timer.node.op.name, []).append(timer)
    times = [
        OpTime(
            name,
            sum(timer.calls for timer in each),
            sum(timer.calls for timer in each if timer.node.op.victims(timer.node)),
            sum(timer.seconds for timer in each),
            sum(timer.calls * _traffic(timer.node) for timer in each),
            _times([inner for timer in each if timer.inside is not None for inner in timer.inside.timers]),
        )
        for name, each in found.items()
    ]
    return tuple(sorted(times, key=lambda op: -op.seconds))


def _traffic(node: Apply) -> int:
    if node.op.views(node):
        return 0
    return sum(bytes_of(variable) or 0 for variable in (*node.inputs, *node.outputs))
