"""Random expressions whose operands are held in all ways: ``python -m tests.core.random_temporaries COUNT SEED``.

Arrays are so large that results take the memory of operands that nothing else refers to. Values are those of NumPy for
small pieces: of large ones NumPy writes over some operands that are kept, as that of ``(x + 1.0).__mul__``.
"""

from __future__ import annotations

import functools
import operator
import random
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import unifyarr as ua

# Results that large come from the pool.
SIZE, PIECES = 1 << 15, 8
VALUES = {name: np.linspace(0.5, 1.5, SIZE) + place for place, name in enumerate("abc")}


class Box:
    """Keeps an array."""

    def __init__(self, kept: Any) -> None:
        self.kept = kept

    def times(self, other: Any) -> Any:
        """Return a product with a kept array."""
        return self.kept * other


def again(x: Any) -> Any:
    return x


def generated(*arrays: Any) -> Iterator[Any]:
    """Yield arrays and results computed from each, and refer to it meanwhile."""
    for x in arrays:
        yield x + 1.0
        yield x


class Expression:
    """A random expression in Python."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self.text = self._of(self._draw.randint(1, 4))

    def _leaf(self) -> str:
        name = self._draw.choice("abc")
        ways = [name, name, f"xs['{name}']", f"boxes['{name}'].kept", f"again({name})", f"(lambda: {name})()"]
        ways += [f"({name} + 1.0)", f"({name} * {self._draw.choice('abc')})", f"next(iter([{name}]))"]
        return self._draw.choice(ways)

    def _of(self, depth: int) -> str:
        if depth == 0:
            return self._leaf()
        x, y, z = (self._of(depth - 1 if place == 0 else self._draw.randrange(depth)) for place in range(3))
        symbol = self._draw.choice("+-*/")
        named = self._draw.choice(["add", "sub", "mul", "truediv"])
        dunder = f"__{named}__"
        ways = [
            *(f"({x} {symbol} {y})", f"({x} {symbol} 2.5)", f"(2.5 {symbol} {x})", f"(-{x})", f"({x} ** 2)"),
            *(f"operator.{named}({x}, {y})", f"next(map(operator.{named}, ({x},), ({y},)))"),
            *(f"functools.reduce(operator.{named}, ({x}, {y}, {z}))", f"(lambda t: t {symbol} {y} + t)({x})"),
            *(f"(lambda x, y: x {symbol} y - x)({x}, {y})", f"({x}, {y})[0] {symbol} {z}"),
            *(f"[x {symbol} 1.5 for x in ({x}, {y})][1]", f"[*generated({x}, {y})][{self._draw.randrange(4)}]"),
            *(f"({x} if {self._draw.random() < 0.5} else {z})", f"(({x} {symbol} {y}) {symbol} ({y} {symbol} {z}))"),
            f"again(*[{x} {symbol} {y}])",
        ]
        # Each holder is called several times: the first call mustn't overwrite its operand.
        keepers = [
            *(f"functools.partial(operator.{named}, {x})", f"({x}).{dunder}", f"Box({x}).times"),
            *(f"(lambda xs: lambda y: xs[0] {symbol} y)([{x}])", f"(lambda x={x}: lambda y: x {symbol} y)()"),
            f"(lambda xs: lambda y: functools.reduce(operator.{named}, [*xs, y]))(({x},))",
            f"(lambda xs: lambda y: next(map(operator.{named}, xs, (y,))))([{x}])",
            f"(lambda box: lambda y: box.kept.{dunder}(y))(Box({x}))",
        ]
        ways += [f"(lambda call: call({y}) - call({z}) + call({y}))({each})" for each in keepers]
        return f"({self._draw.choice(ways)})"

    def run(self, given: dict[str, Any]) -> np.ndarray:
        """Return the value for named arrays."""
        held = {"xs": dict(given), "boxes": {name: Box(x) for name, x in given.items()}}
        names = {**given, **held, "Box": Box, "again": again, "generated": generated}
        with np.errstate(all="ignore"):
            found = eval(self.text, {"operator": operator, "functools": functools, **names})
        return np.asarray(found)


def differences(count: int, seed: int) -> list[str]:
    """Return expressions whose values differ from NumPy's, or that change a named array."""
    wrong = []
    with ua.use_backend("numpy"):
        for number in range(count):
            expression, given = Expression(seed + number), {name: ua.asarray(x.copy()) for name, x in VALUES.items()}
            found = expression.run(given)
            pieces = zip(*[np.split(x, PIECES) for x in VALUES.values()], strict=True)
            wanted = np.concatenate([expression.run(dict(zip(VALUES, piece, strict=True))) for piece in pieces])
            same = np.array_equal(found, wanted, equal_nan=True)
            if not same or any(not np.array_equal(x.to_numpy(), VALUES[name]) for name, x in given.items()):
                wrong.append(expression.text)
    return wrong


if __name__ == "__main__":
    wrong = differences(int(sys.argv[1]), int(sys.argv[2]))
    print(*wrong, f"{len(wrong)} of {sys.argv[1]} expressions are wrong", sep="\n")
    sys.exit(bool(wrong))
