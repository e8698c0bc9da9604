"""matplotlib draws arrays as it draws NumPy's: columns of a matrix, and not its rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("agg")

from matplotlib.figure import Figure  # noqa: E402

VALUES = np.random.default_rng(0).normal([0, 5, 10], size=(20, 3))
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "boxplot": lambda axes, x: [each.get_xydata() for each in axes.boxplot(x)["medians"]],
    "violinplot": lambda axes, x: [path.vertices for path in axes.violinplot(x)["cbars"].get_paths()],
    "hist": lambda axes, x: axes.hist(x)[0],
    "plot": lambda axes, x: [line.get_xydata() for line in axes.plot(x)],
    "plot of two": lambda axes, x: [line.get_xydata() for line in axes.plot(x[:, 0], x[:, 1:])],
    "scatter": lambda axes, x: axes.scatter(x[:, 0], x[:, 1], c=x[:, 2]).get_offsets(),
    "imshow": lambda axes, x: axes.imshow(x).get_array(),
    "pcolormesh": lambda axes, x: axes.pcolormesh(x).get_array(),
    "contour": lambda axes, x: axes.contour(x).levels,
    "bar": lambda axes, x: [each.get_height() for each in axes.bar(range(20), x[:, 0])],
    "errorbar": lambda axes, x: axes.errorbar(range(20), x[:, 0], yerr=abs(x[:, 1]))[0].get_xydata(),
    "fill_between": lambda axes, x: axes.fill_between(range(20), x[:, 0], x[:, 1]).get_paths()[0].vertices,
    "hexbin": lambda axes, x: axes.hexbin(x[:, 0], x[:, 1], gridsize=5).get_array(),
    "a view": lambda axes, x: axes.hist(x.T[::-1].T)[0],
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_matplotlib_draws_arrays_as_numpys(backend: str, call: Callable[[Any, Any], Any]) -> None:
    figure, expected = Figure(), Figure()
    drawn = call(figure.subplots(), ua.asarray(VALUES, copy=True))
    wanted = call(expected.subplots(), VALUES)
    assert len(drawn) == len(wanted)
    for one, other in zip(drawn, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other))
    figure.canvas.draw()
