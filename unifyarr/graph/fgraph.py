"""The graph of a function: its nodes, who uses what, and changes that can be taken back."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from ..errors import CycleError, InconsistencyError, MissingInputError
from .basic import Apply, Constant, Op, Variable, same_type
from .feature import Client, Feature
from .history import History
from .order import Order
from .printing import render


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
        if clone:
            copies = copy_nodes(self.inputs, self.outputs)
            self.inputs = [copies[v] for v in self.inputs]
            self.outputs = [copies[v] for v in self.outputs]
        for variable in self.inputs:
            if variable.owner is not None:
                raise ValueError(f"{variable} is computed, so it's no input: cut the graph there with clone=True")
        # For outputs that are new values of inputs, which.
        self.update_mapping: dict[int, int] = {}
        # Dictionaries as sets that keep the order.
        self.apply_nodes: dict[Apply, None] = {}
        self.clients: dict[Variable, dict[Client, None]] = {variable: {} for variable in self.inputs}
        self.features: list[Feature] = []
        self.history = History()
        self.order = Order(self)
        for index, output in enumerate(self.outputs):
            self.include(output)
            self.clients.setdefault(output, {})[Client(None, index)] = None
        for feature in features:
            self.attach(feature)

    # Watching

    def attach(self, feature: Feature) -> None:
        """Let a feature watch the graph from now on, if it has nothing against the graph as it is."""
        feature.on_attach(self)
        self.features.append(feature)
        try:
            self.validate()
        except InconsistencyError:
            self.detach(feature)
            raise

    def detach(self, feature: Feature) -> None:
        """Let a feature watch the graph no longer."""
        self.features.remove(feature)
        feature.on_detach(self)

    def validate(self) -> None:
        """Raise an ``InconsistencyError`` if what has changed since the last time can't stay so."""
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
        """Make changes together: they are validated at the end, and all taken back if that or anything else fails."""
        point = self.history.begin()
        try:
            yield
            self.validate()
        except BaseException:
            self.history.revert(point)
            # What the features still wanted to look at is as it was; so may be an inconsistency from before.
            with suppress(InconsistencyError):
                self.validate()
            raise
        finally:
            self.history.end()

    def replace(self, old: Variable, new: Variable) -> None:
        """Let those who use a variable now use another one. What nobody needs any more goes."""
        if old is new:
            return
        if not same_type(old.type, new.type):
            raise TypeError(f"{new} of type {new.type} can't stand for {old} of type {old.type}: cast or reshape it")
        # Whoever comes with the new variable keeps using the old one.
        clients = list(self.clients.get(old, ()))
        if not clients:
            return
        self.order.anchor = old.owner or next((client.node for client in clients if client.node is not None), None)
        try:
            self.include(new)
        finally:
            self.order.anchor = None
        for client in clients:
            self._change_input(client, new)
        self.prune(old)

    def change_input(self, client: Client, new: Variable) -> None:
        """Let one user of a variable use another one."""
        node, position = client
        old = self.outputs[position] if node is None else node.inputs[position]
        if old is not new:
            self.include(new)
            self._change_input(client, new)
            self.prune(old)

    def replace_all(self, pairs: Iterable[tuple[Variable, Variable]]) -> None:
        """Replace several variables, not looking whether the graph can stay so."""
        for old, new in pairs:
            self.replace(old, new)

    def replace_all_validate(self, pairs: Iterable[tuple[Variable, Variable]]) -> None:
        """Replace several variables, or, raising an ``InconsistencyError``, none."""
        with self.transaction():
            self.replace_all(pairs)

    def substitute(self, node: Apply, op: Op) -> None:
        """Give another operation to a node, with the same inputs and outputs: a destructive twin, say."""
        old = node.op
        node.op = op
        for feature in self.features:
            feature.on_change_op(self, node, old)
        self.history.record(partial(self.substitute, node, old))

    def _change_input(self, client: Client, new: Variable) -> None:
        node, position = client
        slots = self.outputs if node is None else node.inputs
        old = slots[position]
        slots[position] = new
        del self.clients[old][client]
        self.clients[new][client] = None
        if node is not None and new.owner is not None:
            self.order.suspect(node, new.owner)
        for feature in self.features:
            feature.on_change_input(self, node, position, old, new)
        self.history.record(partial(self._change_input, client, old))

    def include(self, variable: Variable) -> None:
        """Take in a variable and what it's computed from, though nobody uses it yet."""
        if variable in self.clients:
            return
        new = sorted_nodes([variable], self.clients)
        for each in (variable, *(v for node in new for v in node.inputs)):
            if each.owner is None and each not in self.clients and not isinstance(each, Constant):
                raise MissingInputError(f"{each} is used, but it's no input of the graph: add it", variable=each)
        for node in new:
            self._add(node)
        if variable.owner is None:
            self._add_root(variable)

    def _add_root(self, variable: Variable) -> None:
        self.clients[variable] = {}
        self.history.record(partial(self.clients.__delitem__, variable))

    def _add(self, node: Apply) -> None:
        for index, variable in enumerate(node.inputs):
            if variable not in self.clients:
                self._add_root(variable)
            self.clients[variable][Client(node, index)] = None
        self.apply_nodes[node] = None
        self.clients.update((output, {}) for output in node.outputs)
        self.order.add(node)
        for feature in self.features:
            feature.on_import(self, node)
        self.history.record(partial(self._remove, node))

    def _remove(self, node: Apply) -> None:
        for feature in self.features:
            feature.on_prune(self, node)
        self.order.remove(node)
        del self.apply_nodes[node]
        for output in node.outputs:
            del self.clients[output]
        for index, variable in enumerate(node.inputs):
            del self.clients[variable][Client(node, index)]
        self.history.record(partial(self._add, node))

    def prune(self, variable: Variable) -> None:
        """Remove what computes a variable, as far as nobody uses it."""
        unsure = [variable]
        while unsure:
            each = unsure.pop()
            if each not in self.clients or self.clients[each]:
                continue
            node = each.owner
            if node is None:
                if isinstance(each, Constant):
                    del self.clients[each]
                    self.history.record(partial(self.clients.__setitem__, each, {}))
            elif not any(self.clients[output] for output in node.outputs):
                self._remove(node)
                unsure += node.inputs

    # Copying and looking

    def copy(self) -> FunctionGraph:
        """Return a graph of copies, watched by copies of those features that can be copied."""
        copies = copy_nodes(self.inputs, self.outputs)
        inputs, outputs = [copies[v] for v in self.inputs], [copies[v] for v in self.outputs]
        features = [feature.for_copy(copies) for feature in self.features]
        made = FunctionGraph(inputs, outputs, [each for each in features if each is not None], clone=False)
        made.update_mapping = dict(self.update_mapping)
        return made

    __copy__ = copy

    def __str__(self) -> str:
        return render(self.outputs, self.order.labels)

    def print(self) -> None:
        """Print the graph as a tree below each output."""
        print(self)

    def dot(self) -> str:
        """Return a drawing of the graph as text for Graphviz."""
        from .drawing import dot

        return dot(self)

    def svg(self) -> str:
        """Return a drawing of the graph as an SVG image, which notebooks show.

        Views are dashed, what is overwritten is red, and values of one number and colour lie in the same memory. A
        graph of more than 500 operations is an image that says so.
        """
        from .drawing import svg

        return svg(self)

    def _repr_svg_(self) -> str:
        return self.svg()


