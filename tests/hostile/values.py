"""Hostile arguments, by name: what somebody may pass by mistake, or to break something."""

from __future__ import annotations

import datetime
import decimal
import fractions
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import unifyarr as ua

from ..oracle import words
from .natives import NATIVES

Make = Callable[[], Any]


class Raised(Exception):
    """An error raised by methods of hostile objects: it isn't changed."""


def _raises(*_: Any, **__: Any) -> Any:
    raise Raised("a method of the argument itself")


def _raising(*names: str) -> Make:
    return lambda: type("Raising", (), dict.fromkeys(names, _raises))()


def _lying(**methods: Any) -> Make:
    return lambda: type("Lying", (), {name: lambda self, *_, **__: methods[name] for name in methods})()


class Liar(Exception):
    """Never raised: only a class to pass."""


def recursive_list() -> list[Any]:
    """Return a list that contains itself."""
    x: list[Any] = [1.0]
    x.append(x)
    return x


def recursive_dict() -> dict[str, Any]:
    """Return a dict that contains itself."""
    x: dict[str, Any] = {"a": 1.0}
    x["b"] = x
    return x


def recursive_tuple() -> tuple[Any, ...]:
    """Return a tuple that contains itself through a list."""
    x: list[Any] = []
    x.append((1, x))
    return (x,)


def deep_list(depth: int) -> list[Any]:
    """Return a list in a list in a list."""
    x: list[Any] = [1.0]
    for _ in range(depth):
        x = [x]
    return x


def _generator() -> Iterator[int]:
    yield from (1, 0)


SCALARS: dict[str, Make] = {
    repr(value): (lambda value: lambda: value)(value)
    for value in (
        *(None, True, False, "", "a", "float32", "sum", "ij,jk", "a\0b", "é" * 50, b"bytes", "cpu", "numpy", ...),
        *(0, 1, -1, 2, 3, 7, 64, 65, 1000, 2**31, -(2**31), 2**62, 2**63, -(2**63), 2**64, 10**30, -(10**30)),
        *(0.0, -0.0, 0.5, -1.5, 2.0, 1e308, -1e308, 5e-324, float("nan"), float("inf"), float("-inf")),
        *(1j, complex("nan+infj"), decimal.Decimal("1.5"), fractions.Fraction(1, 3), datetime.date(2026, 1, 1)),
        *(int, Liar, len, object, np, ua.float32, NotImplemented, slice(None), slice("a", 2), slice(0, 2**70, -1)),
        *(np.float64(1.5), np.int8(-3), np.bool_(True), np.str_("x"), np.longdouble(2), np.datetime64("2026-01-01")),
        *(np.dtype("S3"), np.dtype("float32"), np.dtype([("a", "i4")]), range(3), range(10**12)),
    )
}

