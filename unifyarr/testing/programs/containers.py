"""Programs whose steps write several arrays at once: all of them, or none where two overlap or one can't be written."""

from __future__ import annotations

import copy
import functools
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import rule

import unifyarr as ua

from .catalogue import COMPUTED, OPERATORS, SCALARS, UFUNCS
from .machine import LIVE, ArrayMachine, Pair, casts, outcome

# Functions of several results: each names the array that it takes, and how.
SEVERAL: dict[str, Callable[..., Any]] = {
    "unstack": lambda xp, x, **out: xp.unstack(x, **out),
    "unstack -1": lambda xp, x, **out: xp.unstack(x, axis=-1, **out),
    "split 2": lambda xp, x, **out: xp.split(x, 2, **out),
    "split [1, 2]": lambda xp, x, **out: xp.split(x, [1, 2], **out),
}
# Containers have no keys of arrays, which the others use.
MAPPED = {name: COMPUTED[name] for name in COMPUTED if name not in ("any", "count_nonzero", "tril")}
COPIES: dict[str, Callable[[ua.Container], ua.Container]] = {
    "copy()": lambda container: container.copy(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda container: pickle.loads(pickle.dumps(container)),
    "add False": lambda container: container + False,
}


def nested(leaves: Sequence[Any]) -> ua.Container:
    """Return a container of some leaves, in their order: the first has a name, the others are deeper."""
    first, *others = leaves
    return ua.Container({"a": first, "b": [{"c": each} for each in others]})


def overlap_among(arrays: Sequence[np.ndarray]) -> bool:
    """Return whether two of some arrays have elements in common."""
    return any(np.shares_memory(x, y) for place, x in enumerate(arrays) for y in arrays[:place])


def _itself(x: Any) -> Any:
    return x


class ContainerPrograms(ArrayMachine):
    """Programs with containers, and with several targets in one call."""

    many = st.lists(st.integers(0, LIVE - 1), min_size=1, max_size=4)

    def apart(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Return those of some arrays that don't overlap the ones before."""
        kept: list[Pair] = []
        for pair in pairs:
            if not overlap_among([*(each.values for each in kept), pair.values]):
                kept.append(pair)
        return kept

    def write_all(
        self, targets: Sequence[Pair], results: Callable[[], Sequence[Any]], ours: Callable[[], Any], *, exact: bool
    ) -> None:
        """Write a result to each of several targets on both sides, or to none of them.

        ``exact`` demands that each result has its target's shape.
        """

        def numpys() -> None:
            computed = [np.array(each) for each in results()]
            arrays = [pair.values for pair in targets]
            if len(computed) != len(arrays) or overlap_among(arrays):
                raise ValueError
            for values, result in zip(arrays, computed, strict=True):
                if not values.flags.writeable or (exact and result.shape != values.shape):
                    raise ValueError
                # An error now, not after the first write.
                np.copyto(values.copy(), result, casting="same_kind")
            for values, result in zip(arrays, computed, strict=True):
                np.copyto(values, result, casting="same_kind")

        self.both(numpys, ours)

    @rule(into=many, of=many, form=st.sampled_from(["update", *OPERATORS]), apart=st.booleans())
    def update_a_container(self, into: list[int], of: list[int], form: str, apart: bool) -> None:
        targets = [self.target(number) for number in into]
        targets = self.apart(targets) if apart else targets
        values = [
            self.value(of[place % len(of)], each.values.shape, each.values.dtype) for place, each in enumerate(targets)
        ]
        self.update(targets, [each.values for each in values], nested([each.x for each in values]), form)

    @rule(into=many, scalar=st.sampled_from(SCALARS), form=st.sampled_from(["update", *OPERATORS]), apart=st.booleans())
    def update_a_container_by_a_scalar(self, into: list[int], scalar: Any, form: str, apart: bool) -> None:
        targets = [self.target(number) for number in into]
        targets = self.apart(targets) if apart else targets
        self.update(targets, [scalar] * len(targets), scalar, form)

    def update(self, targets: Sequence[Pair], values: Sequence[Any], our_value: Any, form: str) -> None:
        container = nested([each.x for each in targets])

        def results() -> list[Any]:
            if form == "update":
                if not all(casts(value, each.values.dtype) for value, each in zip(values, targets, strict=True)):
                    raise TypeError
                # A scalar of the target's dtype: NumPy would take its own default for it.
                return [
                    value if isinstance(value, np.ndarray) else np.full(each.values.shape, value, each.values.dtype)
                    for value, each in zip(values, targets, strict=True)
                ]
            return [OPERATORS[form](each.values.copy(), value) for value, each in zip(values, targets, strict=True)]

        def ours() -> None:
            updated = ua.inplace_update(container, our_value) if form == "update" else None
            updated = OPERATORS[form](container, our_value) if updated is None else updated
            assert updated is container

        self.write_all(targets, results, ours, exact=False)

    @rule(
        places=st.lists(
            st.tuples(ArrayMachine.numbers, ArrayMachine.numbers, ArrayMachine.numbers), min_size=1, max_size=3
        ),
        name=st.sampled_from([*UFUNCS, *MAPPED]),
        apart=st.booleans(),
    )
    def compute_into_a_container(self, places: list[tuple[int, int, int]], name: str, apart: bool) -> None:
        ones = [self.one(of) for _, of, _ in places]
        others = [
            self.value(other, one.values.shape, np.dtype("complex128"))
            for (_, _, other), one in zip(places, ones, strict=True)
        ]
        kinds = {each.values.dtype.kind for each in (*ones, *others)}
        if name in ("maximum", "minimum", "less") and "c" in kinds:
            return

        def function(xp: Any, x: Any, y: Any, **out: Any) -> Any:
            return getattr(xp, name)(x, y, **out) if name in UFUNCS else MAPPED[name](xp, x, y, **out)

        def results() -> list[np.ndarray]:
            return [function(np, one.values, other.values) for one, other in zip(ones, others, strict=True)]

        outs: list[Pair] = []
        for (into, _, _), one, other in zip(places, ones, others, strict=True):
            result = functools.partial(function, np, one.values, other.values)
            outs.append(self.out(into, result, outs if apart else ()))
        targets = nested([each.x for each in outs])

        def ours() -> None:
            given, beside = (nested([each.x for each in pairs]) for pairs in (ones, others))
            assert function(ua, given, beside, out=targets) is targets

        self.write_all(outs, results, ours, exact=True)

    @rule(
        into=ArrayMachine.numbers, of=ArrayMachine.numbers, name=st.sampled_from(list(SEVERAL)), backwards=st.booleans()
    )
    def compute_several(self, into: int, of: int, name: str, backwards: bool) -> None:
        """Write parts of one array to the parts of one of the same shape, which may be the same or overlap it."""
        one, function = self.one(of), SEVERAL[name]
        out = self.out(into, lambda: one.values)
        if not out.values.ndim:
            return
        key = np.s_[::-1] if backwards else np.s_[:]
        parts, ours = self.both(lambda: [*function(np, out.values[key])], lambda: [*function(ua, out.x[key])])
        if parts is None or ours is None:
            return
        outs = [Pair(values, x, False) for values, x in zip(parts, ours, strict=True)]
        if any(isinstance(each.values, np.generic) for each in outs):
            # Of one axis these are elements, which NumPy has as scalars.
            return
        targets = tuple(each.x for each in outs)

        def compute() -> None:
            found = function(ua, one.x, out=targets)
            assert [id(x) for x in found] == [id(x) for x in targets]

        self.write_all(outs, lambda: [*function(np, one.values)], compute, exact=True)

    @rule(into=many, of=ArrayMachine.numbers, name=st.sampled_from(list(SEVERAL)), apart=st.booleans())
    def compute_several_anywhere(self, into: list[int], of: int, name: str, apart: bool) -> None:
        """Write parts of one array to any others, which may overlap."""
        one, function = self.one(of), SEVERAL[name]
        parts, _ = outcome(lambda: [*function(np, one.values)])
        outs: list[Pair] = []
        for place, part in enumerate([one.values] if parts is None else parts):
            outs.append(self.out(into[place % len(into)], functools.partial(_itself, part), outs if apart else ()))

        def ours() -> None:
            function(ua, one.x, out=tuple(each.x for each in outs))

        self.write_all(outs, lambda: [*function(np, one.values)], ours, exact=True)

    @rule(of=many, name=st.sampled_from(list(COPIES)))
    def copy_a_container(self, of: list[int], name: str) -> None:
        # Of one array at two places, a deep copy and a pickle have one copy.
        ones = list({id(pair.x): pair for pair in map(self.one, of)}.values())
        _, copied = self.both(lambda: None, lambda: COPIES[name](nested([each.x for each in ones])))
        for one, x in zip(ones, [] if copied is None else copied.leaves(), strict=False):
            self.add(np.array(one.values), x, one.values.flags.c_contiguous)
