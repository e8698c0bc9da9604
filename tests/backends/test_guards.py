"""Kernels for natives that the compiled core looks at: which of two is called."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._native import core
from unifyarr.backends.guards import guarded

from ..oracle import assert_same

pytestmark = pytest.mark.skipif(core is None, reason="the compiled core looks at them")
FEW = np.arange(1.0, 7.0).reshape(2, 3)


def first(*operands: Any) -> str:
    return "first"


def second(*operands: Any) -> str:
    return "second"


def _read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


class Subclass(np.ndarray):
    """NumPy's arrays that may look otherwise."""


FINITE = {
    "floats": FEW,
    "single": FEW.astype(np.float32),
    "complex": FEW + 1j,
    "0-d": np.array(2.0),
    "none": np.empty((0, 3)),
    "most": np.ones(64),
    "read-only": _read_only(FEW),
    "one column": FEW[:, :1].copy(),
}
OTHERS = {
    "more": np.ones(65),
    "one many times": np.broadcast_to(1.0, (1 << 20, 1 << 20)),
    "columns": FEW.T,
    "steps": np.arange(6.0)[::2],
    "half": FEW.astype(np.float16),
    "integers": FEW.astype(np.int64),
    "other order of bytes": FEW.astype(">f8"),
    "wider": FEW.astype(np.longdouble),
    "apart": np.frombuffer(b"\0" * 17, np.uint8)[1:].view(np.float64),
    "subclass": FEW.view(Subclass),
    "infinite": np.array([1.0, np.inf]),
    "NaN": np.array([np.nan, 1.0]),
    "NaN in an imaginary part": np.array([1.0, complex(0, np.nan)]),
    "infinite in single precision": np.array([1.0, -np.inf], np.float32),
}


@pytest.mark.parametrize("name", FINITE)
def test_finite_arrays_of_numpy(name: str) -> None:
    assert guarded(first, second, "finite")(FINITE[name], 3) == "first"


@pytest.mark.parametrize("name", OTHERS)
def test_other_arrays_of_numpy(name: str) -> None:
    x = OTHERS[name]
    assert guarded(first, second, "finite")(x) == "second"
    assert core.is_finite(x) is not True


@pytest.mark.parametrize("kind", ["float64", "float32", "complex128"])
def test_the_first_number(kind: str) -> None:
    begins = guarded(first, second, "begins with another number than zero")
    assert begins(np.array([2.0, 0.0, np.nan], kind)) == "first"
    for values in ([0.0, 1.0], [-0.0, 1.0], []):
        assert begins(np.array(values, kind)) == "second"


def test_all_natives_are_looked_at() -> None:
    call = guarded(first, second, "finite")
    assert call(FEW, FEW) == call(FEW, "axis", None) == "first"
    assert call(FEW, OTHERS["NaN"]) == call(OTHERS["NaN"], FEW) == "second"


def test_numbers_beside_natives() -> None:
    call = guarded(first, second, "beside integers")
    assert call(FEW, 3) == call(OTHERS["NaN"], 3) == call(FEW) == "first"
    assert call(FEW, 3.0) == call(FEW, True) == call(FEW, 3, None) == "second"


def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    x, weight = torch.ones(3), torch.ones(3, requires_grad=True)
    for questions, wanted in ((("unwatched",), "second"), (("finite",), "first"), (("unwatched", "finite"), "second")):
        assert guarded(first, second, *questions)(x) == "first"
        assert guarded(first, second, *questions)(weight) == wanted
    assert guarded(first, second, "finite")(x / 0) == guarded(first, second, "finite")(torch.ones(65)) == "second"
    assert guarded(first, second, "finite")(torch.nn.Parameter(torch.ones(3))) == "second"


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e308])
@pytest.mark.parametrize("count", [3, 100])
def test_quotients_are_those_of_the_standard(backend: str, number: float, count: int) -> None:
    with np.errstate(all="ignore"):
        for x in (np.linspace(-3.0, 4.0, count), np.full(count, number)):
            for y in (np.linspace(-2.0, 2.5, count), np.full(count, number)):
                expected = np.where(np.isinf(x) | np.isinf(y), np.floor(x / y), np.floor_divide(x, y))
                for _ in range(2):
                    assert_same(ua.floor_divide(ua.asarray(x), ua.asarray(y)), expected)


@pytest.mark.parametrize("values", [[-0.0, -0.0, 1.0], [0.0, -0.0], [-0.0], [2.0, -0.0], [np.nan, 1.0]])
def test_sums_keep_the_sign_of_zero(backend: str, values: list[float]) -> None:
    for _ in range(4):
        assert_same(ua.cumulative_sum(ua.asarray(values)), np.cumsum(values))
