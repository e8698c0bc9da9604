"""The table of plain calls: a backend's declarations for dtypes and numbers hold in the compiled core."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.engines.registry import load
from unifyarr._native import core
from unifyarr.backends.base.plain import EXACT, Beside, Plain

from ..oracle import assert_same

pytestmark = pytest.mark.skipif(core is None, reason="the compiled core reads the tables")

FLOAT, DOUBLE, INTEGER = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int64)


def entry(plain: Plain, learn: Any = None) -> Any:
    """Return an entry of NumPy's table."""
    tables = plain.kernels, plain.right, plain.left, plain.into, plain.in_place, plain.several
    rest = plain.kernel, plain.rest_right, plain.rest_left, plain.into_any, None, None
    return core.PlainCall(load("numpy"), tables, rest, None, None, None, learn, plain.by_place)


def noted(*operands: Any) -> tuple[str, ...]:
    """Return the types of operands, and the value of a number."""
    return tuple(repr(x) if isinstance(x, (int, float)) else x.dtype.name for x in operands)


def test_kernels_by_dtype_and_by_pairs() -> None:
    made = entry(
        Plain(kernels={DOUBLE: noted, (DOUBLE, FLOAT): lambda *x: "pair", INTEGER: None}, kernel=lambda *x: "rest")
    )
    one, other, whole = np.ones(2), np.ones(2, np.float32), np.ones(2, np.int64)
    assert made(one) == ("float64",)
    assert made(one, one) == ("float64", "float64")
    assert made(one, other) == "pair"
    assert made(other, one) == made(other, other) == "rest"
    assert made(whole, whole) is NotImplemented


def test_numbers_in_their_ranges() -> None:
    right = {
        DOUBLE: Beside(noted, -EXACT, EXACT, passed_as=float),
        INTEGER: Beside(noted, 0, 127, floats=False),
        FLOAT: Beside(noted, passed_as=lambda value: np.int8(value) if value < 100 else None),
    }
    made = entry(Plain(right=right, left={DOUBLE: Beside(noted), FLOAT: Beside(noted, turned=True)}))
    one, other, whole = np.ones(2), np.ones(2, np.float32), np.ones(2, np.int64)
    assert made(one, 2) == ("float64", "2.0")
    assert made(one, 2.5) == ("float64", "2.5")
    assert made(one, EXACT + 1) is NotImplemented
    assert made(whole, 127) == ("int64", "127")
    assert made(whole, 128) is made(whole, -1) is made(whole, 1.0) is NotImplemented
    assert made(other, 99) == ("float32", "int8")
    assert made(other, 100) is NotImplemented
    assert made(2, one) == ("2", "float64")
    assert made(2, other) == ("float32", "2")
    # Some engines raise for larger integers, and complex numbers are of another kind.
    for number in (1 << 70, 1j):
        assert made(one, number) is NotImplemented
    assert made(whole, np.ones(2)) is NotImplemented


def test_what_is_learnt_is_asked_for_once() -> None:
    asked: list[tuple[int, str]] = []

    def learn(place: int, one: Any, two: Any = None) -> Any:
        asked.append((place, one.dtype.name))
        return None if one.dtype == INTEGER else noted

    made = entry(Plain(), learn)
    for _ in range(3):
        assert made(np.ones(2)) == ("float64",)
        assert made(np.ones(2, np.int64)) is NotImplemented
        assert made(np.ones(2), 3) == ("float64", "3")
    assert asked == [(0, "float64"), (0, "int64"), (1, "float64")]


def test_an_entry_is_collected_with_what_it_learnt() -> None:
    class Kernel:
        def __call__(self, *natives: Any) -> Any:
            return self.entry

    kernel = Kernel()
    kernel.entry = entry(Plain(kernel=kernel))  # type: ignore[attr-defined]
    gone = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert gone() is None


def test_wrong_calls_of_an_entry() -> None:
    made = entry(Plain(kernel=noted))
    for wrong in ((), (1, 2, 3)):
        with pytest.raises(TypeError, match="one operand or two"):
            made(*wrong)
    with pytest.raises(ValueError, match="no backend that the core serves"):
        core.PlainCall(object(), ({},) * 6, (None,) * 6, None, None, None, None, False)


def test_operands_of_different_dtypes_go_into_a_target(backend: str) -> None:
    for one in (np.float32, np.float64, np.int32, bool):
        for other in (np.float64, np.int64, bool):
            for out in (np.float32, np.float64, np.int64, bool):
                values = np.array([1, 0, 1], one), np.array([1, 1, 0], other), np.zeros(3, out)
                x, y, z = map(ua.asarray, values)
                for numpys, ours in ((np.maximum, ua.maximum), (np.less, ua.less), (np.add, ua.add)):
                    try:
                        numpys(*values[:2], out=values[2])
                    except TypeError:
                        with pytest.raises(TypeError):
                            ours(x, y, out=z)
                    else:
                        assert_same(ours(x, y, out=z), values[2])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_beside_torchs_arrays_have_its_bits(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    spread = 10.0 ** np.random.default_rng(1).integers(-44, 38, 100)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3e38]
    native = torch.tensor(np.concatenate([np.random.default_rng(0).normal(size=100) * spread, special]))
    native = native.to(getattr(torch, dtype))
    x = ua.asarray(native)
    calls: list[Any] = [
        *(lambda x, n: x * n, lambda x, n: n * x, lambda x, n: x + n, lambda x, n: x - n, lambda x, n: n - x),
        *(lambda x, n: x / n, lambda x, n: x > n, lambda x, n: x == n, lambda x, n: n >= x),
    ]
    # Each zero twice, as the sign of a number that is kept would show.
    for number in (0.1, 1e-30, -0.0, 0.0, -0.0, 0.0, 3, 1 / 3, -7, 1e30, 2**24, 3e38):
        for call in calls:
            found, wanted = call(x, number).native, call(native, number)
            assert found.dtype is wanted.dtype
            assert found.numpy().tobytes() == wanted.numpy().tobytes()
    leaf = ua.asarray(native[:3].clone().requires_grad_())
    with torch.inference_mode():
        ua.asarray(native[:3]) * 0.623
    ((leaf * 0.623) * leaf).native.sum().backward()


POWERS = [2, 2.0, -1, 0.5, 0, 1, 1.5, 3, -0.5, np.inf, np.nan]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_powers_to_numbers_have_the_bits_of_numpys_functions(dtype: str) -> None:
    values = np.array([0.0, -0.0, 1.0, -7.1, 2.5, 3e-5, 1e4, np.inf, -np.inf, np.nan], dtype)
    for number in POWERS:
        for x in (values, values[::2], values[:1], values[3], np.repeat(values, 500)):
            with np.errstate(all="ignore"):
                wanted = np.square(x) if number == 2 else np.reciprocal(x) if number == -1 else np.pow(x, number)
                assert_same(ua.asarray(x, backend="numpy") ** number, wanted)


@pytest.mark.parametrize("statement", ["x ** 0.5", "x ** 3", "i // 2", "i % 3", "x % 2.5", "x * number"])
def test_numpys_kernels_are_called_without_python(statement: str) -> None:
    x, i = ua.asarray([1.0, 2.0], backend="numpy"), ua.asarray([1, 2], backend="numpy")
    code = compile(statement, "<statement>", "eval")
    space = {"x": x, "i": i, "number": np.float64(2.5)}
    eval(code, space)
    entered: list[str] = []
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: entered.append(frame.f_code.co_name) if event == "call" else None)
    try:
        eval(code, space)
    finally:
        sys.setprofile(before)
    assert entered == ["<module>"]
