"""Gradients of functions of plain arrays, outside of traces and of other derivatives: most are.

What ``TransformedCall`` finds out about its arguments is known here, so that only the function and its record are left.
Where the function does more than return a number (auxiliary values, writes, another result) such a call goes on there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Any

from .._core.arrays.array import Array, marked, wrap
from .._core.engines.dtypes import SCALARS
from .._core.engines.handle import Handle
from .._core.engines.tracing import tracing
from ..container.container import flatten, unflatten
from ..derivatives.walks.replay import walk
from ..modes.like import Like
from ..modes.scope import Scope
from ..modes.tape.entries import Entry, Taped
from ..modes.tape.handle import TapeHandle, tape_of
from .run import TransformedCall, arguments_of, arrays_outside

# What a function is passed as it is.
_OTHERS = frozenset({*SCALARS, str, type(None)})
_ARRAYS = frozenset({Array})
# The records of engines that write in place and tell the types of their arrays, ``None`` of others.
_tapes: dict[Handle, TapeHandle | None] = {}
# An array that the function was passed, its place among all leaves, and the native that it began with.
Passed = tuple[int, Array, Taped]


def gradients_at_once(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    numbers: tuple[int, ...],
    has_aux: bool,
    with_value: bool,
    check: Callable[[list[Array]], None],
) -> tuple[Any, Any, list[Any]] | None:
    """Return the value if it's asked for, what else a function returned, and the gradients by some arguments.

    The numbers of the arguments rise. ``None`` says that the call goes another way: nothing has been called then.
    """
    if numbers[-1] >= len(args):
        return None
    leaves: Sequence[Any] = args
    first, spec, structures = numbers[0], None, list[Any]()
    chosen: Collection[int] = numbers
    if not _ARRAYS.issuperset(map(type, args)):
        leaves, spec = flatten((args, {}))
        of_argument, structures = arguments_of(spec)
        chosen = {place for number in numbers for place in of_argument[number]}
        first = min(chosen, default=len(leaves))
        if first >= len(leaves) or type(leaves[first]) is not Array:
            return None
    backend: Handle = leaves[first]._backend
    tape = _tapes[backend] if backend in _tapes else _tape_over(backend)
    if tape is None:
        return None
    kind_of, read = tape.k.kind, backend.read
    # What the function is passed; the values that derivatives are taken by, their types, and their entries.
    values: list[Any] = []
    passed: list[Passed] = []
    natives, kinds, entries = [], [], []
    for place, x in enumerate(leaves):
        if type(x) is Array:
            if x._backend is not backend:
                return None
            native = read(x._native)
            entry = None
            if place in chosen:
                kind = kind_of(native)
                if kind is None or kind.rank < 2:
                    return None
                entry = Entry()
                natives.append(native)
                kinds.append(kind)
                entries.append(entry)
            taped = Taped(native, entry)
            # Of an engine that writes in place, which marks arrays with no trace.
            array = marked(taped, tape, None)
            passed.append((place, array, taped))
            values.append(array)
        elif type(x) in _OTHERS and place not in chosen:
            values.append(x)
        else:
            return None
    tape.paths.begin(tuple(kinds), entries)
    call: TransformedCall | None = None
    scope = Scope(backend, tape, keeps=False)
    with scope:
        found = function(*values) if spec is None else function(*unflatten(spec, values)[0])
        met = scope.captured and list(scope.captured)
        if not has_aux and _is_number(found, scope, kind_of, passed):
            result, others = found._native, list[Any]()
        else:
            with tracing(None):
                call = TransformedCall(function, args, {}, numbers, has_aux=has_aux, check=check)
            (result,), others = call.ended(found, scope, passed)
    gradients, is_apart = walk(tape.k, tape.writers, [result], [None], entries, natives, True)
    if call is not None:
        arrays = call.outside([result.value, *gradients] if with_value else gradients)
        value = arrays.pop(0) if with_value else None
        aux = call.finish([x.value for x in others])
        return value, aux, [call.like_argument(number, arrays) for number in numbers]
    # A copy of one number takes less time than finding out whose memory it's in.
    value = wrap(backend.copy(result.value), backend) if with_value else None
    if is_apart:
        # As ``wrap`` does for an engine that writes in place.
        arrays = [marked(x, backend, None) for x in gradients]
    else:
        known = [*(x for x in leaves if type(x) is Array), *(each.array for each in met)]
        arrays = arrays_outside(gradients, backend, backend, known)
    if spec is None:
        return value, None, arrays
    each = iter(arrays)
    return value, None, [_like(structures[number], each) for number in numbers]


def _tape_over(backend: Handle) -> TapeHandle | None:
    tape = tape_of(backend) if backend.around is backend and backend.mutable else None
    _tapes[backend] = found = None if tape is None or tape.k.own is None else tape
    return found


def _is_number(found: Any, scope: Scope, kind_of: Callable[[Any], Like | None], passed: Sequence[Passed]) -> bool:
    """Return whether a function returned a real 0-d array that was made inside, and has written to nothing."""
    for _, array, taped in passed:
        if array._native is not taped:
            return False
    if scope.captured and any(each.stand_in._native is not each.before for each in scope.captured):
        return False
    # As ``Scope.is_inside`` finds of such a record.
    if type(found) is not Array or found._backend is not scope.handle or getattr(found, "_born", None) is not None:
        return False
    kind = kind_of(found._native.value)
    return kind is not None and kind.shape == () and kind.rank == 2


def _like(structure: Any, arrays: Iterator[Array]) -> Any:
    if structure is None:
        return next(arrays)
    return unflatten(structure, list(islice(arrays, structure.num_leaves)))
