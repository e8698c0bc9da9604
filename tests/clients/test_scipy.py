"""SciPy on arrays: results come back on the arrays' backend, with NumPy's values."""

from __future__ import annotations

import numpy as np

import unifyarr as ua
from unifyarr.testing import has

from ..oracle import assert_same
from .dispatched import of_scipy
from .programs import run

POINTS = np.linspace(0.1, 2.0, 12).reshape(3, 4)


def program(backend: str) -> None:
    """Compare all of them on one backend."""
    with ua.use_backend("numpy"):
        # The current backend is another one: what SciPy makes has to land where its input lives.
        calls = of_scipy()
        if not has(backend, "shapes"):
            # It ends when its selection has no elements, which it takes an unknown number for.
            del calls["optimize.find_root"]
        for name, call in calls.items():
            x = ua.asarray(POINTS, backend=backend, copy=True)
            result = call(x)
            assert isinstance(result, ua.Array), f"{name}: {type(result)}"
            assert result.backend == backend, name
            assert_same(result, call(POINTS), rtol=1e-8, atol=1e-12, signed_zeros=False, what=name)
            assert_same(x, POINTS, what=("the input of", name))


def test_scipy_computes_on_arrays(backend: str) -> None:
    run("tests.clients.test_scipy.program", backend)
