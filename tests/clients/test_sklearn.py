"""scikit-learn with ``array_api_dispatch`` on arrays: as it computes with NumPy, on the arrays' backend."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import unifyarr as ua
from unifyarr.testing import needs

from ..oracle import as_numpy, assert_values
from .programs import run

RANDOM = np.random.default_rng(0)
POINTS = np.concatenate([RANDOM.normal(0, 1, (20, 3)), RANDOM.normal(3, 1, (20, 3))])
LABELS = np.repeat([0, 1], 20)


def fitted(x: Any, y: Any) -> dict[str, Any]:
    """Return what estimators and functions compute, by name."""
    from sklearn.covariance import EmpiricalCovariance
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import Ridge
    from sklearn.metrics import accuracy_score, mean_squared_error, pairwise_distances, r2_score
    from sklearn.mixture import GaussianMixture
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    pca = PCA(2, svd_solver="full").fit(x)
    lda = LinearDiscriminantAnalysis(solver="svd").fit(x, y)
    ridge = Ridge(solver="svd").fit(x, x[:, 0])
    # Helpers of it write into views of one matrix of an array of three axes.
    mixture = GaussianMixture(2, reg_covar=0.5, init_params="random_from_data", random_state=0).fit(x)
    predicted = lda.predict(x)
    assert accuracy_score(y, predicted) > 0.9
    return {
        "StandardScaler": StandardScaler().fit_transform(x),
        "MinMaxScaler": MinMaxScaler().fit_transform(x),
        "PCA": pca.transform(x),
        "PCA.explained_variance_": pca.explained_variance_,
        "EmpiricalCovariance": EmpiricalCovariance().fit(x).covariance_,
        "LDA": predicted,
        "Ridge": ridge.coef_,
        "GaussianMixture": mixture.covariances_,
        # Threads write into slices of a transposed view.
        "pairwise_distances": pairwise_distances(x, metric="cosine", n_jobs=2),
        "mean_squared_error": mean_squared_error(x[:, 0], x[:, 1]),
        "r2_score": r2_score(x[:, 0], x[:, 1]),
    }


def program(backend: str) -> None:
    """Compare all of them on one backend."""
    import sklearn

    warnings.simplefilter("error")
    expected = fitted(POINTS, LABELS)
    # As NumPy does, its backend warns of 0 / 0, which scikit-learn expects of NumPy's own arrays only.
    with np.errstate(all="ignore"), sklearn.config_context(array_api_dispatch=True), ua.use_backend("numpy"):
        x, y = (ua.asarray(each, backend=backend, copy=True) for each in (POINTS, LABELS))
        results = fitted(x, y)
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
