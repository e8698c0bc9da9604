"""Shortcuts: the kernels that a body called, called again without the body.

A body normalises arguments, checks them and calls kernels. Most of this follows from the dtypes and shapes of the
operands and from the other arguments. The second call that agrees in all of these is *recorded*: every kernel that the
body calls is noted, with its operands and static arguments. The calls that follow go through these kernels at once.

What a body does may follow from more than that: from values, strides, gradients. Whatever asks for these tells the
recording (``unrepeatable``, ``watch_gradients``, ``recording`` in ``engines/tracing.py``), and so does whatever writes.
An array that came from anywhere else than a noted call ends the recording too, so that what isn't understood has no
shortcut. The tests run every function with and without.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, Protocol

from ...backends.base import Backend
from ..arrays.array import Array, owner, wrap
from ..arrays.recipes import is_recipe, make_recipe
from ..declaring.operands import Call, Handler
from ..engines.handle import Handle, declines, has_one_device
from ..engines.tracing import recorded, running
from ..kernels.record import ELEMENTWISE, KERNELS
from ..writing.inplace import check_target
from .call_log import tell_general
from .invoke import store_out, store_several
from .programs import CALL, EQUAL, GET, TUPLE, Builder
from .recording import Recording, is_numpy_data, native_of_data

# How many shortcuts a function keeps; a program that goes round more shapes takes the general path.
MOST = 1024


class Calls(Protocol):
    """The calls of a function: by which name, and whether their programs take arrays for natives, or nothing."""

    name: str
    takes_arrays: bool
    creates: bool


class Shortcuts(dict[Hashable, Any]):
    """The shortcuts of one function, by what tells its calls apart.

    One takes the natives of the operands and returns that of the result, or ``NotImplemented``. Of a function that
    returns views or several arrays it takes the operands themselves, and returns the result; of one that makes an array
    of numbers it takes nothing. A call with ``out=`` has two, in a list: one that returns results, which are written
    afterwards, and one that takes the target's native first and computes into that, or ``None``. A third item says
    whether these go element by element, so that the target may be an operand.
    """

    def __init__(self, general: Handler, calls: Calls, when_cleared: Callable[[], object] | None) -> None:
        self._general, self._name, self._when_cleared = general, calls.name, when_cleared
        self._takes_arrays, self._takes_nothing = calls.takes_arrays, calls.creates
        self._seen: set[Hashable] = set()
        # Whether the steps of a call were found to follow from strides too, which tell calls apart from then on.
        self.by_layout = False

    def learn(self, key: Hashable, call: Call, backend: Handle) -> object:
        """Do a call that has no shortcut; the second one of a key is recorded, and computes before it writes."""
        if self._is_new(key) or not self._take_data(call, backend):
            return self._general(call)
        for each in targets_of(call.out):
            check_target(each)
        if any(_is_written_into(x, backend) for x in targets_of(call.out)):
            # A known call computes beside its targets, and so would the recording.
            self[key] = declines
            return self._general(call)
        arrays = [x for x in call.operands() if isinstance(x, Array)]
        # A record for derivatives sees what the kernels of its backend do.
        is_free = backend.tape is not None or backend.trace() is None
        if not is_free or backend.is_watched(*[x._native for x in arrays]):
            return self._general(call)
        if len({*map(id, arrays)}) < len(arrays):
            # ``f(x, x)``: the recording tells its operands apart by their identity.
            if self._takes_arrays:
                return self._general(call)
            _replace_operands(call, backend)
        operands = [] if self._takes_nothing else [x if isinstance(x, Array) else None for x in call.operands()]
        notes = Recording(operands)
        with recorded(notes, None if backend.tape is None else running()):
            result = self._general(call if call.out is None else call.without_out())
        self._keep(key, notes, result, operands, backend, call.out)
        return result if call.out is None else self._store(call, result)

    def _keep(
        self,
        key: Hashable,
        notes: Recording,
        result: object,
        operands: list[Array | None],
        backend: Handle,
        out: object,
    ) -> None:
        """Keep what was recorded, or that it can't be done again so."""
        if len(self) >= MOST:
            self.clear()
        if notes.watches_layout and not self.by_layout and backend.has_strides and not self._takes_nothing:
            # No key that was told before says how its arrays lie in memory.
            self.by_layout = True
            self.clear()
            return
        found = self._shortcut(notes, result, operands, backend)
        if found is None:
            tell_general(self._name, operands)
        if found is None or (out is not None and not _is_alike(out, result)):
            self[key] = declines
        else:
            into = None if out is None else self._into(notes, result, operands, backend)
            self[key] = found if out is None else [found, into, self._goes_by_element(notes)]

    def _store(self, call: Call, result: object) -> object:
        """Write what a call gave without ``out`` to that, and return it."""
        out = call.out
        if type(out) is not tuple and isinstance(result, Array):
            return store_out(self._name, out, result)
        if type(out) is not tuple or not isinstance(result, tuple) or len(result) != len(out):
            # Which says what is wrong.
            return self._general(call)
        store_several(self._name, out, result)
        return out

    def clear(self) -> None:
        """Drop all shortcuts."""
        super().clear()
        # The compiled core has some of them too.
        if self._when_cleared is not None:
            self._when_cleared()

    def _is_new(self, key: Hashable) -> bool:
        if key in self._seen:
            return False
        if len(self._seen) >= MOST:
            self._seen.clear()
        self._seen.add(key)
        return True

    def _take_data(self, call: Call, backend: Handle) -> bool:
        """Make arrays of NumPy's data; return whether a shortcut may take these."""
        for name in () if self._takes_nothing else call.parameters.operands:
            value = call.arguments[name]
            if is_numpy_data(value):
                if self._takes_arrays:
                    return False
                try:
                    call.arguments[name] = wrap(native_of_data(value, backend), backend)
                except TypeError:
                    return False
        return True

    def _shortcut(
        self, notes: Recording, result: object, operands: list[Array | None], backend: Handle
    ) -> Callable[..., object] | None:
        if not notes.is_repeatable:
            return None
        program = Builder(operands, backend, whole=self._takes_arrays)
        asked = self._takes_arrays or self._takes_nothing or backend.trace_cell is None
        _guard(program, backend, asked=asked, watches_gradients=notes.watches_gradients)
        if self._takes_arrays:
            return _whole(program, notes, result, operands, backend)
        if type(result) is not Array:
            return None
        # A view of what the body made has that for its base.
        shown = [] if result._base is None else [result._base]
        slots = _slots(notes, (*shown, result), backend)
        if slots is None:
            return None
        notes.compute(program, slots)
        if shown:
            program.wrap(slots[:1])
            program.wrap(slots[1:], of=slots[0])
        return _returned(program, notes, slots[-1], backend, result, is_array=bool(shown))

    def _goes_by_element(self, notes: Recording) -> bool:
        """Return whether a call was one of the elementwise kernel of the function's name, and nothing else."""
        record = KERNELS.get(self._name)
        return record is not None and record.kind is ELEMENTWISE and len(notes.steps) == 1

    def _into(
        self, notes: Recording, result: Any, operands: list[Array | None], backend: Handle
    ) -> Callable[..., object] | None:
        """Return a program whose last kernel writes to the target, which it takes before the operands.

        The engine refuses the call before it writes where it records gradients.
        """
        if self._takes_arrays or type(result) is not Array or result._base is not None or backend.writable_by is None:
            return None
        slots = _slots(notes, (result,), backend)
        steps = None if slots is None else notes.into(slots[0], backend.supports_out)
        if slots is None or steps is None:
            return None
        program = Builder(operands, backend, takes=("out",))
        program.add(GET, backend.writable_by, ["out"], ["asked"])
        program.decline_transformations()
        _guard(program, backend, asked=False, watches_gradients=notes.watches_gradients)
        program.compute(steps, notes.constants, slots)
        return program.returning(slots[0])


