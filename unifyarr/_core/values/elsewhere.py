"""Attributes of other libraries' arrays. Reading one raises an error that names what to write here."""

from __future__ import annotations

from typing import NoReturn

_CAST = "x.astype(dtype)"
_GRADIENT = "ua.grad(function), or what the engine has of it, x.native.{name}"
_IN_PLACE = "x += y and the like, or x[...] = value"

# What to write in its place, by name.
WAYS: dict[str, str] = {
    # torch's, JAX's and TensorFlow's
    **dict.fromkeys(("requires_grad", "grad", "backward", "retain_grad"), _GRADIENT),
    **dict.fromkeys(("add_", "sub_", "mul_", "div_", "zero_", "fill_", "copy_", "clamp_"), _IN_PLACE),
    **dict.fromkeys(("assign", "assign_add", "assign_sub", "at", "itemset"), "x[key] = value, or x[key] += value"),
    **dict.fromkeys(("float", "double", "half", "long", "type"), _CAST),
    "addressable_shards": "x.native.addressable_shards",
    "block_until_ready": "x.native.block_until_ready()",
    "clamp": "x.clip(min, max)",
    "clone": "x.copy()",
    "contiguous": "x.copy()",
    "cpu": 'x.to_device("cpu")',
    "cuda": 'x.to_device("gpu:0")',
    "detach": "ua.stop_gradient(x), or x.native.detach()",
    "devices": "x.device",
    "dim": "x.ndim",
    "get_shape": "x.shape",
    "numel": "x.size",
    "numpy": "x.to_numpy(), or np.asarray(x), which shares memory where it can",
    "permute": "x.transpose(axes)",
    "to": "x.to_device(device), x.astype(dtype) or x.to_backend(name)",
    "unsqueeze": "ua.expand_dims(x, axis)",
    "values": "x.native, or x.to_numpy()",
    # NumPy's
    **dict.fromkeys(("ctypes", "tofile", "dump", "dumps", "byteswap", "getfield"), "np.asarray(x).{name}"),
    "newbyteorder": "x.astype(dtype): arrays have the byte order of the machine",
    "ptp": "ua.max(x) - ua.min(x)",
    "setfield": "x[...] = value",
}

# Parameters of other libraries' functions: what a function here may call them.
KEYWORDS: dict[str, tuple[str, ...]] = {
    "a": ("x",),
    "arr": ("x",),
    "array": ("x",),
    "axes": ("axis",),
    "axis": ("axes",),
    "bias": ("correction",),
    "ddof": ("correction",),
    "dim": ("axis", "axes"),
    "dims": ("axis", "axes"),
    "input": ("x", "x1"),
    "keep_dims": ("keepdims",),
    "keepdim": ("keepdims",),
    "lower": ("upper",),
    "newshape": ("shape",),
    "other": ("x2",),
    "size": ("shape",),
    "unbiased": ("correction",),
    "upper": ("lower",),
}


class Elsewhere:
    """An attribute that isn't there, and says where to look. ``hasattr`` says no, of the class too."""

    def __init__(self, name: str, way: str) -> None:
        self.name, self.way = name, way.format(name=name)

    def __get__(self, array: object, cls: type) -> NoReturn:
        raise AttributeError(f"an Array has no {self.name!r}: write {self.way}", name=self.name, obj=array)


def point_elsewhere(cls: type) -> None:
    """Give a class these attributes, which raise errors that say where to look.

    A ``__getattr__`` would make reading every attribute slow.
    """
    for name, way in WAYS.items():
        if not hasattr(cls, name):
            setattr(cls, name, Elsewhere(name, way))
