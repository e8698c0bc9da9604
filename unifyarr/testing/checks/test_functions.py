"""Every declared function: values, dtypes, ``out=``, failing calls, containers and compiled calls."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..._core.engines.registry import load
from ...errors import CastingError, ReadOnlyError, ShapeError, UnifyarrError
from ..abilities import LACKING
from ..calling import (
    EVERY_DTYPE,
    FUNCTIONS,
    UNSET,
    assert_numpys,
    declaration_of,
    dtype_named,
    find,
    has_dtypes,
    in_dtype,
    leaves,
    lifted,
    of_backend,
    of_numpy,
    unchanged,
)
from ..cases import CASES, Case
from ..comparing import as_numpy, assert_raises, look

each_function = pytest.mark.parametrize("function", FUNCTIONS)
TAKING_OUT = [name for name in FUNCTIONS if "out" in inspect.signature(find(name)).parameters]
ELEMENTWISE = [name for name in FUNCTIONS if declaration_of(name).ufunc is not None]
# What special values do to each ufunc, in all pairs.
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, np.inf, -np.inf, np.nan])


def skip_without_dtypes(backend: str, call: Case, expected: Any) -> None:
    if not has_dtypes(backend, call, expected):
        pytest.skip(f"{LACKING} dtypes: {backend}")


def compare(backend: str, name: str, call: Case) -> None:
    """Assert that a call gives NumPy's results, or raises as it does, and leaves its arguments as they were."""
    expected = of_numpy(name, call)
    skip_without_dtypes(backend, call, expected)
    arrays = [lifted(name, x) for x in call.arrays]
    if isinstance(expected, Exception):
        # NumPy has classes of its own for some.
        wanted = type(expected) if isinstance(expected, UnifyarrError) else Exception

        def computed() -> None:
            result = of_backend(name, call, arrays)
            if not load(backend).has_values:
                # Errors of values come with them.
                look(result)

        with pytest.raises(wanted), unchanged(arrays):
            computed()
        return
    writes = bool(declaration_of(name).updates)
    with unchanged([] if writes else arrays):
        result = of_backend(name, call, arrays)
    assert_numpys(name, result, expected, backend)


@each_function
def test_values(backend: str, function: str) -> None:
    for call in CASES[function]:
        compare(backend, function, call)


IN_DTYPES = [
    (name, dtype) for name in FUNCTIONS for dtype in EVERY_DTYPE if in_dtype(CASES[name][0], dtype) is not None
]


@pytest.mark.parametrize(("function", "dtype"), IN_DTYPES)
def test_dtypes(backend: str, function: str, dtype: str) -> None:
    call = in_dtype(CASES[function][0], dtype)
    assert call is not None
    compare(backend, function, call)


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32", "float64", "complex128"])
@pytest.mark.parametrize("function", ELEMENTWISE)
def test_special_values(backend: str, function: str, dtype: str) -> None:
    ufunc = declaration_of(function).ufunc
    assert ufunc is not None
    kind = dtype_named(dtype)
    some = SPECIAL if kind.kind in "fc" else np.array([0, 1, 2, 5, 100])
    # Complex infinities have no agreed values.
    values = (some[np.isfinite(some)] if kind.kind == "c" else some).astype(kind)
    pairs = [np.repeat(values, len(values)), np.tile(values, len(values))][: ufunc.nin]
    compare(backend, function, Case(tuple(pairs)))


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1)], ids=str)
@pytest.mark.parametrize("function", ELEMENTWISE)
def test_shapes(backend: str, function: str, shape: tuple[int, ...]) -> None:
    call = CASES[function][0]
    arguments = [np.resize(x, shape) if isinstance(x, np.ndarray) else x for x in call.arguments]
    compare(backend, function, Case(tuple(arguments), call.options))


def targets(expected: Any) -> Any:
    """Return arrays that results may be written to, a tuple for several."""
    made = [ua.full(x.shape, True, dtype=x.dtype) for x in leaves(expected)]
    return tuple(made) if isinstance(expected, (list, tuple)) else made[0]


@pytest.mark.parametrize("function", TAKING_OUT)
def test_out(backend: str, function: str) -> None:
    call = CASES[function][0]
    expected = of_numpy(function, call)
    skip_without_dtypes(backend, call, expected)
    out = targets(expected)
    assert of_backend(function, call, out=out) is out
    assert_numpys(function, out, expected, backend)


