"""Rewrites that keep a graph's values: merging, folding, cleanups, and overwriting dead memory.

The graph's features validate each change. One that they refuse is taken back, and the rewrite goes on.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from ..._core.values.called import boundary
from ...errors import InconsistencyError
from .basic import Apply, Constant, Op, Variable, same_type
from .checks import check_graph, check_known, check_limits, check_results
from .destroyhandler import DestroyHandler
from .fgraph import FunctionGraph
from .supervisor import Supervisor, handler_of

# Returns replacements for the outputs of a node (``None`` for an output that stays), or ``None`` to change nothing.
Rule = Callable[[FunctionGraph, Apply], Sequence[Variable | None] | None]

# The most candidates that are tried for one decision. Of many readers of a root the latest in the order are tried as
# its destroyer: where each needs the one before, only the last can be it.
TRIES = 4

# The most steps of a search for an order in which one node may overwrite its input.
STEPS = 32


def attempt(fgraph: FunctionGraph, pairs: Iterable[tuple[Variable, Variable]]) -> bool:
    """Replace variables unless a feature of the graph refuses it; return whether they were replaced."""
    try:
        fgraph.replace_all_validate(pairs)
    except InconsistencyError as error:
        fgraph.history.refuse(error)
        return False
    return True


@contextmanager
def named(fgraph: FunctionGraph, rewrite: str) -> Iterator[None]:
    """Name the rewrite that makes the changes inside the block, in errors too."""
    try:
        with fgraph.history.of(rewrite):
            yield
    except Exception as error:
        _note(error, rewrite)
        raise


def _note(error: Exception, rewrite: str) -> None:
    error.add_note(f"This was the rewrite {rewrite}.")


@boundary
def merge(fgraph: FunctionGraph, *, steps: int | None = 10 * STEPS) -> int:
    """Merge equal nodes, and return how many nodes were removed.

    Two equal nodes both stay if the result of one is destroyed while the result of the other is still needed, or if it
    takes more than ``steps`` along edges to rule that out.
    """
    check_graph(fgraph)
    check_limits(steps=steps)
    with fgraph.order.limited(steps), fgraph.history.of("merge"):
        return _merge(fgraph)


def _merge(fgraph: FunctionGraph) -> int:
    seen: dict[Hashable, list[Apply]] = {}
    constants: dict[Hashable, Constant] = {}
    before = len(fgraph.apply_nodes)
    for node in fgraph.toposort():
        if node not in fgraph.apply_nodes:
            continue
        for variable in node.inputs:
            if isinstance(variable, Constant):
                first = constants.setdefault(_signature(variable), variable)
                if first is not variable:
                    attempt(fgraph, [(variable, first)])
        equals = seen.setdefault((node.op, node.op.declared, tuple(map(id, node.inputs))), [])
        for other in equals[-TRIES:]:
            if other not in fgraph.apply_nodes:
                continue
            pairs = list(zip(node.outputs, other.outputs, strict=True))
            # What made the nodes may know more of one result than the operation says.
            if all(same_type(old.type, new.type) for old, new in pairs) and attempt(fgraph, pairs):
                break
        else:
            equals.append(node)
    return before - len(fgraph.apply_nodes)


def _signature(constant: Constant) -> Hashable:
    type = constant.type
    return (constant.signature(), None if type is None else (type.shape, str(type.dtype)))


@boundary
def dead_code(fgraph: FunctionGraph) -> int:
    """Remove nodes whose outputs are all unused, and return how many there were.

    A replacement removes such nodes by itself. Those that remain were included and then not used.
    """
    check_graph(fgraph)
    before = len(fgraph.apply_nodes)
    with fgraph.transaction():
        for node in reversed(fgraph.toposort()):
            for output in node.outputs[:1]:
                fgraph.prune(output)
    return before - len(fgraph.apply_nodes)


@boundary
def fold_constants(fgraph: FunctionGraph, evaluate: Callable[[Apply], Sequence[Any] | None]) -> int:
    """Compute nodes that depend on constants only, and return how many nodes were removed.

    ``evaluate`` returns the values of the outputs of a node whose inputs are constants, or ``None`` if the node should
    stay: because its result is large or random, for example.
    """
    check_graph(fgraph)
    before = len(fgraph.apply_nodes)
    for node in fgraph.toposort():
        if node in fgraph.apply_nodes and all(isinstance(variable, Constant) for variable in node.inputs):
            values = evaluate(node)
            if values is not None:
                outputs = node.outputs
                check_results("what folds constants", node, values)
                new = [Constant(value, old.type, old.name) for value, old in zip(values, outputs, strict=True)]
                with fgraph.history.of("fold_constants"):
                    attempt(fgraph, list(zip(outputs, new, strict=True)))
    return before - len(fgraph.apply_nodes)


@boundary
def canonicalize(fgraph: FunctionGraph, rules: Iterable[Rule], *, limit: int | None = None) -> int:
    """Apply rules to each node, and to the new nodes, until none changes anything; return the number of changes.

    Raises
    ------
    RuntimeError
        If rules still apply after ``limit`` changes, by default ten for each node: two rules undo each other, or
        one repeats itself.
    """
    check_graph(fgraph)
    check_limits(limit=limit)
    rules = list(rules)
    for rule in rules:
        if not callable(rule):
            raise TypeError(f"a rule is a function of a graph and a node, not {rule!r}")
    queue = deque(fgraph.toposort())
    waiting = set(queue)
    limit = 10 * len(queue) + 100 if limit is None else limit
    changes = 0
    while queue:
        node = queue.popleft()
        waiting.remove(node)
        for rule in rules:
            if node not in fgraph.apply_nodes:
                break
            try:
                found = rule(fgraph, node)
                pairs = [] if found is None else _replacements(node, found)
            except Exception as error:
                _note(error, getattr(rule, "__name__", repr(rule)))
                raise
            if not pairs:
                continue
            users = [client.node for old, _ in pairs for client in fgraph.clients[old] if client.node is not None]
            with named(fgraph, getattr(rule, "__name__", repr(rule))):
                if not attempt(fgraph, pairs):
                    continue
            changes += 1
            if changes > limit:
                raise RuntimeError(
                    f"rules still apply after {changes} changes, the last one to {node} by {rule}: look for two that "
                    "undo each other, or one that repeats itself"
                )
            owners = [new.owner for _, new in pairs if new.owner is not None]
            new = [each for each in dict.fromkeys((*owners, *users)) if each not in waiting]
            queue += new
            waiting.update(new)
    return changes


def _replacements(node: Apply, new: Sequence[Variable | None]) -> list[tuple[Variable, Variable]]:
    pairs = () if new == [] else zip(node.outputs, check_results("a rule", node, new), strict=True)
    return [(old, each) for old, each in pairs if each is not None and each is not old]


@boundary
def inplace(
    fgraph: FunctionGraph,
    targets: Mapping[Variable, Variable] | None = None,
    *,
    tries: int | None = TRIES,
    steps: int | None = STEPS,
) -> int:
    """Make nodes overwrite inputs that are dead after them, and return how many nodes changed.

    Parameters
    ----------
    fgraph
        A graph with a ``DestroyHandler``, and with a ``Supervisor`` for what must not be overwritten. Without a
        ``Supervisor`` it gets one that protects its outputs, and its inputs but for the targets.
    targets
        For an output of the graph the input to whose memory it's written in the end. These are tried first: a value
        that is computed there needn't be copied there.
    tries
        How many readers of one root are tried as its destroyer before the others are given up; ``None`` for all.
    steps
        How many edges are followed in search of a new order before a node is given up; ``None`` for all.
    """
    check_graph(fgraph)
    check_limits(tries=tries, steps=steps)
    targets = dict(targets or {})
    check_known(fgraph, "targets and what is kept in them", (*targets, *targets.values()))
    tries = len(fgraph.apply_nodes) if tries is None else tries
    handler = handler_of(fgraph)
    if not any(isinstance(feature, Supervisor) for feature in fgraph.features):
        written = set(targets.values())
        fgraph.attach(Supervisor(each for each in fgraph.inputs if each not in written))
    with fgraph.order.limited(steps):
        changed = sum(keep_in(fgraph, *pair, tries=tries) or 0 for pair in targets.items())
        failures: Counter[Variable] = Counter()
        for node in reversed(fgraph.toposort()):
            before = node.op
            for _ in iter(partial(_overwrite_one_more, fgraph, handler, node, failures, tries), False):
                pass
            changed += node.op is not before
    return changed


def _overwrite_one_more(
    fgraph: FunctionGraph, handler: DestroyHandler, node: Apply, failures: Counter[Variable], tries: int
) -> bool:
    """Take the first twin of a node that is allowed, and return whether it may have twins that overwrite more."""
    mine = node.op.victims(node)
    for twin in node.op.twins(node):
        victims = [node.inputs[index] for index in twin.victims(node) if index not in mine]
        roots = {root for victim in victims for root, _ in handler.aliases.roots_of(victim)}
        if any(failures[root] >= tries for root in roots) or not all(map(handler.may_destroy, victims)):
            continue
        if _substitute(fgraph, [(node, twin)]):
            return bool(victims)
        failures.update(roots)
    return False


def keep_in(fgraph: FunctionGraph, result: Variable, target: Variable, *, tries: int = TRIES) -> int | None:
    """Compute a result in the memory of a target; return how many nodes changed, ``None`` if it can't be done."""
    for path in _paths(fgraph, result, target, tries):
        pairs = list(path)
        if _substitute(fgraph, pairs):
            return len(pairs)
    return None


