"""Draws that are repeated: compiled methods, which find what is remembered of a draw without a call on the way.

A method of a generator is compiled when the first draw of its name is remembered. Where it finds nothing it calls the
method that was written, which checks everything.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

from .._core.arrays.array import marked
from .._core.calling.recording import integers
from .._core.engines.current import default, scoped_name
from .._core.engines.handle import Handle
from .._core.engines.tracing import mode
from ._arguments import STAGING
from ._host import KNOWN

_SOURCE = """
def {name}({parameters}):
    host = self._host
    if host is not None and out is None and not staging and running_mode() is None:
        where = backend or scoped_name() or default.name
        # The draw that was found last is told by identities, sooner than a key is made: what has a key can't change.
        {before}, found = repeated.last
        if {differs}:
            try:
                lengths = size if type(size) is int else integers(*size) if type(size) is tuple else None
                found = known.get(({name!r}, lengths, dtype, device, where, {told}))
            except TypeError:
                found = None
            if found is not None:
                repeated.last = {now}, found
        if found is not None:
            arguments, backend_of_it, _, make, is_certain = found
            if is_certain:
                # NumPy allocates before it draws, and nothing fails after that.
                with self._lock:
                    native = host.{name}(*arguments)
                native = as_native(native if make is None else make(native), backend_of_it)
                return marked(native, backend_of_it, None)
    return method({passed})
"""


class _Repeated:
    """The draw of one method that was found last: what tells it from others, and what is remembered of it."""

    __slots__ = ("last",)

    def __init__(self, told: int) -> None:
        self.last: tuple[Any, ...] = (None,) * (told + 1)


def _as_native(native: Any, backend: Handle) -> Any:
    return native if type(native) is backend.native_type else backend.as_native(native)


# The parameters that each such method has.
_WHERE = ("size", "dtype", "device", "backend", "out")


def compile_method(cls: type, name: str) -> None:
    """Put a compiled method in the place of a written one, where ``name`` is also that of NumPy's method."""
    owner = next(each for each in cls.__mro__ if name in vars(each))
    method = vars(owner)[name]
    if hasattr(method, "__wrapped__") or method.__module__ != owner.__module__:
        return
    signature = inspect.signature(method)
    own = [each for each in signature.parameters if each not in ("self", *_WHERE)]
    if tuple(signature.parameters) != ("self", *own, *_WHERE):
        return
    shown = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    named = [each.name for each in shown if each.kind is each.KEYWORD_ONLY]
    telling = ["where", "size", "dtype", "device", *own]
    before = [f"last_{each}" for each in telling]
    source = _SOURCE.format(
        name=name,
        parameters=str(signature.replace(parameters=shown, return_annotation=signature.empty))[1:-1],
        told=", ".join([*own, *(f"type({each})" for each in own)]),
        before=", ".join(before),
        now=", ".join(telling),
        differs=" or ".join(f"{one} is not {other}" for one, other in zip(telling, before, strict=True)),
        passed=", ".join([*(each for each in signature.parameters if each not in named), *(f"{x}={x}" for x in named)]),
    )
    names: dict[str, Any] = {
        "staging": STAGING,
        "running_mode": mode.get,
        "integers": integers,
        "known": KNOWN,
        "repeated": _Repeated(len(telling)),
        "default": default,
        "scoped_name": scoped_name,
        "as_native": _as_native,
        "marked": marked,
        "method": method,
    }
    exec(compile(source, f"<unifyarr {name}() of generators>", "exec"), names)
    setattr(owner, name, functools.update_wrapper(names[name], method))
