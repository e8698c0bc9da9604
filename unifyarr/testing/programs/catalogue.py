"""What programs are made of: arrays, views, keys, writes and copies, each meaning the same to NumPy as to us.

The pools are small, since JAX and TensorFlow compile for each shape and dtype.
"""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

import unifyarr as ua

# Sums of two, and products with powers of two, are rounded alike by all engines.
DTYPES = ["float64", "int64", "bool", "complex64", "uint8", "float32", "int8"]
SHAPES = [(4,), (2, 3), (3, 3), (2, 1, 3), (0, 3), ()]
# Views and results beyond are left out.
MAX_RANK, MAX_SIZE = 4, 12

Function = Callable[[ModuleType, Any], Any]
VIEWS: dict[str, Function] = {
    "T": lambda xp, x: x.T,
    "mT": lambda xp, x: x.mT,
    "matrix_transpose": lambda xp, x: xp.matrix_transpose(x),
    "permute_dims (1, 0)": lambda xp, x: xp.permute_dims(x, (1, 0)),
    "permute_dims (2, 0, 1)": lambda xp, x: xp.permute_dims(x, (2, 0, 1)),
    "moveaxis 0 to -1": lambda xp, x: xp.moveaxis(x, 0, -1),
    "moveaxis (0, 1) to (1, 0)": lambda xp, x: xp.moveaxis(x, (0, 1), (1, 0)),
    "swapaxes 0, -1": lambda xp, x: xp.swapaxes(x, 0, -1),
    "expand_dims 0": lambda xp, x: xp.expand_dims(x, axis=0),
    "expand_dims -1": lambda xp, x: xp.expand_dims(x, axis=-1),
    "squeeze": lambda xp, x: xp.squeeze(x),
    "squeeze 0": lambda xp, x: xp.squeeze(x[None, None], axis=0),
    "squeeze -2": lambda xp, x: xp.squeeze(x, axis=-2),
    # Of 0-d arrays, or to 0-d results, these make scalars in NumPy; here they have another axis meanwhile.
    "flip": lambda xp, x: xp.flip(x[..., None])[..., 0],
    "unstack": lambda xp, x: xp.unstack(x[..., None])[0][..., 0],
    "unstack -1": lambda xp, x: xp.unstack(x[None], axis=-1)[-1][0, ...],
    "flip -1": lambda xp, x: xp.flip(x, axis=-1),
    "rot90": lambda xp, x: xp.rot90(x),
    "rot90 twice, other axes": lambda xp, x: xp.rot90(x, 2, axes=(-1, 0)),
    "rot90 back": lambda xp, x: xp.rot90(x, -1),
    "split": lambda xp, x: xp.split(x, 2)[1],
    "split [1] along -1": lambda xp, x: xp.split(x, [1], axis=-1)[1],
    "broadcast_to": lambda xp, x: xp.broadcast_to(x, (2, *x.shape)),
    "broadcast_to (2, 3)": lambda xp, x: xp.broadcast_to(x, (2, 3)),
    "diagonal": lambda xp, x: xp.linalg.diagonal(x),
    "diagonal 1": lambda xp, x: xp.linalg.diagonal(x, offset=1),
    "real": lambda xp, x: xp.real(x),
    "imag": lambda xp, x: xp.imag(x),
    "x.real": lambda xp, x: x.real,
    "x.imag": lambda xp, x: x.imag,
}
# Of these, layout decides whether they are views.
RESHAPES: dict[str, Function] = {
    "ravel": lambda xp, x: x.ravel(),
    "reshape -1": lambda xp, x: xp.reshape(x, (-1,)),
    "reshape (3, -1)": lambda xp, x: xp.reshape(x, (3, -1)),
    "reshape (2, -1)": lambda xp, x: x.reshape(2, -1),
    "reshape to a new axis": lambda xp, x: xp.reshape(x, (*x.shape, 1)),
    "reshape(copy=False)": lambda xp, x: xp.reshape(x, (-1, 1), copy=False),
}

# Items of keys: what doesn't fit an array is an error on both sides.
BASIC: list[Any] = [
    slice(None, None, -1),
    slice(1, None),
    slice(None, -1),
    0,
    -1,
    slice(None, None, 2),
    slice(None),
    Ellipsis,
    None,
    1,
    slice(None, None, -2),
    slice(1, 2),
    slice(2, 0, -1),
    slice(0, 0),
    np.int64(1),
    7,
]
ADVANCED: list[Any] = [
    [0, -1],
    [1, 0],
    np.array([[0], [1]]),
    ([0, 1], [1, 0]),
    (slice(None), [0, -1]),
    ([1, 0], slice(None, None, -1)),
    (Ellipsis, [0, 2]),
    (0, [0, 1]),
    (None, [0]),
    ([0], slice(None), [0]),
    ([0, 1], Ellipsis, [1, 0]),
    (0, Ellipsis, [0, 1], slice(None)),
    [True, False],
    np.array([True, False, True]),
    (slice(None), [True, False, True]),
    (Ellipsis, np.array([True, False, True])),
    True,
    False,
    [],
    [0, 7],
]

