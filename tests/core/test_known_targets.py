"""Known calls with ``out=``: kernels write to the target, or results are written there, with the same values."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._native import core

from ..natives import skip_unless
from ..oracle import as_numpy, assert_same
from .test_into_tables import WINDOWS, frames

Call = Callable[..., Any]

CALLS: dict[str, tuple[Call, Call]] = {
    "softmax": (ua.nn.softmax, lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum()),
    "sort": (ua.sort, np.sort),
    "clip": (lambda x, **out: ua.clip(x, -1.0, 4.0, **out), lambda x: np.clip(x, -1.0, 4.0)),
    "roll": (lambda x, **out: ua.roll(x, 1, **out), lambda x: np.roll(x, 1)),
    "where": (lambda x, **out: ua.where(x > 0, x, 2.0, **out), lambda x: np.where(x > 0, x, 2.0)),
    "matmul": (
        lambda x, **out: ua.matmul(ua.eye(x.shape[0], dtype=x.dtype, backend=x._backend.name)[::-1], x, **out),
        lambda x: x[::-1],
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_operands_and_targets_lie_in_all_ways(backend: str, name: str) -> None:
    call, numpys = CALLS[name]
    start = np.linspace(-3.0, 7.5, 10)
    for _ in range(3):
        for one in WINDOWS:
            for target in WINDOWS:
                expected, x = start.copy(), ua.asarray(start.copy())
                if expected[one].shape != expected[target].shape or not expected[one].size:
                    continue
                expected[target] = numpys(expected[one])
                call(x[one], out=x[target])
                np.testing.assert_allclose(as_numpy(x), expected, rtol=1e-6, err_msg=str((one, target)))


def test_no_function_but_kernels_runs(backend: str) -> None:
    skip_unless(backend, "numpy", "torch", why="engines that write their arrays")
    if core is None:
        pytest.skip("the compiled core does that")
    x, square, z = ua.asarray([1.0, 2.0, 3.0]), ua.ones((3, 3)), ua.zeros(3)
    kept, mean = ua.zeros((3, 3)), ua.zeros(3)
    for call in (
        lambda: ua.sum(square, axis=0, out=z),
        lambda: ua.max(square, axis=1, out=z),
        lambda: ua.mean(square, axis=0, out=mean),
        lambda: ua.matmul(square, square, out=kept),
        lambda: ua.matmul(square, x, out=z),
        lambda: ua.concat([x[:2], x[2:]], out=z),
    ):
        call()
        # Except kernels that are Python functions, and their callees.
        assert not any(each.startswith(("Dispatcher", "Shortcuts", "assign")) for each in frames(call))


def test_targets_of_other_types_and_shapes(backend: str) -> None:
    x = ua.asarray([[1.0, 2.0], [3.0, 5.0]], dtype="float32")
    for _ in range(4):
        wide = ua.zeros(2, dtype="float64")
        ua.sum(x, axis=0, out=wide)
        assert_same(wide, np.array([4.0, 7.0]))
        with pytest.raises(ua.errors.ShapeError, match=r"^sum\(\): out"):
            ua.sum(x, axis=0, out=ua.zeros((3,), dtype="float32"))
        with pytest.raises(TypeError, match=r"^sum\(\): "):
            ua.sum(x, axis=0, out=ua.zeros(2, dtype="int64"))
        with pytest.raises(TypeError, match=r"^sum\(\): "):
            ua.sum(x, axis=0, out=[1.0, 2.0])  # type: ignore[arg-type]
        narrow = ua.zeros(2, dtype="float32")
        assert ua.sum(x, axis=0, out=narrow) is narrow
        assert_same(narrow, np.array([4.0, 7.0], "float32"))


def test_views_show_what_was_written(backend: str) -> None:
    x, z = ua.asarray([[1.0, 2.0], [3.0, 5.0]]), ua.zeros(2)
    for count in range(1, 5):
        view = z[1:]
        assert view.tolist() == ([0.0] if count == 1 else [7.0 * (count - 1)])
        ua.sum(x * count, axis=0, out=z)
        assert view.tolist() == [7.0 * count]


def test_several_targets(backend: str) -> None:
    values = np.array([[2.0, 0.0], [0.0, 3.0]])
    x = ua.asarray(values)
    first, second = ua.zeros(2), ua.zeros((2, 2))
    for _ in range(4):
        assert ua.linalg.eigh(x, out=(first, second))[0] is first
        assert_same(first, np.array([2.0, 3.0]))
        np.testing.assert_allclose(np.abs(as_numpy(second)), np.eye(2), atol=1e-12)
        with pytest.raises(TypeError, match=r"^linalg.eigh\(\): "):
            ua.linalg.eigh(x, out=(first, ua.zeros((2, 2), dtype="int64")))
        with pytest.raises(TypeError, match=r"^linalg.eigh\(\): "):
            ua.linalg.eigh(x, out=(first,))  # type: ignore[arg-type]
        first, second = ua.zeros(2), ua.zeros((2, 2))


def test_what_is_read_only_stays_as_it_was() -> None:
    fixed = np.zeros(2)
    fixed.flags.writeable = False
    x, z = ua.asarray(np.eye(2), backend="numpy"), ua.asarray(fixed, backend="numpy")
    big = ua.asarray(np.full((2, 2), 1e308), backend="numpy")
    for _ in range(4):
        with pytest.raises(ua.errors.ReadOnlyError, match=r"^sum\(\): "):
            ua.sum(x, axis=0, out=z)
        # Nothing is computed for it.
        with np.errstate(all="raise"), pytest.raises(ua.errors.ReadOnlyError, match=r"^sum\(\): "):
            ua.sum(big, axis=0, out=z)
        assert fixed.tolist() == [0.0, 0.0]


def test_a_target_of_many_elements(backend: str) -> None:
    x, z = ua.ones((2, 5000)), ua.zeros(5000)
    for count in range(1, 5):
        assert ua.sum(x * count, axis=0, out=z) is z
        assert ua.sort(x[0] * count, out=z[::-1]) is not z
        assert (as_numpy(z) == count).all()


def test_a_large_buffer_is_written_over_at_every_call(backend: str) -> None:
    skip_unless(backend, "jax", why="an engine whose kernels may take a buffer for their result")
    x, y = ua.ones((500, 500)), ua.ones((500, 500))
    where = []
    for _ in range(6):
        x += y
        ua.multiply(x, 0.5, out=x)
        where.append(x._native.unsafe_buffer_pointer())
    # The first call of each uses up a copy.
    assert len({*where[2:]}) == 1


def test_a_refused_call_leaves_the_target(backend: str) -> None:
    skip_unless(backend, "numpy", "torch", why="engines that refuse a matrix for its values")
    z, regular, singular = ua.zeros((2, 2)), ua.eye(2), ua.zeros((2, 2))
    for _ in range(4):
        assert_same(ua.linalg.inv(regular, out=z), np.eye(2))
        with pytest.raises(np.linalg.LinAlgError):
            ua.linalg.inv(singular, out=z)
        assert_same(z, np.eye(2))


def test_gradients_are_recorded_through_targets() -> None:
    torch = pytest.importorskip("torch")
    plain = ua.asarray(torch.ones(3, 3))
    for name, call in {
        "softmax": lambda x, z: ua.nn.softmax(x, out=z),
        "matmul": lambda x, z: ua.matmul(x, x, out=z),
        "sum": lambda x, z: ua.sum(x, axis=0, keepdims=True, out=z[:1]),
        "concat": lambda x, z: ua.concat([x[:1], x[1:]], out=z),
        "where": lambda x, z: ua.where(x > 0, x, 0.0, out=z),
        "sort": lambda x, z: ua.sort(x, out=z),
    }.items():
        for _ in range(4):
            call(plain, ua.zeros((3, 3), backend="torch", dtype="float32"))
        for _ in range(3):
            x = torch.linspace(1, 9, 9).reshape(3, 3).requires_grad_()
            z = ua.zeros((3, 3), backend="torch", dtype="float32")
            call(ua.asarray(x), z)
            assert z.native.requires_grad, name
            leaf = torch.zeros(3, 3, requires_grad=True)
            with pytest.raises((ua.errors.InplaceUpdateError, RuntimeError)):
                call(plain, ua.asarray(leaf))
            assert not leaf.any()
            with torch.no_grad():
                call(ua.asarray(x), ua.zeros((3, 3), backend="torch", dtype="float32"))


def test_tensors_that_mustnt_be_written_or_have_no_address() -> None:
    torch = pytest.importorskip("torch")
    square = torch.ones(3, 3)
    with torch.inference_mode():
        fixed = torch.zeros(3)
    expanded = torch.zeros(1).expand(3)
    for call in (ua.sum, ua.min):
        for _ in range(4):
            call(ua.asarray(square), axis=0, out=ua.zeros(3, backend="torch", dtype="float32"))
        for _ in range(3):
            for target in (fixed, expanded):
                with pytest.raises((ua.errors.InplaceUpdateError, ua.errors.ReadOnlyError, RuntimeError)):
                    call(ua.asarray(square), axis=0, out=ua.asarray(target))
                assert not target.any()

            def into(x: Any, call: Any = call) -> Any:
                z = ua.asarray(x)[0] * 0
                return call(ua.asarray(x), axis=0, out=z).native

            found = torch.func.vmap(into)(torch.arange(12.0).reshape(2, 2, 3))
            wanted = getattr(torch, "sum" if call is ua.sum else "amin")(torch.arange(12.0).reshape(2, 2, 3), 1)
            assert found.tolist() == wanted.tolist()
            with pytest.raises(ua.errors.DeviceError):
                call(ua.asarray(square.to("meta")), axis=0, out=ua.zeros(3, backend="torch", dtype="float32"))


def test_products_of_vectors_write_to_their_targets() -> None:
    torch = pytest.importorskip("torch")
    square, vector = ua.asarray(torch.eye(3)), ua.asarray(torch.arange(3.0))
    stack = ua.asarray(torch.ones(2, 3, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(4):
            z, number, several = torch.zeros(3), torch.zeros(()), torch.zeros(2, 3)
            assert ua.matmul(square, vector, out=ua.asarray(z)).native is z
            assert ua.matmul(vector, square, out=ua.asarray(z)).native is z
            assert ua.matmul(vector, vector, out=ua.asarray(number)).native is number
            assert ua.matmul(stack, vector, out=ua.asarray(several)).native is several
            assert (z.tolist(), float(number)) == ([0.0, 1.0, 2.0], 5.0)
            assert several.tolist() == [[3.0] * 3] * 2


def test_programs_may_be_forgotten_while_they_run() -> None:
    torch = pytest.importorskip("torch")
    shortcuts: Any = DECLARATIONS["sort"].public.dispatcher.shortcuts  # type: ignore[attr-defined]
    x, z, calls = ua.asarray(torch.tensor([3.0, 1.0])), ua.asarray(torch.zeros(2)), []
    shortcuts.clear()
    for _ in range(2):
        ua.sort(x, out=z)
    ((key, (program, _, by_element)),) = shortcuts.items()
    shortcuts.clear()

    def forgets(*natives: Any) -> Any:
        calls.append(natives)
        if len(calls) < 2:
            return NotImplemented
        # The list of both programs isn't in use any more then but by the call, which writes nothing.
        shortcuts.clear()
        return natives[1]

    shortcuts[key] = [program, forgets, by_element]
    for _ in range(4):
        z.native.zero_()
        assert ua.sort(x, out=z).tolist() == [1.0, 3.0]
    assert len(calls) == (0 if core is None else 2)
