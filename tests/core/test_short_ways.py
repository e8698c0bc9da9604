"""Calls that take a shortcut when they are repeated: all but those that are listed here, with a reason for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr.testing.cases import CASES, Case

from ..oracle import as_numpy, assert_values

VALUES = "what it does follows from values, which are looked at"
WRITES = "the body writes into an array of its own, part by part"
# The body, or the whole general path, runs at every call of these.
LONG = {
    "array": "makes a copy of anything, which is looked at",
    "asarray": "takes anything; its short way is for NumPy's arrays and lists of numbers",
    "from_dlpack": "takes objects of other libraries",
    **dict.fromkeys(
        ("nanargmax", "nanargmin", "nanquantile", "percentile", "quantile", "unravel_index", "ravel_multi_index"),
        VALUES,
    ),
    **dict.fromkeys(("trim_zeros", "bincount", "histogram", "digitize", "linalg.lstsq"), VALUES),
    **dict.fromkeys((f"segment_{name}" for name in ("max", "mean", "min", "prod", "sum")), VALUES),
    **dict.fromkeys(("intersect1d", "setdiff1d", "setxor1d"), "the length of the result follows from values"),
    **dict.fromkeys(("nn.max_pool1d", "nn.avg_pool1d", "nn.fold", "nn.unfold", "signal.istft"), WRITES),
    **dict.fromkeys(("nn.scaled_dot_product_attention", "nn.multi_head_attention"), WRITES),
    "signal.lfilter": "a part of the body is a compiled function",
    **dict.fromkeys(("nn.lstm", "nn.gru"), "the body is a loop over steps"),
    "nn.batch_norm": "may update its parameters",
    "nn.dropout": "draws numbers",
    "median": "a Python number becomes an array on the way",
    "geomspace": "a Python number becomes an array on the way",
    "special.factorial": "looks its values up in a table",
    "gradient": "takes numbers or arrays for its distances",
    "linalg.lu_solve": "takes a tuple of arrays",
    "linalg.block_diag": WRITES,
}
# With ``out``, it runs at every call of these.
WITH_OUT = {
    "nonzero": "the lengths of the results follow from values",
    **dict.fromkeys(("tril_indices", "triu_indices", "diag_indices"), "several targets say where the results go"),
}


def is_short(name: str, case: Case, arrays: list[Any], **more: Any) -> bool:
    """Return whether a call reaches neither the body of a function nor the general path."""
    function: Any = DECLARATIONS[name].public
    dispatcher, reached = function.dispatcher, []

    def watched(way: Any) -> Any:
        def watching(*arguments: Any, **options: Any) -> Any:
            reached.append(way)
            return way(*arguments, **options)

        return watching

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dispatcher, "_general", watched(dispatcher._general))
        case.call(function, arrays, **more)
    return not reached


def targets(result: Any) -> Any:
    """Return arrays that fit the results of a call."""
    several = isinstance(result, tuple)
    return tuple(map(ua.empty_like, result)) if several else ua.empty_like(result)


@pytest.mark.parametrize("name", [name for name in CASES if name in DECLARATIONS])
def test_a_repeated_call_takes_a_short_way(name: str) -> None:
    case, function = CASES[name][0], DECLARATIONS[name].public
    with ua.use_backend("numpy"), np.errstate(all="ignore"):
        arrays = [ua.asarray(x, copy=True) for x in case.arrays]
        # Where strides are found to matter, the calls before are forgotten.
        for _ in range(5):
            result = case.call(function, arrays)
        assert is_short(name, case, arrays) is (name not in LONG)
        if "out" not in DECLARATIONS[name].signature.parameters or name == "nn.dropout":
            return
        out = targets(result)
        for _ in range(3):
            case.call(function, arrays, out=out)
        assert is_short(name, case, arrays, out=out) is (name not in {**LONG, **WITH_OUT})
        if name in ("empty", "empty_like"):
            return
        for one, wanted in zip(*[x if isinstance(x, tuple) else (x,) for x in (out, result)], strict=True):
            assert_values(as_numpy(one), as_numpy(wanted))


@pytest.mark.parametrize("name", ["sort", "matmul", "reshape", "linalg.eigh", "zeros_like", "clip", "unstack"])
def test_out_that_doesnt_fit_is_refused_again_and_again(backend: str, name: str) -> None:
    case, function = CASES[name][0], DECLARATIONS[name].public
    arrays = [ua.asarray(x, copy=True) for x in case.arrays]
    result = case.call(function, arrays)
    several = isinstance(result, tuple)
    results = result if several else (result,)

    def call(*out: Any) -> Any:
        return case.call(function, arrays, out=out if several else out[0])

    bad = {
        "shape": ua.zeros((*results[-1].shape, 2), dtype=results[-1].dtype),
        "dtype": ua.zeros(results[-1].shape, dtype=ua.bool),
        "read-only": ua.broadcast_to(ua.zeros((), dtype=results[-1].dtype), results[-1].shape),
    }
    for _ in range(3):
        fit = targets(result)
        call(*(fit if several else (fit,)))
    for wrong in bad.values():
        good = [ua.full(x.shape, 7, dtype=x.dtype) for x in results[:-1]]
        for _ in range(3):
            with pytest.raises((TypeError, ValueError)):
                call(*good, wrong)
        assert all(np.all(as_numpy(x) == 7) for x in good)
    # Another dtype needs a cast.
    wide = [ua.zeros(x.shape, dtype=ua.complex128) for x in results]
    for _ in range(3):
        call(*wide)
    for one, wanted in zip(wide, results, strict=True):
        assert_values(as_numpy(one), as_numpy(wanted).astype(complex))


def test_out_that_overlaps_an_operand(backend: str) -> None:
    for _ in range(4):
        x = ua.asarray([3.0, 1.0, 2.0, 0.0])
        assert ua.sort(x, out=x[::-1]).base is x
        np.testing.assert_array_equal(as_numpy(x), [3.0, 2.0, 1.0, 0.0])
        assert ua.flip(x, out=x) is x
        np.testing.assert_array_equal(as_numpy(x), [0.0, 1.0, 2.0, 3.0])
        ua.where(x > 1, x, -1.0, out=x)
        np.testing.assert_array_equal(as_numpy(x), [-1.0, -1.0, 2.0, 3.0])


def test_a_broadcast_view_follows_the_layout_of_its_operand() -> None:
    for values in (np.arange(3.0), np.arange(6.0)[::2], np.arange(3.0)[::-1], np.ones(3, ">f8").astype(float)):
        for read_only in (False, True):
            given = values.copy() if values.flags.c_contiguous else values
            given.flags.writeable = not read_only
            x = ua.asarray(given, backend="numpy")
            for _ in range(4):
                view = ua.broadcast_to(x, (2, 3))
                assert view.base is x
                assert not view.native.flags.writeable
                assert np.shares_memory(view.native, given)
                np.testing.assert_array_equal(view.native, np.broadcast_to(given, (2, 3)))
                assert view.native.strides == np.broadcast_to(given, (2, 3)).strides


def test_several_views_are_views_of_their_operand(backend: str) -> None:
    x = ua.asarray([[1.0, 2.0], [3.0, 4.0]])
    for round_ in range(4):
        for function in (ua.unstack, ua.split):
            first, second = function(x) if function is ua.unstack else function(x, 2)
            assert first.base is x
            assert second.base is x
            second[...] = float(round_)
            np.testing.assert_array_equal(as_numpy(x), [[1.0, 2.0], [round_, round_]])
