"""One mutable array over NumPy, PyTorch, JAX and TensorFlow.

>>> import unifyarr as ua
>>> x = ua.zeros(4)
>>> y = x[1:3]
>>> y += 1
>>> x
array([0., 1., 1., 0.])
"""

from __future__ import annotations

from sys import modules as _modules
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import errors, functions, typing
from ._clients import tell_clients as _tell_clients
from ._core.arrays import array as _array
from ._core.arrays.array import Array
from ._core.arrays.printing import get_printoptions, printoptions, set_printoptions
from ._core.engines.current import set_backend, use_backend
from ._core.engines.dtypes import (  # fmt: skip
    bfloat16,
    bool,
    complex64,
    complex128,
    float8_e3m4,
    float8_e4m3,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float16,
    float32,
    float64,
    int4,
    int8,
    int16,
    int32,
    int64,
    uint4,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ._core.engines.registry import available_backends
from ._core.values.called import boundary as _boundary
from ._version import __version__
from .container import tree as _tree
from .container.container import Container
from .functions import *  # noqa: F403
from .functions.backends import array_namespace, current_backend, shard, to_backend
from .functions.constants import e, inf, nan, newaxis, pi

# It has bodies of methods of an array.
from .functions.deferring import compute, from_zarr, persist, using_chunks
from .functions.inplace import (
    assert_supports_inplace,
    inplace_arrays_supported,
    inplace_decrement,
    inplace_increment,
    inplace_update,
    inplace_variables_supported,
    put_along_axis,
    supports_inplace_updates,
    variable,
)
from .modes.debug import debug

if _TYPE_CHECKING:
    from .functions.inspection import Info

# Pickles of version 0.1 name these modules, which are found without being attributes: ``array`` is the function.
_modules[f"{__name__}.array"] = _array
_modules[f"{__name__}._tree"] = _tree
_tell_clients()

__array_api_version__ = "2025.12"

# Names that are imported when first used, so that ``import unifyarr`` stays fast: name -> module.
_LATER = {
    **{module: module for module in ("fft", "graph", "linalg", "nn", "on", "optim", "random", "signal", "special")},
    "compile": "graph.compiling",
    "export": "graph.formats",
    "get_num_threads": "graph.fusion.threads",
    "op": "_core.declaring.op",
    "portable": "_portable",
    "set_num_threads": "graph.fusion.threads",
    "show_versions": "_versions",
    **dict.fromkeys(
        ("associative_scan", "check", "cond", "debug_print", "fori_loop", "map", "scan", "switch", "while_loop"),
        "control",
    ),
    **dict.fromkeys(("checkpoint", "custom_jvp", "custom_vjp", "grad", "hessian", "hvp"), "transformations"),
    **dict.fromkeys(("jacobian", "jvp", "linearize", "value_and_grad", "vjp", "vmap"), "transformations"),
}
# NumPy's names that xarray asks an array's own namespace for.
_HIDDEN = dict.fromkeys(("cumprod", "cumsum", "lib"), "numpy")


def __getattr__(name: str) -> _Any:
    from importlib import import_module

    where = _LATER.get(name) or _HIDDEN.get(name)
    if where is None:
        from ._core.values.missing import missing

        raise missing(__name__, name)
    module = import_module(f".{where}", __name__)
    found = globals()[name] = module if where == name else getattr(module, name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


@_boundary
def __array_namespace_info__() -> Info:
    """Return properties of the current backend: capabilities, devices, dtypes and defaults.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.__array_namespace_info__().default_dtypes()["integral"]
    unifyarr.int64
    """
    from ._core.engines.current import current
    from .functions.inspection import Info

    return Info(current())


# Everything imported here is public, apart from modules, of which two are.
_names = {name for name, value in globals().items() if name[0] != "_" and not isinstance(value, _ModuleType)}
_dunders = ("__array_api_version__", "__array_namespace_info__", "__version__")
__all__ = sorted({*_names, *_LATER, *_dunders, "errors", "typing"} - {"annotations"})
