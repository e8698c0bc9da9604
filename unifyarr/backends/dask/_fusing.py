"""Joining the steps of a compiled function: what one chunk needs of one chunk is one task."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dask.array as da
from dask.blockwise import Blockwise, blockwise_token
from dask.highlevelgraph import HighLevelGraph

from . import _chunks
from ._private import FUSES, GraphNode, Task, TaskRef

# The names of a layer's axes: equal names in operands and result are the same axis, as in an einsum.
Labels = tuple[str, ...]
# Prefix of labels of axes that the result lacks. They have one chunk.
_DROPPED = "dropped-"


class ChainStep(NamedTuple):
    """One call in a chain: its operands are constants and places of values, some of which are dead after it.

    ``free`` are the numbers of operands in whose memory the result may be.
    """

    function: Any
    operands: tuple[tuple[bool, Any], ...]
    keywords: dict[str, Any]
    result: int
    dead: tuple[int, ...]
    free: tuple[int, ...]


class Chain(_chunks.ChunkTask):
    """Several steps on one chunk of each operand, without a task or a chunk in memory between them."""

    def __init__(self, steps: Sequence[ChainStep]) -> None:
        self.steps = tuple(steps)

    def __call__(self, *chunks: Any) -> Any:
        """Return the last step's result."""
        values = {place: _single(chunk) for place, chunk in enumerate(chunks)}
        del chunks
        result = None
        for step in self.steps:
            operands = [values[each] if is_place else each for is_place, each in step.operands]
            for place in step.dead:
                del values[place]
            if step.free:
                result = step.function.into(step.free, *operands)
            else:
                result = step.function(*operands, **step.keywords)
            values[step.result] = result
            del operands
        return result


def _single(chunk: Any) -> Any:
    # dask makes a list of an axis that the result lacks, here always of one chunk.
    while isinstance(chunk, list):
        (chunk,) = chunk
    return chunk


def fused(results: Sequence[da.Array], inputs: Sequence[da.Array]) -> list[da.Array]:
    """Return arrays in whose graphs all that was added to those of ``inputs`` has one task a chunk, where it can.

    A layer joins its readers if they are joined with each other. dask fuses layers too when it computes, but not layers
    with several readers: each window of a stencil, and the source of the windows, would be separate tasks.
    """
    graph, needed = _united(results)
    layers, needs = _added(results, {x.name for x in inputs}, graph, needed)
    places = _grouped(layers, needs, {x.name for x in results})
    groups: dict[str, list[str]] = {}
    for name, (root, _) in places.items():
        groups.setdefault(root, []).append(name)
    made = {
        root: layer
        for root, names in groups.items()
        if (layer := _joined([layers[name] for name in names], {name: places[name][1] for name in names})) is not None
    }
    graph |= made
    needed |= {root: {operand for operand, _ in layer.indices if operand in graph} for root, layer in made.items()}
    return [_reduced(x, graph, needed) for x in results] if made else list(results)


def _united(results: Sequence[da.Array]) -> tuple[dict[str, Any], dict[str, set[str]]]:
    """Return all layers of arrays by name, and what each needs.

    Two of one name give the same. One that was persisted needs nothing, and is there instead of the other.
    """
    graph: dict[str, Any] = {}
    needed: dict[str, set[str]] = {}
    for x in results:
        for name, layer in x.dask.layers.items():
            needs = x.dask.dependencies[name]
            if name not in graph or (needed[name] and not needs):
                graph[name], needed[name] = layer, set(needs)
    return graph, needed


def _added(
    results: Sequence[da.Array], known: set[str], graph: dict[str, Any], needed: dict[str, set[str]]
) -> tuple[dict[str, Any], dict[str, set[str]]]:
    """Return by name the layers that lead from known ones to arrays, and what each needs; each follows its needs."""
    layers: dict[str, Any] = {}
    needs: dict[str, set[str]] = {}
    for x in results:
        stack = [(x.name, False)]
        while stack:
            name, is_done = stack.pop()
            if is_done:
                layers[name] = graph[name]
            elif name not in needs and name not in known:
                needs[name] = needed[name]
                stack.append((name, True))
                # In an order that is the same in each process.
                stack += [(each, False) for each in sorted(needs[name])]
    return layers, needs


def _grouped(layers: dict[str, Any], needs: dict[str, set[str]], kept: set[str]) -> dict[str, tuple[str, Labels]]:
    """Map each layer to the one that it's joined to, and to the labels that its axes have there."""
    readers: dict[str, list[str]] = {name: [] for name in layers}
    for name, operands in needs.items():
        for each in operands & layers.keys():
            readers[each].append(name)
    plain = {name for name, layer in layers.items() if _is_plain(layer)}
    places: dict[str, tuple[str, Labels]] = {}
    for name in reversed(layers):
        layer = layers[name]
        places[name] = (name, layer.output_indices if name in plain else ())
        if name in kept or name not in plain or not plain.issuperset(readers[name]):
            continue
        blocks = [layer.dims[each] for each in layer.output_indices]
        found: dict[Any, list[Labels]] = {}
        for reader in readers[name]:
            root, there = places[reader]
            names = dict(zip(layers[reader].output_indices, there, strict=True))
            for operand, labels in layers[reader].indices:
                if labels is not None and operand == name:
                    wanted = tuple(names.get(each, f"{_DROPPED}{place}{name}") for place, each in enumerate(labels))
                    found.setdefault((root, _divided(wanted, blocks)), []).append(wanted)
        # One that several chunks of the result read isn't computed for each.
        if len(found) == 1:
            (((root, _), several),) = found.items()
            labels = min(several, key=_count_dropped)
            # dask passes no places of chunks along an axis that was dropped.
            placed = layer.io_deps and _count_dropped(labels)
            if math.prod(blocks) == len(layers[root]) and not placed:
                places[name] = (root, labels)
    return dict(reversed(places.items()))


