"""Meshes of the eight devices, and arrays over them."""

from __future__ import annotations

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

import unifyarr as ua

DEVICES = np.array(jax.devices())
assert len(DEVICES) == 8, "set XLA_FLAGS=--xla_force_host_platform_device_count=8"

LINE = Mesh(DEVICES, ("rows",))
GRID = Mesh(DEVICES.reshape(4, 2), ("rows", "columns"))
# Two devices, for arrays as small as those of the other tests.
PAIR = Mesh(DEVICES[:2], ("rows",))
# JAX's own ``make_mesh`` has explicit axes unless told otherwise.
EXPLICIT = Mesh(DEVICES, ("rows",), axis_types=(AxisType.Explicit,))

ROWS = NamedSharding(LINE, PartitionSpec("rows"))
BLOCKS = NamedSharding(GRID, PartitionSpec("rows", "columns"))
HALVES = NamedSharding(PAIR, PartitionSpec("rows"))
EXPLICIT_ROWS = NamedSharding(EXPLICIT, PartitionSpec("rows"))

# -0.0 and the other special values are among them.
VALUES = np.arange(64.0).reshape(16, 4) - 9.5
VALUES[3] = -0.0, np.inf, -np.inf, np.nan


def spread(sharding: NamedSharding, values: np.ndarray = VALUES) -> ua.Array:
    """Return an array over devices, by JAX itself."""
    return ua.asarray(jax.device_put(np.array(values), sharding))


def is_spread_as(x: ua.Array, sharding: NamedSharding) -> bool:
    """Return whether an array lies on devices as a sharding says, however that is spelt."""
    return bool(x.sharding.is_equivalent_to(sharding, x.ndim))
