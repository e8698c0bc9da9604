"""Derivatives of loops and branches in a trace: each is one more loop or branch, of the backend of the values.

A loop keeps what it carried at each step. Backwards, and along tangents, one more loop computes each step anew on a
record of its own. Backwards it carries the cotangents of what was carried, and those of what the step takes beside,
added up; along tangents it carries tangents. Where many cotangents or tangents go at once, they're a batch, and what
was kept is constant there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from ..._core.kernels.types import ArrayType
from ..._core.values.native import Native
from ...derivatives.rule import Cotangents
from ...derivatives.walks.forward import push
from ...derivatives.walks.reverse import pull
from ..mode import Level
from ..rule_kernels import Kernels
from ..side_effects import silenced
from .entries import NotInline, Tape, Taped, at_places, is_floating

# Takes natives of a record, and returns some.
Found = TypeVar("Found")
Function = Callable[..., Sequence[Taped]]


class _Walk:
    """One function of a loop or branch, run on a record and walked at once, where a rule runs.

    That is at the values of the record, or in a batch of these.
    """

    def __init__(self, tape: Tape, k: Kernels) -> None:
        self._tape, self._k = tape, k
        self._batch: Level | None = None
        if k.handle is not tape.base:
            if not isinstance(k.handle, Level) or k.handle.around is not tape.base:
                raise NotInline
            self._batch = k.handle

    def _kept(self, natives: Sequence[Native]) -> list[Native]:
        """Return natives as values of the record."""
        return list(natives) if self._batch is None else [self._batch.leave(x) for x in natives]

    def back(
        self, run: Function, natives: Sequence[Native], places: Sequence[int], cotangents: dict[int, Native]
    ) -> list[Native]:
        """Return the cotangents of natives at some places, given those of results by their places."""
        values = self._kept(natives)
        leaves, given = self._tape.leaves(values, places)
        with silenced():
            found = run(*given)
        pairs = [(found[place], each) for place, each in cotangents.items()]
        lift = None if self._batch is None else self._batch.enter
        return pull(self._k, self._k, pairs, leaves, [values[place] for place in places], lift=lift)

    def along(
        self, run: Function, natives: Sequence[Native], places: Sequence[int], tangents: Sequence[Native]
    ) -> tuple[Sequence[Taped], list[Native]]:
        """Return the results, and the tangents of results, given those of natives at some places."""
        leaves, given = self._tape.leaves(self._kept(natives), places)
        with silenced():
            found = run(*given)
        return found, push(self._tape, found, dict(zip(leaves, tangents, strict=True)), batch=self._batch)


def _values(natives: Sequence[Taped]) -> list[Native]:
    return [x.value for x in natives]


def _floating(k: Kernels, natives: Sequence[Native]) -> list[int]:
    return [place for place, x in enumerate(natives) if is_floating(k.dtype(x))]


def _or_zeros(k: Kernels, given: Cotangents, like: Sequence[Native], places: Sequence[int]) -> list[Native]:
    return [k.full(0, like[place]) if (each := given[place]) is None else each for place in places]


def _given(given: Cotangents, places: Iterable[int]) -> list[Native]:
    return [each for place in places if (each := given[place]) is not None]


def _inline(found: Found | None) -> Found:
    # The backend of the values has run the loop itself, and so does it with these.
    if found is None:
        raise NotInline
    return found


def scan(
    tape: Tape,
    step: Callable[..., tuple[list[Taped], list[Taped]]],
    state: Sequence[Taped],
    xs: Sequence[Taped],
    constants: Sequence[Taped],
    types: Sequence[ArrayType],
    length: int,
    reverse: bool,
) -> tuple[list[Taped], list[Taped]] | None:
    """Return what is carried after all steps, and the results of the steps; ``None`` where the steps are Python's."""
    given, base = [*state, *xs, *constants], tape.base
    # What was carried before each step is kept for the derivative.
    kept = [ArrayType(base.shape(x.value), base.dtype(x.value)) for x in state] if any(x.entry for x in given) else []

    def forwards(*parts: Sequence[Native]) -> tuple[list[Native], list[Native]]:
        new, results = step(*(list(map(Taped, each)) for each in parts))
        return _values(new), [*_values(results), *parts[0][: len(kept)]]

    found = base.scan(forwards, _values(state), _values(xs), _values(constants), [*types, *kept], length, reverse)
    if found is None:
        return None
    ends, stacked = found
    rule = _Scan(tape, step, len(state), len(xs), types, length, reverse)
    outputs = [*ends, *stacked[: len(types)]]
    made = tape.recorded(rule.of_all, given, outputs, stacked[len(types) :], pushed=rule.pushed)
    return made[: len(state)], made[len(state) :]


