"""Rows of SciPy, scikit-learn, Matplotlib and Python's own modules, found by a survey of 1,268 calls."""

from __future__ import annotations

import copy
import json
import math
import pickle
import random
import statistics
import struct
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .rows import VALUES, Case, Outcome, Program, like

SPREAD = np.random.default_rng(0).normal(size=(12, 4))
CLASSES = np.arange(12) % 3
Refusals = dict[str, tuple[Program, str]]


def _rows(client: str, works: dict[str, Program], refused: Refusals, differs: Iterable[str] = ()) -> Iterator[Case]:
    for what, program in works.items():
        yield Case(client, what, program, Outcome.DIFFERS if what in differs else Outcome.CONVERTS)
    for what, (program, words) in refused.items():
        yield Case(client, what, program, Outcome.REFUSES, words)


def scipy() -> Iterator[Case]:
    import scipy as sp

    square = VALUES[:, :3] + 20 * np.eye(3)
    sparse = sp.sparse.csr_array(square)
    works: dict[str, Program] = {
        "stats.linregress": lambda x: tuple(sp.stats.linregress(x[0], x[1] ** 2)),
        "stats.norm.cdf": lambda x: sp.stats.norm.cdf(x, loc=x, scale=x + 1),
        "stats.gaussian_kde": lambda x: sp.stats.gaussian_kde(x[0])(x[1]),
        "interpolate.CubicSpline": lambda x: sp.interpolate.CubicSpline(x[0], x[0] ** 2)(x[0] / 2),
        "interpolate.griddata": lambda x: sp.interpolate.griddata(
            like(x, SPREAD[:, :2]), like(x, CLASSES), x[:, :2] / 99
        ),
        "optimize.curve_fit": lambda x: sp.optimize.curve_fit(lambda t, a, b: a * t + b, x[0], x[1] * 2)[0],
        "optimize.minimize": lambda x: sp.optimize.minimize(lambda t: ((t - 1) ** 2).sum(), x[0]).x,
        "optimize.minimize(jac=True), L-BFGS-B": lambda x: (
            sp.optimize.minimize(lambda t: _square(like(x, t)), x[0], jac=True, method="L-BFGS-B").x
        ),
        "optimize.minimize(hess), Newton": lambda x: (
            sp.optimize.minimize(
                lambda t: _square(like(x, t))[0],
                x[0],
                jac=lambda t: _square(like(x, t))[1],
                hess=lambda t: like(x, 2 * np.eye(4)),
                method="Newton-CG",
            ).x
        ),
        "optimize.least_squares(jac)": lambda x: (
            sp.optimize.least_squares(lambda t: like(x, t) - x[1], x[0], jac=lambda t: like(x, np.eye(4))).x
        ),
        "optimize.linear_sum_assignment": lambda x: sp.optimize.linear_sum_assignment(x % 5),
        "sparse.csr_array": lambda x: sp.sparse.csr_array(x).toarray(),
        "sparse @ x": lambda x: sparse @ x,
        "x @ sparse": lambda x: x[0, :3] @ sparse,
        "sparse[mask]": lambda x: sparse[x[:, 0] > 1].toarray(),
        "sparse == x": lambda x: (sparse == like(x, square)) is not False,
        "x == sparse": lambda x: (like(x, square) == sparse) is not False,
        "sparse.linalg.spsolve": lambda x: sp.sparse.linalg.spsolve(sparse.tocsc(), x[:, 0]),
        "ndimage.gaussian_filter": lambda x: sp.ndimage.gaussian_filter(x, 1.0),
        "ndimage.label": lambda x: sp.ndimage.label(x % 3 > 0)[0],
        "ndimage.mean of labels": lambda x: sp.ndimage.mean(x[0], like(x, [0, 0, 1, 1]), like(x, [0, 1])),
        "signal.lfilter": lambda x: sp.signal.lfilter(x[0] + 1, x[1], x[2]),
        "signal.find_peaks": lambda x: sp.signal.find_peaks(x[0] % 2)[0],
        "spatial.KDTree": lambda x: sp.spatial.KDTree(x).query(x[:2] + 1)[0],
        "spatial.ConvexHull": lambda x: sp.spatial.ConvexHull(like(x, SPREAD[:, :2])).volume,
        "integrate.solve_ivp": lambda x: sp.integrate.solve_ivp(lambda t, y: -like(x, y), (0, 1), x[0]).y,
    }
    refused: Refusals = {
        "sparse + x": (lambda x: sparse + like(x, square), "unsupported operand"),
        "sparse.linalg.eigsh(x)": (lambda x: sp.sparse.linalg.eigsh(like(x, square), k=1)[0], "type not understood"),
        "sparse.linalg.cg(x, b)": (lambda x: sp.sparse.linalg.cg(like(x, square), x[:, 0])[0], "type not understood"),
    }
    return _rows("SciPy", works, refused, ("sparse == x", "x == sparse"))