def _divided(labels: Labels, blocks: Sequence[int]) -> Labels:
    """Return the labels of axes of several chunks: those of one chunk may have any."""
    return tuple(each for each, count in zip(labels, blocks, strict=True) if count > 1)


def _count_dropped(labels: Labels) -> int:
    return sum(each.startswith(_DROPPED) for each in labels)


def _is_plain(layer: Any) -> bool:
    """Return whether each chunk of a layer comes from one chunk of each operand, by one call."""
    if not FUSES or not isinstance(layer, Blockwise) or layer.new_axes or layer.annotations or layer.output_blocks:
        return False
    task = layer.task
    if list(task.args) != [TaskRef(blockwise_token(number)) for number in range(len(layer.indices))]:
        return False
    constants = [*task.kwargs.values(), *(operand for operand, labels in layer.indices if labels is None)]
    if any(isinstance(each, GraphNode | TaskRef) for each in constants):
        return False
    dropped = {each for _, labels in layer.indices if labels is not None for each in labels} - {*layer.output_indices}
    if dropped and not getattr(task.func, "joins_dropped_axes", False):
        return False
    return all(layer.dims[each] == 1 for each in dropped)


def _joined(layers: Sequence[Any], labels: dict[str, Labels]) -> Blockwise | None:
    """Return one layer for several, the last of which is read from outside; ``None`` for one, and where it fails."""
    if len(layers) == 1:
        return None
    root = layers[-1]
    inside = {layer.output for layer in layers}
    # Each chunk from outside, told by its name and the axes along which it is one of several, is passed once.
    outside: dict[Any, list[Labels]] = {}
    read: dict[tuple[str, int], Any] = {}
    for layer in layers:
        names = dict(zip(layer.output_indices, labels[layer.output], strict=True))
        for number, (operand, each) in enumerate(layer.indices):
            if each is None or operand in inside:
                read[layer.output, number] = operand
                continue
            wanted = tuple(names.get(label, f"{_DROPPED}{label}{layer.output}") for label in each)
            key = read[layer.output, number] = (operand, _divided(wanted, layer.numblocks[operand]))
            outside.setdefault(key, []).append(wanted)
    indices = [(key[0], min(several, key=_count_dropped)) for key, several in outside.items()]
    if not {*root.output_indices} <= {label for _, several in indices for label in several}:
        # An axis of one element that the layers make themselves: dask knows only axes of operands.
        return None
    tokens = (TaskRef(blockwise_token(number)) for number in range(len(outside)))
    return Blockwise(
        root.output,
        root.output_indices,
        Task(root.output, Chain(_steps(layers, list(outside), read)), *tokens),
        indices,
        numblocks={name: blocks for layer in layers for name, blocks in layer.numblocks.items() if name not in inside},
        io_deps={name: each for layer in layers for name, each in layer.io_deps.items()},
    )


def _steps(layers: Sequence[Blockwise], outside: Sequence[Any], read: dict[tuple[str, int], Any]) -> list[ChainStep]:
    """Return the calls of layers; ``read`` has what each operand of each is: from outside, another's, or a constant."""
    places = {each: place for place, each in enumerate([*outside, *(layer.output for layer in layers)])}
    last = {
        places[read[layer.output, number]]: end
        for end, layer in enumerate(layers)
        for number, (_, each) in enumerate(layer.indices)
        if each is not None
    }
    calls = [_call(layer.task) for layer in layers]
    # A result that owns its memory, and has no views among the values, may be overwritten by its last reader.
    own = {
        places[layer.output] for layer, (function, _) in zip(layers, calls, strict=True) if _is(function, "makes_new")
    }
    steps = []
    for end, (layer, (function, keywords)) in enumerate(zip(layers, calls, strict=True)):
        operands = tuple(
            (False, operand) if each is None else (True, places[read[layer.output, number]])
            for number, (operand, each) in enumerate(layer.indices)
        )
        dead = tuple(place for place, each in last.items() if each == end)
        free: list[int] = []
        if _is(function, "may_overwrite"):
            free = [
                number for number, (is_place, each) in enumerate(operands) if is_place and each in own and each in dead
            ]
        if not _is(function, "makes_new") and not free:
            own -= {each for is_place, each in operands if is_place}
        steps.append(ChainStep(function, operands, keywords, places[layer.output], dead, tuple(free)))
    return steps


def _call(task: Task) -> tuple[Callable[..., Any], dict[str, Any]]:
    """Return the function of a layer, without the dtype check where the dtype is known to be right."""
    keywords = dict(task.kwargs)
    function = keywords.get("enforce_dtype_function")
    return (function, {}) if isinstance(function, _chunks.Chunk) else (task.func, keywords)


def _is(function: Callable[..., Any], what: str) -> bool:
    return bool(getattr(function, what, False))


def _reduced(x: da.Array, graph: dict[str, Any], needed: dict[str, set[str]]) -> da.Array:
    """Return an array with those layers of a graph that it needs."""
    reached: set[str] = set()
    stack = [x.name]
    while stack:
        name = stack.pop()
        if name not in reached:
            reached.add(name)
            stack += needed[name]
    # In an order that is the same in each process.
    layers = {name: layer for name, layer in graph.items() if name in reached}
    return da.Array(
        HighLevelGraph(layers, {name: needed[name] for name in layers}), x.name, x.chunks, dtype=x.dtype, meta=x._meta
    )
