"""Which nodes become one region: those of one iteration space that hand their values on element by element.

Each node has a *level*. It rises along every edge that can't be inside a region, and never falls. Nodes of one space
and one level that are connected by other edges are a region: what goes from one region to another one rises, so that no
two of them need each other's results. This takes one pass over the graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..core.basic import Apply, Constant, Variable
from ..core.fgraph import FunctionGraph
from ..kernels.kernelop import is_kernel, kernel_of
from .agreeing import is_same_alone
from .index_maps import DENSE, ORDERED, SPREAD, Seen, is_index_map, long_axes, orders, seen, shape_of
from .region import Axis
from .step_recipes import are_loops, recipe_of
from .step_writer import Recipe

Shape = tuple[int, ...]

# A row longer than this isn't reduced in a region, which holds whole rows.
LONGEST_ROW = 4096


class Member(NamedTuple):
    """A node that may be in a region.

    Attributes
    ----------
    node
        The node.
    shape
        The shape that its loop goes through.
    space
        The iteration space of its region, without axes of length one.
    is_row
        Whether it computes one value for each row, of values of that kind alone.
    recipe
        Its steps; none if it writes its value to a window.
    """

    node: Apply
    shape: Shape
    space: Shape
    is_row: bool
    recipe: Recipe | None

    @property
    def gives_rows(self) -> bool:
        """Whether the result has one value for each row."""
        return self.is_row or (self.recipe is not None and self.recipe.reduces)


def _iterated(node: Apply, recipe: Recipe | None) -> Shape:
    if recipe is None:
        return tuple(length for _, _, length in kernel_of(node).static["window"])
    return shape_of(node.inputs[0] if recipe.reduces else node.outputs[0])


def operands(node: Apply) -> Sequence[Variable]:
    """Return the inputs that a node reads element by element."""
    return node.inputs[1:] if is_kernel(node, "set_window") else node.inputs


def is_number(variable: Variable) -> bool:
    """Return whether a variable is a constant of one element."""
    return isinstance(variable, Constant) and all(length == 1 for length in shape_of(variable))


def placed(variable: Variable, shape: Shape) -> Seen:
    """Return what an operand shows of its base along the long axes of what it's broadcast to."""
    own = shape_of(variable)
    if own == shape and (variable.owner is None or not is_index_map(variable.owner)):
        return Seen(variable, (0,) * len(shape), whole(shape))
    base, start, axes = seen(variable)
    new = len(shape) - len(own)
    return Seen(
        base,
        start,
        tuple(Axis(None) if axis < new or own[axis - new] == 1 else axes[axis - new] for axis in long_axes(shape)),
    )


def read_by(member: Member) -> list[Seen]:
    """Return what the operands of a member show of their bases, which may wrap around."""
    found = [placed(variable, member.shape) for variable in operands(member.node)]
    if member.recipe is None or not any(member.recipe.wraps):
        return found
    ((base, start, axes),) = found
    wraps = [member.recipe.wraps[axis] for axis in long_axes(member.shape)]
    return [Seen(base, start, tuple(each._replace(wrap=wrap) for each, wrap in zip(axes, wraps, strict=True)))]


@lru_cache(maxsize=1024)
def whole(shape: Shape) -> tuple[Axis, ...]:
    """Return the axes of an operand that is all of an array, element for element."""
    return tuple(map(Axis, long_axes(shape)))


def is_whole(operand: Seen, *, row: bool = False) -> bool:
    """Return whether an operand is all of its base, element for element or, of a row's values, one for each row."""
    wanted = whole(shape_of(operand.base))
    return not any(operand.start) and operand.axes == ((*wanted, Axis(None)) if row else wanted)


class Read(NamedTuple):
    """An operand of a member: what it shows, and the member whose result it is element by element, if it is one."""

    shown: Seen
    source: Apply | None


