"""Elements of arrays: 0-d arrays that hold a number, and are like any other 0-d array to whoever asks."""

from __future__ import annotations

import copy
import operator
import pickle
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr.testing import has

from ..oracle import ALL, COMPLEX, as_numpy, assert_same

BINARY = (operator.add, operator.sub, operator.mul, operator.truediv)
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
IN_PLACE = (operator.iadd, operator.isub, operator.imul, operator.itruediv)
# Some engines flush subnormal numbers to zero.
SPECIAL = (0.0, -0.0, 1.0, -2.5, 1e300, np.inf, -np.inf, np.nan)


def pair(values: Any, dtype: str = "float64") -> tuple[np.ndarray, ua.Array]:
    """Return NumPy's array and ours, of equal values in separate memory."""
    array = np.asarray(values).astype(dtype)
    return array, ua.asarray(array, copy=True)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
@pytest.mark.parametrize("compute", BINARY + COMPARISONS, ids=lambda each: each.__name__)
@given(data=st.data())
def test_elements_compute_as_arrays_do(backend: str, dtype: str, compute: Any, data: st.DataObject) -> None:
    numbers = st.sampled_from(SPECIAL) if dtype[0] == "f" else st.integers(-3, 3)
    values, x = pair([data.draw(numbers), data.draw(numbers)], dtype)
    number = data.draw(st.sampled_from([*SPECIAL, 0, 3]))
    others = {
        "element": (values[1:2], lambda: x[1]),
        "array": (values[1:2], lambda: x[1, ...]),
        "row": (values, x.copy),
    }
    with np.errstate(all="ignore"):
        for kind, (other, ours) in others.items():
            try:
                expected = compute(values[:1], other), compute(other, values[:1])
            except TypeError:
                continue
            assert_same(compute(x[0], ours()).reshape(-1), expected[0], what=kind)
            assert_same(compute(ours(), x[0]).reshape(-1), expected[1], what=kind)
        if dtype != "bool":
            assert_same(compute(x[0], number), np.asarray(compute(values[:1], number))[0])
            if compute not in COMPARISONS:
                assert_same(compute(number, x[0]), np.asarray(compute(number, values[:1]))[0])
    assert_same(x, values)


@pytest.mark.parametrize("update", IN_PLACE, ids=lambda each: each.__name__)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@given(data=st.data())
def test_an_element_is_updated_in_place(backend: str, dtype: str, update: Any, data: st.DataObject) -> None:
    values, x = pair([[data.draw(st.sampled_from(SPECIAL)) for _ in range(2)]], dtype)
    element = x[0, 0]
    other = element
    number = data.draw(st.sampled_from([*SPECIAL, "element", "array"]))
    with np.errstate(all="ignore"):
        ours = {"element": x[0, 1], "array": x[0, 1, ...]}.get(number, number) if isinstance(number, str) else number
        expected = update(values[0, :1].copy(), values[0, 1] if isinstance(number, str) else number)[0]
        element = update(element, ours)
    assert element is other
    assert_same(element, expected)
    # x itself is not written.
    assert_same(x, values)


@pytest.mark.parametrize("dtype", ALL)
def test_an_element_is_an_array_to_whoever_asks(backend: str, dtype: str) -> None:
    values, x = pair([[1, 0], [1, 1]], dtype)
    asked: dict[str, Callable[[Any], Any]] = {
        "native": lambda e: ua.asarray(e.native, copy=True),
        "asarray": ua.asarray,
        "copy": copy.copy,
        "deepcopy": copy.deepcopy,
        "pickle": lambda e: pickle.loads(pickle.dumps(e)),
        "method": lambda e: e.copy(),
        "numpy": lambda e: ua.asarray(np.asarray(e), copy=True),
        "view": lambda e: e[...],
        "element": lambda e: e[()],
        "reshape": lambda e: e.reshape((1,))[0],
        "positive": lambda e: +e if dtype != "bool" else e,
        "stack": lambda e: ua.stack([e, e])[1],
        "transposed": lambda e: e.T,
        "dlpack": lambda e: e if dtype == "bfloat16" else ua.from_dlpack(e),
    }
    for name, ask in asked.items():
        for key in ((0, 1), (1, 0)):
            element = x[key]
            assert isinstance(element, ua.Array)
            assert (element.shape, element.ndim, element.size) == ((), 0, 1)
            assert element.base is None
            assert element.dtype == x.dtype
            assert element.backend == x.backend
            assert element.device == x.device
            assert_same(ask(element), values[key], what=name)
            assert element.native is element.native
            assert bool(element) == bool(values[key])
            # A lazy engine keeps a value that was looked at.
            assert repr(element) == repr(x[key].copy()) or not has(backend, "values")
            assert element.item() == values[key].item()
    assert_same(x, values)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool", "complex128"])
