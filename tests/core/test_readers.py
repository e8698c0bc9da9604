"""Readers during another thread's write: each sees the array before or after it, never an intermediate state."""

from __future__ import annotations

import copy
import pickle
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
import unifyarr.numpy as unp
from unifyarr._core.arrays.ownership import LOCK, Writing, rebind, release
from unifyarr._core.arrays.recipes import root_of
from unifyarr.testing import has

from ..natives import values_of

READERS: dict[str, Callable[[ua.Array], Any]] = {
    **{name: lambda x, name=name: getattr(x, name) for name in ("dtype", "shape", "ndim", "size", "nbytes")},
    **{name: lambda x, name=name: str(getattr(x, name)) for name in ("device", "sharding", "backend", "flags")},
    **{name: lambda x, name=name: getattr(x, name) for name in ("T", "mT", "real", "imag")},
    "flat": lambda x: list(x.flat),
    "native": lambda x: values_of(x.native[...]),
    "len": len,
    "repr": repr,
    "str": str,
    "format": lambda x: f"{x[0, 0]:.2f}",
    "html": lambda x: x._repr_html_(),
    "list": lambda x: [each.tolist() for each in x],
    "tolist": lambda x: x.tolist(),
    "item": lambda x: x[0, 1].item(),
    "float": lambda x: float(x[1, 1]),
    "bool": lambda x: bool(ua.any(x)),
    "contains": lambda x: 3.0 in x,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "asarray": lambda x: ua.asarray(x, copy=True),
    "np.asarray": np.asarray,
    "np.array": lambda x: np.array(x, dtype="float32"),
    "dlpack": lambda x: np.from_dlpack(ua.from_dlpack(x, copy=True).to_backend("numpy").native),
    "dlpack device": lambda x: [int(each) for each in x.__dlpack_device__()],
    "to_backend": lambda x: x.to_backend("numpy"),
    "to_device": lambda x: x.to_device(x.device),
    "zeros_like": ua.zeros_like,
    "empty_like": lambda x: ua.empty_like(x).shape,
    "shares_memory": lambda x: unp.shares_memory(x, x),
    "may_share_memory": lambda x: unp.may_share_memory(x, x[0]),
    "strides": lambda x: x.strides,
    "key": lambda x: x[1],
    "window": lambda x: x[::-1, 1:],
    "mask": lambda x: x[x > 1],
    "indices": lambda x: x[[1, 0]],
    "reshape": lambda x: ua.reshape(x, (-1,)),
    "add": lambda x: x + 1,
    "add both": lambda x: x + x,
    "number": lambda x: 2 - x,
    "beside": lambda x: x * np.ones((2, 3)),
    "sum": ua.sum,
    "sum of an axis": lambda x: ua.sum(x, axis=0),
    "exp": ua.exp,
    "matmul": lambda x: x @ x.T,
    "where": lambda x: ua.where(x > 1, x, 0.0),
    "concat": lambda x: ua.concat([x, x]),
    "sort": ua.sort,
    "out": lambda x: ua.add(x, x, out=ua.zeros_like(x)),
    "assigned": lambda x: _assigned(x),
    "container": lambda x: ua.sum(ua.Container(a=x)).a,
    "norm": ua.linalg.norm,
    "compare": lambda x: x == x,
    "compiled": lambda x: ua.compile(lambda x: x * 2)(x),
    "captured": lambda x: ua.compile(lambda y: x * y)(ua.ones_like(x)),
    "grad": lambda x: ua.grad(lambda x: ua.sum(x * x))(x),
    "vmap": lambda x: ua.vmap(ua.sum)(x),
    "debug": lambda x: _debugged(x),
    "unp": lambda x: unp.mean(x, keepdims=True),
    "isdtype": lambda x: ua.isdtype(x.dtype, "real floating"),
}


def _assigned(x: ua.Array) -> ua.Array:
    y = ua.zeros_like(x)
    y[...] = x
    y[0] += x[1]
    return y


def _debugged(x: ua.Array) -> ua.Array:
    with ua.debug():
        return x + 1


def alone(backend: str) -> ua.Array:
    return ua.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], backend=backend)


def written(backend: str) -> ua.Array:
    x = alone(backend)
    # Ours: a write may use it up.
    x[0, 0] = 1.0
    return x


def in_variable(backend: str) -> ua.Array:
    return ua.variable(alone(backend))


def view(backend: str) -> ua.Array:
    return ua.asarray([[6.0, 5.0, 4.0], [3.0, 2.0, 1.0]], backend=backend)[::-1, ::-1]


def shown(value: Any) -> Any:
    if isinstance(value, ua.Array):
        return value.dtype, value.tolist()
    return value.tolist() if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("kind", [alone, written, in_variable, view])
def test_readers_in_the_middle_of_a_write(backend: str, kind: Callable[[str], ua.Array]) -> None:
    if kind is in_variable and not has(backend, "variables"):
        pytest.skip("the engine has no variables")
    wrong = []
    for name, read in READERS.items():
        if not has(backend, "values") and name not in ("dtype", "shape", "device", "pickle", "repr"):
            continue
        expected = shown(read(kind(backend)))
        x = kind(backend)
        root, begun, found = root_of(x), threading.Event(), list[Any]()

        def write(root: Any = root, begun: threading.Event = begun) -> None:
            with LOCK:
                writing = Writing()
                writing.under_way = True
                native, pending = root._native, release(root, writing)
                begun.set()
                time.sleep(0.01)
                writing.under_way = False
                if pending is not None:
                    rebind(root, native, instead_of=pending)

        thread = threading.Thread(target=write)
        thread.start()
        assert begun.wait(60)
        try:
            found.append(shown(read(x)))
        except Exception as error:
            wrong.append(f"{name}: {type(error).__name__}: {error}")
        else:
            if found != [expected]:
                wrong.append(f"{name}: {found[0]} instead of {expected}")
        thread.join()
    assert not wrong, "\n".join(wrong)


def test_a_read_of_what_an_array_is_ends_no_run_of_writes(backend: str) -> None:
    x = ua.zeros((200, 200), backend=backend)
    for number in range(5):
        x[number] = 1.0
        before = x._native
        assert (x.shape, x.ndim, x.size, x.dtype, x.nbytes) == ((200, 200), 2, 40000, ua.float64, 320000)
        assert x.device == ua.zeros(1, backend=backend).device
        assert x._native is before
