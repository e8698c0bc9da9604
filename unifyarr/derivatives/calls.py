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
from .record import NOTHING, Entry, Taped, entry_of, is_floating, parents_of
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
        values = (natives[0].value,) if len(natives) == 1 else [native.value for native in natives]
        found = kernel(*values, **static)
        if type(found) is not own:
            if found is NotImplemented:
                return found
            if type(found) is not tuple:
                found = as_native(found)
        several = type(found) is tuple
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
        self._tape, self._known = tape, dict[str, Callable[..., Any]]()
        # Arrays of an engine that writes in place are marked with no trace.
        self._trace = None if tape.base.mutable else tape.base.trace

    def call(self, scope: Scope, name: str, *operands: Any) -> Any:
        """Return the array that a function gives, ``NotImplemented`` to leave the call to the general path."""
        way = self._known.get(name)
        if way is None:
            way = self._known[name] = (self._unary if len(operands) == 1 else self._binary)(name)
        return way(scope, *operands)

    def _unary(self, name: str) -> Callable[..., Any]:
        tape, k = self._tape, self._tape.k
        rule, made, like = RULES.get(name), self._made, k.like
        compute = self._path("", name)
        keeps, keeps_out = rule is None or rule.keeps(0), rule is None or rule.keeps("out")

        def unary(scope: Scope, x: Any) -> Any:
            if type(x) is not Array:
                return NotImplemented
            if x._backend is not tape and (x := scope.known(x)) is None:
                return NotImplemented
            native = x._native
            value, parent = native.value, native.entry
            found = compute(value)
            if found is NotImplemented:
                return found
            entry = None
            if parent is not None and rule is not None:
                kept, out = value if keeps else like(value), found if keeps_out else like(found)
                entry = Entry(rule, (kept,), (out,), NOTHING, ((parent, native.output),))
            return made(found, entry)

        return unary

    def _binary(self, name: str) -> Callable[..., Any]:
        tape, k = self._tape, self._tape.k
        rule, made, like, number = RULES.get(name), self._made, k.like, k.number
        plain, scalar, reflected = (self._path(form, name) for form in ("", "scalar_", "reflected_"))
        keeps, keeps_other, keeps_out = (rule is None or rule.keeps(what) for what in (0, 1, "out"))

        def binary(scope: Scope, x: Any, y: Any) -> Any:
            first = second = None
            if type(x) is Array:
                if x._backend is not tape and (x := scope.known(x)) is None:
                    return NotImplemented
                native = x._native
                a = native.value
                if native.entry is not None:
                    first = native.entry, native.output
                if type(y) is Array:
                    if y._backend is not tape and (y := scope.known(y)) is None:
                        return NotImplemented
                    native = y._native
                    b = native.value
                    if native.entry is not None:
                        second = native.entry, native.output
                    found = plain(a, b)
                elif type(y) is float or type(y) is int:
                    b, found = y, scalar(a, y)
                else:
                    return NotImplemented
            elif type(y) is Array and (type(x) is float or type(x) is int):
                if y._backend is not tape and (y := scope.known(y)) is None:
                    return NotImplemented
                native = y._native
                a, b = x, native.value
                if native.entry is not None:
                    second = native.entry, native.output
                found = reflected(b, x)
            else:
                return NotImplemented
            if found is NotImplemented:
                return found
            entry = None
            if rule is not None and (first is not None or second is not None):
                if type(y) is not Array:
                    b = number(y, a)
                elif type(x) is not Array:
                    a = number(x, b)
                kept = a if keeps else like(a), b if keeps_other else like(b)
                out = found if keeps_out else like(found)
                entry = Entry(rule, kept, (out,), NOTHING, (first, second))
            return made(found, entry)

        return binary

    def _path(self, form: str, name: str) -> Callable[..., Any]:
        # What computes with values, ``NotImplemented`` where the general path has to say what is wrong.
        base = self._tape.base
        path = getattr(base, f"fast_{form}{name}", declines)
        if path is declines or (name not in RULES and name not in CONSTANT):
            return declines
        own, as_native = base.native_type, base.as_native

        def computed(*values: Any) -> Any:
            try:
                found = path(*values)
            except Exception:
                return NotImplemented
            return found if type(found) is own or found is NotImplemented else as_native(found)

        return computed

    def _made(self, value: Any, entry: Entry | None) -> Array:
        # As ``wrap`` does, which would ask whether a derivative is being taken.
        array = blank_array()
        array._native, array._backend, array._base = Taped(value, entry), self._tape, None
        if self._trace is not None and (born := self._trace()) is not None:
            array._born = born
        return array
