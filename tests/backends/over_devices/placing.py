"""Users' operations on an array over devices: right values, and the same sharding as with JAX itself."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec

import unifyarr as ua

from .common import BLOCKS, EXPLICIT_ROWS, GRID, LINE, ROWS, VALUES, is_spread_as, spread

SHARDINGS = {"rows": ROWS, "blocks": BLOCKS, "explicit": EXPLICIT_ROWS}
OTHER = np.arange(64.0).reshape(16, 4) / 7
INDICES = [3, 0, 5]


@pytest.fixture(autouse=True)
def _on_jax(backend: str) -> Any:
    with ua.use_backend("jax"):
        yield


def sets(key: Any, value: Any) -> Callable[[Any], None]:
    """Return a write, of a value or of a function of the array."""

    def write(x: Any) -> None:
        x[key] = value(x) if callable(value) else value

    return write


def adds(key: Any, value: Any) -> Callable[[Any], None]:
    def write(x: Any) -> None:
        x[key] += value

    return write


WRITES: dict[str, Callable[[Any], Any]] = {
    "an element": sets((5, 1), 7.0),
    "a row": sets(3, 7.0),
    "a row of values": sets(-1, np.arange(4.0)),
    "rows": sets(slice(2, 5), 7.0),
    "rows of values": sets(slice(2, 5), np.ones((3, 4))),
    "a shard": sets(slice(2, 4), lambda x: x[4:6]),
    "rows of its own": sets(slice(1, 12), lambda x: x[4:15]),
    "overlapping": sets(slice(1, None), lambda x: x[:-1]),
    "with a step": sets(slice(None, None, 3), 0.0),
    "reversed": sets(slice(None, None, -1), lambda x: x),
    "backwards": sets(slice(12, 3, -2), OTHER[:5]),
    "a column": sets((slice(None), 1), 2.0),
    "columns": sets((slice(None), slice(1, 3)), OTHER[:, :2]),
    "a box": sets((slice(3, 9), slice(1, 3)), OTHER[:6, :2]),
    "nothing": sets(slice(3, 3), 1.0),
    "all": sets(..., OTHER),
    "a mask": lambda x: x.__setitem__(x > 3, 0.0),
    "a mask of rows": lambda x: x.__setitem__(x[:, 0] > 3, 0.0),
    "a list": sets(INDICES, OTHER[:3]),
    "through views": lambda x: x[1:].T[2:, ::2].__setitem__(..., 9.0),
    "a transpose": lambda x: x.T.__setitem__(0, 5.0),
    "plus a number": lambda x: x.__iadd__(1),
    "plus values": lambda x: x.__iadd__(OTHER),
    "a window plus a number": adds(slice(1, -1), 1),
    "two in a row": lambda x: (sets(slice(2, 5), 7.0)(x), sets(slice(3, 9), 8.0)(x), sets(4, 1.0)(x)),
    "copyto": lambda x: np.copyto(x, OTHER),
}


@pytest.mark.parametrize("sharding", SHARDINGS)
@pytest.mark.parametrize("write", WRITES)
def test_writes_keep_the_sharding(sharding: str, write: str) -> None:
    x, values = spread(SHARDINGS[sharding]), VALUES.copy()
    shows = x[1:7]
    WRITES[write](x)
    WRITES[write](values)
    np.testing.assert_array_equal(np.asarray(x), values)
    np.testing.assert_array_equal(np.signbit(np.asarray(x)), np.signbit(values))
    np.testing.assert_array_equal(np.asarray(shows), values[1:7])
    assert is_spread_as(x, SHARDINGS[sharding])


KEYS: list[Any] = [3, -1, slice(2, 5), slice(0, 8), slice(None, None, -1), slice(1, 14, 3), (5, 1), (slice(None), 1)]
KEYS += [(slice(3, 9), slice(1, 3)), INDICES, slice(12, 3, -2), (..., None), slice(4, 4), (slice(None), INDICES[:1])]


@pytest.mark.parametrize("sharding", SHARDINGS)
@pytest.mark.parametrize("dtype", ["float64", "complex64", "bool", "int8"])
def test_reads(sharding: str, dtype: str) -> None:
    values = VALUES if dtype == "float64" else np.nan_to_num(VALUES, posinf=1, neginf=2).astype(dtype)
    x = spread(SHARDINGS[sharding], values)
    for key in KEYS:
        found = np.asarray(x[key])
        np.testing.assert_array_equal(found, values[key], err_msg=str(key))
        if dtype == "float64":
            # The devices' parts are added up, and -0.0 must stay -0.0.
            np.testing.assert_array_equal(np.signbit(found), np.signbit(values[key]), err_msg=str(key))
    if sharding != "explicit":
        assert is_spread_as(x[0:8], ROWS) is (sharding == "rows")
        assert not x[:, 1].sharding.is_fully_replicated


COMPUTED: dict[str, Callable[[Any, Any], Any]] = {
    "x + 1": lambda x, xp: x + 1,
    "x + data": lambda x, xp: x + np.ones(4),
    "1 / y": lambda x, xp: 1 / (x + 100.5),
    "exp": lambda x, xp: xp.exp(x / 100),
    "where": lambda x, xp: xp.where(x > 3, x, 0.0),
    "x @ x.T": lambda x, xp: x @ x.T,
    "x.T @ x": lambda x, xp: x.T @ x,
    "sum": lambda x, xp: xp.sum(x),
    "sum of rows": lambda x, xp: xp.sum(x, axis=0),
    "mean": lambda x, xp: xp.mean(x, axis=1),
    "sort": lambda x, xp: xp.sort(x, axis=0),
    "argmax": lambda x, xp: xp.argmax(x, axis=0),
    "T": lambda x, xp: x.T,
    "reshape": lambda x, xp: x.reshape((8, 8)),
    "concat": lambda x, xp: xp.concat([x, x]),
    "roll": lambda x, xp: xp.roll(x, 3, axis=0),
    "repeat": lambda x, xp: xp.repeat(x, 2, axis=0),
    "zeros_like": lambda x, xp: xp.zeros_like(x),
    "ones_like of a view": lambda x, xp: xp.ones_like(x.T),
    "full_like": lambda x, xp: xp.full_like(x, 3.0),
    "copy": lambda x, xp: xp.asarray(x, copy=True) if xp is ua else x.copy(),
    "astype": lambda x, xp: x.astype("float32"),
}


@pytest.mark.parametrize("call", COMPUTED)
def test_results_are_spread_as_jax_spreads_them(call: str) -> None:
    values = np.nan_to_num(VALUES, posinf=1, neginf=2)
    for sharding in (ROWS, BLOCKS):
        x = spread(sharding, values)
        found, theirs = COMPUTED[call](x, ua), COMPUTED[call](x.native, jnp)
        np.testing.assert_allclose(np.asarray(found), np.asarray(theirs), rtol=1e-12)
        assert is_spread_as(found, theirs.sharding), (found.sharding, theirs.sharding)


def test_devices_are_what_device_takes() -> None:
    x = spread(ROWS)
    assert x.device == x.sharding == ROWS
    assert x.to_device(x.device) is x
    assert ua.zeros((8, 3), device=x.device).device == ROWS
    assert ua.asarray(VALUES, device=BLOCKS).device == BLOCKS
    assert x.T.device == NamedSharding(LINE, PartitionSpec(None, "rows"))
    assert ua.asarray(x, device="cpu:3").device == "cpu:3"
    one = ua.zeros(3)
    assert one.device == "cpu"
    assert one.sharding == one.native.sharding
    assert ua.zeros(3, backend="numpy").sharding is None
    # Axes that the devices can't share are whole there.
    assert ua.zeros((3, 5), device=x.device).sharding.is_fully_replicated
    assert ua.asarray(2.0, device=BLOCKS).sharding.device_set == ROWS.device_set
    assert is_spread_as(ua.ones((3, 4), device=BLOCKS), NamedSharding(GRID, PartitionSpec(None, "columns")))


def test_shard() -> None:
    x = ua.asarray(VALUES)
    for found in (
        ua.shard(x, ROWS),
        ua.shard(x, LINE, "rows"),
        ua.shard(x, LINE, PartitionSpec("rows")),
        ua.shard(VALUES, LINE, ("rows", None)),
        ua.shard(ua.Container(a=x), ROWS).a,
    ):
        assert is_spread_as(found, ROWS)
        np.testing.assert_array_equal(np.asarray(found), VALUES)
    assert ua.shard(found, ROWS) is found
    assert ua.shard(x, LINE).sharding.is_fully_replicated
    np.testing.assert_array_equal(
        np.asarray(ua.grad(lambda x: ua.sum(ua.shard(x, ROWS) * 2))(x)), np.full((16, 4), 2.0)
    )
    with pytest.raises(ua.errors.ShapeError, match="multiple"):
        ua.shard(x[1:], ROWS)
    with pytest.raises(ua.errors.ShapeError, match="multiple"):
        ua.shard(x, LINE, (None, None, "rows"))
    for sharding, spec in (("cpu", None), (ROWS, "rows"), (None, None)):
        with pytest.raises(TypeError, match=r"jax\.sharding\.Sharding"):
            ua.shard(x, sharding, spec)
    with pytest.raises(ua.errors.BackendFeatureError, match="one device"):
        ua.shard(ua.zeros(8, backend="numpy"), ROWS)


def test_arrays_that_meet() -> None:
    x, placed = spread(ROWS), ua.asarray(VALUES, device="cpu:3")
    # Uncommitted arrays move where they're needed, as in JAX.
    x[2:5] = ua.ones((3, 4)) + 1
    x += ua.zeros((16, 4))
    assert is_spread_as(x, ROWS)
    with pytest.raises(ua.errors.DeviceError, match="meet"):
        x + placed
    before = np.asarray(x)
    with pytest.raises(ua.errors.DeviceError, match="move it"):
        x[...] = placed
    with pytest.raises(ua.errors.DeviceError, match="move it"):
        ua.add(placed, 1, out=x)
    with pytest.raises(ua.errors.DeviceError, match="move it"):
        placed[2:4] = x[2:4]
    np.testing.assert_array_equal(np.asarray(x), before)
    # Two shardings of the same devices meet; the target stays as it is.
    x[...] = spread(BLOCKS)
    assert is_spread_as(x, ROWS)
    y = spread(BLOCKS)
    ua.add(x, 1, out=y)
    assert is_spread_as(y, BLOCKS)
    ua.matmul(x, x[:4], out=y)
    assert is_spread_as(y, BLOCKS)


def test_writes_reuse_memory() -> None:
    x = spread(ROWS)
    x += 1
    writes = sets(slice(2, 5), 8.0), sets(3, 1.0), sets([1, 2], 3.0), lambda x: x.__iadd__(1)
    for write in writes:
        # The first call of each uses up a copy.
        write(x)
    where = [shard.data.unsafe_buffer_pointer() for shard in x._native.addressable_shards]
    for write in writes:
        write(x)
        assert [shard.data.unsafe_buffer_pointer() for shard in x._native.addressable_shards] == where
    assert ua.shares_memory(x, x[1:])
    assert not ua.shares_memory(x, x + 1)
    kept = x.native
    x[2:5] = 0.0
    assert not kept.is_deleted()


def test_derivatives_and_batches() -> None:
    x = spread(ROWS, OTHER)
    np.testing.assert_allclose(np.asarray(ua.grad(lambda x: ua.sum(x * x))(x)), 2 * OTHER)
    assert is_spread_as(ua.grad(lambda x: ua.sum(ua.exp(x) * 2 + 1))(x), ROWS)

    def writes(x: ua.Array) -> ua.Array:
        y = x.copy()
        y[2:5] *= 2
        return ua.sum(y[1:] * y[:-1])

    expected = np.asarray(ua.grad(writes)(ua.asarray(OTHER)))
    np.testing.assert_allclose(np.asarray(ua.grad(writes)(x)), expected, rtol=1e-12)
    assert is_spread_as(ua.vmap(lambda row: row * 2)(x), ROWS)


def test_random_numbers() -> None:
    expected = np.random.Generator(np.random.Philox(5)).random((16, 4))
    found = ua.random.Generator(5).random((16, 4), device=ROWS)
    np.testing.assert_array_equal(np.asarray(found), expected)
    assert is_spread_as(found, ROWS)
    out = spread(BLOCKS)
    np.testing.assert_array_equal(np.asarray(ua.random.Generator(5).random(out=out)), expected)
    assert is_spread_as(out, BLOCKS)
    native = ua.random.Generator(5, engine="native", device=ROWS)
    assert native.random((16, 4)).sharding.device_set == ROWS.device_set
    np.testing.assert_array_equal(
        np.asarray(pickle.loads(pickle.dumps(native)).random(3)), np.asarray(native.random(3))
    )


def test_copies_pickles_and_files(tmp_path: Path) -> None:
    x = spread(ROWS)
    for copied in (x.copy(), copy.copy(x), copy.deepcopy(x)):
        assert is_spread_as(copied, ROWS)
    whole = pickle.loads(pickle.dumps(x))
    np.testing.assert_array_equal(np.asarray(whole), VALUES)
    assert whole.device == "cpu"
    assert is_spread_as(whole.to_device(x.device), ROWS)
    nest = ua.Container(a=x, b=ua.Container(c=x[1:]))
    assert is_spread_as((nest * 2).a, ROWS)
    nest.save(tmp_path / "nest.npz")
    assert ua.Container.load(tmp_path / "nest.npz").a.device == "cpu"
    loaded = ua.Container.load(tmp_path / "nest.npz", device=ROWS)
    assert is_spread_as(loaded.a, ROWS)
    assert loaded.b.c.sharding.is_fully_replicated
    np.testing.assert_array_equal(np.asarray(loaded.b.c), VALUES[1:])
    with pytest.raises(BufferError, match="unsharded"):
        np.from_dlpack(x)


def test_functions_are_local_inside_of_shard_map() -> None:
    x = spread(ROWS, OTHER)

    def local(part: jax.Array) -> jax.Array:
        y = ua.asarray(part)
        assert y.shape == (2, 4)
        z = ua.zeros_like(y) + ua.sum(y)
        z[1:] = y[:1]
        return z.native

    run = jax.jit(jax.shard_map(local, mesh=LINE, in_specs=PartitionSpec("rows"), out_specs=PartitionSpec("rows")))
    expected = OTHER.copy()
    expected[::2] = OTHER.reshape(8, 8).sum(1)[:, None]
    expected[1::2] = OTHER[::2]
    np.testing.assert_allclose(np.asarray(run(x.native)), expected, rtol=1e-12)
    assert "all-" not in run.lower(x.native).compile().as_text()


def test_explicit_axes_say_what_jax_cannot() -> None:
    x = spread(EXPLICIT_ROWS, OTHER)
    with pytest.raises(ua.errors.EngineError, match="illegally sharded"):
        x @ x.T
    assert is_spread_as(ua.exp(x) + 1, EXPLICIT_ROWS)


def test_the_page_on_devices_runs() -> None:
    page = Path(__file__).parents[3] / "docs" / "guides" / "devices.md"
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.M | re.S)
    assert len(blocks) > 4
    exec(compile("\n".join(blocks), str(page), "exec"), {})
