"""scikit-learn with ``array_api_dispatch`` on arrays: as it computes with NumPy, on the arrays' backend."""

from __future__ import annotations

import warnings

import numpy as np

import unifyarr as ua
from unifyarr.testing import needs

from ..oracle import as_numpy, assert_values
from .dispatched import LABELS, POINTS, of_sklearn
from .programs import run


def program(backend: str) -> None:
    """Compare all of them on one backend."""
    import sklearn

    warnings.simplefilter("error")
    expected = of_sklearn(POINTS, LABELS)
    # As NumPy does, its backend warns of 0 / 0, which scikit-learn expects of NumPy's own arrays only.
    with np.errstate(all="ignore"), sklearn.config_context(array_api_dispatch=True), ua.use_backend("numpy"):
        x, y = (ua.asarray(each, backend=backend, copy=True) for each in (POINTS, LABELS))
        results = of_sklearn(x, y)
    for name, result in results.items():
        if isinstance(result, ua.Array):
            assert result.backend == backend, name
        else:
            # Scores are Python's numbers.
            assert isinstance(result, float), f"{name}: {type(result)}"
        assert_values(np.asarray(as_numpy(result)), np.asarray(expected[name]), rtol=1e-6, atol=1e-9, what=name)
    assert sum(isinstance(each, ua.Array) for each in results.values()) == len(results) - 2
    assert_values(as_numpy(x), POINTS, what="the input")


@needs("shapes", why="discriminant analysis decomposes selected rows")
def test_sklearn_fits_on_arrays(backend: str) -> None:
    run("tests.clients.test_sklearn.program", backend)
