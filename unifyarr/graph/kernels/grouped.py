"""Equal operations that an accelerator computes in one launch, which takes longer than what it does to few elements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from heapq import heappop, heappush
from math import prod
from typing import Any, NamedTuple

from ..._core.engines.handle import Handle
from ...backends.base.one_launch import OneLaunch
from ..core.basic import Apply, Constant, Op, Variable, same_type
from ..core.fgraph import FunctionGraph
from ..core.rewriting import attempt
from .kernelop import STORE, KernelOp, goes_backwards, is_kernel, is_writable

# A launch takes about as long as so many elements, and results of a group are held together.
_MOST_ELEMENTS = 1 << 20


class GroupedOp(Op):
    """Several calls of a kernel; the inputs are the first operand of each, and then the second of each, if there's one.

    ``over`` is the operand of each call whose place the result takes, 0 or 1, or ``None``.
    """

    def __init__(self, op: KernelOp, count: int, columns: int, over: int | None = None) -> None:
        self.op, self.count, self.columns, self.over = op, count, columns, over
        maps: dict[str, Any] = {}
        if over is not None:
            first, other = over * count, (1 - over) * count
            # Each element is read before it's written.
            pairs = [(first + place, other + place) for place in range(count)] if columns > 1 else []
            destroys = {place: (first + place,) for place in range(count)}
            maps = {"destroy_map": destroys, "tolerate_same": [] if op.name == STORE else pairs}
        super().__init__(f"{op.name}[{count} at once]", parameters=(op, count, columns, over), nout=count, **maps)

    def parts(self) -> Iterator[Op]:
        """Yield the single operations."""
        for _ in range(self.count):
            yield from self.op.parts()

    def twins(self, node: Apply) -> list[Op]:
        """Return the operations whose results are in the places of the first operands, or of the second ones."""
        way = self.op.backend.one_launch(self.op.name)
        if self.over is not None or way is None:
            return []
        return [
            GroupedOp(self.op, self.count, self.columns, over)
            for over in range(1 + (way.commutes and self.columns > 1))
            if all(
                same_type(variable.type, output.type) and is_writable(variable) and not goes_backwards(variable)
                for variable, output in zip(node.inputs[over * self.count :], node.outputs, strict=False)
            )
        ]

    def perform(self, node: Apply, inputs: Sequence[Any], out: object = None) -> Any:
        """Return the results for natives."""
        return self.bound(node)(*inputs)

    def bound(self, node: Apply) -> Callable[..., Any]:
        """Return a function of natives."""
        count, over, backend = self.count, self.over or 0, self.op.backend
        if self.op.name == STORE:

            def store(*natives: Any) -> tuple[object, ...]:
                backend.assign_all(natives[:count], natives[count:])
                return natives[:count]

            return store
        way = backend.one_launch(self.op.name)
        assert way is not None
        run, is_served = way.new if self.over is None else way.in_place, way.is_served
        known = [_number(backend, each) for each in node.inputs[count:]]
        # Arrays without axes may stand beside some.
        numbers = known if None not in known else []
        takes_array = self.columns > 1 and not numbers and _shape(node.inputs[count]) != _shape(node.inputs[0])

        def compute(*natives: Any) -> tuple[object, ...]:
            column, others = list(natives[:count]), list(natives[count:])
            if not is_served(column, () if numbers else others):
                return self._one_by_one(natives)
            if over:
                column, others = others, column
            given = [numbers or (others[0] if takes_array else others)] if others else []
            found = run(column, *given)
            return tuple(column if self.over is not None else found)

        return compute

    def _one_by_one(self, natives: Sequence[Any]) -> tuple[object, ...]:
        count, over = self.count, self.over
        found = [self.op.perform(None, natives[place::count]) for place in range(count)]
        if over is None:
            return tuple(found)
        places = natives[over * count :][:count]
        for native, value in zip(places, found, strict=True):
            self.op.backend.assign(native, value)
        return tuple(places)


class _Call(NamedTuple):
    """A node that may be in a group, what those of the group have in common, and whether its operands change places."""

    key: Hashable
    node: Apply
    turned: bool = False


def group_nodes(fgraph: FunctionGraph, backend: Handle, *, stores: bool = False) -> int:
    """Make one node of equal operations on few elements that don't need each other, and return how many were made.

    They are writes to arguments, if these are asked for, and else what computes new arrays.
    """
    nodes = fgraph.toposort()
    calls = [_store_of(node) if stores else _call_of(backend, node) for node in nodes]
    keys = Counter(call.key for call in calls if call is not None)
    # Most graphs have none.
    if all(count < 2 for count in keys.values()):
        return 0
    calls = [call if call is not None and keys[call.key] > 1 else None for call in calls]
    return sum(_replace(fgraph, backend, each) for each in _Forming(fgraph, nodes, calls).groups() if len(each) > 1)


class _Forming:
    """The nodes that can run after those that have, in an order that makes groups large."""

    def __init__(self, fgraph: FunctionGraph, nodes: Sequence[Apply], calls: Sequence[_Call | None]) -> None:
        self._calls = calls
        places = {node: place for place, node in enumerate(nodes)}
        self._followers: list[list[int]] = [[] for _ in nodes]
        self._missing: list[int] = []
        for place, node in enumerate(nodes):
            needed = {places[each] for each in fgraph.order.before(node)}
            self._missing.append(len(needed))
            for each in needed:
                self._followers[each].append(place)
        # How many calls are on the longest way from a node to the end.
        self._left = [0] * len(nodes)
        for place in reversed(range(len(nodes))):
            after = max((self._left[each] for each in self._followers[place]), default=0)
            self._left[place] = after + (calls[place] is not None)
        self._others: list[int] = []
        self._waiting: dict[Hashable, list[tuple[int, int]]] = {}

    def groups(self) -> Iterator[list[_Call]]:
        """Yield the calls of each group. What is in none runs as soon as it can."""
        for place, count in enumerate(self._missing):
            if not count:
                self._add(place)
        while self._others or self._waiting:
            if self._others:
                done = [heappop(self._others)]
            else:
                # Those that most others wait for.
                found = self._waiting.pop(min(self._waiting, key=lambda key: self._waiting[key][0]))
                done = sorted(place for _, place in found)
                yield [call for place in done if (call := self._calls[place]) is not None]
            for place in done:
                for each in self._followers[place]:
                    self._missing[each] -= 1
                    if not self._missing[each]:
                        self._add(each)

    def _add(self, place: int) -> None:
        call = self._calls[place]
        if call is None:
            heappush(self._others, place)
        else:
            heappush(self._waiting.setdefault(call.key, []), (-self._left[place], place))


def _store_of(node: Apply) -> _Call | None:
    """Return how a write to an argument may be in a group, ``None`` for other nodes."""
    type = node.outputs[0].type
    return _Call(str(type.dtype), node) if is_kernel(node, STORE) and type is not None else None


def _call_of(backend: Handle, node: Apply) -> _Call | None:
    """Return how a node that computes a new array may be in a group, ``None`` if it can't."""
    op, type = node.op, node.outputs[0].type
    if not isinstance(op, KernelOp) or op.static or op.target is not None or type is None or None in type.shape:
        return None
    way = backend.one_launch(op.name)
    if way is None or len(node.inputs) != way.operands or str(type.dtype) not in way.dtypes:
        return None
    if prod(n or 0 for n in type.shape) > _MOST_ELEMENTS or any(
        each.type is None or each.type.dtype != type.dtype for each in node.inputs
    ):
        return None
    if way.operands == 1:
        return _Call((op, str(type.dtype)), node)
    for turned in (False, True)[: 1 + way.commutes]:
        first, second = node.inputs[:: -1 if turned else 1]
        beside = _beside(backend, second, _shape(first), way) if _shape(first) == tuple(type.shape) else None
        if beside is not None:
            return _Call((op, str(type.dtype), beside), node, turned)
    return None


