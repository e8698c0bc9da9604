"""The debug modes compare kernels with bodies: both must compute the same."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._core.engines.registry import load
from unifyarr.errors import BadThunkOutput
from unifyarr.testing import has

from ..oracle import assert_same
from ..user_ops import array


def checked(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    with ua.debug():
        return function(*args, **kwargs)


def compiled(function: Callable[..., Any], *args: Any) -> Any:
    return ua.compile(function, mode="debug")(*args)


def pattern_of(name: str, backend: str) -> str:
    """Return a pattern of how an error names a kernel; it begins with the function that was called."""
    return rf"({name}\(\): the kernel|kernel of .*{name}\(.*\)) on backend '{backend}'"


WRONG: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "values": (lambda x, y: x + y + 0.5, "other values"),
    "shape": (lambda x, y: (x + y)[1:], r"shape \(2,\)"),
    "one value": (lambda x, y: x + y + (x - 1) * (x - 2), "other values"),
}


def plus(backend: str, kernel: Callable[..., Any], body: Callable[..., Any] = lambda x, y: x + y) -> Any:
    @ua.op
    def plus(x: Array, y: Array, /) -> Array:
        return body(x, y)  # type: ignore[no-any-return]

    plus.kernel(backend)(kernel)
    return plus


@pytest.mark.parametrize("how", WRONG)
def test_a_kernel_that_computes_something_else_than_the_body(backend: str, how: str) -> None:
    kernel, words = WRONG[how]
    x, y, out = array(1, 2, 3), array(4, 5, 6), array(0, 0, 0)
    for call in (
        lambda: checked(plus(backend, kernel), x, y),
        lambda: checked(plus(backend, kernel), ua.Container(a=x), y),
        lambda: compiled(plus(backend, kernel), x, y),
        lambda: compiled(lambda x, y, op=plus(backend, kernel): op(x * 2, y) + 1, x, y),
    ):
        with pytest.raises(BadThunkOutput, match=rf"{pattern_of('plus', backend)} .*{words}"):
            call()
    if how != "shape":
        with pytest.raises(BadThunkOutput, match=words):
            checked(plus(backend, kernel), x, y, out=out)
    # Without checks, the kernel is trusted.
    plus(backend, kernel)(x, y)


def test_a_kernel_of_another_dtype_than_the_body(backend: str) -> None:
    op = plus(backend, lambda x, y: load(backend).kernel("astype")(x + y, dtype=ua.float32.dtype))
    for run in (checked, compiled):
        with pytest.raises(BadThunkOutput, match="dtype float32"):
            run(op, array(1, 2), array(3, 4))


def test_which_of_several_outputs_differs(backend: str) -> None:
    @ua.op
    def bounds(x: Array, /) -> tuple[Array, Array]:
        return x - 1, x + 1

    bounds.kernel(backend)(lambda x: (x - 1, x + 2))
    for run in (checked, compiled):
        with pytest.raises(BadThunkOutput, match="output 1"):
            run(bounds, array(1, 2))


def test_a_kernel_that_rounds_differently_is_right(backend: str) -> None:
    op = plus(backend, lambda x, y: (x * 3 + y * 3) / 3)
    x, y = array(0.1, 0.2, np.nan, np.inf), array(0.3, 0.7, 1, 1)
    for run in (checked, compiled):
        run(op, x, y)


def test_a_body_that_raises_or_does_not_do_the_call(backend: str) -> None:
    def refuse(x: Array, y: Array) -> Array:
        raise ValueError("no such sum")

    def lacks(x: Array, y: Array) -> Array:
        raise ua.errors.BackendFeatureError("not here")

    x, y = array(1, 2), array(3, 4)
    for run in (checked, compiled):
        with pytest.raises(BadThunkOutput, match="where the body raises ValueError: no such sum"):
            run(plus(backend, lambda x, y: x + y, refuse), x, y)
        for body in (lacks, lambda x, y: None, lambda x, y: ...):
            assert_same(run(plus(backend, lambda x, y: x + y, body), x, y), np.array([4.0, 6.0]))


def test_a_kernel_and_a_body_that_both_refuse(backend: str) -> None:
    def refuse(x: Any, y: Any) -> Any:
        raise ValueError("no such sum")

    with pytest.raises(ValueError, match="no such sum"):
        checked(plus(backend, refuse, refuse), array(1), array(2))


def test_a_body_sees_arguments_that_no_kernel_has_touched(backend: str) -> None:
    def twin(x: Any, y: Any) -> Any:
        x += y
        return x

    op = plus(backend, lambda x, y: x + y)
    op.inplace(backend, destroy_map={0: (0,)})(twin)
    x = array(1, 2)
    with ua.debug():
        for _ in range(2):
            op(x, array(3, 4), out=x)
    assert_same(x, np.array([7.0, 10.0]))
    assert_same(compiled(lambda x, y: op(x * 2, y), array(1, 2), array(3, 4)), np.array([5.0, 8.0]))


# -- the package's own ------------------------------------------------------------------------------------------------

X = np.linspace(-1.0, 2.0, 12).reshape(3, 4)
IMAGES = np.linspace(-1.0, 1.0, 32).reshape(1, 2, 4, 4)
FILTERS = np.linspace(-1.0, 1.0, 16).reshape(2, 2, 2, 2)
CALLS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "convolve": (ua.convolve, (X[0], X[1])),
    "interp": (ua.interp, (X[0], X[1], X[2])),
    "einsum": (lambda x, y: ua.einsum("ij,kj->ik", x, y), (X, X)),
    "pad": (lambda x: ua.pad(x, 1), (X,)),
    "median": (ua.median, (X,)),
    "quantile": (lambda x: ua.quantile(x, 0.3, axis=0), (X,)),
    "nanmedian": (ua.nanmedian, (X,)),
    "nansum": (ua.nansum, (X,)),
    "percentile": (lambda x: ua.percentile(x, 30, axis=0), (X,)),
    "nanquantile": (lambda x: ua.nanquantile(x, 0.3), (X,)),
    "linalg.expm": (ua.linalg.expm, (X[:, :3],)),
    "linalg.solve_triangular": (ua.linalg.solve_triangular, (X[:, :3] + 4 * np.eye(3), X)),
    "linalg.lu": (ua.linalg.lu, (X[:, :3] + 4 * np.eye(3),)),
    "linalg.lu_factor": (ua.linalg.lu_factor, (X[:, :3] + 4 * np.eye(3),)),
    "linalg.cho_solve": (lambda a, b: ua.linalg.cho_solve(a, b), (X[:, :3] + 4 * np.eye(3), X)),
    "linalg.lu_solve": (lambda a, b: ua.linalg.lu_solve(ua.linalg.lu_factor(a), b), (X[:, :3] + 4 * np.eye(3), X)),
    "bincount": (ua.bincount, (np.array([2, 0, 2, 1]),)),
    "clip": (lambda x: ua.clip(x, -0.5, 0.5), (X,)),
    "frexp": (ua.frexp, (X,)),
    "ldexp": (ua.ldexp, (X, np.arange(4))),
    "modf": (ua.modf, (X,)),
    "spacing": (ua.spacing, (X,)),
    "count_nonzero": (ua.count_nonzero, (X,)),
    "histogram": (lambda x: ua.histogram(x, bins=4), (X[0],)),
    "special.erfinv": (lambda x: ua.special.erfinv(ua.tanh(x)), (X,)),
    "unique_counts": (ua.unique_counts, (X[0],)),
    "unique_inverse": (ua.unique_inverse, (X[0],)),
    "nn.relu": (ua.nn.relu, (X,)),
    **{f"nn.{name}": (getattr(ua.nn, name), (X,)) for name in ("elu", "selu", "silu", "mish", "leaky_relu")},
    **{f"nn.{name}": (getattr(ua.nn, name), (X,)) for name in ("hardswish", "hardsigmoid")},
    "nn.nll_loss": (lambda x, y: ua.nn.nll_loss(x, y.astype(ua.int64)), (X, np.array([0, 1, 2]))),
    "sinc": (ua.sinc, (X,)),
    "nan_to_num": (ua.nan_to_num, (X,)),
    "special.entr": (lambda x: ua.special.entr(ua.abs(x)), (X,)),
    "special.logit": (lambda x: ua.special.logit(ua.nn.sigmoid(x)), (X,)),
    "special.log_ndtr": (ua.special.log_ndtr, (X,)),
    "special.xlogy": (lambda x: ua.special.xlogy(x, ua.abs(x) + 1), (X,)),
    "special.xlog1py": (lambda x: ua.special.xlog1py(x, ua.abs(x)), (X,)),
    "nn.gelu": (ua.nn.gelu, (X,)),
    "nn.sigmoid": (ua.nn.sigmoid, (X,)),
    "nn.softmax": (ua.nn.softmax, (X,)),
    "nn.log_softmax": (ua.nn.log_softmax, (X,)),
    "nn.cross_entropy": (lambda x, y: ua.nn.cross_entropy(x, y.astype(ua.int64)), (X, np.array([0, 1, 2]))),
    "nn.linear": (ua.nn.linear, (X, X[:2], X[0, :2])),
    "nn.l2_normalize": (lambda x: ua.nn.l2_normalize(x, axis=-1), (X,)),
    "nn.layer_norm": (lambda x: ua.nn.layer_norm(x, axis=-1), (X,)),
    "nn.rms_norm": (lambda x: ua.nn.rms_norm(x, axis=-1), (X,)),
    "nn.group_norm": (lambda x: ua.nn.group_norm(x, groups=2), (IMAGES,)),
    "diff": (ua.diff, (X,)),
    "nn.batch_norm": (None, ()),  # type: ignore[dict-item]
    "nn.conv1d": (ua.nn.conv1d, (IMAGES[:, :, 0], FILTERS[:, :, 0])),
    "nn.conv2d": (ua.nn.conv2d, (IMAGES, FILTERS)),
    "nn.conv3d": (ua.nn.conv3d, (IMAGES[:, :, None], FILTERS[:, :, None])),
    "nn.conv_transpose1d": (ua.nn.conv_transpose1d, (IMAGES[:, :, 0], FILTERS[:, :, 0])),
    "nn.conv_transpose2d": (ua.nn.conv_transpose2d, (IMAGES, FILTERS)),
    "nn.conv_transpose3d": (ua.nn.conv_transpose3d, (IMAGES[:, :, None], FILTERS[:, :, None])),
    **{
        f"nn.{kind}_pool{axes}d": (functools.partial(getattr(ua.nn, f"{kind}_pool{axes}d"), window=2), (IMAGES[0],))
        for kind, axes in itertools.product(("max", "avg"), (1, 2, 3))
    },
    **{
        f"nn.adaptive_{kind}_pool{axes}d": (
            functools.partial(getattr(ua.nn, f"adaptive_{kind}_pool{axes}d"), output_size=2),
            (IMAGES[0],),
        )
        for kind, axes in itertools.product(("max", "avg"), (1, 2, 3))
    },
    "nn.interpolate": (lambda x: ua.nn.interpolate(x, (3, 7), mode="bilinear"), (IMAGES,)),
    "nn.unfold": (lambda x: ua.nn.unfold(x, 2), (IMAGES,)),
    "nn.fold": (lambda x: ua.nn.fold(x, (2, 5), (2, 2)), (IMAGES[0],)),
    "nn.scaled_dot_product_attention": (ua.nn.scaled_dot_product_attention, (IMAGES, IMAGES, IMAGES)),
}
MIXED = [name for name, each in DECLARATIONS.items() if each.category == "mixed"]
OF_VALUES = {"bincount", "histogram", "unique_counts", "unique_inverse"}
# This updates its arguments, and would do so twice.
UPDATES = {"nn.batch_norm"}


def test_all_functions_with_both_are_here() -> None:
    assert set(MIXED) == set(CALLS)
    assert {name for name in MIXED if DECLARATIONS[name].updates} == UPDATES


def wrong_kernel(right: Callable[..., Any]) -> Callable[..., Any]:
    def kernel(*natives: Any, **static: Any) -> Any:
        result = right(*natives, **{key: value for key, value in static.items() if key != "out"})
        if isinstance(result, tuple):
            return tuple([each + each + 1 for each in result])
        return result if result is NotImplemented else result + result + 1

    return kernel


@pytest.mark.parametrize("name", sorted({*CALLS} - UPDATES))
def test_kernels_of_the_package_are_held_against_compositions(
    backend: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, values = CALLS[name]
    arrays = [ua.asarray(each, copy=True) for each in values]
    # How often these square, and which shapes these have, depends on the values, which a trace doesn't know.
    unknown = name in OF_VALUES or (name == "linalg.expm" and backend in ("numpy", "tensorflow"))
    runs = (checked,) if unknown else (checked, compiled)
    for run in runs:
        run(function, *arrays)
    handle = load(backend)
    # The bodies of these consist of the first kernel; a wrong result of the second is no index at all; and the result
    # of the third is subtracted where it makes no difference.
    others = ("unique_all", "lu_permutation", "detach")
    known = *DECLARATIONS[name].kernels, *DECLARATIONS[name].derivatives
    names = [each for each in known if each in handle.kernels and each not in others]
    for each in names:
        # Plain calls keep the kernel that they have found, and don't look this name up.
        monkeypatch.setitem(handle.kernels, each, wrong_kernel(handle.kernels[each]))
    is_used = used(names, handle, function, arrays)
    # Every engine has this one.
    assert is_used or name != "nn.sigmoid"
    # Where nothing is computed debug() sees no values.
    for run in runs if is_used and has(backend, "values") else ():
        with pytest.raises(BadThunkOutput, match=pattern_of(name.split(".")[-1], backend)):
            run(function, *arrays)


def used(names: list[str], handle: Any, function: Callable[..., Any], arrays: list[Any]) -> bool:
    """Say whether a call asks any of some kernels, and is done by it."""
    done: list[bool] = []

    def watched(kernel: Callable[..., Any]) -> Callable[..., Any]:
        def run(*natives: Any, **static: Any) -> Any:
            result = kernel(*natives, **static)
            done.append(result is not NotImplemented)
            return result

        return run

    with pytest.MonkeyPatch.context() as patch:
        for each in names:
            patch.setitem(handle.kernels, each, watched(handle.kernels[each]))
        with ua.debug():
            try:
                function(*arrays)
            except BadThunkOutput:
                return True
    return any(done)