class Grouping:
    """The regions of a graph; ``strides`` has those of its inputs and constants."""

    def __init__(self, fgraph: FunctionGraph, strides: Mapping[Variable, Sequence[int]]) -> None:
        self.fgraph, self.nodes = fgraph, fgraph.toposort()
        self.orders = orders(self.nodes, strides)
        self.members: dict[Apply, Member] = {}
        self.levels: dict[Apply, int] = {}
        self._reads: dict[Apply, list[Read]] = {}
        self._leaders: dict[Apply, Apply] = {}
        # Whether any node so far gives values of rows.
        self._has_rows = False
        for node in self.nodes:
            self._enter(node)
        self._sink()

    def regions(self) -> list[list[Member]]:
        """Return the members of each region in the order of evaluation."""
        found: dict[Apply, list[Member]] = {}
        for node in self.nodes:
            if node in self.members:
                found.setdefault(self._leader(node), []).append(self.members[node])
        return list(found.values())

    # Levels

    def _enter(self, node: Apply) -> None:
        recipe = recipe_of(node)
        member = self._as_row(node, recipe) or self._as_element(node, recipe)
        if member is None:
            # A view is on the level of what it shows: a node that reads the view is above that.
            step = 0 if is_index_map(node) else 1
            self.levels[node] = max((self._level(v) + step for v in node.inputs), default=0)
            return
        reads = self._reads[node] = self._read(member)
        level = max((self._level(shown.base) + (source is None) for shown, source in reads), default=0)
        if member.recipe is None:
            level = max(level, self._level(seen(node.inputs[0]).base) + 1)
        self.members[node], self.levels[node], self._leaders[node] = member, level, node
        self._has_rows |= member.gives_rows
        for _, source in reads:
            if source is not None and self.levels[source] == level:
                self._leaders[self._leader(source)] = node

    def _level(self, variable: Variable) -> int:
        return -1 if variable.owner is None else self.levels[variable.owner]

    def _as_row(self, node: Apply, recipe: Recipe | None) -> Member | None:
        """Return a node as one that computes values of rows from such values alone."""
        if recipe is None or recipe.reduces or recipe.wraps or not self._has_rows:
            return None
        shape = _iterated(node, recipe)
        sources: list[Member] = []
        for shown in (placed(v, shape) for v in node.inputs if not is_number(v)):
            source = self._source(shown)
            if source is None or not source.gives_rows or not is_whole(shown):
                return None
            sources.append(source)
        # They have to be in one region, that of this node.
        if len({(each.space, self.levels[each.node]) for each in sources}) != 1:
            return None
        space = sources[0].space
        return Member(node, shape, space, True, recipe) if _without_ones(shape) == space[:-1] else None

    def _as_element(self, node: Apply, recipe: Recipe | None) -> Member | None:
        """Return a node as one that goes through the elements of a space."""
        if recipe is None and not _writes(node):
            return None
        shape = _iterated(node, recipe)
        space = _without_ones(shape)
        least = ORDERED if is_kernel(node, "astype", "roll") else SPREAD
        if not (space or _is_same_alone(recipe)) or 0 in space or any(self.orders[v] < least for v in operands(node)):
            return None
        member = Member(node, shape, space, False, recipe)
        return member if recipe is None or self._has_same_bits(member, recipe) else None

    def _has_same_bits(self, member: Member, recipe: Recipe) -> bool:
        """Return whether the layout of what a node reads doesn't show in its result."""
        inputs = member.node.inputs
        # What is rolled doesn't lie backward any more, for the loops that read it.
        if (recipe.is_loose or recipe.wraps) and any(_is_backward(variable) for variable in inputs):
            return False
        # Rows of what isn't in C order, or has gaps, are added up in another order.
        return not recipe.reduces or (1 < member.shape[-1] <= LONGEST_ROW and self.orders[inputs[0]] == DENSE)

    def _source(self, shown: Seen) -> Member | None:
        owner = shown.base.owner
        member = None if owner is None else self.members.get(owner)
        # What was written to a window is read in other regions.
        return None if member is None or member.recipe is None else member

    def _read(self, member: Member) -> list[Read]:
        reads = [self._read_one(shown, member) for shown in read_by(member)]
        values = [read for read in reads if not is_number(read.shown.base)]
        if not member.is_row and all(source is not None and self.members[source].gives_rows for _, source in values):
            # Of values of rows alone a region has nothing but values of rows.
            return [Read(shown, None) for shown, _ in reads]
        return reads

    def _read_one(self, shown: Seen, member: Member) -> Read:
        source = self._source(shown)
        if source is not None and source.space == member.space and (source.gives_rows or not member.is_row):
            row = source.gives_rows and not member.is_row
            if is_whole(shown, row=row):
                return Read(shown, source.node)
        return Read(shown, None)

    def _leader(self, node: Apply) -> Apply:
        while (above := self._leaders[node]) is not node:
            self._leaders[node] = self._leaders[above]
            node = above
        return node

    # Merging regions

    def _sink(self) -> None:
        """Merge each region into the one that alone uses its results, element by element."""
        groups: dict[Apply, list[Apply]] = {}
        for node in self.members:
            groups.setdefault(self._leader(node), []).append(node)
        for leader, nodes in sorted(groups.items(), key=lambda each: -self.levels[each[0]]):
            users = {user for node in nodes for user in self._users(node, node.outputs[0])} - {leader}
            if len(users) == 1 and None not in users:
                self._leaders[leader] = next(each for each in users if each is not None)

    def _users(self, source: Apply, variable: Variable) -> Iterator[Apply | None]:
        """Yield the leaders of the regions that use a result element by element; ``None`` for any other use.

        Results of the graph are none: no other region needs them.
        """
        for node, _ in self.fgraph.clients[variable]:
            if node is None:
                continue
            if node in self.members:
                kinds = {read.source is source for read in self._reads[node] if read.shown.base is source.outputs[0]}
                written = self.members[node].recipe is None and seen(node.inputs[0]).base is source.outputs[0]
                yield self._leader(node) if kinds == {True} and not written else None
            elif is_index_map(node):
                yield from self._users(source, node.outputs[0])
            else:
                yield None


def _is_backward(variable: Variable) -> bool:
    """Return whether a variable is a view with a negative step, of which some of NumPy's loops give other bits."""
    return any(each.step < 0 for each in seen(variable).axes)


def _is_same_alone(recipe: Recipe | None) -> bool:
    """Return whether steps give the same bits for one element, of which NumPy's loops may have another way."""
    return recipe is None or not recipe.is_loose or all(map(is_same_alone, recipe.steps))


def _writes(node: Apply) -> bool:
    if not is_kernel(node, "set_window") or not are_loops(kernel_of(node).backend):
        return False
    x, value = node.inputs
    return x.type is not None and value.type is not None and x.type.dtype == value.type.dtype


@lru_cache(maxsize=1024)
def _without_ones(shape: Shape) -> Shape:
    return tuple(length for length in shape if length != 1)
