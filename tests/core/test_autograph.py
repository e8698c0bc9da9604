"""TensorFlow's AutoGraph, which rewrites the code of a ``tf.function``: it leaves ours as it is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..natives import skip_unless


@pytest.fixture
def rules(backend: str) -> ModuleType:
    """Return the module of AutoGraph that holds its rules."""
    skip_unless(backend, "tensorflow", why="AutoGraph is TensorFlow's")
    return pytest.importorskip("tensorflow.python.autograph.core.config")


def _written(x: Any) -> Any:
    x = x + 0
    x[0] = 3.0
    if x.ndim == 1:
        for step in range(2):
            x += step
    return x


USES: dict[str, Callable[[Any], Any]] = {
    "functions": lambda x: ua.sum(ua.reshape(x, (1, 2)), axis=0),
    "operators": lambda x: -x * 2 + 1,
    "methods": lambda x: x.reshape(1, 2).T.sum(axis=1),
    "writes": _written,
    "containers": lambda x: (ua.Container(a=x) * 2).map(lambda y: y + 1).a,
    "grad": lambda x: ua.grad(lambda y: ua.sum(y * y))(x),
    "vmap": lambda x: ua.vmap(lambda y: y * y)(x),
    "compile": lambda x: ua.compile(lambda y: y * y)(x),
}


@pytest.mark.parametrize("use", USES)
def test_a_function_of_tensorflow_with_autograph_calls_ours_as_they_are(
    backend: str, rules: ModuleType, use: str, caplog: pytest.LogCaptureFixture
) -> None:
    import tensorflow as tf

    program, values = USES[use], np.array([1.0, 2.0])
    expected = np.asarray(program(ua.asarray(values)))
    tf.get_logger().addHandler(caplog.handler)
    try:
        found = tf.function(lambda x: program(ua.asarray(x)).native, autograph=True)(tf.constant(values))
    finally:
        tf.get_logger().removeHandler(caplog.handler)
    np.testing.assert_array_equal(found.numpy(), expected)
    # TensorFlow 2.21 can't transform the function above on Python 3.13, and says so.
    told = [each.getMessage() for each in caplog.records if "AutoGraph" in each.getMessage()]
    assert not [each for each in told if "<locals>.<lambda>" not in each]


def test_the_rules_of_others_stay_as_they_are(backend: str, rules: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    from unifyarr.backends.tensorflow._autograph import leave_alone

    ours = [each for each in rules.CONVERSION_RULES if each.matches("unifyarr.functions")]
    assert len(ours) == 1
    assert not any(ours[0].matches(name) for name in ("unifyarrs", "numpy", "tensorflow", "keras", "__main__"))
    others = (rules.Convert("tests"), rules.DoNotConvert("numpy"))
    monkeypatch.setattr(rules, "CONVERSION_RULES", others)
    assert leave_alone("unifyarr")
    assert leave_alone("unifyarr")
    first, *rest = rules.CONVERSION_RULES
    assert all(one is other for one, other in zip(rest, others, strict=True))
    assert first.matches("unifyarr")


def test_a_version_without_such_rules_is_left_as_it_is(
    backend: str, rules: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    from unifyarr.backends.tensorflow._autograph import leave_alone

    with monkeypatch.context() as patch:
        patch.delattr(rules, "CONVERSION_RULES")
        assert not leave_alone("unifyarr")
    with monkeypatch.context() as patch:
        patch.setattr(rules, "DoNotConvert", None)
        assert not leave_alone("unifyarr")
    core = sys.modules["tensorflow.python.autograph.core"]
    with monkeypatch.context() as patch:
        patch.delattr(core, "config")
        patch.setitem(sys.modules, rules.__name__, None)
        assert not leave_alone("unifyarr")
