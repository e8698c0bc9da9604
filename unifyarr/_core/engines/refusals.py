"""What engines refuse, said in the package's words: their own classes of errors never reach a caller."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from .handle import Handle, loaded_backends

# What an engine refuses; everything else that comes while it works is the program's own.
REFUSALS = (ValueError, TypeError, IndexError, RuntimeError, OverflowError, MemoryError)

Function = TypeVar("Function", bound=Callable[..., Any])

# TensorFlow begins its messages with where in a graph it was.
_NODE = re.compile(r"^\s*\{\{.*?\}\}\s*")
_LONGEST = 300
# What NumPy says of arrays that it can't even count the elements of.
_TOO_BIG = re.compile("array is too big|Maximum allowed (dimension|size) exceeded")


def is_refusal(error: Exception, backend: Handle | None = None) -> bool:
    """Return whether an engine refuses a call by an error, or the package does.

    What other code raised while they worked is the caller's own: a handler of a signal, or what ``np.errstate`` calls.
    """
    refuses = isinstance(error, REFUSALS) or (backend is not None and backend.own_error(error) is not None)
    return refuses and _is_own(error, backend)


_OURS = __name__.partition(".")[0]
# Packages that engines call, beside those of their classes and the standard library.
_CALLED = frozenset({_OURS, "scipy", "jaxlib", "keras", "opt_einsum", "ml_dtypes", *sys.stdlib_module_names})


def _is_own(error: Exception, backend: Handle | None) -> bool:
    """Return whether an error comes from the package, or from an engine: the code that raised it says so."""
    trace = error.__traceback__
    if trace is None:
        return True
    while trace.tb_next is not None:
        trace = trace.tb_next
    package = str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0]
    if package in _CALLED:
        return True
    for each in loaded_backends() if backend is None else (backend,):
        classes = type(each.engine), each.native_type
        if package in [cls.__module__.partition(".")[0] for cls in classes]:
            return True
    return False


def explained(error: Exception, what: str, backend: Handle | None = None) -> Exception | None:
    """Return the error to raise in place of one, ``None`` where that is clear as it is.

    What the ``backend`` doesn't know as its engine's own, or any backend where none is given, comes through.
    """
    if isinstance(error, RecursionError):
        return ValueError(f"{what} met an argument that contains itself, or is nested too deep")
    text = str(error)
    if (isinstance(error, MemoryError) and not text) or (isinstance(error, ValueError) and _TOO_BIG.match(text)):
        return MemoryError(f"there is no memory for {what}")
    if len(text) > _LONGEST and "\n" in text and type(error) in (TypeError, ValueError, IndexError, OverflowError):
        return type(error)(f"{what}: {text.splitlines()[0][:_LONGEST]}")
    for each in loaded_backends() if backend is None else (backend,):
        kind = each.own_error(error)
        if kind is not None:
            first = next(iter(_NODE.sub("", text).strip().splitlines()), type(error).__name__)
            return kind(f"{each.name} can't do {what}: {first[:_LONGEST]}")
    return None


def explains(what: str) -> Callable[[Function], Function]:
    """Explain what the engine of its first argument refuses in a function; any engine, if that is no array of ours."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def call(x: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return function(x, *args, **kwargs)
            except Exception as error:
                found = explained(error, what, getattr(x, "_backend", None))
                if found is None:
                    raise
                raise found from error

        return call  # type: ignore[return-value]

    return decorate
