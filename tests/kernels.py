"""The kernels of a backend, watched or made to fail."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from unifyarr._core.calling.shortcuts import Shortcuts
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._core.engines.handle import Handle, declines
from unifyarr._core.engines.registry import load
from unifyarr._native import core

Kernel = Callable[..., Any]
# Called with the name of a kernel, the kernel and its arguments.
Around = Callable[[str, Kernel, tuple[Any, ...], dict[str, Any]], Any]
# These write, after all that can fail.
WRITING = {"set_window", "set_real", "set_imag", "scatter", "put_mask"}


class Injected(Exception):
    """The error of a kernel that was made to fail."""


def skip_without_core() -> None:
    """Skip a test of the compiled core."""
    if core is None:
        pytest.skip("the compiled core does plain calls, and isn't there")


class _Switch(dict[str, bool]):
    """A switch for the compiled core's cache of known calls, as an item that a test can patch and restore."""

    def __setitem__(self, key: str, value: bool) -> None:
        super().__setitem__(key, value)
        if core is not None:
            core.keep_calls(value)


_SWITCH = _Switch(keeps=True)


def leave_shortcuts(patch: pytest.MonkeyPatch) -> None:
    """Have every call run its body, and none learn a shortcut: these hold the kernels of earlier calls."""
    patch.setattr(Shortcuts, "get", lambda self, key, default=None: declines)
    patch.setitem(_SWITCH, "keeps", False)


def replace_plain_call(patch: pytest.MonkeyPatch, handle: Handle, name: str, compute: Kernel) -> None:
    """Have a function compute plain calls of arrays; without the compiled core there's nothing that it replaces."""
    if core is not None:
        nothing = ({},) * 6
        rest = compute, None, None, None, None, None
        patch.setitem(handle.plain, name, core.PlainCall(handle, nothing, rest, None, None, None, None, False))


@contextmanager
def without_plain_calls(handle: Handle) -> Iterator[None]:
    """Have every plain call of a backend, and its own ways for items, leave calls to others: these hold kernels."""
    items, plain = dict(handle.items), dict(handle.plain)
    handle.items.update({name: _fails if name == "set_item" else _declines for name in items})
    handle.plain.update(dict.fromkeys(DECLARATIONS, declines))
    try:
        yield
    finally:
        handle.items.update(items)
        handle.plain.clear()
        handle.plain.update(plain)


def _fails(*arguments: Any) -> bool:
    return False


def _declines(*arguments: Any) -> Any:
    return NotImplemented


class _Watched:
    """The kernels of a backend, wrapped once: their side effects change from test to test."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle
        self.around: Around | None = None
        self._wrapped: dict[str, tuple[Kernel, Kernel]] = {}

    def _of(self, name: str, kernel: Kernel, *, is_kernel: bool) -> Kernel:
        known = self._wrapped.get(name)
        if known is not None and known[0] is kernel:
            return known[1]

        def watched(*natives: Any, **static: Any) -> Any:
            # A function that was compiled meanwhile keeps this one.
            return kernel(*natives, **static) if self.around is None else self.around(name, kernel, natives, static)

        if is_kernel:
            functools.update_wrapper(watched, kernel, updated=())
            watched.support_native_out = self.handle.supports_out(kernel)  # type: ignore[attr-defined]
            self._wrapped[name] = kernel, watched
        return watched

    @contextmanager
    def doing(self, around: Around) -> Iterator[None]:
        """Call a function in place of each kernel that computes, off plain calls and shortcuts."""
        handle, kernels = self.handle, self.handle.kernels
        own = {name: kernels[name] for name in kernels.keys() - WRITING}
        before, self.around = self.around, around
        with pytest.MonkeyPatch.context() as patch, without_plain_calls(handle):
            leave_shortcuts(patch)
            for method in ("from_numpy", "adopt", "computed", "constant", "from_dlpack", "copy"):
                patch.setattr(handle, method, self._of(method, getattr(handle, method), is_kernel=False))
            kernels.update({name: self._of(name, kernel, is_kernel=True) for name, kernel in own.items()})
            try:
                yield
            finally:
                kernels.update(own)
                self.around = before


@functools.cache
def _watching(backend: str) -> _Watched:
    return _Watched(load(backend))


@contextmanager
def watched(backend: str) -> Iterator[list[tuple[str, bool]]]:
    """Yield a list of the kernels that are called, each with whether it writes to an ``out`` that it is given."""
    calls: list[tuple[str, bool]] = []

    def around(name: str, kernel: Kernel, natives: tuple[Any, ...], static: dict[str, Any]) -> Any:
        result = kernel(*natives, **static)
        calls.append((name, static.get("out") is not None and result is static["out"]))
        return result

    with _watching(backend).doing(around):
        yield calls


@contextmanager
def failing(backend: str, number: int) -> Iterator[None]:
    """Let the kernel call of that number fail, when it has computed; a kernel writes to ``out`` last of all."""
    count = 0

    def around(name: str, kernel: Kernel, natives: tuple[Any, ...], static: dict[str, Any]) -> Any:
        nonlocal count
        count += 1
        if count <= number:
            return kernel(*natives, **static)
        static.pop("out", None)
        kernel(*natives, **static)
        raise Injected(f"{name} was made to fail")

    with _watching(backend).doing(around):
        yield


def calling(backend: str, around: Around) -> AbstractContextManager[None]:
    """Call a function in place of each kernel that computes."""
    return _watching(backend).doing(around)
