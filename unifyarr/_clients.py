"""Registration of our arrays with other libraries, when both are loaded, in whichever order.

einops and torch's data loaders dispatch by the type of an array. A library that isn't loaded is never imported:
registration waits for it. pandas and SciPy's optimizers have no dispatch: they keep the results of NumPy's functions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from . import functions
from ._core.arrays.array import Array
from ._core.calling.numpy_protocols import know_keeper
from ._core.engines import dtypes

# einops looks for the subclasses of a class, which that refers to weakly.
_kept: list[type] = []


def _tell_einops(einops: ModuleType) -> None:
    class Backend(einops.AbstractBackend):  # type: ignore[misc, name-defined]
        """einops' functions on our arrays."""

        framework_name = "unifyarr"

        def is_appropriate_type(self, tensor: object) -> bool:
            return isinstance(tensor, Array)

        def from_numpy(self, x: Any) -> Array:
            made: Array = functions.asarray(x)
            return made

        def to_numpy(self, x: Array) -> Any:
            return x.to_numpy()

        def arange(self, start: int, stop: int) -> Array:
            return functions.arange(start, stop)

        def reduce(self, x: Array, operation: str, axes: Sequence[int]) -> Array:
            reduced: Array = getattr(functions, operation)(x, axis=tuple(axes))
            return reduced

        def stack_on_zeroth_dimension(self, tensors: list[Array]) -> Array:
            return functions.stack(tensors)

        def add_axis(self, x: Array, new_position: int) -> Array:
            return functions.expand_dims(x, axis=new_position)

        def tile(self, x: Array, repeats: Sequence[int]) -> Array:
            return functions.tile(x, tuple(repeats))

        def concat(self, tensors: list[Array], axis: int) -> Array:
            return functions.concat(tensors, axis=axis)

        def is_float_type(self, x: Array) -> bool:
            return dtypes.rank(x.dtype) == 2

        def einsum(self, pattern: str, *x: Array) -> Array:
            return functions.einsum(pattern, *x)

    _kept.append(Backend)


def _tell_collate(collate: ModuleType) -> None:
    def collate_array_fn(batch: list[Array], *, collate_fn_map: object = None) -> Array:
        """Stack the arrays of a batch along a new first axis: an array of their backend."""
        return functions.stack(batch)

    collate.default_collate_fn_map[Array] = collate_array_fn


def _tell_of_keeper(package: ModuleType) -> None:
    know_keeper(package.__name__)


# Module -> the function to call when it has been loaded.
CLIENTS: dict[str, Callable[[ModuleType], None]] = {
    "einops._backends": _tell_einops,
    "pandas": _tell_of_keeper,
    # Its routines in C take gradients and Jacobians that NumPy's functions have been over.
    "scipy.optimize": _tell_of_keeper,
    "torch.utils.data._utils.collate": _tell_collate,
}


class _Waiting:
    """A finder of modules that finds none of its own, and has clients told once they are loaded."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        tell = CLIENTS.get(name)
        if tell is None:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                load(module)
                tell(module)

            # The loader stays unchanged for other uses.
            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def tell_clients() -> None:
    """Have the clients that are loaded told, and wait for the others."""
    for name, tell in CLIENTS.items():
        loaded = sys.modules.get(name)
        if loaded is not None:
            tell(loaded)
    sys.meta_path.insert(0, _Waiting())
