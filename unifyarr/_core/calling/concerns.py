"""What happens around a function's body, one concern each; their order stands in ``CONCERNS``.

A concern takes the declaration, what does the rest of the call, and the ``Call``. Which concerns are around the body
depends on the function and on what a call needs: those that have nothing to do in it aren't asked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ...backends.base.deferring import wanting_chunks
from ...errors import CopyError, ShapeError
from ...modes.body_checks import handle_kernels
from ...modes.debug import check_call
from ..arrays import convert
from ..arrays.array import Array, wrap
from ..arrays.numbers import as_known_number
from ..arrays.scratch import records_gradient
from ..arrays.weak import WeakFloat, kind_of, known
from ..declaring.operands import ALL, COPY, DATA, MODE, NESTS, NUMBERS, OUT, PLAIN, SYMBOLS, Call, Handler
from ..engines import dtypes
from ..engines.current import current
from ..engines.refusals import explained
from ..engines.registry import load
from ..engines.tracing import checking, inside, mode, running
from ..values.records import Record
from ..writing.inplace import as_target, check_backend, check_target
from .invoke import elementwise, store_out, store_several
from .mapping import map_call
from .operations import handle_operation

if TYPE_CHECKING:
    from ..declaring.declare import Declaration


def handle_nestable(declaration: Declaration, call_next: Handler, call: Call) -> object:
    """Map the call over the leaves of the containers among its arrays."""
    return map_call(declaration, call, call.nest)


def handle_symbols(declaration: Declaration, call_next: Handler, call: Call) -> object:
    """Make a node of a graph of a call that takes variables of graphs."""
    assert call.symbol is not None
    return call.symbol._called(declaration, call)


# Where a kernel looks at the value of a number, as at that of an exponent: it may be of a square, or of a root.
_DECIDES = frozenset({("pow", "x2")})


def handle_trace(declaration: Declaration, call_next: Handler, call: Call) -> object:
    """Inside a trace of ours, put stand-ins in the place of arrays that were made outside."""
    trace = running()
    if trace is None:
        return call_next(call)
    out = call.out
    for name, value in call.arguments.items():
        # A weak float has no value, but for functions that look at it.
        if type(value) is not WeakFloat or not declaration.takes_numbers or (declaration.name, name) in _DECIDES:
            call.arguments[name] = known(value)
    replaced = trace.enter(call)
    result = call_next(call)
    return restored(result, replaced) if out is None else out


def restored(result: Any, replaced: dict[int, Array]) -> object:
    """Return a result with the caller's arrays in the place of stand-ins that were returned as they were passed."""
    if type(result) in (tuple, list):
        return type(result)([restored(each, replaced) for each in result])
    return replaced.get(id(result), result)


def handle_debug(declaration: Declaration, call_next: Handler, call: Call) -> object:
    """Inside ``debug()``, check that the call does what is declared of it."""
    return check_call(declaration, call, call_next) if checking() else call_next(call)


def handle_out_argument(declaration: Declaration, call_next: Handler, call: Call) -> object:
    """Check ``out`` before anything is computed, and write the result there if the body hasn't done so."""
    given: Any = call.out
    if given is None:
        return call_next(call)
    several = isinstance(given, (tuple, list))
    targets = tuple([as_target(each) for each in (given if several else (given,))])
    for target in targets:
        check_target(target)
    call.arguments["out"], call.targets = None if several else targets[0], targets
    _keep_for_gradients(call)
    if not several:
        (out,) = targets
        if call.arguments.get("device", out) is None and call.arguments.get("backend") in (None, out._backend.name):
            # A new array goes to the device of ``out``, unless another array says where.
            call.arguments["device"] = convert.device_of((*call.operands(), out), out._backend)
    result: Any = call_next(call)
    if several:
        if not isinstance(result, tuple) or len(result) != len(targets):
            wanted = f"a tuple of {len(result)}" if isinstance(result, tuple) else "one array"
            raise TypeError(f"out of {declaration.name}() is {wanted}, not {len(targets)} arrays")
        store_several(declaration.name, targets, result)
    elif isinstance(result, tuple):
        raise TypeError(f"{declaration.name}() returns {len(result)} arrays: out is a tuple of as many")
    elif result is not out:
        check_backend(out, result._backend)
        store_out(declaration.name, out, result)
    return given


