"""The compiled core reads dtypes, shapes and memory from torch's structs: results are the same without that."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest

import unifyarr as ua
from unifyarr._native import core
from unifyarr.backends import private

torch = pytest.importorskip("torch")
fields = pytest.importorskip("unifyarr.backends.torch._fields")

pytestmark = pytest.mark.skipif(core is None, reason="the compiled core does that")


@pytest.fixture
def as_torch_was() -> Iterator[None]:
    yield
    fields.offer()


def test_the_installed_version_has_all_places() -> None:
    ua.zeros(1, backend="torch")
    assert "torch.Tensor._cdata" not in private.missing("torch")
    probes = fields._probes()
    places = fields._find(*probes)
    assert len(set(places)) >= len(places) - 2
    assert core.take_fields(torch.Tensor, places, probes[3], "stored_strides")


# Not the places of pointers, which are followed.
@pytest.mark.parametrize("place", [1, 3, 4, 5, 6, 8])
def test_places_that_tell_something_else_are_refused(as_torch_was: None, place: int) -> None:
    probes = fields._probes()
    places = fields._find(*probes)
    places[place] += 8
    assert not core.take_fields(torch.Tensor, places, probes[3], "")


def test_a_place_that_is_not_found_is_noted(as_torch_was: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "_BODY", 4)
    monkeypatch.setattr(private, "_found", {})
    fields.offer()
    assert private.missing("torch") == ["torch.Tensor._cdata"]


def halved(x: Any) -> Any:
    # Its dtype and shape change, and it's the same object.
    x.data = x.data.half()[1:]
    return x


def deep(x: Any) -> Any:
    return x.reshape(1, 1, 1, 1, 1, -1)


KINDS: dict[str, Callable[[Any], Any]] = {
    "usual": lambda x: x,
    "empty": lambda x: x[:0],
    "one number": lambda x: x[0],
    "with steps": lambda x: x[::2],
    "expanded": lambda x: x[:1].expand(4),
    "of six axes": deep,
    "with another dtype": halved,
    "of integers": lambda x: x.long(),
    "bfloat16": lambda x: x.bfloat16(),
    "conjugate": lambda x: x.to(torch.complex64).mul(1 + 1j).conj(),
    "negated": lambda x: x.to(torch.complex64).mul(1 + 1j).conj().imag,
    "watched": lambda x: x.clone().requires_grad_(),
    "computed from a watched one": lambda x: x.clone().requires_grad_() * 2,
    "parameter": lambda x: torch.nn.Parameter(x.clone()),
    "without memory": lambda x: x.to("meta"),
    "copied when written": lambda x: torch._lazy_clone(x),
}

CALLS: dict[str, Callable[[Any], Any]] = {
    "add": lambda x: x + x,
    "number": lambda x: x * 2.5,
    "function": ua.sin,
    "known": lambda x: ua.sum(x, axis=0) if x.ndim else ua.sum(x),
    "reshape": lambda x: ua.reshape(x, (-1, 1)),
    "in place": lambda x: x.__iadd__(ua.ones_like(x)),
    "in its own window": lambda x: x[1:].__iadd__(x[:-1]) if x.ndim == 1 else x.__imul__(2),
    "out": lambda x: ua.exp(x, out=ua.zeros_like(x)),
    "selection": lambda x: x[x == x] if x.ndim else x,
}


def found(kind: str, name: str) -> list[Any]:
    """Return the result of a call that is made again and again, or its error, and how it leaves the tensor."""
    results = []
    for _ in range(3):
        native = KINDS[kind](torch.tensor([0.5, 1.5, 2.5, 3.5]))
        try:
            x = ua.asarray(native)
            result = CALLS[name](x).native
        except Exception as error:
            results.append((type(error), str(error)))
            continue
        for each in (result, x.native):
            tells = (
                each.dtype,
                each.shape,
                each.stride(),
                each.requires_grad,
                each.is_conj(),
                each.is_neg(),
                each._version,
            )
            results.append((*tells, None if each.is_meta else each.tolist()))
    return results


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", KINDS)
def test_calls_are_the_same_without_it(as_torch_was: None, kind: str, name: str) -> None:
    fields.offer()
    read = found(kind, name)
    assert not core.take_fields(torch.Tensor, [], [], "")
    assert read == found(kind, name)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("transform", ["grad", "vmap", "jvp", "inference"])
def test_transformations_are_the_same_without_it(as_torch_was: None, transform: str, name: str) -> None:
    def function(native: Any) -> Any:
        return CALLS[name](ua.asarray(native.clone())).native

    def call() -> Any:
        x = torch.tensor([0.5, 1.5, 2.5, 3.5])
        try:
            if transform == "inference":
                with torch.inference_mode():
                    return function(x).tolist()
            if transform == "grad":
                return torch.func.grad(lambda x: function(x).sum())(x).tolist()
            if transform == "vmap":
                return torch.func.vmap(function)(x.reshape(2, 2)).tolist()
            return [each.tolist() for each in torch.func.jvp(function, (x,), (x,))]
        except Exception as error:
            return type(error), str(error)

    fields.offer()
    read = [call() for _ in range(3)]
    assert not core.take_fields(torch.Tensor, [], [], "")
    assert read == [call() for _ in range(3)]


class Keeping(torch.overrides.TorchFunctionMode):
    """Keeps the arguments of torch's functions, and calls ours meanwhile."""

    def __init__(self, other: Any) -> None:
        super().__init__()
        self.kept: list[tuple[Any, ...]] = []
        self._other = other

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function is torch.add:
            self.kept.append(args)
            ua.add(self._other, self._other)
        return function(*args, **kwargs or {})