SCALARS: list[Any] = [0, 1, -3, 2.5, True, 1 + 2j]
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "&=": operator.iand,
    "|=": operator.ior,
    "^=": operator.ixor,
}
FACTORS: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "*= -1": (operator.imul, -1),
    "*= 2": (operator.imul, 2),
    "*= 0.5": (operator.imul, 0.5),
    "*= False": (operator.imul, False),
    "/= 2": (operator.itruediv, 2),
    "//= 2": (operator.ifloordiv, 2),
    "%= 3": (operator.imod, 3),
    "<<= 1": (operator.ilshift, 1),
    ">>= 1": (operator.irshift, 1),
    "**= 1": (operator.ipow, 1),
}
UFUNCS = ["add", "subtract", "maximum", "minimum", "logical_or", "less", "not_equal"]

# Functions of two arrays, whose results programs write by ``out=``: each only moves, picks or compares elements.
COMPUTED: dict[str, Callable[..., Any]] = {
    "flip": lambda xp, x, y, **out: xp.flip(x, **out),
    "permute_dims": lambda xp, x, y, **out: xp.permute_dims(x, (1, 0), **out),
    "expand_dims": lambda xp, x, y, **out: xp.expand_dims(x, axis=0, **out),
    "reshape": lambda xp, x, y, **out: xp.reshape(x, (-1,), **out),
    "broadcast_to": lambda xp, x, y, **out: xp.broadcast_to(x, (2, 3), **out),
    "diagonal": lambda xp, x, y, **out: xp.linalg.diagonal(x, **out),
    "real": lambda xp, x, y, **out: xp.real(x, **out),
    "roll": lambda xp, x, y, **out: xp.roll(x, 1, axis=-1, **out),
    "concat": lambda xp, x, y, **out: xp.concat([x, y], axis=0, **out),
    "stack": lambda xp, x, y, **out: xp.stack([x, y], axis=-1, **out),
    "take": lambda xp, x, y, **out: xp.take(x, xp.asarray([1, 0]), axis=0, **out),
    "where": lambda xp, x, y, **out: xp.where(xp.not_equal(x, y), x, y, **out),
    "any": lambda xp, x, y, **out: xp.any(x[None], axis=0, **out),
    "count_nonzero": lambda xp, x, y, **out: xp.count_nonzero(x[None], axis=-1, **out),
    "tril": lambda xp, x, y, **out: xp.tril(x[None, None], **out),
}

# What is independent of the array it comes from.
COPIES: dict[str, Function] = {
    "copy()": lambda xp, x: x.copy(),
    "copy.copy": lambda xp, x: copy.copy(x),
    "deepcopy": lambda xp, x: copy.deepcopy(x),
    "pickle": lambda xp, x: pickle.loads(pickle.dumps(x)),
    "asarray(copy=True)": lambda xp, x: xp.asarray(x, copy=True),
    "astype": lambda xp, x: x.astype(x.dtype),
    "reshape(copy=True)": lambda xp, x: xp.reshape(x, x.shape, copy=True),
    "positive": lambda xp, x: xp.positive(x) if x.dtype != bool else x.copy(),
    "logical_or": lambda xp, x: xp.logical_or(x, x),
    "add 0": lambda xp, x: x + False,
    "where": lambda xp, x: xp.where(True, x, x),
    "concat": lambda xp, x: xp.concat([x], axis=0),
    "roll by 0": lambda xp, x: xp.roll(x, 0),
    "roll back along -1": lambda xp, x: xp.roll(x, -1, axis=-1),
    "roll (1, -4) along (0, -1)": lambda xp, x: xp.roll(x, (1, -4), axis=(0, -1)),
    "flatten": lambda xp, x: x.flatten(),
    "broadcast_to, copied": lambda xp, x: xp.broadcast_to(x, x.shape).copy(),
}
# What is the array itself, where NumPy may say so or make a view.
SELVES: dict[str, Callable[[ua.Array], ua.Array]] = {
    "asarray": ua.asarray,
    "asarray(copy=False)": lambda x: ua.asarray(x, copy=False),
    "astype(copy=False)": lambda x: ua.astype(x, x.dtype, copy=False),
    "to_device": lambda x: x.to_device(x.device),
    "to_backend": lambda x: x.to_backend(x.backend),
}
