"""What a public function does for a call: known calls go through the kernels of an earlier one, all others through the
stack of concerns.

The compiled core (``_native``) serves plain calls and those known calls that it has seen last, and asks the dispatcher
of a function for everything else. Without it the dispatcher serves all of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable
from typing import Any

from ...errors import UnknownShapeError
from ..arrays.array import Array, marked
from ..arrays.elements import Element, settle
from ..arrays.recipes import View
from ..declaring.declare import Declaration
from ..declaring.operands import Call
from ..declaring.plain import CASTING, let_cast
from ..engines.current import current, default, scoped_name
from ..engines.handle import LOADED, Handle, declines, has_one_device
from ..engines.refusals import is_refusal
from ..engines.tracing import Mode, inside, mode
from ..kernels.record import KERNELS, kernel_named
from ..writing.storing import assign_at_once
from .concerns import general, restored
from .recording import beside, frozen
from .refusing import values_of
from .shortcuts import Shortcuts, targets_of

# What each parameter is for: an array, an array or a number, arrays, another argument, ``out``, or what asks for more
# than the body and its kernels if anything is passed for it.
ARRAY, WEAK, SEQUENCE, ARGUMENT, OUT, NONE = b"awston"
_ARRAYS = frozenset({Array, Element, View})
_SETTLED = frozenset({Array, View})
_PLAIN = frozenset({Array})


class Dispatcher:
    """Serves the calls of one function. Arguments come in the order of its parameters, one for each."""

    def __init__(self, declaration: Declaration, bound: Handle | None, function: Any) -> None:
        self._declaration, self._bound, self._function = declaration, bound, function
        self.name, self.qualified_name = declaration.name, declaration.qualified_name
        self._take_parameters(declaration.signature)
        parameters = declaration.parameters
        self._parameters = parameters
        self.roles = bytes([self._role(name) for name in self.names])
        self._general = general(declaration)
        self.creates = declaration.category == "creation"
        self.has_known = has_shortcuts(declaration) and (self.creates or bool(parameters.operands))
        # Known calls of what may return views, or several arrays, take arrays, and return the result.
        self.shows = bool(declaration.view_map)
        self.takes_arrays = self.has_known and (self.shows or not declaration.returns_one_array)
        self.is_fast, self.is_bound = declaration.fast, bound is not None
        # How many operands plain calls have.
        self.plain = (declaration.ufunc.nin if declaration.ufunc else 2) if declaration.has_plain_calls else 0
        self.shortcuts = Shortcuts(self._general, self, getattr(function, "forget", None))
        # How many operands, the first parameters, may be containers that the core maps.
        self.mapped = len(parameters.operands) if self._is_mapped() else 0

    def _take_parameters(self, signature: inspect.Signature) -> None:
        self.names = tuple(signature.parameters)
        self.only_positional, self.positional, self.variadic = 0, 0, -1
        defaults: list[object] = []
        for place, each in enumerate(signature.parameters.values()):
            self.only_positional += each.kind is each.POSITIONAL_ONLY
            self.positional += each.kind <= each.POSITIONAL_OR_KEYWORD
            if each.kind is each.VAR_POSITIONAL:
                self.variadic = place
            missing = () if self.variadic == place else ...
            defaults.append(missing if each.default is each.empty else each.default)
        self.defaults = tuple(defaults)
        self.out = self.names.index("out") if "out" in self.names else -1

    def _role(self, name: str) -> int:
        parameters, category = self._parameters, self._declaration.category
        if name == "out":
            return OUT
        if (
            name == "chunks"
            or (name == "copy" and category == "view")
            or (name == "backend" and category == "creation")
        ):
            return NONE
        if category == "creation" or name not in parameters.operands:
            return ARGUMENT
        return SEQUENCE if name in parameters.sequences else WEAK if name in parameters.weak else ARRAY

    def _is_mapped(self) -> bool:
        """Return whether the compiled core maps containers among the operands."""
        if not self.has_known or self.creates:
            return False
        operands, parameters = self._parameters.operands, self._parameters
        if parameters.sequences or self.shows or self.names[: len(operands)] != operands:
            return False
        return {*self.names[len(operands) :]} - {"out", "chunks"} <= {*parameters.keywords}

    def bind(self, arguments: tuple[object, ...], keywords: dict[str, object]) -> tuple[object, ...]:
        """Return arguments in the places of their parameters, or raise ``TypeError``."""
        return values_of(self, self._parameters, arguments, keywords)

    def __call__(self, *values: Any) -> Any:
        """Do a call, which is remembered for the next ones."""
        if self.has_known:
            found = mode.get()
            if found is None or found.tape is None:
                result = self._remembered(values, found)
            else:
                replaced: dict[int, Array] = {}
                result = self._remembered(self._captured(values, found, replaced), found)
                if replaced:
                    result = restored(result, replaced)
            if result is not NotImplemented:
                return result
        return self.rest(*values)

    def _remembered(self, values: tuple[object, ...], running: Mode | None) -> object:
        """Do a call that is known, or becomes so; ``NotImplemented`` leaves it to the stack of concerns."""
        told = self._told(values, running)
        if told is None:
            return NotImplemented
        backend, key, inputs = told
        found = self.shortcuts.get(key)
        if found is None:
            return self.shortcuts.learn(key, self._call(values), backend)
        if isinstance(found, list):
            return self._run_into(found[0], inputs, backend, values[self.out])
        return self._run(found, inputs, backend)

    def _captured(self, values: tuple[object, ...], running: Mode, replaced: dict[int, Array]) -> tuple[object, ...]:
        """Put stand-ins in the place of a record's arrays from outside; note which arrays these replace."""
        trace, tape = running.trace, running.tape
        assert trace is not None
        taken = list(values)
        for place, (role, x) in enumerate(zip(self.roles, values, strict=True)):
            if role not in (ARRAY, WEAK) or not isinstance(x, Array) or type(x) not in _SETTLED:
                continue
            if x._backend is not tape and trace.takes(x._backend):
                taken[place] = stand_in = trace.capture(x)
                replaced[id(stand_in)] = x
        return tuple(taken) if replaced else values

    @property
    def by_layout(self) -> bool:
        """Whether strides tell calls apart too."""
        return self.shortcuts.by_layout

    def find(self, *values: Any) -> Any:
        """Return the program of a call that is known, ``None`` if it has none, and ``...`` if it isn't known yet.

        A call with ``out=`` has two, in a list.
        """
        told = self._told(values, mode.get())
        found = None if told is None else self.shortcuts.get(told[1], ...)
        return None if found is declines else found

    def rest(self, *values: Any) -> Any:
        """Do a call that isn't known, by the stack of concerns."""
        is_plain = mode.get() is None and self._declaration.operation is None
        if is_plain and any(type(x) is Element for x in values):
            # It holds a number, and becomes an array of the usual type.
            settle(*values)
            return self._function(*self._passed(values), **self._named(values))
        return self._general(self._call(values))

    def refused(self, error: Exception, backend: Handle) -> bool:
        """Return whether an engine has refused a known call: the stack of concerns says why, or does it another way.

        A program has written nothing. All else that comes while it runs is the caller's own.
        """
        # An engine may warn that it has no such dtype any more, which the stack of concerns refuses.
        warns = isinstance(error, Warning) and not backend.has_fixed_dtypes and not backend.mutable
        return warns or is_refusal(error, backend)

    def usual(self) -> Handle:
        """Return the backend where arrays are made."""
        return self._bound or LOADED.get(scoped_name() or default.name or "") or current()

    def _call(self, values: tuple[object, ...]) -> Call:
        # Inside a trace another handle stands for the backend.
        bound = None if self._bound is None else inside(self._bound)
        return Call(dict(zip(self.names, values, strict=True)), self._parameters, bound)

    def _passed(self, values: tuple[Any, ...]) -> tuple[object, ...]:
        return values[: self.positional] + (values[self.variadic] if self.variadic >= 0 else ())

    def _named(self, values: tuple[object, ...]) -> dict[str, object]:
        return {name: values[self.names.index(name)] for name in self._parameters.keywords}

    def _told(self, values: tuple[object, ...], running: Mode | None) -> tuple[Handle, Hashable, list[object]] | None:
        """Return the backend of a call, what tells it from others, and what its program takes, if all is usual."""
        out = None if self.out < 0 else values[self.out]
        backend = self._usual_into(out) if self.creates else self._backend_of(values)
        if backend is None or not (running is None or (running.tape is backend and out is None and not self.creates)):
            return None
        key: list[Hashable] = [backend]
        inputs: list[object] = []
        try:
            if out is not None and not self._tell_targets(out, backend, key):
                return None
            for role, value in zip(self.roles, values, strict=True):
                if role == ARGUMENT:
                    key.append(frozen(value))
                elif role == NONE:
                    if value is not None:
                        return None
                elif role != OUT and not self._tell(role, value, backend, key, inputs):
                    return None
            hash(told := tuple(key))
        except (TypeError, AttributeError, UnknownShapeError):
            # Arguments that no call is known by, as lengths that aren't known.
            return None
        return backend, told, inputs

    def _tell_targets(self, out: object, backend: Handle, key: list[Hashable]) -> bool:
        """Note what tells the targets of a call apart; return whether they're usual."""
        # Arguments are never told by a bare string, so that this can't be taken for one.
        key.append("several" if isinstance(out, tuple) else "out")
        return all(self._tell_array(x, _PLAIN, backend, key, []) for x in targets_of(out))

    def _tell(self, role: int, value: Any, backend: Handle, key: list[Hashable], inputs: list[object]) -> bool:
        """Note what tells an operand from others, and what the program takes for it; return whether it's usual."""
        if role == SEQUENCE:
            if type(value) not in (list, tuple):
                return False
            key.append(len(value))
            return all(self._tell_array(x, _ARRAYS, backend, key, inputs) for x in value)
        if role == ARRAY:
            return self._tell_array(value, _PLAIN if self.shows else _SETTLED, backend, key, inputs)
        if self._tell_array(value, _ARRAYS, backend, key, inputs):
            return True
        if type(value) is list or isinstance(value, Array):
            # A list is made an array at each call.
            return False
        native, told, shape = beside(value, backend, elementwise=self._declaration.ufunc is not None)
        if self.takes_arrays and native is not None:
            # Its program takes arrays, and these are data.
            return False
        key += (told, shape)
        inputs.append(value if self.takes_arrays else native)
        return True

    def _tell_array(self, x: Any, types: Any, backend: Handle, key: list[Hashable], inputs: list[object]) -> bool:
        if type(x) not in types or x._backend is not backend:
            return False
        native = x._native
        if type(native) is not backend.native_type:
            # A variable, or a tracer.
            return False
        key += (native.dtype, native.shape) if backend.type_key is None else (backend.type_key(native), None)
        if self.by_layout and backend.has_strides:
            key.append(backend.layout_key(native))
        if backend.device_key is not None and not has_one_device(backend):
            key.append(backend.device_key(native))
        inputs.append(x if self.takes_arrays else native)
        return True

    def _backend_of(self, values: tuple[Any, ...]) -> Handle | None:
        """Return the backend of the first array; an element becomes an array before its call is known."""
        for role, value in zip(self.roles, values, strict=True):
            x = value
            if role == SEQUENCE and type(value) in (list, tuple) and value:
                x = value[0]
            if role in (ARRAY, WEAK, SEQUENCE) and type(x) in (_ARRAYS if role == SEQUENCE else _SETTLED):
                backend: Handle = x._backend
                return backend
        return None

    def _usual_into(self, out: Any) -> Handle | None:
        if out is None:
            return self.usual()
        return None if self._bound is not None else getattr(out, "_backend", None)

    def _run_into(self, program: Callable[..., Any], inputs: list[object], backend: Handle, out: Any) -> Any:
        """Run the program of a known call, and write what it gives; ``NotImplemented`` as ``_run`` returns it."""
        targets = targets_of(out)
        for x in targets if backend.mutable else ():
            if backend.is_read_only(x._native):
                return NotImplemented
        found = self._run(program, inputs, backend)
        results = found if isinstance(found, tuple) else (found,)
        if (
            found is NotImplemented
            or isinstance(found, tuple) is not isinstance(out, tuple)
            or len(results) != len(targets)
        ):
            return NotImplemented
        natives = [x._native for x in results]
        if backend.mutable and backend.is_watched(*natives):
            # Autograd may have saved an operand that ``out`` overwrites.
            return NotImplemented
        return out if assign_at_once(targets, natives) else NotImplemented

    def _run(self, program: Callable[..., Any], inputs: list[object], backend: Handle) -> Any:
        """Run the program of a known call; ``NotImplemented`` leaves the call to the stack of concerns."""
        cell = None if self.takes_arrays or backend.type_key is None else backend.trace_cell
        if cell is not None and cell.value is not backend.no_trace:
            # The program may be a kernel, which doesn't look whether a trace runs.
            return NotImplemented
        try:
            native = program(*inputs)
        except Exception as error:
            if self.refused(error, backend):
                return NotImplemented
            raise
        if native is NotImplemented:
            return native
        if self.takes_arrays or type(native) is Array:
            return native
        if type(native) is not backend.native_type:
            return NotImplemented
        return marked(native, backend, None)


def has_shortcuts(declaration: Declaration) -> bool:
    """Return whether what a body does may follow from its arguments: not if it updates some, or is a user's."""
    if declaration.category == "creation":
        # What takes data looks at it.
        return not declaration.view_map
    return declaration.operation is None and not declaration.updates


def dispatcher_of(declaration: Declaration, bound: Handle | None, function: Any, /) -> Any:
    """Return the dispatcher of a function, which is made at the first call."""
    for unknown in {*declaration.kernels, *declaration.derivatives} - KERNELS.keys():
        # Which raises.
        kernel_named(unknown)
    for handle in list(CASTING):
        let_cast(handle, declaration)
    return Dispatcher(declaration, bound, function)
