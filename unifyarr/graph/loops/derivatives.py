"""Derivatives of loops and branches in a trace: each is one more loop or branch of the same trace.

A loop forwards keeps what it carried at each step. The loop backwards computes each step anew on a record of its own,
and carries the cotangents of what was carried, and those of what the step captured, added up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._core.arrays.array import Array
from ..._core.arrays.ownership import read
from ..._core.engines.tracing import tracing
from ..._core.values.supplying import supply
from ...derivatives.record import Taped, at_places, is_floating
from ...derivatives.reverse import pull
from ...derivatives.tape import TapeHandle
from . import nodes
from .traced import arrays_of, met, trace_of

# Takes natives of a record, and returns some.
Function = Callable[..., Sequence[Taped]]


def scan(
    tape: TapeHandle,
    step: Callable[..., tuple[list[Any], list[Any]]],
    state: Sequence[Taped],
    xs: Sequence[Taped],
    constants: Sequence[Taped],
    types: Sequence[Any],
    length: int,
    reverse: bool,
) -> tuple[list[Taped], list[Taped]] | None:
    """Return what is carried after all steps, and the results of the steps."""
    if not tape.records:
        # Values are known, and the steps are Python's.
        return None
    trace = trace_of(tape.base)
    count, width = len(state), len(xs)
    given = [*state, *xs, *constants]
    values = [x.value for x in given]

    def run(*natives: Taped) -> list[Taped]:
        new, results = step(natives[:count], natives[count : count + width], natives[count + width :])
        return [*new, *results]

    with tracing(trace):
        carry, rows, fixed = (
            arrays_of(each) for each in (values[:count], values[count : count + width], values[count + width :])
        )

        def forwards(*arrays: Array) -> list[Array]:
            found = run(*map(Taped, [*map(read, arrays), *met(fixed)]))
            return [*arrays_of([x.value for x in found]), *arrays[:count]]

        ends, stacked = nodes.scan(trace, forwards, carry, rows, length, reverse)
    outputs = [read(x) for x in (*ends, *stacked[: len(types)])]
    carried = [read(x) for x in stacked[len(types) :]]
    backwards = _ScanRule(tape, run, count, width, len(constants), length, not reverse)
    found = tape.recorded(backwards.of_all, given, outputs, carried)
    return found[:count], found[count:]


class _ScanRule:
    """How the cotangents of what a loop is given follow from those of what it gives."""

    def __init__(
        self,
        tape: TapeHandle,
        run: Function,
        carried: int,
        rows: int,
        constants: int,
        length: int,
        reverse: bool,
    ) -> None:
        self._tape, self._run, self._length, self._reverse = tape, run, length, reverse
        self._carried, self._rows, self._constants = carried, rows, constants

    def of_all(self, k: Any, needs: Sequence[bool], g: Sequence[Any], out: Sequence[Any], *arguments: Any) -> list[Any]:
        """Return the cotangents of what was carried first, of the rows, and of what the step captured."""
        trace, tape = trace_of(k.handle), self._tape
        count, width = self._carried, self._rows
        fixed_values = arguments[count + width : count + width + self._constants]
        befores = arguments[count + width + self._constants :]
        wanted = [place for place in range(len(out)) if is_floating(tape.base.dtype(out[place]))]
        cotangents = {place: k.full(0, out[place]) if g[place] is None else g[place] for place in wanted}
        states = [place for place in wanted if place < count]
        totals = [place for place, x in enumerate(fixed_values) if needs[count + width + place]]
        given_rows = [place for place in range(width) if needs[count + place]]
        with tracing(trace):
            fixed = arrays_of(fixed_values)
            carry = arrays_of([*(cotangents[place] for place in states), *(k.full(0, fixed_values[p]) for p in totals)])
            beside = [place for place in wanted if place >= count]
            rows = arrays_of([*arguments[count : count + width], *befores, *(cotangents[place] for place in beside)])

            def backwards(*arrays: Array) -> list[Array]:
                given = [read(x) for x in arrays]
                now, sums = given[: len(states)], given[len(states) : len(carry)]
                row, before = given[len(carry) :][:width], given[len(carry) + width :][:count]
                after = dict(zip([*states, *beside], [*now, *given[len(carry) + width + count :]], strict=True))
                values = [*before, *row, *met(fixed)]
                chosen = [*states, *(count + p for p in given_rows), *(count + width + p for p in totals)]
                leaves, natives = tape.leaves(values, chosen)
                found = self._run(*natives)
                pairs = [(found[place], cotangent) for place, cotangent in after.items()]
                pulled = pull(k, k, pairs, leaves, [values[place] for place in chosen])
                ends, others = pulled[: len(states)], pulled[len(states) + len(given_rows) :]
                added = [k.add(total, each) for total, each in zip(sums, others, strict=True)]
                return arrays_of([*ends, *added, *pulled[len(states) :][: len(given_rows)]])

            ends, stacked = nodes.scan(trace, backwards, carry, rows, self._length, self._reverse)
        places = [*states, *(count + width + place for place in totals), *(count + place for place in given_rows)]
        return at_places(len(arguments), places, [read(x) for x in (*ends, *stacked)])


def switch(
    tape: TapeHandle, index: Taped, branches: Sequence[Function], operands: Sequence[Taped]
) -> list[Taped] | None:
    """Return what one of several functions of the operands returns."""
    if not tape.records:
        return None
    values = [x.value for x in operands]

    def chosen(
        k_handle: Any, index_value: Any, inner: Sequence[Callable[[list[Any]], list[Any]]], given: Sequence[Any]
    ) -> list[Any]:
        trace = trace_of(k_handle)
        with tracing(trace):
            arrays = arrays_of(given)
            (number,) = arrays_of([index_value])
            functions = [lambda each=each: arrays_of(each(met(arrays))) for each in inner]
            return [read(x) for x in nodes.switch(trace, number, functions)]

    def forwards(branch: Function) -> Callable[[list[Any]], list[Any]]:
        return lambda natives: [x.value for x in branch(*map(Taped, natives))]

    outputs = chosen(tape.base, index.value, list(map(forwards, branches)), values)

    def of_all(k: Any, needs: Sequence[bool], g: Sequence[Any], out: Sequence[Any], *arguments: Any) -> list[Any]:
        *given, number = arguments
        wanted = [place for place in range(len(out)) if g[place] is not None]
        places = [place for place in range(len(given)) if needs[place]]

        def backwards(branch: Function) -> Callable[[list[Any]], list[Any]]:
            def run(natives: list[Any]) -> list[Any]:
                values, cotangents = natives[: len(given)], natives[len(given) :]
                leaves, inside = tape.leaves(values, places)
                found = branch(*inside)
                pairs = [(found[place], each) for place, each in zip(wanted, cotangents, strict=True)]
                return pull(k, k, pairs, leaves, [values[place] for place in places])

            return run

        pulled = chosen(k.handle, number, list(map(backwards, branches)), [*given, *(g[place] for place in wanted)])
        return at_places(len(arguments), places, pulled)

    return tape.recorded(of_all, operands, outputs, [index.value])


supply(TapeHandle.scan, scan)
supply(TapeHandle.switch, switch)
