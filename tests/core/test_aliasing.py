"""Memory shared between the results and the inputs of every function: exactly what its declaration says.

Told by writing: into an input, and whether a result changes; into a result, and whether an input changes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.declare import DECLARATIONS, Declaration

from ..functions.calls import Draws
from ..oracle import as_numpy, words


class Case(NamedTuple):
    """A call of a function on arrays, and whether this very call copies where the declaration allows views."""

    call: Callable[..., Any]
    arrays: tuple[np.ndarray, ...]
    copies: bool = False


Function = Callable[..., Any]
# None for functions that take no array.
Cases = list[Callable[[Function], Case]] | None

LINE = np.array([3.0, 1.0, 4.0, 1.5])
GRID = np.array([[3.0, 1.0, 4.0], [1.5, 9.0, 2.0]])
ROW = np.array([[3.0, 1.0, 4.0]])
WHOLE = np.array([[3, 1, 4], [1, 5, 9]])
TRUTH = np.array([[True, False, True], [False, False, True]])
COMPLEX = np.array([[1 + 2j, 3 - 1j], [2j, 4]])
SQUARE = np.array([[4.0, 1.0], [1.0, 3.0]])
IDENTITY = np.eye(2)
INDEX = np.array([1, 0])


def plain(*arrays: np.ndarray, copies: bool = False, **keywords: Any) -> Callable[[Function], Case]:
    return lambda function: Case(lambda *given, **more: function(*given, **keywords, **more), arrays, copies)


def copying(*arrays: np.ndarray, **keywords: Any) -> Callable[[Function], Case]:
    """Make a case in which a function that returns views has to copy."""
    return plain(*arrays, copies=True, **keywords)


def with_values(array: np.ndarray, *values: Any, copies: bool = False, **keywords: Any) -> Callable[[Function], Case]:
    """Make a case whose other arguments by position aren't arrays."""
    return lambda function: Case(lambda x, **more: function(x, *values, **keywords, **more), (array,), copies)


def listed(*arrays: np.ndarray, **keywords: Any) -> Callable[[Function], Case]:
    """Make a case of a function that takes a sequence of arrays."""
    return lambda function: Case(lambda *given, **more: function(given, **keywords, **more), arrays)


def of_view(view: Callable[[Any], Any], array: np.ndarray, *values: Any) -> Callable[[Function], Case]:
    """Make a case of a view that can't be viewed in the way wanted."""
    return lambda function: Case(lambda x, **more: function(view(x), *values, **more), (array,), copies=True)


def alike(*names: str, cases: Cases) -> dict[str, Cases]:
    """Give several functions the same cases."""
    return dict.fromkeys(names, cases)


# What tempts an engine to hand back its input: an axis of length one, nothing to do, a dtype that is there already.
_EACH_AXIS = [
    plain(GRID),
    plain(GRID, axis=0),
    plain(ROW, axis=0),
    plain(ROW, axis=0, keepdims=True),
    plain(GRID, axis=()),
]
_TOTALS = [*_EACH_AXIS, plain(WHOLE, axis=()), plain(WHOLE, axis=(), dtype="int64"), plain(COMPLEX, axis=())]
_EXTREMUM = [*_EACH_AXIS, plain(WHOLE, axis=()), plain(np.array(3.0)), plain(np.array([2]), axis=0)]
_CUMULATIVE = [
    plain(LINE),
    plain(GRID, axis=0),
    plain(ROW, axis=0),
    plain(WHOLE[:1], axis=0),
    plain(LINE, include_initial=True),
]
_PLACES = [
    plain(GRID),
    plain(WHOLE, axis=1),
    plain(np.array([0]), axis=0),
    plain(np.array([[0]]), axis=0, keepdims=True),
]
_FOURIER = [plain(GRID), plain(COMPLEX), plain(ROW.T), plain(COMPLEX[:, :1])]
_REAL_FOURIER = [plain(GRID), plain(ROW.T)]

