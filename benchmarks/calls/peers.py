# ruff: noqa: E501 -- a row of a table is a line
"""Other packages in the rows of ``benchmarks/overhead.py``: each is a column where it's installed and has the engine.

"=" is our call with the package's module in place of "ua". ``thin`` is the thinnest possible wrapper, a class of one
slot and one type check: what no wrapper in Python saves. The module ``thin_ENGINE`` has it for more rows, if it's there.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable
from typing import Any

from .names import Names

PEERS = ("thin", "autoray", "eagerpy", "keras", "tensorly", "array_api_compat")

TABLE = """
                             | thin | autoray                             | eagerpy                 | keras                       | tensorly               | array_api_compat
ua.zeros(4)                  |   |                                        |                         | =                           | =                      | =
ua.arange(4)                 |   |                                        |                         | =                           | =                      | =
ua.asarray([1., 2., 3., 4.]) |   |                                        |                         | p.convert_to_tensor([1., 2., 3., 4.]) | p.tensor([1., 2., 3., 4.]) | =
ua.asarray(native)           |   |                                        | p.astensor(native)      | p.convert_to_tensor(native) | p.tensor(native)       | =
ua.sin(x)                    | = | p.do("sin", x)                         |                         | =                           | =                      | =
ua.exp(x)                    |   | p.do("exp", x)                         | x.exp()                 | =                           | =                      | =
ua.add(x, y)                 | = | p.do("add", x, y)                      | x + y                   | =                           |                        | =
ua.multiply(x, y)            |   | p.do("multiply", x, y)                 | x * y                   | =                           |                        | =
x + y                        | = |                                        | x + y                   |                             |                        |
x + 1                        | = |                                        | x + 1                   | p.add(x, 1)                 |                        |
2.5 * x                      |   |                                        | 2.5 * x                 | p.multiply(2.5, x)          |                        |
x ** 2                       |   |                                        | x ** 2                  | p.square(x)                 |                        |
x > 1                        |   |                                        | x > 1                   | p.greater(x, 1)             |                        |
x < y                        |   |                                        | x < y                   | p.less(x, y)                |                        |
ua.where(b, x, y)            |   | p.do("where", b, x, y)                 | p.where(b, x, y)        | =                           | =                      | =
ua.sum(x)                    | = | p.do("sum", x)                         | x.sum()                 | =                           | =                      | =
ua.mean(m, axis=0)           |   | p.do("mean", m, axis=0)                | m.mean(axis=0)          | =                           | =                      | =
ua.max(x)                    |   | p.do("max", x)                         | x.max()                 | =                           | =                      | =
ua.argmax(x)                 |   | p.do("argmax", x)                      | x.argmax()              | =                           | =                      | =
ua.std(x)                    |   |                                        |                         | =                           |                        | =
ua.any(b)                    |   |                                        | b.any()                 | =                           | =                      | =
m @ m                        |   | p.do("matmul", m, m)                   | m @ m                   | p.matmul(m, m)              | p.dot(m, m)            | p.matmul(m, m)
ua.reshape(x, (2, 2))        |   | p.do("reshape", x, (2, 2))             | x.reshape((2, 2))       | =                           | =                      | =
ua.permute_dims(m, (1, 0))   |   | p.do("transpose", m, (1, 0))           | m.transpose((1, 0))     | p.transpose(m, (1, 0))      | p.transpose(m, (1, 0)) | =
ua.expand_dims(x, axis=0)    |   |                                        | p.expand_dims(x, 0)     | =                           |                        | =
ua.concat([x, y])            |   | p.do("concatenate", [x, y])            | p.concatenate([x, y])   | p.concatenate([x, y])       | p.concatenate([x, y])  | =
ua.stack([x, y])             |   | p.do("stack", [x, y])                  | p.stack([x, y])         | =                           | =                      | =
ua.astype(x, ua.float32)     |   | p.do("astype", x, "float32")           | x.float32()             | p.cast(x, "float32")        |                        | p.astype(x, p.float32)
x[1:3]                       | = |                                        | x[1:3]                  |                             |                        |
x[2]                         |   |                                        | x[2]                    |                             |                        |
x[j]                         |   |                                        | x[j]                    | p.take(x, j)                |                        |
ua.take(x, j)                |   | p.do("take", x, j)                     |                         | =                           |                        | p.take(x, j, axis=0)
ua.clip(x, 0, 2)             |   | p.do("clip", x, 0, 2)                  | x.clip(0, 2)            | =                           | =                      | =
ua.maximum(x, 0)             |   |                                        | p.maximum(x, 0)         | =                           |                        |
ua.einsum("ij,jk->ik", m, m) |   | p.do("einsum", "ij,jk->ik", m, m)      |                         | =                           | =                      |
ua.nn.softmax(m)             |   |                                        | m.softmax()             | p.softmax(m)                |                        |
ua.nn.relu(x)                |   |                                        |                         | p.relu(x)                   |                        |
ua.linalg.inv(m)             |   | p.do("linalg.inv", m)                  |                         | =                           |                        | =
ua.linalg.solve(m, m)        |   | p.do("linalg.solve", m, m)             |                         | =                           | p.solve(m, m)          | =
ua.linalg.svd(m)             |   | p.do("linalg.svd", m)                  |                         | =                           |                        | =
ua.linalg.vector_norm(x)     |   | p.do("linalg.norm", x)                 | x.norms.l2()            | p.norm(x)                   | p.norm(x)              | =
ua.fft.fft(x)                |   |                                        |                         |                             |                        | =
ua.sort(x)                   |   | p.do("sort", x)                        | x.sort()                | =                           |                        | =
ua.argsort(x)                |   |                                        | x.argsort()             | =                           |                        | =
ua.unique_values(x)          |   |                                        |                         |                             |                        | =
ua.cumulative_sum(x)         |   | p.do("cumsum", x)                      |                         | p.cumsum(x)                 |                        | =
ua.nonzero(b)                |   |                                        |                         | =                           |                        | =
ua.broadcast_to(x, (3, 4))   |   |                                        |                         | =                           |                        | =
g.normal(size=4)             |   |                                        |                         | keras.random.normal((4,))   |                        |
"""


class Thin:
    """The thinnest possible wrapper."""

    __slots__ = ("native",)

    def __init__(self, native: Any) -> None:
        self.native = native

    def __add__(self, other: Any) -> Thin:
        return Thin(self.native + other.native) if type(other) is Thin else Thin(self.native + other)

    def __getitem__(self, key: Any) -> Thin:
        return Thin(self.native[key])


class thin:
    """Functions around those of an engine, for ``Thin``."""

    def __init__(self, module: Any) -> None:
        add, sin = module.add, module.sin
        total = module.reduce_sum if hasattr(module, "reduce_sum") else module.sum

        def thin_add(x: Any, y: Any) -> Thin:
            return Thin(add(x.native, y.native)) if type(y) is Thin else Thin(add(x.native, y))

        def thin_sin(x: Any) -> Thin:
            if type(x) is Thin:
                return Thin(sin(x.native))
            raise TypeError

        def thin_sum(x: Any) -> Thin:
            if type(x) is Thin:
                return Thin(total(x.native))
            raise TypeError

        self.add, self.sin, self.sum = thin_add, thin_sin, thin_sum


def _thin(backend: str, natives: Names) -> Names:
    module = _module_of(backend)
    if module is not None:
        return {"t": module} | module.names(natives)
    engine = natives.get("torch") or natives.get("tf") or natives["xp"]
    return {"p": thin(engine), "x": Thin(natives["x"]), "y": Thin(natives["y"])}


def _module_of(backend: str) -> Any:
    """Return the module of an engine's thin calls, ``None`` where there's none."""
    name = f"{__package__}.thin_{backend}"
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def _eagerpy(backend: str, natives: Names) -> Names:
    module = importlib.import_module("eagerpy")
    return {"p": module} | {name: module.astensor(natives[name]) for name in "xybjm"}


def _keras(backend: str, natives: Names) -> Names:
    # Keras has one engine in a process.
    os.environ["KERAS_BACKEND"] = backend
    keras = importlib.import_module("keras")
    if keras.backend.backend() != backend:
        raise ImportError(f"keras is there for {keras.backend.backend()}")
    return {"p": keras.ops, "keras": keras}


def _tensorly(backend: str, natives: Names) -> Names:
    module = importlib.import_module("tensorly")
    module.set_backend({"torch": "pytorch"}.get(backend, backend))
    return {"p": module}


def _array_api_compat(backend: str, natives: Names) -> Names:
    module = importlib.import_module("array_api_compat").array_namespace(natives["x"])
    return {"p": module}


MAKERS: dict[str, Callable[[str, Names], Names]] = {
    "thin": _thin,
    "autoray": lambda backend, natives: {"p": importlib.import_module("autoray")},
    "eagerpy": _eagerpy,
    "keras": _keras,
    "tensorly": _tensorly,
    "array_api_compat": _array_api_compat,
}


def peers(backend: str, wanted: tuple[str, ...], natives: Names) -> dict[str, Names]:
    """Return the names of the statements of each peer that is installed and works with the engine."""
    found = {}
    for peer in wanted:
        if peer == "thin" or importlib.util.find_spec(peer) is not None:
            try:
                found[peer] = natives | MAKERS[peer](backend, natives)
            # Each has its own error for an engine that it doesn't have, or not in this version.
            except Exception as error:
                print(f"  {peer} takes no part: {type(error).__name__}: {error}")
    return found


def statements(backend: str) -> dict[str, dict[str, str]]:
    """Return by our statement those of the peers that have the call."""
    head, *lines = ([cell.strip() for cell in line.split("|")] for line in TABLE.strip("\n").splitlines())
    found: dict[str, dict[str, str]] = {}
    for ours, *cells in lines:
        texts = dict(zip(head[1:], cells, strict=False))
        found[ours] = {peer: ours.replace("ua.", "p.") if text == "=" else text for peer, text in texts.items() if text}
    module = _module_of(backend)
    for ours in () if module is None else [row.strip() for row in module.ROWS.replace("\n", "|").split("|")]:
        if ours:
            found.setdefault(ours, {})["thin"] = ours.replace("ua.", "t.")
    return found
