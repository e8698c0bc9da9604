"""Declarations of results, compared with runs: their order in memory, and whether last bits depend on strides.

Each kernel is watched in the calls of all functions, and called again on copies of its arrays that lie in other ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.engines.handle import Handle
from unifyarr._core.engines.registry import load
from unifyarr._core.kernels.record import KERNELS, RANDOM, Alias, Kernel, MemoryOrder
from unifyarr._core.values.shapes import c_strides
from unifyarr.backends.base.values import FLOATING
from unifyarr.testing import needs
from unifyarr.testing.calling import find
from unifyarr.testing.cases import CASES

from ..kernels import calling

# How copies of an array lie: by columns, with gaps, and one element behind the beginning of the memory.
WAYS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "columns": lambda x: np.array(x, order="F"),
    "gaps": lambda x: np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x,
    "offset": lambda x: np.concatenate([np.zeros(1, x.dtype), x.reshape(-1)])[1:].reshape(x.shape),
}


def steps_of(handle: Handle, native: Any) -> list[tuple[int, int]]:
    """Return the stride and the length of each axis that has several elements, none if there are no elements."""
    shape, itemsize = handle.shape(native), handle.dtype(native).itemsize
    strides = handle.strides(native)
    found = c_strides(shape, itemsize) if strides is None else strides
    return [] if 0 in shape else [(step, n) for step, n in zip(found, shape, strict=True) if n > 1]


def is_in_c_order(handle: Handle, native: Any) -> bool:
    steps = [step for step, _ in steps_of(handle, native)]
    return steps == sorted(steps, reverse=True)


def is_dense(handle: Handle, native: Any) -> bool:
    pairs = sorted(steps_of(handle, native), reverse=True)
    return [step for step, _ in pairs] == [*c_strides(tuple([n for _, n in pairs]), handle.dtype(native).itemsize)]


def laid_out(handle: Handle, native: Any, way: str) -> Any:
    values = np.array(handle.to_numpy(native), order="C")
    wanted = WAYS[way](values)
    return handle.from_numpy(wanted, copy=False) if way == "offset" else handle.with_strides(native, wanted.strides)


def is_fresh(record: Kernel, static: dict[str, Any]) -> bool:
    return record.alias is Alias.FRESH and record.kind is not RANDOM and static.get("out") is None


def depends_on_layout(handle: Handle, record: Kernel, natives: Sequence[Any]) -> bool:
    """Return whether last bits are said to depend on how arrays lie in memory."""
    chars = FLOATING if record.adds else handle.by_layout.get(record.name, "")
    return any(handle.dtype(x).char in chars for x in natives)


def problems(handle: Handle, name: str, kernel: Any, natives: tuple[Any, ...], static: dict[str, Any]) -> Iterator[str]:
    """Yield the declarations of a kernel that a call contradicts."""
    record = KERNELS.get(name)
    if record is None or not is_fresh(record, static) or not all(isinstance(x, handle.native_types) for x in natives):
        return
    known = handle.name == "numpy" and record.order is not MemoryOrder.OTHERWISE

    def called(*given: Any) -> list[Any] | None:
        found = kernel(*given, **static)
        found = list(found) if isinstance(found, (tuple, list)) else [found]
        results = [handle.as_native(x) if not isinstance(x, handle.native_types) else x for x in found]
        return None if found[0] is NotImplemented else results

    plain = [handle.from_numpy(np.array(handle.to_numpy(x), order="C")) for x in natives]
    wanted = called(*plain)
    if wanted is None:
        return
    if (known or name not in handle.reordering) and not all(is_in_c_order(handle, x) for x in wanted):
        yield f"{name} of arrays in C order is in another one: {static}"
    if known and not all(is_dense(handle, x) for x in wanted):
        yield f"{name} leaves gaps: {static}"
    if not natives:
        return
    for way in WAYS:
        found = called(*(laid_out(handle, x, way) for x in natives))
        if found is None:
            continue
        if known and record.order in (MemoryOrder.KEEPS, MemoryOrder.DENSE):
            in_order = record.order is MemoryOrder.KEEPS or all(is_in_c_order(handle, x) for x in found)
            if not (in_order and all(is_dense(handle, x) for x in found)):
                yield f"{name} isn't {record.order.value} ({way}): {static}"
        if not depends_on_layout(handle, record, plain):
            for one, other in zip(wanted, found, strict=True):
                if handle.to_numpy(one).tobytes() != handle.to_numpy(other).tobytes():
                    yield f"last bits of {name} depend on strides ({way}): {static}"


@needs("writes", why="an engine whose arrays have strides")
# torch tells of copies that it makes itself.
@pytest.mark.filterwarnings("ignore:torch.searchsorted")
@pytest.mark.parametrize("name", sorted(CASES))
def test_results_lie_as_it_is_declared(backend: str, name: str) -> None:
    handle, wrong = load(backend), set[str]()

    def around(kernel: str, function: Any, natives: tuple[Any, ...], static: dict[str, Any]) -> Any:
        if kernel in KERNELS:
            wrong.update(problems(handle, kernel, function, natives, dict(static)))
        return function(*natives, **static)

    with ua.use_backend(backend), calling(backend, around), np.errstate(all="ignore"):
        for case in CASES[name]:
            try:
                case.call(find(name), [ua.asarray(x) for x in case.arrays])
            except (ua.errors.UnifyarrError, NotImplementedError):
                continue
    assert not wrong


@needs("writes", why="an engine whose arrays have strides")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name", sorted(name for name, each in KERNELS.items() if each.ufunc is not None))
def test_bits_of_elementwise_kernels_follow_from_values(backend: str, name: str, dtype: str) -> None:
    handle, ufunc = load(backend), KERNELS[name].ufunc
    assert ufunc is not None
    if not any(types.startswith(np.dtype(dtype).char * ufunc.nin) for types in ufunc.types):
        return
    rng = np.random.default_rng(0)
    for scale in (1, 30):
        arrays = [rng.normal(size=(37, 29)) * scale for _ in range(2 * ufunc.nin)]
        values = [x + 1j * y if dtype.startswith("c") else x for x, y in zip(arrays[::2], arrays[1::2], strict=True)]
        natives = tuple([handle.from_numpy(x.astype(dtype)) for x in values])
        with np.errstate(all="ignore"):
            assert not list(problems(handle, name, handle.kernel(name), natives, {}))
