"""Plain calls of elementwise functions through a record: the backend of the values computes them at once."""

from __future__ import annotations

from typing import Any

from ..._core.arrays.array import Array, blank_array
from ..._core.declaring.declare import DECLARATIONS
from ..._core.engines.handle import FastPath, declines
from ..._core.engines.refusals import is_refusal
from ..._core.kernels.record import Derivative, kernel_named
from ..._core.values.native import Native
from ...derivatives.rule import RULES
from ..scope import Scope
from .call_paths import ENDED
from .entries import NOTHING, Entry, Tape, Taped, entry_of, entry_on, follow, new


class FastCalls:
    """What makes them for a record."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        # Arrays of an engine that writes in place are marked with no trace.
        self._trace = None if tape.base.mutable else tape.base.trace

    def way(self, name: str) -> FastPath:
        """Return that of a function: it returns an array, or ``NotImplemented`` for the general path."""
        tape, k = self._tape, self._tape.k
        rule, made, kind, number = RULES.get(name), self._made, k.kind, k.number
        if rule is None and kernel_named(name).derivative is not Derivative.CONSTANT:
            return declines
        base, compute = tape.base, tape.base.plain[name]
        own, as_native, checks = base.native_type, base.as_native, not base.mutable
        ufunc = DECLARATIONS[name].ufunc
        # Which values the rule uses.
        keeps = [rule is None or rule.keeps(place) for place in range(2 if ufunc is None else ufunc.nin)]
        keeps_all, keeps_none, keeps_out = all(keeps), not any(keeps), rule is None or rule.keeps("out")

        def call(scope: Scope, *operands: Any) -> Any:
            # The operands as natives of the record, and their values: a number stands for itself. What tells each from
            # others in the call path of the record, and the entry that it comes from.
            natives: list[Any] = []
            values: list[Any] = []
            key: list[object] = [name]
            parents: list[tuple[Entry, int] | None] = []
            progress, is_recorded, has_number = None, False, False
            for x in operands:
                kind_of = type(x)
                if kind_of is Array:
                    if x._backend is not tape and (x := scope.known(x)) is None:
                        return NotImplemented
                    native = x._native
                    natives.append(native)
                    values.append(native.value)
                    parent = native.entry
                    if parent is None:
                        key.append(kind(native.value))
                        parents.append(None)
                        continue
                    output = native.output
                    key.append((parent.place, output) if output else parent.place)
                    parents.append((parent, output))
                    if not is_recorded:
                        progress, is_recorded = parent.progress, True
                    elif parent.progress is not progress:
                        progress = None
                elif kind_of is float or kind_of is int:
                    has_number = True
                    natives.append(None)
                    values.append(x)
                    key.append(kind_of)
                    parents.append(None)
                else:
                    return NotImplemented
            try:
                found = compute(*values)
            except Exception as error:
                if not is_refusal(error, base):
                    raise
                return NotImplemented
            if type(found) is not own:
                if found is NotImplemented:
                    return found
                found = as_native(found)
            if rule is None or not is_recorded:
                return made(found, None)
            if progress is not None:
                path = progress.path.next.get(tuple(key), ENDED)
                if path is not ENDED and not (checks and kind(found) is not path.results[0]):
                    arguments = path.operands
                    if not keeps_none:
                        if has_number:
                            put_numbers(natives, values)
                        arguments = (
                            values
                            if keeps_all
                            else [values[0], arguments[1]]
                            if keeps[0]
                            else [arguments[0], values[1]]
                        )
                    outputs = (found,) if keeps_out else path.results
                    return made(found, entry_on(path, progress, rule, NOTHING, arguments, outputs, parents))
            if has_number:
                put_numbers(natives, values)
            entry = entry_of(k, rule, values, (found,), NOTHING, parents)
            follow(entry, k, name, natives, values, (found,), key[1:])
            return made(found, entry)

        def put_numbers(natives: list[Any], values: list[Any]) -> None:
            # Rules take natives.
            place = natives.index(None)
            values[place] = number(values[place], values[1 - place])

        return call

    def _made(self, value: Native, entry: Entry | None) -> Array:
        # As ``wrap`` does, which would ask whether a derivative is being taken.
        taped = new(Taped)
        taped.value, taped.entry, taped.output, taped.layout = value, entry, 0, None
        array = blank_array()
        array._native, array._backend, array._base = taped, self._tape, None
        if self._trace is not None and (born := self._trace()) is not None:
            array._born = born
        return array