@pytest.mark.parametrize("step", [2, -2])
@pytest.mark.parametrize("function", TAKING_OUT)
def test_out_is_a_view(backend: str, function: str, step: int) -> None:
    call = CASES[function][0]
    expected = of_numpy(function, call)
    skip_without_dtypes(backend, call, expected)
    for place, right in enumerate(leaves(expected)):
        shape = tuple(2 * length + 1 for length in right.shape) or (3,)
        key = tuple(slice(1, None, 2) if step > 0 else slice(-2, None, -2) for _ in right.shape) or (1, ...)
        base = ua.full(shape, True, dtype=right.dtype)
        several = isinstance(expected, (list, tuple))
        others = targets(expected)
        out = tuple(base[key] if place == at else each for at, each in enumerate(others)) if several else base[key]
        of_backend(function, call, out=out)
        wanted = np.ones(shape, right.dtype.dtype)
        wanted[key] = as_numpy(right)
        if function not in UNSET:
            assert_numpys(function, base, ua.asarray(wanted, backend="numpy"), backend)


@pytest.mark.parametrize("function", TAKING_OUT)
def test_an_out_that_doesnt_fit_changes_nothing(backend: str, function: str) -> None:
    call = CASES[function][0]
    expected = of_numpy(function, call)
    skip_without_dtypes(backend, call, expected)
    arrays = [lifted(function, x) for x in call.arrays]
    *_, last = leaves(expected)
    bad: list[tuple[type[Exception], Any]] = [
        (ShapeError, ua.full((*last.shape, 2), True, dtype=last.dtype)),
        (ReadOnlyError, ua.broadcast_to(ua.full((), True, dtype=last.dtype), last.shape)),
    ]
    narrow: Any = {"f": "int64", "c": "float64", "i": "bool"}.get(last.dtype.kind)
    if narrow is not None:
        bad.append((CastingError, ua.full(last.shape, True, dtype=narrow)))
    for error, target in bad:
        made = targets(expected)
        out = (*made[:-1], target) if isinstance(made, tuple) else target
        with unchanged(arrays), unchanged(*leaves(out)), pytest.raises(error):
            of_backend(function, call, arrays, out=out)


@each_function
def test_containers(backend: str, function: str) -> None:
    call = CASES[function][0]
    expected = of_numpy(function, call)
    if not isinstance(call.arguments[0] if call.arguments else None, np.ndarray) or function == "from_dlpack":
        return
    skip_without_dtypes(backend, call, expected)
    first, *rest = [lifted(function, x) for x in call.arrays]
    nest = ua.Container(a=first, b=[first.copy()])
    result = of_backend(function, call, [nest, *rest])
    for one in (_leaf(result, "a"), _leaf(result, "b")):
        assert_numpys(function, one, expected, backend)


def _leaf(result: Any, key: str) -> Any:
    # Of several results each is a container.
    if isinstance(result, (list, tuple)):
        return [_leaf(each, key) for each in result]
    found = result[key]
    return found[0] if key == "b" else found


@each_function
def test_compiled(backend: str, function: str) -> None:
    call = CASES[function][0]
    if not call.arrays or function == "from_dlpack":
        return

    def run(*arrays: Any) -> Any:
        return of_backend(function, call, list(arrays))

    with ua.use_backend("numpy"):
        expected = _outcome(run, [lifted(function, x) for x in call.arrays])
    if isinstance(expected, Exception):
        # What depends on values can't be traced on any backend.
        return
    skip_without_dtypes(backend, call, expected)
    compiled = ua.compile(run)
    for _ in range(2):
        result = compiled(*[lifted(function, x) for x in call.arrays])
        assert_numpys(function, result, expected, backend)


def _outcome(function: Any, arrays: list[Any]) -> Any:
    try:
        return ua.compile(function)(*arrays)
    except Exception as error:
        return error


def test_a_call_that_fails_leaves_its_arguments(backend: str) -> None:
    x, y = ua.asarray([1.0, 2.0]), ua.asarray([1.0, 2.0, 3.0])
    assert_raises(ShapeError, ua.add, x, y)
    assert_raises(ShapeError, ua.matmul, x, y)
    assert_raises(IndexError, ua.take, x, ua.asarray([5]), axis=0)
