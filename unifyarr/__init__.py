"""One mutable array over NumPy, PyTorch, JAX and TensorFlow.

>>> import unifyarr as ua
>>> x = ua.zeros(4)
>>> y = x[1:3]
>>> y += 1
>>> x
array([0., 1., 1., 0.])
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import errors, fft, functions, linalg, nn, typing
from ._core.debugging import debug
from ._core.dtypes import (
    bfloat16,
    bool,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)  # fmt: skip
from ._core.op import op
from ._core.selection import available_backends, set_backend, use_backend
from ._info import Info
from ._inplace_api import (
    assert_supports_inplace,
    inplace_arrays_supported,
    inplace_decrement,
    inplace_increment,
    inplace_update,
    inplace_variables_supported,
    supports_inplace_updates,
    variable,
)
from ._selection_api import current_backend, to_backend
from .array import Array
from .container import Container
from .functions import *  # noqa: F403
from .functions.constants import e, inf, nan, newaxis, pi

if _TYPE_CHECKING:
    from . import graph, random
    from .graph.compile import compile
    from .transformations import grad, hessian, jacobian, jvp, value_and_grad, vjp, vmap

__version__ = "0.1.0"
__array_api_version__ = "2025.12"

__all__ = [
    "Array",
    "Container",
    "__array_api_version__",
    "__array_namespace_info__",
    "__version__",
    "assert_supports_inplace",
    "available_backends",
    "bfloat16",
    "bool",
    "compile",
    "complex64",
    "complex128",
    "current_backend",
    "debug",
    "e",
    "errors",
    "fft",
    "float16",
    "float32",
    "float64",
    "grad",
    "graph",
    "hessian",
    "inf",
    "inplace_arrays_supported",
    "inplace_decrement",
    "inplace_increment",
    "inplace_update",
    "inplace_variables_supported",
    "int8",
    "int16",
    "int32",
    "int64",
    "jacobian",
    "jvp",
    "linalg",
    "nan",
    "newaxis",
    "nn",
    "op",
    "pi",
    "random",
    "set_backend",
    "supports_inplace_updates",
    "to_backend",
    "typing",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "use_backend",
    "value_and_grad",
    "variable",
    "vjp",
    "vmap",
]
# Every function, which its category's file declares and ``functions`` exports.
__all__ += functions.__all__

# What is loaded when it's asked for: who computes without it needn't wait for it. Modules, and what is in them.
_LATER = {
    "compile": "graph.compile",
    "graph": "graph",
    "random": "random",
    **dict.fromkeys(("grad", "hessian", "jacobian", "jvp", "value_and_grad", "vjp", "vmap"), "transformations"),
}


def __getattr__(name: str) -> _Any:
    from importlib import import_module

    where = _LATER.get(name)
    if where is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f".{where}", __name__)
    found = globals()[name] = module if where == name else getattr(module, name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


def __array_namespace_info__() -> Info:
    """Return what the current backend offers: capabilities, devices, dtypes and defaults.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.__array_namespace_info__().default_dtypes()["integral"]
    unifyarr.int64
    """
    from ._core.selection import current

    return Info(current())