OBJECTS: dict[str, Make] = {
    "object()": object,
    "a lambda": lambda: lambda *_: None,
    "a generator": _generator,
    "an iterator": lambda: iter([1, 0]),
    "[]": list,
    "()": tuple,
    "{}": dict,
    "{'a': 1}": lambda: {"a": 1},
    "{1, 2}": lambda: {1, 2},
    "a bytearray": lambda: bytearray(b"\x02\x03"),
    "a memoryview": lambda: memoryview(b"\x03\x02"),
    "[1, 0]": lambda: [1, 0],
    "(0, 0)": lambda: (0, 0),
    "(2, 3)": lambda: (2, 3),
    "[0.5, None]": lambda: [0.5, None],
    "[1, 'a']": lambda: [1, "a"],
    "(2**62, 2**62)": lambda: (2**62, 2**62),
    "(2**33, 2**33, 0)": lambda: (2**33, 2**33, 0),
    "(1,) * 70": lambda: (1,) * 70,
    "a ragged list": lambda: [[1.0, 2.0], [3.0]],
    "a ragged nest": lambda: [[[1.0]], [2.0]],
    "a recursive list": recursive_list,
    "a recursive dict": recursive_dict,
    "a recursive tuple": recursive_tuple,
    "a deep list": lambda: deep_list(100),
    "a very deep list": lambda: deep_list(5000),
    "a list of NumPy arrays": lambda: [np.ones(2), np.ones((2, 1))],
    "a list of arrays": lambda: [ua.ones(2), ua.ones(3)],
    "a nest of an array": lambda: [[ua.ones(2)], [3.0]],
    "raising __array__": _raising("__array__"),
    "raising __index__": _raising("__index__"),
    "raising __float__": _raising("__float__"),
    "raising __len__": _raising("__len__", "__getitem__"),
    "raising __iter__": _raising("__iter__"),
    "raising __eq__": _raising("__eq__", "__hash__"),
    "raising __repr__": _raising("__repr__"),
    "raising __dlpack__": _raising("__dlpack__", "__dlpack_device__"),
    "raising __bool__": _raising("__bool__"),
    "lying __array__": _lying(__array__="text"),
    "lying __index__": _lying(__index__="text"),
    "lying __float__": _lying(__float__="text"),
    "lying __len__": lambda: type("Lying", (list,), {"__len__": lambda self: -1})([1.0]),
    "lying __iter__": _lying(__iter__=3),
    "lying __dlpack__": _lying(__dlpack__=3, __dlpack_device__=(1, 0)),
    "lying __dlpack_device__": _lying(__dlpack__=None, __dlpack_device__="cpu"),
    "lying __array_interface__": lambda: type("Lying", (), {"__array_interface__": {"shape": "x"}})(),
    "a Container": lambda: ua.Container(a=ua.ones(2), b=[ua.zeros((2, 3))]),
    "an empty Container": ua.Container,
}

DTYPES = words("bool int8 int64 uint8 uint64 float16 bfloat16 float32 complex64 complex128")
SHAPES = [(), (0,), (1,), (3,), (5,), (2, 3), (3, 2), (0, 3), (2, 0, 3), (2, 3, 1), (1,) * 8]


def _array(dtype: str, shape: tuple[int, ...]) -> Make:
    def make() -> ua.Array:
        values = np.arange(np.prod(shape, dtype=int)).reshape(shape) - (0 if dtype.startswith(("u", "b")) else 1)
        return ua.asarray(ua.asarray(values), dtype=dtype, copy=True)

    return make


def _another() -> str:
    others = ("torch",) if ua.current_backend() == "numpy" else ("numpy",)
    return next((name for name in others if name in ua.available_backends()), "numpy")


def _special() -> ua.Array:
    return ua.asarray([[np.nan, np.inf, -np.inf], [-0.0, 1e308, 5e-324]])


ARRAYS: dict[str, Make] = {
    **{f"{dtype} of (2, 3)": _array(dtype, (2, 3)) for dtype in DTYPES},
    **{f"float64 of {shape}": _array("float64", shape) for shape in SHAPES},
    **{f"int64 of {shape}": _array("int64", shape) for shape in SHAPES},
    "special values": _special,
    "a view": lambda: ua.zeros((4, 6))[::2, ::-2],
    "a transposed view": lambda: ua.zeros((3, 2)).T,
    "a read-only view": lambda: ua.broadcast_to(ua.ones(3), (2, 3)),
    "a diagonal": lambda: ua.linalg.diagonal(ua.eye(3)),
    "an array of another backend": lambda: ua.ones(3, backend=_another()),
    "huge integers": lambda: ua.asarray([2**62, -(2**63)]),
}


def hostile() -> dict[str, Make]:
    """Return makers of each hostile argument for the current backend, by name."""
    return {**SCALARS, **OBJECTS, **ARRAYS, **NATIVES["numpy"], **NATIVES[ua.current_backend()]}


def targets() -> dict[str, Make]:
    """Return makers of arguments for ``out``."""
    return {
        **ARRAYS,
        **NATIVES["numpy"],
        **NATIVES[ua.current_backend()],
        **{name: OBJECTS[name] for name in ("[]", "()", "a list of arrays", "a Container", "object()", "a deep list")},
        "a pair": lambda: (ua.zeros((2, 3)), ua.zeros((2, 3))),
        "a pair that is one": lambda: (ua.zeros(3),) * 2,
        "a string": lambda: "out",
    }
