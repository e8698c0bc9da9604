"""What is logged of compiled functions: traces, and why, what is copied, and what runs in Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ..._core.arrays.array import Array
from ..._core.values.caller import users_frame
from ..._core.values.logs import INFO, listener
from ...errors import CompileWarning
from ..core.names import describe, leaf_names

if TYPE_CHECKING:
    from ..core.fgraph import FunctionGraph


class TracedProgram(Protocol):
    """What is read of a program."""

    fgraph: FunctionGraph
    arrays: list[int]
    made: Any


# So many arguments are named in one message.
_MOST = 6


def tell_traced(
    name: str,
    function: Callable[..., Any],
    leaves: Sequence[Any],
    key: tuple[str, tuple[Any, ...], Sequence[Hashable], Hashable],
    programs: Mapping[Any, TracedProgram],
) -> None:
    """Log that a function was traced for a key, and how that differs from the key of the program called last."""
    logger = listener("compile", INFO)
    if logger is None:
        return
    # Other threads go on with the function.
    programs = dict(programs)
    if key not in programs:
        return
    backend, (spec, *_), keys, _ = key
    names = leaf_names(function, spec)
    made, others = programs[key], [each for each in programs if each != key]
    nodes = len(made.fgraph.apply_nodes)
    if not others:
        given = _listed(f"{name}: {_shown(leaf)}" for name, leaf in zip(names, leaves, strict=True))
        logger.info("%s() is traced for (%s) on %s: %d operations", name, given, backend, nodes)
        return
    # The program that was called last, of the same structure if there's one.
    like = next((each for each in reversed(others) if each[:2] == key[:2]), None)
    if like is None:
        why = "the structure of its arguments, the order of names in it, or their backend is a new one"
    else:
        earlier = programs[like]
        why = _listed(
            f"{names[place]} is {_shown(leaves[place])}, and was {_earlier(earlier, place, like[2][place])}"
            for place, (mine, other) in enumerate(zip(keys, like[2], strict=True))
            if mine != other
        )
        why = why or "what it reads beside its arguments is of another type or value"
    count = len(programs)
    logger.info(
        "%s() is traced again on %s, %d operations, its program number %d: %s", name, backend, nodes, count, why
    )


def _listed(parts: Iterator[str]) -> str:
    found = list(parts)
    more = [f"and {len(found) - _MOST} more"] if len(found) > _MOST else []
    return ", ".join([*found[:_MOST], *more])


def _shown(leaf: object) -> str:
    return f"{leaf.dtype.name} {leaf.shape}" if isinstance(leaf, Array) else f"{leaf!r:.40}"


def _earlier(program: TracedProgram, place: int, key: Any) -> str:
    if place in program.arrays:
        return describe(program.made.inputs[program.arrays.index(place)].type) or "another array"
    return f"{key[1]!r:.40}" if isinstance(key, tuple) else "any float"


def tell_dropped(name: str, limit: int) -> None:
    """Log that a function drops the program that was called longest ago."""
    logger = listener("compile", INFO)
    if logger is not None:
        logger.info("%s() keeps %d programs, and drops the one that was called longest ago", name, limit)


def tell_in_python(name: str, why: str) -> None:
    """Log that a call runs the function itself in place of its graph."""
    logger = listener("compile")
    if logger is not None:
        logger.debug("%s() runs in Python in this call: %s", name, why)


def tell_refused(name: str, refusal: str) -> None:
    """Log why the engine's compiler doesn't compile a function."""
    logger = listener("compile", INFO)
    if logger is not None:
        logger.info("%s(): %s", name, refusal)


def tell_refused_rewrite(name: str, reason: str) -> None:
    """Log why a change that a rewrite wanted to make was taken back."""
    logger = listener("compile", INFO)
    if logger is not None:
        logger.info("rewrite %s is refused: %s", name, reason)


def tell_lowered(name: str, region: str, seconds: float, failure: Exception | None) -> None:
    """Log that an engine's compiler compiled a part of a function; warn if it couldn't."""
    if failure is None:
        logger = listener("compile", INFO)
        if logger is not None:
            logger.info("%s(): %s is compiled in %.1f seconds", name, region, seconds)
        return
    reason = f"{type(failure).__name__}: {str(failure).strip().partition(chr(10))[0]}"
    refusal = f"{region} isn't compiled, and runs operation by operation: {reason}"
    tell_refused(name, refusal)
    frame = users_frame()
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    module = frame.f_globals.get("__name__")
    warnings.warn_explicit(
        f"{name}(): {refusal}", CompileWarning, frame.f_code.co_filename, frame.f_lineno, module, registry
    )
