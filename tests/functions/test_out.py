"""``out=`` of every function that takes it: accepted arrays, refused ones, and that a refusal changes nothing."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.testing import has

from ..natives import skip_unless, variable
from ..oracle import as_numpy, assert_raises, assert_same
from .calls import CALLS, NARROWER, PUBLIC, REFUSED, SEVERAL, UNSET, WIDER, find, lift, prepared


def test_every_function_that_takes_out_is_tested_here() -> None:
    taking = {name for name in PUBLIC if "out" in inspect.signature(find(name)).parameters}
    assert taking - SEVERAL.keys() == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_out_is_written_and_returned(backend: str, name: str) -> None:
    function, arguments, options, expected = prepared(name)
    for dtype in (expected.dtype.name, WIDER[expected.dtype.name], NARROWER[expected.dtype.name]):
        out = ua.full(expected.shape, True, dtype=dtype)
        result = function(*arguments, **options, out=out)
        assert result is out, dtype
        if name not in UNSET:
            assert_same(out, expected.astype(dtype), signed_zeros=False, what=(name, "to", dtype))


@pytest.mark.parametrize("step", [2, -2])
@pytest.mark.parametrize("name", CALLS)
def test_out_may_be_a_view(backend: str, name: str, step: int) -> None:
    function, arguments, options, expected = prepared(name)
    shape = tuple(2 * length + 1 for length in expected.shape) or (3,)
    key = tuple(slice(1, None, 2) if step > 0 else slice(-2, None, -2) for _ in expected.shape) or (1, ...)
    base = ua.full(shape, True, dtype=expected.dtype)
    before = np.ones(shape, expected.dtype)
    out = base[key]
    assert function(*arguments, **options, out=out) is out
    if name not in UNSET:
        before[key] = expected
        assert_same(base, before, signed_zeros=False)
        assert_same(out, expected, signed_zeros=False)


@pytest.mark.parametrize("name", CALLS)
def test_an_out_that_doesnt_fit_raises_and_is_left_as_it_was(backend: str, name: str) -> None:
    function, arguments, options, expected = prepared(name)
    shape, dtype = expected.shape, expected.dtype
    for other in ((*shape, 1), (1, *shape), (*shape[:-1], shape[-1] + 1) if shape else (2,)):
        out = ua.full(other, True, dtype=dtype)
        assert_raises(ua.errors.ShapeError, function, *arguments, **options, out=out)
    if dtype.name in REFUSED:
        out = ua.full(shape, True, dtype=REFUSED[dtype.name])
        assert_raises(ua.errors.CastingError, function, *arguments, **options, out=out)
    base = ua.full((), True, dtype=dtype)
    assert_raises(ua.errors.ReadOnlyError, function, *arguments, **options, out=ua.broadcast_to(base, shape))
    assert bool(ua.equal(base, 1))
    out = ua.full(shape, True, dtype=dtype)
    assert_raises(TypeError, function, *arguments, **options, out=(out, out))
    assert_raises(TypeError, function, *arguments, **options, out=expected.tolist())


@pytest.mark.parametrize("name", CALLS)
def test_out_may_be_a_native_array_if_it_can_be_written(backend: str, name: str) -> None:
    function, arguments, options, expected = prepared(name)
    native = ua.full(expected.shape, True, dtype=expected.dtype).native
    if not has(backend, "writes"):
        assert_raises(ua.errors.InplaceUpdateError, function, *arguments, **options, out=native)
        return
    assert function(*arguments, **options, out=native) is native
    if name not in UNSET:
        assert_same(ua.asarray(native), expected, signed_zeros=False)


def aliasing(name: str) -> list[int]:
    """Return the places of the arguments that the result could be written over."""
    arguments, options = CALLS[name]
    if name in UNSET | {"from_dlpack"}:
        return []
    with ua.use_backend("numpy"), np.errstate(all="ignore"):
        result = as_numpy(find(name)(*(lift(name, each) for each in arguments), **options))
    return [
        place
        for place, x in enumerate(arguments)
        if isinstance(x, np.ndarray) and x.shape == result.shape and ua.can_cast(result.dtype, x.dtype)
    ]


# Inputs in memory that ``out`` overlaps: a base, the part of the input and that of ``out``.
OVERLAPS: dict[str, Callable[[np.ndarray], tuple[np.ndarray, Any, Any]]] = {
    "itself": lambda x: (x.copy(), lambda base: base, lambda base: base),
    "flipped": lambda x: (x.copy(), lambda base: base, ua.flip),
    "shifted": lambda x: (np.concatenate([x, x[:1]]), lambda base: base[:-1], lambda base: base[1:]),
    "transposed": lambda x: (
        np.resize(x, (max(x.shape),) * max(x.ndim, 2)),
        lambda base: base[window(x)],
        lambda base: ua.permute_dims(base, range(base.ndim)[::-1])[window(x)],
    ),
}


def window(x: np.ndarray) -> tuple[Any, ...]:
    return tuple(slice(length) for length in x.shape) if x.ndim > 1 else (0, slice(x.size))


@pytest.mark.parametrize("overlap", OVERLAPS)
@pytest.mark.parametrize(("name", "place"), [(name, place) for name in CALLS for place in aliasing(name)])
def test_out_may_be_or_overlap_an_input(backend: str, name: str, place: int, overlap: str) -> None:
    given, options = CALLS[name]
    values, of_input, of_out = OVERLAPS[overlap](given[place])
    arguments = [lift(name, each) for each in given]
    base = ua.asarray(values, copy=True)
    arguments[place] = of_input(base)
    function = find(name)
    expected = as_numpy(function(*(x.copy() if isinstance(x, ua.Array) else x for x in arguments), **options))
    outside = ua.asarray(np.ones(values.shape, bool))
    of_out(outside)[...] = False
    out = of_out(base)
    function(*arguments, **options, out=out)
    assert_same(out, expected.astype(values.dtype), signed_zeros=False, what=overlap)
    np.testing.assert_array_equal(as_numpy(base)[as_numpy(outside)], values[as_numpy(outside)])


@pytest.mark.parametrize("name", SEVERAL)
def test_a_function_of_several_results_takes_a_tuple(backend: str, name: str) -> None:
    arguments, options = SEVERAL[name]
    arguments = [lift(name, each) for each in arguments]
    function = find(name)
    expected = [as_numpy(each) for each in function(*arguments, **options)]

    def targets() -> tuple[ua.Array, ...]:
        return tuple(ua.full(each.shape, True, dtype=each.dtype) for each in expected)

    out = targets()
    result = function(*arguments, **options, out=out)
    assert len(result) == len(out)
    for mine, target, each in zip(result, out, expected, strict=True):
        assert mine is target
        assert_same(target, each, signed_zeros=False)
    *good, last = targets()
    bad = ua.ones((*last.shape, 2), dtype=last.dtype)
    # All or nothing is written.
    assert_raises(ua.errors.ShapeError, function, *arguments, **options, out=(*good, bad))
    assert_raises(TypeError, function, *arguments, **options, out=tuple(good))
    assert_raises(TypeError, function, *arguments, **options, out=last)


TARGETS: dict[str, tuple[Callable[[Any], tuple[Any, ...]], bool]] = {
    "an array twice": (lambda z: (z[0], z[0]), True),
    "an array and itself, flipped": (lambda z: (z[0], ua.flip(z[0])), True),
    "an array and a part": (lambda z: (z[0, :, 0], z[0, 1]), True),
    "an array and its real part": (lambda z: (z[0, 0], z.real[0, 0]), True),
    "rows": (lambda z: (z[0, 0], z[0, 1]), False),
    "columns": (lambda z: (z[0, :, 0], z[0, :, 1]), False),
    "columns, transposed": (lambda z: (z[0].T[0], z[0].T[1]), False),
    "every other element": (lambda z: (z.reshape((-1,))[:4:2], z.reshape((-1,))[1:4:2]), False),
    "ends, from behind": (lambda z: (z[0, ::-1, 0], z[1, ::-1, 0]), False),
    "the real and the imaginary part": (lambda z: (z.real[0, 0], z.imag[0, 0]), False),
    "parts from behind": (lambda z: (z[0, 0, ::-1].real, z[0, 0, ::-1].imag), False),
}


@pytest.mark.parametrize("on", ["array", "variable"])
@pytest.mark.parametrize(("targets", "overlap"), TARGETS.values(), ids=TARGETS.keys())
def test_targets_of_several_results_may_not_overlap_but_lie_side_by_side(
    backend: str, targets: Callable[[Any], tuple[Any, ...]], overlap: bool, on: str
) -> None:
    values = np.zeros((2, 2, 2), complex)
    base = ua.asarray(values) if on == "array" else ua.asarray(variable(backend, values))
    out = targets(base)
    x = ua.asarray([[1.0, 2.0], [3.0, 4.0]])
    if overlap:
        assert_raises(ValueError, ua.unstack, x, out=out)
        assert not as_numpy(base).any()
    else:
        assert ua.unstack(x, out=out) is out
        for target, expected in zip(out, ([1.0, 2.0], [3.0, 4.0]), strict=True):
            assert_same(target, np.array(expected, target.dtype))


def test_targets_that_only_the_engine_knows_apart(backend: str) -> None:
    x = ua.asarray([[1.0, 2.0], [3.0, 4.0]])
    targets = tuple(ua.asarray(variable(backend, np.zeros(2))) for _ in range(2))
    ua.unstack(x, out=targets)
    for target, expected in zip(targets, ([1.0, 2.0], [3.0, 4.0]), strict=True):
        assert_same(target, np.array(expected))
    skip_unless(backend, "jax", why="what is traced")
    import jax

    def traced(native: Any) -> Any:
        rows = ua.asarray(native)
        out = (rows[0].copy(), rows[1].copy())
        ua.unstack(rows + 1, out=out)
        return out[0].native, out[1].native

    first, second = jax.jit(traced)(x.native)
    assert (first + second).tolist() == [6.0, 8.0]