class _Scan:
    """How cotangents and tangents go through a loop, whose operands are given as ``state``, ``xs``, ``constants``.

    Further operands are what was carried before each step.
    """

    def __init__(
        self,
        tape: Tape,
        step: Callable[..., tuple[list[Taped], list[Taped]]],
        carried: int,
        rows: int,
        types: Sequence[ArrayType],
        length: int,
        reverse: bool,
    ) -> None:
        self._tape, self._step, self._types, self._length, self._reverse = tape, step, types, length, reverse
        # Where the operands of each kind end.
        self._carried, self._end = carried, carried + rows

    def _run(self, *natives: Taped) -> list[Taped]:
        new, results = self._step(natives[: self._carried], natives[self._carried : self._end], natives[self._end :])
        return [*new, *results]

    def _parts(self, operands: Sequence[Native]) -> tuple[list[Native], list[Native]]:
        """Return the rows of a step, in the order in which it takes them, and the constants."""
        count = len(operands) - self._carried
        return [*operands[count:], *operands[self._carried : self._end]], list(operands[self._end : count])

    def of_all(
        self, k: Kernels, needs: Sequence[bool], g: Cotangents, out: Sequence[Native], *operands: Native
    ) -> Sequence[Native | None]:
        """Return the cotangents of what was carried first, of the rows, and of what the step takes beside."""
        walk, carried, end = _Walk(self._tape, k), self._carried, self._end
        rows, constants = self._parts(operands)
        wanted = _floating(k, out)
        states = [place for place in wanted if place < carried]
        totals = [place for place in range(end, end + len(constants)) if needs[place]]
        chosen = [*states, *totals, *(place for place in range(carried, end) if needs[place])]
        count = len(states)
        cotangents = _or_zeros(k, g, out, wanted)

        def backwards(
            carry: Sequence[Native], row: Sequence[Native], fixed: Sequence[Native]
        ) -> tuple[list[Native], list[Native]]:
            given = dict(zip(wanted, [*carry[:count], *row[end:]], strict=True))
            pulled = walk.back(self._run, [*row[:end], *fixed], chosen, given)
            added = list(map(k.add, carry[count:], pulled[count:]))
            return [*pulled[:count], *added], pulled[len(carry) :]

        carry = [*cotangents[:count], *(k.full(0, operands[place]) for place in totals)]
        types = [ArrayType(k.shape(operands[each])[1:], k.dtype(operands[each])) for each in chosen[len(carry) :]]
        found = k.handle.scan(
            backwards, carry, [*rows, *cotangents[count:]], constants, types, self._length, not self._reverse
        )
        ends, stacked = _inline(found)
        return at_places(len(operands), chosen, [*ends, *stacked])

    def pushed(self, k: Kernels, tangents: Cotangents, *operands: Native) -> Sequence[Native | None]:
        """Return the tangents of what is carried in the end, and of the results."""
        walk, carried, end = _Walk(self._tape, k), self._carried, self._end
        rows, constants = self._parts(operands)
        states = _floating(k, operands[:carried])
        chosen = [*states, *(place for place in range(carried, len(tangents)) if tangents[place] is not None)]
        others = _given(tangents, chosen[len(states) :])
        of_rows = sum(place < end for place in chosen[len(states) :])
        results = [place for place, each in enumerate(self._types, carried) if is_floating(each.dtype)]

        def forwards(
            carry: Sequence[Native], row: Sequence[Native], fixed: Sequence[Native]
        ) -> tuple[list[Native], list[Native]]:
            values = [*row[:end], *fixed[: len(constants)]]
            given = [*carry, *row[end:], *fixed[len(constants) :]]
            _, found = walk.along(self._run, values, chosen, given)
            return [found[place] for place in states], [found[place] for place in results]

        made = k.handle.scan(
            forwards,
            _or_zeros(k, tangents, operands, states),
            [*rows, *others[:of_rows]],
            [*constants, *others[of_rows:]],
            [self._types[place - carried] for place in results],
            self._length,
            self._reverse,
        )
        ends, stacked = _inline(made)
        return at_places(carried + len(self._types), [*states, *results], [*ends, *stacked])