CASES: dict[str, Cases] = {
    # creation
    **alike("arange", "empty", "eye", "full", "linspace", "ones", "zeros", "fft.fftfreq", "fft.rfftfreq", cases=None),
    "asarray": [
        plain(GRID),
        plain(GRID, dtype="float64"),
        plain(GRID, copy=False),
        copying(GRID, copy=True),
        copying(GRID, dtype="float32"),
        copying(GRID, dtype="float64", copy=True),
    ],
    "from_dlpack": [plain(GRID), copying(GRID, copy=True)],
    **alike("empty_like", "ones_like", "stop_gradient", "zeros_like", cases=[plain(GRID)]),
    "full_like": [with_values(GRID, 2.0)],
    "meshgrid": [
        copying(LINE, ROW[0]),
        copying(LINE),
        copying(LINE[:1], LINE[1:2]),
        copying(LINE, ROW[0], indexing="ij"),
    ],
    **alike("tril", "triu", cases=[plain(GRID), plain(GRID, k=5), plain(GRID, k=-5), plain(SQUARE[:1, :1])]),
    # data type
    "astype": [
        with_values(GRID, "float64", copy=False),
        with_values(GRID, "float32", copy=False, copies=True),
        with_values(GRID, "float32", copies=True),
        with_values(GRID, "float64", copies=True),
        with_values(WHOLE, "int64", copies=True),
        with_values(TRUTH, "bool", copies=True),
        with_values(WHOLE, "uint64", copies=True),
        with_values(COMPLEX, "float64", copies=True),
    ],
    # elementwise, beside those whose cases are made below
    "remainder": [
        plain(WHOLE, WHOLE + 20),
        plain(GRID, GRID + 20),
        plain(GRID, GRID + 20, modulus=False),
        with_values(WHOLE, 100),
    ],
    "round": [plain(GRID), plain(WHOLE), plain(TRUTH), plain(COMPLEX), plain(WHOLE.astype("uint8"))],
    "clip": [
        plain(GRID),
        with_values(GRID, -100.0, 100.0),
        with_values(GRID, 2.0),
        with_values(WHOLE, None, 100),
        plain(GRID, GRID),
        plain(GRID, GRID - 1, GRID + 1),
    ],
    "real": [plain(COMPLEX), plain(GRID), plain(WHOLE)],
    "imag": [plain(COMPLEX), copying(GRID), copying(WHOLE)],
    # manipulation
    "broadcast_arrays": [plain(ROW, GRID), plain(GRID, WHOLE), plain(ROW, GRID, WHOLE)],
    "broadcast_to": [with_values(ROW, (2, 3)), with_values(GRID, (2, 3)), with_values(GRID, (4, 2, 3))],
    "concat": [listed(GRID), listed(GRID, ROW), listed(LINE, LINE), listed(GRID, axis=None), listed(GRID, ROW[:0])],
    "expand_dims": [plain(GRID, axis=0), plain(GRID, axis=(0, -1)), plain(GRID, axis=())],
    "flip": [plain(GRID), plain(GRID, axis=1), plain(ROW, axis=0), plain(GRID, axis=())],
    "moveaxis": [with_values(GRID, 0, 1), with_values(GRID, 0, 0)],
    "permute_dims": [with_values(GRID, (1, 0)), with_values(GRID, (0, 1))],
    "repeat": [
        with_values(GRID, 2),
        with_values(LINE, 1),
        with_values(GRID, 1, axis=0),
        plain(LINE, np.array([1, 1, 1, 1])),
    ],
    "reshape": [
        with_values(GRID, (3, 2)),
        with_values(GRID, (2, 3)),
        with_values(GRID, (-1,)),
        with_values(GRID, (6,), copy=False),
        with_values(GRID, (6,), copy=True, copies=True),
        with_values(GRID, (2, 3), copy=True, copies=True),
        of_view(lambda x: x.T, GRID, (6,)),
        of_view(lambda x: x[::-1], GRID, (6,)),
    ],
    "roll": [with_values(GRID, 1), with_values(GRID, 0), with_values(GRID, 3, axis=1), with_values(ROW, 1, axis=0)],
    "rot90": [plain(GRID), with_values(GRID, 0), with_values(GRID, 2), with_values(GRID, 3, axes=(1, 0))],
    "split": [with_values(GRID, 1), with_values(GRID, 2), with_values(GRID, [1], axis=1)],
    "swapaxes": [with_values(GRID, 0, 1), with_values(GRID, 0, 0)],
    "squeeze": [plain(ROW), plain(ROW, axis=0), plain(GRID), plain(GRID, axis=())],
    "stack": [listed(GRID), listed(GRID, GRID), listed(LINE, axis=1)],
    "tile": [
        with_values(GRID, (2, 1)),
        with_values(GRID, (1,)),
        with_values(GRID, (1, 1)),
        with_values(GRID, ()),
        with_values(LINE, (1, 1)),
    ],
    "unstack": [plain(GRID), plain(GRID, axis=1), plain(ROW)],
    "matrix_transpose": [plain(GRID), plain(SQUARE[:1, :1])],
    # indexing, searching, sets, sorting
    "take": [
        plain(GRID, INDEX, axis=0),
        plain(LINE, np.arange(4)),
        plain(GRID, np.array(0), axis=0),
        plain(ROW, np.array([0]), axis=0),
    ],
    "take_along_axis": [plain(GRID, WHOLE % 3), plain(ROW, np.zeros((1, 3), int), axis=0)],
    **alike("argmax", "argmin", cases=_PLACES),
    "count_nonzero": [plain(GRID), plain(WHOLE, axis=()), plain(TRUTH, axis=())],
    "nonzero": [plain(GRID), plain(np.array([1]))],
    "searchsorted": [plain(LINE, GRID), plain(LINE, GRID, sorter=None)],
    "where": [
        plain(TRUTH, GRID, GRID + 1),
        plain(np.ones((2, 3), bool), GRID, GRID + 1),
        plain(np.zeros((2, 3), bool), GRID, GRID + 1),
        plain(np.array(True), GRID, GRID + 1),
        plain(TRUTH, TRUTH, TRUTH),
    ],
    "isin": [plain(WHOLE, INDEX), plain(TRUTH, np.array([True]))],
    "unique_all": [plain(LINE), plain(np.array([1, 2, 3])), plain(np.array([0]))],
    "unique_counts": [plain(LINE), plain(np.array([1, 2, 3])), plain(np.array([1]))],
    "unique_inverse": [plain(LINE), plain(np.array([0, 1, 2]))],
    "unique_values": [plain(LINE), plain(np.array([1, 2, 3])), plain(np.array([1]))],
    **alike(
        "sort",
        "argsort",
        cases=[
            plain(GRID),
            plain(np.array([0, 1, 2])),
            plain(ROW, axis=0),
            plain(WHOLE, descending=True),
            plain(WHOLE[:1] * 0, axis=0),
        ],
    ),
    # statistical and utility
    **alike("cumulative_prod", "cumulative_sum", cases=_CUMULATIVE),
    **alike("sum", "prod", cases=_TOTALS),
    **alike("max", "min", cases=_EXTREMUM),
    **alike("mean", cases=[*_EACH_AXIS, plain(COMPLEX, axis=())]),
    **alike("std", "var", cases=_EACH_AXIS),
    **alike("all", "any", cases=[*_EACH_AXIS, plain(TRUTH, axis=()), plain(TRUTH[:1], axis=0)]),
    "diff": [plain(GRID), plain(GRID, n=0), plain(TRUTH, axis=0), plain(LINE, n=2)],
    # linear algebra
    "matmul": [plain(GRID, GRID.T), plain(SQUARE, IDENTITY), plain(LINE[:2], IDENTITY), plain(WHOLE, WHOLE.T)],
    "tensordot": [plain(SQUARE, IDENTITY, axes=1), plain(GRID, GRID), plain(LINE, np.array(1.0), axes=0)],
    "vecdot": [plain(GRID, GRID), plain(ROW.T, np.ones((3, 1))), plain(COMPLEX, COMPLEX)],
    "linalg.cholesky": [plain(SQUARE), plain(IDENTITY), plain(IDENTITY, upper=True)],
    "linalg.cross": [plain(GRID, GRID[::-1])],
    "linalg.det": [plain(SQUARE), plain(np.array([[2.0]]))],
    "linalg.diagonal": [plain(GRID), plain(SQUARE, offset=1), plain(ROW)],
    **alike("linalg.eig", "linalg.eigvals", cases=[plain(SQUARE), plain(COMPLEX)]),
    **alike("linalg.eigh", "linalg.eigvalsh", cases=[plain(SQUARE), plain(IDENTITY)]),
    "linalg.inv": [plain(SQUARE), plain(IDENTITY)],
    "linalg.matrix_norm": [plain(SQUARE), plain(np.array([[2.0]]), keepdims=True)],
    "linalg.matrix_power": [
        with_values(SQUARE, 1),
        with_values(SQUARE, 2),
        with_values(SQUARE, 0),
        with_values(SQUARE, -1),
    ],
    "linalg.matrix_rank": [plain(SQUARE)],
    "linalg.outer": [plain(LINE, LINE), plain(LINE, np.array([1.0]))],
    "linalg.pinv": [plain(GRID), plain(IDENTITY)],
    "linalg.qr": [plain(GRID), plain(IDENTITY)],
    "linalg.slogdet": [plain(SQUARE)],
    "linalg.solve": [plain(SQUARE, IDENTITY), plain(IDENTITY, SQUARE)],
    **alike("linalg.svd", "linalg.svdvals", cases=[plain(GRID), plain(IDENTITY)]),
    "linalg.trace": [plain(SQUARE), plain(np.array([[2.0]])), plain(np.ones((3, 1, 1)))],
    "linalg.vector_norm": [plain(GRID), plain(ROW, axis=0), plain(GRID, axis=())],
    # numerical functions and statistics
    "bincount": [plain(INDEX), plain(INDEX, weights=LINE[:2])],
    "convolve": [plain(LINE, LINE[:1]), plain(LINE, np.ones(1)), plain(LINE, np.ones(1), mode="same")],
    "corrcoef": [plain(GRID), plain(GRID, GRID)],
    "cov": [plain(GRID), plain(GRID[:1]), plain(GRID, GRID)],
    "einsum": [
        lambda function: Case(lambda x, **more: function("ij->ij", x, **more), (GRID,)),
        lambda function: Case(lambda x, **more: function("ij->ji", x, **more), (GRID,)),
        lambda function: Case(lambda x, **more: function("ii->i", x, **more), (SQUARE,)),
        lambda function: Case(lambda x, y, **more: function("ij,jk", x, y, **more), (GRID, GRID.T.copy())),
        lambda function: Case(lambda x, y, **more: function("i,->i", x, y, **more), (LINE, np.array(1.0))),
    ],
    "gather": [plain(GRID, np.array([[0, 1], [1, 2]])), plain(GRID, np.array([[0], [1]])), plain(LINE, INDEX[:, None])],
    "gradient": [plain(LINE), plain(GRID, axis=0), plain(LINE, LINE.cumsum())],
    "histogram": [with_values(LINE, 3), plain(LINE, np.array([0.0, 2.0, 5.0]))],
    "interp": [plain(LINE, np.arange(4.0), LINE), plain(np.arange(4.0), np.arange(4.0), LINE)],
    "kron": [plain(GRID, np.ones((1, 1))), plain(np.array(1.0), GRID), plain(IDENTITY, SQUARE)],
    **alike("median", "nanmedian", "nanmax", "nanmin", "nanmean", "nanstd", "nanvar", cases=_EACH_AXIS),
    **alike("nanprod", "nansum", cases=_TOTALS),
    **alike("nanargmax", "nanargmin", cases=_PLACES),
    "pad": [
        with_values(GRID, 0),
        with_values(GRID, ((0, 0), (1, 0))),
        with_values(GRID, 0, "edge"),
        with_values(LINE, 2, "wrap"),
    ],
    **alike(
        *("nanquantile", "quantile"),
        cases=[with_values(LINE, 0.5), with_values(ROW, 0.5, axis=0), plain(LINE, np.array([0.0, 1.0]))],
    ),
    "scatter": [
        plain(GRID, np.array([[0]]), LINE[:3]),
        plain(LINE, INDEX[:0, None], LINE[:0]),
        plain(LINE, INDEX[:, None], LINE[:2], mode="add"),
    ],
    **alike(
        *(f"segment_{kind}" for kind in ("max", "mean", "min", "prod", "sum")),
        cases=[plain(GRID, INDEX), plain(GRID, np.array([0, 1])), plain(LINE[:1], INDEX[1:])],
    ),
    "trapezoid": [plain(LINE), plain(GRID, axis=0), plain(GRID, LINE[:3])],
    **alike("erf", "erfc", cases=[plain(GRID)]),
    "linalg.expm": [plain(SQUARE), plain(np.zeros((2, 2)))],
    "linalg.lstsq": [plain(GRID.T.copy(), LINE[:3]), plain(np.eye(3)[:, :2].copy(), np.eye(3))],
    # neural networks
    **alike(
        *(
            f"nn.{name}"
            for name in words("elu gelu hardswish leaky_relu mish relu selu sigmoid silu softplus softsign")
        ),
        cases=[plain(GRID), plain(WHOLE), plain(-GRID)],
    ),
    **alike("nn.log_softmax", "nn.softmax", "nn.l2_normalize", "nn.rms_norm", cases=[plain(GRID), plain(ROW, axis=0)]),
    "nn.logsumexp": [plain(GRID), plain(ROW, axis=0), plain(GRID, axis=())],
    "nn.layer_norm": [plain(GRID), plain(ROW, axis=0), plain(GRID, np.ones(3), np.zeros(3))],
    "nn.group_norm": [plain(GRID, groups=3), plain(GRID, np.ones(3), np.zeros(3), groups=1)],
    "nn.batch_norm": [
        plain(GRID, np.zeros(3), np.ones(3)),
        plain(GRID, np.zeros(3), np.ones(3), np.ones(3), np.zeros(3)),
    ],
    **alike(
        *("nn.huber_loss", "nn.mae_loss", "nn.mse_loss", "nn.kl_divergence"),
        cases=[plain(GRID, np.ones((2, 3)), reduction="none"), plain(np.array(2.0), np.array(1.0))],
    ),
    **alike(
        *("nn.binary_cross_entropy", "nn.binary_cross_entropy_with_logits"),
        cases=[plain(np.eye(2) / 2, np.eye(2), reduction="none"), plain(np.array(0.5), np.array(1.0))],
    ),
    "nn.cross_entropy": [plain(GRID, INDEX), plain(GRID, INDEX, np.ones(3), reduction="none")],
    **alike(*(f"nn.{kind}_pool1d" for kind in ("avg", "max")), cases=[with_values(GRID, 1), with_values(GRID, 3)]),
    **alike(*(f"nn.{kind}_pool2d" for kind in ("avg", "max")), cases=[with_values(GRID, 1), with_values(GRID, 2)]),
    **alike(*(f"nn.{kind}_pool3d" for kind in ("avg", "max")), cases=[with_values(GRID[None], 1)]),
    "nn.conv1d": [plain(GRID, np.eye(2)[:, :, None]), plain(ROW, np.ones((1, 1, 2)), LINE[:1])],
    "nn.conv2d": [plain(GRID[None], np.ones((1, 1, 1, 1))), plain(GRID[None], SQUARE[None, None])],
    "nn.conv3d": [plain(GRID[None, None], np.ones((1, 1, 1, 1, 1)))],
    "nn.dropout": [
        with_values(GRID, 0.0, generator=Draws()),
        with_values(GRID, 0.5, generator=Draws()),
        with_values(GRID, 0.5, training=False),
    ],
    "nn.embedding": [plain(INDEX, GRID), plain(np.array([0, 1]), GRID)],
    "nn.linear": [plain(GRID, np.eye(3)), plain(GRID, np.eye(3), np.zeros(3)), plain(LINE[:1], np.ones((1, 1)))],
    "nn.multi_head_attention": [plain(GRID, num_heads=1), plain(GRID[:1], GRID, GRID, TRUTH[:1, :2], num_heads=3)],
    "nn.one_hot": [with_values(INDEX, 2), with_values(np.array([0, 1]), 2, dtype="bool")],
    "nn.scaled_dot_product_attention": [
        plain(GRID, GRID, GRID),
        plain(ROW, ROW, ROW, scale=0.0),
        plain(SQUARE, SQUARE, SQUARE, IDENTITY),
        plain(GRID, GRID, LINE[:2, None], IDENTITY > 0),
    ],
    # Fourier transforms
    **alike("fft.fft", "fft.ifft", "fft.fftn", "fft.ifftn", cases=_FOURIER),
    **alike("fft.rfft", "fft.rfftn", "fft.ihfft", cases=_REAL_FOURIER),
    **alike("fft.irfft", "fft.irfftn", "fft.hfft", cases=[plain(COMPLEX)]),
    **alike(
        "fft.fftshift", "fft.ifftshift", cases=[plain(GRID), plain(LINE[:1]), plain(ROW, axes=0), plain(GRID, axes=())]
    ),
}

