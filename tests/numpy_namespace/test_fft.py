"""``unifyarr.numpy.fft`` beside NumPy's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
import unifyarr.numpy as unp

from ..oracle import assert_same
from .tables import assert_agrees

REAL = np.array([[1.0, 2.0, -3.0, 0.5], [0.0, 1.5, 2.0, 4.0], [1.0, 1.0, 0.0, -1.0]])
COMPLEX = REAL + 1j * REAL[::-1]
COMPLEX_TO = ["fft", "ifft", "irfft", "hfft"]
REAL_TO = ["rfft", "ihfft"]
SEVERAL = ["fftn", "ifftn", "irfftn", "fft2", "ifft2", "irfft2"]

CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *[(name, (COMPLEX,), {}) for name in (*COMPLEX_TO, *SEVERAL)],
    *[(name, (COMPLEX, 6, 0, None), {}) for name in COMPLEX_TO],
    *[(name, (REAL, 2, 1, "ortho"), {}) for name in (*COMPLEX_TO, *REAL_TO)],
    *[(name, (REAL,), {}) for name in (*REAL_TO, "rfftn", "rfft2")],
    *[(name, (COMPLEX, (2, 6), (1, 0), "forward"), {}) for name in SEVERAL],
    *[(name, (REAL, (4, -1), (0, 1)), {}) for name in ("fftn", "rfftn", "irfftn")],
    *[(name, (REAL, None, (1, 1)), {}) for name in ("fftn", "ifftn")],
    ("fftn", (REAL, None, ()), {}),
    ("rfftn", (REAL, None, ()), {}),
    ("fftn", (REAL, (2,), (0, 1)), {}),
    ("fft", (REAL, 0), {}),
    ("fft", (REAL, None, 5), {}),
    ("fft", (REAL, None, 0, "half"), {}),
    ("rfft", (COMPLEX,), {}),
    ("fft", ([1, 2, 3, 4],), {}),
    ("rfft", (REAL.astype("float32"),), {}),
    ("fftfreq", (5,), {}),
    ("fftfreq", (4, 0.5), {}),
    ("fftfreq", (4.5,), {}),
    ("rfftfreq", (5, 2), {}),
    ("fftshift", (REAL,), {}),
    ("fftshift", (REAL, 1), {}),
    ("ifftshift", (REAL, (0,)), {}),
    ("ifftshift", ([0, 1, 2],), {}),
]


@pytest.mark.parametrize(("name", "args", "kwargs"), CASES, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(CASES)])
def test_a_call(backend: str, name: str, args: Any, kwargs: Any) -> None:
    assert_agrees(getattr(np.fft, name), getattr(unp.fft, name), *args, **kwargs, tolerance={"atol": 1e-5})


@pytest.mark.parametrize("name", ["fft", "fftn"])
def test_out(backend: str, name: str) -> None:
    out = ua.zeros((3, 4), dtype="complex128")
    assert getattr(unp.fft, name)(ua.asarray(REAL), out=out) is out
    assert_same(out, getattr(np.fft, name)(REAL), atol=1e-12, signed_zeros=False)
    with pytest.raises(TypeError):
        getattr(unp.fft, name)(ua.asarray(REAL), out=ua.zeros((3, 4)))
    with pytest.raises(ValueError, match="shape"):
        getattr(unp.fft, name)(ua.asarray(REAL), out=ua.zeros(3, dtype="complex128"))