def _square(t: Any) -> tuple[Any, Any]:
    """Return a function that is least at ones, and its gradient."""
    return ((t - 1) ** 2).sum(), 2 * (t - 1)


def scikit_learn() -> Iterator[Case]:
    from sklearn import cluster, decomposition, linear_model, metrics, model_selection, preprocessing
    from sklearn.utils.class_weight import compute_class_weight

    def fitted(x: Any, model: Any) -> Any:
        return model.fit(like(x, SPREAD), like(x, CLASSES)).predict(like(x, SPREAD))

    works: dict[str, Program] = {
        "metrics.confusion_matrix": lambda x: metrics.confusion_matrix(like(x, CLASSES), like(x, CLASSES[::-1])),
        "metrics.roc_auc_score": lambda x: metrics.roc_auc_score(x[0] > 1, x[0] % 3),
        "preprocessing.OneHotEncoder": lambda x: preprocessing.OneHotEncoder().fit_transform(x).toarray(),
        "model_selection.train_test_split": lambda x: model_selection.train_test_split(x, random_state=0)[0],
        "model_selection.GroupKFold": lambda x: [
            each for pair in model_selection.GroupKFold(3).split(x, groups=like(x, [0, 1, 2])) for each in pair[1]
        ],
        "cluster.KMeans": lambda x: cluster.KMeans(2, random_state=0, n_init=1).fit(x).cluster_centers_,
        "decomposition.PCA": lambda x: np.abs(np.asarray(decomposition.PCA(2).fit_transform(like(x, SPREAD)))),
        "linear_model.Ridge": lambda x: fitted(x, linear_model.Ridge()),
        "linear_model.LogisticRegression": lambda x: fitted(x, linear_model.LogisticRegression()),
    }
    grid: Program = lambda x: [each["a"] for each in model_selection.ParameterGrid({"a": x[0]})]  # noqa: E731
    weights: Program = lambda x: compute_class_weight("balanced", classes=like(x, [0, 1, 2]), y=CLASSES)  # noqa: E731
    refused: Refusals = {
        "ParameterGrid of x": (grid, "needs to be a list or a numpy array"),
        "compute_class_weight(classes=x)": (weights, "must be an instance of 'numpy.ndarray'"),
    }
    return _rows("scikit-learn", works, refused)


