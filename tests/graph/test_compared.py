"""PyTensor's rewrites beside ours: each formula of the page has the operations that it says, and its values."""

from __future__ import annotations

import numpy as np
import pytest

import unifyarr as ua
from tests.natives import values_of

from .compared import ROWS, Compared

VALUES = {"x": np.array([0.5, 1.0, 2.0]), "y": np.array([1.0, 3.0, 0.5]), "m": np.arange(9.0).reshape(3, 3) + np.eye(3)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.formula)
def test_a_formula_has_these_operations_and_its_values(backend: str, row: Compared) -> None:
    if row.by.startswith("not done") and backend != "numpy":
        pytest.skip("the operations of the eager calls")
    given = [ua.asarray(VALUES[name]) for name in row.given]
    run = ua.compile(row.function, include=row.include, exclude="fuse")
    if backend == "numpy":
        assert sorted(node.op.name for node in run.graph(*given).toposort()) == sorted(row.left)
    np.testing.assert_allclose(values_of(run(*given)), values_of(row.function(*given)), rtol=1e-12, atol=1e-15)
