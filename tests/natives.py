"""The engines' own arrays, for tests of conversions."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.testing import has
from unifyarr.testing.abilities import LACKING

from .engines import default_device

# An example that takes derivatives or batches.
TRANSFORMS = re.compile(r"\bua\.(?:\w*grad|vjp|jvp|vmap|jacobian|hessian)\(")


def native(backend: str, values: Any) -> Any:
    """Return the engine's own array: a ``numpy.ndarray``, ``torch.Tensor``, ``jax.Array`` or ``tf.Tensor``."""
    return ua.asarray(np.array(values), backend=backend, copy=True).native


def variable(backend: str, values: Any) -> Any:
    """Return a native array that the engine writes in place: a ``tf.Variable``, a ``jax.Ref``, an array elsewhere."""
    array = native(backend, values)
    if backend == "tensorflow":
        import tensorflow as tf

        return tf.Variable(array)
    if backend == "jax":
        import jax

        return jax.new_ref(array)
    if not has(backend, "writes"):
        pytest.skip(f"{LACKING} variables: {backend}")
    return array


def values_of(array: Any) -> np.ndarray:
    """Return the values of a native array as the engine itself tells them, in memory of their own."""
    if "jax" in sys.modules and isinstance(array, sys.modules["jax"].Ref):
        array = array[...]
    if hasattr(array, "detach"):
        # ``numpy`` takes tensors that record nothing and lie in the host's memory.
        array = array.detach().cpu()
    return np.array(array.numpy() if hasattr(array, "numpy") else array)


@contextmanager
def torch_as_oracle() -> Iterator[None]:
    """A block, or a function, in which torch computes expected values: on the CPU, whatever is under test."""
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    with torch.device("cpu"):
        yield


def has_one_device() -> bool:
    """Return whether the current backend has one device: shortcuts for numbers beside arrays are for such alone."""
    return len(ua.__array_namespace_info__().devices()) == 1


def skip_off_host(backend: str | None, why: str) -> None:
    """Skip a test of memory that the host reads too, where arrays are made in the memory of an accelerator."""
    if not default_device(backend).startswith("cpu"):
        pytest.skip(f"memory of the host: {why}, and arrays are on {default_device(backend)}")


def on_host(why: str) -> pytest.MarkDecorator:
    """Mark a test, or a case of one, that needs arrays in memory that the host reads too, and say what for."""
    return pytest.mark.on_host(why)


def show_values(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute arrays when they are printed, also on a lazy engine: ``tests/backends/dask`` has its own output."""
    if has(backend, "values"):
        return
    why = ua.Array._unshown
    monkeypatch.setattr(ua.Array, "_unshown", lambda x: why(ua.compute(x) if why(x) == "not computed" else x))


# Examples that need an ability of the engine, by their calls.
_NEEDS = {
    "variables": re.compile(r"\bua\.variable\("),
    "shapes": re.compile(r"\btrim_zeros\(|\bnp\.unique\(.*axis"),
    "values": re.compile(r"\bnp\.roots\("),
}


def lacking_for(backend: str, text: str) -> list[str]:
    """Return the abilities that examples need, of those that a backend's engine lacks."""
    return [ability for ability, calls in _NEEDS.items() if calls.search(text) and not has(backend, ability)]


def skip_without_derivatives(backend: str) -> None:
    """Skip a test of derivatives and batches where values aren't known: they are asked for there."""
    if not has(backend, "values"):
        pytest.skip(f"{backend} computes values where they are asked for, which these tests do all along")


def has_variables(backend: str) -> bool:
    """Return whether ``ua.variable`` returns a mutable variable of the engine."""
    return has(backend, "writes") or has(backend, "variables")


def skip_without_variables(backend: str) -> None:
    """Skip a test of mutable variables where the engine has none."""
    if not has_variables(backend):
        pytest.skip(f"{LACKING} variables: {backend}")


def skip_unless(backend: str, *wanted: str, why: str) -> None:
    """Skip a test that means something on some engines only."""
    if backend not in wanted:
        pytest.skip(f"{why}: not on {backend}")


# The engine and the packages that write and run each format of ``ua.export``.
EXPORTS = {"stablehlo": ("jax",), "torch": ("torch",), "onnx": ("torch", "onnx", "onnxscript", "onnxruntime")}


def skip_without_exporters(text: str) -> None:
    """Skip a test of an export format whose engine is left out, or whose packages aren't installed."""
    for to, (engine, *packages) in EXPORTS.items():
        if f'to="{to}"' not in text:
            continue
        missing = [name for name in packages if importlib.util.find_spec(name) is None]
        if engine not in ua.available_backends() or missing:
            pytest.skip(f"export to {to} needs {', '.join(missing) or engine}")