# The most bytes of a target for which a result is computed first and copied: of more, memory counts.
_MOST_COPIED = 1 << 15


def _is_written_into(out: Array, backend: Handle) -> bool:
    """Return whether results should go to the memory of a target: one of many bytes, or on several devices."""
    if not backend.mutable and not backend.destroys:
        return False
    return out._native.nbytes > _MOST_COPIED or not (backend.mutable or has_one_device(backend))


def targets_of(out: Any) -> tuple[Array, ...]:
    """Return the arrays that a call writes to: one, several, or none."""
    return () if out is None else out if type(out) is tuple else (out,)


def _is_alike(out: Any, result: Any) -> bool:
    """Return whether targets have the dtypes and shapes of results: the general path casts, and says what is wrong."""
    if isinstance(out, tuple):
        return isinstance(result, tuple) and all(map(_is_alike, out, result))
    return isinstance(result, Array) and result.dtype is out.dtype and result.shape == out.shape


def _replace_operands(call: Call, backend: Handle) -> None:
    """Put an array of its own, over the same native, in the place of each operand."""

    def other(x: object) -> object:
        return wrap(x._native, backend, x._base) if isinstance(x, Array) else x

    call.replace(other)


def _guard(program: Builder, backend: Handle, *, asked: bool, watches_gradients: bool) -> None:
    """Make a program decline what the body would look at: traces and gradients.

    It is ``asked`` whether a trace runs, unless the dispatcher looks at that.
    """
    if not backend.mutable:
        # An array that is made inside a trace belongs to it, even if it's known. A record or a batch of an engine that
        # writes in place has no traces.
        if asked and (backend.around is backend or not backend.around.mutable):
            program.decline_traces()
    elif watches_gradients and type(backend.engine).carries_derivative is not Backend.carries_derivative:
        program.decline_watched()


