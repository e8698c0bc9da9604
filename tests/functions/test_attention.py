"""Attention against torch's own, and its memory beside that of NumPy written by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..allocations import MEASURES, profiled
from ..allocations import attention_on_numpy as by_hand
from ..natives import skip_unless, torch_as_oracle, values_of
from ..oracle import BOOL, COMPLEX, FLOATS, HALVES, TOLERANCE, as_numpy, assert_raises, assert_same, few
from .test_native_out import gradient

attention = ua.nn.scaled_dot_product_attention


# Shapes of queries, keys and values.
SHAPES = [
    ((3, 4), (5, 4), (5, 2)),
    ((2, 3, 4), (2, 5, 4), (2, 5, 4)),
    ((3, 4), (2, 1, 5, 4), (3, 5, 4)),
    ((2, 4, 3, 2), (2, 4, 3, 2), (2, 4, 3, 2)),
]


def operands(dtype: str, shapes: tuple[tuple[int, ...], ...], seed: int) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    kind = ua.bfloat16 if dtype == "bfloat16" else dtype
    return [np.round(2 * random.standard_normal(shape), 3).astype(kind) for shape in shapes]


@st.composite
def masks(draw: st.DrawFn, shapes: tuple[tuple[int, ...], ...]) -> np.ndarray | None:
    """Draw a mask of queries and keys, or of the scores in full; a row of it may exclude every key."""
    kind = draw(st.sampled_from(["none", "bool", "number"]))
    if kind == "none":
        return None
    shape = shapes[0][-2], shapes[1][-2]
    if draw(st.booleans()):
        shape = (*np.broadcast_shapes(*(each[:-2] for each in shapes)), *shape)
    random = np.random.default_rng(draw(st.integers(0, 99)))
    takes_part = random.integers(0, 3, shape) > 0
    takes_part[..., 1, :] = False
    return takes_part if kind == "bool" else np.where(takes_part, random.standard_normal(shape), -np.inf)


@pytest.mark.parametrize("dtype", [*HALVES, *FLOATS, "bool", "int32"])
@few
@given(data=st.data())
def test_attention_is_torchs(backend: str, dtype: str, data: st.DataObject) -> None:
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    shapes = data.draw(st.sampled_from(SHAPES if dtype == "float64" else SHAPES[1:3]))
    arrays = operands(dtype, shapes, data.draw(st.integers(0, 99)))
    mask, is_causal = data.draw(masks(shapes)), data.draw(st.booleans())
    scale = data.draw(st.sampled_from([None, 0.5, -2.0]))
    batch = np.broadcast_shapes(*(shape[:-2] for shape in shapes))
    wide = [torch.from_numpy(x.astype("f8")).expand(*batch, *x.shape[-2:]) for x in arrays]
    both = np.zeros((shapes[0][-2], shapes[1][-2])) if mask is None else mask
    # torch takes one of the two.
    both = np.where(both, 0, -np.inf) if both.dtype == bool else both
    both = np.where(np.tri(*both.shape[-2:]) > 0, both, -np.inf) if is_causal else both
    expected = torch.nn.functional.scaled_dot_product_attention(*wide, attn_mask=torch.from_numpy(both), scale=scale)
    expected = values_of(expected).astype(arrays[0].dtype if dtype in TOLERANCE else "f8")
    given = [ua.asarray(x) for x in (*arrays, *(() if mask is None else (mask,)))]
    result = attention(*given, is_causal=is_causal, scale=scale)
    atol = 8 * TOLERANCE.get(dtype, 1e-12)
    assert_same(result, expected, atol=atol, signed_zeros=False, what=(shapes, mask, is_causal, scale))


@pytest.mark.parametrize("mask", ["none", "bool", "number"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_attention_is_what_numpy_gives_by_hand(backend: str, dtype: str, mask: str) -> None:
    arrays = operands(dtype, SHAPES[1], 0)
    takes_part = np.random.default_rng(0).integers(0, 3, (3, 5)) > 0
    masks = {"bool": takes_part, "number": np.where(takes_part, 0.5, -np.inf).astype(dtype)}
    arrays += [masks[mask]] if mask in masks else []
    assert_same(attention(*map(ua.asarray, arrays)), by_hand(*arrays), atol=TOLERANCE[dtype], signed_zeros=False)


def test_a_query_without_keys_gets_zero(backend: str) -> None:
    query, key, value = map(ua.asarray, operands("float64", SHAPES[0], 0))
    for mask in (ua.zeros((3, 5), dtype="bool"), ua.full((3, 5), -math.inf)):
        assert_same(attention(query, key, value, mask), np.zeros((3, 2)), signed_zeros=False)
    assert_same(attention(query, key[:0, :], value[:0, :]), np.zeros((3, 2)))
    assert attention(query[:0, :], key, value).shape == (0, 2)
    assert attention(query, key, value[:, :0]).shape == (3, 0)
    # Without features, all keys fit alike.
    uniform = attention(query[:, :0], key[:, :0], value)
    assert_same(uniform, np.broadcast_to(as_numpy(value).mean(0), (3, 2)))


def test_extreme_scores(backend: str) -> None:
    value = ua.asarray([[1.0, -1.0], [3.0, -1e308]])
    huge = ua.asarray([[1e200, 0.0], [0.0, 1e100]])
    assert_same(attention(huge, ua.asarray([[1.0, 0.0], [0.0, 1.0]]), value), as_numpy(value))
    # The products of queries and keys overflow, and the scale makes up for it.
    assert_same(attention(huge, huge, value, scale=1e-300), np.array([[1.0, -1.0], [2.0, -5e307]]))
    if backend != "torch":
        # The sum of the values overflows, their mean doesn't; torch's kernel divides the sum.
        level = attention(ua.zeros((1, 2)), huge, ua.full((2, 2), 1.5e308))
        assert_same(level, np.full((1, 2), 1.5e308))


def test_nan_stays_in_its_row(backend: str) -> None:
    query, key, value = operands("float64", SHAPES[0], 0)
    query[1, 0] = np.nan
    result = as_numpy(attention(*map(ua.asarray, (query, key, value))))
    assert np.isnan(result[1]).all()
    np.testing.assert_allclose(result[[0, 2]], by_hand(query[[0, 2]], key, value))


def test_a_mask_may_be_data_and_integers(backend: str) -> None:
    query, key, value = map(ua.asarray, operands("float32", SHAPES[0], 0))
    expected = as_numpy(attention(query, key, value, ua.asarray([0.0, 1.0, 2.0, 3.0, 4.0], dtype="float32")))
    assert_same(attention(query, key, value, [0, 1, 2, 3, 4]), expected)
    assert_same(attention(query, key, value, mask=ua.arange(5)), expected)
    assert_same(attention(query, key, value, True), as_numpy(attention(query, key, value)), atol=1e-6)


REFUSED: dict[str, tuple[tuple[int, ...], ...]] = {
    "a query of one axis": ((4,), (5, 4), (5, 2), (3, 5)),
    "features that differ": ((3, 4), (5, 3), (5, 2), (3, 5)),
    "as many values as keys": ((3, 4), (5, 4), (4, 2), (3, 5)),
    "batches that don't broadcast": ((2, 3, 4), (3, 5, 4), (5, 2), (3, 5)),
    "a mask of other keys": ((3, 4), (5, 4), (5, 2), (3, 4)),
    "a mask of more axes": ((3, 4), (5, 4), (5, 2), (2, 3, 5)),
}


@pytest.mark.parametrize("shapes", REFUSED.values(), ids=REFUSED.keys())
def test_shapes_that_dont_fit_are_refused(backend: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    assert_raises(ua.errors.ShapeError, attention, *map(ua.ones, shapes), out=ua.ones((3, 2)))


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_numbers_have_no_softmax(backend: str, dtype: str, place: int) -> None:
    given = [ua.ones((2, 2), dtype=dtype if number == place else "float64") for number in range(4)]
    assert_raises(ua.errors.DtypeError, attention, *given, out=ua.ones((2, 2)))


# -- several heads --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", [*BOOL, "none"])
def test_multi_head_attention_is_torchs(backend: str, mask: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    random = np.random.default_rng(0)
    with torch_as_oracle():
        layer = torch.nn.MultiheadAttention(6, 3, kdim=4, vdim=5, batch_first=True, dtype=torch.float64)
    values = {name: each.detach().numpy() for name, each in layer.named_parameters()}
    values["in_proj_bias"][...] = random.standard_normal(18)
    values["out_proj.bias"][...] = random.standard_normal(6)
    query, key, value = (random.standard_normal(shape) for shape in ((2, 3, 6), (2, 5, 4), (2, 5, 5)))
    takes_part = random.integers(0, 3, (3, 5)) > 0
    excluded = torch.from_numpy(~takes_part) if mask == "bool" else None
    expected, _ = layer(*map(torch.from_numpy, (query, key, value)), attn_mask=excluded)

    def projection(weight: str, bias: np.ndarray) -> Callable[[ua.Array], ua.Array]:
        return lambda x: ua.nn.linear(x, ua.asarray(values[weight]), ua.asarray(bias))

    parts = np.split(values["in_proj_bias"], 3)
    result = ua.nn.multi_head_attention(
        *map(ua.asarray, (query, key, value)),
        ua.asarray(takes_part) if mask == "bool" else None,
        num_heads=3,
        query_projection=projection("q_proj_weight", parts[0]),
        key_projection=projection("k_proj_weight", parts[1]),
        value_projection=projection("v_proj_weight", parts[2]),
        output_projection=projection("out_proj.weight", values["out_proj.bias"]),
    )
    assert_same(result, values_of(expected), atol=1e-12)


def test_one_head_without_projections_is_attention(backend: str) -> None:
    query, key, value = map(ua.asarray, operands("float64", SHAPES[1], 0))
    for options in ({}, {"is_causal": True, "scale": 0.25}):
        expected = as_numpy(attention(query, key, value, **options))
        assert_same(ua.nn.multi_head_attention(query, key, value, num_heads=1, **options), expected, atol=1e-12)
    itself = as_numpy(attention(query, query, query))
    assert_same(ua.nn.multi_head_attention(query, num_heads=1), itself, atol=1e-12)
    assert_same(ua.nn.multi_head_attention(query, key, num_heads=1), as_numpy(attention(query, key, key)), atol=1e-12)


def test_heads_that_dont_fit_are_refused(backend: str) -> None:
    x = ua.ones((2, 3, 4))
    for heads in (0, -1, 3):
        assert_raises(ua.errors.ShapeError, ua.nn.multi_head_attention, x, num_heads=heads, out=ua.ones((2, 3, 4)))
    assert_raises(TypeError, ua.nn.multi_head_attention, x, num_heads=2.0)


# -- gradients, traces and memory -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mask", ["none", "causal", "bool"])
def test_gradients_are_torchs(backend: str, mask: str) -> None:
    skip_unless(backend, "torch", "jax", "tensorflow", why="an engine that records gradients")
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    arrays = operands("float64", SHAPES[1], 0)
    takes_part = np.tri(3, 5, dtype=bool) if mask == "causal" else np.random.default_rng(1).integers(0, 2, (3, 5)) > 0
    if mask == "bool":
        # A query that no key takes part for is a constant.
        takes_part[1] = False
    leaves = [torch.from_numpy(x).requires_grad_() for x in arrays]
    options = {} if mask == "none" else {"attn_mask": torch.from_numpy(takes_part)}
    (torch.nn.functional.scaled_dot_product_attention(*leaves, **options) ** 2).sum().backward()
    for place, leaf in enumerate(leaves):

        def loss(x: ua.Array, place: int = place) -> ua.Array:
            given = [x if number == place else ua.asarray(each) for number, each in enumerate(arrays)]
            given += [ua.asarray(takes_part)] if mask == "bool" else []
            return ua.sum(attention(*given, is_causal=mask == "causal") ** 2)

        np.testing.assert_allclose(gradient(backend, loss, arrays[place]), values_of(leaf.grad), rtol=1e-9, atol=1e-9)


def test_inside_a_trace(backend: str) -> None:
    skip_unless(backend, "jax", "tensorflow", why="an engine that traces")
    arrays = [*operands("float64", SHAPES[3], 0), np.tri(3, 3, dtype=bool).T]

    def run(*natives: Any) -> Any:
        query, key, value, mask = map(ua.asarray, natives)
        return ua.nn.multi_head_attention(query, key, value, mask, num_heads=2, is_causal=True).native

    natives = [ua.asarray(x).native for x in arrays]
    if backend == "jax":
        import jax

        traced = jax.jit(run)(*natives)
    else:
        import tensorflow as tf

        traced = tf.function(run)(*natives)
    assert_same(ua.asarray(traced), as_numpy(ua.asarray(run(*natives))), atol=1e-12)


def peak(backend: str, call: Callable[[], object]) -> int:
    """Return how many bytes a call has at once."""
    return MEASURES[backend](call, 1).peak


@profiled
@pytest.mark.parametrize("mask", ["none", "bool", "number", "causal"])
def test_the_memory_is_that_of_numpy_by_hand(backend: str, mask: str) -> None:
    skip_unless(backend, "numpy", "torch", why="memory that can be counted")
    shapes = ((4, 256, 16), (4, 256, 16), (4, 256, 24))
    arrays = operands("float64", shapes, 0)
    masks = {"bool": np.tri(256, dtype=bool), "number": np.where(np.tri(256) > 0, 0.5, -np.inf)}
    arrays += [masks[mask]] if mask in masks else []
    options = {"is_causal": mask == "causal"}
    out = np.zeros((4, 256, 24))
    hand = peak("numpy", lambda: by_hand(*arrays, **options, out=out))
    given, target = [ua.asarray(x, copy=True) for x in arrays], ua.zeros(out.shape)
    ours = peak(backend, lambda: attention(*given, **options, out=target))
    scores = 4 * 256 * 256 * 8
    assert scores <= hand < 1.2 * scores
    # NumPy compares through buffers of 128 KiB, whatever the size, to find which keys come later.
    assert ours <= hand + scores // 64 + (150_000 if mask == "causal" else 0)


@profiled
def test_torch_keeps_no_scores_without_a_mask(backend: str) -> None:
    skip_unless(backend, "torch", why="a kernel that goes through the scores in blocks")
    query, key, value = (ua.asarray(x) for x in operands("float64", ((4, 256, 16),) * 3, 0))
    for is_causal in (False, True):
        assert peak("torch", lambda: attention(query, key, value, is_causal=is_causal)) < 4 * 256 * 256 * 8


# -- grouped heads, and memory for a longer sequence ---------------------------------------------------------


def torchs_grouped(query: Any, key: Any, value: Any, **options: Any) -> np.ndarray:
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    given = map(torch.from_numpy, (query, key, value))
    options = {name: torch.from_numpy(each) if isinstance(each, np.ndarray) else each for name, each in options.items()}
    found = torch.nn.functional.scaled_dot_product_attention(*given, **options, enable_gqa=True)
    return values_of(found)


@pytest.mark.parametrize("mask", ["none", "causal", "of all heads", "of each head"])
@pytest.mark.parametrize("heads", [1, 2, 3, 6])
def test_heads_share_keys_and_values(backend: str, heads: int, mask: str) -> None:
    query, key, value = operands("float64", ((2, 6, 3, 4), (2, heads, 5, 4), (2, heads, 5, 2)), 0)
    random = np.random.default_rng(0)
    masks = {"of all heads": random.random((3, 5)) > 0.3, "of each head": random.standard_normal((2, 6, 3, 5))}
    options: dict[str, Any] = {"attn_mask": masks[mask]} if mask in masks else {"is_causal": mask == "causal"}
    expected = torchs_grouped(query, key, value, **options)
    given = [ua.asarray(x) for x in (query, key, value, *([masks[mask]] if mask in masks else []))]
    out = ua.zeros(expected.shape)
    assert attention(*given, is_causal=mask == "causal", out=out) is out
    assert_same(out, expected, atol=1e-12)


def test_heads_that_share_no_whole_number_are_refused(backend: str) -> None:
    query = ua.ones((6, 3, 4))
    for heads in ((4, 4), (2, 3), (12, 12)):
        given = query, *(ua.ones((count, 5, 4)) for count in heads)
        assert_raises(ua.errors.ShapeError, attention, *given, out=ua.ones((6, 3, 4)))
    with pytest.raises(ua.errors.ShapeError, match="is a multiple of key_heads, unlike 4"):
        ua.nn.multi_head_attention(ua.ones((2, 6)), num_heads=6, key_heads=4)


@pytest.mark.parametrize("mask", ["none", "bool", "number"])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("length", [0, 1, 3, 5])
def test_the_first_keys_alone_take_part(backend: str, length: int, is_causal: bool, mask: str) -> None:
    query, key, value = operands("float64", ((2, 4, 3, 4), (2, 2, 5, 4), (2, 2, 5, 2)), 0)
    key[..., length:, :] = 9
    random = np.random.default_rng(0)
    both = np.zeros((3, length)) if mask != "number" else random.standard_normal((3, 5))[:, :length]
    masks = {"bool": random.random((3, 5)) > 0.2, "number": np.pad(both, ((0, 0), (0, 5 - length)))}
    both = np.where(masks["bool"][:, :length], both, -np.inf) if mask == "bool" else both
    # The queries are the last of the sequence.
    both = np.where(np.tri(3, length, length - 3) > 0, both, -np.inf) if is_causal else both
    repeated = [np.repeat(x[..., :length, :], 2, axis=1) for x in (key, value)]
    empty = np.isneginf(both).all(axis=-1)[:, None]
    expected = (
        np.where(empty, 0, by_hand(query, *repeated, np.where(empty, 0, both))) if length else np.zeros((2, 4, 3, 2))
    )
    given = [ua.asarray(x) for x in (query, key, value, *([masks[mask]] if mask in masks else []))]
    assert_same(attention(*given, is_causal=is_causal, length=length), expected, atol=1e-12, signed_zeros=False)
    several = [ua.asarray(length), ua.asarray(length, dtype="uint8"), ua.full((2, 1), length), ua.full((4,), length)]
    for each in several:
        assert_same(attention(*given, is_causal=is_causal, length=each), expected, atol=1e-12, signed_zeros=False)


def test_lengths_of_each_sequence(backend: str) -> None:
    query, key, value = map(ua.asarray, operands("float64", ((2, 4, 1, 4), (2, 2, 5, 4), (2, 2, 5, 2)), 0))
    found = attention(query, key, value, length=ua.asarray([[2], [5]]))
    for number, length in enumerate((2, 5)):
        one = attention(query[number, ...], key[number, ...], value[number, ...], length=length)
        assert_same(found[number, ...], as_numpy(one), atol=1e-12)


def test_lengths_that_dont_fit_are_refused(backend: str) -> None:
    given = [ua.ones(shape) for shape in ((2, 3, 4), (2, 5, 4), (2, 5, 4))]
    for length in (-1, 6):
        with pytest.raises(ValueError, match=f"length is from 0 to 5, the number of keys, not {length}"):
            attention(*given, length=length)
    with pytest.raises(ua.errors.DtypeError, match="is integers, not float64"):
        attention(*given, length=ua.asarray(2.0))
    with pytest.raises(ua.errors.ShapeError, match=r"length of shape \(3,\) doesn't broadcast|don't broadcast"):
        attention(*given, length=ua.asarray([1, 2, 3]))


def test_memory_of_keys_and_values_that_is_written_in_place(backend: str) -> None:
    random = np.random.default_rng(0)
    query, key, value = (random.standard_normal(shape) for shape in ((4, 6, 8), (2, 6, 8), (2, 6, 8)))
    expected = as_numpy(attention(*map(ua.asarray, (query, key, value)), is_causal=True))

    def step(cache: ua.Container, length: ua.Array, query: ua.Array, key: ua.Array, value: ua.Array) -> ua.Array:
        places = length + ua.arange(key.shape[-2])
        cache.key[..., places, :] = key
        cache.value[..., places, :] = value
        length += key.shape[-2]
        return attention(query, cache.key, cache.value, is_causal=True, length=length)

    for run in (step, ua.compile(step)):
        cache, length = ua.Container(key=ua.zeros((2, 9, 8)), value=ua.zeros((2, 9, 8))), ua.asarray(0)
        # A beginning of several places, and then one after another.
        for part in (slice(0, 3), slice(3, 4), slice(4, 5), slice(5, 6)):
            found = run(cache, length, *(ua.asarray(each[:, part, :]) for each in (query, key, value)))
            assert_same(found, expected[:, part], atol=1e-12)
        assert_same(cache.key[:, :6], key)
        assert length.tolist() == 6


def test_multi_head_attention_with_fewer_heads_of_keys(backend: str) -> None:
    query, key, value = operands("float64", ((2, 3, 8), (2, 5, 4), (2, 5, 6)), 0)
    # Each head of keys and values, repeated by hand for the two heads of queries that share it.
    repeated = [np.repeat(x.reshape(2, 5, 2, -1), 2, axis=2).reshape(2, 5, -1) for x in (key, value)]
    expected = as_numpy(ua.nn.multi_head_attention(*map(ua.asarray, (query, *repeated)), num_heads=4))
    found = ua.nn.multi_head_attention(*map(ua.asarray, (query, key, value)), num_heads=4, key_heads=2)
    assert_same(found, expected, atol=1e-12)


# -- derivatives ----------------------------------------------------------------------------------------------


def of_gelu(*arrays: ua.Array) -> ua.Array:
    return ua.sum(ua.nn.gelu(attention(*arrays, is_causal=True)) ** 2)


def test_torchs_derivatives_go_through_ours(backend: str) -> None:
    skip_unless(backend, "torch", why="an engine with a kernel of the derivative, which has none itself")
    import torch

    given = [torch.from_numpy(x) for x in operands("float64", SHAPES[3], 0)]

    def by_ours(*natives: Any, gradient: Callable[..., ua.Array] = ua.grad(of_gelu)) -> Any:
        return ua.sum(ua.sin(gradient(*map(ua.asarray, natives)))).native

    def by_torch(*natives: torch.Tensor) -> torch.Tensor:
        query, key, value = natives
        scores = query @ key.mT / math.sqrt(2)
        scores = scores.masked_fill(torch.ones(3, 3, device=scores.device).triu(1) > 0, -math.inf)
        result = (torch.nn.functional.gelu(scores.softmax(-1) @ value) ** 2).sum()
        return torch.autograd.grad(result, query, create_graph=True)[0].sin().sum()

    leaves = [x.clone().requires_grad_() for x in given]
    wanted = torch.autograd.grad(by_torch(*leaves), leaves)
    compiled = ua.compile(ua.grad(of_gelu))
    for found in (
        torch.autograd.grad(by_ours(*leaves), leaves),
        torch.autograd.grad(by_ours(*leaves, gradient=compiled), leaves),
        torch.func.grad(by_ours, (0, 1, 2))(*given),
    ):
        for one, other in zip(found, wanted, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


@profiled
def test_a_gradient_on_torch_keeps_no_scores(backend: str) -> None:
    skip_unless(backend, "torch", why="a kernel that goes through the scores in blocks")
    arrays = [ua.asarray(x) for x in operands("float64", ((4, 256, 16),) * 3, 0)]
    gradient = ua.grad(lambda *arrays: ua.sum(attention(*arrays)), (0, 1, 2))
    for call in (gradient, ua.compile(gradient)):
        call(*arrays)
        assert peak("torch", lambda call=call: call(*arrays)) < 4 * 256 * 256 * 8