def while_loop(
    tape: Tape,
    condition: Callable[..., Taped],
    body: Callable[..., list[Taped]],
    state: Sequence[Taped],
    constants: Sequence[Taped],
) -> list[Taped] | None:
    """Return what is carried once the condition is false; its steps aren't counted, so that none leads back."""
    if type(tape.base) is type(tape) and not any(x.entry for x in (*state, *constants)):
        # So a function of checkpoint() runs first. It's walked when nothing else can be done any more.
        raise NotInline
    base, count = tape.base, len(state)

    def holds(*values: Native) -> Native:
        value: Native = condition(*map(Taped, values)).value
        return value

    def run(*values: Native) -> list[Native]:
        return _values(body(*map(Taped, values)))

    found = base.while_loop(holds, run, _values(state), _values(constants))
    if found is None:
        return None

    def pushed(k: Kernels, tangents: Cotangents, *operands: Native) -> Sequence[Native | None]:
        if k.handle is not base:
            raise NotInline
        walk, states = _Walk(tape, k), _floating(k, operands[:count])
        others = [place for place in range(count, len(operands)) if tangents[place] is not None]

        def along(*values: Native) -> list[Native]:
            carried, fixed = values[:count], values[count + len(states) :][: len(constants)]
            given = [*values[count : count + len(states)], *values[len(values) - len(others) :]]
            new, found = walk.along(body, [*carried, *fixed], [*states, *others], given)
            return [*_values(new), *(found[place] for place in states)]

        def goes_on(*values: Native) -> Native:
            return holds(*values[:count], *values[count + len(states) :][: len(constants)])

        carry = [*operands[:count], *_or_zeros(k, tangents, operands, states)]
        beside = [*operands[count:], *_given(tangents, others)]
        return at_places(count, states, _inline(k.handle.while_loop(goes_on, along, carry, beside))[count:])

    return tape.recorded(None, [*state, *constants], found, pushed=pushed)


def switch(tape: Tape, index: Taped, branches: Sequence[Function], operands: Sequence[Taped]) -> list[Taped] | None:
    """Return what one of several functions of the operands returns; ``None`` where that is Python's to choose."""
    count = len(operands)

    def plain(branch: Function) -> Callable[..., list[Native]]:
        return lambda *values: _values(branch(*map(Taped, values)))

    found = tape.base.switch(index.value, list(map(plain, branches)), _values(operands))
    if found is None:
        return None

    def of_all(
        k: Kernels, needs: Sequence[bool], g: Cotangents, out: Sequence[Native], *given: Native
    ) -> Sequence[Native | None]:
        walk = _Walk(tape, k)
        places = [place for place in range(count) if needs[place]]
        wanted = [place for place, each in enumerate(g) if each is not None]

        def back(branch: Function) -> Callable[..., list[Native]]:
            return lambda *all: walk.back(branch, all[:count], places, dict(zip(wanted, all[count:], strict=True)))

        cotangents = _given(g, wanted)
        pulled = k.handle.switch(given[count], list(map(back, branches)), [*given[:count], *cotangents])
        return at_places(len(given), places, _inline(pulled))

    def pushed(k: Kernels, tangents: Cotangents, *given: Native) -> Sequence[Native | None]:
        walk, results = _Walk(tape, k), _floating(tape.k, found)
        places = [place for place in range(count) if tangents[place] is not None]

        def along(branch: Function) -> Callable[..., list[Native]]:
            def run(*all: Native) -> list[Native]:
                pushed = walk.along(branch, all[:count], places, all[count:])[1]
                return [pushed[place] for place in results]

            return run

        directions = _given(tangents, places)
        made = k.handle.switch(given[count], list(map(along, branches)), [*given[:count], *directions])
        return at_places(len(found), results, _inline(made))

    return tape.recorded(of_all, operands, found, [index.value], pushed=pushed)
