"""Selections, ``x[mask]`` by masks that aren't known when a function is traced: as eager, on engines of both kinds."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array, compile
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._core.kernels.record import KERNELS
from unifyarr.errors import ShapeError, TraceError, UnknownShapeError

from ..natives import has, skip_without_derivatives
from ..oracle import as_numpy, assert_same, assert_values

# Engines that compile the graph as a whole have no arrays of unknown length.
WHOLE = ("jax", "tensorflow", "dask")


def reductions(x: Any) -> Any:
    v = x[x > 3]
    return v.sum(), v.mean(), v.var(), v.std(), v.max(), v.min(), v.prod(), (v > 5).any(), (v > 5).all()


def numbers(x: Any) -> Any:
    v = x[x % 2 == 0]
    return v.argmax(), v.argmin(), v @ v, (v * x[x % 2 == 0]).sum(), v.sum()


def written_twice(x: Any) -> None:
    x[x > 3] = x[x > 3] ** 2 + 1


def updated(x: Any) -> None:
    x[x > 3] += 1
    x[x < 2] *= 3
    x[x == 2] = [7]


def rows_and_columns(x: Any) -> None:
    rows = x.sum(axis=1) > 5
    x[rows] = 5
    x[rows, 1] += 2
    x[:, x[1] > 4] -= 1
    x[rows] = x[rows] * [1, 2, 3]
    x[0, x[0] > 0] = x[0, x[0] > 0] + 1


def parts(x: Any) -> Any:
    rows = x[:, 0] > 1
    return x[rows].sum(axis=0), x[rows, 1].mean(), (x[rows] @ x[0]).sum(), x[:, rows].sum(axis=1), x[rows].T @ x[rows]


def nested(x: Any) -> Any:
    y = x[x > 2]
    z = y[y < 6]
    y[y > 7] = 0
    y[y < 4] = y[y < 4] * 2
    return z.sum(), y.sum()


def through_a_view(x: Any) -> Any:
    y = x[1:, ::2]
    y[y > 4] = y[y > 4] + 1
    x.T[x.T < 2] *= 2


def by_places(x: Any) -> Any:
    i, j = x.nonzero()
    return x[i, j].sum(), j.sum(), x[i].sum(), x[0][j].sum(), x[i, j].max()


def of_nothing(x: Any) -> Any:
    x[x > 100] = x[x > 100] * 2
    return x[x > 100].sum(), (x[x > 100] > 0).any(), (x[x > 100] > 0).all(), x[x > 100].prod()


PROGRAMS: tuple[Callable[[Any], Any], ...] = (
    reductions, numbers, written_twice, updated, rows_and_columns, parts, nested, through_a_view, by_places, of_nothing,
)  # fmt: skip


def several(returned: Any) -> tuple[Any, ...]:
    return returned if isinstance(returned, tuple) else () if returned is None else (returned,)


def square(start: float = 0.0) -> np.ndarray:
    return np.arange(9.0).reshape(3, 3) + start


@pytest.mark.parametrize("mode", ["fast", "pure", "debug"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs(backend: str, program: Callable[[Any], Any], mode: str) -> None:
    compiled = compile(program, mode=mode)
    for start in (0.0, -3.0):
        values, eager, x = square(start), ua.asarray(square(start)), ua.asarray(square(start))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            expected, same, found = several(program(values)), several(program(eager)), several(compiled(x))
        assert_values(as_numpy(x), values)
        for one, other, wanted in zip(found, same, expected, strict=True):
            assert_values(as_numpy(one), np.asarray(wanted))
            if backend not in WHOLE:
                # A reduction adds up in the same order, too.
                np.testing.assert_array_equal(as_numpy(one), as_numpy(other))
    # It's traced once for all masks.
    assert len(compiled._programs) == 1  # type: ignore[attr-defined]


LONE = (
    lambda x: x[x > 3],
    lambda x: (x[x[:, 0] > 1], x[:, x[0] > 0], x[1, x[0] > 0], x[x > 0][None], x[x[:, 0] > 1][:, x[0] > 1]),
    lambda x: (ua.sort(x[x > 3]), ua.unique_values(x[x > 3]), ua.concat([x[x > 6], x[x < 1]])),
    lambda x: (*ua.nonzero(x > 3), ua.unique_counts(x[x > 3])[1], ua.stack([x[x > 3]] * 2), x[x[:, 0] > 1].T),
)


@pytest.mark.parametrize("number", range(len(LONE)))
def test_arrays_of_unknown_length(backend: str, number: int) -> None:
    program = LONE[number]
    if backend in WHOLE:
        with pytest.raises(TraceError) as caught:
            compile(program)(ua.asarray(square()))
        assert __file__ in str(caught.value)
        for words in ("ua.sum(x[mask])", "ua.where(mask, value, x)", "outside the compiled function"):
            assert words in str(caught.value)
        return
    compiled = compile(program)
    for start in (0.0, -5.0, -50.0):
        expected, found = several(program(ua.asarray(square(start)))), several(compiled(ua.asarray(square(start))))
        for one, other in zip(found, expected, strict=True):
            assert_same(one, as_numpy(other))


def test_the_number_of_elements(backend: str) -> None:
    def count(x: Array) -> Array:
        return x[x > 3].size * 10 + x[x[:, 0] > 0].size

    assert_same(compile(count)(ua.asarray(square())), np.asarray(56))


ASKING = {
    "len": lambda x: len(x[x > 3]),
    "shape": lambda x: x[x > 3].shape[0],
    "slice": lambda x: ua.sum(x[x > 3][1:]),
    "loop": lambda x: [y * 2 for y in x[x > 3]],
    "reshape": lambda x: x[x > 3].reshape((5, 1)),
    "beside": lambda x: x[x > 3] + ua.ones(5),
    "median": lambda x: ua.median(x[x > 3]),
}


@pytest.mark.parametrize("how", ASKING)
def test_a_length_that_is_needed_names_the_line(backend: str, how: str) -> None:
    with pytest.raises((UnknownShapeError, TraceError)) as caught:
        compile(ASKING[how])(ua.asarray(square()))
    assert __file__ in str(caught.value)
    assert "x[mask]" in str(caught.value)
    assert (".size" in str(caught.value)) or backend in WHOLE


def test_masks_that_differ_are_not_mixed(backend: str) -> None:
    def mixed(x: Array) -> None:
        x[x > 5] = x[x < 3]

    def wrong(x: Array) -> None:
        x[x > 5] = x[x < 8]

    x = ua.asarray(square())
    if backend in WHOLE:
        with pytest.raises(TraceError, match="two masks"):
            compile(mixed)(x)
        return
    compile(mixed)(x)
    assert_same(x, np.array([[0.0, 1, 2], [3, 4, 5], [0, 1, 2]]))
    for function in (wrong, compile(wrong)):
        x = ua.asarray(square())
        with pytest.raises((ShapeError, ValueError)):
            function(x)
        assert_same(x, square())


def test_values_of_a_known_number(backend: str) -> None:
    def three(x: Array) -> None:
        x[x > 5] = ua.asarray([1.0, 2.0, 3.0])

    x = ua.asarray(square())
    if backend in WHOLE:
        with pytest.raises(TraceError, match="as the mask selects"):
            compile(three)(x)
        return
    compiled = compile(three)
    compiled(x)
    assert_same(x[2], np.array([1.0, 2.0, 3.0]))
    with pytest.raises(ShapeError, match="selects 4 elements, but 3"):
        compiled(ua.asarray(square(1.0)))


def test_what_is_not_selected_is_harmless() -> None:
    # For each elementwise function, of the number that stands in the unselected places.
    for name, declaration in DECLARATIONS.items():
        if declaration.ufunc is None:
            continue
        fill = KERNELS[name].harmless
        ran = False
        for dtype in (np.float64, np.int64, np.bool_, np.complex128):
            operands = [np.asarray([fill], dtype)] * declaration.ufunc.nin
            with np.errstate(all="raise"):
                try:
                    found = declaration.ufunc(*operands)
                except TypeError:
                    continue
            assert np.all(np.isfinite(found)), name
            ran = True
        assert ran, name


@pytest.mark.parametrize("mode", ["fast", "debug"])
def test_what_is_not_selected_raises_no_warning(backend: str, mode: str) -> None:
    @compile(mode=mode)
    def careful(x: Array, n: Array) -> Any:
        positive = x > 0
        x[positive] = ua.log(x[positive]) / x[positive]
        return ua.sum(ua.sqrt(x[x > 0])), ua.sum(10 // n[n != 0]), ua.max(ua.exp(x[x < 1]))

    x, n = ua.asarray([-1.0, 0.0, 1.0, 2.0, np.nan, np.inf, 1000.0]), ua.asarray([0, 3, 0, 5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The logarithm of infinity is infinite: that's selected.
        warnings.filterwarnings("ignore", "invalid value encountered in divide")
        roots, quotients, largest = careful(x[:4], n)
    assert_values(as_numpy(x)[:4], np.array([-1.0, 0.0, 0.0, np.log(2) / 2]))
    assert_values(as_numpy(roots), np.sqrt(np.log(2) / 2))
    assert_same(quotients, np.asarray(5))
    assert_values(as_numpy(largest), np.exp(np.log(2) / 2))


def test_half_precision_and_integers(backend: str) -> None:
    values = np.full((600,), 200, np.float16)
    mean = compile(lambda x: ua.mean(x[x > 100]))(ua.asarray(values))
    assert_same(mean, np.asarray(200, np.float16))
    small = np.arange(-100, 100, dtype=np.int8)
    found = compile(lambda x: (ua.sum(x[x > 50]), ua.max(x[x < 0]), ua.min(x[x > 0])))(ua.asarray(small))
    for one, other in zip(found, (small[small > 50].sum(), np.int8(-1), np.int8(1)), strict=True):
        assert_same(one, np.asarray(other))


# -- gradients, batches and loops -------------------------------------------------------------------------------------


def loss(x: Array) -> Array:
    return ua.sum(ua.log(x[x > 0]) ** 2)


def loss_by_writing(x: Array) -> Array:
    y = x * 1.0
    y[y > 0] = ua.sqrt(y[y > 0])
    y[y <= 0] = 0
    return ua.sum(y**3)


@pytest.mark.parametrize("how", ["inside", "around"])
def test_gradients(backend: str, how: str) -> None:
    skip_without_derivatives(backend)
    values = np.array([-1.0, 0.0, 1.0, 2.0, -np.inf, 4.0])
    chosen = np.where(values > 0, values, 1.0)
    for function, expected in (
        (loss, np.where(values > 0, 2 * np.log(chosen) / chosen, 0)),
        (loss_by_writing, np.where(values > 0, 1.5 * np.sqrt(chosen), 0)),
    ):
        gradient = compile(ua.grad(function)) if how == "inside" else ua.grad(compile(function))
        assert_values(as_numpy(gradient(ua.asarray(values))), expected)


def test_gradients_of_what_meets_a_selection(backend: str) -> None:
    skip_without_derivatives(backend)
    scaled = compile(ua.grad(lambda s, x: ua.sum(s * ua.log(x[x > 0]))))
    found = scaled(ua.asarray(2.0), ua.asarray([np.nan, 1.0, 2.0, -1.0, 0.0]))
    assert_values(as_numpy(found), np.log(2.0))


def test_batches(backend: str) -> None:
    skip_without_derivatives(backend)
    values = np.arange(12.0).reshape(3, 4) - 4

    def positive(x: Array) -> Array:
        return ua.sum(ua.sqrt(x[x > 0])) + x[x > 0].size

    expected = [np.sqrt(row[row > 0]).sum() + (row > 0).sum() for row in values]
    chosen = np.where(values > 0, values, 1.0)
    for way in (compile, lambda function: function):
        assert_values(as_numpy(way(ua.vmap(positive))(ua.asarray(values))), np.array(expected))
        slopes = way(ua.vmap(ua.grad(loss)))(ua.asarray(values))
        assert_values(as_numpy(slopes), np.where(values > 0, 2 * np.log(chosen) / chosen, 0))


def test_batches_and_derivatives_are_part_of_the_graph(backend: str) -> None:
    skip_without_derivatives(backend)

    def spread(x: Array) -> Array:
        return ua.std(x[x > 0]) + ua.var(x[x > 1]) * ua.mean(x[x > 2])

    def total(x: Array) -> Array:
        return ua.sum(ua.vmap(spread)(x))

    values = np.arange(12.0).reshape(3, 4) * 1.1 - 1.2
    expected = np.stack([as_numpy(ua.grad(spread)(ua.asarray(row, backend="numpy"))) for row in values[1:]])
    for function in (ua.grad(total), ua.vmap(ua.grad(spread))):
        compiled = compile(function)
        assert not {"vmap", "grad"} & {node.op.name for node in compiled.graph(ua.asarray(values)).toposort()}
        assert_values(as_numpy(compiled(ua.asarray(values)))[1:], expected)
        assert_values(as_numpy(function(ua.asarray(values)))[1:], expected)


def test_equal_selected_elements_have_no_spread_in_batches(backend: str) -> None:
    skip_without_derivatives(backend)
    x = ua.asarray([[1.0, 1.0, -1.0], [2.0, 2.0, 2.0]])
    for way in (compile, lambda function: function):
        found = way(ua.grad(lambda x: ua.sum(ua.vmap(lambda row: ua.std(row[row > 0]))(x))))(x)
        assert_same(found, np.zeros((2, 3)))


def test_batches_of_derivatives_that_are_batches(backend: str) -> None:
    skip_without_derivatives(backend)
    values = np.arange(8.0).reshape(2, 4) - 2.5
    slope = np.where(values > 0, 3.0 * values**2, 0.0)
    curvature = np.where(values > 0, 6.0 * values, 0.0)[:, :, None] * np.eye(4)

    def cubes(x: Array) -> Array:
        return ua.sum(x[x > 0] ** 3)

    for way in (compile, lambda function: function):
        assert_values(as_numpy(way(ua.vmap(ua.hessian(cubes)))(ua.asarray(values))), curvature)
        assert_values(as_numpy(way(ua.vmap(ua.jacobian(cubes, mode="forward")))(ua.asarray(values))), slope)


def test_what_a_batch_of_selections_is_written_by(backend: str) -> None:
    skip_without_derivatives(backend)
    values = np.sin(np.arange(24.0)).reshape(2, 3, 4)

    def function(x: Array) -> Array:
        # By a mask of rows, by a full mask, by indices, and twice by masks that are computed anew.
        x[ua.sum(x, axis=1) > 0] *= 2.0
        x[x > 0.5] = x[x > 0.5] - 1.0
        i, j = ua.nonzero(x < -0.5)
        x[i, j] += x[i, j] ** 2
        y = x[x > 0]
        y[y < 0.3] = 0.25
        return ua.sum(y) + ua.sum(x[:, x[0] > 0])

    expected = values.copy()
    with ua.use_backend("numpy"):
        results = [as_numpy(function(ua.asarray(row, copy=False))) for row in expected]
        slopes = [as_numpy(ua.grad(lambda x: function(x.copy()))(ua.asarray(row))) for row in values]
    for way in (compile, lambda function: function):
        x = ua.asarray(values.copy())
        assert_values(as_numpy(way(ua.vmap(function))(x)), np.stack(results))
        assert_values(as_numpy(x), expected)
        found = way(ua.vmap(ua.grad(lambda x: function(x.copy()))))(ua.asarray(values))
        assert_values(as_numpy(found), np.stack(slopes))


def test_batches_refuse_what_needs_selected_elements_one_by_one(backend: str) -> None:
    skip_without_derivatives(backend)
    x = ua.asarray([[1.0, -1.0, 2.0], [2.0, 3.0, 4.0]])
    refused: list[Callable[[Array], Any]] = [
        lambda x: x[x > 0],
        lambda x: ua.sort(x[x > 0]),
        lambda x: ua.sum(x[x > 0] * x[x > 1]),
        lambda x: x[x > 0].shape[0],
        lambda x: x[x > 0].tolist(),
        lambda x: ua.fori_loop(0, 2, lambda i, y: y * 2, x[x > 0]),
    ]
    for function in refused:
        for way in (compile, lambda function: function):
            with pytest.raises((TraceError, UnknownShapeError), match=r"test_selections.py, line \d+|aren't known"):
                way(ua.vmap(function))(x)


# Mode "debug" computes each operation from the beginning.
@pytest.mark.chunks(3)
@pytest.mark.parametrize("mode", ["fast", "pure", "debug"])
def test_mandelbrot(backend: str, mode: str) -> None:
    points = np.linspace(-2, 1, 7) + 1j * np.linspace(-1, 1, 5)[:, None]
    z, n = np.zeros_like(points), np.zeros(points.shape, np.int64)
    for _ in range(12):
        inside = abs(z) < 2
        z[inside] = z[inside] ** 2 + points[inside]
        n[inside] += 1

    def mandelbrot(c: Array) -> Any:
        z, n = ua.zeros_like(c), ua.zeros_like(c, dtype=ua.int64)

        def step(i: Array, state: Any) -> Any:
            z, n = state
            inside = ua.abs(z) < 2
            z[inside] = z[inside] ** 2 + c[inside]
            n[inside] += 1
            return z, n

        return ua.fori_loop(0, 12, step, (z, n))

    for function in (mandelbrot, compile(mandelbrot, mode=mode)):
        found, counts = function(ua.asarray(points))
        assert_values(as_numpy(found), z)
        assert_same(counts, n)


def test_bisection(backend: str) -> None:
    wanted = np.array([2.0, 9.0, 30.0])

    def roots(squares: Array) -> Array:
        low, high = ua.zeros_like(squares), squares + 1.0

        def step(state: Any) -> Any:
            low, high = state
            middle = (low + high) / 2
            below = middle**2 < squares
            low[below] = middle[below]
            high[~below] = middle[~below]
            return low, high

        return ua.while_loop(lambda state: ua.any(state[1] - state[0] > 1e-9), step, (low, high))[0]

    for function in (roots, compile(roots)):
        assert_values(as_numpy(function(ua.asarray(wanted))), np.sqrt(wanted), rtol=1e-7)


def test_what_a_loop_meets(backend: str) -> None:
    def function(x: Array) -> Array:
        v = x[x > 0]
        return ua.fori_loop(0, 3, lambda i, total: total + ua.sum(v) * 2, ua.sum(x) * 0)

    x = ua.asarray([1.0, -1.0, 2.0])
    if backend in WHOLE:
        with pytest.raises(TraceError, match="loop"):
            compile(function)(x)
        return
    assert_same(compile(function)(x), np.asarray(18.0))


def test_a_masks_places_are_found_once() -> None:
    with ua.use_backend("numpy"):
        compiled = compile(lambda x, y: x.__setitem__(x > 0, x[x > 0] ** 2 + y[x > 0]))
        names = [node.op.name for node in compiled.graph(ua.ones((3, 3)), ua.ones((3, 3))).toposort()]
    assert names.count("nonzero") == names.count("put_places") == 1
    assert names.count("take_places") == 2


@pytest.mark.parametrize("values", [[0.0, 1.0, 2.0, 3.0], [5.0, 6.0, 7.0, 8.0], [0.0, 0.0, 0.0, 2.0], [0.0] * 4])
def test_a_number_is_written_at_places_of_unknown_number(backend: str, values: list[float]) -> None:
    if not has(backend, "writes"):
        pytest.skip(f"{backend} compiles whole programs, where all lengths are known")

    def program(xp: Any, x: Any, y: Any) -> None:
        places = xp.nonzero(x > 1)[0]
        x[places] = 7.0
        y[:, places] = -1.0

    expected = np.array(values), np.array([values, values])
    program(np, *expected)
    given = ua.asarray(values), ua.asarray([values, values])
    ua.compile(lambda x, y: program(ua, x, y))(*given)
    for x, wanted in zip(given, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(x), wanted)