def _returned(
    program: Builder, notes: Recording, slot: int, backend: Handle, result: Array, *, is_array: bool
) -> Callable[..., object]:
    """Return a program of one result, which is returned as an array or as its native."""
    if not backend.mutable and not backend.has_fixed_dtypes and not notes.is_one_call():
        # JAX may be set to compute in 32 bits meanwhile, and the body refuses a dtype of 64. One kernel that isn't told
        # a dtype is called by the body then too.
        if backend.type_key is None:
            told = result._native.dtype
            program.add(GET, "dtype", [slot], ["told"])
        else:
            told = backend.type_key(result._native)
            program.add(CALL, (backend.type_key, ()), [slot], ["told"])
        program.add(EQUAL, None, ["told", program.constant(told)])
    return program.returning(("a", slot) if is_array else slot)


def _slots(notes: Recording, results: tuple[Any, ...], backend: Handle) -> list[int] | None:
    slots = []
    for x in results:
        slot = notes.slot_of(x) if type(x) is Array and x._backend is backend else None
        if slot is None or notes.aliases_constant(x):
            return None
        slots.append(slot)
    return slots


def _whole(
    program: Builder, notes: Recording, result: Any, operands: list[Array | None], backend: Handle
) -> Callable[..., object] | None:
    """Return a shortcut from the operands to the result, with what views of them have for a base."""
    if type(result) is tuple or hasattr(result, "_fields"):
        slots = _slots(notes, tuple(result), backend)
        bases = [_shown(x, operands) for x in result]
        if slots is None or any(x._base is not None and base is None for x, base in zip(result, bases, strict=True)):
            return None
        notes.compute(program, slots)
        for base in dict.fromkeys(bases):
            program.wrap([slot for slot, each in zip(slots, bases, strict=True) if each == base], base=base)
        program.add(TUPLE, type(result), [("a", slot) for slot in slots], ["results"])
        return program.returning("results")
    if not isinstance(result, Array):
        return None
    if is_recipe(result):
        for place, x in enumerate(operands):
            if x is result._root:
                return partial(_recipe, result._steps, place)
        return None
    slots = _slots(notes, (result,), backend)
    if slots is None:
        return None
    base = _shown(result, operands)
    if base is None and result._base is not None:
        return None
    notes.compute(program, slots)
    program.wrap(slots, base=base)
    return _returned(program, notes, slots[0], backend, result, is_array=True)


def _shown(view: Array, operands: Sequence[Array | None]) -> int | None:
    """Return the place of the operand whose memory an array is a view of, ``None`` where it's no view of one."""
    if view._base is None:
        return None
    return next((place for place, x in enumerate(operands) if x is not None and owner(x) is view._base), None)


def _recipe(steps: Any, place: int, *operands: Array) -> Array:
    return make_recipe(operands[place], steps)
