"""Short ways of elementwise functions through a record: by the fast paths of the backend of the values."""

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
        ufunc = DECLARATIONS[name].ufunc
        return self._unary(name) if ufunc is not None and ufunc.nin == 1 else self._binary(name)

    def _unary(self, name: str) -> FastPath:
        tape, k = self._tape, self._tape.k
        rule, made, kind, own = RULES.get(name), self._made, k.kind, tape.base.native_type
        compute, as_native, checks = self._path("", name), tape.base.as_native, not tape.base.mutable
        keeps, keeps_out = rule is None or rule.keeps(0), rule is None or rule.keeps("out")

        def unary(scope: Scope, x: Any) -> Any:
            if type(x) is not Array or (x._backend is not tape and (x := scope.known(x)) is None):
                return NotImplemented
            native = x._native
            value, parent = native.value, native.entry
            try:
                found = compute(value)
            except Exception as error:
                if not is_refusal(error, tape.base):
                    raise
                return NotImplemented
            if type(found) is not own:
                if found is NotImplemented:
                    return found
                found = as_native(found)
            if parent is None or rule is None:
                return made(found, None)
            output, progress = native.output, parent.progress
            if progress is not None:
                path = progress.path.next.get((name, (parent.place, output) if output else parent.place), ENDED)
                if path is not ENDED and not (checks and kind(found) is not path.results[0]):
                    arguments = (value,) if keeps else path.operands
                    outputs = (found,) if keeps_out else path.results
                    parents = ((parent, output),)
                    return made(found, entry_on(path, progress, rule, NOTHING, arguments, outputs, parents))
            entry = entry_of(k, rule, (value,), (found,), NOTHING, ((parent, output),))
            follow(entry, k, name, (native,), (value,), (found,))
            return made(found, entry)

        return unary

    def _binary(self, name: str) -> FastPath:
        tape, k = self._tape, self._tape.k
        rule, made, kind, number = RULES.get(name), self._made, k.kind, k.number
        as_native, own, checks = tape.base.as_native, tape.base.native_type, not tape.base.mutable
        plain, scalar, reflected = (self._path(form, name) for form in ("", "scalar_", "reflected_"))
        keeps, keeps_other, keeps_out = (rule is None or rule.keeps(what) for what in (0, 1, "out"))
        keeps_both, keeps_none = keeps and keeps_other, not keeps and not keeps_other

        def binary(scope: Scope, x: Any, y: Any) -> Any:
            # The operands as natives of the record, and their values: a number stands for itself.
            one, other, a, b = None, None, x, y
            if type(x) is Array:
                if x._backend is not tape and (x := scope.known(x)) is None:
                    return NotImplemented
                one = x._native
                a = one.value
            if type(y) is Array:
                if y._backend is not tape and (y := scope.known(y)) is None:
                    return NotImplemented
                other = y._native
                b = other.value
            try:
                if one is None:
                    if other is None or (type(x) is not float and type(x) is not int):
                        return NotImplemented
                    found = reflected(b, x)
                elif other is not None:
                    found = plain(a, b)
                elif type(y) is float or type(y) is int:
                    found = scalar(a, y)
                else:
                    return NotImplemented
            except Exception as error:
                if not is_refusal(error, tape.base):
                    raise
                return NotImplemented
            if type(found) is not own:
                if found is NotImplemented:
                    return found
                found = as_native(found)
            if rule is None:
                return made(found, None)
            # What tells each operand from others in the call path of the record.
            progress = first = second = None
            if one is None:
                place: object = type(x)
            elif (parent := one.entry) is None:
                place = kind(a)
            else:
                progress, place, output = parent.progress, parent.place, one.output
                first = parent, output
                if output:
                    place = place, output
            if other is None:
                place_beside: object = type(y)
            elif (parent := other.entry) is None:
                place_beside = kind(b)
            else:
                place_beside, output = parent.place, other.output
                second = parent, output
                if output:
                    place_beside = place_beside, output
                if first is None:
                    progress = parent.progress
                elif parent.progress is not progress:
                    progress = None
            if first is second is None:
                return made(found, None)
            if one is None:
                if keeps:
                    a = number(x, b)
            elif other is None and keeps_other:
                b = number(y, a)
            if progress is not None:
                path = progress.path.next.get((name, place, place_beside), ENDED)
                if path is not ENDED and not (checks and kind(found) is not path.results[0]):
                    like = path.operands
                    if keeps_both:
                        arguments = a, b
                    elif keeps_none:
                        arguments = like
                    else:
                        arguments = (a, like[1]) if keeps else (like[0], b)
                    outputs = (found,) if keeps_out else path.results
                    parents = first, second
                    return made(found, entry_on(path, progress, rule, NOTHING, arguments, outputs, parents))
            if one is None:
                a = number(x, b)
            elif other is None:
                b = number(y, a)
            entry = entry_of(k, rule, (a, b), (found,), NOTHING, (first, second))
            follow(entry, k, name, (one, other), (a, b), (found,), (place, place_beside))
            return made(found, entry)

        return binary

    def _path(self, form: str, name: str) -> FastPath:
        # What computes with values, ``NotImplemented`` where the general path has to say what is wrong.
        path: FastPath = getattr(self._tape.base, f"fast_{form}{name}", declines)
        return path if name in RULES or kernel_named(name).derivative is Derivative.CONSTANT else declines

    def _made(self, value: Native, entry: Entry | None) -> Array:
        # As ``wrap`` does, which would ask whether a derivative is being taken.
        taped = new(Taped)
        taped.value, taped.entry, taped.output, taped.layout = value, entry, 0, None
        array = blank_array()
        array._native, array._backend, array._base = taped, self._tape, None
        if self._trace is not None and (born := self._trace()) is not None:
            array._born = born
        return array
