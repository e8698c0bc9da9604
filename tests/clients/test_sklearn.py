"""scikit-learn with ``array_api_dispatch`` on arrays: as it computes with NumPy, on the arrays' backend."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import unifyarr as ua

from ..oracle import as_numpy, assert_values
from .programs import run

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(0, 1, (20, 3)), rng.normal(3, 1, (20, 3))])
Y = np.repeat([0, 1], 20)


def fitted(X: Any, Y: Any) -> dict[str, Any]:
    """Return what estimators and functions compute, by name."""
    from sklearn.covariance import EmpiricalCovariance
    from sklearn.decomposition import PCA
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import Ridge
    from sklearn.metrics import accuracy_score, mean_squared_error, pairwise_distances, r2_score
    from sklearn.mixture import GaussianMixture
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    pca = PCA(2, svd_solver="full").fit(X)
    lda = LinearDiscriminantAnalysis(solver="svd").fit(X, Y)
    ridge = Ridge(solver="svd").fit(X, X[:, 0])
    # Helpers of it write into views of one matrix of an array of three axes.
    mixture = GaussianMixture(2, reg_covar=0.5, init_params="random_from_data", random_state=0).fit(X)
    predicted = lda.predict(X)
    assert accuracy_score(Y, predicted) > 0.9
    return {
        "StandardScaler": StandardScaler().fit_transform(X),
        "MinMaxScaler": MinMaxScaler().fit_transform(X),
        "PCA": pca.transform(X),
        "PCA.explained_variance_": pca.explained_variance_,
        "EmpiricalCovariance": EmpiricalCovariance().fit(X).covariance_,
        "LDA": predicted,
        "Ridge": ridge.coef_,
        "GaussianMixture": mixture.covariances_,
        # Threads write into slices of a transposed view.
        "pairwise_distances": pairwise_distances(X, metric="cosine", n_jobs=2),
        "mean_squared_error": mean_squared_error(X[:, 0], X[:, 1]),
        "r2_score": r2_score(X[:, 0], X[:, 1]),
    }


def program(backend: str) -> None:
    """Compare all of them on one backend."""
    import sklearn

    warnings.simplefilter("error")
    expected = fitted(X, Y)
    with sklearn.config_context(array_api_dispatch=True), ua.use_backend("numpy"):
        x, y = (ua.asarray(each, backend=backend, copy=True) for each in (X, Y))
        results = fitted(x, y)
    for name, result in results.items():
        if isinstance(result, ua.Array):
            assert result.backend == backend, name
        else:
            # Scores are Python's numbers.
            assert isinstance(result, float), f"{name}: {type(result)}"
        assert_values(np.asarray(as_numpy(result)), np.asarray(expected[name]), rtol=1e-6, atol=1e-9, what=name)
    assert sum(isinstance(each, ua.Array) for each in results.values()) == len(results) - 2
    assert_values(as_numpy(x), X, what="the input")


def test_sklearn_fits_on_arrays(backend: str) -> None:
    run("tests.clients.test_sklearn.program", backend)