def _beside(backend: Handle, variable: Variable, shape: tuple[int | None, ...], way: OneLaunch) -> Hashable:
    """Return what a second operand has in common with others of a group, ``None`` if it can't be in one."""
    if _shape(variable) == shape:
        return "arrays"
    if _shape(variable):
        return None
    return "numbers" if _number(backend, variable) is not None else variable if way.takes_arrays else None


def _shape(variable: Variable) -> tuple[int | None, ...]:
    return (None,) if variable.type is None else tuple(variable.type.shape)


def _number(backend: Handle, variable: Variable) -> float | None:
    """Return the number that a 0-d constant is known to be, wherever it lies."""
    return backend.known_number(variable.data) if isinstance(variable, Constant) and not _shape(variable) else None


def _replace(fgraph: FunctionGraph, backend: Handle, calls: Sequence[_Call]) -> bool:
    op = calls[0].node.op
    assert isinstance(op, KernelOp)
    columns = list(zip(*(call.node.inputs[:: -1 if call.turned else 1] for call in calls), strict=True))
    grouped = GroupedOp(op, len(calls), len(columns), op.target)
    old = [call.node.outputs[0] for call in calls]
    node = Apply(grouped, [each for column in columns for each in column], [each.type for each in old])
    return attempt(fgraph, zip(old, node.outputs, strict=True))
