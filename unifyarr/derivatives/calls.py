"""Calls of kernels on natives of a record: each runs on the values, and becomes an entry if it has a derivative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._core.arrays.array import Array, blank_array
from .._core.engines.handle import Handle, declines
from .._core.modes.transforming import Scope
from ..errors import LostDerivativeError
from .kernels import kernels_of, on_copy
from .kinds import WRITERS
from .record import Entry, Taped, entry_of, is_floating, parents_of
from .rule import CONSTANT, MISSING, RULES

# What a kernel of a trace is told of its result, beside its own arguments.
_TOLD = "result", "offered"


def taping(base: Handle, name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return what calls a kernel of a backend on natives of a record."""
    rule, missing = RULES.get(name), MISSING.get(name)
    has_derivative = rule is not None or missing is not None
    if name in WRITERS and base.mutable:
        kernel = on_copy(base, kernel)
    records, dtype, as_native, own = base.records, base.dtype, base.as_native, base.native_type
    k = kernels_of(base)

    def taped(*natives: Any, out: Any = None, **static: Any) -> Any:
        values = [native.value for native in natives]
        found = kernel(*values, **static)
        if found is NotImplemented:
            return found
        several = type(found) is tuple
        if not several and type(found) is not own:
            found = as_native(found)
        entry = None
        if has_derivative:
            for native in natives:
                if native.entry is not None:
                    entry = recorded(natives, values, found if several else (found,), static, several)
                    break
        if several:
            return tuple([Taped(each, entry, place) for place, each in enumerate(found)])
        return Taped(found, entry)

    def recorded(
        natives: Sequence[Taped], values: Sequence[Any], outputs: Sequence[Any], static: dict[str, Any], several: bool
    ) -> Entry | None:
        for each in outputs:
            if is_floating(dtype(each)):
                break
        else:
            return None
        if rule is None:
            raise LostDerivativeError(f"{name}() has no derivative: {missing}; ua.stop_gradient(x) makes x a constant")
        if records:
            for told in _TOLD:
                static.pop(told, None)
        return entry_of(k, rule, values, outputs, static, parents_of(natives), several)

    # What a trace of a loop's body asks of a kernel.
    for asked in ("casts_itself", "declines", "declines_transformed"):
        if hasattr(kernel, asked):
            setattr(taped, asked, getattr(kernel, asked))
    return taped


class ShortWays:
    """Elementwise functions of arrays of a record and of numbers, by the fast paths of the backend of the values."""

    def __init__(self, tape: Any) -> None:
        self._tape = tape
        self._k, self._own, self._as_native = tape.k, tape.base.native_type, tape.base.as_native
        self._trace = tape.base.trace
        self._known: dict[str, tuple[Any, ...]] = {}

    def call(self, scope: Scope, name: str, *operands: Any) -> Any:
        """Return the array that a function gives, ``NotImplemented`` to leave the call to the general path."""
        tape = self._tape
        values: list[Any] = []
        parents: list[tuple[Entry, int] | None] = []
        number, is_active = 0, False
        for x in operands:
            if type(x) is Array:
                inside = x if x._backend is tape else scope.known(x)
                if inside is None:
                    return NotImplemented
                native = inside._native
                values.append(native.value)
                if native.entry is None:
                    parents.append(None)
                else:
                    parents.append((native.entry, native.output))
                    is_active = True
            elif type(x) is float or type(x) is int:
                parents.append(None)
                values.append(x)
                number = len(values)
            else:
                return NotImplemented
        ways = self._known.get(name) or self._look(name)
        try:
            found = ways[number](*values)
        except Exception:
            # The general path says what is wrong.
            return NotImplemented
        if type(found) is not self._own:
            if found is NotImplemented:
                return found
            found = self._as_native(found)
        rule, entry = ways[3], None
        if is_active and rule is not None:
            if number:
                values[number - 1] = self._k.number(values[number - 1], values[2 - number])
            entry = entry_of(self._k, rule, values, (found,), {}, parents)
        # As ``wrap`` does, which would ask whether a derivative is being taken.
        array = blank_array()
        array._native, array._backend, array._base = Taped(found, entry), tape, None
        born = self._trace()
        if born is not None:
            array._born = born
        return array

    def _look(self, name: str) -> tuple[Any, ...]:
        # Of arrays alone, of a number before an array, of a number behind it, and the rule.
        rule, forms = RULES.get(name), ("", "reflected_", "scalar_")
        if rule is None and name not in CONSTANT:
            ways = [declines] * 3
        else:
            ways = [getattr(self._tape.base, f"fast_{form}{name}", declines) for form in forms]
        found = self._known[name] = (*ways, rule)
        return found
