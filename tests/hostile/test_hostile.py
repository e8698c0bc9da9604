"""A small share of the hostile calls, and an example of each earlier finding."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import DtypeError, EngineError, ProtocolError
from unifyarr.testing import needs

from ..kernels import leave_shortcuts, without_plain_calls
from . import judge
from .natives import NATIVES
from .run import Caller
from .values import deep_list, recursive_list

# How many calls are made in the suite: JAX compiles for most of them.
COUNTS = {"jax": 40, "tensorflow": 250}


@needs("variables", why="some calls that are drawn write one")
def test_hostile_calls_return_or_say_what_is_wrong(backend: str) -> None:
    # In a process of its own, which a crash ends and which may be kept from taking all memory.
    command = [sys.executable, "-m", "tests.hostile", backend, str(COUNTS.get(backend, 800)), "20261122"]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=root)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def test_a_call_is_determined_by_its_seed_and_number(backend: str) -> None:
    said = [[Caller(seed).draw(number)[0] for number in range(20)] for seed in (3, 3, 4)]
    assert said[0] == said[1] != said[2]


@pytest.mark.parametrize("error", [AttributeError("x"), KeyError("x"), RecursionError("x"), ValueError("")], ids=repr)
def test_the_judge_knows_unclear_errors(error: Exception) -> None:
    assert judge.unclear(error, "sin") is not None
    assert judge.unclear(ua.errors.ShapeError("a word"), "sin") is None


def test_the_judge_sees_changed_arrays(backend: str) -> None:
    x = ua.ones(3)
    before = judge.state(x)
    assert judge.state(x) == before
    x[0] = 5.0
    assert judge.state(x) != before


# -- sizes ------------------------------------------------------------------------------------------------------------

HUGE: dict[str, Callable[[], Any]] = {
    "ones": lambda: ua.ones((2**62, 2**62)),
    "ones of terabytes": lambda: ua.ones((2**40,)),
    "zeros with an empty axis": lambda: ua.zeros((2**62, 2**62, 0)),
    "full": lambda: ua.full(2**60, 1.5),
    "eye": lambda: ua.eye(2**40),
    "arange": lambda: ua.arange(2**50),
    "linspace": lambda: ua.linspace(0.0, 1.0, 2**50),
    "ones_like": lambda: ua.ones_like(ua.broadcast_to(ua.ones(1), (2**45,))),
    "a sum of a huge view": lambda: ua.broadcast_to(ua.ones(1), (2**45,)) + 1.0,
    "a copy of a huge view": lambda: ua.broadcast_to(ua.ones(1), (2**45,)).copy(),
    "an outer product": lambda: ua.linalg.outer(ua.ones(2**20), ua.ones(2**22)),
    "an outer sum": lambda: ua.ones((2**20, 1)) + ua.ones(2**22),
    "kron": lambda: ua.kron(ua.ones(2**20), ua.ones(2**22)),
    "meshgrid": lambda: ua.meshgrid(ua.ones(2**20), ua.ones(2**22)),
    "repeat": lambda: ua.repeat(ua.ones(3), 2**45),
    "tile": lambda: ua.tile(ua.ones(3), 2**45),
    "pad": lambda: ua.pad(ua.ones(3), 2**45),
    "one_hot": lambda: ua.nn.one_hot(ua.asarray([1]), 2**45),
    "bincount": lambda: ua.bincount(ua.asarray([2**45])),
    "fft": lambda: ua.fft.fft(ua.ones(3), n=2**45),
    "fftfreq": lambda: ua.fft.fftfreq(2**50),
    "asarray": lambda: ua.asarray(np.broadcast_to(np.ones(1), (2**45,)), copy=True),
    "random numbers": lambda: ua.random.Generator(0).normal(size=2**50),
    "a choice": lambda: ua.random.Generator(0).choice(5, size=2**50),
}


@needs("values", why="memory is taken when values are computed")
@pytest.mark.parametrize("call", HUGE)
def test_what_no_memory_can_hold_is_a_memory_error(backend: str, call: str) -> None:
    with pytest.raises(MemoryError, match=r"memory|allocat"):
        HUGE[call]()


def test_what_the_machine_cant_hold_is_refused_before_an_engine_tries(backend: str) -> None:
    with pytest.raises(MemoryError, match=r"shape \(1099511627776,\) and dtype float64, 8,796,093,022,208 bytes"):
        ua.ones(2**40)


# -- nests ------------------------------------------------------------------------------------------------------------

NESTS: dict[str, Callable[[Any], Any]] = {
    "asarray": ua.asarray,
    "a function": ua.sum,
    "a sequence of arrays": lambda x: ua.concat([x]),
    "an operator": lambda x: ua.ones(2) + x,
    "a key": lambda x: ua.ones(2)[x],
    "a value": lambda x: ua.ones(2).__setitem__(0, x),
    "an update": lambda x: ua.inplace_update(ua.ones(2), x),
    "an axis": lambda x: ua.sum(ua.ones(2), axis=x),
    "a shape": ua.zeros,
    "a dtype": lambda x: ua.zeros(2, dtype=x),
    "a device": lambda x: ua.ones(2).to_device(x),
    "a container": lambda x: ua.Container(a=x),
    "to_backend": lambda x: ua.to_backend(x, "numpy"),
    "a random parameter": lambda x: ua.random.Generator(0).normal(x),
}


@pytest.mark.parametrize("make", [recursive_list, lambda: deep_list(20_000)], ids=["recursive", "deep"])
@pytest.mark.parametrize("call", NESTS)
def test_a_nest_without_end_is_refused(backend: str, call: str, make: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        NESTS[call](make())


# -- natives ----------------------------------------------------------------------------------------------------------

FOREIGN = [
    *("big-endian", "big-endian integers", "longdouble", "objects", "structured", "datetimes", "strings", "void"),
    *("variable-width strings", "an object array that contains itself"),
]


@pytest.mark.parametrize("native", FOREIGN)
def test_a_numpy_array_of_a_foreign_dtype_is_no_target(native: str) -> None:
    x = NATIVES["numpy"][native]()
    for write in (
        lambda: ua.inplace_update(x, 1),
        lambda: ua.inplace_increment(x, 1),
        lambda: ua.add(np.ones(3), 1, out=x),
        lambda: ua.supports_inplace_updates(x),
        lambda: ua.random.Generator(0).random(out=x),
    ):
        with pytest.raises(DtypeError, match="arrays hold bool, int8"):
            write()


REFUSED = {
    "torch": [
        "a sparse COO tensor",
        "a sparse CSR tensor",
        "a nested tensor",
        "a quantised tensor",
        "an mkldnn tensor",
    ],
    "jax": ["keys", "a deleted array", "a float8 without zero", "int2"],
    "tensorflow": ["a string tensor", "a variant tensor", "a resource tensor", "a quantised tensor", "a ragged tensor"],
}


def test_natives_that_are_no_dense_arrays_of_our_dtypes_are_refused(backend: str) -> None:
    for name in REFUSED.get(backend, []):
        for call in (ua.asarray, ua.sin, ua.from_dlpack, lambda x: ua.add(ua.ones(3), x), lambda x: ua.concat([x, x])):
            native = NATIVES[backend][name]()
            with pytest.raises((TypeError, ValueError)) as caught:
                call(native)
            assert judge.unclear(caught.value, name) is None, name


def test_a_tensor_without_values_says_so() -> None:
    torch = pytest.importorskip("torch")
    x = ua.asarray(torch.ones(3, device="meta"))
    for read in (x.tolist, x.item, lambda: np.asarray(x), lambda: x.to_backend("numpy")):
        with pytest.raises(TypeError, match="meta device has no values"):
            read()


# -- engines' own errors ----------------------------------------------------------------------------------------------


@needs("values", why="the engine computes at the call")
def test_an_engines_own_error_is_said_in_the_packages_words(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = ua.ones(2)._backend
    own = {
        "numpy": MemoryError(),
        "torch": RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
    }.get(backend, RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 8 bytes."))

    def fails(*_: Any, **__: Any) -> Any:
        raise own

    leave_shortcuts(monkeypatch)
    monkeypatch.setitem(handle.kernels, "concat", fails)
    with without_plain_calls(handle), pytest.raises(MemoryError, match=r"concat\(\)") as caught:
        ua.concat([ua.ones(2), ua.ones(3)])
    assert caught.value.__cause__ is own
    if backend == "numpy":
        return
    own = RuntimeError("the first line\nand a page of others")
    with (
        without_plain_calls(handle),
        pytest.raises(EngineError, match=rf"^concat\(\): {backend} can't do this: the first line$") as again,
    ):
        ua.concat([ua.ones(2), ua.ones(3)])
    assert again.value.__cause__ is own
    assert isinstance(again.value, (ValueError, RuntimeError))


def test_errors_of_a_users_own_kernel_come_through(backend: str) -> None:
    @ua.op
    def failing(x: ua.Array, /) -> ua.Array:
        raise RuntimeError("the user's")

    with pytest.raises(RuntimeError, match=r"^the user's$") as caught:
        failing(ua.ones(2))
    assert type(caught.value) is RuntimeError


# -- other arguments --------------------------------------------------------------------------------------------------

ARGUMENTS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "set_at": (lambda: ua.Container(a=ua.ones(1)).set_at(3), TypeError, "mapping of paths"),
    "diff": (lambda: ua.Container(a=ua.ones(1)).diff(3), TypeError, "takes containers"),
    "map": (lambda: ua.Container(a=ua.ones(1)).map(3), TypeError, "takes a function"),
    "map with another": (lambda: ua.Container(a=ua.ones(1)).map(ua.add, 3), TypeError, "takes containers"),
    "filter": (lambda: ua.Container(a=ua.ones(1)).filter(3), TypeError, "takes a function"),
    "reduce": (lambda: ua.Container(a=ua.ones(1)).reduce(3), TypeError, "takes a function"),
    "unflatten": (lambda: ua.Container.unflatten(3, []), TypeError, "that flatten"),
    "op": (lambda: ua.op(3), TypeError, "takes a function"),
    "grad": (lambda: ua.grad(3)(ua.ones(2)), TypeError, "function"),
    "vmap": (lambda: ua.vmap(3)(ua.ones(2)), TypeError, "function"),
    "from_dlpack": (lambda: ua.from_dlpack(1.5), ProtocolError, "__dlpack__"),
    "expand_dims": (lambda: ua.expand_dims(ua.ones(2), None), TypeError, "an axis is an integer"),
    "full_like": (lambda: ua.full_like(ua.ones(2), "str"), TypeError, "str"),
    "var": (lambda: ua.var(ua.ones(3), correction=ua.ones(3)), ValueError, "correction"),
    "an optional array": (lambda: ua.nn.rms_norm(ua.ones((2, 3)), 1.5), ValueError, "weight"),
    "an engine": (lambda: ua.random.Generator(0, engine=np.array(["host"])), ValueError, "engine is one of"),
    "the backend of a variable": (lambda: ua.variable([1.0], backend=ua.Container()), TypeError, "named by a string"),
    "a backend": (lambda: ua.zeros(2, backend=["numpy"]), TypeError, "named by a string"),
    "an endless shape": (lambda: ua.zeros(range(10**12)), ValueError, "at most 64"),
    "a stride": (lambda: ua.nn.avg_pool1d(ua.ones((1, 1, 8)), 2, stride=range(10**12)), ValueError, "at most 64"),
    "a sample": (lambda: ua.random.Generator(0).multivariate_hypergeometric([3, 4], 1.5), TypeError, "nsample is an"),
    "a seed": (lambda: ua.random.Generator(recursive_list()), TypeError, "part of a seed"),
    "an endless seed": (lambda: ua.random.Generator(range(10**12)), ValueError, "at most"),
    "a power": (lambda: ua.linalg.matrix_power(ua.eye(2), -(2**63)), OverflowError, "below 2"),
    "spawn": (lambda: ua.random.Generator(0).spawn(2**40), MemoryError, "no memory"),
    "a stream": (lambda: ua.ones(2, device="cpu").__dlpack__(stream=1), ValueError, "no streams"),
    "a version": (lambda: ua.ones(2).__dlpack__(max_version=1.5), TypeError, "max_version"),
    "a range": (lambda: ua.histogram(ua.ones(2), range=3), TypeError, "pair of numbers"),
}


@pytest.mark.parametrize("call", ARGUMENTS)
def test_wrong_arguments_are_named(backend: str, call: str) -> None:
    function, error, words = ARGUMENTS[call]
    if backend == "numpy" and call in ("grad", "vmap"):
        pytest.importorskip("torch", reason="NumPy's functions are transformed by another engine")
    with pytest.raises(error, match=words):
        function()


def test_a_flag_that_is_neither_true_nor_false_leaves_out_as_it_was(backend: str) -> None:
    x, out = ua.ones((2, 3)), ua.full((2, 3), 7.0)
    with pytest.raises(ValueError, match="ambiguous"):
        ua.nn.scaled_dot_product_attention(x, x, x, ua.ones((2, 2)) > 0, is_causal=ua.ones(2), out=out)
    assert out.tolist() == [[7.0] * 3] * 2


def test_the_zero_frequency_of_one_number_stays_where_it_is(backend: str) -> None:
    assert ua.fft.fftshift(ua.asarray(1.5)).item() == 1.5
    assert ua.fft.ifftshift(ua.asarray(1.5)).shape == ()


def test_slices_and_integers_of_any_size(backend: str) -> None:
    x = ua.reshape(ua.arange(6), (2, 3))
    assert x[:: 10**30].tolist() == x[:: 2**62].tolist() == [[0, 1, 2]]
    for place in (2**63, -(2**63), 10**30):
        with pytest.raises(IndexError):
            x[place]
