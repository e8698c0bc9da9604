"""Results that tables of kernels write, in C, to arrays that fit; all others take another way, with the same values."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Container
from unifyarr._native import core

from ..natives import on_host, skip_unless
from ..oracle import as_numpy, assert_same


def frames(call: Callable[[], object]) -> list[str]:
    """Return the functions of Python that a call enters when it's made for the third time."""
    call()
    call()
    found: list[str] = []

    def see(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            found.append(frame.f_code.co_qualname)

    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found[1:]


@on_host("torch's own mode of another default device is a function of Python")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_function_of_python_runs(backend: str, dtype: str) -> None:
    skip_unless(backend, "numpy", "torch", why="engines that write their arrays")
    if core is None:
        pytest.skip("the compiled core does that")
    x, y, z = (ua.asarray([1.0, 2.0, 3.0], dtype=dtype) for _ in range(3))
    for call in (
        lambda: ua.add(x, y, out=z),
        lambda: ua.add(x, y, out=x),
        lambda: ua.add(x[:2], y[:2], out=z[1:]),
        lambda: ua.multiply(x, 2, out=z),
        lambda: ua.maximum(x, y, out=z),
        lambda: ua.exp(x, out=z),
        lambda: x.__iadd__(y),
        lambda: x.__imul__(0.5),
        lambda: x.__isub__(1),
    ):
        assert frames(call) == []


@on_host("torch's own mode of another default device is a function of Python")
def test_no_function_of_python_runs_where_another_dtype_is_added(backend: str) -> None:
    skip_unless(backend, "numpy", "torch", why="engines that write their arrays")
    if core is None:
        pytest.skip("the compiled core does that")
    x, n, mask = ua.asarray([1.0, 2.0, 3.0]), ua.asarray([1, 2, 3]), ua.asarray([True, False, True])
    two = n[1:2]
    for call in (lambda: x.__iadd__(n), lambda: x.__imul__(mask), lambda: n.__iadd__(mask), lambda: x.__iadd__(two)):
        assert frames(call) == []


def _add_to_part(x: ua.Array, y: ua.Array) -> None:
    x[1:3] += y


@on_host("torch's own mode of another default device is a function of Python")
def test_no_function_of_python_runs_where_a_part_is_updated(backend: str) -> None:
    skip_unless(backend, "numpy", "torch", why="engines that write their arrays")
    if core is None:
        pytest.skip("the compiled core does that")
    x, y = ua.zeros(4), ua.ones(2)
    assert frames(lambda: _add_to_part(x, y)) == ["_add_to_part"]
    assert_same(x, [0.0, 3.0, 3.0, 0.0])


def test_a_view_is_stored_where_its_own_key_shows_it(backend: str) -> None:
    x = ua.arange(4.0)
    view = x[1:3]
    x[1:3] = view
    x[2:4] = view
    assert_same(x, [0.0, 1.0, 1.0, 2.0])
    for key in (slice(1.0, 3.0), slice("1", 3)):
        with pytest.raises((TypeError, IndexError)):
            x[key] = x[1:3]
    values = np.arange(4.0)
    values.flags.writeable = False
    if backend == "numpy":
        locked = ua.asarray(values, copy=False)
        with pytest.raises(ValueError, match="read-only"):
            locked[1:3] = locked[1:3]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "bool"])
@pytest.mark.parametrize("other", ["float64", "int64", "int32", "bool"])
def test_another_dtype_is_added_from_all_places(backend: str, dtype: str, other: str) -> None:
    for one in WINDOWS[:4]:
        for two in WINDOWS[:4]:
            memory = np.asarray([0, 1, 1, 0, 1, 0, 0, 1, 1, 1]).astype(dtype)
            given = np.asarray([1, 0, 1, 1, 0, 1, 1, 0, 0, 1]).astype(other)
            x, y = ua.asarray(memory.copy()), ua.asarray(given.copy())
            if np.can_cast(np.result_type(dtype, other), dtype, "same_kind"):
                memory[one] += given[two]
                x[one] += y[two]
            else:
                with pytest.raises(TypeError, match="cast it first"):
                    x[one] += y[two]
            assert_same(x, memory)


# Windows of an array of ten elements.
WINDOWS = (
    slice(0, 4),
    slice(1, 5),
    slice(4, 8),
    slice(0, 8, 2),
    slice(1, 9, 2),
    slice(8, 0, -2),
    slice(2, 3),
    slice(3, 3),
)


@pytest.mark.parametrize("function", [ua.add, ua.subtract, ua.maximum, ua.hypot], ids=lambda each: each.__name__)
def test_operands_and_targets_lie_in_all_ways(backend: str, function: Any) -> None:
    numpys = getattr(np, function.__name__)
    start = np.linspace(-3.0, 7.5, 10)
    for one in WINDOWS:
        for two in WINDOWS:
            for target in WINDOWS:
                expected, x = start.copy(), ua.asarray(start.copy())
                try:
                    wanted = numpys(expected[one], expected[two])
                except ValueError:
                    continue
                if wanted.shape != expected[target].shape:
                    continue
                expected[target] = wanted
                function(x[one], x[two], out=x[target])
                assert_same(x, expected, what=(one, two, target))


def test_an_operand_that_shows_an_element_twice(backend: str) -> None:
    x, z = ua.broadcast_to(ua.asarray([2.0]), (3,)), ua.zeros(3)
    assert_same(ua.add(x, x, out=z), [4.0, 4.0, 4.0])
    z += x
    assert_same(z, [6.0, 6.0, 6.0])


