# ruff: noqa: E501 -- a row of a table is a line
"""The rows of ``benchmarks/overhead.py``: calls on arrays of 4 elements, ours beside the engines' own.

A row has the same call for us, NumPy and JAX, torch, and TensorFlow, as statements on the arrays of ``arrays``: "=" is
ours with the engine's module in place of "ua", and "-" says that the engine has none. ``JAX`` has the rows of JAX that
aren't NumPy's. A section begins with a line in brackets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# -- The table --------------------------------------------------------------------------------------------------------

ROWS = """
[calls]
ua.zeros(4)                   | =                                 | =                                | =
ua.arange(4)                  | =                                 | =                                | tf.range(4)
ua.asarray([1., 2., 3., 4.])  | =                                 | =                                | tf.constant([1., 2., 3., 4.])
ua.asarray(native)            | =                                 | =                                | tf.convert_to_tensor(native)
ua.asarray(host)              | =                                 | =                                | tf.convert_to_tensor(host)
np.asarray(x)                 | =                                 | =                                | =
x.native                      | x                                 | x                                | x
x.shape                       | =                                 | =                                | =
float(ua.sum(x))              | =                                 | =                                | float(tf.reduce_sum(x))
ua.sin(x)                     | =                                 | =                                | =
ua.exp(x)                     | =                                 | =                                | =
ua.add(x, y)                  | =                                 | =                                | =
ua.multiply(x, y)             | =                                 | =                                | =
x + y                         | =                                 | =                                | =
x + 1                         | =                                 | =                                | =
2.5 * x                       | =                                 | =                                | =
x ** 2                        | =                                 | =                                | =
i + x                         | =                                 | =                                | tf.cast(i, tf.float64) + x
x > 1                         | =                                 | =                                | =
x < y                         | =                                 | =                                | =
ua.where(b, x, y)             | =                                 | =                                | =
ua.where(b, x, 0)             | =                                 | =                                | =
ua.sum(x)                     | =                                 | =                                | tf.reduce_sum(x)
ua.mean(m, axis=0)            | =                                 | torch.mean(m, dim=0)             | tf.reduce_mean(m, axis=0)
ua.max(x)                     | =                                 | =                                | tf.reduce_max(x)
ua.argmax(x)                  | =                                 | =                                | =
ua.std(x)                     | =                                 | torch.std(x, correction=0)       | tf.math.reduce_std(x)
ua.any(b)                     | =                                 | =                                | tf.reduce_any(b)
m @ m                         | =                                 | =                                | =
ua.reshape(x, (2, 2))         | =                                 | =                                | =
m.T                           | =                                 | =                                | tf.transpose(m)
ua.permute_dims(m, (1, 0))    | xp.transpose(m, (1, 0))           | torch.permute(m, (1, 0))         | tf.transpose(m, (1, 0))
m.T + 1                       | =                                 | =                                | tf.transpose(m) + 1
ua.expand_dims(x, axis=0)     | =                                 | torch.unsqueeze(x, 0)            | =
ua.concat([x, y])             | =                                 | torch.cat([x, y])                | tf.concat([x, y], 0)
ua.stack([x, y])              | =                                 | =                                | =
ua.astype(x, ua.float32)      | x.astype(xp.float32)              | x.to(torch.float32)              | tf.cast(x, tf.float32)
x[1:3]                        | =                                 | =                                | =
x[2]                          | =                                 | =                                | =
m[:, 0]                       | =                                 | =                                | =
x[1:3] + 1                    | =                                 | =                                | =
x[b]                          | =                                 | =                                | tf.boolean_mask(x, b)
x[j]                          | =                                 | =                                | tf.gather(x, j)
ua.take(x, j)                 | =                                 | torch.index_select(x, 0, j)      | tf.gather(x, j)
x[1:3] = w                    | =                                 | =                                | scatter(x, [[1], [2]], w)
x[1:3] = 2.5                  | =                                 | =                                | scatter(x, [[1], [2]], [2.5, 2.5])
x[2] = 2.5                    | =                                 | =                                | scatter(x, [[2]], [2.5])
x[b] = 0                      | =                                 | =                                | tf.where(b, 0, x)
x[j] = 1                      | =                                 | =                                | scatter(x, j[:, None], [1., 1.])
x += y                        | =                                 | =                                | x + y
x[1:3] += w                   | =                                 | =                                | scatter_add(x, [[1], [2]], w)
ua.add(x, y, out=z)           | =                                 | =                                | tf.add(x, y)
ua.exp(x, out=z)              | =                                 | =                                | tf.exp(x)
ua.clip(x, 0, 2)              | =                                 | =                                | tf.clip_by_value(x, 0, 2)
ua.maximum(x, 0)              | =                                 | torch.clamp_min(x, 0)            | =
ua.einsum("ij,jk->ik", m, m)  | =                                 | =                                | =
ua.nn.softmax(m)              | softmax(m)                        | torch.softmax(m, -1)             | =
ua.nn.relu(x)                 | xp.maximum(x, 0)                  | torch.relu(x)                    | =
ua.nn.linear(m, m, w)         | m @ m.T + w                       | torch.nn.functional.linear(m, m, w) | tf.matmul(m, m, transpose_b=True) + w
ua.linalg.inv(m)              | =                                 | =                                | =
ua.linalg.solve(m, m)         | =                                 | =                                | =
ua.linalg.svd(m)              | =                                 | =                                | =
ua.linalg.vector_norm(x)      | xp.linalg.norm(x)                 | =                                | tf.norm(x)
ua.fft.fft(x)                 | =                                 | =                                | tf.signal.fft(tf.cast(x, tf.complex128))
ua.sort(x)                    | =                                 | torch.sort(x).values             | =
ua.argsort(x)                 | =                                 | =                                | =
ua.unique_values(x)           | =                                 | torch.unique(x)                  | tf.unique(x)[0]
ua.cumulative_sum(x)          | xp.cumulative_sum(x)              | torch.cumsum(x, 0)               | tf.cumsum(x)
ua.nonzero(b)                 | =                                 | torch.nonzero(b, as_tuple=True)  | tf.where(b)
ua.broadcast_to(x, (3, 4))    | =                                 | =                                | =
g.normal(size=4)              | g.standard_normal(4)              | torch.randn(4, dtype=torch.float64, generator=g) | tf.random.normal((4,), dtype=tf.float64)
c * 2                         | {k: v * 2 for k, v in c.items()}  | {k: v * 2 for k, v in c.items()} | {k: v * 2 for k, v in c.items()}
ua.exp(c)                     | {k: xp.exp(v) for k, v in c.items()} | {k: torch.exp(v) for k, v in c.items()} | {k: tf.exp(v) for k, v in c.items()}
c.map(ua.sin)                 | {k: xp.sin(v) for k, v in c.items()} | {k: torch.sin(v) for k, v in c.items()} | {k: tf.sin(v) for k, v in c.items()}
c += d                        | for k, v in d.items(): c[k] += v  | for k, v in d.items(): c[k] += v | for k, v in d.items(): c[k] += v
compiled(x)                   | x * 2 + 1                         | x * 2 + 1                        | =
gradient(x)                   | -                                 | =                                | =
compiled_gradient(x)          | -                                 | gradient(x)                      | =