# Operands of an elementwise function, one of each kind, and the scalars that change nothing.
_OPERANDS = (TRUTH, WHOLE, WHOLE.astype("uint8"), GRID, COMPLEX)
_NEUTRAL = (0, 1, 0.0, 1.0, True, False)


def elementwise_cases(declaration: Declaration) -> Iterator[Case]:
    ufunc = declaration.ufunc
    assert ufunc is not None
    for operand in _OPERANDS:
        if not _has_loop(ufunc, *[operand] * ufunc.nin):
            continue
        yield Case(_function(declaration), (operand,) * ufunc.nin)
        if ufunc.nin == 1:
            continue
        for scalar in _NEUTRAL:
            if _has_loop(ufunc, operand, scalar):
                yield with_values(operand, scalar)(_function(declaration))


def _has_loop(ufunc: np.ufunc, *operands: object) -> bool:
    try:
        with np.errstate(all="ignore"):
            ufunc(*operands)
    except TypeError:
        return False
    return True


def _function(declaration: Declaration) -> Function:
    found: Any = ua
    for name in declaration.qualified_name.split("."):
        found = getattr(found, name)
    return found  # type: ignore[no-any-return]


def cases_of(declaration: Declaration) -> Iterator[Case]:
    if declaration.ufunc is not None and declaration.qualified_name not in CASES:
        yield from elementwise_cases(declaration)
        return
    for make in CASES.get(declaration.qualified_name) or ():
        yield make(_function(declaration))


