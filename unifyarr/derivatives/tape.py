"""The record of calls that a derivative is taken through: one more immutable backend.

Its natives are values of another backend, each with the call that gave it, if that has a derivative: an *entry*. The
values are an engine's arrays, variables of a trace, or natives of another record around this one, so that the same
rules serve eager and compiled functions and derivatives of derivatives. Calls of constants aren't recorded. An entry
refers to those before it, so that what nothing needs any more is forgotten by itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..backends import Backend
from .._core.arrays.array import Array, blank_array, wrap
from .._core.arrays.ownership import read
from .._core.engines.handle import GeneralHandle, Handle, declines
from .._core.engines.tracing import capture, inside
from .._core.modes.transforming import InsideHandle, Scope
from .._core.values.supplying import NotSupplied
from ..errors import LostDerivativeError
from .operations import derived, engine_of
from .kernels import WRITERS, Kernels, Like, kernels_of
from .forward import push
from .reverse import pull
from .rule import COMPOSED, CONSTANT, MISSING, RULES, Rule

_numbers = itertools.count()


class NotInline(Exception):
    """A derivative can't be part of the running trace: its calls are recorded when what is traced runs."""


class Entry:
    """A call whose result has a derivative, or, without a rule, an array that derivatives are taken by.

    ``parents`` has for each operand the entry and the output that it came from, ``None`` for a constant.
    """

    __slots__ = ("arguments", "number", "outputs", "parents", "rule", "several", "static")

    def __init__(
        self,
        rule: Rule | None = None,
        arguments: Sequence[Any] = (),
        outputs: Sequence[Any] = (),
        static: dict[str, Any] | None = None,
        parents: Sequence[tuple[Entry, int] | None] = (),
        several: bool = False,
    ) -> None:
        self.rule, self.arguments, self.outputs, self.static, self.parents = rule, arguments, outputs, static, parents
        self.several, self.number = several, next(_numbers)

    def cotangents(self, k: Kernels, found: Sequence[Any], arguments: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """Return the cotangents of the operands that have an entry, by the rule; ``found`` are those of the outputs."""
        needs = [parent is not None for parent in self.parents]
        g, out = (tuple(found), tuple(outputs)) if self.several else (found[0], outputs[0])
        return self.rule.of_all(k, needs, g, out, *arguments, **self.static)  # type: ignore[union-attr,arg-type]


class Taped:
    """A native of a record: a value, and the entry that gave it and which of its outputs it is."""

    __slots__ = ("__weakref__", "entry", "layout", "output", "value")

    def __init__(self, value: Any, entry: Entry | None = None, output: int = 0, layout: Any = None) -> None:
        self.value, self.entry, self.output = value, entry, output
        # The strides of what it took the place of: views are the same after a write as before.
        self.layout = layout


class TapeBackend(Backend[Taped]):
    """The engine of a record as the frontend sees one: what isn't said here is asked of the backend of the values."""

    mutable = False
    native_types = (Taped,)
    modules = ()

    def __init__(self, base: Handle) -> None:
        self.base = base
        for name in ("has_shapes", "has_values", "has_strides", "warns", "has_fixed_dtypes", "no_trace"):
            setattr(self, name, getattr(base, name))

    @property
    def name(self) -> str:
        return self.base.name

    # -- what an array is ---------------------------------------------------------------------------------------------

    def dtype(self, native: Taped) -> Any:
        return self.base.dtype(native.value)

    def shape(self, native: Taped) -> Any:
        return self.base.shape(native.value)

    def strides(self, native: Taped) -> Any:
        return self.base.strides(native.value) if native.layout is None else native.layout

    def as_stored(self, old: Taped, new: Taped) -> Taped:
        if not self.has_strides:
            return new
        strides = self.strides(old)
        return new if self.strides(new) == strides else Taped(new.value, new.entry, new.output, strides)

    def device(self, native: Taped) -> Any:
        return self.base.device(native.value)

    def devices(self) -> Any:
        return self.base.devices()

    def as_device(self, device: object) -> Any:
        return self.base.as_device(device)

    def place_beside(self, native: Taped) -> Any:
        return self.base.place_beside(native.value)

    def may_meet(self, first: Taped, second: Taped) -> bool:
        return self.base.may_meet(first.value, second.value)

    def meeting(self, devices: Any) -> Any:
        return self.base.meeting(devices)

    def sharding(self, native: Taped) -> Any:
        return self.base.sharding(native.value)

    def as_dtype(self, dtype: object) -> Any:
        return self.base.as_dtype(dtype)

    def supports_dtype(self, dtype: Any, device: Any = None) -> bool:
        return self.base.supports_dtype(dtype, device)

    # -- values -------------------------------------------------------------------------------------------------------

    def read(self, native: Taped) -> Taped:
        return native

    def as_native(self, value: Any) -> Taped:
        return value if type(value) is Taped else Taped(self.base.as_native(value))

    def from_numpy(self, array: np.ndarray, *, device: Any = None, copy: bool = True) -> Taped:
        return Taped(self.base.from_numpy(array, device=device, copy=True))

    def to_numpy(self, native: Taped) -> np.ndarray:
        return self.base.to_numpy(native.value)

    def copy(self, native: Taped) -> Taped:
        # Nothing writes a native of a record.
        return Taped(native.value, native.entry, native.output)

    def to_device(self, native: Taped, device: Any) -> Taped:
        base = self.base
        found = base.to_device(native.value, device)
        if native.entry is None or found is native.value:
            return Taped(found, native.entry, native.output)
        back = base.own_device(base.device(native.value))

        def moved(k: Kernels, needs: Any, g: Any, out: Any, x: Any) -> list[Any]:
            return [k.handle.to_device(g, back)]

        return Taped(found, Entry(Rule(moved, frozenset()), [_like(base, native.value)], [_like(base, found)], {}, [(native.entry, native.output)]))

    def from_dlpack(self, x: Any, **options: Any) -> Taped:
        return Taped(self.base.from_dlpack(x, **options))

    def handed_out(self, native: Taped) -> Any:
        return self.base.handed_out(self._constant(native))

    def dlpack(self, native: Taped, **options: Any) -> Any:
        return self.base.dlpack(self._constant(native), **options)

    def dlpack_device(self, native: Taped) -> Any:
        return self.base.dlpack_device(native.value)

    def _constant(self, native: Taped) -> Any:
        if native.entry is not None:
            raise LostDerivativeError(
                "the engine's own array is asked of an array whose derivative is being taken, which wouldn't follow: "
                "use functions of unifyarr, declare the engine's code as an operation with @ua.op, or pass "
                "ua.stop_gradient(x) if it is a constant there"
            )
        return native.value

    # -- memory, which nothing writes ---------------------------------------------------------------------------------

    def can_write(self, native: Taped) -> bool:
        return False

    def check_writable(self, native: Taped) -> None:
        """Nothing here is written in place, which is asked before."""

    def is_read_only(self, native: Taped) -> bool:
        return False

    def assign(self, native: Taped, value: Taped) -> None:
        raise AssertionError("a write to a recorded array rebinds it")

    def may_share_memory(self, first: Taped, second: Taped) -> bool:
        return first.value is second.value

    def supports_out(self, kernel: Any) -> bool:
        return False

    # -- traces and derivatives ---------------------------------------------------------------------------------------

    def trace(self) -> object:
        return self.base.trace()

    def trace_state(self) -> object:
        return self.base.trace_state()

    def type_key(self, native: Taped) -> Any:
        # Bodies may refuse to lose a derivative.
        return self.base.shape(native.value), self.base.dtype(native.value), native.entry is None

    def is_watched(self, *natives: Taped) -> bool:
        # Rules are for kernels: bodies need no other ones for derivatives' sake.
        return self.base.is_watched(*[native.value for native in natives])

    def is_traced(self, native: Taped) -> bool:
        return self.base.is_traced(native.value)

    def hides_values(self, native: Taped) -> bool:
        return self.base.hides_values(native.value)

    def knows_values(self, native: Taped) -> bool:
        return self.base.knows_values(native.value)

    def records_gradient(self, native: Taped) -> bool:
        return self.base.records_gradient(native.value)

    def carries_derivative(self, native: Taped) -> bool:
        return native.entry is not None or self.base.carries_derivative(native.value)


class TapeHandle(InsideHandle):
    """The backend of a record: each call of a kernel on what has a derivative becomes an entry."""

    def __init__(self, base: Handle) -> None:
        from . import rules

        assert rules
        # What a kernel without a rule does, the body of its function does by others.
        names = base.kernels.keys() - COMPOSED
        kernels = {name: _taping(base, name, base.kernels[name]) for name in names}
        GeneralHandle.__init__(self, TapeBackend(base), kernels)
        self.base, self.records, self.destroys = base, base.records, False
        self.tape = None if base.records else self
        self._calls: dict[str, Any] = {}
        # What rules call: kernels that give new arrays, and kernels that may write what they're given to write.
        self.k, self.writers = kernels_of(base), Kernels(base, writes=True)

    def apply(self, application: Any, kernel: Any, natives: Sequence[Any], **out: Any) -> Any:
        if any(native.entry is not None for native in natives):
            engine = engine_of(self)
            if engine.can_transform:
                return derived(self, lambda *values: application.perform(kernel, engine, values), natives)
            if self.records and application.run_body([wrap(native, self) for native in natives]) is None:
                raise NotInline
            # The body computes the same by kernels that have rules.
            return NotImplemented
        found = self.base.apply(application, kernel, [native.value for native in natives])
        return found if found is NotImplemented else [Taped(each) for each in found]

    def trace(self) -> object | None:
        # What is made inside is known by its backend.
        return None if self.records else self.base.trace()

    def to_numpy(self, native: Taped) -> np.ndarray:
        return self.engine.to_numpy(native)

    def call(self, scope: Scope, name: str, *operands: Any) -> Any:
        """Return the array that an elementwise function of arrays and numbers gives, ``NotImplemented`` to leave it.

        It's the fast path of the backend of the values.
        """
        ways = self._calls.get(name) or self._ways(name)
        natives, values, place = [], [], 0
        for number, x in enumerate(operands):
            kind = type(x)
            if kind is Array:
                if x._backend is not self:
                    x = scope.known(x)
                    if x is None:
                        return NotImplemented
                native = x._native
                natives.append(native)
                values.append(native.value)
            elif kind is float or kind is int:
                natives.append(None)
                values.append(x)
                place = number + 1
            else:
                return NotImplemented
        fast, rule = ways[place], ways[3]
        try:
            found = fast(*values)
        except Exception:
            # The general path says what is wrong.
            return NotImplemented
        if found is NotImplemented:
            return found
        if type(found) is not self.base.native_type:
            found = self.base.as_native(found)
        entry = None
        if rule is not None:
            parents = [None if x is None or x.entry is None else (x.entry, x.output) for x in natives]
            if any(parents):
                base = self.base
                if place:
                    values[place - 1] = self.k.number(values[place - 1], values[2 - place])
                entry = self._entry(rule, values, (found,), {}, parents)
        array = blank_array()
        array._native = Taped(found, entry)
        array._backend = self
        array._base = None
        return array

    def _ways(self, name: str) -> Any:
        base = self.base
        rule = RULES.get(name)
        paths = [getattr(base, f"fast_{form}{name}", declines) for form in ("", "reflected_", "scalar_")]
        if rule is None and name not in CONSTANT:
            paths = [declines] * 3
        found = self._calls[name] = (*paths, rule)
        return found

    def recorded(self, rule: Rule, natives: Sequence[Taped], outputs: Sequence[Any]) -> list[Taped]:
        """Return natives for what was computed of others by a function of several results, which has a rule."""
        parents = [None if x.entry is None else (x.entry, x.output) for x in natives]
        dtype = self.base.dtype
        if not any(parents) or all(dtype(x).kind not in "fcV" for x in outputs):
            return list(map(Taped, outputs))
        entry = Entry(rule, [x.value for x in natives], outputs, {}, parents, True)
        return [Taped(x, entry, place) if dtype(x).kind in "fcV" else Taped(x) for place, x in enumerate(outputs)]

    def _entry(self, rule: Rule, values: list[Any], outputs: Sequence[Any], static: Any, parents: Any) -> Entry:
        uses, base = rule.uses, self.base
        if uses is not None:
            values = [x if place in uses else _like(base, x) for place, x in enumerate(values)]
            if "out" not in uses:
                outputs = [_like(base, x) for x in outputs]
        return Entry(rule, values, outputs, static, parents, len(outputs) > 1)

    @property
    def around(self) -> Handle:
        return self.base

    def enter(self, native: Any) -> Taped:
        return Taped(native)

    def vjp(
        self, function: Callable[..., Any], arrays: Sequence[Taped], once: bool
    ) -> tuple[list[Any], list[Any], Callable[[Sequence[Any]], list[Any]]]:
        """Return the results, what goes along, and a function from cotangents to gradients.

        All are natives of the backend of the values, those that are passed too.
        """
        leaves, results, others = self._run(function, arrays)

        def pullback(cotangents: Sequence[Any]) -> list[Any]:
            pairs = list(zip(results, cotangents, strict=True))
            # A trace or another record may have begun since.
            now = inside(self.base)
            if now is self.base:
                return pull(self.k, self.writers, pairs, leaves, arrays, once)
            k = kernels_of(now)
            return pull(k, k, pairs, leaves, arrays, lift=lambda x: read(capture(wrap(x, self.base))))

        return [x.value for x in results], [x.value for x in others], pullback

    def jvp(
        self, function: Callable[..., Any], arrays: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Return the results, their tangents, and what goes along."""
        results, others, push = self.linearize(function, arrays)
        return results, push(tangents), others

    def linearize(
        self, function: Callable[..., Any], arrays: Sequence[Any]
    ) -> tuple[list[Any], list[Any], Callable[[Sequence[Any]], list[Any]]]:
        """Return the results, what goes along, and a function from tangents of the arrays to those of the results."""
        leaves, results, others = self._run(function, arrays)

        def pushforward(tangents: Sequence[Any]) -> list[Any]:
            return push(self, results, dict(zip(leaves, tangents, strict=True)))

        return [x.value for x in results], [x.value for x in others], pushforward

    def vmap(self, function: Callable[..., Any], arrays: Sequence[Taped]) -> list[Taped]:
        return by_rows(kernels_of(self), function, arrays)

    # -- loops and branches, where no value is known ------------------------------------------------------------------

    def scan(
        self,
        step: Callable[..., tuple[list[Any], list[Any]]],
        state: Sequence[Taped],
        xs: Sequence[Taped],
        constants: Sequence[Taped],
        types: Sequence[Any],
        length: int,
        reverse: bool,
    ) -> tuple[list[Taped], list[Taped]]:
        raise NotSupplied

    def switch(
        self, index: Taped, branches: Sequence[Callable[..., list[Any]]], operands: Sequence[Taped]
    ) -> list[Taped]:
        raise NotSupplied

    def while_loop(self, condition: Callable[..., Any], body: Callable[..., Any], state: Sequence[Taped]) -> Any:
        raise NotInline

    def leaves(self, values: Sequence[Any]) -> tuple[list[Entry], list[Taped]]:
        """Return natives that derivatives are taken by, and their entries first."""
        leaves = [Entry() for _ in values]
        return leaves, [Taped(value, leaf) for value, leaf in zip(values, leaves, strict=True)]

    def entered(self, values: Sequence[Any]) -> list[Any]:
        """Return what an entry keeps as constant natives."""
        return [value if type(value) is Like else Taped(value) for value in values]

    def _run(self, function: Callable[..., Any], arrays: Sequence[Any]) -> tuple[list[Entry], list[Taped], list[Taped]]:
        leaves, natives = self.leaves(arrays)
        results, others = function(*natives)
        return leaves, results, others


@cache
def tape_of(base: Handle) -> TapeHandle:
    """Return the handle that records the calls of a backend."""
    return TapeHandle.of(base)


def by_rows(k: Kernels, function: Callable[..., Sequence[Any]], arrays: Sequence[Any]) -> list[Any]:
    """Return the results of a function for each element of the first axes, for which it's called one by one."""
    shapes = [k.shape(x) for x in arrays]
    if shapes[0][0] == 0:
        # Zeros give the shapes of the results.
        found = function(*[k.zeros(Like(k.shape(x)[1:], k.dtype(x), k.handle.device(x))) for x in arrays])
        return [k.zeros(Like((0, *k.shape(x)), k.dtype(x), k.handle.device(x))) for x in found]
    rows = []
    for row in range(shapes[0][0]):
        windows = [((row, 1, 1), *((0, 1, length) for length in shape[1:])) for shape in shapes]
        elements = [
            k.reshape(k.get_window(x, window), shape[1:])
            for x, window, shape in zip(arrays, windows, shapes, strict=True)
        ]
        rows.append(function(*elements))
    return [k.stack(*column, axis=0) for column in zip(*rows, strict=True)]


def _taping(base: Handle, name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    rule, missing = RULES.get(name), MISSING.get(name)
    if name in WRITERS and base.mutable:
        kernel = _copying(base, kernel)
    records, shape, dtype, device, as_native = base.records, base.shape, base.dtype, base.device, base.as_native
    told = ("result", "offered")
    own = base.native_type

    def taped(*natives: Any, out: Any = None, **static: Any) -> Any:
        values = [native.value for native in natives]
        found = kernel(*values, **static)
        if found is NotImplemented:
            return found
        several = type(found) is tuple
        parents = [None if x.entry is None else (x.entry, x.output) for x in natives]
        if not several and type(found) is not own:
            found = as_native(found)
        if (rule is None and missing is None) or not any(parents):
            return tuple([Taped(each) for each in found]) if several else Taped(found)
        outputs = found if several else (found,)
        if all(dtype(each).kind not in "fcV" for each in outputs):
            return tuple([Taped(each) for each in found]) if several else Taped(found)
        if rule is None:
            raise LostDerivativeError(f"{name}() has no derivative: {missing}; ua.stop_gradient(x) makes x a constant")
        if records:
            for each in told:
                static.pop(each, None)
        uses = rule.uses
        if uses is not None:
            values = [x if place in uses else Like(shape(x), dtype(x), device(x)) for place, x in enumerate(values)]
            if "out" not in uses:
                outputs = [Like(shape(x), dtype(x), device(x)) for x in outputs]
        entry = Entry(rule, values, outputs, static, parents, several)
        if several:
            return tuple([Taped(each, entry, place) for place, each in enumerate(found)])
        return Taped(found, entry)

    for attribute in ("casts_itself",):
        if hasattr(kernel, attribute):
            setattr(taped, attribute, getattr(kernel, attribute))
    return taped


def _like(base: Handle, x: Any) -> Like:
    return Like(base.shape(x), base.dtype(x), base.device(x))


def _copying(base: Handle, kernel: Callable[..., Any]) -> Callable[..., Any]:
    copy = base.copy

    def pure(x: Any, *others: Any, **static: Any) -> Any:
        return kernel(copy(x), *others, **static)

    return pure