[more kinds of operands]
a @ r                         | =                                 | =                                | tf.linalg.matvec(a, r)
float(a[0, 0])                | =                                 | =                                | =
a * f                         | =                                 | =                                | =
x + host                      | =                                 | x + torch.from_numpy(host)       | =
ua.sum(b)                     | =                                 | =                                | tf.reduce_sum(tf.cast(b, tf.int64))
ua.sum(a, axis=(0, 1))        | =                                 | torch.sum(a, dim=(0, 1))         | tf.reduce_sum(a, axis=(0, 1))
a -= l                        | =                                 | =                                | a - l
a += k                        | =                                 | =                                | a + tf.cast(k, tf.float64)
v += w                        | =                                 | =                                | v + w
i // 2                        | =                                 | =                                | =
i / 2                         | =                                 | =                                | =
x + s                         | =                                 | =                                | x + tf.cast(s, tf.float64)

[further functions]
-x                            | =                                 | =                                | =
abs(x)                        | =                                 | =                                | =
x == y                        | =                                 | =                                | tf.equal(x, y)
b & b                         | =                                 | =                                | =
i % 3                         | =                                 | =                                | =
x / y                         | =                                 | =                                | =
x ** 0.5                      | =                                 | =                                | =
m[0, 1]                       | =                                 | =                                | =
m[0, 1] = 2.5                 | =                                 | =                                | scatter(m, [[0, 1]], [2.5])
m[0, 1] += 2.5                | =                                 | =                                | scatter_add(m, [[0, 1]], [2.5])
x[None, :]                    | =                                 | =                                | =
ua.full(4, 1.5)               | =                                 | torch.full((4,), 1.5)            | tf.fill((4,), 1.5)
ua.ones((2, 2))               | =                                 | =                                | =
ua.eye(2)                     | =                                 | =                                | =
ua.linspace(0, 1, 4)          | =                                 | =                                | tf.linspace(0., 1., 4)
ua.zeros_like(x)              | =                                 | =                                | =
ua.tan(x)                     | =                                 | =                                | =
ua.tanh(x)                    | =                                 | =                                | =
ua.floor_divide(x, y)         | =                                 | =                                | tf.math.floordiv(x, y)
ua.atan2(x, y)                | =                                 | =                                | =
ua.logical_not(b)             | =                                 | =                                | =
ua.isnan(x)                   | =                                 | =                                | tf.math.is_nan(x)
ua.minimum(x, y)              | =                                 | =                                | =
ua.prod(x)                    | =                                 | =                                | tf.reduce_prod(x)
ua.var(m, axis=1)             | =                                 | torch.var(m, dim=1, correction=0) | tf.math.reduce_variance(m, axis=1)
ua.min(m, axis=-1)            | =                                 | torch.amin(m, dim=-1)            | tf.reduce_min(m, axis=-1)
ua.all(b)                     | =                                 | =                                | tf.reduce_all(b)
ua.matmul(m, m)               | =                                 | =                                | =
ua.tensordot(m, m, axes=1)    | =                                 | torch.tensordot(m, m, dims=1)    | tf.tensordot(m, m, 1)
ua.roll(x, 1)                 | =                                 | =                                | tf.roll(x, 1, 0)
ua.flip(m, axis=0)            | =                                 | torch.flip(m, (0,))              | tf.reverse(m, (0,))
ua.tile(x, (2,))              | =                                 | =                                | =
ua.repeat(x, 2)               | =                                 | torch.repeat_interleave(x, 2)    | =
ua.squeeze(l, axis=1)         | =                                 | torch.squeeze(l, 1)              | =
ua.diff(x)                    | =                                 | =                                | x[1:] - x[:-1]
ua.tril(m)                    | =                                 | =                                | tf.linalg.band_part(m, -1, 0)
ua.searchsorted(x, y)         | =                                 | =                                | =
ua.count_nonzero(b)           | =                                 | =                                | tf.math.count_nonzero(b)
ua.linalg.det(m)              | =                                 | =                                | =
ua.linalg.cholesky(p)         | =                                 | =                                | =
ua.linalg.qr(m)               | =                                 | =                                | =
ua.linalg.eigh(p)             | =                                 | =                                | =
ua.fft.rfft(x)                | =                                 | =                                | tf.signal.rfft(x)
ua.nn.sigmoid(x)              | 1 / (1 + xp.exp(-x))              | torch.sigmoid(x)                 | tf.sigmoid(x)
ua.nn.log_softmax(m)          | log_softmax(m)                    | torch.log_softmax(m, -1)         | =
ua.nn.gelu(x)                 | -                                 | torch.nn.functional.gelu(x)      | =
"""

JAX = """
x[1:3] = w                    | x.at[1:3].set(w)
x[1:3] = 2.5                  | x.at[1:3].set(2.5)
x[2] = 2.5                    | x.at[2].set(2.5)
x[b] = 0                      | x.at[b].set(0)
x[j] = 1                      | x.at[j].set(1)
x += y                        | x + y
x[1:3] += w                   | x.at[1:3].add(w)
ua.add(x, y, out=z)           | xp.add(x, y)
ua.exp(x, out=z)              | xp.exp(x)
a -= l                        | a - l
a += k                        | a + k
v += w                        | v + w
m[0, 1] = 2.5                 | m.at[0, 1].set(2.5)
m[0, 1] += 2.5                | m.at[0, 1].add(2.5)
ua.nn.softmax(m)              | jax.nn.softmax(m)
ua.nn.log_softmax(m)          | jax.nn.log_softmax(m)
ua.nn.relu(x)                 | jax.nn.relu(x)
ua.nn.sigmoid(x)              | jax.nn.sigmoid(x)
ua.nn.gelu(x)                 | jax.nn.gelu(x, approximate=False)
g.normal(size=4)              | jax.random.normal(g, (4,))
compiled(x)                   | compiled(x)
gradient(x)                   | gradient(x)
compiled_gradient(x)          | compiled_gradient(x)
"""

# Names that the statements assign, so that the next run sees them too.
ASSIGNED = "global x, m, a, v, c"


class Row(NamedTuple):
    """A row: its section, our statement, and the engine's; ``None`` where it has none."""

    section: str
    ours: str
    native: str | None


