"""Normalisations against torch's own functions, and against formulas in wider floating point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr._core.engines.registry import load
from unifyarr.testing import has

from ..gradients import ENGINES, differences, gradient
from ..kernels import leave_shortcuts
from ..natives import native, skip_unless, values_of, variable
from ..oracle import FLOATS, HALVES, TOLERANCE, as_numpy, assert_raises, assert_same, few, in_layout, layouts

DTYPES = [*FLOATS, *HALVES, "int32"]
Arrays = list[np.ndarray]


def standardized(x: np.ndarray, axes: Any, eps: float) -> np.ndarray:
    x = x.astype(np.longdouble)
    centred = x - x.mean(axes, keepdims=True)
    return np.asarray(centred / np.sqrt(np.square(centred).mean(axes, keepdims=True) + eps))


def along(each: np.ndarray, ndim: int, axis: int) -> np.ndarray:
    return each.astype(np.longdouble).reshape((-1, *(1,) * (ndim - 1 - axis % ndim)))


def layer(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, *, axis: int, eps: float) -> np.ndarray:
    return standardized(x, axis, eps) * along(weight, x.ndim, axis) + along(bias, x.ndim, axis)


def rms(x: np.ndarray, weight: np.ndarray, *, axis: int, eps: float) -> np.ndarray:
    x = x.astype(np.longdouble)
    return np.asarray(x / np.sqrt(np.square(x).mean(axis, keepdims=True) + eps) * along(weight, x.ndim, axis))


def batch(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, *, axis: int, eps: float) -> np.ndarray:
    others = tuple(each for each in range(x.ndim) if each != axis % x.ndim)
    return standardized(x, others, eps) * along(weight, x.ndim, axis) + along(bias, x.ndim, axis)


def group(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, *, groups: int, axis: int, eps: float) -> np.ndarray:
    moved = np.moveaxis(x, axis, 1)
    whole = standardized(moved.reshape(len(x), groups, -1), -1, eps).reshape(moved.shape)
    return np.moveaxis(whole, 1, axis) * along(weight, x.ndim, axis) + along(bias, x.ndim, axis)


NORMS: dict[str, tuple[Callable[..., np.ndarray], int, dict[str, Any]]] = {
    "batch_norm": (batch, 2, {"training": True}),
    "group_norm": (group, 2, {"groups": 2}),
    "layer_norm": (layer, 2, {}),
    "rms_norm": (rms, 1, {}),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NORMS)
@few
@given(data=st.data())
def test_norms(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    formula, others, fixed = NORMS[name]
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = data.draw(st.sampled_from([(2, 4, 4), (2, 4, 3, 2)] if dtype == "float64" else [(3, 4)]))
    axes = [1, -1] if shape != (2, 4, 3, 2) else [1]
    options = {"axis": data.draw(st.sampled_from(axes)), "eps": 0.5}
    x = (random.uniform(-9, 9, shape) + 5).astype(ua.bfloat16 if dtype == "bfloat16" else dtype)
    given = [random.uniform(-2, 2, 4).astype(x.dtype if x.dtype.kind != "i" else "f8") for _ in range(others)]
    groups = {key: value for key, value in fixed.items() if key == "groups"}
    expected = formula(x, *given, **groups, **options).astype("f8" if x.dtype.kind == "i" else x.dtype)
    actual = getattr(ua.nn, name)(
        in_layout(x, data.draw(layouts(dtype))),
        **dict(zip(["weight", "bias"], map(ua.asarray, given), strict=False)),
        **fixed,
        **options,
    )
    assert_same(actual, expected, atol=30 * TOLERANCE[expected.dtype.name], what=(x, given, options))


@pytest.mark.parametrize("axis", [(1, 2), (2, 1), (0, 2), (), (-1,)])
def test_several_axes(backend: str, axis: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).uniform(-3, 3, (2, 3, 4))
    ordered = sorted(each % 3 for each in axis)
    weight = np.random.default_rng(1).uniform(1, 2, [x.shape[each] for each in ordered])
    whole = weight.reshape([x.shape[each] if each in ordered else 1 for each in range(3)])
    expected = (standardized(x, axis, 1e-5) * whole).astype("f8")
    assert_same(
        ua.nn.layer_norm(ua.asarray(x), ua.asarray(weight), axis=axis), expected, atol=1e-13, signed_zeros=False
    )
    length = np.sqrt(np.square(x).sum(axis, keepdims=True))
    assert_same(ua.nn.l2_normalize(ua.asarray(x), axis=axis), x / length)
    assert_same(ua.nn.rms_norm(ua.asarray(x), axis=axis, eps=0.0), x / np.sqrt(np.square(x).mean(axis, keepdims=True)))


def test_torchs_own(backend: str) -> None:
    functional = pytest.importorskip("torch.nn.functional")
    import torch

    random = np.random.default_rng(2)
    x, weight, bias = random.uniform(-3, 3, (4, 6, 5)), random.uniform(1, 2, 6), random.uniform(-1, 1, 6)
    t, w, b = map(torch.tensor, (x, weight, bias))
    a, v, c = map(ua.asarray, (x, weight, bias))
    pairs = [
        (ua.nn.group_norm(a, v, c, groups=3), functional.group_norm(t, 3, w, b)),
        (ua.nn.layer_norm(a, axis=(1, 2)), functional.layer_norm(t, (6, 5))),
        (ua.nn.rms_norm(a), functional.rms_norm(t, (5,))),
        (ua.nn.l2_normalize(a, axis=1), functional.normalize(t)),
        (ua.nn.l2_normalize(a, axis=(0, 2)), functional.normalize(t, dim=(0, 2))),
        (ua.nn.batch_norm(a, c, v, v, c), functional.batch_norm(t, b, w, w, b)),
        (ua.nn.batch_norm(a, None, None, v, c, training=True), functional.batch_norm(t, None, None, w, b, True)),
    ]
    for actual, expected in pairs:
        assert_same(actual, values_of(expected), atol=1e-13)


# -- lengths ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*FLOATS, *HALVES, "complex128", "int64"])
def test_vectors_of_length_one(backend: str, dtype: str) -> None:
    x = np.array([[3, -4], [0, 0], [5, 12]]).astype(ua.bfloat16 if dtype == "bfloat16" else dtype)
    if dtype == "complex128":
        x = x * 1j
    wide = x.astype("c16" if dtype == "complex128" else "f8")
    expected = (wide / np.array([[5], [1], [13]])).astype("f8" if dtype == "int64" else x.dtype)
    assert_same(ua.nn.l2_normalize(ua.asarray(x)), expected, signed_zeros=False)


def test_lengths_beyond_the_range_of_squares(backend: str) -> None:
    x = ua.asarray([[3e200, -4e200], [3e-200, 4e-200], [3e-12, 4e-12], [1e307, 0.0]])
    expected = np.array([[0.6, -0.8], [3e-188, 4e-188], [0.6, 0.8], [1.0, 0.0]])
    assert_same(ua.nn.l2_normalize(x), expected, rtol=1e-14)
    assert_same(ua.nn.l2_normalize(x, axis=None)[3], np.array([1.0, 0.0]))


@pytest.mark.parametrize("composed", [False, True])
def test_means_of_squares_beyond_the_range(backend: str, composed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if composed:
        leave_shortcuts(monkeypatch)
        monkeypatch.delitem(load(backend).kernels, "root_mean_square", raising=False)
    x = np.array([[1e200, -1e200, 3e200, -3e200], [1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0]])
    expected = np.array([np.array([1, -1, 3, -3]) / 5**0.5, np.array([1, 2, 3, 4]) / 7.5**0.5, [0, 0, 0, 0]])
    assert_same(ua.nn.rms_norm(ua.asarray(x), eps=0.0)[:2], expected[:2], rtol=1e-13)
    assert_same(ua.nn.rms_norm(ua.asarray(x)), expected, rtol=1e-13)
    centred = np.array([expected[0], np.array([-1.5, -0.5, 0.5, 1.5]) / 1.25**0.5, [0, 0, 0, 0]])
    assert_same(ua.nn.layer_norm(ua.asarray(x), eps=1e-30), centred, rtol=1e-13, atol=1e-15)
    assert_same(ua.nn.layer_norm(ua.asarray(x.T), axis=0, eps=1e-30), centred.T, rtol=1e-13, atol=1e-15)
    # The squares of float16 are greater than all of it.
    halves = ua.asarray([300.0, -300.0], dtype="float16")
    assert_same(ua.nn.layer_norm(halves), np.array([1, -1], "f2"))


def attended(x: ua.Array) -> ua.Array:
    return ua.nn.scaled_dot_product_attention(x, x, x)


@pytest.mark.parametrize("function", [ua.nn.layer_norm, ua.nn.rms_norm, attended])
def test_jax_has_no_derivative_of_what_cancels_out(function: Callable[..., ua.Array]) -> None:
    jax = pytest.importorskip("jax")
    skip_unless("jax", *ua.available_backends(), why="JAX")
    load("jax")

    def result(x: Any) -> Any:
        return ua.sum(function(ua.asarray(x))).native

    x = np.array([[1.0, 2.0], [3.0, 5.0]])
    # The derivative of a maximum looks for its places.
    forward, backward = (comparisons(jax.make_jaxpr(each)(x).jaxpr) for each in (result, jax.grad(result)))
    assert forward == backward


def comparisons(program: Any) -> int:
    """Return how many comparisons a JAX program makes; its text has a function once that it calls twice."""
    inner = (value.jaxpr for step in program.eqns for value in step.params.values() if hasattr(value, "jaxpr"))
    return sum(step.primitive.name == "eq" for step in program.eqns) + sum(map(comparisons, inner))


def test_infinities_and_nan(backend: str) -> None:
    x = ua.asarray([[np.inf, 1.0], [np.nan, 1.0], [2.0, 4.0]])
    for function in (ua.nn.layer_norm, ua.nn.rms_norm, ua.nn.l2_normalize):
        found = as_numpy(function(x))
        assert np.isnan(found[:2, 0]).all()
        assert np.isfinite(found[2]).all()


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm", "l2_normalize"])
def test_nothing(backend: str, name: str) -> None:
    for shape in ((0, 3), (3, 0), (2, 0, 3)):
        assert_same(getattr(ua.nn, name)(ua.zeros(shape)), np.zeros(shape))


# -- running statistics -----------------------------------------------------------------------------------------------


def statistics() -> tuple[np.ndarray, np.ndarray]:
    return np.array([0.5, -1.0, 2.0]), np.array([1.0, 2.0, 0.5])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_training_updates_statistics_in_place(backend: str, dtype: str) -> None:
    functional = pytest.importorskip("torch.nn.functional")
    import torch

    x = np.random.default_rng(7).uniform(-3, 3, (4, 3, 2))
    theirs = [torch.tensor(each) for each in statistics()]
    expected = values_of(functional.batch_norm(torch.tensor(x), *theirs, training=True, momentum=0.3))
    mean, var = (ua.asarray(each, dtype=dtype) for each in statistics())
    view = mean[::-1]
    assert_same(ua.nn.batch_norm(ua.asarray(x), mean, var, training=True, momentum=0.3), expected, atol=1e-13)
    for mine, each in zip((mean, var), theirs, strict=True):
        assert_same(mine, values_of(each).astype(dtype))
    assert_same(view, as_numpy(mean)[::-1])


@pytest.mark.parametrize("mode", ["fast", "debug"])
def test_compiled_statistics_are_those_of_the_function(backend: str, mode: str) -> None:
    def normalized(x: ua.Array, mean: ua.Array, var: ua.Array) -> ua.Array:
        return ua.nn.batch_norm(x, running_mean=mean, running_var=var, training=True)

    x = np.random.default_rng(0).normal(3, 2, (5, 3))
    mine, theirs = ([ua.asarray(x), ua.zeros(3), ua.ones(3)] for _ in range(2))
    found, expected = ua.compile(normalized, mode=mode)(*mine), normalized(*theirs)
    for each, other in zip([found, *mine], [expected, *theirs], strict=True):
        assert_same(each, as_numpy(other), rtol=1e-13, atol=1e-13)


def test_using_them_leaves_them_alone(backend: str) -> None:
    mean, var = map(ua.asarray, statistics())
    with ua.debug():
        ua.nn.batch_norm(ua.ones((2, 3)), mean, var)
    assert_same(mean, statistics()[0])
    assert_same(var, statistics()[1])


def test_native_statistics(backend: str) -> None:
    x = np.random.default_rng(7).uniform(-3, 3, (4, 3))
    natives = [variable(backend, each) for each in statistics()]
    arrays = [ua.asarray(each) for each in statistics()]
    ua.nn.batch_norm(ua.asarray(x), *arrays, training=True)
    ua.nn.batch_norm(ua.asarray(x), *natives, training=True)
    for mine, each in zip(natives, arrays, strict=True):
        assert_same(ua.asarray(mine), as_numpy(each))
    if not has(backend, "writes"):
        fixed = [native(backend, each) for each in statistics()]
        with pytest.raises(ua.errors.InplaceUpdateError, match="running_mean"):
            ua.nn.batch_norm(ua.asarray(x), *fixed, training=True)
        ua.nn.batch_norm(ua.asarray(x), *fixed)
    with pytest.raises(TypeError, match="running_mean"):
        ua.nn.batch_norm(ua.asarray(x), *(each.tolist() for each in statistics()), training=True)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_statistics_and_out_are_written_together(backend: str, dtype: str) -> None:
    x = np.random.default_rng(7).uniform(-3, 3, (4, 3))
    expected = as_numpy(ua.nn.batch_norm(ua.asarray(x), training=True))
    mean, var = map(ua.asarray, statistics())
    out = ua.zeros((4, 3), dtype=dtype)
    with ua.debug():
        assert ua.nn.batch_norm(ua.asarray(x), mean, var, training=True, out=out) is out
    assert_same(out, expected.astype(dtype), signed_zeros=False)
    assert_same(mean, 0.9 * statistics()[0] + 0.1 * x.mean(0))
    assert_same(var, 0.9 * statistics()[1] + 0.1 * x.var(0, ddof=1))
    over = ua.asarray(x, copy=True)
    ua.nn.batch_norm(over, mean, var, training=True, out=over)
    assert_same(over, expected)


def test_statistics_are_in_no_gradient() -> None:
    torch = pytest.importorskip("torch")
    mean, var = (torch.tensor(each) for each in statistics())
    x = torch.ones((4, 3), dtype=torch.float64, requires_grad=True)
    result = ua.nn.batch_norm(ua.asarray(x), mean, var, training=True)
    assert result.native.requires_grad
    assert not mean.requires_grad
    assert not var.requires_grad


def test_statistics_inside_an_engines_trace(backend: str) -> None:
    skip_unless(backend, "jax", why="the engine whose traces refuse writes to what is outside")
    import jax

    mean, var = map(ua.asarray, statistics())
    with pytest.raises(ua.errors.TracedMutationError):
        jax.jit(lambda x: ua.nn.batch_norm(ua.asarray(x), mean, var, training=True).native)(np.ones((4, 3)))
    assert_same(mean, statistics()[0])


# -- gradients and errors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("name", [*NORMS, "l2_normalize", "batch_norm, inference"])
def test_gradients(backend: str, name: str, place: int) -> None:
    skip_unless(backend, *ENGINES, why="an engine that records gradients")
    if name == "l2_normalize" and place:
        pytest.skip("it has no weight")
    arrays = [
        np.array([[0.3, 1.7, -0.3, 2.0], [-2.0, 0.0, 2.5, 1.0], [0.2, 0.1, 0.4, 0.3]]),
        np.array([1.0, 2, 0.5, 3]),
    ]
    factors = np.linspace(-1, 2, 12).reshape(3, 4)

    def weighed(x: ua.Array) -> ua.Array:
        of = [ua.asarray(each, backend=x.backend) for each in (*arrays, factors)]
        of[place] = x
        function = getattr(ua.nn, name.split(",")[0])
        options = {} if name == "l2_normalize" else {**NORMS.get(name, (None, 0, {}))[2], "weight": of[1]}
        running = [ua.asarray(arrays[1], backend=x.backend)] * 2 if "inference" in name else []
        return function(of[0], *running, **options) * of[2]

    found = gradient(backend, weighed, arrays[place])
    np.testing.assert_allclose(found, differences(weighed, arrays[place]), rtol=1e-5, atol=1e-7)
    if place == 0:
        assert np.isfinite(gradient(backend, weighed, np.zeros((3, 4)))).all()


BAD, SIX = np.ones((4, 6)), np.ones(6)
TRAINING = {"training": True}
ERRORS: dict[str, tuple[str, list[Any], dict[str, Any], type[BaseException]]] = {
    "an axis out of bounds": ("layer_norm", [BAD], {"axis": 2}, ua.errors.AxisError),
    "an axis twice": ("rms_norm", [BAD], {"axis": (0, -2)}, ua.errors.AxisError),
    "complex numbers": ("layer_norm", [BAD * 1j], {}, ua.errors.DtypeError),
    "a complex weight": ("rms_norm", [BAD, SIX * 1j], {}, ua.errors.DtypeError),
    "a weight of another shape": ("layer_norm", [BAD, np.ones(4)], {}, ua.errors.ShapeError),
    "a bias of another shape": ("batch_norm", [BAD, SIX, SIX, SIX, BAD], {}, ua.errors.ShapeError),
    "groups of no equal size": ("group_norm", [BAD], {"groups": 4}, ua.errors.ShapeError),
    "no groups": ("group_norm", [BAD], {"groups": 0}, ua.errors.ShapeError),
    "channels for examples": ("group_norm", [BAD], {"groups": 2, "axis": 0}, ua.errors.ShapeError),
    "no statistics": ("batch_norm", [BAD], {}, ValueError),
    "a mean alone": ("batch_norm", [BAD, SIX], {}, ValueError),
    "statistics of another shape": (
        "batch_norm",
        [BAD, SIX, np.ones(4)],
        TRAINING,
        ua.errors.ShapeError,
    ),
    "statistics of integers": (
        "batch_norm",
        [BAD, SIX.astype(int), SIX],
        TRAINING,
        ua.errors.CastingError,
    ),
    "the statistics of one": (
        "batch_norm",
        [BAD[:1], SIX, SIX],
        TRAINING,
        ua.errors.ShapeError,
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    name, arrays, options, error = ERRORS[case]
    out = ua.ones(arrays[0].shape)
    assert_raises(error, getattr(ua.nn, name), *map(ua.asarray, arrays), **options, out=out)


def test_what_is_written_may_not_overlap(backend: str) -> None:
    x = ua.asarray([[1.0, 2.0], [3.0, 5.0]])
    both = ua.ones((2, 2))
    assert_raises(ValueError, ua.nn.batch_norm, x, both[0], both[0], training=True)
    assert_raises(ValueError, ua.nn.batch_norm, x, both[0], both[1], training=True, out=both)
    fixed = ua.broadcast_to(ua.asarray(1.0), (2,))
    assert_raises(ua.errors.ReadOnlyError, ua.nn.batch_norm, x, both[0], fixed, training=True)
    assert_raises(ua.errors.ShapeError, ua.nn.batch_norm, x, both[0], both[1], training=True, out=ua.ones((2, 3)))


def test_compiled_for_other_numbers_than_it_was_traced_for(backend: str) -> None:
    # A trace can't know whether squares overflow.
    function = ua.compile(lambda x: ua.nn.rms_norm(x, axis=-1))
    for scale in (1.0, 1e300):
        x = np.array([[1.0, 2.0, 3.0], [0.0, -1.0, 4.0]]) * scale
        expected = x / scale / np.sqrt(np.mean((x / scale) ** 2, axis=-1, keepdims=True))
        assert np.allclose(as_numpy(function(ua.asarray(x))), expected, rtol=1e-5)
