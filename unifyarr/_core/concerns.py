"""What happens around a function's body, one concern each; their order stands in ``CONCERNS``.

A concern takes the declaration and the next handler and returns a handler. A handler takes a ``Call``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import CopyError
from . import convert, dtypes
from .applications import handle_operation
from .call import store_out, store_several
from .debugging import check_call, checking
from .handle import Handle
from .inplace import as_target, check_backend, check_target
from .nests import Nest, map_call, nests_in
from .scratch import records_gradient
from .selection import current
from .tracing import inside, running
from .wrapper import is_array

if TYPE_CHECKING:
    from .declare import Declaration


@dataclass(slots=True)
class Parameters:
    """What a signature says: which parameters are arrays, and how the body is called."""

    positional: tuple[str, ...]
    variadic: str | None
    keywords: tuple[str, ...]
    # Parameters that take one array, one array or a Python scalar, a sequence of arrays.
    arrays: frozenset[str]
    weak: frozenset[str]
    sequences: frozenset[str]


@dataclass(slots=True)
class Call:
    """One call of a function on its way to the body."""

    arguments: dict[str, Any]
    parameters: Parameters
    backend: Handle | None

    def __post_init__(self) -> None:
        for name in self.parameters.sequences:
            value = self.arguments[name]
            named = hasattr(value, "keys") and not (isinstance(value, Nest) and value._is_sequence)
            if is_array(value) or not hasattr(value, "__iter__") or named:
                raise TypeError(f"{name} is a sequence of arrays, not {type(value).__name__}")
            # An iterator can be read once only.
            self.arguments[name] = tuple(value)

    def operands(self) -> Iterator[Any]:
        """Yield what was passed for arrays."""
        for name, value in self.arguments.items():
            if name in self.parameters.sequences:
                yield from value
            elif name in self.parameters.arrays or name in self.parameters.weak:
                yield value

    @property
    def out(self) -> Any:
        return self.arguments.get("out")


Handler = Callable[[Call], Any]


def handle_nestable(declaration: Declaration, call_next: Handler) -> Handler:
    """Map the call over the leaves of the containers among its arrays."""

    def handler(call: Call) -> Any:
        nest = next(nests_in(call), None)
        return call_next(call) if nest is None else map_call(declaration, call, nest)

    return handler


def handle_trace(declaration: Declaration, call_next: Handler) -> Handler:
    """Inside a trace of ours, let it take over what was made outside."""

    def handler(call: Call) -> Any:
        trace = running.get()
        if trace is not None:
            trace.enter(call)
        return call_next(call)

    return handler


def handle_debug(declaration: Declaration, call_next: Handler) -> Handler:
    """Inside ``debug()``, check that the call does what is declared of it."""

    def handler(call: Call) -> Any:
        return check_call(declaration, call, call_next) if checking.get() else call_next(call)

    return handler


def handle_out_argument(declaration: Declaration, call_next: Handler) -> Handler:
    """Check ``out`` before anything is computed, and write the result there if the body hasn't done so."""

    def handler(call: Call) -> Any:
        given = call.out
        if given is None:
            return call_next(call)
        if isinstance(given, (tuple, list)):
            return _several(call, given)
        out = as_target(given)
        check_target(out)
        call.arguments["out"] = out
        result = call_next(call)
        if isinstance(result, tuple):
            raise TypeError(f"{declaration.name}() returns {len(result)} arrays: out is a tuple of as many")
        if result is not out:
            check_backend(out, result._backend)
            store_out(declaration.name, out, result)
        return given

    def _several(call: Call, given: Any) -> Any:
        targets = [as_target(each) for each in given]
        for target in targets:
            check_target(target)
        call.arguments["out"] = None
        results = call_next(call)
        if not isinstance(results, tuple) or len(results) != len(targets):
            wanted = f"a tuple of {len(results)}" if isinstance(results, tuple) else "one array"
            raise TypeError(f"out of {declaration.name}() is {wanted}, not {len(targets)} arrays")
        store_several(declaration.name, targets, results)
        return given

    return handler