def _keep_for_gradients(call: Call) -> None:
    """Replace operands that overlap a target by copies, where the engine records gradients and may save operands."""
    backend = call.targets[0]._backend if call.targets else None
    if backend is None or not backend.mutable:
        return
    natives = [x._native for x in call.operands() if isinstance(x, Array) and x._backend is backend]
    # A target of another backend is refused later.
    written = [x._native for x in call.targets if x._backend is backend]
    if not any(map(backend.records_gradient, (*natives, *written))):
        return

    def kept(x: object) -> object:
        if not isinstance(x, Array) or x._backend is not backend:
            return x
        is_written = any(backend.may_share_memory(x._native, native) for native in written)
        return wrap(backend.copy(x._native), backend) if is_written else x

    call.replace(kept)


def handle_updates(declaration: Declaration, call_next: Handler, call: Call) -> object:
    """Take parameters that the body writes as targets: what can't be written would take the values with it."""
    for name in declaration.updated_by(call.arguments):
        call.arguments[name] = as_target(call.arguments[name], name)
    return call_next(call)


def handle_data(declaration: Declaration, call_next: Handler, call: Call) -> object:
    """Make arrays of one backend of what was passed for them; Python scalars stay where the function takes them."""
    parameters, arguments = call.parameters, call.arguments
    targets = call.targets
    backend = convert.common_backend(call.together(), targets[0]._backend if targets else call.backend)
    call.backend = backend
    weak: list[str] = []
    device = convert.device_of((*call.together(), *targets), backend)
    for name in parameters.operands:
        value = arguments[name]
        if (name in parameters.weak and value is None) or (
            name in parameters.scalars and kind_of(value) in dtypes.SCALARS
        ):
            weak.append(name)
        elif name in parameters.sequences:
            arguments[name] = tuple([convert.as_array(each, backend, device) for each in value])
        else:
            arguments[name] = convert.as_array(value, backend, device)
    if len(weak) == len(parameters.operands):
        # All operands are scalars: one of them has to be an array.
        for name in weak:
            arguments[name] = convert.as_array(known(arguments[name]), backend)
    return call_next(call)


def handle_out_of_body(declaration: Declaration, call_next: Handler, call: Call) -> object:
    """Pass ``out`` to the body only on the backend of the arrays, and if the body may keep values in it."""
    out = call.out
    if out is not None and call.backend is not None:
        check_backend(out, call.backend)
        keeps = declaration.scratch and not declaration.updated_by(call.arguments)
        if keeps and any(isinstance(x, Array) and records_gradient(x) for x in call.operands()):
            # Intermediate values in out would be recorded, and lost to the gradient when the next one is written.
            call.arguments["out"] = None
    return call_next(call)


def handle_numbers(declaration: Declaration, call_next: Handler, call: Call) -> object:
    """Make Python numbers of 0-d arrays that were passed for numbers; by what carries a derivative they'd have none."""
    for name in call.parameters.numbers:
        value = call.arguments[name]
        if type(value) not in PLAIN:
            call.arguments[name] = as_known_number(value, f"{name} of {declaration.qualified_name}()")
    return call_next(call)


def handle_copy_argument(declaration: Declaration, call_next: Handler, call: Call) -> object:
    """Give ``copy=`` its meaning on functions that return a view where they can; with ``out`` it has none."""
    copy = call.arguments.get("copy")
    if copy is not None and call.out is not None:
        call.arguments["copy"] = copy = None
    if copy is None or declaration.category != "view":
        # ``astype``, ``asarray`` and ``from_dlpack`` mean something else by it, and look to it themselves.
        return call_next(call)
    x = next(call.operands())
    result: Any = call_next(call)
    shares = result is x or result.base is not None
    if copy and shares:
        return result.copy()
    if copy is False and not shares:
        raise CopyError(f"{declaration.name}() of this array can't do without a copy, which copy=False forbids")
    return result


def handle_elementwise(declaration: Declaration, call_next: Handler, call: Call) -> object:
    """Compute an elementwise function, whose declaration says all: its body is never called."""
    assert declaration.ufunc is not None
    operands = tuple([call.arguments[name] for name in call.parameters.positional])
    return elementwise(declaration.name, declaration.ufunc, operands, call.out, call.backend, declaration.public)