def may_share(declaration: Declaration, output: int, number: int) -> bool:
    """Say whether a declaration lets an output share memory with an input."""
    return number in declaration.viewed_by(output)


def write_something_else(x: ua.Array) -> None:
    if x.dtype == "bool":
        x[...] = ua.logical_not(x)
    else:
        # Both parts, where there are two.
        x[...] = x + (1 + 1j if x.dtype.kind == "c" else 1)


def seen_from(written: ua.Array, other: ua.Array) -> bool:
    """Write to an array and say whether another one changes."""
    before = as_numpy(other)
    write_something_else(written)
    return not np.array_equal(as_numpy(other), before, equal_nan=before.dtype.kind in "fc")


def is_read_only(x: ua.Array) -> bool:
    try:
        x[...] = x
    except ua.errors.ReadOnlyError:
        return True
    return False


def outputs_of(result: Any) -> tuple[ua.Array, ...]:
    return tuple(result) if isinstance(result, tuple) else (result,)


TESTED = [
    name
    for name, each in DECLARATIONS.items()
    if (each.ufunc is not None or CASES.get(name, []) is not None) and hasattr(ua, each.namespace or name)
]


def test_every_function_of_arrays_has_cases() -> None:
    unknown = {name for name, each in DECLARATIONS.items() if each.ufunc is None and name not in CASES}
    assert not unknown
    assert CASES.keys() <= DECLARATIONS.keys()
    for name, each in DECLARATIONS.items():
        if each.ufunc is not None:
            assert list(cases_of(each)), name