def test_arguments_that_somebody_keeps_stay_as_they_are() -> None:
    arrays = [ua.asarray(torch.full((2,), float(number))) for number in range(6)]
    with Keeping(arrays[0]) as mode:
        for one, two in pairwise(arrays):
            ua.add(one, two)
    numbers = [tuple(int(x[0]) for x in args) for args in mode.kept]
    assert numbers == [(number, number + 1) for number in range(5)]
    assert all(map(gc.is_tracked, mode.kept))


def test_strides_tell_calls_apart() -> None:
    base = torch.arange(24.0)
    windows = [base[:6].reshape(2, 3), base[6:12].reshape(3, 2).T, base[::2][:6].reshape(2, 3), base[:3].expand(2, 3)]
    for native in windows * 3:
        x = ua.asarray(native)
        made = ua.reshape(x, (6,)).native
        assert made.tolist() == native.reshape(6).tolist()
        # A view where torch gives one.
        assert (made.data_ptr() == native.data_ptr()) == (native.reshape(6).data_ptr() == native.data_ptr())
        assert ua.exp(x).native.stride() == torch.exp(native).stride()


def test_tensors_that_stand_for_others_are_told_by_what_they_stand_for() -> None:
    backend = ua.asarray(torch.zeros(1))._backend
    x = torch.arange(6.0).reshape(2, 3)
    stored = backend.as_stored(x.T.contiguous().T, x.clone())
    assert backend.layout_key(stored) == (1, 2)
    for native in (x, stored) * 3:
        assert ua.reshape(ua.asarray(native), (3, 2)).native.tolist() == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
def test_derivatives_are_told_where_there_may_be_none() -> None:
    x = torch.ones(3)
    watched = torch.ones(3, requires_grad=True)
    assert core.is_unwatched(x)
    for other in (watched, watched * 2, watched[1:], x.to_sparse(), torch.nn.Parameter(x), 2.5):
        assert not core.is_unwatched(other)
    assert not core.is_unwatched(x.requires_grad_())
    told = []
    torch.func.grad(lambda x: told.append(core.is_unwatched(x)) or x.sum())(torch.ones(3))
    torch.func.vmap(lambda x: told.append(core.is_unwatched(x)) or x)(torch.ones(3))
    with torch.autograd.forward_ad.dual_level():
        told.append(core.is_unwatched(torch.autograd.forward_ad.make_dual(torch.ones(3), torch.ones(3))))
    assert told == [False] * 3


def test_a_few_numbers_are_told_to_be_finite() -> None:
    inf, nan = float("inf"), float("nan")
    for dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        x = torch.tensor([[1.0, 2.0, -3.0], [3e38, 0.0, -0.0]], dtype=dtype)
        assert core.is_finite(x) is core.is_finite(x[:0]) is core.is_finite(x[0]) is True
        for number in (inf, -inf, nan):
            x[1, 1] = number
            assert core.is_finite(x) is core.is_finite(x[1]) is False
            assert core.is_finite(x[0]) is True
        # Not side by side, too many, or told by their conjugates.
        assert core.is_finite(x.T) is core.is_finite(x[:, 1]) is core.is_finite(torch.zeros(65, dtype=dtype)) is None
    assert core.is_finite(torch.tensor([1j]).conj()) is core.is_finite(torch.ones(2, dtype=torch.int64)) is None
    assert core.is_finite(torch.ones(2, dtype=torch.float16)) is core.is_finite([1.0]) is None


@pytest.mark.parametrize("bounds", [(0, 2), (0.5, 1.5)])
def test_limits_of_arrays_with_derivatives(bounds: tuple[float, float]) -> None:
    for _ in range(4):
        x = torch.tensor([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0], requires_grad=True)
        result = ua.clip(ua.asarray(x), *bounds)
        assert result.native.requires_grad
        plain = ua.clip(ua.asarray(x.detach().clone()), *bounds).native
        assert plain.tolist() == result.native.tolist() == x.detach().clamp(*bounds).tolist()
        assert not plain.requires_grad
