"""Calls of kernels on natives of a record: each runs on the values, and becomes an entry if it has a derivative."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ..._core.calling.recording import frozen, prepared
from ..._core.engines.handle import Handle
from ..._core.engines.kernels import Kernel
from ..._core.kernels.record import Derivative, kernel_named
from ..._core.values.native import Native
from ...derivatives.rule import RULES
from ...errors import LostDerivativeError
from ..rule_kernels import kernels_of, on_copy
from .call_paths import ENDED, CallPath
from .entries import Entry, Taped, entry_of, entry_on, follow, is_floating, new, parents_of

# What a kernel of a trace is told of its result, beside its own arguments.
_TOLD = "result", "offered"


def taping(base: Handle, name: str, kernel: Kernel) -> Kernel:
    """Return what calls a kernel of a backend on natives of a record."""
    record, rule = kernel_named(name), RULES.get(name)
    has_derivative, missing = record.derivative is not Derivative.CONSTANT, record.instead or "it has no rule"
    if record.may_write and base.mutable:
        kernel = on_copy(base, kernel)
    records, dtype, as_native, own = base.records, base.dtype, base.as_native, base.native_type
    k = kernels_of(base)

    def taped(*natives: Taped, out: None = None, **static: object) -> Any:
        values = (natives[0].value,) if len(natives) == 1 else [native.value for native in natives]
        found = kernel(*values, **static)
        if type(found) is not own:
            if found is NotImplemented:
                return found
            if type(found) is not tuple:
                found = as_native(found)
        return with_entry(natives, values, found, static, None)

    def with_entry(
        natives: Sequence[Taped], values: Sequence[Native], found: Any, static: dict[str, object], call: Hashable
    ) -> Any:
        several = type(found) is tuple
        entry = None
        if has_derivative:
            for native in natives:
                if native.entry is not None:
                    if call is None and k.own is not None:
                        call = told_by(static)
                    entry = recorded(natives, values, found if several else (found,), static, several, call)
                    break
        if several:
            return tuple([Taped(each, entry, place) for place, each in enumerate(found)])
        return Taped(found, entry)

    def told_by(static: dict[str, object]) -> Hashable:
        """Return what tells calls with static arguments from all others, ``None`` if that isn't known."""
        try:
            return name, frozen(tuple(static.items()))
        except TypeError:
            return None

    def recorded(
        natives: Sequence[Taped],
        values: Sequence[Native],
        outputs: Sequence[Native],
        static: Mapping[str, object],
        several: bool,
        call: Hashable,
    ) -> Entry | None:
        for each in outputs:
            if is_floating(dtype(each)):
                break
        else:
            return None
        if rule is None:
            raise LostDerivativeError(f"{name}() has no derivative: {missing}; ua.stop_gradient(x) makes x a constant")
        if records:
            static = {key: value for key, value in static.items() if key not in _TOLD}
        entry = entry_of(k, rule, values, outputs, static, parents_of(natives), several)
        if call is not None:
            follow(entry, k, call, natives, values, outputs)
        return entry

    def know(*natives: Taped, **static: object) -> Kernel | None:
        """Return what does the same on natives of these types, for shortcuts."""
        call = told_by(static)
        if call is None:
            return None
        run = prepared(kernel, [native.value for native in natives], static, base)
        return of_one(run, call, static) if len(natives) == 1 else of_some(run, call, static, len(natives))

    def of_some(run: Kernel, call: Hashable, static: dict[str, object], count: int) -> Kernel:
        keeps = [rule is None or rule.keeps(place) for place in range(count)]
        keeps_out = rule is None or rule.keeps("out")
        kind, is_fixed = k.kind, base.mutable

        def known(*natives: Taped) -> Any:
            values = [native.value for native in natives]
            found = run(*values)
            if type(found) is not own:
                return of_several(natives, found, static, call)
            key, parents, progress = [call], list[Any](), None
            for native, value in zip(natives, values, strict=True):
                parent, output = native.entry, native.output
                if parent is None:
                    key.append(kind(value))
                    parents.append(None)
                    continue
                key.append((parent.place, output) if output else parent.place)
                parents.append((parent, output))
                if progress is None:
                    progress = parent.progress
                if parent.progress is None or parent.progress is not progress:
                    return with_entry(natives, values, found, static, call)
            path = ENDED
            if progress is not None and has_derivative:
                path = progress.path.next.get(tuple(key), ENDED)
            if progress is None or path is ENDED or not is_same(found, path):
                return with_entry(natives, values, found, static, call)
            arguments = [x if keep else like for x, keep, like in zip(values, keeps, path.operands, strict=True)]
            outputs = (found,) if keeps_out else path.results
            return Taped(found, entry_on(path, progress, rule, static, arguments, outputs, parents))

        def is_same(found: Any, path: CallPath) -> bool:
            # An engine that writes in place has one dtype of results for those of operands.
            if is_fixed:
                return bool(found.shape == path.results[0].shape)
            return kind(found) is path.results[0]

        return known

    def of_several(natives: Sequence[Taped], found: Any, static: dict[str, object], call: Hashable) -> Any:
        # Engines have tuples with names. Scalars among them the general path takes.
        if not isinstance(found, tuple) or not all(type(each) is own for each in found):
            return NotImplemented
        return with_entry(natives, [native.value for native in natives], tuple(found), static, call)

    def of_one(run: Kernel, call: Hashable, static: dict[str, object]) -> Kernel:
        keeps, keeps_out = rule is None or rule.keeps(0), rule is None or rule.keeps("out")
        kind, is_fixed = k.kind, base.mutable

        def known(native: Taped) -> Any:
            value, parent = native.value, native.entry
            found = run(value)
            if type(found) is not own:
                return of_several((native,), found, static, call)
            if parent is None or not has_derivative:
                return Taped(found)
            output, progress = native.output, parent.progress
            if progress is not None:
                path = progress.path.next.get((call, (parent.place, output) if output else parent.place), ENDED)
                # An engine that writes in place has one dtype of results for those of operands.
                if path is not ENDED and (
                    found.shape == path.results[0].shape if is_fixed else kind(found) is path.results[0]
                ):
                    # As ``recorded`` does, without asking what is known.
                    arguments = (value,) if keeps else path.operands
                    outputs = (found,) if keeps_out else path.results
                    parents = ((parent, output),)
                    entry = entry_on(path, progress, rule, static, arguments, outputs, parents)
                    made = new(Taped)
                    made.value, made.entry, made.output, made.layout = found, entry, 0, None
                    return made
            return Taped(found, recorded((native,), (value,), (found,), static, False, call))

        return known

    # What shortcuts and traces of a loop's body ask of a kernel.
    vars(taped)["known"] = know
    for asked in ("casts_itself", "declines", "declines_transformed", "composed_on_host"):
        if hasattr(kernel, asked):
            setattr(taped, asked, getattr(kernel, asked))
    return taped
