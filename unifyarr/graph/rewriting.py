"""Changes that leave a graph's values as they are: merging, folding, cleanups, and overwriting what nobody needs.

Each change is offered to the graph's features; one that they refuse is taken back, and the rewriting goes on.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import InconsistencyError
from .basic import Apply, Constant, Op, Variable, same_type
from .fgraph import FunctionGraph
from .supervisor import handler_of

# Replacements for the outputs of a node (``None`` for one that stays), or ``None`` if there's nothing to do.
Rule = Callable[[FunctionGraph, Apply], Sequence[Variable | None] | None]

# How many candidates for one thing are tried in turn. Of many readers of one root the latest are tried as its
# destroyer: where each needs the one before only the last can be, and the order knows who that is.
TRIES = 4

# How far it's searched for a new order that one node's overwriting demands.
STEPS = 32


def attempt(fgraph: FunctionGraph, pairs: Iterable[tuple[Variable, Variable]]) -> bool:
    """Replace variables if the graph's features have nothing against it, and return whether that was so."""
    try:
        fgraph.replace_all_validate(pairs)
    except InconsistencyError:
        return False
    return True


def merge(fgraph: FunctionGraph, *, steps: int | None = 10 * STEPS) -> int:
    """Compute once what is computed several times, and return how many nodes that made superfluous.

    Of two equal nodes both stay if what one of them returns is destroyed and the other's is still needed, or if it
    takes more than ``steps`` along edges to find out that it isn't.
    """
    with fgraph.order.limited(steps):
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
        equals = seen.setdefault((node.op, tuple(map(id, node.inputs))), [])
        for other in equals[-TRIES:]:
            if other in fgraph.apply_nodes and attempt(fgraph, list(zip(node.outputs, other.outputs, strict=True))):
                break
        else:
            equals.append(node)
    return before - len(fgraph.apply_nodes)


def _signature(constant: Constant) -> Hashable:
    type = constant.type
    return (constant.signature(), None if type is None else (type.shape, str(type.dtype)))


def dead_code(fgraph: FunctionGraph) -> int:
    """Remove nodes none of whose outputs anybody uses, and return how many there were.

    The graph does so itself whenever something is replaced: left is what was included and then not used.
    """
    before = len(fgraph.apply_nodes)
    with fgraph.transaction():
        for node in reversed(fgraph.toposort()):
            for output in node.outputs[:1]:
                fgraph.prune(output)
    return before - len(fgraph.apply_nodes)


def fold_constants(fgraph: FunctionGraph, evaluate: Callable[[Apply], Sequence[Any] | None]) -> int:
    """Compute beforehand what depends on constants only, and return how many nodes that made superfluous.

    ``evaluate`` returns the values of a node's outputs, given that its inputs are constants, or ``None`` if it should
    rather stay: because its result is large, say, or random.
    """
    before = len(fgraph.apply_nodes)
    for node in fgraph.toposort():
        if node in fgraph.apply_nodes and all(isinstance(variable, Constant) for variable in node.inputs):
            values = evaluate(node)
            if values is not None:
                outputs = node.outputs
                new = [Constant(value, old.type, old.name) for value, old in zip(values, outputs, strict=True)]
                attempt(fgraph, list(zip(outputs, new, strict=True)))
    return before - len(fgraph.apply_nodes)


def canonicalize(fgraph: FunctionGraph, rules: Iterable[Rule], *, limit: int | None = None) -> int:
    """Apply rules to each node, and to what comes of it, until none has anything to do; return how often one had.

    Raises
    ------
    RuntimeError
        If after ``limit`` changes, by default ten for each node, there's still something to do: two rules undo each
        other, or one repeats itself.
    """
    rules = list(rules)
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
            pairs = _replacements(node, rule(fgraph, node))
            users = [client.node for old, _ in pairs for client in fgraph.clients[old] if client.node is not None]
            if not pairs or not attempt(fgraph, pairs):
                continue
            changes += 1
            if changes > limit:
                raise RuntimeError(f"{changes} changes don't come to an end, the last is of {node} by {rule}")
            owners = [new.owner for _, new in pairs if new.owner is not None]
            new = [each for each in dict.fromkeys((*owners, *users)) if each not in waiting]
            queue += new
            waiting.update(new)
    return changes


def _replacements(node: Apply, new: Sequence[Variable | None] | None) -> list[tuple[Variable, Variable]]:
    pairs = zip(node.outputs, new, strict=True) if new else ()
    return [(old, each) for old, each in pairs if each is not None and each is not old]


def inplace(
    fgraph: FunctionGraph,
    targets: Mapping[Variable, Variable] | None = None,
    *,
    tries: int | None = TRIES,
    steps: int | None = STEPS,
) -> int:
    """Let nodes overwrite inputs that nobody needs any more, and return how many do so now.

    Parameters
    ----------
    fgraph
        A graph with a ``DestroyHandler``, and with a ``Supervisor`` for what must not be overwritten.
    targets
        For an output of the graph the input to whose memory it's written in the end. These are tried first: a value
        that is computed there needn't be copied there.
    tries
        How many readers of one root are tried as its destroyer before the others are given up; ``None`` for all.
    steps
        How many edges are followed in search of a new order before a node is given up; ``None`` for all.
    """
    tries = len(fgraph.apply_nodes) if tries is None else tries
    with fgraph.order.limited(steps):
        changed = sum(keep_in(fgraph, *pair, tries=tries) or 0 for pair in (targets or {}).items())
        handler = handler_of(fgraph)
        failures: Counter[Variable] = Counter()
        for node in reversed(fgraph.toposort()):
            for twin in node.op.twins(node) if node.op.inplace else ():
                mine = node.op.victims(node)
                victims = [node.inputs[index] for index in twin.victims(node) if index not in mine]
                roots = {root for victim in victims for root, _ in handler.roots_of(victim)}
                if any(failures[root] >= tries for root in roots) or not all(map(handler.may_destroy, victims)):
                    continue
                if _substitute(fgraph, [(node, twin)]):
                    changed += 1
                    break
                failures.update(roots)
    return changed


def keep_in(fgraph: FunctionGraph, result: Variable, target: Variable, *, tries: int = TRIES) -> int | None:
    """Let a result be computed in the memory of a target; return how many nodes changed, ``None`` if it can't be."""
    for path in _paths(fgraph, result, target, tries):
        pairs = list(path)
        if _substitute(fgraph, pairs):
            return len(pairs)
    return None


def _substitute(fgraph: FunctionGraph, pairs: Iterable[tuple[Apply, Op]]) -> bool:
    try:
        with fgraph.transaction():
            for node, op in pairs:
                fgraph.substitute(node, op)
    except InconsistencyError:
        return False
    return True


def _paths(fgraph: FunctionGraph, result: Variable, target: Variable, limit: int) -> Iterator[list[tuple[Apply, Op]]]:
    """Yield the substitutions that would compute a result in the memory of a target, the fewest first."""
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
    """Yield the inputs whose memory an output overwrites, or would with one of its node's twins.

    A view is in its input's memory too, but not necessarily at the same places.
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
