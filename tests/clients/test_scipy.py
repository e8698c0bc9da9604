"""SciPy on arrays: results come back on the arrays' backend, with NumPy's values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua
from unifyarr.testing import has

from ..oracle import assert_same
from .programs import run

POINTS = np.linspace(0.1, 2.0, 12).reshape(3, 4)


def programs() -> dict[str, Callable[[Any], Any]]:
    """Return calls of SciPy, by name: each on NumPy's array or on ours."""
    from scipy import cluster, integrate, signal, special, stats
    from scipy.optimize import elementwise

    return {
        "special.erf": special.erf,
        "special.gammaln": special.gammaln,
        "special.logsumexp": lambda x: special.logsumexp(x, axis=1),
        "special.softmax": lambda x: special.softmax(x, axis=0),
        "stats.zscore": lambda x: stats.zscore(x, axis=1),
        "stats.skew": lambda x: stats.skew(x, axis=0),
        "stats.kurtosis": stats.kurtosis,
        "stats.moment": lambda x: stats.moment(x, 3),
        "stats.ttest_1samp": lambda x: stats.ttest_1samp(x, 1.0).statistic,
        "stats.entropy": stats.entropy,
        "stats.gmean": stats.gmean,
        "integrate.trapezoid": lambda x: integrate.trapezoid(x, axis=1),
        "signal.detrend": signal.detrend,
        "cluster.whiten": cluster.vq.whiten,
        "optimize.find_root": lambda x: elementwise.find_root(lambda r, a: r * r - a, (x * 0, x * 0 + 3), args=(x,)).x,
    }


def program(backend: str) -> None:
    """Compare all of them on one backend."""
    with ua.use_backend("numpy"):
        # The current backend is another one: what SciPy makes has to land where its input lives.
        calls = programs()
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
