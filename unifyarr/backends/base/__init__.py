"""The contract of a backend: one class, whose members say what each owes.

A third party's backend subclasses ``Backend``, which is generic in the engine's array::

    from typing import final

    from unifyarr.backends import Backend

    @final
    class CupyBackend(Backend[cupy.ndarray]):
        name = "cupy"
        ...

Abstract members are required: with ``@final`` a type checker reports a missing one. The others have the default that
the rest of the package assumes. ``check.py`` checks all members once, when a backend is loaded. The members are in
groups, a file each: abilities, values, memory, devices, tracing, compiling, transforming, looping, deferring, speed. A
property here may be a class attribute there.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ._native import Native
from .abilities import Ability, every_dtype
from .compiling import Compiling
from .deferring import Deferring
from .host import HostLoops
from .looping import Looping
from .lowering import GraphCompiler
from .speed import Speed
from .tracing import Tracing
from .transforming import Transforming

__all__ = ["MEMBERS", "Ability", "Backend", "GraphCompiler", "HostLoops", "Native"]


class Backend(
    Compiling[Native], Tracing[Native], Transforming[Native], Looping[Native], Deferring[Native], Speed[Native]
):
    """An engine, as the frontend sees it."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the backend, which is that of the engine's module and of the entry point."""

    @property
    @abstractmethod
    def modules(self) -> Sequence[ModuleType]:
        """The modules of kernels.

        A public function of theirs whose name the package knows is the kernel of that name, however it came into the
        module: ``cos = torch.cos`` and ``from torch import cos`` are the same. A public function of another name is an
        error when the backend is loaded, unless it is a helper that was imported from Python's library, from unifyarr
        or from a file of the backend that has no kernels; other helpers have a leading underscore. A name that stands
        for two functions is an error. A kernel that isn't there is a gap: calls that need it raise
        ``BackendFeatureError``. ``unifyarr.backends.kernels`` has a line for a gap that gives the reason.
        """

    def lacks(self, ability: Ability) -> bool:
        """Return whether the engine doesn't have an ability."""
        if ability is Ability.DEVICES:
            return len(self.devices()) == 1
        if ability is Ability.FLOAT64:
            return not self.supports_dtype(np.dtype(np.float64))
        if ability is Ability.DTYPES:
            return not all(map(self.supports_dtype, every_dtype()))
        return not getattr(self, ability.attribute)

    def as_kernel(self, function: Callable[..., Any], module: ModuleType) -> Callable[..., Any]:
        """Return a kernel for a public function of a module of kernels: by default the function itself."""
        return function

    def kernel_of_kind(self, kind: str, name: str, types: Callable[..., Any] | None) -> Callable[..., Any] | None:
        """Return a kernel that no module defines, by its kind; ``None``, the default, for a gap.

        It is for engines that compute all kernels of a kind in one way, such as by another engine on parts of an array.
        ``types`` computes the shapes and dtypes of results from the arrays and the static arguments. Kernels are asked
        for whose batches follow from their kinds too: elementwise ones, those that name their axes by ``axis`` or
        ``axes``, and those of one array of matrices, the last two axes.
        """
        return None


# The names of all members.
MEMBERS = tuple(name for name in dir(Backend) if not name.startswith("_"))
