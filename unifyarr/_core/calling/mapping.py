"""Nests of arrays: a call that a nest is passed to is one call for each of its leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from ..arrays.array import Array
from ..arrays.nest import Nest
from ..engines.tracing import mode, take
from ..values.native import Native
from ..writing.inplace import as_target, assign_all, at, check_target, fit
from ..writing.storing import assign_at_once
from .invoke import store_several

if TYPE_CHECKING:
    from ..declaring.declare import Declaration
    from ..declaring.operands import Call


def map_call(declaration: Declaration, call: Call, nest: Any) -> object:
    """Call a function once for each leaf of the containers that it was passed: of ``nest`` and of others like it."""
    function = declaration.public if call.backend is None else declaration.of_backend(call.backend)
    leaves = nest.leaves()
    out = call.arguments.pop("out", None)
    targets = None if out is None else _targets(declaration.name, out, nest, leaves)
    results: list[Any] = []
    with at(nest) as leaf:
        for leaf.place, (positional, keywords) in enumerate(_rows(call, nest, leaves)):
            results.append(function(*positional, **keywords))
    several = bool(results) and isinstance(results[0], tuple)
    if targets is None:
        return _transposed(nest, results) if several else nest._with_leaves(results)
    columns = list(zip(*results, strict=True)) if several else [results] if results else []
    if columns and len(columns) != len(targets):
        raise TypeError(f"out of {declaration.name}() has {len(targets)} containers for {len(columns)} results")
    flat = [take(result) for column in columns for result in column]
    store_several(declaration.name, [each for column in targets for each in column], flat, nest)
    return out


def _targets(name: str, out: object, nest: Nest, leaves: Sequence[Array]) -> list[list[Array]]:
    # The leaves of each container of ``out``, which may all be written.
    outs = out if isinstance(out, (tuple, list)) else (out,)
    if not all(isinstance(each, Nest) for each in outs):
        raise TypeError(f"{name}() of a container gives containers: out is one too, not {type(out).__name__}")
    taken = [_check_targets(each, leaves if each is nest else each.leaves()) for each in outs]
    for each in outs:
        _check_like(each, nest, "out")
    return taken


def _rows(call: Call, nest: Nest, leaves: Sequence[Array]) -> Iterator[tuple[list[object], dict[str, object]]]:
    # The arguments of the call of each leaf: its own part of a container among the arrays, the whole of anything else.
    parameters, arguments = call.parameters, call.arguments
    columns: dict[str, Sequence[Any]] = {}
    for name in parameters.operands:
        value = arguments[name]
        if name in parameters.sequences:
            spread = [_spread(each, nest, leaves, f"{name}[{place}]") for place, each in enumerate(value)]
            columns[name] = list(zip(*spread, strict=True)) if spread else [()] * len(leaves)
        elif isinstance(value, Nest):
            columns[name] = _leaves_of(value, nest, leaves, name)
    each_takes = [columns.get(name) or repeat(arguments[name]) for name in parameters.positional]
    variadic = parameters.variadic
    rest = repeat(()) if variadic is None else iter(columns.get(variadic) or repeat(arguments[variadic]))
    shared = {name: arguments[name] for name in parameters.keywords if name in arguments}
    for place, *positional in zip(range(len(leaves)), *each_takes, strict=False):
        positional += next(rest)
        yield positional, {name: columns[name][place] if name in columns else value for name, value in shared.items()}


def _spread(value: Any, nest: Nest, leaves: Sequence[Array], name: str) -> Sequence[object]:
    return _leaves_of(value, nest, leaves, name) if isinstance(value, Nest) else [value] * len(leaves)


def _leaves_of(value: Nest, nest: Nest, leaves: Sequence[Array], name: str) -> Sequence[Array]:
    _check_like(value, nest, name)
    return leaves if value is nest else value.leaves()


def _check_like(value: Nest, nest: Nest, name: str) -> None:
    if value is nest:
        return
    try:
        nest._check_same(value)
    except ValueError as error:
        error.add_note(f"{name} is the second of these containers")
        raise


def _transposed(nest: Nest, results: list[tuple[Array, ...]]) -> object:
    # The results of each leaf, as one container for each result.
    lengths = sorted({len(result) for result in results})
    if len(lengths) > 1:
        raise ValueError(
            f"the leaves give {lengths[0]} to {lengths[-1]} results each, which make no containers like the first one"
        )
    containers: list[Any] = [nest._with_leaves(column) for column in zip(*results, strict=True)]
    kind = type(results[0])
    return kind(*containers) if hasattr(kind, "_fields") else tuple(containers)


def check_leaves(nest: Nest, ensure_in_backend: bool = False) -> None:
    """Raise unless all leaves may be written now."""
    _check_targets(nest, nest.leaves(), ensure_in_backend)


def _check_targets(nest: Nest, leaves: Sequence[Array], ensure_in_backend: bool = False) -> list[Array]:
    # The leaves as targets of a write.
    targets = []
    with at(nest) as leaf:
        for leaf.place, each in enumerate(leaves):
            target = as_target(each)
            check_target(target, ensure_in_backend)
            targets.append(target)
    return targets


def updated_at_once(leaves: Sequence[Any], values: Sequence[Any]) -> bool:
    """Overwrite plain arrays of an engine that writes in place by arrays of the same types, where nothing can fail.

    Returns whether all are written; what isn't, the general path writes, or says why not.
    """
    if not leaves or mode.get() is not None or not leaves[0]._backend.mutable:
        return False
    backend = leaves[0]._backend
    for x, value in zip(leaves, values, strict=True):
        if type(x) is not Array or type(value) is not Array or not x._backend is value._backend is backend:
            return False
    return assign_at_once(leaves, [value._native for value in values])


def update_nest(nest: Nest, value: object, ensure_in_backend: bool) -> None:
    """Overwrite all leaves by a value, or each by its part of a container: all of them, or none."""
    leaves = nest.leaves()
    values = _spread(value, nest, leaves, "val")
    if not ensure_in_backend and updated_at_once(leaves, values):
        return
    targets = list(map(as_target, leaves))
    values = list(map(take, values))
    check_leaves(nest, ensure_in_backend)

    def as_native(target: Array, value: object) -> Native:
        return fit(value, target, target.shape, exact=False, what="the leaf")

    assign_all(targets, values, as_native, "leaves of the container", nest)
