"""Functions of any engine's arrays, written once for ours: natives in, natives out."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.testing import has, lacks, needs

from .natives import native, skip_unless, values_of, variable
from .oracle import assert_same

X = np.array([[1.0, 2.0], [3.0, 5.0]])


@ua.portable
def centered(x: Any, y: Any = None, *, scale: float = 1.0) -> Any:
    """Subtract the mean."""
    assert isinstance(x, ua.Array)
    result = (x - ua.mean(x)) * scale + ua.zeros((2, 2))
    return result if y is None else (result, {"y": y + 1, "name": "y"})


@ua.portable
def overwrite(x: Any, *others: Any) -> Any:
    """Write to the first argument."""
    x[0] = 9
    return x


def test_natives_become_natives(backend: str) -> None:
    given = native(backend, X)
    result = centered(given, scale=2.0)
    assert isinstance(result, type(given))
    np.testing.assert_allclose(values_of(result), (X - X.mean()) * 2)
    # Whichever backend is current.
    other = next((name for name in ua.available_backends() if name != backend), backend)
    with ua.use_backend(other):
        assert isinstance(centered(given), type(given))


def test_arrays_of_ours_stay_ours(backend: str) -> None:
    result = centered(ua.asarray(X))
    assert_same(result, X - X.mean())
    assert result.backend == backend
    with ua.use_backend("numpy"):
        assert centered(ua.asarray(X, backend=backend)).backend == backend


def test_nests(backend: str) -> None:
    given = native(backend, X)
    result, others = centered(given, given)
    assert isinstance(result, type(given))
    assert isinstance(others["y"], type(given))
    assert others["name"] == "y"

    @ua.portable
    def total(tree: Any, weights: Any) -> Any:
        return ua.sum(tree["a"]) + sum(ua.sum(each) for each in tree["b"]) * weights[0]

    found = total({"a": given, "b": [given, (given)]}, [2.0])
    assert float(found) == 11 + 22 * 2
    assert isinstance(found, type(given) if backend != "numpy" else np.ndarray)
    kept = ua.portable(lambda c: c + 1)(ua.Container(a=ua.asarray(X)))
    assert isinstance(kept, ua.Container)
    assert_same(kept.a, X + 1)


@needs("writes", why="an engine whose arrays can be written")
def test_writes_are_seen_where_the_engine_can(backend: str) -> None:
    given = native(backend, X.copy())
    assert overwrite(given, given) is given
    np.testing.assert_array_equal(values_of(given), [[9, 9], [3, 5]])


def test_writes_to_what_cant_be_written_are_errors(backend: str) -> None:
    if has(backend, "writes"):
        skip_unless(backend, "numpy", why="arrays that are read-only")
        given = X.copy()
        given.flags.writeable = False
        with pytest.raises(ua.errors.ReadOnlyError):
            overwrite(given)
        return
    given = native(backend, X)
    with pytest.raises(ua.errors.InplaceUpdateError, match=r"overwrite\(\) writes to an argument.*ua\.asarray"):
        overwrite(given)
    np.testing.assert_array_equal(values_of(given), X)


@lacks("writes", why="variables of an engine whose arrays can't be written")
def test_writes_to_variables_are_seen(backend: str) -> None:
    given = variable(backend, X)
    overwrite(given)
    np.testing.assert_array_equal(np.asarray(ua.asarray(given)), [[9, 9], [3, 5]])


def test_numbers_alone_give_arrays(backend: str) -> None:
    result = ua.portable(lambda n: ua.ones(n))(3)
    assert_same(result, np.ones(3))
    assert result.backend == backend


def test_the_signature_stays() -> None:
    assert list(inspect.signature(centered).parameters) == ["x", "y", "scale"]
    assert centered.__doc__ == "Subtract the mean."
    with pytest.raises(TypeError, match="portable"):
        ua.portable(3)  # type: ignore[type-var]


def test_array_namespace(backend: str) -> None:
    given, own = native(backend, X), ua.asarray(X)
    for arrays in ((given,), (own,), (given, own, 1.0), (ua.Container(a=own), given)):
        xp = ua.array_namespace(*arrays)
        assert xp is getattr(ua.on, backend)
    assert xp.zeros(3).backend == backend
    with pytest.raises(TypeError, match="at least one"):
        ua.array_namespace(1.0, [2.0])


def test_arrays_of_two_backends_are_an_error(backend: str) -> None:
    others = [name for name in ua.available_backends() if name != backend]
    if not others:
        pytest.skip("one backend is installed")
    one, other = native(backend, X), ua.zeros(2, backend=others[0])
    for call in (ua.array_namespace, overwrite):
        with pytest.raises(ua.errors.BackendMismatchError):
            call(one, other)
        with pytest.raises(ua.errors.BackendMismatchError):
            call(one, other.native)
