"""Abilities that an engine may lack are declared in one list, and the frontend follows it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
import unifyarr.numpy as xp
from unifyarr._core.engines.registry import load
from unifyarr.backends import Ability, Backend
from unifyarr.errors import BackendFeatureError, DtypeError, UnknownShapeError
from unifyarr.testing import needs

from ..oracle import as_numpy, assert_raises, assert_same
from .proof import installed, lacking

ROOT = Path(ua.__file__).parents[1]
Engine = Callable[..., list[tuple[int, ...]]]


@pytest.fixture
def engine(boxed: type[Any]) -> Iterator[Engine]:
    """Install the engine with abilities switched off, and return the list of looks at its values."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def install(**abilities: Any) -> list[tuple[int, ...]]:
            looks: list[tuple[int, ...]] = []
            stack.enter_context(installed(lacking(boxed, looks, **abilities)))
            stack.enter_context(ua.use_backend("boxed"))
            return looks

        yield install


# -- the list -------------------------------------------------------------------------------------------------------


def test_every_ability_is_said_by_a_member() -> None:
    for ability in Ability:
        assert hasattr(Backend, ability.attribute)
        assert ability.without
    named = {each.attribute for each in Ability}
    flags = {name for name in dir(Backend) if isinstance(getattr(Backend, name), bool)}
    # JAX's calls return early, and TensorFlow has no setting that changes dtypes: these are no abilities.
    assert {each for each in flags if each[0] != "_"} - {
        "computes_later",
        "has_fixed_dtypes",
    } <= named


def test_what_the_engines_lack(backend: str) -> None:
    lacks = {each.value for each in Ability if load(backend).lacks(each)} - {"devices"}
    assert lacks == LACKING[backend]


LACKING = {
    "numpy": {"variables", "gradients", "transformations", "compiling"},
    "torch": {"variables", "read_only_views", "negative_steps", "warnings", "compiling"},
    "jax": {"writes", "strides", "read_only_views", "warnings"},
    "tensorflow": {"writes", "strides", "read_only_views", "warnings"},
    "dask": {
        *("writes", "variables", "strides", "read_only_views", "values", "shapes", "warnings", "gradients"),
        "transformations",
    },
}


def test_what_is_lacking_follows_from_the_members(engine: Engine) -> None:
    engine(has_values=False, has_shapes=False, has_threads=False, dtypes="float64 complex128")
    assert {each.value for each in Ability if not load("boxed").lacks(each)} == {"negative_steps"}


# -- values ---------------------------------------------------------------------------------------------------------

# Programs that look at no values, whatever they compute.
LAZY: dict[str, Callable[[ua.Array], Any]] = {
    "elementwise": lambda x: ua.sin(x) + x * 2,
    "reductions": lambda x: ua.sum(x, axis=0) + ua.max(x),
    "views and writes": lambda x: x[::-1].T.__setitem__((0, slice(1, None)), 7.0),
    "a mask": lambda x: x.__setitem__(x > 2, 0.0),
    "out": lambda x: ua.add(x, 1, out=x[...]),
    "updates": lambda x: x.__iadd__(x[0]),
    "quantiles": lambda x: ua.quantile(x, 0.5, axis=0),
    "quantiles of an array": lambda x: ua.quantile(x, ua.min(x, axis=1) / 100),
    "an array that is filled with an array": lambda x: ua.full((2, 2), ua.max(x)),
    "a list of arrays": lambda x: ua.asarray([ua.max(x), ua.min(x)]),
    "equal bins": lambda x: ua.histogram(x.reshape((-1,)), 3),
    "least squares": lambda x: ua.linalg.lstsq(x.T, x[0]),
    "pieces": lambda x: xp.piecewise(x, [x > 2], [lambda each: each * 2]),
    "text": repr,
    "containers": lambda x: ua.Container(a=x, b=[x + 1]) * 2,
    "compiled": lambda x: ua.compile(lambda y: ua.sum(y * 2) + y)(x),
}


@pytest.mark.parametrize("program", LAZY.values(), ids=LAZY)
def test_a_lazy_engine_is_asked_for_no_values(engine: Engine, program: Callable[[ua.Array], Any]) -> None:
    looks = engine(has_values=False)
    values = np.arange(6.0).reshape(2, 3) + 1
    x, y = ua.asarray(values), ua.asarray(values, backend="numpy")
    result, expected = program(x), program(y)
    assert looks == []
    assert_same(x, as_numpy(y))
    if isinstance(result, ua.Array):
        assert_same(result, as_numpy(expected))


def test_debug_looks_at_no_values_of_a_lazy_engine(engine: Engine) -> None:
    looks = engine(has_values=False)
    with ua.debug():
        x = ua.ones((2, 3)) + 1
        x[0] = 3.0
        ua.add(x, 1, out=x)
    assert looks == []


def test_what_a_user_asks_for_is_looked_at_once(engine: Engine) -> None:
    looks = engine(has_values=False)
    x = ua.asarray([1.0, 2.0])
    for ask in (float, lambda y: y.item(), lambda y: y.tolist(), bool, np.asarray):
        ask(x[0])
        assert len(looks) == 1
        looks.clear()