def test_an_element_is_written_alone(backend: str, dtype: str) -> None:
    values, x = pair([[1, 0], [1, 1]], dtype)
    one = values.dtype.type(1)
    for write in (
        lambda e: operator.setitem(e, ..., one),
        lambda e: operator.setitem(e, (), one),
        lambda e: e.fill(one.item()),
        lambda e: ua.copyto(e, one) if hasattr(ua, "copyto") else operator.setitem(e, ..., one),
        lambda e: ua.logical_or(True, False, out=e) if dtype == "bool" else ua.add(one, one * 0, out=e),
    ):
        element = x[0, 1]
        view = element[...]
        write(element)
        assert_same(element, one)
        assert_same(view, one)
        assert_same(x, values)
    element = x[0, 1]
    memory = ua.asarray(element, copy=False)
    memory[...] = one
    assert_same(element, one)


def test_an_element_of_numpy_gives_writable_memory() -> None:
    for x in (ua.ones(2, backend="numpy"), ua.broadcast_to(ua.ones((), backend="numpy"), (2,))):
        element = x[0]
        native = element.native
        assert type(native) is np.ndarray
        native[...] = 5
        assert element.item() == 5
        element += 1
        assert element.native is native
        assert native == 6
        assert as_numpy(x).tolist() == [1, 1]
        element = x[0]
        element += 1.0
        assert element.native == 2


def test_an_element_is_a_number_to_python(backend: str) -> None:
    values, x = pair([1.5, 2.0])
    _, i = pair([1, -2], "int64")
    assert float(x[0]) == 1.5
    assert int(x[0]) == 1
    assert complex(x[1]) == 2
    assert [10, 11, 12][i[0]] == 11
    assert int(i[1]) == -2
    assert float(i[1]) == -2.0
    assert f"{x[0]:.2f}" == "1.50"
    assert_same(x[i[0]], values[1])
    assert_same(x[: i[0]], values[:1])
    assert round(float(abs(-x[0]))) == 2
    assert x[1] in x
    with pytest.raises(TypeError):
        operator.index(x[0])
    with pytest.raises(TypeError):
        hash(x[0])
    with pytest.raises(TypeError):
        len(x[0])
    with pytest.raises(TypeError):
        iter(x[0])


def test_of_what_has_no_number_the_general_path_says_so(backend: str) -> None:
    x = ua.asarray([1.0, 2.0])
    for other in ("text", object(), None):
        with pytest.raises(TypeError):
            x[0] + other
    with pytest.raises(OverflowError):
        x[0] + 10**400
    element = x[0]
    with pytest.raises(TypeError, match="same_kind"):
        element += 1j
    assert_same(element, np.float64(1.0))


def test_division_by_zero_is_that_of_arrays(backend: str) -> None:
    x = ua.asarray([1.0, 0.0, -1.0])
    with np.errstate(all="ignore"):
        assert (x[0] / x[1]).item() == np.inf
        assert (x[2] / 0).item() == -np.inf
        assert np.isnan((x[1] / x[1]).item())
        assert (1 / x[1]).item() == np.inf
        element = x[0]
        element /= x[1]
        assert element.item() == np.inf