def matplotlib() -> Iterator[Case]:
    from matplotlib.figure import Figure

    def drawn(x: Any, draw: Any) -> Any:
        figure = Figure()
        found = draw(figure.subplots())
        figure.canvas.draw()
        return found

    def of_columns(draw: Any) -> Program:
        return lambda x: drawn(x, lambda axes: draw(axes, like(x, SPREAD)))

    columns: dict[str, Any] = {
        "boxplot of columns": lambda axes, x: [each.get_xydata() for each in axes.boxplot(x)["medians"]],
        "violinplot of columns": lambda axes, x: [path.vertices for path in axes.violinplot(x)["cbars"].get_paths()],
        "hist of columns": lambda axes, x: axes.hist(x)[0],
        "hist of a view": lambda axes, x: axes.hist(x.T[::-1].T)[0],
        "hist2d": lambda axes, x: axes.hist2d(x[:, 0], x[:, 1])[0],
        "plot of columns": lambda axes, x: [line.get_xydata() for line in axes.plot(x)],
        "plot(x, columns)": lambda axes, x: [line.get_xydata() for line in axes.plot(x[:, 0], x[:, 1:])],
        "scatter": lambda axes, x: np.asarray(axes.scatter(x[:, 0], x[:, 1], c=x[:, 2]).get_offsets()),
        "imshow": lambda axes, x: axes.imshow(x).get_array(),
        "pcolormesh": lambda axes, x: axes.pcolormesh(x).get_array(),
        "contour": lambda axes, x: axes.contour(x).levels,
        "quiver": lambda axes, x: axes.quiver(x[:, 0], x[:, 1]).U,
        "bar": lambda axes, x: [each.get_height() for each in axes.bar(range(12), x[:, 0])],
        "errorbar": lambda axes, x: axes.errorbar(range(12), x[:, 0], yerr=abs(x[:, 1]))[0].get_xydata(),
        "fill_between": lambda axes, x: axes.fill_between(range(12), x[:, 0], x[:, 1]).get_paths()[0].vertices,
        "hexbin": lambda axes, x: axes.hexbin(x[:, 0], x[:, 1], gridsize=5).get_array(),
        "stackplot": lambda axes, x: [each.get_paths()[0].vertices for each in axes.stackplot(range(12), abs(x).T)],
        "axhline(x[0, 0]), set_xlim": lambda axes, x: (axes.axhline(x[0, 0]), axes.set_xlim(x[0, 1], x[0, 1] + 1))[1],
    }
    works: dict[str, Program] = {
        **{what: of_columns(draw) for what, draw in columns.items()},
        "bar(x, heights)": lambda x: drawn(x, lambda axes: [each.get_height() for each in axes.bar(x[0], x[1])]),
        "scatter(c=x)": lambda x: drawn(x, lambda axes: axes.scatter(x[0], x[1], c=x[2]).get_array()),
    }
    colour: Program = lambda x: drawn(x, lambda axes: axes.plot([0, 1], color=x[0, :3] / 9)[0].get_xydata())  # noqa: E731
    return _rows("Matplotlib", works, {"color=x": (colour, "is not a valid value for color")})


def python() -> Iterator[Case]:
    def shuffled(x: Any) -> Any:
        row = like(x, VALUES[0].copy())
        random.Random(0).shuffle(row)
        return row

    works: dict[str, Program] = {
        "sorted": lambda x: sorted(x[0] % 3),
        "math.fsum": lambda x: math.fsum(x[0]),
        "statistics.fmean": lambda x: statistics.fmean(x[0]),
        "statistics.median": lambda x: statistics.median(x[0]),
        "struct.pack": lambda x: np.frombuffer(struct.pack("4d", *x[0])),
        "json.dumps(x.tolist())": lambda x: json.loads(json.dumps(x.tolist())),
        "pickle": lambda x: pickle.loads(pickle.dumps(x[::-1])),
        "copy.deepcopy": copy.deepcopy,
        "random.shuffle of a row": shuffled,
        "random.sample": lambda x: random.Random(0).sample(list(x[0]), 3),
    }
    refused: Refusals = {
        "statistics.mean": (lambda x: statistics.mean(x[0]), "numerator/denominator"),
        "set": (lambda x: sorted(set(x[0])), "unhashable"),
        "json.dumps(x[0, 0])": (lambda x: json.loads(json.dumps(x[0, 0])), "not JSON serializable"),
        "struct.unpack": (lambda x: struct.unpack("4d", x[0]), "bytes-like object"),
    }
    return _rows("Python", works, refused)