@pytest.mark.parametrize("name", [name for name, each in DECLARATIONS.items() if each.view_map])
def test_a_declared_view_is_one_in_some_case(name: str) -> None:
    assert not all(case.copies for case in cases_of(DECLARATIONS[name]))


@pytest.mark.parametrize("name", TESTED)
def test_results_share_exactly_the_memory_that_is_declared(backend: str, name: str) -> None:
    declaration = DECLARATIONS[name]
    for case in cases_of(declaration):
        given = ", ".join(f"{each.dtype}{each.shape}" for each in case.arrays)
        for number in range(len(case.arrays)):
            arrays = [ua.asarray(each, copy=True) for each in case.arrays]
            try:
                count = len(outputs_of(case.call(*arrays)))
            except ua.errors.BackendFeatureError:
                # A gap, which the completeness test counts.
                return
            for output in range(count):
                expected = may_share(declaration, output, number) and not case.copies
                what = f"output {output} and input {number} of {name}({given})"
                arrays = [ua.asarray(each, copy=True) for each in case.arrays]
                result = outputs_of(case.call(*arrays))[output]
                assert result.size, f"{what}: a result without elements tells nothing"
                assert seen_from(arrays[number], result) is expected, f"{what}, by writing to the input"
                if not is_read_only(result):
                    arrays = [ua.asarray(each, copy=True) for each in case.arrays]
                    result = outputs_of(case.call(*arrays))[output]
                    assert seen_from(result, arrays[number]) is expected, f"{what}, by writing to the result"
                if expected and result is not arrays[number]:
                    assert result.base is not None, f"{what}: a view without a base"