def test_numpy_warns_and_raises_of_elements() -> None:
    x = ua.asarray([1e308, 0.0], backend="numpy")
    with pytest.warns(RuntimeWarning, match="overflow"):
        x[0] * 10.0
    with np.errstate(all="raise"):
        for call in (lambda: x[0] * x[0], lambda: x[0] / x[1]):
            with pytest.raises(FloatingPointError):
                call()
        element = x[0]
        with pytest.raises(FloatingPointError):
            element *= 10.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            x[0] / x[1]
        assert (ua.asarray([2**62], backend="numpy")[0] * 4).item() == 0


def test_elements_of_two_backends_dont_meet() -> None:
    names = ua.available_backends()
    if len(names) < 2:
        pytest.skip("one backend is installed")
    x, y = (ua.ones(3, backend=name) for name in names[:2])
    for compute in (*BINARY, *IN_PLACE, *COMPARISONS):
        with pytest.raises(ua.errors.BackendMismatchError):
            compute(x[0], y[0])
    with pytest.raises(ua.errors.BackendMismatchError):
        x[0] = y[0]
    with pytest.raises(ua.errors.BackendMismatchError):
        x[ua.asarray([1], backend=names[1])[0]]


def test_debug_and_compiled_functions_see_elements(backend: str) -> None:
    x = ua.asarray([2.0, 3.0])
    with ua.debug():
        assert (x[0] * x[1]).item() == 6
        element = x[0]
        element += x[1]
        assert element.item() == 5
    element = x[0]

    def add(y: ua.Array) -> ua.Array:
        return y * element + y[0]

    compiled = ua.compile(add)
    for _ in range(2):
        assert_same(compiled(x), np.array([6.0, 8.0]))
    element += 1.0
    assert_same(compiled(x), np.array([8.0, 11.0]))


# torch.func warns of a module that it imports itself.
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
def test_a_derivative_goes_through_elements(backend: str) -> None:
    if not {"torch", "jax"}.intersection(ua.available_backends()):
        pytest.skip("no engine that transforms is tested")

    def product(x: ua.Array) -> ua.Array:
        found = x[0] * x[1]
        found += x[1] / x[0]
        return found

    gradient = ua.grad(product)(ua.asarray([2.0, 3.0]))
    assert_same(gradient, np.array([3 - 3 / 4, 2 + 1 / 2]))


@pytest.mark.parametrize("dtype", ALL)
@given(data=st.data())
def test_numbers_of_every_kind_are_written_to_elements(backend: str, dtype: str, data: st.DataObject) -> None:
    values, x = pair([[1, 0, 1], [0, 1, 1]], dtype)
    kind = data.draw(st.sampled_from(["bool", "int8", "int64", "uint8", "float32", "float64", "complex64"]))
    number = np.dtype(kind).type(data.draw(st.integers(0, 2)))
    value = data.draw(
        st.sampled_from([number, number.item(), np.asarray(number), ua.asarray(number), ua.ones(2, dtype=kind)[1]])
    )
    key = data.draw(st.sampled_from([(1, 2), (-1, 0), np.s_[0], np.s_[:, 1], np.s_[::-1], (np.int64(1), np.int8(-1))]))
    plain = value if type(value) in (bool, int, float, complex) else np.asarray(value)
    if type(value) is complex and dtype not in (*COMPLEX, "bool"):
        with pytest.raises(TypeError):
            x[key] = value
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            values[key] = plain
            x[key] = value
    assert_same(x, values)


def test_threads_see_one_array_behind_an_element(backend: str) -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(50):
            element = ua.zeros((2, 2))[0, 1]
            barrier, natives = threading.Barrier(4), []

            def ask(element: Any = element, barrier: Any = barrier, natives: Any = natives) -> None:
                barrier.wait()
                natives.append(element.native)

            def add(element: Any = element, barrier: Any = barrier) -> None:
                barrier.wait()
                for _ in range(20):
                    element += 1.0

            threads = [threading.Thread(target=each) for each in (ask, add, ask, ask)]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
            assert element.item() == 20
            if backend in ("numpy", "torch"):
                assert len({id(each) for each in natives}) == 1
                assert natives[0] is element.native
    finally:
        sys.setswitchinterval(before)


