"""Nests of arrays: a call that a nest is passed to is one call for each of its leaves.

``Container`` itself is above the functions; what the machinery under them needs of it is here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

from .call import store_several
from .inplace import as_target, assign_all, at, check_target, fit

if TYPE_CHECKING:
    from ..array import Array
    from .concerns import Call
    from .declare import Declaration


class Nest:
    """What every container is: a tree whose leaves are arrays."""

    __slots__ = ()
    # Whether it iterates over what it holds.
    _is_sequence: bool

    if TYPE_CHECKING:
        # Sequences of the same length, in the order of the paths.
        def paths(self) -> list[str]: ...
        def leaves(self) -> list[Array]: ...
        def _with_leaves(self, leaves: Sequence[Any]) -> Self: ...
        def _check_same(self, other: Nest) -> None: ...


def nests_in(call: Call) -> Iterator[Nest]:
    """Yield the containers that a call was passed, also in sequences and for ``out``."""
    for name, value in call.arguments.items():
        if isinstance(value, Nest):
            yield value
        elif isinstance(value, tuple) and (name in call.parameters.sequences or name == "out"):
            yield from (each for each in value if isinstance(each, Nest))


def map_call(declaration: Declaration, call: Call, nest: Nest) -> Any:
    """Call a function once for each leaf of the containers that it was passed: of ``nest`` and of others like it."""
    function = declaration.public if call.backend is None else declaration.of_backend(call.backend)
    out = call.arguments.pop("out", None)
    targets = None if out is None else _targets(declaration.name, out, nest)
    results: list[Any] = []
    for place, arguments in enumerate(_arguments(call, nest)):
        with at(nest, place):
            results.append(_call(function, call, arguments))
    several = bool(results) and isinstance(results[0], tuple)
    if targets is None:
        return _transposed(nest, results) if several else nest._with_leaves(results)
    columns = list(zip(*results, strict=True)) if several else [results] if results else []
    if columns and len(columns) != len(targets):
        raise TypeError(f"out of {declaration.name}() has {len(targets)} containers for {len(columns)} results")
    flat = [result for column in columns for result in column]
    store_several(declaration.name, [each for column in targets for each in column], flat, nest)
    return out


def _targets(name: str, out: Any, nest: Nest) -> list[list[Array]]:
    # The leaves of each container of ``out``, which may all be written.
    outs = out if isinstance(out, (tuple, list)) else (out,)
    if not all(isinstance(each, Nest) for each in outs):
        raise TypeError(f"{name}() of a container gives containers: out is one too, not {type(out).__name__}")
    for each in outs:
        check_leaves(each)
    return [[as_target(leaf) for leaf in _leaves_of(each, nest, "out")] for each in outs]


def _call(function: Any, call: Call, arguments: dict[str, Any]) -> Any:
    parameters = call.parameters
    positional = [arguments[name] for name in parameters.positional]
    if parameters.variadic is not None:
        positional += arguments[parameters.variadic]
    return function(*positional, **{name: arguments[name] for name in parameters.keywords if name in arguments})


def _arguments(call: Call, nest: Nest) -> Iterator[dict[str, Any]]:
    # The arguments of the call of each leaf.
    columns: dict[str, Sequence[Any]] = {}
    count = len(nest.leaves())
    for name, value in call.arguments.items():
        if name in call.parameters.sequences:
            spread = [_spread(each, nest, count, f"{name}[{place}]") for place, each in enumerate(value)]
            columns[name] = list(zip(*spread, strict=True)) if spread else [()] * count
        else:
            columns[name] = _spread(value, nest, count, name)
    for place in range(count):
        yield {name: column[place] for name, column in columns.items()}


def _spread(value: Any, nest: Nest, count: int, name: str) -> Sequence[Any]:
    # What each leaf gets of a value: its own part of a container, the whole of anything else.
    return _leaves_of(value, nest, name) if isinstance(value, Nest) else [value] * count


def _leaves_of(value: Nest, nest: Nest, name: str) -> Sequence[Array]:
    if value is not nest:
        try:
            nest._check_same(value)
        except ValueError as error:
            error.add_note(f"{name} is the second of these containers")
            raise
    return value.leaves()


def _transposed(nest: Nest, results: list[tuple[Array, ...]]) -> Any:
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
    for place, target in enumerate(nest.leaves()):
        with at(nest, place):
            check_target(target, ensure_in_backend)


def update_nest(nest: Nest, value: Any, ensure_in_backend: bool) -> None:
    """Overwrite all leaves by a value, or each by its part of a container: all of them, or none."""
    targets = nest.leaves()
    values = _spread(value, nest, len(targets), "val")
    check_leaves(nest, ensure_in_backend)

    def as_native(target: Array, value: Any) -> Any:
        return fit(value, target, target.shape, exact=False, what="the leaf")

    assign_all(targets, values, as_native, "leaves of the container", nest)