def sorted_nodes(variables: Iterable[Variable], known: Container[Variable] = ()) -> list[Apply]:
    """Return the nodes that variables are computed by from known ones, each after those that it needs."""
    found: dict[Apply, None] = {}
    entered: set[Apply] = set()
    # A stack rather than recursion: a chain may be as deep as it likes.
    stack = [variable.owner for variable in variables if variable not in known]
    while stack:
        node = stack[-1]
        if node is None or node in found:
            stack.pop()
        elif node in entered:
            found[node] = None
            stack.pop()
        else:
            entered.add(node)
            for variable in reversed(node.inputs):
                owner = variable.owner
                if owner is not None and owner not in found and variable not in known:
                    if owner in entered:
                        raise CycleError(f"{owner} needs its own result", variable=variable, nodes=(owner, node))
                    stack.append(owner)
    return list(found)


def copy_nodes(inputs: Iterable[Variable], outputs: Iterable[Variable]) -> dict[Variable, Variable]:
    """Return copies of all variables between inputs and outputs, by the originals."""
    copies = {variable: variable.copy() for variable in inputs}
    for node in sorted_nodes(outputs, copies):
        # What is no input stays itself, and is found missing by the graph that it comes to.
        new = node.copy(copies.get(variable, variable) for variable in node.inputs)
        for old, copy in zip(node.outputs, new.outputs, strict=True):
            copies.setdefault(old, copy)
    for variable in outputs:
        copies.setdefault(variable, variable)
    return copies
