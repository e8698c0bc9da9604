"""Transformed functions inside compiled ones: the same results and the same effects as without compiling."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.container.container import flatten
from unifyarr.errors import (
    BackendMismatchError,
    DtypeError,
    InplaceUpdateError,
    ShapeError,
    StructureError,
    TracedMutationError,
    TraceError,
    UnifyarrError,
)
from unifyarr.graph.compiling import compile
from unifyarr.testing import has

from ..natives import skip_unless
from ..oracle import as_numpy
from .through import STATEMENTS, engines, fresh, program

MODES = ("fast", "pure", "debug")


def leaves_of(tree: Any) -> list[Any]:
    return [as_numpy(x) if isinstance(x, ua.Array) else x for x in flatten(tree)[0]]


def assert_equal_trees(found: Any, expected: Any) -> None:
    assert flatten(found)[1] == flatten(expected)[1]
    for x, y in zip(leaves_of(found), leaves_of(expected), strict=True):
        if isinstance(y, np.ndarray):
            assert x.dtype == y.dtype
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12)
        else:
            assert x == y


def assert_as_eager(make: Callable[[], tuple[Callable[..., Any], Any]], calls: int = 2, **options: Any) -> None:
    """Assert that a compiled function agrees with the eager one.

    ``make`` returns a function, and a nest of its arguments and of what else it may write, which begins with these.
    """
    (eager, theirs), (function, mine) = make(), make()
    compiled = compile(function, **options)
    for _ in range(calls):
        expected, found = eager(*theirs["args"]), compiled(*mine["args"])
        assert_equal_trees(found, expected)
        assert_equal_trees(mine, theirs)


def loss(p: Any, x: ua.Array, y: ua.Array) -> ua.Array:
    hidden = ua.tanh(x @ p.first + p.bias)
    return ua.mean((hidden @ p.second - y) ** 2)


def model() -> tuple[ua.Container, list[ua.Array]]:
    generator = np.random.default_rng(7)
    shapes = [(4,), (3, 4), (4, 2), (5, 3), (5, 2)]
    bias, first, second, x, y = fresh(*(generator.normal(size=shape) for shape in shapes))
    return ua.Container(bias=bias, first=first, second=second), [x, y]


@pytest.mark.parametrize("mode", MODES)
def test_a_step_of_training_is_compiled_as_a_whole(backend: str, mode: str) -> None:
    for engine in engines(backend):

        def make(engine: str | None = engine) -> Any:
            parameters, (x, y) = model()
            steps = ua.zeros((), dtype="int32")

            def step(parameters: Any, x: ua.Array, y: ua.Array, rate: float) -> ua.Array:
                value, gradient = ua.value_and_grad(loss, backend=engine)(parameters, x, y)
                parameters -= rate * gradient
                steps[...] += 1
                return value

            return step, {"args": (parameters, x, y, 0.1), "steps": steps}

        assert_as_eager(make, calls=4, mode=mode)


def cubic(x: ua.Array, y: ua.Array) -> ua.Array:
    return ua.sum(x**3 * ua.sin(y))


def several(x: ua.Array, y: ua.Array) -> dict[str, ua.Array]:
    return {"a": x * y, "b": ua.sum(ua.exp(x)) * y[0]}


def tangents(x: ua.Array, y: ua.Array) -> tuple[ua.Array, ua.Array]:
    return ua.cos(x), y * 2


def pulled(x: ua.Array, y: ua.Array, engine: str | None) -> Any:
    result, pullback = ua.vjp(several, x, y, backend=engine)
    x *= 5
    cotangent = {"a": ua.sin(x), "b": ua.asarray(2.0)}
    first = pullback(cotangent)
    y += x
    return result, first, pullback({"a": y, "b": ua.asarray(0.0)})


TRANSFORMED: dict[str, Callable[..., Any]] = {
    "grad": lambda x, y, engine: ua.grad(cubic, backend=engine)(x, y),
    "value_and_grad": lambda x, y, engine: ua.value_and_grad(cubic, (1, 0), backend=engine)(x, y),
    "named": lambda x, y, engine: ua.grad(cubic, backend=engine)(x, y=y),
    "numbers": lambda x, y, engine: ua.grad(lambda a, b: a * a * ua.sum(b), (0, 1), backend=engine)(3.0, x),
    "jvp": lambda x, y, engine: ua.jvp(several, (x, y), tangents(x, y), backend=engine),
    "vjp": pulled,
    "reverse": lambda x, y, engine: ua.jacobian(several, (0, 1), backend=engine)(x, y),
    "forward": lambda x, y, engine: ua.jacobian(several, (0, 1), mode="forward", backend=engine)(x, y),
    "hessian": lambda x, y, engine: ua.hessian(cubic, (0, 1), backend=engine)(x, y),
    "vmap": lambda x, y, engine: ua.vmap(lambda a, b: (a * b, ua.sum(b)), (0, None), (0, 0), backend=engine)(x, y),
    "second": lambda x, y, engine: ua.grad(lambda a: ua.sum(ua.grad(cubic)(a, y) * a), backend=engine)(x),
    "third": lambda x, y, engine: ua.grad(
        lambda a: ua.sum(ua.grad(lambda b: ua.sum(ua.grad(cubic)(b, y)) * ua.sum(a * b))(a * y)), backend=engine
    )(x),
    "batch of gradients": lambda x, y, engine: ua.vmap(
        ua.grad(lambda a, b: a * ua.sum(ua.sin(b * a))), (0, None), backend=engine
    )(x, y),
    "gradient of a batch": lambda x, y, engine: ua.grad(
        lambda a: ua.sum(ua.vmap(lambda b: ua.sin(b) * a)(y)), backend=engine
    )(x),
    "batches in batches": lambda x, y, engine: ua.vmap(
        lambda a: ua.vmap(lambda b: ua.stack([a, b, a * b]))(y), out_axes=1, backend=engine
    )(x),
    "forward over reverse": lambda x, y, engine: ua.jvp(ua.grad(cubic), (x, y), tangents(x, y), backend=engine),
    "compiled inside": lambda x, y, engine: ua.grad(compile(cubic), backend=engine)(x, y),
}


@pytest.mark.parametrize("name", list(TRANSFORMED))
def test_each_transformation_is_what_it_is_without_compiling(backend: str, name: str) -> None:
    for engine in engines(backend):

        def make(engine: str | None = engine) -> Any:
            def function(x: ua.Array, y: ua.Array) -> Any:
                z = TRANSFORMED[name](x * 1.5, y, engine)
                y += 1
                return z

            return function, {"args": tuple(fresh([1, 2, 3], [0.5, -1, 2]))}

        assert_as_eager(make)


def test_a_pullback_is_transformed(backend: str) -> None:
    skip_unless(backend, "torch", "jax", "tensorflow", why="a pullback of NumPy's arrays leaves the other engine")

    def make() -> Any:
        def function(x: ua.Array, y: ua.Array) -> Any:
            pullback = ua.vjp(lambda a: a * y, x)[1]
            return ua.vmap(pullback)(ua.eye(3)), ua.grad(lambda a: ua.sum(pullback(a)[0] ** 2))(x)

        return function, {"args": tuple(fresh([1, 2, 3], [0.5, -1, 2]))}

    assert_as_eager(make)


@pytest.mark.parametrize("start", range(4))
def test_what_a_function_writes_is_written(backend: str, start: int) -> None:
    generator, statements = np.random.default_rng(start), list(range(start, len(STATEMENTS), 4))
    values = [generator.normal(size=shape) for shape in ((3, 4), (3, 4), (4,))]
    for engine in engines(backend):

        def make(engine: str | None = engine) -> Any:
            gradient = ua.value_and_grad(program(statements), (0, 1, 2), backend=engine)
            return gradient, {"args": tuple(fresh(*values))}

        assert_as_eager(make)


def test_parts_of_a_batch_are_written(backend: str) -> None:
    generator = np.random.default_rng(0)
    values = [generator.normal(size=shape) for shape in ((2, 3, 4), (3, 2, 4), (4,))]
    for engine in engines(backend):

        def make(engine: str | None = engine) -> Any:
            function = program([1, 2, 4, 5, 8])
            return ua.vmap(function, (0, 1, None), backend=engine), {"args": tuple(fresh(*values))}

        assert_as_eager(make)


@pytest.mark.parametrize("mode", MODES)
def test_what_a_function_meets_is_read_and_written(backend: str, mode: str) -> None:
    for engine in engines(backend):

        def make(engine: str | None = engine) -> Any:
            total, scale, met = fresh([0, 0], 2, [[1, 2, 3], [4, 5, 6]])

            def function(x: ua.Array) -> Any:
                inside = x + 1
                part = met[:, :2]

                def squared(y: ua.Array) -> Any:
                    nonlocal total
                    total += y
                    inside[1:] *= y[0]
                    met[:, 1] = y
                    y *= 2
                    return ua.sum(y * inside * scale * met[1, ::2]), (total * 2, met[:, :2], inside, scale, "name")

                found = ua.value_and_grad(squared, has_aux=True, backend=engine)(x)
                scale[...] += 1
                return found, inside, part

            return function, {"args": tuple(fresh([1, 2])), "met": [total, scale, met]}

        assert_as_eager(make, calls=3, mode=mode)


def test_a_view_is_an_argument(backend: str) -> None:
    for engine in engines(backend):

        def make(engine: str | None = engine) -> Any:
            def function(x: ua.Array) -> Any:
                def doubled(y: ua.Array) -> ua.Array:
                    ua.multiply(y, y, out=y)
                    y[0] = 7
                    return ua.sum(y * x[::2])

                doubled.__name__ = "doubled"
                x = x * 1
                window = x[1::2]
                return ua.grad(lambda y: ua.sum(y**2), backend=engine)(window), window, x

            return function, {"args": tuple(fresh([1, 2, 3, 4]))}

        def writing(engine: str | None = engine) -> Any:
            def function(x: ua.Array) -> Any:
                def doubled(y: ua.Array) -> ua.Array:
                    ua.multiply(y, y, out=y)
                    y[0] = 7
                    return ua.sum(y * 3)

                return ua.grad(doubled, backend=engine)(x[::-1][1:])

            return function, {"args": tuple(fresh([1, 2, 3, 4]))}

        assert_as_eager(make)
        assert_as_eager(writing)


def test_static_arguments_and_what_is_beside_the_result_are_passed_on(backend: str) -> None:
    for engine in engines(backend):

        def make(engine: str | None = engine) -> Any:
            def inner(nest: Any, power: int, *, names: tuple[str, ...]) -> Any:
                return ua.sum(nest["a"] ** power * nest["b"][0]), {"names": names, "x": nest["a"] * power}

            def function(nest: Any, power: int) -> Any:
                return ua.grad(inner, has_aux=True, backend=engine)(nest, power, names=("p", "q"))

            x, y = fresh([1, 2], [3, 4])
            return function, {"args": ({"a": x, "b": [y]}, 3)}

        assert_as_eager(make)


@pytest.mark.parametrize("mode", MODES)
def test_numpys_functions_run_on_another_engine_as_a_whole(backend: str, mode: str) -> None:
    skip_unless(backend, "numpy", why="others run on their own engines")
    for engine in engines(backend):

        def make(engine: str | None = engine) -> Any:
            parameters, (x, y) = model()
            count = ua.zeros(())

            def step(parameters: Any, x: ua.Array, y: ua.Array) -> Any:
                def counted(parameters: Any) -> ua.Array:
                    count[...] += ua.sum(ua.ones(2, backend="numpy"))
                    return loss(parameters, x, y)

                value, gradient = ua.value_and_grad(counted)(parameters)
                parameters -= 0.1 * gradient
                return value, ua.vmap(lambda row: row * ua.sum(row))(x)

            return step, {"args": (parameters, x, y), "count": count}

        assert_as_eager(make, calls=3, backend=engine, mode=mode)


def test_a_pullback_is_that_at_the_values_from_before(backend: str) -> None:
    for engine in engines(backend):

        def make(engine: str | None = engine) -> Any:
            met, other = fresh([2, 3], [1, 1])

            def writing(x: ua.Array, y: ua.Array) -> Any:
                nonlocal met
                met *= x
                y += met
                return x * y, other * 2

            def function(x: ua.Array, y: ua.Array) -> Any:
                other[...] += 1
                result, pullback, aux = ua.vjp(writing, x, y, has_aux=True, backend=engine)
                x *= 2
                other[...] += x
                return result, pullback(x), aux, pullback(other)

            return function, {"args": tuple(fresh([1, 2], [3, 4])), "met": [met, other]}

        assert_as_eager(make)


def test_the_function_itself_runs_once(backend: str) -> None:
    for engine in engines(backend):
        runs = []

        def function(x: ua.Array, runs: list[int] = runs) -> ua.Array:
            runs.append(1)
            return ua.sum(x * x)

        def both(x: ua.Array, function: Any = function, engine: str | None = engine) -> Any:
            result, pullback = ua.vjp(function, x, backend=engine)
            return ua.grad(function, backend=engine)(x), result, pullback(ua.asarray(1.0)), pullback(result)

        compiled = compile(both)
        for _ in range(3):
            compiled(*fresh([1, 2]))
        assert len(runs) == 2


def test_a_gradient_is_part_of_the_graph(backend: str) -> None:
    def step(x: ua.Array, y: ua.Array) -> Any:
        return ua.value_and_grad(lambda z: ua.sum(ua.sin(z) * y))(x)

    fgraph = ua.graph.trace(step, *fresh([1, 2], [3, 4]))
    assert [each.op.name for each in fgraph.toposort()].count("cos") == 1
    assert [each.type.shape for each in fgraph.outputs] == [(), (2,)]


def test_reports_have_the_operations_of_a_gradient(backend: str) -> None:
    def step(x: ua.Array) -> Any:
        x -= ua.grad(lambda z: ua.sum(ua.sin(z)))(x)

    compiled = compile(step)
    assert "cos" in str(compiled.profile(*fresh([1, 2])))
    assert "cos" in str(compiled.graph(*fresh([1, 2])))
    assert "cos" in compiled.graph(*fresh([1, 2]))._repr_svg_()


ERRORS: dict[str, tuple[type[Exception], Callable[..., Any]]] = {
    "integers": (DtypeError, lambda x, engine: ua.grad(ua.sum, backend=engine)(ua.astype(x, "int32"))),
    "no value": (ShapeError, lambda x, engine: ua.grad(lambda y: y * 2, backend=engine)(x)),
    "argnums": (ValueError, lambda x, engine: ua.grad(ua.sum, 2, backend=engine)(x)),
    "lengths": (ShapeError, lambda x, engine: ua.vmap(ua.add, backend=engine)(x, x[1:])),
    "cotangent": (StructureError, lambda x, engine: ua.vjp(ua.sin, x, backend=engine)[1]([x])),
    "no array": (TypeError, lambda x, engine: ua.grad(lambda y: "text", backend=engine)(x)),
    "same memory": (InplaceUpdateError, lambda x, engine: ua.grad(writing, backend=engine)(x, x[1:])),
    "not mapped": (TracedMutationError, lambda x, engine: ua.vmap(writing, (0, None), backend=engine)(x, x * 1)),
    "met and batched": (TracedMutationError, lambda x, engine: ua.vmap(lambda y: writing(y, x), backend=engine)(x * 1)),
    "met and given": (InplaceUpdateError, lambda x, engine: ua.grad(lambda y: writing(y, x), backend=engine)(x)),
    "no engine": (UnifyarrError, lambda x, engine: ua.vmap(ua.sin, backend="none")(x)),
}


def writing(x: ua.Array, y: ua.Array) -> ua.Array:
    x *= 2
    y += 1
    return ua.sum(x) * ua.sum(y)


@pytest.mark.parametrize("name", list(ERRORS))
def test_errors_are_those_without_compiling(backend: str, name: str) -> None:
    error, call = ERRORS[name]
    for engine in engines(backend):

        def function(x: ua.Array, engine: str | None = engine) -> Any:
            x += 1
            return call(x, engine)

        (x,) = fresh([1, 2, 3])
        with pytest.raises(error):
            call(x * 1, engine)
        with pytest.raises(error):
            compile(function)(x)
        np.testing.assert_array_equal(as_numpy(x), [1, 2, 3])
        # Nothing is left behind.
        x += 1
        np.testing.assert_array_equal(as_numpy(x), [2, 3, 4])


def test_what_leaves_a_function_by_another_way_says_so(backend: str) -> None:
    skip_unless(backend, "torch", "jax", "tensorflow", why="their own arrays inside have their name")
    kept = []

    def keeping(x: ua.Array) -> ua.Array:
        kept.append(x * 2)
        return ua.sum(x)

    def function(x: ua.Array) -> ua.Array:
        return ua.grad(keeping)(x) + kept[-1]

    for each in (function, compile(function), compile(ua.grad(lambda x: ua.sum(function(x))))):
        with pytest.raises(BackendMismatchError, match="return it"):
            each(*fresh([1, 2]))


def test_a_pullback_stays_inside(backend: str) -> None:
    for engine in engines(backend):
        with pytest.raises(TraceError, match="its result"):
            compile(lambda x, engine=engine: ua.vjp(ua.sin, x, backend=engine)[1])(*fresh([1, 2]))


def test_values_arent_known_inside(backend: str) -> None:
    def positive(x: ua.Array) -> ua.Array:
        return ua.sum(x if x.sum() > 0 else -x)

    for engine in engines(backend):
        with pytest.raises(TraceError, match=r"test_in_graphs\.py, line \d+.*where"):
            compile(ua.grad(positive, backend=engine))(*fresh([1, 2]))


def test_random_numbers_of_the_engine_are_new_at_each_call(backend: str) -> None:
    skip_unless(backend, "torch", "jax", "tensorflow", why="engines with generators")

    def make() -> Any:
        generator = ua.random.Generator(3, engine="native")

        def function(x: ua.Array) -> Any:
            def noisy(y: ua.Array) -> ua.Array:
                return ua.sum(y * generator.normal(size=3))

            return ua.value_and_grad(noisy)(x), generator.normal(size=3)

        return function, {"args": tuple(fresh([1, 2, 3]))}

    assert_as_eager(make, calls=3)


def test_random_numbers_of_the_host_are_refused(backend: str) -> None:
    generator = ua.random.Generator(3)
    for engine in engines(backend):
        gradient = ua.grad(lambda x: ua.sum(x * generator.normal(size=2)), backend=engine)
        with pytest.raises(TraceError, match="host"):
            compile(gradient)(*fresh([1, 2]))


@ua.op
def square(x: ua.Array, /) -> ua.Array:
    """Return the square of each element."""
    return x * x


@square.kernel("numpy")
@square.kernel("torch")
def _(x: Any) -> Any:
    return x * x


def test_operations_of_users_are_transformed(backend: str) -> None:
    for engine in engines(backend):

        def make(engine: str | None = engine) -> Any:
            return ua.grad(lambda x: ua.sum(square(x) * x), backend=engine), {"args": tuple(fresh([1, 2, 3]))}

        assert_as_eager(make)


def test_what_fails_inside_leaves_all_as_it_was(backend: str) -> None:
    skip_unless(backend, "numpy", "torch", why="others find out when they compile")
    indices = ua.asarray([0, 1])

    def function(x: ua.Array, indices: ua.Array) -> ua.Array:
        x += 1
        return ua.grad(lambda y: ua.sum(ua.take(y, indices)))(x * 2)

    compiled, (x,) = compile(function), fresh([1, 2, 3])
    assert as_numpy(compiled(x, indices)).tolist() == [1, 1, 0]
    with pytest.raises(IndexError):
        compiled(x, ua.asarray([0, 3]))
    assert as_numpy(x).tolist() == [2, 3, 4]


def test_arrays_that_are_only_returned_are_read_at_each_call(backend: str) -> None:
    (known,) = fresh([5, 6])
    for engine in engines(backend):
        compiled = compile(ua.grad(lambda x: (ua.sum(x), known), has_aux=True, backend=engine))
        for _ in range(2):
            found = compiled(*fresh([1, 2]))[1]
            assert as_numpy(found).tolist() == as_numpy(known).tolist()
            known += 1
            assert as_numpy(found).tolist() != as_numpy(known).tolist()


def test_batches_may_be_empty_and_functions_have_no_arrays(backend: str) -> None:
    for engine in engines(backend):

        def make(engine: str | None = engine) -> Any:
            def function(x: ua.Array) -> Any:
                empty = ua.vmap(lambda row: ua.sum(row) * row, backend=engine)(x[:0])
                return empty, ua.grad(lambda y: y * y, backend=engine)(3.0)

            return function, {"args": tuple(fresh([[1, 2], [3, 4]]))}

        assert_as_eager(make)


def test_no_value_of_the_example_is_kept(backend: str) -> None:
    for engine in engines(backend):
        compiled = compile(ua.grad(lambda x: ua.sum(ua.sin(x) * x), backend=engine))
        (x,) = fresh([1, 2, 3])
        reference = weakref.ref(x._native)
        compiled(x)
        del x
        gc.collect()
        assert reference() is None


def _named(backend: str) -> list[str]:
    """Return what ``backend=`` may name."""
    return [engine or backend for engine in engines(backend) if engine or has(backend, "transformations")]


def test_engines_differentiate_inside_loops_and_branches(backend: str) -> None:
    for engine in _named(backend):

        def slope(s: Any, x: Any, engine: str = engine) -> Any:
            return ua.grad(lambda y: ua.sum(y**2 * x), backend=engine)(s)

        def function(x: Any) -> Any:
            looped = ua.fori_loop(0, 2, lambda i, s: s + ua.fori_loop(0, 2, lambda j, t: t * 0.5 + slope(t, x), s), x)
            chosen = ua.cond(ua.sum(x) > 0, lambda s: slope(s, x), lambda s: s, x)
            return looped, chosen, ua.while_loop(lambda s: ua.sum(s) < 50, lambda s: s + slope(s, x), x)

        assert_as_eager(lambda: (function, {"args": fresh([1, 2, 3])}), calls=1)


def test_graphs_with_constants_of_the_engine_have_derivatives_by_it(backend: str) -> None:
    x = ua.graph.Variable(ua.graph.array_type(3, "float64"), "x")
    fgraph = ua.graph.FunctionGraph([x], [ua.sum(ua.sin(x) * ua.asarray([1.0, 2.0, 3.0]))])
    for engine in _named(backend):
        found = compile(ua.grad(fgraph, backend=engine))(*fresh([1, 2, 3]))
        np.testing.assert_allclose(as_numpy(found), np.cos([1, 2, 3]) * [1, 2, 3], rtol=1e-12)
