"""Linear filters beside SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..oracle import ALL, COMPLEX, HALVES, as_numpy, assert_raises, assert_same, few
from .test_signals import values_for, wide

COEFFICIENTS = [
    ([1.0, 2.0], [2.0, 0.5, 0.25]),
    ([1.0, -2.0, 0.5], [1.0]),
    ([0.5], [1.0, 0.25, -0.5, 0.125]),
    ([2.0], [4.0]),
]


def lifted(*arrays: object) -> list[ua.Array]:
    return [ua.asarray(each, copy=True) for each in arrays]


@few
@given(data=st.data())
def test_filters_are_scipys(backend: str, data: st.DataObject) -> None:
    signal = pytest.importorskip("scipy.signal")
    b, a = map(np.array, data.draw(st.sampled_from(COEFFICIENTS)))
    shape = data.draw(st.sampled_from([(6,), (1,), (2, 6), (6, 2)]))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = values_for("float64", shape, data.draw(st.integers(0, 99)))
    assert_same(ua.signal.lfilter(*lifted(b, a, x), axis), signal.lfilter(b, a, x, axis), atol=1e-12)
    order = max(len(a), len(b)) - 1
    if order:
        begin = values_for("float64", tuple(order if i == axis % len(shape) else n for i, n in enumerate(shape)), 7)
        for found, expected in zip(
            ua.signal.lfilter(*lifted(b, a, x), axis, ua.asarray(begin)),
            signal.lfilter(b, a, x, axis, begin),
            strict=True,
        ):
            assert_same(found, expected, atol=1e-12)


@pytest.mark.parametrize("dtype", ALL)
def test_filters_over_every_dtype(backend: str, dtype: str) -> None:
    signal = pytest.importorskip("scipy.signal")
    x = values_for(dtype, (2, 6))
    b, a = np.array([1.0, 2.0]), np.array([2.0, -0.5])
    kind = "float64" if np.dtype(x.dtype).kind in "biu" or dtype in COMPLEX else dtype
    kinds = [each.astype(ua.bfloat16 if kind == "bfloat16" else kind) for each in (b, a)]
    expected = signal.lfilter(b, a, wide(x)).astype(
        np.result_type(x.dtype, kinds[0].dtype) if dtype not in HALVES else x.dtype
    )
    found = ua.signal.lfilter(*lifted(*kinds, x))
    assert_same(
        found, expected, atol=1e-12 if dtype not in (*HALVES, "float32", "complex64") else 1e-5, signed_zeros=False
    )


def test_a_long_signal_in_stretches(backend: str) -> None:
    signal = pytest.importorskip("scipy.signal")
    b, a = signal.butter(4, 0.3)
    x = values_for("float64", (2, 40))
    state, parts = ua.zeros((2, 4)), []
    for stretch in (x[:, :3], x[:, 3:3], x[:, 3:4], x[:, 4:]):
        part, state = ua.signal.lfilter(*lifted(b, a, stretch), zi=state)
        parts.append(part)
    expected, after = signal.lfilter(b, a, x, zi=np.zeros((2, 4)))
    assert_same(ua.concat(parts, axis=1), expected, atol=1e-12)
    assert_same(state, after, atol=1e-12)
    # One state serves all rows.
    one = values_for("float64", (1, 4))
    found = ua.signal.lfilter(*lifted(b, a, x), zi=ua.asarray(one))
    assert_same(found[0], signal.lfilter(b, a, x, zi=np.repeat(one, 2, 0))[0], atol=1e-12)


def test_filters_without_samples_into_out_compiled_and_in_batches(backend: str) -> None:
    b, a, x = lifted([1.0, 2.0], [2.0, 0.5, 0.25], values_for("float64", (3, 6)))
    for shape in ((0,), (2, 0), (0, 3)):
        assert ua.signal.lfilter(b, a, ua.ones(shape)).shape == shape
        state = ua.zeros((*shape[:-1], 2))
        assert [each.shape for each in ua.signal.lfilter(b, a, ua.ones(shape), zi=state)] == [shape, state.shape]
    expected = as_numpy(ua.signal.lfilter(b, a, x))
    out, state = ua.zeros((3, 6)), ua.zeros((3, 2))
    found = ua.signal.lfilter(b, a, x, zi=state, out=(out, state))
    assert [id(each) for each in found] == [id(out), id(state)]
    assert_same(out, expected)
    assert as_numpy(state).any()
    assert_same(ua.compile(ua.signal.lfilter)(b, a, x), expected, atol=1e-15)
    assert_same(ua.vmap(lambda row: ua.signal.lfilter(b, a, row))(x), expected, atol=1e-15)
    assert ua.signal.lfilter(b, a, x[:, ::-1], out=x) is x
    assert_same(x, as_numpy(ua.signal.lfilter(b, a, ua.asarray(values_for("float64", (3, 6))[:, ::-1]))), atol=1e-15)


def test_what_filters_refuse(backend: str) -> None:
    b, a, x = lifted([1.0, 2.0], [2.0, 0.5, 0.25], np.ones((2, 6)))
    shape = ua.errors.ShapeError
    with pytest.raises(shape, match=r"lfilter\(\) takes b of shape \(n,\) with at least one coefficient, not \(2, 6\)"):
        ua.signal.lfilter(x, a, x)
    assert_raises(shape, ua.signal.lfilter, b, a[:0], x, out=ua.ones((2, 6)))
    with pytest.raises(shape, match=r"^signal\.lfilter\(\): zi broadcasts to shape \(2, 2\), unlike shape \(2,\)"):
        ua.signal.lfilter(b, a, x, zi=ua.ones(2))
    assert_raises(shape, ua.signal.lfilter, b, a, x, zi=ua.ones((2, 3)))
    assert_raises(ua.errors.AxisError, ua.signal.lfilter, b, a, x, axis=2)
    assert_raises(ua.errors.AxisError, ua.signal.lfilter, b, a, ua.ones(()))
