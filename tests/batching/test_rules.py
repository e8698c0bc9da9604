"""The rules of kernels, one by one: one call for a batch beside a call for each of its elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.arrays.array import wrap
from unifyarr._core.arrays.ownership import read
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._core.engines.handle import Handle
from unifyarr._core.engines.registry import load
from unifyarr._core.kernels.moving import METHODS
from unifyarr._core.kernels.record import KERNELS, Batch
from unifyarr.errors import TraceError
from unifyarr.modes.batch.handle import batch_of
from unifyarr.modes.batch.natives import Batched
from unifyarr.modes.batch.rule import OF_KINDS, OWN

from ..derivatives.cases import CASES, Case, cplx, real
from ..natives import skip_unless

batch_of(load("numpy"))
RULED = {name for name, record in KERNELS.items() if record.batch in (Batch.KIND, Batch.OWN)} - METHODS
REFUSED = {name for name, record in KERNELS.items() if record.batch is Batch.REFUSED}
SIZE = 3
INTEGERS, BOOLS = np.array([[5, 3, 7], [2, 6, 1]]), np.array([[True, False, True], [False, True, True]])
# Kernels of matrices, whose elements can't be exchanged.
_MATRICES = (
    "cholesky det slogdet inv pinv qr svd svdvals eig eigvals eigh eigvalsh matrix_norm matrix_power matrix_rank expm "
    "square_repeatedly lu lu_factor solve solve_triangular searchsorted interp count_between"
)
_SCALED = frozenset(_MATRICES.split())


# The engine's own in place of compositions.
_OFFERED = "elu entr gelu hardsigmoid hardswish leaky_relu log_ndtr logit mish nan_to_num selu silu sinc xlog1py xlogy"
_NUMBERS: dict[str, dict[str, float]] = {
    "elu": {"alpha": 1.5},
    "leaky_relu": {"negative_slope": 0.1},
    "nan_to_num": {"nan": 0.0, "posinf": 1.0, "neginf": -1.0},
}


def _more() -> Iterator[Case]:
    """Yield calls of kernels that no derivative is taken of, and of other shapes."""
    x, cube, symmetric = real(2, 3), real(2, 3, 2), real(3, 3) + real(3, 3).T + 5 * np.eye(3)
    for name in sorted(RULED):
        declaration = DECLARATIONS.get(name)
        if declaration is not None and declaration.ufunc is not None:
            yield from _elementwise(name, declaration.ufunc)
    for name in ("remainder", "round", "where"):
        if name == "where":
            yield name, (BOOLS, x, real(3)), {}
            yield name, (BOOLS[0, 0], x, real(2, 1)), {}
        else:
            yield name, (x,) if name == "round" else (x, real(3)), {}
    for name in ("frexp", "modf", "spacing", "stop_gradient", "detach"):
        yield name, (x,), {}
    yield "ldexp", (x, INTEGERS), {}
    for name in ("gammainc", "gammaincc", "zeta"):
        yield name, (1 + x**2, real(3, low=1.1, high=2)), {}
    for name in _OFFERED.split():
        operands = (real(2, 3, low=0.1, high=0.9), real(3, low=1.1, high=2))[: 1 + name.startswith("xlog")]
        yield name, operands, _NUMBERS.get(name, {})
    yield "betainc", (1 + x**2, real(3, low=1.1, high=2), real(2, 1, low=0.1, high=0.9)), {}
    for axis, keepdims in (((1,), False), ((0, 2), True), ((0, 1, 2), False), ((), False)):
        for name in ("all", "any", "count_nonzero"):
            yield name, (cube > 0,), {"axis": axis, "keepdims": keepdims}
    for name in ("argmax", "argmin"):
        for axis, keepdims in ((None, False), (None, True), (1, True), (0, False)):
            yield name, (cube,), {"axis": axis, "keepdims": keepdims}
    yield "argsort", (cube,), {"axis": 1, "descending": True, "stable": True}
    yield "take", (cube, np.array([[0, -1], [2, 1]])), {"axis": 1}
    yield "take", (cube, np.array([[0, -1, 11]])), {"axis": None}
    yield "take", (cube, np.array(1)), {"axis": 2}
    yield "take_places", (cube, np.array([4, 0, 2])), {"axes": 2}
    yield "put_places", (cube, real(3, 2), np.array([4, 0, 2])), {"axes": 2}
    yield "put_places", (cube, real(1, 2), np.array([4, 0, 2])), {"axes": 2}
    yield "repeat", (x,), {"count": 2, "axis": None}
    yield "isin", (INTEGERS, np.array([5, 1])), {"invert": False}
    yield "searchsorted", (np.sort(real(5)), x), {"side": "left"}
    yield "bincount", (np.array([1, 0, 3, 1]),), {"length": 5}
    yield "count_between", (real(7), np.linspace(-3.0, 3, 5)), {"uniform": False}
    yield "convolve", (real(4), real(3)), {"start": 1, "length": 4}
    yield "interp", (x, np.sort(real(4)), real(4)), {"left": None, "right": None}
    yield "diff", (cube,), {"axis": 1}
    for name in ("cholesky", "eigh", "eigvalsh", "eig", "matrix_rank", "svd"):
        static = {"cholesky": {"upper": False}, "matrix_rank": {"rtol": None}, "svd": {"full_matrices": False}}
        yield name, (symmetric,), static.get(name, {})
        yield name, (np.stack([symmetric, 2 * symmetric]),), static.get(name, {})
    yield "lu_permutation", (np.array([1, 1, 2]),), {}
    yield "vecdot", (cplx(2, 3), cplx(4, 2, 3)), {"axis": 2}


def _elementwise(name: str, ufunc: np.ufunc) -> Iterator[Case]:
    for values in (real(2, 3, low=0.1, high=0.9), INTEGERS, BOOLS):
        operands = (values, values[0], values[:, :1])[: ufunc.nin]
        try:
            with np.errstate(all="ignore"):
                ufunc(*operands)
        except TypeError:
            continue
        if name not in ("bitwise_left_shift", "bitwise_right_shift") or values.dtype.kind == "i":
            yield name, operands, {}
            return


_CASES = [*CASES, *_more()]
BY_NAME = {name: list(cases) for name, cases in groupby(sorted(_CASES, key=lambda case: case[0]), lambda case: case[0])}


def _varied(name: str, x: np.ndarray, row: int) -> np.ndarray:
    """Return other values that the kernel takes."""
    if name in _SCALED and x.dtype.kind in "fc":
        return np.asarray(x * (1 + row / 4))
    return x if name == "lu_permutation" else np.roll(x, row)


def _called(handle: Handle, name: str, natives: Sequence[Any], static: dict[str, Any]) -> Any:
    kernel = handle.kernel(name)
    found = kernel(handle.copy(natives[0]), *natives[1:], **static)
    if found is NotImplemented:
        pytest.skip(f"the kernel of {name} declines, and the body serves")
    return found if type(found) is tuple else (found,)


def _chosen(count: int) -> Iterator[tuple[bool, ...]]:
    """Yield which operands are batches: each alone, and all."""
    yield (True,) * count
    if count > 1:
        for place in range(count):
            yield tuple(each == place for each in range(count))


def test_kernels_have_the_rules_that_their_records_say() -> None:
    assert {name for name, record in KERNELS.items() if record.batch is Batch.OWN} - METHODS == {*OWN}
    assert {record.kind.name for record in KERNELS.values() if record.batch is Batch.KIND} == {*OF_KINDS}
    assert all(KERNELS[name].instead for name in REFUSED)


def test_there_is_a_case_of_each_rule() -> None:
    # A draw depends on the engine's state only.
    assert {name for name in RULED if not name.startswith("draw_")} <= BY_NAME.keys()


@pytest.mark.parametrize("name", sorted(set(BY_NAME) & RULED))
def test_a_rule_gives_what_the_kernel_gives_for_each_element(backend: str, name: str) -> None:
    skip_unless(backend, "numpy", "torch", why="the engine batches functions itself")
    handle = load(backend)
    if name not in handle.kernels:
        pytest.skip(f"{backend} has no kernel for {name}")
    batch = batch_of(handle)
    for _, values, static in BY_NAME[name]:
        rows = [[_varied(name, x, row) for x in values] for row in range(SIZE)]
        for mapped in _chosen(len(values)):
            if name == "repeat" and mapped[1:2] == (True,):
                # The lengths would differ.
                continue
            operands = [
                Batched(handle.from_numpy(np.stack([row[place] for row in rows])))
                if is_mapped
                else Batched(handle.from_numpy(x), True)
                for place, (x, is_mapped) in enumerate(zip(values, mapped, strict=True))
            ]
            before = [np.array(handle.to_numpy(x.value)) for x in operands]
            found = _called(batch, name, operands, static)
            each = []
            for row in rows:
                given = [x if is_mapped else y for x, y, is_mapped in zip(row, values, mapped, strict=True)]
                each.append(_called(handle, name, [handle.from_numpy(x) for x in given], static))
            for native, column in zip(found, zip(*each, strict=True), strict=True):
                assert not native.is_constant
                expected = np.stack([np.asarray(handle.to_numpy(handle.as_native(x))) for x in column])
                assert handle.dtype(native.value) == expected.dtype
                message = f"{[x.shape for x in values]} {static} {mapped}"
                np.testing.assert_allclose(
                    handle.to_numpy(native.value), expected, rtol=1e-10, atol=1e-12, err_msg=message
                )
            for x, was in zip(operands, before, strict=True):
                np.testing.assert_array_equal(handle.to_numpy(x.value), was, "a rule wrote into an operand")


@pytest.mark.parametrize("name", sorted(set(BY_NAME) & RULED))
def test_a_rule_makes_nodes(name: str) -> None:
    handle = load("numpy")
    if name not in handle.kernels:
        pytest.skip("NumPy has no kernel for it")
    _, values, static = BY_NAME[name][0]
    stacked = [np.stack([_varied(name, x, row) for row in range(SIZE)]) for x in values]
    if name == "repeat":
        static = {"count": 2, "axis": 1}
    expected = [
        x.value for x in _called(batch_of(handle), name, [Batched(handle.from_numpy(x)) for x in stacked], static)
    ]

    def function(*arrays: ua.Array) -> Any:
        inside = arrays[0]._backend
        found = _called(batch_of(inside), name, [Batched(read(x)) for x in arrays], static)
        return tuple(wrap(x.value, inside) for x in found)

    with ua.use_backend("numpy"):
        found = ua.compile(function)(*map(ua.asarray, stacked))
    for mine, wanted in zip(found, expected, strict=True):
        assert mine.dtype.dtype == wanted.dtype
        np.testing.assert_allclose(mine.to_numpy(), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_has_no_batch_says_what_to_do(name: str) -> None:
    handle = load("numpy")
    if name not in handle.kernels:
        pytest.skip("NumPy has no kernel for it")
    with pytest.raises(TraceError, match=f"{name}.*vmap|{name}.*where"):
        batch_of(handle).kernel(name)(Batched(handle.from_numpy(INTEGERS)))