def handle_creation(declaration: Declaration, call_next: Handler, call: Call) -> object:
    """Choose the backend on which a creation function makes its array."""
    named = call.arguments.get("backend")
    if named is not None:
        call.backend = inside(load(named))
    elif call.out is not None:
        call.backend = call.out._backend
    call.arguments["backend"] = call.backend
    if call.backend is None and declaration.name not in ("array", "asarray", "from_dlpack"):
        call.arguments["backend"] = current()
    return call_next(call)


def handle_chunks(declaration: Declaration, call_next: Handler, call: Call) -> object:
    """Divide what is made as ``chunks=`` says, where the engine has chunks."""
    chunks = call.arguments["chunks"]
    if chunks is None:
        return call_next(call)
    with wanting_chunks(chunks):
        made: Any = call_next(call)
    if isinstance(chunks, tuple) and len(chunks) != made.ndim:
        raise ShapeError(f"chunks={chunks!r} divides {len(chunks)} axes, but {declaration.name}() makes {made.ndim}")
    return made


class Concern(Record):
    """A concern, what a call has to need for it, bits, zero if every call does, and which functions have it."""

    needed: int
    handle: Callable[[Declaration, Handler, Call], object]
    has: Callable[[Declaration], bool] = lambda declaration: True


def _creates(declaration: Declaration) -> bool:
    return declaration.category == "creation"


def _computes(declaration: Declaration) -> bool:
    # The arguments of creation functions come from anywhere, and go to the call's backend.
    return not _creates(declaration)


# From the outside to the inside.
CONCERNS = (
    Concern(NESTS, handle_nestable),
    Concern(SYMBOLS, handle_symbols),
    Concern(MODE, handle_trace),
    Concern(MODE, handle_debug),
    Concern(OUT, handle_out_argument),
    Concern(0, handle_creation, _creates),
    Concern(0, handle_chunks, lambda declaration: "chunks" in declaration.parameters.keywords),
    Concern(NUMBERS, handle_numbers, lambda declaration: declaration.operation is None),
    Concern(COPY, handle_copy_argument),
    Concern(0, handle_elementwise, lambda declaration: declaration.ufunc is not None),
    Concern(0, handle_updates, lambda declaration: bool(declaration.updates)),
    Concern(DATA, handle_data, _computes),
    Concern(OUT, handle_out_of_body, _computes),
    Concern(MODE, handle_kernels, lambda declaration: declaration.category == "mixed"),
    Concern(0, handle_operation, lambda declaration: declaration.operation is not None),
)


def stack(declaration: Declaration, needs: int) -> Handler:
    """Return the body with the concerns around it that a call needs."""
    body, parameters = declaration.body, declaration.parameters
    positional, variadic, keywords = parameters.positional, parameters.variadic, parameters.keywords

    def call_body(call: Call) -> object:
        arguments = call.arguments
        given = [arguments[name] for name in positional]
        if variadic is not None:
            given += arguments[variadic]
        return body(*given, **{name: arguments[name] for name in keywords})

    handler: Handler = call_body
    for needed, handle, has in reversed(CONCERNS):
        if (needed & needs or not needed) and has(declaration):
            handler = partial(handle, declaration, handler)
    return handler


def general(declaration: Declaration) -> Handler:
    """Return what does any call of a function: the concerns that the call needs around the body.

    What an engine refuses is said in the package's words; what a user's own kernels raise is the user's.
    """
    handlers: dict[int, Handler] = {}
    explains, name = declaration.operation is None, f"{declaration.qualified_name}()"
    # Such a function's arguments go where the call says.
    creates = declaration.category == "creation"

    def handler(call: Call) -> object:
        try:
            bound, needs = call.backend, call.needs()
            if mode.get() is not None:
                # Inside a trace and inside debug() arguments change on the way.
                needs, call.backend = needs | ALL, bound
            elif creates or needs & NESTS:
                call.backend = bound
            if needs not in handlers:
                handlers[needs] = stack(declaration, needs)
            return handlers[needs](call)
        except Exception as error:
            found = explained(error, name, call.backend) if explains else None
            if found is None:
                raise
            raise found from error

    return handler