def test_gradients_and_tensors_that_mustnt_be_written() -> None:
    torch = pytest.importorskip("torch")
    with torch.inference_mode():
        fixed = torch.zeros(3)
    weight, z = torch.ones(3, requires_grad=True), ua.asarray(torch.zeros(3))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="inference"):
            ua.add(ua.asarray(torch.ones(3)), ua.asarray(torch.ones(3)), out=ua.asarray(fixed))
        with pytest.raises(RuntimeError, match="inference"):
            ua.exp(ua.asarray(torch.ones(3)), out=ua.asarray(fixed))
        assert fixed.tolist() == [0.0, 0.0, 0.0]
        for call in (ua.exp, lambda x, out: ua.multiply(x, x, out=out)):
            target = ua.asarray(torch.zeros(3))
            call(ua.asarray(weight), out=target)
            assert target.native.requires_grad
    z += ua.asarray(weight * 2)
    (found,) = torch.autograd.grad(z.native.sum(), weight)
    assert found.tolist() == [2.0, 2.0, 2.0]


def test_lazily_negated_and_conjugated_operands() -> None:
    torch = pytest.importorskip("torch")
    values = torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex128)
    negated = values.conj().imag
    assert negated.is_neg()
    x, y = ua.asarray(negated), ua.asarray(torch.tensor([10.0, 20.0], dtype=torch.float64))
    z = ua.zeros(2, backend="torch")
    assert ua.add(x, y, out=z).tolist() == [8.0, 24.0]
    x += y
    assert as_numpy(x).tolist() == [8.0, 24.0]
    assert values.imag.tolist() == [-8.0, -24.0]
    c = ua.asarray(values.conj())
    c *= ua.asarray(torch.tensor([1j, 1j], dtype=torch.complex128))
    assert c.tolist() == [(1 + 8j) * 1j, (3 + 24j) * 1j]


def test_leaves_of_engines_that_compute_in_all_of_them_at_once() -> None:
    torch = pytest.importorskip("torch")
    base = torch.arange(6.0)
    for c, d in (
        # Leaves that meet, one that is another's operand, and one that has another dtype.
        (
            Container(a=ua.asarray(base[:3]), b=ua.asarray(base[3:])),
            Container(a=ua.asarray(base[3:]), b=ua.asarray(base[:3])),
        ),
        (
            Container(a=ua.asarray(torch.ones(3)), b=ua.asarray(torch.ones(2, 2).T)),
            Container(a=ua.ones(3), b=ua.ones((2, 2))),
        ),
        (
            Container(a=ua.asarray(torch.ones(3)), b=ua.asarray(torch.ones(2, dtype=torch.float64))),
            Container(a=ua.asarray(torch.ones(3)), b=ua.asarray(torch.ones(2, dtype=torch.int64))),
        ),
        (Container(a=ua.asarray(torch.ones(0)), b=ua.asarray(torch.ones(()))), 2.0),
    ):
        d = d.to_backend("torch") if isinstance(d, Container) else d
        expected = [as_numpy(leaf) for leaf in (c + d).leaves()]
        c += d
        for leaf, each in zip(c.leaves(), expected, strict=True):
            assert_same(leaf, each.astype(as_numpy(leaf).dtype))


@pytest.mark.parametrize("shape", [(3,), (1, 3), (2, 1), (), (2, 2, 3), (4,), (1, 2, 3)])
def test_second_operands_are_broadcast_to_the_target(backend: str, shape: tuple[int, ...]) -> None:
    skip_unless(backend, "numpy", "torch", why="engines that write their arrays")
    values, others = np.arange(6.0).reshape(2, 3), np.arange(np.prod(shape)).reshape(shape) + 0.5
    fits = np.broadcast_shapes((2, 3), others.shape) == (2, 3) if shape != (4,) else False
    for _ in range(3):
        x, other, out = ua.asarray(values, copy=True), ua.asarray(others), ua.zeros((2, 3), dtype="float64")
        if not fits:
            for call in (lambda: x.__iadd__(other), lambda: ua.add(x, other, out=out)):
                with pytest.raises(ua.errors.ShapeError):
                    call()
            assert_same(x, values)
            assert_same(out, np.zeros((2, 3)))
            continue
        assert ua.add(x, other, out=out) is out
        x += other
        assert_same(x, values + others)
        assert_same(out, values + others)
    m = ua.asarray(values, copy=True)
    m += m[1]
    assert_same(m, values + values[1])


@on_host("torch's own mode of another default device is a function of Python")
def test_a_remainder_by_a_number_is_computed_at_once(backend: str) -> None:
    skip_unless(backend, "torch", why="its table has integers beside integers")
    if core is None:
        pytest.skip("the compiled core does that")
    x = ua.asarray([-7, 7, 0])
    assert frames(lambda: x % 3) == []
    assert_same(x % 3, [2, 1, 0])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("number", [1, 3, 127, -3, -1, 0, 2.5, -2.5, 0.0, float("inf"), float("nan")], ids=repr)
def test_remainders_by_numbers(backend: str, dtype: str, number: float) -> None:
    values = np.asarray([0, 1, 7, 100, 127], dtype)
    x = ua.asarray(values.copy())
    with np.errstate(all="ignore"):
        try:
            expected = values % number
        except OverflowError:
            with pytest.raises(OverflowError):
                x % number
            return
        assert_same(x % number, expected)
        assert_same(ua.remainder(x, number), expected)
        if expected.dtype == values.dtype:
            x %= number
            assert_same(x, expected)