def test_text_says_that_nothing_is_computed(engine: Engine) -> None:
    engine(has_values=False)
    assert repr(ua.zeros((2, 3))) == "array(<float64 of shape (2, 3), not computed>)"
    assert str(ua.zeros(2)) == "array(<float64 of shape (2,), not computed>)"


# -- shapes ---------------------------------------------------------------------------------------------------------


def test_an_unknown_length_raises_where_it_is_needed(engine: Engine) -> None:
    looks = engine(has_shapes=False)
    x = ua.unique_values(ua.asarray([3.0, 1.0, 3.0]))
    assert (x.ndim, x.dtype) == (1, ua.float64)
    looks.clear()
    for ask in (lambda: x.size, lambda: len(x), lambda: x.reshape((2, 1)), lambda: x[1:], lambda: x[0]):
        with pytest.raises(UnknownShapeError, match=r"shape \(\?,\) has lengths that aren't known .*x.compute"):
            ask()
    assert repr(x.shape) == "(?,)"
    assert looks == []


def test_an_unknown_length_is_no_obstacle_where_none_is_needed(engine: Engine) -> None:
    engine(has_shapes=False)
    x = ua.unique_values(ua.asarray([3.0, 1.0, 3.0]))
    for y in (ua.sin(x) * 2.0, 2.0 * ua.sin(x.astype("float32")), ua.sin(x) * ua.asarray(2.0)):
        assert y.ndim == 1
        np.testing.assert_allclose(y.to_numpy(), np.sin([1.0, 3.0]) * 2.0, rtol=1e-6)
    assert float(ua.sum(x)) == 4.0
    assert x.tolist() == [1.0, 3.0]
    known = ua.asarray(x.to_numpy())
    assert known.shape == (2,)
    assert_same(known[::-1], np.array([3.0, 1.0]))


def test_a_write_that_needs_an_unknown_length_changes_nothing(engine: Engine) -> None:
    engine(has_shapes=False)
    x = ua.unique_values(ua.asarray([3.0, 1.0, 3.0]))
    target = ua.zeros(2)
    writes: list[Callable[[], Any]] = [lambda: target.__setitem__(slice(None), x), lambda: target.__iadd__(x)]
    for write in (*writes, lambda: ua.inplace_update(target, x), lambda: ua.add(x, 1, out=target)):
        with pytest.raises(UnknownShapeError):
            write()
    assert target.tolist() == [0.0, 0.0]
    with pytest.raises(UnknownShapeError):
        x[0] = 1.0
    assert x.tolist() == [1.0, 3.0]


# -- the rest -------------------------------------------------------------------------------------------------------


def test_a_missing_dtype_never_becomes_another_one(engine: Engine) -> None:
    engine(dtypes="float64 complex128")
    assert {each.dtype for each in (ua.asarray([1.0]), ua.zeros(2), ua.linspace(0, 1, 3))} == {ua.float32}
    for make in (lambda: ua.asarray(np.ones(2)), lambda: ua.zeros(2, dtype="float64")):
        with pytest.raises(DtypeError, match=r"no float64 here.*of 32 bits"):
            make()
    x = ua.asarray([1.0, 2.0], dtype="float32")
    assert_raises(DtypeError, x.astype, "float64")
    assert_same(ua.sin(x) * 2, np.sin(np.float32([1, 2])) * 2)
    assert ua.mean(x).dtype == ua.float32


def test_without_variables_there_are_none(engine: Engine) -> None:
    engine()
    with pytest.raises(BackendFeatureError):
        ua.variable([1.0])


def test_no_engine_is_called_from_threads_of_our_own(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    looks = engine(has_threads=False)
    started: list[Any] = []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda thread: (started.append(thread), start(thread))[1])
    x = ua.ones((300, 300))
    function = ua.compile(lambda y: ua.sum(ua.sin(y) * 2 + y, axis=0))
    for _ in range(5):
        function(x)
    assert looks == []
    assert started == []


# -- marks of tests -------------------------------------------------------------------------------------------------

MARKED = """
import pytest

from unifyarr.testing import has, lacks, needs

@needs("writes")
def test_needing(backend):
    assert has(backend, "writes")

@lacks("writes", why="what the frontend does then")
def test_lacking(backend):
    assert not has(backend, "writes")

@needs("writes", "variables")
def test_both(backend):
    raise AssertionError("NumPy has no variables")
"""


def test_marks_choose_the_engine(tmp_path: Path) -> None:
    (tmp_path / "test_marked.py").write_text(MARKED)
    (tmp_path / "conftest.py").write_text("import pytest\n@pytest.fixture\ndef backend(): return 'numpy'\n")
    options = ("-q", "-rs", "-p", "no:cacheprovider", "-p", "unifyarr.testing.plugin", "--unifyarr-backend", "numpy")
    command = (sys.executable, "-m", "pytest", *options, "-k", "test_marked", "--rootdir", ".", ".")
    path = os.environ | {"PYTHONPATH": str(ROOT)}
    found = subprocess.run(command, cwd=tmp_path, env=path, capture_output=True, text=True, check=False, timeout=300)
    assert found.returncode == 0, found.stdout
    assert "1 passed, 2 skipped" in found.stdout
    assert "what the frontend does then: numpy lacks nothing of it" in found.stdout
    assert "lacks the ability variables: numpy" in found.stdout


def test_a_misspelt_ability_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"'write' is no ability of an engine: take one of writes, variables"):
        needs("write")
