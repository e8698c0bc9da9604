"""The graph of a function: its nodes, the clients of each variable, and changes that can be taken back."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import CodeType
from typing import Any

from ..._core.values import above
from ...errors import InconsistencyError
from .basic import Apply, Op, Variable
from .checks import check_known, check_type, check_variables
from .edits import Edits
from .feature import Client, Feature
from .history import History
from .nodes import copy_nodes, sorted_nodes
from .order import NodeOrder
from .printing import render
from .structure import structure


class FunctionGraph:
    """The nodes between inputs and outputs.

    Parameters
    ----------
    inputs, outputs
        The variables that are given, and those that are wanted.
    features
        What watches the graph from the beginning.
    clone
        Whether the graph gets its own copies of the nodes, so that changes don't meet the caller's.
    """

    def __init__(
        self,
        inputs: Iterable[Variable],
        outputs: Iterable[Variable],
        features: Iterable[Feature] = (),
        *,
        clone: bool = True,
    ) -> None:
        self.inputs, self.outputs = list(inputs), list(outputs)
        check_variables("inputs and outputs of a graph", (*self.inputs, *self.outputs))
        # Variables that the graph's own ones are copies of.
        self._copies: dict[Variable, Variable] = {}
        if clone:
            copies = self._copies = copy_nodes(self.inputs, self.outputs)
            self.inputs = [copies[v] for v in self.inputs]
            self.outputs = [copies[v] for v in self.outputs]
        if len(set(self.inputs)) != len(self.inputs):
            raise ValueError("a variable is listed twice among the inputs: list it once")
        for variable in self.inputs:
            if variable.owner is not None:
                raise ValueError(f"{variable} is computed, so it's no input: cut the graph there with clone=True")
        # A map: output that is the new value of an input -> that input.
        self.update_mapping: dict[int, int] = {}
        # Dictionaries, used as ordered sets.
        self.apply_nodes: dict[Apply, None] = {}
        self.clients: dict[Variable, dict[Client, None]] = {variable: {} for variable in self.inputs}
        self.features: list[Feature] = []
        self.history = History()
        self.order = NodeOrder(self)
        self._edits = Edits(self)
        for index, output in enumerate(self.outputs):
            self.include(output)
            self.clients.setdefault(output, {})[Client(None, index)] = None
        for feature in features:
            self.attach(feature)

    # Watching

    def attach(self, feature: Feature) -> None:
        """Attach a feature, unless it refuses the graph as it is.

        A feature watches one graph, and a graph has at most one ``DestroyHandler``.
        """
        if not isinstance(feature, Feature):
            raise TypeError(f"a feature is an instance of Feature, not of {type(feature).__name__}")
        if feature.attached_to is not None:
            where = "this" if feature.attached_to is self else "another"
            raise ValueError(f"the {type(feature).__name__} watches {where} graph already: attach a new one")
        if feature.alone and any(type(each) is type(feature) for each in self.features):
            raise ValueError(f"the graph has a {type(feature).__name__} already, and can have only one")
        feature.on_attach(self)
        feature.attached_to = self
        self.features.append(feature)
        try:
            self.validate()
        except InconsistencyError:
            self.detach(feature)
            raise

    def detach(self, feature: Feature) -> None:
        """Detach a feature."""
        if feature not in self.features:
            raise ValueError(f"the {type(feature).__name__} doesn't watch this graph, so it can't be detached")
        for other in self.features:
            if other.relies_on(feature):
                raise ValueError(f"the {type(other).__name__} relies on the {type(feature).__name__}: detach it first")
        self.features.remove(feature)
        feature.attached_to = None
        feature.on_detach(self)

    def validate(self) -> None:
        """Raise an ``InconsistencyError`` if a feature refuses the changes since the last validation."""
        self.order.settle()
        for feature in self.features:
            feature.on_validate(self)

    def toposort(self) -> list[Apply]:
        """Return the nodes in an order in which they can run."""
        self.validate()
        return self.order.sort(self.apply_nodes)

    # Changing

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make changes together. They are validated at the end, and all taken back if anything fails."""
        point = self.history.begin()
        try:
            yield
            self.validate()
        except BaseException:
            self.history.revert(point)
            # The features' pending checks are as before, and so is an inconsistency that was there before.
            with suppress(InconsistencyError):
                self.validate()
            raise
        finally:
            self.history.end()

    def replace(self, old: Variable, new: Variable) -> None:
        """Replace a variable in all its uses. Nodes that nothing uses any more are removed."""
        self.replace_all([(old, new)])

    def _replace(self, old: Variable, new: Variable) -> None:
        if old is new:
            return
        check_type(old, new)
        if old.owner is not None and old.owner.place is not None:
            self._locate(new, old.owner.place)
        # Nodes that come in with the new variable keep using the old one.
        clients = list(self.clients.get(old, ()))
        if not clients:
            return
        self.order.anchor = old.owner or next((client.node for client in clients if client.node is not None), None)
        try:
            self.include(new)
        finally:
            self.order.anchor = None
        for client in clients:
            self._edits.change_input(client, new)
        self.prune(old)

    def _locate(self, new: Variable, place: tuple[CodeType, int]) -> None:
        """Have the nodes that a variable brings be of the place of what it replaces, unless they have one."""
        waiting = [new.owner]
        while waiting:
            node = waiting.pop()
            if node is not None and node.place is None and node not in self.apply_nodes:
                node.place = place
                waiting += [each.owner for each in node.inputs]

    def change_input(self, client: Client, new: Variable) -> None:
        """Replace a variable in one use by another one of the same type."""
        node, position = client
        if node is not None and node not in self.apply_nodes:
            raise ValueError(f"{node} isn't a node of the graph")
        slots, which = (self.outputs, "output of the graph") if node is None else (node.inputs, f"input of {node}")
        if position not in range(len(slots)):
            raise ValueError(f"there is no {which} {position!r}: there are {len(slots)}, counted from 0")
        check_variables("inputs of nodes", [new])
        old = slots[position]
        if old is not new:
            check_type(old, new)
            self.include(new)
            self._edits.change_input(client, new)
            self.prune(old)

    def replace_all(self, pairs: Iterable[tuple[Variable, Variable]]) -> None:
        """Replace several variables without validation."""
        pairs = list(pairs)
        check_known(self, "what is replaced", (old for old, _ in pairs))
        check_variables("replacements", (new for _, new in pairs))
        for old, new in pairs:
            self._replace(old, new)

    def replace_all_validate(self, pairs: Iterable[tuple[Variable, Variable]]) -> None:
        """Replace several variables; if the graph is refused then, replace none and raise an ``InconsistencyError``."""
        with self.transaction():
            self.replace_all(pairs)

    def substitute(self, node: Apply, op: Op) -> None:
        """Replace the operation of a node, which keeps its inputs and outputs; by its destructive twin, for example."""
        if node not in self.apply_nodes:
            raise ValueError(f"{node!r} isn't a node of the graph")
        if not isinstance(op, Op):
            raise TypeError(f"a node has an Op, not a {type(op).__name__}")
        op.check(node)
        self._edits.set_op(node, op)

    def include(self, variable: Variable) -> None:
        """Add a variable, and the nodes that compute it, although nothing uses it yet."""
        check_variables("what a graph includes", [variable])
        self._edits.include(variable)

    def prune(self, variable: Variable) -> None:
        """Remove the nodes that compute a variable, as far as nothing else uses them."""
        self._edits.prune(variable)

    # Running, copying and showing

    def __call__(self, /, *arrays: Any) -> Any:
        """Return the outputs for arrays, one for each input.

        The operations run one by one, on the backend of the arrays, whichever the graph was built for. ``compile``
        makes a faster function of a graph. Inside a compiled function its operations become a part of that.

        Parameters
        ----------
        *arrays
            An array for each input, of its shape and dtype where these are known.

        Returns
        -------
        array or tuple
            The output, or a tuple of all if there are several, in memory of their own. An output that
            ``update_mapping`` has is written to its argument instead. The other arguments keep their values, though
            operations may overwrite their inputs.

        Raises
        ------
        ShapeError
            If an argument isn't of the input's shape and dtype.
        InconsistencyError
            If there's no order in which each operation reads values that weren't overwritten.

        Examples
        --------
        >>> import unifyarr as ua
        >>> from unifyarr.graph import FunctionGraph, Variable, array_type
        >>> x, y = Variable(array_type(2, "float64"), "x"), Variable(array_type(2, "float64"), "y")
        >>> fgraph = FunctionGraph([x, y], [x + y, x * y])
        >>> fgraph(ua.asarray([1.0, 2.0]), ua.asarray([3.0, 4.0]))
        (array([4., 6.]), array([3., 8.]))
        """
        return above.running.call(self, arrays)

    def own(self, variable: Variable) -> Variable | None:
        """Return the graph's variable that is a variable, or its copy; ``None`` if there's none."""
        found = variable if variable in self.clients else self._copies.get(variable)
        return found if found in self.clients else None

    def copy(self) -> FunctionGraph:
        """Return a copy of the graph, watched by copies of those features that can be copied."""
        copies = copy_nodes(self.inputs, self.outputs)
        inputs, outputs = [copies[v] for v in self.inputs], [copies[v] for v in self.outputs]
        features = [feature.for_copy(copies) for feature in self.features]
        made = FunctionGraph(inputs, outputs, [each for each in features if each is not None], clone=False)
        made.update_mapping = dict(self.update_mapping)
        made._copies = {**{old: copies[new] for old, new in self._copies.items() if new in copies}, **copies}
        return made

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> FunctionGraph:
        # Copying node by node would exceed the recursion limit for a deep graph.
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        # The nodes come first, each after those that it needs: so pickle finds the owner of a variable before the
        # variable, and a deep graph needs no deep recursion.
        nodes = sorted_nodes(self.outputs, set(self.inputs))
        same = {variable: variable for variable in self.clients}
        features = [copied for feature in self.features if (copied := feature.for_copy(same)) is not None]
        return _unpickled, (nodes, self.inputs, self.outputs, features, self.update_mapping)

    def __eq__(self, other: object) -> bool:
        """Return whether two graphs compute the same by the same operations; names and features don't count."""
        if not isinstance(other, FunctionGraph):
            return NotImplemented
        return self is other or self._structure() == other._structure()

    def __hash__(self) -> int:
        """Return the hash of the graph as it is: don't change one that is in a set or a dictionary."""
        return hash(self._structure())

    def _structure(self) -> Hashable:
        return structure(self.inputs, self.outputs, self.update_mapping)

    def __str__(self) -> str:
        return render(self.outputs, self.order.labels)

    def print(self) -> None:
        """Print the graph as a tree below each output."""
        print(self)

    def dot(self, /) -> str:
        """Return a drawing of the graph as Graphviz source."""
        return above.html.dot(self)

    def svg(self, /) -> str:
        """Return a drawing of the graph as an SVG image, which notebooks show.

        Views are dashed, overwritten inputs are red, and values with the same number and colour share memory. For
        a graph of more than 500 operations the image only says that it's too large.
        """
        return above.html.svg(self)

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        """Return the drawing, or the beginning of the list of operations where there are too many to draw."""
        return above.html.html_of_graph(self)


def _unpickled(
    nodes: Iterable[Apply],
    inputs: Iterable[Variable],
    outputs: Iterable[Variable],
    features: Iterable[Feature],
    updates: Mapping[int, int],
) -> FunctionGraph:
    made = FunctionGraph(inputs, outputs, features, clone=False)
    made.update_mapping = dict(updates)
    return made