def _substitute(fgraph: FunctionGraph, pairs: Iterable[tuple[Apply, Op]]) -> bool:
    try:
        with fgraph.history.of("inplace"), fgraph.transaction():
            for node, op in pairs:
                fgraph.substitute(node, op)
    except InconsistencyError:
        return False
    return True


def _paths(fgraph: FunctionGraph, result: Variable, target: Variable, limit: int) -> Iterator[list[tuple[Apply, Op]]]:
    """Yield the sets of substitutions that would compute a result in a target's memory, the smallest first."""
    if not same_type(result.type, target.type):
        return
    came: dict[Variable, tuple[Variable, Apply, Op] | None] = {result: None}
    queue = deque([result])
    found = 0
    while queue and found < limit:
        variable = queue.popleft()
        for step in _steps(variable):
            node, op, index = step
            source = node.inputs[index]
            if source is target:
                found += 1
                yield list(_walk(came, (variable, node, op)))
            elif source not in came and source in fgraph.clients:
                came[source] = (variable, node, op)
                queue.append(source)


def _steps(variable: Variable) -> Iterator[tuple[Apply, Op, int]]:
    """Yield the inputs whose memory an output overwrites, now or with one of the node's twins.

    A view is in its input's memory too, but its elements need not be at the same positions.
    """
    node = variable.owner
    if node is None:
        return
    for op in (node.op, *node.op.twins(node)):
        for index in op.destroys(node).get(variable.index, ()):
            yield node, op, index


def _walk(
    came: Mapping[Variable, tuple[Variable, Apply, Op] | None], step: tuple[Variable, Apply, Op] | None
) -> Iterator[tuple[Apply, Op]]:
    while step is not None:
        variable, node, op = step
        if op is not node.op:
            yield node, op
        step = came[variable]