def rows(backend: str) -> list[Row]:
    """Return the rows of a backend."""
    special = dict(map(str.strip, line.split("|")) for line in JAX.strip().splitlines()) if backend == "jax" else {}
    column = {"torch": 2, "tensorflow": 3}.get(backend, 1)
    module = {"torch": "torch", "tensorflow": "tf"}.get(backend, "xp")
    section, found = "", []
    for line in filter(None, ROWS.splitlines()):
        if line[0] == "[":
            section = line[1:-1]
            continue
        cells = [cell.strip() for cell in line.split("|")]
        native = special.get(cells[0], cells[column])
        same = cells[0].replace("ua.", f"{module}.")
        found.append(Row(section, cells[0], {"=": same, "-": None}.get(native, native)))
    return found


def arrays() -> dict[str, np.ndarray]:
    """Return the operands by name, as NumPy arrays. Arrays that are added repeatedly are small."""
    return {
        "x": np.asarray([0.5, 1.5, 2.5, 3.5]),
        "y": np.full(4, 1e-9),
        "z": np.zeros(4),
        "i": np.arange(4),
        "s": np.full(4, 0.25, np.float32),
        "b": np.asarray([True, False, True, False]),
        "j": np.asarray([0, 2]),
        "w": np.full(2, 1e-9),
        "m": np.asarray([[1.0, 2.0], [3.0, 4.5]]),
        "p": np.asarray([[2.0, 1.0], [1.0, 3.0]]),
        "a": np.linspace(1.0, 2.0, 40).reshape(8, 5),
        "r": np.ones(5),
        "l": np.full((8, 1), 1e-9),
        "k": np.zeros((8, 5), np.int64),
    }


def parts(names: dict[str, Any]) -> dict[str, Any]:
    """Return a view, and the leaves of two containers, of arrays of any engine."""
    x = names["x"]
    leaves = {key: x + place for place, key in enumerate("abc")}
    return {"v": (x + 0)[1:3], "c": leaves, "d": {key: leaf * 1e-9 for key, leaf in leaves.items()}}
