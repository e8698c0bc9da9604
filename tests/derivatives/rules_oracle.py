"""The rules of kernels, beside central differences and JAX's derivatives of its own kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.arrays.array import wrap
from unifyarr._core.arrays.ownership import read
from unifyarr._core.engines.handle import Handle
from unifyarr._core.engines.registry import load
from unifyarr.derivatives import rules as rules
from unifyarr.derivatives.rule import RULES, AddedInto, settled
from unifyarr.modes.rule_kernels import Kernels

Values = Sequence[np.ndarray]


def weights(x: np.ndarray) -> np.ndarray:
    """Return a cotangent of a result, so that each element of it counts by itself."""
    found: np.ndarray = np.cos(1 + np.arange(x.size, dtype=float)).reshape(x.shape)
    if x.dtype.kind == "c":
        found = found + 1j * np.sin(2 + 3 * np.arange(x.size)).reshape(x.shape)
    made: np.ndarray = found.astype(x.dtype)
    return made


def active(values: Values) -> list[bool]:
    """Return which operands have a derivative: numbers that aren't integers."""
    return [x.dtype.kind in "fc" for x in values]


def _call(handle: Handle, name: str, natives: Sequence[Any], static: dict[str, Any]) -> Any:
    first, *others = natives
    # Some kernels write into their first operand.
    return handle.kernel(name)(handle.copy(first), *others, **static)


def _cotangents(handle: Handle, name: str, natives: Sequence[Any], gs: Any, static: Any, needs: Sequence[bool]) -> Any:
    """Return a rule's cotangents for natives of any handle, from the shapes and dtypes only if it reads no more."""
    rule, k = RULES[name], Kernels(handle)
    out = _call(handle, name, natives, static)
    several = type(out) is tuple
    if rule.uses is not None:
        operands = [x if place in rule.uses else k.like(x) for place, x in enumerate(natives)]
        if "out" not in rule.uses:
            out = tuple(map(k.like, out)) if several else k.like(out)
    else:
        operands = list(natives)
    found = rule.of_all(k, needs, tuple(gs) if several else gs[0], out, *operands, **static)
    assert len(found) == len(natives), "a cotangent, or None, for each operand"
    made = []
    for x, cotangent, needed in zip(natives, found, needs, strict=True):
        if type(cotangent) is AddedInto:
            cotangent = cotangent.add(k, k.zeros(x))
        if needed:
            made.append(k.zeros(x) if cotangent is None else k.fitted(settled(k, cotangent), x))
    return made


def results(backend: str, name: str, values: Values, static: dict[str, Any]) -> list[np.ndarray]:
    """Return a kernel's results, as NumPy arrays."""
    handle = load(backend)
    found = _call(handle, name, [handle.from_numpy(x) for x in values], static)
    if found is NotImplemented:
        pytest.skip(f"the kernel of {name} on {backend} declines, and the body serves")
    return [np.asarray(handle.to_numpy(x)) for x in (found if type(found) is tuple else (found,))]


def of_rule(
    backend: str, name: str, values: Values, static: dict[str, Any], gs: Any = None, needs: Any = None
) -> list[np.ndarray]:
    """Return the cotangents of the active operands by our rule, on an engine's arrays."""
    handle = load(backend)
    gs = list(map(weights, results(backend, name, values, static))) if gs is None else gs
    natives = [handle.from_numpy(x) for x in values]
    given = [None if g is None else handle.from_numpy(g) for g in gs]
    found = _cotangents(handle, name, natives, given, static, needs or active(values))
    for x, native in zip(values, natives, strict=True):
        np.testing.assert_array_equal(handle.to_numpy(native), x, "a rule wrote into an operand")
    for g, native in zip(gs, given, strict=True):
        if g is not None:
            np.testing.assert_array_equal(handle.to_numpy(native), g, "a rule wrote into the cotangent")
    return [np.asarray(handle.to_numpy(x)) for x in found]


def of_rule_compiled(backend: str, name: str, values: Values, static: dict[str, Any]) -> list[np.ndarray]:
    """Return the same by nodes of a graph."""
    gs = list(map(weights, results(backend, name, values, static)))
    count = len(values)

    def function(*arrays: ua.Array) -> Any:
        handle = arrays[0]._backend
        natives = list(map(read, arrays))
        found = _cotangents(handle, name, natives[:count], natives[count:], static, active(values))
        return tuple(wrap(x, handle) for x in found)

    with ua.use_backend(backend):
        found = ua.compile(function)(*map(ua.asarray, [*values, *gs]))
    return [np.asarray(x.to_numpy()) for x in found]


def by_differences(name: str, values: Values, static: dict[str, Any], backend: str = "numpy") -> list[np.ndarray]:
    """Return the same by central differences: along imaginary parts too, with the sign that JAX has."""
    gs, step = list(map(weights, results(backend, name, values, static))), 1e-6

    def total(place: int, x: np.ndarray) -> float:
        found = results(backend, name, [*values[:place], x, *values[place + 1 :]], static)
        return float(sum(np.sum(g * y).real for g, y in zip(gs, found, strict=True)))

    def slope(place: int, x: np.ndarray, index: Any, by: complex) -> float:
        up, down = np.array(x), np.array(x)
        up[index] += by
        down[index] -= by
        return (total(place, up) - total(place, down)) / (2 * abs(by))

    made = []
    for place, (x, needed) in enumerate(zip(values, active(values), strict=True)):
        if needed:
            gradient = np.zeros_like(x)
            for index in np.ndindex(x.shape):
                gradient[index] = slope(place, x, index, step)
                if x.dtype.kind == "c":
                    gradient[index] -= 1j * slope(place, x, index, 1j * step)
            made.append(gradient)
    return made


def by_jax(name: str, values: Values, static: dict[str, Any], weigh: Any = weights) -> list[np.ndarray]:
    """Return the same by ``jax.vjp`` of the kernel that the JAX backend has."""
    import jax

    handle = load("jax")
    needs, natives = active(values), [handle.from_numpy(x) for x in values]

    def function(*chosen: Any) -> Any:
        left = iter(chosen)
        return handle.kernel(name)(*[next(left) if n else x for n, x in zip(needs, natives, strict=True)], **static)

    found, pullback = jax.vjp(function, *[x for n, x in zip(needs, natives, strict=True) if n])
    gs = [handle.from_numpy(weigh(np.asarray(x))) for x in (found if type(found) is tuple else (found,))]
    return [np.asarray(x) for x in pullback(tuple(gs) if type(found) is tuple else gs[0])]


def assert_close(found: Values, wanted: Values, tolerance: float, message: str = "") -> None:
    """Assert that cotangents are those of another way, beside the greatest of their elements."""
    assert len(found) == len(wanted)
    for mine, other in zip(found, wanted, strict=True):
        assert mine.shape == other.shape, message
        assert mine.dtype == other.dtype, message
        finite = np.abs(other[np.isfinite(other)])
        scale = max(1.0, float(finite.max())) if finite.size else 1.0
        np.testing.assert_allclose(mine, other, rtol=tolerance, atol=tolerance * scale, err_msg=message)