# torch.func warns of a module that it imports itself.
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
def test_torch_differentiates_through_elements() -> None:
    torch = pytest.importorskip("torch")
    if "torch" not in ua.available_backends():
        pytest.skip("torch is not tested")
    leaf = torch.tensor([[2.0, 3.0]], dtype=torch.float64, requires_grad=True)
    x = ua.asarray(leaf, copy=False)
    found = x[0, 0] * x[0, 1]
    found += x[0, 1]
    found.native.backward()
    assert leaf.grad.tolist() == [[3.0, 3.0]]
    constant = ua.asarray([5.0], backend="torch")[0]

    def product(native: Any) -> Any:
        y = ua.asarray(native, copy=False)
        return (y[0] * y[1] * constant).native

    vector = torch.tensor([2.0, 3.0], dtype=torch.float64)
    assert torch.func.grad(product)(vector).tolist() == [15.0, 10.0]
    assert torch.func.vmap(product)(torch.stack([vector, vector])).tolist() == [30.0, 30.0]
    assert torch.func.jvp(product, (vector,), (torch.ones_like(vector),))[1].item() == 25
    assert torch.func.hessian(product)(vector).tolist() == [[0.0, 5.0], [5.0, 0.0]]
    # A value first read inside a transformation is valid outside.
    assert (constant + constant.native).item() == 10
    constant += 1.0
    assert constant.native.item() == 6


def test_overlapping_parts_and_elements(backend: str) -> None:
    values, x = pair(np.arange(6.0))
    for ours, other in ((x, values),):
        ours[1:] += ours[:-1]
        other[1:] += other[:-1]
        assert_same(ours, other)
        ours[::-1][:3] -= ours[1:4]
        other[::-1][:3] -= other[1:4]
        assert_same(ours, other)
        ours[0:2] = ours[1:3]
        other[0:2] = other[1:3]
        assert_same(ours, other)
        ours[3] = ours[2, ...]
        other[3] = other[2]
        ours -= ours[1]
        other -= other[1]
        assert_same(ours, other)
    values, x = pair(np.arange(6.0).reshape(2, 3))
    x -= x[:, :1]
    values -= values[:, :1].copy()
    x *= ua.asarray([[1], [2]])
    values *= np.array([[1], [2]])
    x[x > 1] *= 3
    values[values > 1] *= 3
    assert_same(x, values)
    with pytest.raises((TypeError, ValueError)):
        x[0] += ua.ones((2, 3))
    with pytest.raises((TypeError, ValueError)):
        x[:1] -= ua.ones((2, 3))
    assert_same(x, values)


@given(data=st.data())
def test_indices_and_values_of_every_kind_are_written(backend: str, data: st.DataObject) -> None:
    values, x = pair(np.arange(12.0).reshape(3, 4))
    index = np.array(data.draw(st.lists(st.integers(-3, 2), min_size=1, max_size=4)))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=12, max_size=12))).reshape(3, 4)
    rows = {"index": (index, (len(index), 4)), "mask": (mask, (int(mask.sum()),)), "slice": (np.s_[2:0:-1], (2, 4))}
    key, shape = rows[data.draw(st.sampled_from(list(rows)))]
    value = data.draw(
        st.sampled_from([np.float64(7), np.int64(7), 7, True, -np.arange(1.0, 1 + np.prod(shape)).reshape(shape)])
    )
    as_ours = data.draw(st.booleans())
    own_key = ua.asarray(key) if as_ours and isinstance(key, np.ndarray) else key
    own_value = ua.asarray(value) if data.draw(st.booleans()) else value
    assert_same(x[own_key], values[key])
    x[own_key] = own_value
    values[key] = value
    assert_same(x, values)
    x[own_key] += 1
    values[key] += 1
    assert_same(x, values)
