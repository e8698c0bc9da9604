"""Which kernels a backend has: the public names of its modules that the package knows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from ...backends.base import Backend
from ..kernels.moving import METHODS
from ..kernels.record import KERNELS, Batch, Derivative

Kernel = Callable[..., Any]

# Callables that are no functions: what annotations are made of.
_TYPES = frozenset({"typing", "types", "collections.abc"})


def known_kernels() -> frozenset[str]:
    """Return the names of all kernels that the package calls."""
    return frozenset(KERNELS.keys() - METHODS)


def kernels_of(engine: Backend[Any]) -> dict[str, Kernel]:
    """Return the kernels of a backend by name."""
    known = known_kernels()
    found = {
        name: engine.as_kernel(function, module)
        for module in engine.modules
        for name, function in _public(module)
        if name in known
    }
    for name in sorted(known - found.keys()):
        record = KERNELS[name]
        # What the body of a function computes by other kernels is no gap.
        if record.batch is Batch.KIND and record.derivative is not Derivative.BODY:
            kernel = engine.kernel_of_kind(record.kind.name, name, record.types)
            if kernel is not None:
                found[name] = kernel
    return found


def bound(kernel: Callable[..., object], static: Mapping[str, object]) -> Callable[..., object]:
    """Return a kernel with its static arguments, prepared for them where it knows how."""
    bind = getattr(kernel, "bind", None)
    return partial(kernel, **static) if bind is None else bind(**static)


def kernel_problems(modules: Sequence[ModuleType]) -> Iterator[str]:
    """Yield in words what is wrong with modules of kernels: names that nothing calls, and names of two kernels."""
    known = known_kernels()
    found: dict[str, tuple[ModuleType, Kernel]] = {}
    for module in modules:
        for name, function in _public(module):
            first, other = found.setdefault(name, (module, function))
            if name not in known:
                if not _is_imported(name, function, module, modules):
                    yield (
                        f"{module.__name__} has a public {name}, which is no kernel that unifyarr "
                        f"knows: if it is a helper, name it _{name}"
                    )
            elif other is not function:
                yield f"{name} is defined twice, in {first.__name__} and in {module.__name__}"


def _public(module: ModuleType) -> Iterator[tuple[str, Kernel]]:
    for name, value in vars(module).items():
        if callable(value) and not name.startswith("_"):
            kind = type(value)
            if not issubclass(kind, type) and kind.__module__ not in _TYPES:
                yield name, value


def _is_imported(name: str, function: Kernel, module: ModuleType, modules: Sequence[ModuleType]) -> bool:
    """Return whether an unknown name is a helper that an import line brought: from Python, from us, from the package.

    A function of the engine isn't: it's a kernel by a name that isn't ours.
    """
    source = sys.modules.get(getattr(function, "__module__", None) or "")
    if source is None or source in modules or getattr(source, name, None) is not function:
        return False
    root = source.__name__.partition(".")[0]
    return root in sys.stdlib_module_names or root in ("unifyarr", module.__name__.partition(".")[0])
