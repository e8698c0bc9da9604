"""The kernels of a backend, watched or made to fail."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from unifyarr._core.calling.shortcuts import Shortcuts
from unifyarr._core.engines.handle import Handle, declines
from unifyarr._core.engines.registry import load

Kernel = Callable[..., Any]
# These write, after all that can fail.
WRITING = {"set_window", "set_real", "set_imag", "scatter", "put_mask"}


class Injected(Exception):
    """What a kernel raises that was made to fail."""


def _wrapped(handle: Handle, name: str, around: Callable[[str, Kernel], Kernel]) -> Kernel:
    kernel = handle.kernels[name]
    wrapped = functools.wraps(kernel, updated=())(around(name, kernel))
    wrapped.support_native_out = handle.supports_out(kernel)  # type: ignore[attr-defined]
    return wrapped


def leave_shortcuts(patch: pytest.MonkeyPatch) -> None:
    """Have every call run its body, and none learn a shortcut: these hold the kernels of earlier calls."""
    patch.setattr(Shortcuts, "get", lambda self, key: declines)
    # Nothing is served as the last call was, nor kept.
    patch.setattr(Shortcuts, "last", property(lambda self: self._none, lambda self, last: None))


def path_of_call(handle: Handle, name: str) -> str:
    """Return the attribute in which a dispatcher finds the fast path of an operator on plain arrays."""
    return f"fast_at_once_{name}" if handle.large is None else f"fast_{name}"


def leave_fast_paths(handle: Handle, patch: pytest.MonkeyPatch) -> None:
    """Have every fast path of a backend decline: these hold kernels of their own."""
    for path in [each for each in vars(handle) if each.startswith("fast_")]:
        declined = False if path.startswith(("fast_out_", "fast_set_")) else NotImplemented
        patch.setattr(handle, path, lambda *_, declined=declined: declined)


@contextmanager
def around_kernels(backend: str, around: Callable[[str, Kernel], Kernel]) -> Iterator[None]:
    """Wrap every kernel that computes, and keep calls off the fast paths, which hold kernels of their own."""
    handle = load(backend)
    with pytest.MonkeyPatch.context() as patch:
        leave_shortcuts(patch)
        leave_fast_paths(handle, patch)
        for name in handle.kernels.keys() - WRITING:
            patch.setitem(handle.kernels, name, _wrapped(handle, name, around))
        for method in ("from_numpy", "adopt", "from_dlpack", "copy"):
            patch.setattr(handle, method, around(method, getattr(handle, method)))
        yield


@contextmanager
def watched(backend: str) -> Iterator[list[tuple[str, bool]]]:
    """Yield a list of the kernels that are called, each with whether it writes to an ``out`` that it is given."""
    calls: list[tuple[str, bool]] = []

    def around(name: str, kernel: Kernel) -> Kernel:
        def watching(*natives: Any, **static: Any) -> Any:
            result = kernel(*natives, **static)
            calls.append((name, static.get("out") is not None and result is static["out"]))
            return result

        return watching

    with around_kernels(backend, around):
        yield calls


@contextmanager
def failing(backend: str, number: int) -> Iterator[None]:
    """Let the kernel call of that number fail, when it has computed; a kernel writes to ``out`` last of all."""
    count = 0

    def around(name: str, kernel: Kernel) -> Kernel:
        def fails(*natives: Any, **static: Any) -> Any:
            nonlocal count
            count += 1
            if count <= number:
                return kernel(*natives, **static)
            static.pop("out", None)
            kernel(*natives, **static)
            raise Injected(f"{name} was made to fail")

        return fails

    with around_kernels(backend, around):
        yield
