"""Fast paths of torch: methods of tensors, lists of numbers, and fewer checks."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.calling.shortcuts import Shortcuts
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._core.engines.registry import load
from unifyarr.errors import BackendMismatchError, DtypeError, InplaceUpdateError, ShapeError

from ..natives import on_host, skip_unless, values_of
from ..oracle import as_numpy, assert_same, assert_values


@pytest.fixture(autouse=True)
def _on_torch(backend: str) -> None:
    skip_unless(backend, "torch", why="these are torch's")


def test_functions_are_methods_where_these_take_the_same() -> None:
    import torch

    method = load("torch").method
    assert method(torch.isnan) is torch.Tensor.isnan
    # It has a derivative.
    assert method(torch.sin) is torch.sin
    assert method(torch.erfc, in_place=True) is torch.Tensor.erfc_
    # Its arguments have another order, and the others have no method.
    assert method(torch.where) is torch.where
    assert method(torch.where, in_place=True) is None
    assert method(torch.stack) is torch.stack
    assert method(len) is len
    assert method(len, in_place=True) is None
    assert method(torch.isnan, in_place=True) is None


@pytest.mark.parametrize("name", sorted(name for name, each in DECLARATIONS.items() if each.ufunc is not None))
def test_methods_give_what_functions_give(name: str) -> None:
    import torch

    backend, declaration = load("torch"), DECLARATIONS[name]
    assert declaration.ufunc is not None
    kernel = backend.kernels[name]
    function = getattr(kernel, "native", kernel)
    method = backend.method(function)
    if method is function:
        pytest.skip("the kernel is no function of torch's that has a method")
    operands = [torch.tensor([3, 1, 2]), torch.tensor([1, 2, 2])][: declaration.ufunc.nin]
    dtype = next(d for d in (torch.float64, torch.bool, torch.int64) if _takes(function, operands, d))
    values = [each.to(dtype) / (4 if dtype is torch.float64 else 1) for each in operands]
    values = [each.to(dtype) for each in values]
    wanted, found = function(*values), method(*values)
    assert found.dtype is wanted.dtype
    np.testing.assert_array_equal(values_of(found), values_of(wanted), strict=True)


def _takes(function: Any, operands: list[Any], dtype: Any) -> bool:
    try:
        function(*[each.to(dtype) for each in operands])
    except (RuntimeError, TypeError):
        return False
    return True


def test_updates_record_gradients_of_both_operands() -> None:
    import torch

    weights = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    x = ua.asarray(torch.full((3,), 2.0, dtype=torch.float64))
    x *= ua.asarray(weights)
    x[1:] += ua.asarray(weights)[1:]
    (found,) = torch.autograd.grad(x.native.sum(), weights)
    assert found.tolist() == [2.0, 3.0, 3.0]


UPDATES: dict[str, Callable[[Any, Any], object]] = {
    "multiply": lambda x, w: ua.multiply(x, w, out=x),
    "operator": operator.imul,
    "sin": lambda x, w: ua.sin(x, out=x),
    "pow": lambda x, w: ua.pow(x, w, out=x),
    "second operand": lambda x, w: ua.atan2(w, x, out=x),
    "clip": lambda x, w: ua.clip(x, w, 3.0, out=x),
    "cumulative_prod": lambda x, w: ua.cumulative_prod(x, out=x),
    "concat": lambda x, w: ua.concat([x[:1], w[1:]], out=x),
    "another view": lambda x, w: ua.sin(x[1:], out=x[:2]),
}


@pytest.mark.parametrize("name", UPDATES)
def test_what_is_written_over_is_kept_for_gradients(name: str) -> None:
    import torch

    # The general path, a recording, and a known call.
    for _ in range(4):
        weights = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)

        def total(w: Any) -> Any:
            x = ua.asarray(w) * 0.5 + 0.1
            UPDATES[name](x, ua.asarray(w))
            return x.native.sum()

        (found,) = torch.autograd.grad(total(weights), weights)
        with torch.no_grad():
            steps = torch.eye(3, dtype=torch.float64) * 1e-6
            wanted = [float(total(weights + step) - total(weights - step)) / 2e-6 for step in steps]
        np.testing.assert_allclose(values_of(found), wanted, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
def test_updates_have_forward_derivatives() -> None:
    import torch
    from torch.autograd import forward_ad

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2, dtype=torch.float64), torch.tensor([1.0, 2.0], dtype=torch.float64))
        x = ua.zeros(2)
        x += ua.asarray(dual)
        x *= ua.asarray(dual)
        assert forward_ad.unpack_dual(x.native).tangent.tolist() == [2.0, 4.0]


def test_updates_see_memory_of_several_storages() -> None:
    import torch

    memory = np.arange(5.0)
    x, y = ua.asarray(torch.from_numpy(memory[1:])), ua.asarray(torch.from_numpy(memory[:-1]))
    x += y
    assert_same(x, np.array([1.0, 3.0, 5.0, 7.0]))
    ua.add(x, y, out=y)
    np.testing.assert_array_equal(memory, np.array([1.0, 4.0, 8.0, 12.0, 7.0]))


def test_updates_by_strided_and_broadcast_operands() -> None:
    x = ua.asarray(np.arange(12.0).reshape(3, 4))
    x += x[0]
    assert_same(x[2], np.array([8.0, 10.0, 12.0, 14.0]))
    x[:, ::2] += x[:, 1::2]
    assert_same(x[0], np.array([2.0, 2.0, 10.0, 6.0]))
    with pytest.raises(ua.errors.ShapeError):
        x += ua.ones((2, 3, 4))
    assert x.shape == (3, 4)


def test_what_torch_refuses_to_update_stays() -> None:
    import torch

    with torch.inference_mode():
        native = torch.ones(3, dtype=torch.float64)
    x = ua.asarray(native)
    for value in (1.0, ua.ones(3)):
        with pytest.raises(ua.errors.InplaceUpdateError, match="inference"):
            x += value
        with pytest.raises(ua.errors.InplaceUpdateError, match="inference"):
            x[:] = value
    assert native.tolist() == [1.0, 1.0, 1.0]
    meta = torch.ones((), dtype=torch.float64, device="meta")
    y = ua.ones(3)
    with pytest.raises(ua.errors.DeviceError):
        y += ua.asarray(meta)
    assert_same(y, np.ones(3))


@pytest.mark.parametrize("length", [3, 100])
def test_elements_of_few_and_of_many(length: int) -> None:
    host = np.arange(2.0 * length).reshape(2, length)
    x = ua.asarray(host)
    for place in (0, 2, -1, -length):
        assert float(x[0][place]) == host[0, place]
        assert float(x[1, place]) == host[1, place]
    for place in (length, -length - 1):
        with pytest.raises(IndexError):
            x[0][place]
        with pytest.raises(IndexError):
            x[1, place]
    with pytest.raises(IndexError):
        x[2, 0]


def test_elements_carry_gradients() -> None:
    import torch

    x = ua.asarray(torch.ones((2, 2), dtype=torch.float64, requires_grad=True))
    assert x[0, 1].native.requires_grad
    assert x[0][1].native.requires_grad
    assert ua.grad(lambda x: x[0, 1] * x[1][0])(ua.asarray([[1.0, 2.0], [3.0, 4.0]])).tolist() == [[0, 3], [2, 0]]


def test_numbers_at_masks_and_indices() -> None:
    for dtype in ("float64", "float32", "int64", "bool"):
        host = np.zeros((4, 2), dtype)
        x = ua.asarray(host, copy=True)
        for key, value in ((np.array([0, -1]), 1), (np.array([], np.int64), 1), (host == 0, 0), (np.array([1, 1]), 1)):
            number = bool(value) if dtype == "bool" else value
            x[ua.asarray(key)] = number
            host[key] = number
            assert_same(x, host)
        with pytest.raises(IndexError):
            x[ua.asarray([0, 4])] = True
        assert_same(x, host)


@on_host("NumPy shares it")
def test_ndarrays_of_what_is_read_only_or_lazy() -> None:
    import torch

    x = ua.ones(3)
    np.asarray(x)[0] = 5
    assert float(x[0]) == 5
    assert not np.asarray(ua.broadcast_to(x, (2, 3))).flags.writeable
    conjugate = torch.tensor([1 + 2j]).conj()
    np.testing.assert_array_equal(np.asarray(ua.asarray(conjugate)), np.array([1 - 2j], np.complex64))
    with pytest.raises(ua.errors.LostDerivativeError):
        np.asarray(ua.asarray(torch.ones(2, requires_grad=True)))


def test_running_sums_of_negative_zeros() -> None:
    for host in ([-0.0, -0.0, 1.0], [0.0, -0.0], [2.0, -2.0, -0.0]):
        for _ in range(4):
            found = ua.cumulative_sum(ua.asarray(host))
            assert_same(found, np.cumsum(np.array(host)))


def test_places_among_what_ends_with_a_nan() -> None:
    values = np.array([0.5, np.nan, np.inf, 2.0])
    for host in ([1.0, 2.0], [1.0, np.nan], [1.0, np.inf]):
        for side in ("left", "right"):
            for _ in range(4):
                found = ua.searchsorted(ua.asarray(host), ua.asarray(values), side=side)
                assert_same(found, np.searchsorted(np.array(host), values, side=side))


def test_views_have_one_shortcut_for_all_strides() -> None:
    x = ua.asarray(np.arange(12.0).reshape(3, 4))
    square = x[:, :3]
    for _ in range(4):
        for each in (square, square.T, ua.ones((3, 3))):
            found = ua.swapaxes(each, 0, 1)
            assert_same(found, as_numpy(each).T)
            assert found.base is (each if each.base is None else each.base)
    public: Any = DECLARATIONS["swapaxes"].public
    table: Shortcuts = public.dispatcher.shortcuts
    mine = [key for key in table if key[0] is load("torch") and key[2:] == ((3, 3), (int, 0), (int, 1))]  # type: ignore[index]
    assert len(mine) == 1


@on_host("NumPy's arrays lie there")
def test_asarray_takes_at_once_what_the_engine_does_as_numpy_and_declines_the_rest() -> None:
    import torch

    fast = load("torch").plain_way("asarray", None).kernel
    assert fast is not None
    assert fast(np.ones(2), None, None, None).dtype is torch.float64
    for call in (([[1.0]], None, None, None), (np.ones(2), None, None, True), ([1, 2**70], None, None, None)):
        assert fast(*call) is NotImplemented


def test_known_calls_refuse_what_they_refused() -> None:
    x, m = ua.asarray([1.0, 2.0, 3.0, 4.0]), ua.ones((2, 2))
    with pytest.raises(ShapeError):
        ua.concat([x[:0], m])
    with pytest.raises(ShapeError):
        ua.squeeze(x, 0)
    with pytest.raises(TypeError):
        ua.reshape(x, (2, True))
    with pytest.raises(DtypeError):
        ua.where(ua.astype(x > 1, ua.uint8), x, x)
    with pytest.raises(IndexError):
        ua.take(x, ua.asarray([4]))
    with pytest.raises(BackendMismatchError):
        ua.stack([x, ua.ones(4, backend="numpy")])
    assert ua.take(x, ua.asarray([-1])).tolist() == [4.0]
    assert np.signbit(as_numpy(ua.cumulative_sum(ua.asarray([-0.0, -0.0])))).all()
    assert np.signbit(as_numpy(ua.asarray(np.array([-0.0]))))
    host = np.ones(2)
    made = ua.asarray(host)
    host[0] = 5.0
    assert made.tolist() == [1.0, 1.0]


def test_numpy_arrays_beside_tensors_are_read_at_once() -> None:
    import torch

    backend = load("torch")
    assert backend.borrow is not None
    x, host = ua.asarray([1.0, 2.0]), np.array([10.0, 20.0])
    for _ in range(3):
        found = x + host
        host[0] += 1
        assert found.tolist() == [host[0], 22.0]
    frozen = host.copy()
    frozen.flags.writeable = False
    leaf = torch.ones(2, dtype=torch.float64, requires_grad=True)
    for native, array in ((x.native, frozen), (leaf, host)):
        assert backend.borrow(native, array) is NotImplemented
    assert (x * frozen).tolist() == [13.0, 40.0]
    # A residual of a derivative doesn't change with the array.
    product = ua.sum(ua.asarray(leaf) * host)
    host[:] = 0.0
    product.native.backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [13.0, 20.0]
    with pytest.raises(ShapeError):
        x + np.ones(3)
    assert (ua.asarray([1, 2]) + np.array([0.5, 0.5])).dtype is ua.float64


def test_writes_look_at_both_ends_of_memory() -> None:
    import torch

    from unifyarr.backends.torch._targets import writes_at_once as writes

    base = torch.zeros(12)
    low, middle, high = base[:4], base[4:8], base[8:]
    for out, x1, x2 in ((low, middle, high), (high, low, middle), (middle, low, high), (middle, middle, low)):
        assert writes(out, x1, x2)
    for wrong in (base[1:5], base[7:11], base[1:8:2], base[3:10:2]):
        assert not writes(middle, wrong, low)
        assert not writes(middle, low, wrong)
        assert not writes(middle, middle, wrong)
    with torch.inference_mode():
        inner = torch.zeros(4)
    with pytest.raises(RuntimeError):
        writes(inner, low, high)
    assert ua.add(ua.asarray(low), ua.asarray(high), out=ua.asarray(middle)).native is middle
    with pytest.raises(InplaceUpdateError):
        ua.add(ua.asarray(low), ua.asarray(high), out=ua.asarray(inner))


def test_remainder_of_integers_and_of_other_numbers() -> None:
    i = ua.asarray([-7, -1, 0, 5])
    for _ in range(3):
        for value in (3, -3, 300, 2.5):
            assert_same(i % value, np.array([-7, -1, 0, 5]) % value)
        assert_same(ua.remainder(i, 3, modulus=False), np.fmod([-7, -1, 0, 5], 3))
        assert_same(ua.asarray([-np.inf, -0.0, 5.5]) % 3.0, np.array([np.nan, 0.0, 2.5]))


def _ops(call: Any) -> list[str]:
    """Return the names of torch's operations that a call dispatches when it's repeated."""
    from torch.utils._python_dispatch import TorchDispatchMode

    found: list[str] = []

    class Noting(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            found.append(function.__name__)
            return function(*args, **(kwargs or {}))

    for _ in range(4):
        call()
    with Noting():
        call()
    return found


def test_functions_that_torch_has_whole_take_one_call() -> None:
    x, w = ua.asarray([1.0, 2.0, 4.0]), ua.ones((2, 3))
    assert not any("_to_copy" in each for each in _ops(lambda: ua.fft.fft(x)))
    assert not any("add.Tensor" in each or "add_." in each for each in _ops(lambda: ua.nn.linear(w, w, x[:2])))


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int8", "int64", "uint16", "uint64", "float32", "complex64", "complex128"]
)
def test_differences_are_numpys_in_every_dtype(dtype: str) -> None:
    host = np.array([[1, 0, 3], [2, 2, 7]]).astype(dtype)
    if host.dtype.kind == "c":
        host[0, 1] = complex(math.inf, 1)
    for axis in (0, 1, -1):
        for _ in range(3):
            with np.errstate(invalid="ignore"):
                assert_same(ua.diff(ua.asarray(host), axis=axis), np.diff(host, axis=axis))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_linear_layers_are_products_and_sums(dtype: str) -> None:
    rng = np.random.default_rng(0)
    weight, bias = rng.normal(size=(2, 3)).astype(dtype), rng.normal(size=2).astype(dtype)
    for shape in ((3,), (4, 3), (2, 0, 3)):
        host = rng.normal(size=shape).astype(dtype)
        for _ in range(3):
            found = ua.nn.linear(ua.asarray(host), ua.asarray(weight), ua.asarray(bias))
            assert_values(as_numpy(found), host @ weight.T + bias)
        slope = ua.grad(lambda w, x=host: ua.sum(ua.nn.linear(ua.asarray(x), w, ua.asarray(bias)) ** 2))
        residual = 2 * (host @ weight.T + bias).reshape(-1, 2)
        assert_values(as_numpy(slope(ua.asarray(weight))), residual.T @ host.reshape(-1, 3))


def test_numbers_of_arrays_of_no_axes() -> None:
    import torch

    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.uint8, torch.bool):
        x = ua.asarray(torch.tensor(1, dtype=dtype))
        assert float(x) == 1.0
        assert type(float(x)) is float
        assert int(x) == 1
    assert float(ua.asarray(torch.tensor(1.5, requires_grad=True))) == 1.5
    with pytest.raises(TypeError):
        float(ua.ones(1))
    with pytest.raises(TypeError):
        float(ua.asarray(1j))
    number_of = load("torch").number_of
    assert number_of(torch.ones(1)) is NotImplemented
    assert number_of(torch.ones((), device="meta")) is NotImplemented
    seen: list[Any] = []
    torch.vmap(lambda x: (seen.append(number_of(x)), x)[1])(torch.ones(2))
    assert seen == [NotImplemented]


@on_host("NumPy writes it")
def test_memory_that_numpy_may_write() -> None:
    import torch

    memory_of = load("torch").memory_of
    x = torch.zeros(3, dtype=torch.float64)
    memory_of(x)[1] = 2.0
    assert x.tolist() == [0.0, 2.0, 0.0]
    refused = [x.expand(2, 3), x.clone().requires_grad_(), torch.zeros(2, device="meta"), torch.tensor([1j]).conj()]
    refused += [torch.zeros(2, dtype=torch.bfloat16), torch.tensor([1j]).conj().imag]
    assert [memory_of(each) for each in refused] == [None] * len(refused)
    seen: list[Any] = []
    torch.func.grad(lambda x: (seen.append(memory_of(x)), x.sum())[1])(x)
    assert seen == [None]


def test_writes_at_masks_and_places_that_overlap_or_dont_fit() -> None:
    import torch

    for _ in range(3):
        mask = ua.asarray([True, False, True])
        mask[mask] = False
        assert mask.tolist() == [False, False, False]
        places = ua.asarray([2, 0, 1])
        places[places] = 7
        assert places.tolist() == [7, 7, 7]
        m = ua.zeros((2, 3))
        with pytest.raises(IndexError):
            m[ua.asarray([True, False, True])] = 1.0
        m[ua.asarray([[1], [0]])] = 1.0
        assert m.tolist() == [[1.0] * 3] * 2
    leaf = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    for key in (ua.asarray([True, False, True]), ua.asarray([0, 2]), slice(2), 1):
        with pytest.raises(InplaceUpdateError):
            ua.asarray(leaf)[key] = 1.0
    assert leaf.tolist() == [0.0] * 3
    # The written tensor records gradients, whichever did before.
    target, value = ua.zeros(3), torch.ones(2, dtype=torch.float64, requires_grad=True)
    target[1:] = ua.asarray(value)
    (found,) = torch.autograd.grad((target.native * 3).sum(), value)
    assert found.tolist() == [3.0, 3.0]
