"""Natives that aren't plain dense arrays of the package's dtypes, by engine."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

Make = Callable[[], Any]


class Subclass(np.ndarray):
    """A subclass of ``ndarray`` that changes nothing."""


def _read_only() -> np.ndarray:
    array = np.ones(3)
    array.flags.writeable = False
    return array


def _misaligned() -> np.ndarray:
    return np.zeros(25, "u1")[1:].view("f8")


def _self_containing() -> np.ndarray:
    array = np.empty(2, object)
    array[0] = array
    array[1] = 1.0
    return array


def _matrix() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.matrix([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


_NUMPY: dict[str, Make] = {
    **{f"NumPy's {dtype}": functools.partial(np.ones, (2, 3), dtype) for dtype in ("f8", "i8", "?", "c16", "f2")},
    "big-endian": lambda: np.ones((2, 3), ">f8"),
    "big-endian integers": lambda: np.ones(3, ">i4"),
    "longdouble": lambda: np.ones((2, 3), np.longdouble),
    "objects": lambda: np.array([1, 2.5, None], object),
    "an object array that contains itself": _self_containing,
    "structured": lambda: np.zeros(3, [("a", "i4"), ("b", "f8")]),
    "datetimes": lambda: np.array(["2026-01-01", "NaT"], "M8[D]"),
    "timedeltas": lambda: np.array([1, 2, 3], "m8[s]"),
    "strings": lambda: np.array(["a", "bc"]),
    "bytes": lambda: np.array([b"a", b"bc"]),
    "variable-width strings": lambda: np.array(["a", "bc"], np.dtypes.StringDType()),
    "void": lambda: np.zeros(3, "V5"),
    "read-only": _read_only,
    "misaligned": _misaligned,
    "negative strides": lambda: np.ones((2, 3))[::-1, ::-1],
    "zero strides": lambda: np.broadcast_to(np.ones(3), (2, 3)),
    "np.matrix": _matrix,
    "masked": lambda: np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False]),
    "a subclass of ndarray": lambda: np.ones(3).view(Subclass),
    "a record array": lambda: np.zeros(3, [("a", "i4")]).view(np.recarray),
}


def _torch() -> dict[str, Make]:
    torch = importlib.import_module("torch")

    def silently(make: Make) -> Make:
        def made() -> Any:
            with warnings.catch_warnings():
                # torch warns that sparse and nested tensors are in beta.
                warnings.simplefilter("ignore")
                return make()

        return made

    natives: dict[str, Make] = {
        "a tensor": lambda: torch.ones((2, 3), dtype=torch.float64),
        "a sparse COO tensor": lambda: torch.eye(3, dtype=torch.float64, device="cpu").to_sparse(),
        "a sparse CSR tensor": lambda: torch.eye(3, dtype=torch.float64, device="cpu").to_sparse_csr(),
        "a nested tensor": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
        "a jagged tensor": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
        "a quantised tensor": lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8),
        "an mkldnn tensor": lambda: torch.ones((2, 3), device="cpu").to_mkldnn(),
        "a meta tensor": lambda: torch.ones((2, 3), device="meta", dtype=torch.float64),
        "a leaf that requires grad": lambda: torch.ones((2, 3), dtype=torch.float64, requires_grad=True),
        "a result that requires grad": lambda: torch.ones((2, 3), dtype=torch.float64, requires_grad=True) * 2,
        "a conjugated view": lambda: torch.ones((2, 3), dtype=torch.complex128).conj(),
        "a negated view": lambda: torch.ones((2, 3), dtype=torch.complex128).conj().imag,
        "an expanded tensor": lambda: torch.ones(3, dtype=torch.float64).expand(2, 3),
        "a tensor of float8": lambda: torch.ones(3).to(torch.float8_e4m3fn),
        "a tensor of complex32": lambda: torch.ones(3).to(torch.complex32),
        "a parameter": lambda: torch.nn.Parameter(torch.ones((2, 3), dtype=torch.float64)),
        "a torch.Size": lambda: torch.Size([2, 3]),
        "a torch.dtype": lambda: torch.float32,
        "a torch.device": lambda: torch.device("meta"),
    }
    return {name: silently(make) for name, make in natives.items()}


def _tensorflow() -> dict[str, Make]:
    tf = importlib.import_module("tensorflow")
    return {
        "a tensor": lambda: tf.ones((2, 3), tf.float64),
        "a ragged tensor": lambda: tf.ragged.constant([[1.0, 2.0], [3.0]]),
        "a sparse tensor": lambda: tf.sparse.eye(3),
        "a string tensor": lambda: tf.constant(["a", "b"]),
        "a variant tensor": lambda: tf.data.Dataset.range(3)._variant_tensor,
        "a resource tensor": lambda: tf.Variable([1.0]).handle,
        "a quantised tensor": lambda: tf.cast(tf.constant([1, 2]), tf.qint8),
        "a tensor of float8": lambda: tf.cast(tf.constant([1.0]), tf.dtypes.experimental.float8_e5m2),
        "slices": lambda: tf.IndexedSlices(tf.ones((2, 3)), tf.constant([0, 1])),
        "a variable": lambda: tf.Variable(tf.ones((2, 3), tf.float64)),
        "a variable of strings": lambda: tf.Variable(["a"]),
        "a variable of any shape": lambda: tf.Variable(tf.ones((2, 3)), shape=tf.TensorShape(None)),
        "a TensorShape": lambda: tf.TensorShape([2, 3]),
        "an unknown TensorShape": lambda: tf.TensorShape(None),
        "a TensorArray": lambda: tf.TensorArray(tf.float32, 2),
        "a tf.DType": lambda: tf.string,
    }


def _jax() -> dict[str, Make]:
    jax = importlib.import_module("jax")

    def deleted() -> Any:
        array = jax.numpy.ones((2, 3))
        array.delete()
        return array

    return {
        "a jax.Array": lambda: jax.numpy.ones((2, 3)),
        "keys": lambda: jax.random.key(0),
        "a deleted array": deleted,
        "a ShapeDtypeStruct": lambda: jax.ShapeDtypeStruct((2, 3), np.float32),
        "a reference": lambda: jax.new_ref(jax.numpy.ones((2, 3))),
        "a float8 without zero": lambda: jax.numpy.ones(3, "float8_e8m0fnu"),
        "int2": lambda: jax.numpy.ones(3, "int2"),
        "a jax.Device": lambda: jax.devices()[0],
        "a float0 array": lambda: np.zeros(3, jax.dtypes.float0),
    }


class _ByBackend(dict[str, dict[str, Make]]):
    """Natives by backend; an engine is imported for its own only."""

    def __missing__(self, backend: str) -> dict[str, Make]:
        made = self[backend] = {"torch": _torch, "tensorflow": _tensorflow, "jax": _jax}.get(backend, dict)()
        return made


NATIVES = _ByBackend(numpy=_NUMPY)