def handle_array_arguments(declaration: Declaration, call_next: Handler) -> Handler:
    """Make arrays of one backend of what was passed for them; Python scalars stay where the function takes them."""
    if declaration.kind == "creation":
        # What these take isn't of the call's backend, but goes there.
        return call_next

    def handler(call: Call) -> Any:
        parameters, arguments = call.parameters, call.arguments
        out = call.out
        fallback = call.backend if out is None else out._backend
        backend = convert.common_backend(call.operands(), fallback)
        if out is not None:
            check_backend(out, backend)
        call.backend = backend
        weak: list[str] = []
        device = convert.device_of(call.operands(), backend)
        for name in declaration.updated_by(arguments):
            # What isn't an array, or can't be written, would take the values with it.
            arguments[name] = as_target(arguments[name], name)
        for name in arguments:
            value = arguments[name]
            if name in parameters.weak and (value is None or type(value) in dtypes.SCALARS):
                weak.append(name)
            elif name in parameters.sequences:
                arguments[name] = tuple(convert.as_array(each, backend, device) for each in value)
            elif name in parameters.weak or name in parameters.arrays:
                arguments[name] = convert.as_array(value, backend, device)
        if len(weak) == len(parameters.weak) and not parameters.arrays and not parameters.sequences:
            # All operands are scalars: one of them has to be an array.
            for name in weak:
                arguments[name] = convert.as_array(arguments[name], backend)
        keeps = out is not None and declaration.scratch and not declaration.updated_by(arguments)
        if keeps and any(is_array(x) and records_gradient(x) for x in call.operands()):
            # What is kept in out on the way would be recorded, and lost to the gradient when the next value is written.
            arguments["out"] = None
        return call_next(call)

    return handler


def handle_copy_argument(declaration: Declaration, call_next: Handler) -> Handler:
    """Give ``copy=`` its meaning on functions that return a view where they can; with ``out`` it has none."""

    def handler(call: Call) -> Any:
        copy = call.arguments.get("copy")
        if copy is not None and call.out is not None:
            call.arguments["copy"] = copy = None
        if copy is None or declaration.kind != "view":
            # ``astype``, ``asarray`` and ``from_dlpack`` mean something else by it, and look to it themselves.
            return call_next(call)
        x = next(call.operands())
        result = call_next(call)
        shares = result is x or result.base is not None
        if copy and shares:
            return result.copy()
        if copy is False and not shares:
            raise CopyError(f"{declaration.name}() of this array can't do without a copy, which copy=False forbids")
        return result

    return handler


def handle_elementwise(declaration: Declaration, call_next: Handler) -> Handler:
    """Compute an elementwise function, whose declaration says all: its body is never called."""
    ufunc = declaration.ufunc
    if ufunc is None:
        return call_next
    from .call import elementwise

    def handler(call: Call) -> Any:
        operands = tuple(call.arguments[name] for name in call.parameters.positional)
        return elementwise(declaration.name, ufunc, operands, call.out, call.backend)

    return handler


def handle_creation(declaration: Declaration, call_next: Handler) -> Handler:
    """Say on which backend a creation function makes its array."""
    if declaration.kind != "creation":
        return call_next
    from .selection import load

    def handler(call: Call) -> Any:
        named = call.arguments.get("backend")
        if named is not None:
            call.backend = inside(load(named))
        elif call.out is not None:
            call.backend = call.out._backend
        call.arguments["backend"] = call.backend
        if call.backend is None and declaration.name not in ("asarray", "from_dlpack"):
            call.arguments["backend"] = current()
        return call_next(call)

    return handler


# From the outside to the inside.
CONCERNS = (
    handle_nestable,
    handle_trace,
    handle_debug,
    handle_out_argument,
    handle_creation,
    handle_copy_argument,
    handle_elementwise,
    handle_array_arguments,
    handle_operation,
)
