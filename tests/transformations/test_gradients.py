"""Derivatives: the arguments, the structure, and allowed writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import (
    BackendMismatchError,
    BackendNotFoundError,
    DtypeError,
    InplaceUpdateError,
    ReadOnlyError,
    ShapeError,
    StructureError,
)
from unifyarr.graph.compiling import compile
from unifyarr.testing import needs

from ..natives import native, skip_unless, values_of, variable
from ..oracle import as_numpy, assert_same
from .through import engines, fresh


def quadratic(x: ua.Array, y: ua.Array) -> ua.Array:
    return ua.sum(x * x * y)


def test_argnums_say_by_which_arguments(backend: str) -> None:
    for engine in engines(backend):
        x, y = fresh([1, 2], [3, 4])
        for argnums, expected in ((0, [6, 16]), (1, [1, 4]), (-1, [1, 4])):
            gradient = ua.grad(quadratic, argnums, backend=engine)(x, y)
            assert gradient.backend == backend
            assert_same(gradient, np.array(expected, float))
        both = ua.grad(quadratic, (1, 0), backend=engine)(x, y)
        assert isinstance(both, tuple)
        assert_same(both[0], np.array([1.0, 4.0]))
        assert_same(both[1], np.array([6.0, 16.0]))
        (one,) = ua.grad(quadratic, (0,), backend=engine)(x, y)
        assert_same(one, np.array([6.0, 16.0]))


@pytest.mark.parametrize("argnums", [2, -3, (0, 0), (0, -2)])
def test_argnums_that_say_nothing_are_an_error(backend: str, argnums: Any) -> None:
    with pytest.raises(ValueError, match="argnums"):
        ua.grad(quadratic, argnums)(*fresh([1], [2]))


def test_nests_give_nests(backend: str) -> None:
    def loss(nest: Any, *, scale: float, names: list[str]) -> ua.Array:
        assert names == ["a"]
        nest["c"].layers[0] *= 2
        return ua.sum(nest["c"].layers[0] * nest["c"].bias) * scale + nest["f"] ** 2

    for engine in engines(backend):
        weight, bias, f = fresh([1, 2], [3, 4], 5)
        nest = {"c": ua.Container(layers=[weight], bias=bias), "n": None, "f": f}
        value, gradient = ua.value_and_grad(loss, backend=engine)(nest, scale=10.0, names=["a"])
        assert float(value) == 245.0
        assert sorted(gradient) == ["c", "f", "n"]
        assert gradient["n"] is None
        assert isinstance(gradient["c"], ua.Container)
        assert_same(gradient["c"].layers[0], np.array([60.0, 80.0]))
        assert_same(gradient["c"].bias, np.array([20.0, 40.0]))
        assert_same(gradient["f"], np.array(10.0))
        # The container's own array was written.
        assert_same(nest["c"].layers[0], np.array([2.0, 4.0]))
        assert nest["c"].layers[0] is weight


def test_numbers_and_engines_arrays_are_arguments(backend: str) -> None:
    for engine in engines(backend):
        gradient = ua.grad(lambda x, y: x * y, (0, 1), backend=engine)(3.0, native(backend, 4.0))
        assert [float(x) for x in gradient] == [4.0, 3.0]
        assert all(isinstance(x, ua.Array) for x in gradient)


def test_what_else_is_passed_on(backend: str) -> None:
    def loss(x: ua.Array) -> Any:
        y = x * 2
        return ua.sum(y), {"view": y[::-1], "y": y, "count": 3, "none": None, "integers": ua.arange(2)}

    for engine in engines(backend):
        (x,) = fresh([1, 2])
        (_, aux), gradient = ua.value_and_grad(loss, has_aux=True, backend=engine)(x)
        assert_same(aux["view"], np.array([4.0, 2.0]))
        assert (aux["count"], aux["none"]) == (3, None)
        assert aux["integers"].backend == backend
        aux["view"][...] = 0
        assert_same(aux["y"], np.array([2.0, 4.0]))
        assert_same(ua.grad(loss, has_aux=True, backend=engine)(x)[0], as_numpy(gradient))
    with pytest.raises(TypeError, match="pair"):
        ua.grad(quadratic, has_aux=True)(*fresh([1], [2]))


def test_results_share_no_memory_with_anything(backend: str) -> None:
    captured = fresh([5, 6])[0]

    def identity(x: ua.Array) -> Any:
        return x, [x, x[1:], captured]

    for engine in engines(backend):
        (x,) = fresh([1, 2])
        result, pullback, aux = ua.vjp(identity, x, has_aux=True, backend=engine)
        (cotangent,) = fresh([3, 4])
        (gradient,) = pullback(cotangent)
        for each in (result, *aux, gradient):
            each[...] = 9
        assert_same(x, np.array([1.0, 2.0]))
        assert_same(captured, np.array([5.0, 6.0]))
        assert_same(cotangent, np.array([3.0, 4.0]))
        # The gradients of a sum are one memory on torch.
        one, other = ua.grad(lambda x, y: ua.sum(x + y), (0, 1), backend=engine)(x, x.copy())
        one[0] = 7
        assert_same(one, np.array([7.0, 1.0]))
        assert_same(other, np.array([1.0, 1.0]))


def test_what_is_made_on_the_backend_of_an_argument_meets_the_argument(backend: str) -> None:
    def loss(x: ua.Array) -> ua.Array:
        weights = ua.arange(2, dtype="float64", backend=x.backend, device=x.device)
        return ua.sum((x * weights).to_backend(x.backend) * ua.asarray([1.0, 2.0], backend=x.backend))

    for engine in engines(backend):
        assert_same(ua.grad(loss, backend=engine)(fresh([3, 4])[0]), np.array([0.0, 2.0]))


def test_what_is_captured_is_constant_and_may_be_written(backend: str) -> None:
    total, factor = fresh([0, 0], [2, 3])
    view = factor[1:]

    def loss(x: ua.Array) -> ua.Array:
        total[...] = x * factor
        total[1:] += view
        return ua.sum(total * x)

    for engine in engines(backend):
        (x,) = fresh([1, 2])
        total[...] = -1
        assert_same(ua.grad(loss, backend=engine)(x), np.array([4.0, 15.0]))
        assert_same(total, np.array([2.0, 9.0]))
        assert_same(factor, np.array([2.0, 3.0]))
        total += 1
        assert_same(total + total, np.array([6.0, 20.0]))


def test_a_variable_and_a_native_array_may_be_written(backend: str) -> None:
    kept = ua.asarray(variable(backend, [0.0, 0.0]))
    outer = variable(backend, [0.0, 0.0])

    def loss(x: ua.Array) -> ua.Array:
        kept[...] = x * x
        ua.multiply(kept, 3.0, out=outer)
        return ua.sum(kept)

    for engine in engines(backend):
        assert_same(ua.grad(loss, backend=engine)(fresh([1, 2])[0]), np.array([2.0, 4.0]))
        assert_same(kept, np.array([1.0, 4.0]))
        np.testing.assert_array_equal(values_of(outer), [3.0, 12.0])


def test_what_fails_writes_nothing(backend: str) -> None:
    captured = fresh([1, 2])[0]

    def fails(x: ua.Array) -> ua.Array:
        x += 1
        captured[...] = x
        raise KeyError("no")

    for engine in engines(backend):
        (x,) = fresh([5, 6])
        with pytest.raises(KeyError):
            ua.grad(fails, backend=engine)(x)
        assert_same(x, np.array([5.0, 6.0]))
        assert_same(captured, np.array([1.0, 2.0]))
        captured += 0


def test_a_read_only_argument_can_not_be_written(backend: str) -> None:
    def write(x: ua.Array) -> ua.Array:
        x += 1
        return ua.sum(x * x)

    for engine in engines(backend):
        (x,) = fresh([1])
        with pytest.raises(ReadOnlyError):
            ua.grad(write, backend=engine)(ua.broadcast_to(x, (2,)))
        assert_same(x, np.array([1.0]))


def test_arguments_that_overlap_may_be_read_but_not_written(backend: str) -> None:
    def write(x: ua.Array, y: ua.Array) -> ua.Array:
        x *= 2
        return ua.sum(x * y)

    for engine in engines(backend):
        (x,) = fresh([1, 2, 3])
        for other in (x, x[1:], x[::-1]):
            with pytest.raises(InplaceUpdateError, match="shares memory"):
                ua.grad(lambda x, y: write(x[: y.shape[0]], y), backend=engine)(x, other)
        assert_same(x, np.array([1.0, 2.0, 3.0]))
        one, other = ua.grad(lambda x, y: ua.sum(x * y * y), (0, 1), backend=engine)(x, x)
        assert_same(one, np.array([1.0, 4.0, 9.0]))
        assert_same(other, np.array([2.0, 8.0, 18.0]))


def test_a_pullback_serves_often_whatever_is_written_meanwhile(backend: str) -> None:
    factor = fresh([3, 4])[0]

    def function(x: ua.Array, nest: Any) -> Any:
        return {"p": x * factor, "s": ua.sum(nest[0] ** 3)}

    for engine in engines(backend):
        factor[...] = [3, 4]
        x, y = fresh([1, 2], [1, 2])
        result, pullback = ua.vjp(function, x, [y], backend=engine)
        x += 10
        y *= 7
        factor *= 0
        assert_same(result["p"], np.array([3.0, 8.0]))
        for scale in (1.0, 2.0):
            one, (other,) = pullback({"p": np.array([scale, 1.0]), "s": 2.0})
            assert_same(one, np.array([3.0 * scale, 4.0]))
            assert_same(other, np.array([6.0, 24.0]))


def test_a_cotangent_is_like_the_result(backend: str) -> None:
    _, pullback = ua.vjp(lambda x: [x * 2], fresh([1, 2])[0])
    with pytest.raises(StructureError, match="cotangent"):
        pullback(fresh([1, 2])[0])
    with pytest.raises(ShapeError, match="cotangent has shape"):
        pullback(fresh([1, 2, 3]))
    with pytest.raises(TypeError):
        pullback([ua.asarray([1j, 2j])])
    with pytest.raises(StructureError, match="tangent"):
        ua.jvp(lambda x: x, tuple(fresh([1])), tuple(fresh([1], [2])))


def test_jacobians_by_rows_are_those_by_columns(backend: str) -> None:
    def function(x: ua.Array, c: ua.Container) -> Any:
        x[1:] *= c.w[0]
        return [x**2, ua.sum(c.w * x[0], axis=1)]

    for engine in engines(backend):
        found = {}
        for mode in ("reverse", "forward"):
            x, w = fresh([1, 2, 3], [[1, 2], [3, 4]])
            jacobian = ua.jacobian(function, (0, 1), mode=mode, backend=engine)  # type: ignore[arg-type]
            found[mode] = jacobian(x, ua.Container(w=w))
            assert_same(x, np.array([1.0, 2.0, 6.0]))
        for (one, of_c), (other, other_c) in zip(*found.values(), strict=True):
            np.testing.assert_allclose(as_numpy(one), as_numpy(other))
            np.testing.assert_allclose(as_numpy(of_c.w), as_numpy(other_c.w))
        (first, first_c), (second, second_c) = found["reverse"]
        assert_same(first, np.diag([2.0, 4.0, 24.0]))
        assert first_c.w.shape == (3, 2, 2)
        assert_same(second, np.array([[3.0, 0, 0], [7.0, 0, 0]]))
        assert_same(second_c.w, np.array([[[1.0, 1], [0, 0]], [[0, 0], [1.0, 1]]]))
    with pytest.raises(ValueError, match="mode"):
        ua.jacobian(function, mode="both")  # type: ignore[arg-type]


def test_second_derivatives_of_nests(backend: str) -> None:
    def loss(c: ua.Container) -> Any:
        c.a[0] *= c.b
        return ua.sum(c.a**2) * c.b, c.a

    for engine in engines(backend):
        a, b = fresh([1, 2], 3)
        hessian, aux = ua.hessian(loss, has_aux=True, backend=engine)(ua.Container(a=a, b=b))
        assert_same(hessian.a.a, np.diag([54.0, 6.0]))
        assert_same(hessian.a.b, np.array([54.0, 4.0]))
        assert_same(hessian.b.a, np.array([54.0, 4.0]))
        assert_same(hessian.b.b, np.array(18.0))
        assert_same(aux, np.array([3.0, 2.0]))
        assert_same(a, np.array([3.0, 2.0]))


def test_third_derivatives(backend: str) -> None:
    def cube(x: ua.Array) -> ua.Array:
        y = ua.ones(())
        for _ in range(3):
            y *= x
        return y

    for engine in engines(backend):
        third = ua.grad(ua.grad(ua.grad(cube, backend=engine), backend=engine), backend=engine)
        assert_same(third(fresh(2)[0]), np.array(6.0))


def test_inner_derivatives_see_no_outer_ones(backend: str) -> None:
    for engine in engines(backend):

        def outer(x: ua.Array, engine: Any = engine) -> ua.Array:
            kept = ua.zeros(())

            def inner(y: ua.Array) -> ua.Array:
                kept[...] = x * y
                return kept + y * x

            return x * ua.grad(inner, backend=engine)(ua.ones(())) + kept

        assert_same(ua.grad(outer, backend=engine)(fresh(3)[0]), np.array(13.0))


def test_what_does_not_depend_has_zeros(backend: str) -> None:
    for engine in engines(backend):
        x, y = fresh([1, 2], [3])
        gradients = ua.grad(lambda x, y: ua.sum(y), (0, 1), backend=engine)(x, y)
        assert_same(gradients[0], np.zeros(2))
        assert_same(ua.grad(lambda x: ua.ones(()), backend=engine)(x), np.zeros(2))
        _, tangent = ua.jvp(lambda x: ua.ones(3), (x,), (x,), backend=engine)
        assert_same(tangent, np.zeros(3))
        assert_same(ua.jacobian(lambda x: ua.ones(3), backend=engine)(x), np.zeros((3, 2)))
        assert_same(ua.jacobian(lambda x: ua.ones(3), mode="forward", backend=engine)(x), np.zeros((3, 2)))
        assert_same(ua.grad(lambda x: ua.sum(ua.sign(x)), backend=engine)(x), np.zeros(2))


def test_shapes_without_elements_and_without_axes(backend: str) -> None:
    for engine in engines(backend):
        (empty,) = fresh(np.zeros((0, 2)))
        assert_same(ua.grad(lambda x: ua.sum(x * x), backend=engine)(empty), np.zeros((0, 2)))
        assert_same(ua.grad(lambda x: x * x, backend=engine)(fresh(3)[0]), np.array(6.0))
        assert_same(ua.hessian(lambda x: x * x, backend=engine)(fresh(3)[0]), np.array(2.0))
        for mode in ("reverse", "forward"):
            jacobian = ua.jacobian(lambda x: x * x, mode=mode, backend=engine)  # type: ignore[arg-type]
            assert_same(jacobian(empty), np.zeros((0, 2, 0, 2)))


def test_dtypes_stay_and_nan_goes_through(backend: str) -> None:
    for engine in engines(backend):
        for dtype in (ua.float32, ua.float64):
            x = ua.asarray([1.0, float("nan")], dtype=dtype)
            value, gradient = ua.value_and_grad(lambda x: ua.sum(x * x), backend=engine)(x)
            assert value.dtype == gradient.dtype == dtype
            np.testing.assert_array_equal(as_numpy(gradient), np.array([2.0, np.nan]))


def test_gradients_of_complex_arrays_are_those_of_jax(backend: str) -> None:
    for engine in engines(backend):
        z = ua.asarray([1 + 2j, 3 - 1j])

        def loss(z: ua.Array) -> ua.Array:
            z.real *= 2
            return ua.sum(z.real**2 * z.imag)

        gradient = as_numpy(ua.grad(loss, backend=engine)(z.copy()))
        values = as_numpy(z)
        np.testing.assert_allclose(gradient, 8 * values.real * values.imag - 1j * 4 * values.real**2)
        _, pullback = ua.vjp(lambda z: z * z * 1j, z, backend=engine)
        (found,) = pullback(ua.asarray([1j, 2 + 1j]))
        np.testing.assert_allclose(as_numpy(found), np.array([1j, 2 + 1j]) * 2j * values)
        _, tangent = ua.jvp(lambda z: z * z * 1j, (z,), (ua.asarray([1j, 2 + 1j]),), backend=engine)
        np.testing.assert_allclose(as_numpy(tangent), np.array([1j, 2 + 1j]) * 2j * values)
        with pytest.raises(DtypeError, match="Jacobian"):
            ua.jacobian(lambda z: z, backend=engine)(z)


@pytest.mark.parametrize("values", [[1, 2], [True, False], 3])
def test_integers_and_bools_have_no_derivatives(backend: str, values: Any) -> None:
    for transform in (ua.grad, ua.value_and_grad, ua.jacobian, ua.hessian):
        with pytest.raises(DtypeError, match="floating-point"):
            transform(ua.sum)(ua.asarray(values))
    with pytest.raises(DtypeError, match="result has dtype"):
        ua.vjp(lambda x: x > 0, fresh([1])[0])


@pytest.mark.parametrize(
    ("function", "error", "says"),
    [
        (lambda x: x, ShapeError, r"one of shape \(2,\)"),
        (lambda x: (x[0], x[1]), ShapeError, "2 arrays"),
        (lambda x: 3.0, TypeError, "not 3.0"),
        (lambda x: None, TypeError, "not None"),
        (lambda x: (), TypeError, "none"),
        (lambda x: ua.sum(x) > 0, DtypeError, "not bool"),
        (lambda x: ua.sum(x) * 1j, DtypeError, "not complex128"),
    ],
)
def test_a_gradient_is_that_of_a_real_number(backend: str, function: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        ua.grad(function)(fresh([1, 2])[0])


def test_a_stopped_gradient_is_a_copy(backend: str) -> None:
    (x,) = fresh([1, 2])
    stopped = ua.stop_gradient(x)
    stopped += 1
    assert_same(x, np.array([1.0, 2.0]))
    for engine in engines(backend):
        gradient = ua.grad(lambda x: ua.sum(x * ua.stop_gradient(x * x)), backend=engine)
        assert_same(gradient(x), np.array([1.0, 4.0]))


def test_a_function_may_look_at_values(backend: str) -> None:
    def function(x: ua.Array) -> ua.Array:
        if ua.max(x) > 1 and float(x[0]) < 3:
            return ua.sum(x * x)
        return ua.sum(x)

    for engine in engines(backend):
        assert_same(ua.grad(function, backend=engine)(fresh([1, 2])[0]), np.array([2.0, 4.0]))
        assert_same(ua.grad(function, backend=engine)(fresh([3, 2])[0]), np.ones(2))


def test_a_compiled_function_is_differentiated_and_compiled_again(backend: str) -> None:
    @compile
    def compiled(x: ua.Array) -> ua.Array:
        x[1:] *= 3
        return ua.sum(x * x)

    for engine in engines(backend):
        (x,) = fresh([1, 2])
        assert_same(ua.grad(compiled, backend=engine)(x), np.array([2.0, 36.0]))
        assert_same(x, np.array([1.0, 6.0]))
        assert_same(compile(ua.grad(compiled, backend=engine))(x), np.array([2.0, 108.0]))
        assert_same(x, np.array([1.0, 18.0]))


def test_an_engine_that_is_named_is_there() -> None:
    with ua.use_backend("numpy"):
        (x,) = fresh([1, 2])
        for transformation in (ua.grad, ua.vmap):
            with pytest.raises(BackendNotFoundError):
                transformation(ua.sum, backend="nothing")(x)


@needs("transformations", why="engines with derivatives")
def test_other_backends_are_their_own_engine(backend: str) -> None:
    with pytest.raises(BackendMismatchError, match="to_backend"):
        ua.grad(ua.sum, backend="numpy")(fresh([1, 2])[0])
    other = ua.asarray([1.0], backend="numpy")
    with pytest.raises(BackendMismatchError):
        ua.grad(quadratic)(fresh([1])[0], other)


def test_gradients_inside_the_traces_of_engines(backend: str) -> None:
    skip_unless(backend, "jax", "tensorflow", why="engines that trace")

    def gradient(x: Any) -> Any:
        array = ua.asarray(x)
        value = ua.grad(lambda x: ua.sum(x[::-1] * x**2))(array)
        return value.native

    x = native(backend, [1.0, 2.0, 3.0])
    if backend == "jax":
        import jax

        compiled = jax.jit(gradient)
    else:
        import tensorflow as tf

        compiled = tf.function(gradient, autograph=False)
    np.testing.assert_allclose(values_of(compiled(x)), values_of(gradient(x)))


def test_autograd_of_torch_goes_through(backend: str) -> None:
    skip_unless(backend, "torch", why="torch's own autograd")
    import torch

    leaf = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    gradient = ua.grad(lambda x: ua.sum(x**3))(ua.asarray(leaf))
    gradient.native.sum().backward()
    np.testing.assert_allclose(values_of(leaf.grad), [6.0, 12.0])
    with torch.no_grad():
        assert_same(ua.grad(lambda x: ua.sum(x**2))(ua.asarray(leaf)), np.array([2.0, 4.0]))
