"""Walks that come again: learnt once, and right for other values, numbers, shapes and branches."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from tests.oracle import as_numpy
from unifyarr._core.calling.dispatch import Dispatcher
from unifyarr._core.engines.registry import load
from unifyarr.derivatives.walks import replay as learnt
from unifyarr.modes.tape import call_paths, kernel_calls
from unifyarr.modes.tape.entries import Entry, Taped
from unifyarr.testing import needs

# The last two calls of so many are learnt.
CALLS = learnt.SEEN + 2


def values(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.2, 1.5, shape)


def by_rules(function: Callable[..., Any], *arrays: np.ndarray, argnums: Any = 0) -> Any:
    """Return the gradient of a function whose calls are in no call path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(call_paths.CallPaths, "begin", lambda *_: None)
        found = ua.grad(function, argnums)(*map(ua.asarray, arrays))
    return [as_numpy(each) for each in (found if isinstance(found, tuple) else (found,))]


FUNCTIONS: dict[str, Callable[..., ua.Array]] = {
    "products": lambda x, y: ua.sum(x * y * x),
    "sums": lambda x, y: ua.sum(x + y) + ua.sum(y),
    "broadcast": lambda x, y: ua.sum(ua.tanh(x[:, None] * y)) + ua.mean(x),
    "matmul": lambda x, y: ua.sum(ua.linalg.outer(x, y) @ ua.exp(x)) / 3,
    "powers": lambda x, y: ua.sum(x**2 + y**3 + x**y + x**0.5),
    "windows": lambda x, y: ua.sum(x[1:] * y[:-1]) + x[0] * y[-1],
    "taken": lambda x, y: ua.sum(ua.take(x, ua.asarray([2, 0, 0])) * y[:3]),
    "choices": lambda x, y: ua.sum(ua.maximum(x, y) * ua.where(x > 0.5, x, 2.0)),
    "norms": lambda x, y: ua.linalg.vector_norm(x - y) + ua.max(x * y),
    "several results": lambda x, y: ua.sum(ua.linalg.qr(ua.linalg.outer(x, y) + ua.eye(4)).R),
    "not by all": lambda x, y: ua.sum(ua.sin(x)),
    "a constant": lambda x, y: ua.sum(ua.asarray([1.0, 2.0, 3.0, 4.0])),
    "reshaped": lambda x, y: ua.sum(ua.reshape(x, (2, 2)).T * ua.asarray([[1.0, 2.0], [3.0, 4.0]])) + y[0],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_walks_that_come_again_are_right(backend: str, name: str) -> None:
    function = FUNCTIONS[name]
    gradient = ua.grad(function, (0, 1))
    for seed in range(CALLS):
        x, y = values(seed, 4), values(seed + 10, 4)
        found = [as_numpy(each) for each in gradient(ua.asarray(x), ua.asarray(y))]
        for mine, wanted in zip(found, by_rules(function, x, y, argnums=(0, 1)), strict=True):
            np.testing.assert_allclose(mine, wanted, rtol=1e-13, atol=1e-13)
            assert mine.dtype == wanted.dtype


@needs("writes")
def test_no_rule_is_called_once_a_walk_is_learnt(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[Entry] = []
    cotangents = Entry.cotangents

    def noted(entry: Entry, *arguments: Any) -> Any:
        called.append(entry)
        return cotangents(entry, *arguments)

    monkeypatch.setattr(Entry, "cotangents", noted)
    gradient = ua.grad(lambda x: ua.sum(ua.tanh(x) * x))
    for calls in (3,) * (learnt.SEEN + 1) + (0, 0):
        called.clear()
        gradient(ua.asarray(values(calls, 5)))
        assert len(called) == calls


def test_one_array_in_two_places_is_learnt_as_two(backend: str) -> None:
    gradient = ua.grad(lambda x, y: ua.sum(x * y * y), (0, 1))
    x, y = ua.asarray([1.0, 2.0]), ua.asarray([3.0, 5.0])
    for _ in range(CALLS):
        assert [each.tolist() for each in gradient(x, x)] == [[1, 4], [2, 8]]
    assert [each.tolist() for each in gradient(x, y)] == [[9, 25], [6, 20]]


def test_a_constant_in_two_places_is_learnt_as_two(backend: str) -> None:
    one, other = ua.asarray([1.0, 2.0]), ua.asarray([10.0, 20.0])
    gradient = ua.grad(lambda x, a, b: ua.sum(x * a) + ua.sum(x * x * b))
    x = ua.asarray([1.0, 1.0])
    for _ in range(CALLS):
        assert gradient(x, one, one).tolist() == [3, 6]
    assert gradient(x, one, other).tolist() == [21, 42]


def test_ever_new_numbers(backend: str) -> None:
    gradient = ua.grad(lambda x, n: ua.sum(x**n * n))
    x = ua.asarray([1.0, 2.0])
    for exponent in (2,) * CALLS + (3,) * CALLS + (4, 5, 6, 7, 8, 2, 2, 3):
        assert gradient(x, exponent).tolist() == [exponent**2, exponent**2 * 2 ** (exponent - 1)]


def test_branches_on_values_and_lengths_that_they_decide(backend: str) -> None:
    def function(x: ua.Array) -> ua.Array:
        if float(x[0]) > 0:
            return ua.sum(x[x > 0.5] ** 2)
        return ua.sum(x * 3.0)

    gradient = ua.grad(function)
    for given, wanted in [([1.0, 0, 2], [2, 0, 4]), ([1.0, 2, 3], [2, 4, 6]), ([-1.0, 2, 3], [3, 3, 3])] * CALLS:
        assert gradient(ua.asarray(given)).tolist() == wanted


def test_shapes_and_dtypes_are_told_apart(backend: str) -> None:
    gradient = ua.grad(lambda x, y: ua.sum(x * y) * 2.0)
    for _ in range(CALLS):
        for dtype in ("float32", "float64"):
            for shape in ((2,), (3,), ()):
                x, y = ua.ones(shape, dtype=dtype), ua.full(shape, 3.0, dtype=dtype)
                found = gradient(x, y)
                assert found.shape == shape
                assert found.dtype is x.dtype
                np.testing.assert_array_equal(as_numpy(found), np.full(shape, 6.0))


@needs("writes")
@pytest.mark.parametrize("name", ["of the constant", "of numbers", "of a view"])
def test_gradients_have_memory_of_their_own(backend: str, name: str) -> None:
    c = ua.asarray([5.0, 6.0])
    function: Any = {
        "of the constant": lambda x: ua.sum(x * c),
        "of numbers": lambda x: ua.sum(x) * 2.0,
        "of a view": lambda x: ua.sum(ua.reshape(x, (2, 1)) * c[:, None]),
    }[name]
    gradient, wanted = ua.grad(function), [2.0, 2.0] if name == "of numbers" else [5.0, 6.0]
    for _ in range(CALLS):
        found = gradient(ua.asarray([1.0, 2.0]))
        assert found.tolist() == wanted
        found[...] = 100.0
    assert c.tolist() == [5.0, 6.0]


@needs("values")
def test_two_gradients_share_no_memory(backend: str) -> None:
    gradient = ua.grad(lambda x, y: ua.sum((x + y) * 3.0), (0, 1))
    for _ in range(CALLS):
        first, second = gradient(ua.asarray([1.0, 2.0]), ua.asarray([1.0, 2.0]))
        first[...] = 0.0
        assert second.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("limit", ["MOST_CALLS", "MOST_BYTES", "MOST_PATHS"])
def test_beyond_the_limits_derivatives_go_by_the_rules(
    backend: str, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_paths, limit, 40 if limit == "MOST_BYTES" else 3)
    gradient = ua.grad(lambda x: ua.sum(ua.exp(ua.sin(x * x) * x)))
    for seed in range(CALLS):
        x = values(seed, 4, 1)
        wanted = np.exp(np.sin(x * x) * x) * (np.sin(x * x) + 2 * x * x * np.cos(x * x))
        np.testing.assert_allclose(as_numpy(gradient(ua.asarray(x))), wanted, rtol=1e-12)


def test_walks_whose_kernels_fail_go_by_the_rules(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = ua.grad(lambda x: ua.sum(x * x * x))
    x = ua.asarray([1.0, 2.0])
    for _ in range(CALLS):
        assert gradient(x).tolist() == [3, 12]
    # Errors of a learnt function don't reach the caller: this one refuses its arguments.
    init = learnt.ReplayedWalk.__init__
    monkeypatch.setattr(learnt.ReplayedWalk, "__init__", lambda self, _: init(self, int))
    other = ua.grad(lambda x: ua.sum(x * x * x * x))
    for _ in range(3 * CALLS):
        assert other(x).tolist() == [4, 32]


@needs("values", why="walks of a lazy engine aren't learnt")
def test_what_other_code_raises_in_a_walk_comes_once(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    def fails(*given: Any) -> Any:
        # As a handler of a signal does.
        calls.append(given)
        raise ValueError("mine")

    init = learnt.ReplayedWalk.__init__
    monkeypatch.setattr(learnt.ReplayedWalk, "__init__", lambda self, _: init(self, fails))
    gradient, x = ua.grad(lambda x: ua.sum(x * x * x * x * x)), ua.asarray([1.0, 2.0])
    for _ in range(learnt.SEEN):
        gradient(x)
    with pytest.raises(ValueError, match="mine"):
        gradient(x)
    assert len(calls) == 1


def test_pullbacks_are_learnt_for_any_cotangent(backend: str) -> None:
    x = ua.asarray([1.0, 2.0])
    for number in range(CALLS):
        (first, second), pullback = ua.vjp(lambda x: (x * x, ua.sum(ua.sin(x))), x)
        for scale in (1.0, 10.0):
            (found,) = pullback((ua.full((2,), scale + number), ua.asarray(scale)))
            wanted = 2 * (scale + number) * np.array([1.0, 2.0]) + scale * np.cos([1.0, 2.0])
            np.testing.assert_allclose(as_numpy(found), wanted, rtol=1e-12)
        np.testing.assert_allclose(as_numpy(first), [1, 4])
        np.testing.assert_allclose(as_numpy(second), np.sin(1) + np.sin(2))


def test_an_array_of_an_earlier_record_isnt_taken_for_one_of_this(backend: str) -> None:
    kept: list[ua.Array] = []

    def keeping(x: ua.Array) -> ua.Array:
        kept.append(x * 2.0)
        return ua.sum(kept[-1] * x)

    x = ua.asarray([1.0, 2.0])
    for _ in range(CALLS):
        ua.grad(keeping)(x)
    for _ in range(CALLS):
        with pytest.raises(ua.errors.TraceError, match="outlived"):
            ua.grad(lambda x: ua.sum(x * 2.0 * kept[-1]))(x)


@needs("values")
def test_threads_learn_one_walk_at_once(backend: str) -> None:
    gradient = ua.grad(lambda x: ua.sum(ua.sin(x) * x))
    wrong: list[Any] = []

    def run(seed: int) -> None:
        with ua.use_backend(backend):
            for number in range(20):
                x = values(100 * seed + number, 3)
                found = as_numpy(gradient(ua.asarray(x)))
                if not np.allclose(found, np.sin(x) + x * np.cos(x), rtol=1e-12):
                    wrong.append((seed, number))

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_known_kernels_of_several_results_compute_them_once(backend: str) -> None:
    handle: Any = load(backend)
    for name, values in (("slogdet", np.eye(3) + 1.0), ("qr", np.eye(3) + 1.0)):
        static = {} if name == "slogdet" else {"mode": "reduced"}
        kernel = kernel_calls.taping(handle, name, handle.kernel(name))
        x = Taped(handle.from_numpy(values))
        known: Any = vars(kernel)["known"](x, **static)
        if known is not None:
            # ``NotImplemented`` has them computed by the general path, again.
            found = known(x)
            assert type(found) is tuple
            for mine, right in zip(found, kernel(x, **static), strict=True):
                np.testing.assert_array_equal(as_numpy(ua.asarray(mine.value)), as_numpy(ua.asarray(right.value)))


@needs("writes")
def test_losses_of_labels_and_data_from_outside_are_learnt(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    images, labels = ua.asarray(values(1, 6, 4)), ua.asarray([0, 2, 1, 1, 0, 2])

    def loss(weight: ua.Array) -> ua.Array:
        return ua.nn.cross_entropy(ua.nn.relu(ua.nn.linear(images, weight)), labels)

    gradient = ua.grad(loss)
    for seed in range(3 * CALLS):
        gradient(ua.asarray(values(seed, 3, 4)))
    weight = values(20, 3, 4)
    wanted = by_rules(loss, weight)[0]
    rest = Dispatcher.rest

    def noted(self: Any, *arguments: Any) -> Any:
        # Some engines read the values of labels, and without the compiled core this makes arrays.
        assert self.name in ("cross_entropy", "asarray")
        return rest(self, *arguments)

    # No rule is called from then on, and linear() is known.
    monkeypatch.setattr(Entry, "cotangents", lambda *_: pytest.fail("a rule was called"))
    monkeypatch.setattr(Dispatcher, "rest", noted)
    np.testing.assert_allclose(as_numpy(gradient(ua.asarray(weight))), wanted, rtol=1e-13)


def test_an_array_from_outside_comes_back_as_itself(backend: str) -> None:
    outside, seen = ua.asarray([1.0, 2.0]), []

    def function(x: ua.Array) -> ua.Array:
        seen.append(ua.asarray(ua.squeeze(outside, axis=())))
        return ua.sum(x * ua.astype(outside, ua.float64, copy=False))

    for _ in range(CALLS):
        assert ua.grad(function)(ua.asarray([1.0, 1.0])).tolist() == [1, 2]
    assert [each.tolist() for each in seen] == [[1, 2]] * CALLS
