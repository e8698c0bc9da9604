"""SciPy and scikit-learn on arrays of the standard, with their switches on: on our arrays, on their backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

RANDOM = np.random.default_rng(0)
POINTS = np.concatenate([RANDOM.normal(0, 1, (20, 3)), RANDOM.normal(3, 1, (20, 3))])
LABELS = np.repeat([0, 1], 20)


def of_scipy() -> dict[str, Callable[[Any], Any]]:
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


def of_sklearn(x: Any, y: Any) -> dict[str, Any]:
    """Return the results of estimators and functions, by name."""
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


def rows() -> Iterator[tuple[str, str, bool]]:
    """Yield each of them for the table of clients: the client, the name, and whether it gives our array."""
    for name in of_scipy():
        yield "SciPy", f"{name}, SCIPY_ARRAY_API=1", True
    for name, found in of_sklearn(POINTS, LABELS).items():
        # Scores are Python's numbers.
        yield "scikit-learn", f"{name}, array_api_dispatch", not isinstance(found, float)