@pytest.mark.parametrize("name", TESTED)
def test_functions_dont_change_their_inputs(backend: str, name: str) -> None:
    for case in cases_of(DECLARATIONS[name]):
        arrays = [ua.asarray(each, copy=True) for each in case.arrays]
        try:
            case.call(*arrays)
        except ua.errors.BackendFeatureError:
            return
        for array, before in zip(arrays, case.arrays, strict=True):
            np.testing.assert_array_equal(as_numpy(array), before, err_msg=name)


@pytest.mark.parametrize("name", ["unique_all", "unique_counts", "unique_inverse", "nonzero", "meshgrid"])
def test_several_results_are_independent_of_each_other(backend: str, name: str) -> None:
    declaration = DECLARATIONS[name]
    for case in cases_of(declaration):
        count = len(outputs_of(case.call(*[ua.asarray(each, copy=True) for each in case.arrays])))
        for first in range(count):
            for second in range(count):
                if first != second:
                    results = outputs_of(case.call(*[ua.asarray(each, copy=True) for each in case.arrays]))
                    assert not seen_from(results[first], results[second]), f"{name}: {first} and {second}"


@pytest.mark.parametrize("name", TESTED)
def test_out_never_shares_memory_with_an_input(backend: str, name: str) -> None:
    declaration = DECLARATIONS[name]
    assert "out" in inspect.signature(declaration.body).parameters
    for case in cases_of(declaration):
        arrays = [ua.asarray(each, copy=True) for each in case.arrays]
        try:
            like = case.call(*arrays)
        except ua.errors.BackendFeatureError:
            return
        targets = tuple(ua.zeros(each.shape, dtype=each.dtype) for each in outputs_of(like))
        out = targets if isinstance(like, tuple) else targets[0]
        assert case.call(*arrays, out=out) is out
        # What isn't set may hold anything, each time.
        for target, each in zip(targets, () if name.startswith("empty") else outputs_of(like), strict=False):
            np.testing.assert_array_equal(as_numpy(target), as_numpy(each))
        for array in arrays:
            for target in targets:
                assert not seen_from(array, target), name
