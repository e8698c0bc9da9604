"""What engines refuse, said in the package's words: their own classes of errors never reach a caller."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Iterable
from traceback import walk_tb
from types import FrameType
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
_CALLED = frozenset(
    {_OURS, "jax", "jaxlib", "keras", "ml_dtypes", "numpy", "opt_einsum", "optree", "scipy", *sys.stdlib_module_names}
)


def _is_own(error: Exception, backend: Handle | None) -> bool:
    """Return whether an error comes from the package, or from an engine: the code that raised it says so."""
    trace = error.__traceback__
    if trace is None:
        return True
    while trace.tb_next is not None:
        trace = trace.tb_next
    return is_own_frame(trace.tb_frame, loaded_backends() if backend is None else (backend,))


def is_own_frame(frame: FrameType, backends: Iterable[Handle]) -> bool:
    """Return whether a frame runs code of the package, of the standard library, or of one of the backends' engines."""
    return is_own_module(str(frame.f_globals.get("__name__")), backends)


def is_own_module(module: str, backends: Iterable[Handle]) -> bool:
    """Return whether a module is the package's, of the standard library, or of one of the backends' engines."""
    package = _package_of(module)
    if package in _CALLED:
        return True
    return any(package in {_package_of(each.__module__) for each in (type(x.engine), x.native_type)} for x in backends)


def _package_of(module: str) -> str:
    return module.partition(".")[0]


def explained(error: Exception, what: str, backend: Handle | None = None) -> Exception | None:
    """Return the error to raise in place of one, ``None`` where that is clear as it is.

    What the ``backend`` doesn't know as its engine's own, or any backend where none is given, comes through.
    """
    if isinstance(error, RecursionError):
        return ValueError(f"{what}: an argument contains itself, or is nested too deep")
    text = str(error)
    if (isinstance(error, MemoryError) and not text) or (isinstance(error, ValueError) and _TOO_BIG.match(text)):
        return MemoryError(f"{what}: there is no memory for the result")
    if len(text) > _LONGEST and "\n" in text and type(error) in (TypeError, ValueError, IndexError, OverflowError):
        return type(error)(f"{what}: {text.splitlines()[0][:_LONGEST]}")
    for each in _at_work(error) if backend is None else (backend,):
        kind = each.own_error(error)
        if kind is not None:
            first = next(iter(_NODE.sub("", text).strip().splitlines()), type(error).__name__)
            return kind(f"{what}: {each.name} can't do this: {first[:_LONGEST]}")
    return None


def _at_work(error: Exception) -> list[Handle]:
    """Return the loaded backends, and first those whose code, or engine's, was running when an error was raised."""
    modules = [str(frame.f_globals.get("__name__")) for frame, _ in walk_tb(error.__traceback__)]

    def was_idle(backend: Handle) -> bool:
        own, engines = type(backend.engine).__module__, (backend.name, _package_of(backend.native_type.__module__))
        return not any(each.startswith(f"{own}.") or _package_of(each) in engines for each in modules)

    return sorted(loaded_backends(), key=was_idle)


def explains(what: str) -> Callable[[Function], Function]:
    """Explain what the engine of its first argument refuses in a function; any engine, if that is no array of ours."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def call(x: object, *args: object, **kwargs: object) -> Any:
            try:
                return function(x, *args, **kwargs)
            except Exception as error:
                found = explained(error, what, getattr(x, "_backend", None))
                if found is None:
                    raise
                raise found from error

        return call  # type: ignore[return-value]

    return decorate
