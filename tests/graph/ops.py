"""Operations on tiny vectors that compute element by element as declared, so that a wrong order shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unifyarr.graph import Apply, Constant, FunctionGraph, Op, Variable

Arrays = Sequence[np.ndarray]


@dataclass(frozen=True)
class Vector:
    length: int
    dtype: str = "int64"

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.length,)


class Cells(tuple[int, ...]):
    """A region: the elements of the buffer that a view shows, in its order."""

    __slots__ = ()

    def isdisjoint(self, other: tuple[int, ...]) -> bool:
        return not set(self) & set(other)


class Code(Op):
    """An operation with an implementation, and perhaps with the parts that its outputs are in."""

    def __init__(
        self,
        name: str,
        compute: Callable[[Arrays], Any],
        *,
        cells: Callable[[int, tuple[int, ...]], tuple[int, ...]] | None = None,
        lengths: Callable[[list[int]], list[int]] = lambda lengths: lengths[:1],
        **options: Any,
    ) -> None:
        super().__init__(name, **options)
        self.compute = compute
        self.cells = cells
        self.lengths = lengths

    def output_types(self, inputs: Sequence[Variable]) -> list[Vector | None]:
        if any(variable.type is None for variable in inputs):
            return [None] * self.nout
        return [Vector(length) for length in self.lengths([variable.type.shape[0] for variable in inputs])]

    def region(self, node: Apply, output: int, input: int, parent: Any) -> Cells | None:
        if self.cells is None or (parent is None and node.inputs[input].type is None):
            return None
        return Cells(self.cells(output, tuple(range(node.inputs[input].type.shape[0])) if parent is None else parent))

    def perform(self, node: Apply, inputs: Arrays, out: Any = None) -> Any:
        # Large integers may wrap around, here and there alike.
        with np.errstate(over="ignore"):
            result = self.compute(inputs)
        if out is None or self.nout > 1:
            return result
        out[...] = result
        return out


def add_to(target: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    # Reads other elements than it writes: an aliased input would be seen half overwritten.
    for k in range(len(target)):
        target[k] = x[k] + (k + 2) * y[(k + 1) % len(y)]
    return target


def fuse_to(target: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    # Reads each element before it's written, and none later.
    for k in range(len(target)):
        target[k] = 3 * x[k] + y[k % len(y)] + 1
    return target


def pair_to(out0: np.ndarray, out1: np.ndarray, x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    first, second = add_to(np.empty_like(x), x, y), add_to(np.empty_like(y), y, x)
    out0[...], out1[...] = first, second
    return [out0, out1]


def new(x: np.ndarray) -> np.ndarray:
    return np.full_like(x, -99)


def halve(x: np.ndarray) -> list[np.ndarray]:
    return [x[: len(x) // 2], x[len(x) // 2 :]]


def halve_cells(output: int, cells: tuple[int, ...]) -> tuple[int, ...]:
    return cells[: len(cells) // 2] if output == 0 else cells[len(cells) // 2 :]


def halve_lengths(lengths: list[int]) -> list[int]:
    return [lengths[0] // 2, lengths[0] - lengths[0] // 2]


def scaled_halves(x: np.ndarray) -> list[np.ndarray]:
    first, second = halve(x)
    first *= 2
    second *= 5
    return [first, second]


def squares(x: np.ndarray) -> np.ndarray:
    x *= x
    result = np.cumsum(x)
    x[...] = -77
    return result


def choose(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x if x[0] % 2 == 0 else y


def blend(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    result = add_to(new(x), x, y)
    target, other = (x, y) if x[0] % 2 == 0 else (y, x)
    other[...] = -55
    target[...] = result
    return target


# Pure ones
S = Code("S", lambda v: v[0].copy(), out=[0])
DOT = Code("Dot", lambda v: add_to(new(v[0]), v[0], v[1]), out=[0])
# Views
T = Code("T", lambda v: v[0][...], view_map={0: (0,)}, cells=lambda _, cells: cells)
# A view of which only this is known.
OPAQUE = Code("Opaque", lambda v: v[0][::-1], view_map={0: (0,)})
REVERSE = Code("Reverse", lambda v: v[0][::-1], view_map={0: (0,)}, cells=lambda _, cells: cells[::-1])
HALVES = [
    Code(
        f"Half{n}",
        lambda v, n=n: halve(v[0])[n],
        view_map={0: (0,)},
        cells=lambda _, cells, n=n: halve_cells(n, cells),
        lengths=lambda lengths, n=n: [halve_lengths(lengths)[n]],
    )
    for n in range(2)
]
SPLIT = Code(
    "Split", lambda v: halve(v[0]), view_map={0: (0,), 1: (0,)}, cells=halve_cells, lengths=halve_lengths, nout=2
)
CHOOSE = Code("Choose", lambda v: choose(*v), view_map={0: (0, 1)})
# A view only for an even length.
MAYBE = Code(
    "Maybe",
    lambda v: v[0][...] if len(v[0]) % 2 == 0 else v[0].copy(),
    view_map=lambda node: {0: (0,)} if node.inputs[0].type.shape[0] % 2 == 0 else {},
)
# Destroyers
A = Code("A", lambda v: add_to(v[0], v[0], v[1]), destroy_map={0: (0,)})
A2 = Code("A2", lambda v: fuse_to(v[0], v[0], v[1]), destroy_map={0: (0,)}, tolerate_same=[(0, 1)])
A3 = Code("A3", lambda v: add_to(v[0], v[0].copy(), v[1].copy()), destroy_map={0: (0,)}, tolerate_aliased=[(0, 1)])
B2 = Code("B2", lambda v: fuse_to(v[1], v[0], v[1]), destroy_map={0: (1,)}, tolerate_same=[(1, 0)])
ADD = Code("add", lambda v: add_to(new(v[0]), v[0], v[1]), inplace=[A, A3], out=[0])
FUSE = Code("fuse", lambda v: fuse_to(new(v[0]), v[0], v[1]), inplace=[A2, B2], out=[0])
M_BOTH, M_FIRST, M_SECOND, M_SAME = (
    Code(
        f"M{destroy_map}",
        lambda v, m=destroy_map: pair_to(v[0] if 0 in m else new(v[0]), v[1] if 1 in m else new(v[1]), *v),
        destroy_map=destroy_map,
        tolerate_same=same,
        lengths=lambda lengths: lengths,
        nout=2,
    )
    for destroy_map, same in (
        ({0: (0,), 1: (1,)}, []),
        ({0: (0,)}, []),
        ({1: (1,)}, []),
        ({0: (0,)}, [(0, 1)]),
    )
)
M = Code(
    "M",
    lambda v: pair_to(new(v[0]), new(v[1]), *v),
    inplace=[M_BOTH, M_FIRST, M_SECOND],
    lengths=lambda lengths: lengths,
    nout=2,
    out=[0, 1],
)
# Two outputs in the two halves of one input.
SCALE_IN = Code(
    "scale!", lambda v: scaled_halves(v[0]), destroy_map={0: (0,), 1: (0,)}, cells=halve_cells, lengths=halve_lengths,
    nout=2,
)  # fmt: skip
# The same, but nothing is said of where they are.
SCALE_SOMEWHERE = Code(
    "scale?", lambda v: scaled_halves(v[0]), destroy_map={0: (0,), 1: (0,)}, lengths=halve_lengths, nout=2
)
SCALE = Code(
    "scale", lambda v: scaled_halves(v[0].copy()), inplace=[SCALE_IN, SCALE_SOMEWHERE], lengths=halve_lengths, nout=2
)
SQUARES_IN = Code("squares!", lambda v: squares(v[0]), scratch=[0])
SQUARES = Code("squares", lambda v: squares(v[0].copy()), inplace=[SQUARES_IN])
# One output in either of two inputs, of which the other is spoilt.
BLEND_IN = Code("blend!", lambda v: blend(*v), destroy_map={0: (0, 1)})
BLEND = Code("blend", lambda v: blend(v[0].copy(), v[1].copy()), inplace=[BLEND_IN])


def vectors(names: str, length: int = 4, *, indestructible: bool = False) -> list[Variable]:
    return [Variable(Vector(length), name, indestructible=indestructible) for name in names.split()]


def constant(*values: int) -> Constant:
    return Constant(np.array(values), Vector(len(values)))


def evaluate(
    fgraph: FunctionGraph,
    values: Sequence[np.ndarray],
    *,
    pure: bool = False,
    plan: dict[Variable, Variable] | None = None,
) -> list[np.ndarray]:
    """Run the nodes in the graph's order, on the very memory of the given values, or ``pure`` on copies of everything.

    With a plan the results go to the buffers that it says.
    """
    storage = dict(zip(fgraph.inputs, values, strict=True))
    for node in fgraph.toposort():
        inputs = [v.data if isinstance(v, Constant) else storage[v] for v in node.inputs]
        op = node.op
        assert isinstance(op, Code)
        # Large integers may wrap around, here and there alike.
        with np.errstate(over="ignore"):
            found = op.compute([value.copy() for value in inputs] if pure else inputs)
        for output, value in zip(node.outputs, found if op.nout > 1 else [found], strict=True):
            if not pure and plan and output in plan:
                buffer = storage[plan[output]]
                assert buffer.shape == value.shape
                buffer[...] = value
                value = buffer
            storage[output] = value.copy() if pure else value
    return [v.data if isinstance(v, Constant) else storage[v] for v in fgraph.outputs]


def graph_of(*outputs: Variable, clone: bool = False) -> FunctionGraph:
    """Return a graph of all that is needed for the outputs, watched by nothing: of the very nodes, or of copies."""
    inputs: dict[Variable, None] = {}
    stack = list(outputs)
    while stack:
        variable = stack.pop()
        if variable.owner is not None:
            stack += variable.owner.inputs
        elif not isinstance(variable, Constant):
            inputs[variable] = None
    return FunctionGraph(sorted(inputs, key=str), outputs, clone=clone)
