"""Dtypes that only store numbers, float8 and integers of less than a byte: kept, moved, converted, not computed in."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.engines import dtypes
from unifyarr._core.engines.registry import load
from unifyarr.errors import DtypeError, ShapeError

from ..oracle import as_numpy

STORED = sorted(dtypes.STORED)
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "low-precision.md"


def numpys(dtype: str) -> np.dtype[Any]:
    return np.dtype(getattr(ml_dtypes, dtype))


def skip_without(backend: str, dtype: str) -> None:
    if not load(backend).supports_dtype(numpys(dtype)):
        pytest.skip(f"{backend} has no {dtype}")


def assert_bits(x: ua.Array, expected: Any) -> None:
    """Compare dtype, shape and bits; all NaN are one."""
    given = as_numpy(x)
    assert given.dtype == expected.dtype
    assert given.shape == expected.shape
    mine, right = given.astype(np.float32), expected.astype(np.float32)
    assert np.array_equal(np.isnan(mine), np.isnan(right))
    there = ~np.isnan(right)
    assert np.array_equal(given.view(np.uint8)[there], expected.view(np.uint8)[there])


def values(dtype: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.array([[0, 1, 2, 3], [1.5, 0.3, 2.5, 1]], np.float32).astype(numpys(dtype))


@pytest.fixture(params=STORED)
def dtype(request: pytest.FixtureRequest, backend: str) -> str:
    skip_without(backend, request.param)
    return str(request.param)


def test_the_guide_says_which_engine_has_which(backend: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \|(.+)\|$", GUIDE.read_text(), re.M)
    assert [name for name, _ in rows] == list(dtypes.STORED)
    place = ["numpy", "torch", "jax", "tensorflow"]
    if backend not in place:
        pytest.skip("the table has the package's own backends")
    for name, cells in rows:
        assert (cells.split("|")[place.index(backend)].strip() == "yes") is load(backend).supports_dtype(numpys(name))


@pytest.mark.parametrize("wide", ["float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool"])
def test_numbers_are_rounded_alike(backend: str, dtype: str, wide: str) -> None:
    rng = np.random.default_rng(0)
    kind = numpys(wide) if wide == "bfloat16" else np.dtype(wide)
    if wide in ("float32", "float64", "float16", "bfloat16"):
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 448, 464, 464.5, 57344, 61440, 1e30, -3.5, 1e-30]
        # Integers have no infinities, and engines wrap numbers beyond int32 differently.
        special = special if "float" in dtype else [0.0, -0.0, 7.9, -8.5, 100.0]
        with np.errstate(all="ignore"):
            given = np.concatenate([special, rng.normal(size=300), 100 * rng.normal(size=300)]).astype(kind)
    else:
        given = rng.integers(0, 100, 300).astype(kind)
    through = np.float32 if "float" in dtype else np.int32
    with np.errstate(all="ignore"):
        expected = given.astype(through).astype(numpys(dtype))
    stored = ua.asarray(given).astype(dtype)  # type: ignore[arg-type]
    assert stored.dtype is dtypes.STORED[dtype]
    assert_bits(stored, expected)
    # Each number that is stored is one of float32.
    assert np.array_equal(as_numpy(stored.astype("float32")), expected.astype(np.float32), equal_nan=True)


def test_every_bit_pattern_is_kept(backend: str, dtype: str) -> None:
    bits = np.arange(256, dtype=np.uint8)
    whole = bits.view(numpys(dtype)) if "float" in dtype else bits.astype(numpys(dtype))
    x = ua.asarray(whole)
    assert_bits(x, whole)
    for other in (x.copy(), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x[...], ua.asarray(x.native)):
        assert other.dtype is x.dtype
        assert_bits(other, whole)


def test_arrays_are_made(backend: str, dtype: str) -> None:
    name: Any = dtype
    nought = np.zeros(3, np.float32).astype(numpys(dtype))
    for made in (ua.zeros(3, dtype=name), ua.zeros_like(ua.ones(3), dtype=name), ua.full((3,), 0, dtype=name)):
        assert_bits(made, nought)
    assert_bits(ua.ones(2, dtype=name), np.ones(2, np.float32).astype(numpys(dtype)))
    assert_bits(ua.asarray([1, 0, 1], dtype=name), np.array([1, 0, 1], np.float32).astype(numpys(dtype)))
    assert ua.empty(3, dtype=dtypes.STORED[dtype]).shape == (3,)


MOVES: dict[str, Callable[[Any, Any], Any]] = {
    "x[1]": lambda x, xp: x[1],
    "x[0, 1]": lambda x, xp: x[0, 1, ...],
    "x[:, ::-2]": lambda x, xp: x[:, ::-2],
    "x.T": lambda x, xp: x.T,
    "x[indices]": lambda x, xp: x[xp.asarray([1, 0, -1])],
    "x[mask]": lambda x, xp: x[xp.asarray([[True, False, True, False], [False, True, False, True]])],
    "take": lambda x, xp: xp.take(x, xp.asarray([3, 0]), axis=1),
    "take_along_axis": lambda x, xp: xp.take_along_axis(x, xp.asarray([[1], [0]]), axis=1),
    "where": lambda x, xp: xp.where(xp.asarray([True, False, True, False]), x, x[::-1]),
    "concat": lambda x, xp: xp.concat([x, x[:, :2]], axis=1),
    "stack": lambda x, xp: xp.stack([x, x]),
    "repeat": lambda x, xp: xp.repeat(x, 2, axis=0),
    "tile": lambda x, xp: xp.tile(x, (2, 1)),
    "roll": lambda x, xp: xp.roll(x, 1, axis=1),
    "flip": lambda x, xp: xp.flip(x),
    "reshape": lambda x, xp: xp.reshape(x, (4, 2)),
    "broadcast_to": lambda x, xp: xp.broadcast_to(x, (2, 2, 4)),
    "diagonal": lambda x, xp: xp.linalg.diagonal(x),
    "pad": lambda x, xp: xp.pad(x, 1, mode="edge"),
    "of nothing": lambda x, xp: xp.concat([x[:0], x[:0]]),
}


@pytest.mark.parametrize("name", MOVES)
def test_elements_are_moved(backend: str, dtype: str, name: str) -> None:
    given = values(dtype)
    move = MOVES[name]
    expected = np.asarray(move(given, np))
    # A second call may take a shorter way.
    for _ in range(2):
        assert_bits(move(ua.asarray(given), ua), expected)
    if dtype in ("float8_e4m3fn", "float8_e5m2", "int4"):
        assert_bits(ua.compile(lambda x: move(x, ua))(ua.asarray(given)), expected)


def test_arrays_are_written(backend: str, dtype: str) -> None:
    given = values(dtype)
    x, y = ua.asarray(given, copy=True), given.copy()
    window = x[:, 1:]
    for target in (x, y):
        target[0] = 1
        target[1, ::2] = target[0, ::2]
        target[0, 3] = 2.0 if "float" in dtype else 1
    window[1, 0] = 1
    y[1, 1] = 1
    x[ua.asarray([0])] = ua.asarray(given[1:])
    y[[0]] = given[1:]
    x[x.astype("float32") == 2] = 1
    y[y.astype("float32") == 2] = 1
    assert_bits(x, y)
    # An assigned value is cast, as by astype.
    wide = np.array([0.3, 1.25, 2.6, 0.9], np.float32)
    x[1], y[1] = ua.asarray(wide), wide.astype(np.float32 if "float" in dtype else np.int32).astype(numpys(dtype))
    assert_bits(x, y)
    assert_bits(window, y[:, 1:])
    assert_bits(ua.inplace_update(x, ua.zeros((2, 4), dtype="int16")), np.zeros_like(y))
    with pytest.raises(ShapeError):
        x[0] = ua.ones(5)
    assert_bits(x, np.zeros_like(y))


def test_what_is_too_large_is_written_as_it_is_cast(backend: str) -> None:
    skip_without(backend, "float8_e4m3fn")
    x = ua.zeros(5, dtype="float8_e4m3fn")
    x[0] = 500.0
    x[1] = ua.asarray(500.0)
    x[2:4] = ua.asarray([np.inf, -464.0], dtype="float32")
    x[4:].fill(500.0)
    assert_bits(x, np.array([500, 500, np.inf, -464, 500], np.float32).astype(numpys("float8_e4m3fn")))


COMPUTED: dict[str, Callable[[ua.Array], Any]] = {
    "add": lambda x: x + x,
    "add a number": lambda x: x + 1,
    "a number beside": lambda x: 1 - x,
    "in place": lambda x: x.__imul__(2),
    "negative": lambda x: -x,
    "exp": ua.exp,
    "equal": lambda x: x == x,
    "less": lambda x: x < 1,
    "isnan": ua.isnan,
    "sum": ua.sum,
    "max": ua.max,
    "any": ua.any,
    "sort": ua.sort,
    "argmax": ua.argmax,
    "matmul": lambda x: x @ x.T,
    "clip": lambda x: ua.clip(x, 0, 1),
    "count_nonzero": ua.count_nonzero,
    "unique_values": ua.unique_values,
    "an element": lambda x: x[0, 1] + 1,
    "NumPy's": lambda x: np.add(x, x),
    "NumPy's array": lambda x: x + as_numpy(x),
    "of another dtype": lambda x: ua.where(True, x, x.astype("float32")),
    "containers": lambda x: ua.Container(a=x) + ua.Container(a=x),
    "compiled": lambda x: ua.compile(lambda x: x * x)(x),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_nothing_is_computed_in_them(backend: str, dtype: str, name: str) -> None:
    given = values(dtype)
    x = ua.asarray(given, copy=True)
    for _ in range(2):
        with pytest.raises(DtypeError, match=f"{dtype}.*only stores numbers: convert"):
            COMPUTED[name](x)
    assert_bits(x, given)


LOOPS: dict[str, Callable[[Any], Any]] = {
    "fori_loop": lambda x: ua.fori_loop(0, 3, lambda i, c: c[::-1], x),
    "fori_loop beside": lambda x: ua.fori_loop(0, 2, lambda i, c: ua.where(i > 0, x[::-1], c), x),
    "scan": lambda x: ua.scan(lambda c, row: (row, c[::-1]), x[0], x)[1],
    "while_loop": lambda x: ua.while_loop(lambda c: c[0, 0].astype("float32") < 2, lambda c: ua.roll(c, 1, axis=1), x),
    "switch": lambda x: ua.switch(ua.asarray(1), [lambda y: y[0], lambda y: y[1]], x),
}


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.filterwarnings("ignore:tensorflow runs this operation by operation")
def test_loops_carry_them(backend: str, dtype: str, name: str) -> None:
    if dtype in ("float8_e4m3fn", "float8_e5m2", "int4", "uint4"):
        given = values(dtype)
        expected = as_numpy(LOOPS[name](ua.asarray(given)))
        assert expected.dtype == given.dtype
        assert_bits(ua.compile(LOOPS[name])(ua.asarray(given)), expected)


def test_their_bits_are_views(backend: str) -> None:
    for dtype in ("float8_e4m3fn", "float8_e5m2"):
        skip_without(backend, dtype)
        bits = np.array([[0, 1, 0x3C, 0x80, 0xBC, 0x77]], np.uint8)
        x = ua.asarray(bits, copy=True)
        y = x.view(dtype)
        assert_bits(y, bits.view(numpys(dtype)))
        assert np.array_equal(as_numpy(y.view("uint8")), bits)
        y[0, 1:3] = 1
        y.view("uint8")[0, 0] = 7
        expected = bits.copy()
        expected.view(numpys(dtype))[0, 1:3] = 1
        expected[0, 0] = 7
        assert np.array_equal(as_numpy(x), expected)


def test_a_variable_of_tensorflow_is_written(backend: str, dtype: str) -> None:
    if backend != "tensorflow":
        pytest.skip("the others have no variables")
    import tensorflow as tf

    given = values(dtype)
    variable = tf.Variable(given)
    x, y = ua.asarray(variable), given.copy()
    x[:, 0] = 1
    x[ua.asarray([1])] = x[:1]
    x[ua.asarray([[True, False, False, True], [False] * 4])] = 0
    x.T[1:3] = x.T[0]
    y[:, 0] = 1
    y[[1]] = y[:1]
    y[np.array([[True, False, False, True], [False] * 4])] = 0
    y.T[1:3] = y.T[0]
    assert np.array_equal(variable.numpy().astype(np.float32), y.astype(np.float32))


def test_tensorflow_says_where_its_derivatives_stop(backend: str) -> None:
    if backend != "tensorflow":
        pytest.skip("about TensorFlow's tapes")
    x = ua.asarray([0.5, 2.0], dtype="float32")
    with pytest.raises(DtypeError, match="stop at float8_e5m2"):
        ua.grad(lambda x: ua.sum(x.astype("float8_e5m2").astype("float32")), backend="tensorflow")(x)


def test_other_arrays_are_computed_as_before(backend: str, dtype: str) -> None:
    # Fast paths look at dtypes from then on.
    x = ua.asarray(values(dtype)).astype("float32")
    y = as_numpy(x)
    assert np.array_equal(as_numpy(x + x), y + y)
    assert np.array_equal(as_numpy(x * 2), y * 2)
    assert np.array_equal(as_numpy(ua.add(x, x, out=ua.empty_like(x))), y + y)
    assert np.array_equal(as_numpy(ua.max(x)), y.max())


def test_results_are_stored(backend: str) -> None:
    skip_without(backend, "float8_e5m2")
    x = ua.asarray([0.3, 1.0, 70000.0], dtype="float32")
    out = ua.zeros(3, dtype="float8_e5m2")
    assert ua.add(x, x, out=out) is out
    assert_bits(out, (as_numpy(x) + as_numpy(x)).astype(numpys("float8_e5m2")))


def test_they_go_from_engine_to_engine(backend: str, dtype: str) -> None:
    given = values(dtype)
    x = ua.asarray(given)
    there = x.to_backend("numpy")
    assert_bits(there, given)
    assert_bits(there.to_backend(backend), given)


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_they_are_kept_in_files(backend: str, dtype: str, ending: str, tmp_path: Path) -> None:
    given = values(dtype)
    c, path = ua.Container(w=ua.asarray(given), b=[ua.ones(2)]), tmp_path / f"x.{ending}"
    if ending == "safetensors":
        pytest.importorskip("safetensors")
        if dtype not in ("float8_e4m3fn", "float8_e5m2"):
            with pytest.raises(DtypeError, match="which safetensors lacks"):
                c.save(path)
            return
    c.save(path)
    assert_bits(ua.Container.load(path).w, given)


def test_what_is_said_of_them(backend: str, dtype: str) -> None:
    x = ua.asarray(values(dtype))
    assert x.dtype == dtype == x.dtype.name
    assert dtype in repr(x)
    assert f"<code>{dtype}</code>" in x._repr_html_()
    assert repr(x.tolist()) == repr(as_numpy(x.astype("float32" if "float" in dtype else "int32")).tolist())
    assert (x.dtype.itemsize, x.dtype.stores, x.dtype.kind) == (1, True, "f" if "float" in dtype else dtype[0])
    assert getattr(ua, dtype) is x.dtype is pickle.loads(pickle.dumps(x.dtype))
    assert ua.isdtype(x.dtype, x.dtype)
    assert not ua.isdtype(x.dtype, "numeric")
    assert ua.can_cast(x, x.dtype)
    assert not ua.can_cast(x, "float32")
    assert ua.result_type(x, x.dtype) is x.dtype
    info: Any = ua.finfo(x) if x.dtype.kind == "f" else ua.iinfo(x)
    assert info.dtype is x.dtype
    assert info.bits == int(re.findall(r"\d", dtype)[0])
    assert float(x[0, 1]) == 1.0


def test_derivatives_go_through_them(backend: str) -> None:
    skip_without(backend, "float8_e4m3fn")

    def stored(x: ua.Array) -> ua.Array:
        # Cotangents are added up, and 0.3 is no number of the dtype.
        y = x.astype("float8_e4m3fn")
        return ua.sum(y.astype("float32") * 0.3) + ua.sum(y[::-1].astype("float32") ** 2)

    x = ua.asarray([0.5, 2.0], dtype="float32")
    expected = np.array([1.3, 4.3], np.float32)
    assert np.allclose(as_numpy(ua.grad(stored)(x)), expected)
    assert np.allclose(as_numpy(ua.compile(ua.grad(stored))(x)), expected)


def test_integers_of_less_than_a_byte_have_no_derivatives(backend: str) -> None:
    skip_without(backend, "int4")
    x = ua.asarray([1.5, 3.0], dtype="float32")
    assert np.array_equal(as_numpy(ua.grad(lambda x: ua.sum(x.astype("int4").astype("float32") * x))(x)), [1.0, 3.0])


def test_an_engine_that_lacks_one_says_so(backend: str) -> None:
    for dtype in STORED:
        if not load(backend).supports_dtype(numpys(dtype)):
            with pytest.raises(DtypeError, match=f"has no {dtype}"):
                ua.asarray([1.0]).astype(dtype)  # type: ignore[arg-type]
            with pytest.raises(DtypeError, match=f"has no {dtype}"):
                ua.asarray(values(dtype))


def test_bits_of_less_than_a_byte_are_no_memory(backend: str) -> None:
    skip_without(backend, "int4")
    with pytest.raises(DtypeError, match="less than a byte"):
        ua.asarray([1, 2], dtype="int4").view("uint8")
    with pytest.raises(DtypeError, match="less than a byte"):
        ua.asarray([1, 2], dtype="uint8").view("int4")
