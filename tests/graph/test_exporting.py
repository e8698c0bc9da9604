"""Functions in the formats of other runtimes, each run there and compared with eager values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr.container.container import flatten
from unifyarr.errors import BackendFeatureError
from unifyarr.graph.formats import FORMATS

from ..natives import skip_without_exporters
from .test_monitoring import line_in

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
# torch's exporter to ONNX takes ten seconds for each function, so that a few functions do a lot.
SOON = [each for each in FORMATS if each != "onnx"]


def runtime(to: str, exported: Any) -> Callable[..., list[np.ndarray]]:
    """Return a function of NumPy's arrays that has the format's own runtime compute."""
    if to == "stablehlo":
        import jax

        loaded = jax.export.deserialize(exported.serialize())
        return lambda *arrays: list(map(np.asarray, loaded.call(*arrays)))
    if to == "torch":
        import torch

        module = exported.module()
        return lambda *arrays: [x.numpy() for x in module(*map(torch.from_numpy, arrays))]
    import onnxruntime

    session = onnxruntime.InferenceSession(exported.model_proto.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]
    return lambda *arrays: session.run(None, dict(zip(names, arrays, strict=False)))


def compare(
    function: Any, to: str, examples: Sequence[np.ndarray], cases: Sequence[Sequence[np.ndarray]], **how: Any
) -> None:
    """Hold a function that is exported against its eager results, and then the arguments that it writes to."""
    run = runtime(to, ua.export(function, *map(of, examples), to=to, **how))
    for case in cases:
        arrays = list(map(of, case))
        results = flatten(function(*arrays), in_order=True)[0]
        written = [x for x, before in zip(arrays, case, strict=True) if not np.array_equal(np.asarray(x), before)]
        wanted = [np.asarray(x) for x in (*results, *written)]
        found = run(*case)
        assert [(x.dtype, x.shape) for x in found] == [(x.dtype, x.shape) for x in wanted]
        for x, y in zip(found, wanted, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-5 if x.dtype == np.float32 else 1e-12, atol=1e-6)


def of(x: np.ndarray) -> Array:
    return ua.asarray(x, copy=True)


def numbers(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return (np.arange(np.prod(shape), dtype=np.float64).reshape(shape) / 7 - 0.6).astype(dtype)


def network(x: Array, w: Array) -> Any:
    h = ua.tanh(x @ w)
    h[0] = 0.5
    x += 1
    return {"out": ua.nn.softmax(h, axis=1), "view": h[1:, ::2], "largest": ua.argmax(h, axis=1), "is": h > 0.1}


def looped(x: Array, w: Array) -> Any:
    def step(c: Array, row: Array) -> Any:
        c = c * 0.5 + row
        return c, ua.sum(c)

    c, sums = ua.scan(step, 0 * x[0], x)
    c = ua.while_loop(lambda c: ua.sum(c) < 20, lambda c: c + w[0] + ua.asarray([1.0, 2.0, 3.0, 4.0], dtype=x.dtype), c)
    return ua.cond(ua.sum(x) > 3, lambda: c * 2, lambda: c - w[1]), sums


def integers(x: Array) -> Any:
    x[1:] += 3
    return x // 2, x & 1 == 1, ua.astype(x, ua.int32), ua.sum(x), ua.where(x > 3, x, -x)


def slope(x: Array, w: Array) -> Array:
    return ua.grad(lambda w: ua.mean(ua.log(1 + ua.exp(x @ w))))(w)


@pytest.mark.parametrize("to", FORMATS)
def test_results_and_writes_are_those_of_eager_calls(backend: str, to: str) -> None:
    skip_without_exporters(f'to="{to}"')
    if to == "onnx" and backend != "numpy":
        pytest.skip("the graph is torch's for each backend of the example, and takes ten seconds")
    x, w = numbers(3, 4), numbers(4, 4)
    compare(network, to, (x, w), [(x, w), (2 * x, w - 1)])


@pytest.mark.parametrize("to", FORMATS)
def test_loops_and_branches(to: str) -> None:
    skip_without_exporters(f'to="{to}"')
    x, w = numbers(3, 4), numbers(4, 4)
    with ua.use_backend("numpy"):
        compare(looped, to, (x, w), [(x, w), (2 * x, w), (-x, w)])


@pytest.mark.parametrize("to", SOON)
def test_integers_float64_and_gradients(to: str) -> None:
    skip_without_exporters(f'to="{to}"')
    with ua.use_backend("numpy"):
        whole = np.array([1, 2, 3, 7])
        compare(integers, to, (whole,), [(whole,), (whole - 5,)])
        x, w = numbers(3, 4, dtype=np.float64), numbers(4, 4, dtype=np.float64)
        compare(slope, to, (x, w), [(x, w)])
        compare(network, to, (x, w), [(x, w)])


@pytest.mark.parametrize("to", FORMATS)
def test_any_length_of_the_first_axis(to: str) -> None:
    skip_without_exporters(f'to="{to}"')

    def function(x: Array, w: Array) -> Any:
        h = ua.nn.softmax(x @ w)
        x *= 2
        return ua.mean(h, axis=0), h[1:] - h[:-1], ua.concat([x, w]), ua.reshape(x, (-1, 2)), ua.where(h > 0.2, h, 0)

    x, w = numbers(3, 4), numbers(4, 4)
    with ua.use_backend("numpy"):
        compare(function, to, (x, w), [(x, w), (numbers(5, 4), w), (numbers(2000, 4) / 900, w)], dynamic="x")


@pytest.mark.parametrize("to", SOON)
def test_means_and_gradients_of_any_length(to: str) -> None:
    skip_without_exporters(f'to="{to}"')

    def function(x: Array, w: Array) -> Any:
        return slope(x, w), ua.std(x), ua.cumulative_sum(x, axis=0), ua.sort(x, axis=0), ua.flip(x, axis=0)

    x, w = numbers(3, 4), numbers(4, 4)
    with ua.use_backend("numpy"):
        compare(function, to, (x, w), [(x, w), (numbers(6, 4), w)], dynamic=0)


@pytest.mark.parametrize("to", SOON)
def test_what_compile_was_told_counts(to: str) -> None:
    skip_without_exporters(f'to="{to}"')

    def softplus(x: Array) -> Array:
        return ua.log(1 + ua.exp(x))

    with ua.use_backend("numpy"):
        x = np.array([1000.0, 0.0])
        stable = ua.export(ua.compile(softplus, include="stabilize"), of(x), to=to)
        assert runtime(to, stable)(x)[0].tolist() == [1000.0, np.log(2)]
        assert runtime(to, ua.export(softplus, of(x), to=to))(x)[0][0] == np.inf
        graph = ua.graph.trace(softplus, of(x))
        assert runtime(to, ua.export(graph, of(x), to=to))(np.zeros(2))[0].tolist() == [np.log(2)] * 2


def printing(x: Array) -> Array:
    ua.debug_print("{}", x)
    return x


def selecting(x: Array) -> Array:
    return ua.concat([x[x > 0], x[x > 0]])


@ua.op
def doubled(x: Array, /) -> Array:
    """Double."""
    return 2 * x


@doubled.kernel("torch", natives="numpy")
@doubled.kernel("jax", natives="numpy")
def _(x: Any) -> Any:
    return 2 * x


def hosted(x: Array) -> Array:
    return doubled(x)


@pytest.mark.parametrize("to", SOON)
@pytest.mark.parametrize(
    ("function", "text"),
    [(printing, "ua.debug_print"), (hosted, "return doubled")],
    ids=["print", "host"],
)
def test_what_has_no_counterpart_raises_with_its_line(to: str, function: Any, text: str) -> None:
    skip_without_exporters(f'to="{to}"')
    with ua.use_backend("numpy"), pytest.raises(BackendFeatureError, match="has no counterpart") as error:
        ua.export(function, of(numbers(3)), to=to)
    assert f"line {line_in(function, text)}" in str(error.value)


def decomposed(x: Array) -> Array:
    y = x @ x.T
    return ua.linalg.eigh(y)[0] + 1


def test_a_converter_that_refuses_an_operation_names_its_line() -> None:
    skip_without_exporters('to="onnx"')
    with (
        ua.use_backend("numpy"),
        pytest.raises(BackendFeatureError, match="torch refuses to export") as error,
    ):
        ua.export(decomposed, of(numbers(3, 3)), to="onnx")
    assert f"line {line_in(decomposed, 'eigh')}" in str(error.value)


def test_wrong_arguments_are_errors() -> None:
    x = of(numbers(3, 2))
    with pytest.raises(ValueError, match="to is one of 'stablehlo', 'torch', 'onnx', not 'tflite'"):
        ua.export(lambda x: x, x, to="tflite")
    for to in ("torch", "stablehlo"):
        skip_without_exporters(f'to="{to}"')
        with pytest.raises(ValueError, match="dynamic names 'y', but the parameters are x"):
            ua.export(lambda x: x * 2, x, to=to, dynamic="y")
        with pytest.raises(ValueError, match="first axes of one length"):
            ua.export(lambda x: x * 2, of(np.asarray(1.0)), to=to, dynamic="x")
        with pytest.raises(TypeError, match="returns arrays"):
            ua.export(lambda x: 3, x, to=to)
        with pytest.raises(BackendFeatureError, match="in another way"):
            ua.export(lambda x: x * x.shape[0] ** 2, x, to=to, dynamic="x")
        total = ua.zeros(2)

        def writing(x: Array, total: Array = total) -> Array:
            total[...] += x[0]
            return x

        with pytest.raises(BackendFeatureError, match="writes to an array from outside"):
            ua.export(writing, x, to=to)
