"""Making hostile calls and judging them; a call is determined by a seed and a number."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import unifyarr as ua

from . import judge
from .calls import Good, good_calls
from .values import hostile, targets


@dataclass
class Finding:
    """A call that violated the rules."""

    number: int
    call: str
    complaint: str
    place: str = ""

    def __str__(self) -> str:
        return f"call {self.number}: {self.call}\n    {self.complaint}\n    {self.place}"


class Caller:
    """Makes hostile calls on the current backend."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.calls, self.values, self.targets = good_calls(), hostile(), targets()
        self.names = {
            "calls": list(self.calls),
            "values": list(self.values),
            "targets": list(self.targets),
        }

    def draw(self, number: int) -> tuple[str, Good]:
        """Return the call of a number, and its description."""
        chance = random.Random(f"{self.seed} {number}")
        name = chance.choice(self.names["calls"])
        good = self.calls[name]()
        arguments, options = good.arguments, good.options
        said = []
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            places = [*range(len(arguments)), *options]
            unused = [each for each in good.unused() if each not in options]
            if unused and (not places or chance.random() < 0.3):
                place: Any = chance.choice(unused)
            elif places:
                place = chance.choice(places)
            else:
                break
            kind = self.targets if place == "out" else self.values
            value = chance.choice(self.names["targets" if place == "out" else "values"])
            if isinstance(place, int) and place < len(arguments):
                arguments[place] = kind[value]()
            else:
                options[place] = kind[value]()
            said.append(f"{place}={value}")
        if chance.random() < 0.02 and arguments:
            arguments.pop()
            said.append("the last one missing")
        return f"{name}({', '.join(said)})", good

    def make(self, number: int) -> Finding | None:
        """Make the call of a number, and return its violation."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            said, good = self.draw(number)
            given = [*good.arguments, *good.options.values(), *good.own]
            arrays = list({id(x): x for x in judge.arrays_in(given)}.values())
            before = [judge.state(x) for x in arrays]
            # The first argument of a function that writes to its first may have been replaced.
            may_change = [*good.written, *good.arguments[: len(good.written)], good.options.get("out")]
            changing = {id(x) for x in judge.arrays_in(may_change)}
            complaint, place, failed = None, "", False
            try:
                result = good.function(*good.arguments, **good.options)
                complaint = judge.strange(result)
            except Exception as error:
                failed, complaint, place = True, judge.unclear(error, said), judge.place(error)
            for x, was in zip(arrays, before, strict=True):
                if (failed or id(x) not in changing) and was is not None and judge.state(x) != was:
                    complaint = f"an array of {was[1]} {was[0]} was changed"
            return None if complaint is None else Finding(number, said, complaint, place)


def findings(backend: str, count: int, seed: int, first: int = 0) -> Iterator[tuple[int, Finding | None]]:
    """Make so many calls, and yield after each its number and its findings."""
    with ua.use_backend(backend):
        caller = Caller(seed)
        for number in range(first, first + count):
            yield number, caller.make(number)
