"""Each fact of each kernel is taken away, and the kernel is asked: an error, or what only a run tells, never a guess.

One call of each kernel is taken from the calls of all functions.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr._core.arrays.array import wrap
from unifyarr._core.arrays.ownership import read
from unifyarr._core.engines.kernels import kernels_of
from unifyarr._core.engines.registry import load
from unifyarr._core.kernels.moving import METHODS
from unifyarr._core.kernels.record import ELEMENTWISE, FUSED, KERNELS, RANDOM, Alias, Batch, Derivative, MemoryOrder
from unifyarr.derivatives.rule import RULES
from unifyarr.errors import LostDerivativeError, TraceError, UnknownShapeError
from unifyarr.graph.fusion.index_maps import _order_after
from unifyarr.graph.kernels.kernelop import KernelOp
from unifyarr.modes.batch.handle import BatchHandle
from unifyarr.modes.batch.natives import Batched
from unifyarr.modes.batch.rule import OF_KINDS, OWN
from unifyarr.modes.batch.selection import BatchedSelection
from unifyarr.modes.selection import reductions, rules
from unifyarr.modes.selection.dense import refuse
from unifyarr.modes.tape.entries import Entry, Taped
from unifyarr.modes.tape.handle import TapeHandle
from unifyarr.testing import has
from unifyarr.testing.calling import find
from unifyarr.testing.cases import CASES

from ..derivatives.cases import CASES as RULED
from ..kernels import calling

Call = tuple[tuple[np.ndarray, ...], dict[str, Any]]
# How a selection passes these is their own, since they make selections or take their places.
SELECTING = {"nonzero", "copy", "select", "put_selected", "gather", "take_places", "scatter", "put_places"}
SELECTING |= {"scatter_reduce", "take", "concat", "repeat", "matmul"}


@functools.cache
def calls_of(backend: str) -> dict[str, Call]:
    """Return a call of each kernel that a backend has, by the values of its arrays and its static arguments."""
    handle = load(backend)
    # The calls on which rules are tried, and those of functions.
    found: dict[str, Call] = {
        name: (values, static) for name, values, static in reversed(RULED) if name in handle.kernels
    }

    def around(name: str, kernel: Any, natives: tuple[Any, ...], static: dict[str, Any]) -> Any:
        are_natives = name in handle.kernels and all(isinstance(x, handle.native_types) for x in natives)
        kept = tuple([np.array(handle.to_numpy(x)) for x in natives]) if are_natives else ()
        result = kernel(*natives, **static)
        is_good = are_natives and result is not NotImplemented and static.get("out") is None
        if is_good and (name not in found or _worth(kept) > _worth(found[name][0])):
            found[name] = kept, {key: value for key, value in static.items() if key != "out"}
        return result

    with ua.use_backend(backend), calling(backend, around), np.errstate(all="ignore"):
        for name, cases in CASES.items():
            for case in cases:
                with contextlib.suppress(Exception):
                    case.call(find(name), [ua.asarray(x) for x in case.arrays])
    return found


def _worth(values: Sequence[np.ndarray]) -> tuple[bool, bool]:
    """Return a sort key that prefers calls of floating numbers and of arrays of several axes."""
    floats = bool(values) and all(x.dtype.kind in "fc" and x.dtype.itemsize > 4 for x in values[:1])
    return floats, bool(values) and values[0].ndim > 1 and values[0].size < 100


def called(backend: str) -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Yield the calls, with fresh natives."""
    for name, (values, static) in sorted(calls_of(backend).items()):
        yield name, tuple([load(backend).from_numpy(x.copy()) for x in values]), static


def without(name: str, patch: pytest.MonkeyPatch, **facts: object) -> None:
    patch.setitem(KERNELS, name, KERNELS[name]._replace(**facts))


@pytest.fixture(autouse=True)
def _with_strides(backend: str) -> None:
    if not (has(backend, "writes") and has(backend, "values")):
        pytest.skip("facts are the same on all engines: these run step by step")


def test_each_kernel_is_called(backend: str) -> None:
    handle = load(backend)
    left = {
        name
        for name in handle.kernels.keys() - calls_of(backend).keys() - METHODS
        # Random numbers are no cases, and engines do some functions that have a body at once.
        if KERNELS[name].kind is not RANDOM and KERNELS[name].derivative is not Derivative.BODY
    }
    assert left <= {"floor_divide", "take_places", "put_places"}, left
    assert len(calls_of(backend)) > 190


# -- no record --------------------------------------------------------------------------------------------------------


def test_without_a_record_nothing_is_done(backend: str) -> None:
    handle = load(backend)
    for name in handle.kernels:
        with pytest.MonkeyPatch.context() as patch:
            patch.delitem(KERNELS, name)
            for mode in (
                lambda: TapeHandle(handle, 0),
                lambda: BatchHandle(handle),
                lambda: kernel_node(backend, name),
            ):
                with pytest.raises(AssertionError, match=f"nothing is known of a kernel {name!r}"):
                    mode()


def kernel_node(backend: str, name: str) -> object:
    return KernelOp(load(backend), name, {}, 1)


# -- derivatives and batches ------------------------------------------------------------------------------------------


def test_without_a_rule_there_is_no_derivative(backend: str) -> None:
    tape, asked = TapeHandle(load(backend), 0), set()
    for name, natives, static in called(backend):
        record = KERNELS[name]
        floating = [x for x in natives if load(backend).dtype(x).kind in "fc"]
        if record.derivative is not Derivative.RULE or not floating or name not in RULES:
            continue
        with pytest.MonkeyPatch.context() as patch:
            patch.delitem(RULES, name)
            fresh = TapeHandle(load(backend), 0)
            with pytest.raises(LostDerivativeError, match=name):
                fresh.kernel(name)(*[Taped(x, Entry()) for x in natives], **static)
        asked.add(name)
    assert len(asked) > 100
    needed = {name for name in tape.kernels if KERNELS[name].derivative is Derivative.RULE}
    assert needed <= RULES.keys()


def test_without_a_rule_there_is_no_batch(backend: str) -> None:
    handle, asked = load(backend), set()
    for name, natives, static in called(backend):
        record = KERNELS[name]
        if record.batch not in (Batch.KIND, Batch.OWN) or not natives:
            continue
        with pytest.MonkeyPatch.context() as patch:
            if record.batch is Batch.OWN:
                patch.delitem(OWN, name)
            else:
                patch.delitem(OF_KINDS, record.kind.name)
            batch = BatchHandle(handle)
            rows = [Batched(handle.from_numpy(np.stack([handle.to_numpy(x)] * 2))) for x in natives]
            with pytest.raises(TraceError, match=f"{name}.* has no rule"):
                batch.kernel(name)(*rows, **static)
        asked.add(name)
    assert len(asked) > 140


# -- selections -------------------------------------------------------------------------------------------------------


def test_of_another_kind_there_is_no_selection(backend: str) -> None:
    handle, asked = load(backend), set()
    for name, natives, static in called(backend):
        shape = handle.shape(natives[0]) if natives else ()
        if name in SELECTING or not shape or KERNELS[name].batch is Batch.BODY:
            continue
        with pytest.MonkeyPatch.context() as patch:
            without(name, patch, kind=FUSED, neutral=None)
            for table in (rules._RULES, reductions._OWN):
                patch.delitem(table, name, raising=False)
            # Along another axis than the one that is selected from, kinds say nothing.
            if _names_another_axis(static, len(shape)):
                continue
            batch = BatchHandle(handle)
            mask = Batched(handle.from_numpy(np.arange(shape[0]) % 2 == 0), True)
            selected = BatchedSelection(Batched(natives[0], True), mask, 0)
            with pytest.raises(TraceError, match=r"needs selected elements|no rule"):
                batch.densely(name, [selected, *[Batched(x, True) for x in natives[1:]]], static)
        asked.add(name)
    assert len(asked) > 100


def _names_another_axis(static: dict[str, Any], ndim: int) -> bool:
    axes = rules._axes(static, ndim)
    return axes is not None and 0 not in axes


def test_what_is_refused_says_what_to_do() -> None:
    with pytest.raises(TraceError, match=r"f\(\) needs selected elements.*ua\.where"):
        refuse("f()", "it", "or not")


# -- types ------------------------------------------------------------------------------------------------------------


def traced(backend: str, name: str, natives: Sequence[Any], static: dict[str, Any], select: bool = False) -> list[Any]:
    """Return the types that a trace of one kernel has."""

    def function(*arrays: Array) -> Any:
        given = [arrays[0][arrays[-1]], *arrays[1:-1]] if select else arrays
        found = arrays[0]._backend.kernel(name)(*[read(x) for x in given], **static)
        return tuple([wrap(x, arrays[0]._backend) for x in (found if type(found) is tuple else (found,))])

    arrays = [wrap(x, load(backend)) for x in natives]
    return [each.type for each in ua.graph.trace(function, *arrays).outputs]


def test_without_a_rule_of_types_a_run_tells(backend: str) -> None:
    handle, asked = load(backend), set()
    for name, natives, static in called(backend):
        record = KERNELS[name]
        has_rule = record.types is not None or (record.ufunc is not None and not static)
        if not natives or not has_rule or record.alias in (Alias.WRITE, Alias.COMBINE):
            continue
        with pytest.MonkeyPatch.context() as patch:
            without(name, patch, types=None, ufunc=None)
            wanted = handle.kernels[name](*natives, **static)
            types = traced(backend, name, natives, static)
        for found, native in zip(types, wanted if type(wanted) is tuple else (wanted,), strict=True):
            native = handle.as_native(native)
            assert (tuple(found.shape), found.dtype) == (tuple(handle.shape(native)), handle.dtype(native)), name
        asked.add(name)
    assert len(asked) > 100


def test_without_a_rule_of_types_unknown_lengths_are_refused(backend: str) -> None:
    handle, asked = load(backend), set()
    for name, natives, static in called(backend):
        record = KERNELS[name]
        shape = handle.shape(natives[0]) if natives else ()
        if not shape or record.unknown is not None or record.batch is Batch.SELECTION:
            continue
        with pytest.MonkeyPatch.context() as patch:
            without(name, patch, types=None, ufunc=None)
            mask = handle.from_numpy(np.arange(shape[0]) % 2 == 0)
            with pytest.raises((UnknownShapeError, TraceError)):
                traced(backend, name, [*natives, mask], static, select=True)
        asked.add(name)
    assert len(asked) > 120


# -- order in memory --------------------------------------------------------------------------------------------------


def test_without_an_order_nothing_is_said_of_memory(backend: str) -> None:
    handle, asked = load(backend), set()
    for name in handle.kernels:
        record = KERNELS[name]
        if record.alias is not Alias.FRESH or name in ("astype", "roll", "copy"):
            continue
        with pytest.MonkeyPatch.context() as patch:
            without(name, patch, order=MemoryOrder.OTHERWISE)
            node = ua.graph.Apply(KernelOp(handle, name, {}, 1), [ua.graph.Variable() for _ in range(2)], [None])
            assert _order_after(node, [3, 3]) == 0, name
        asked.add(name)
    assert len(asked) > 140


# -- chunks -----------------------------------------------------------------------------------------------------------


def test_of_another_kind_there_are_no_chunks() -> None:
    pytest.importorskip("dask")
    engine = load("dask").engine
    made = kernels_of(engine)
    by_kind = {name for name, each in KERNELS.items() if each.kind is ELEMENTWISE} & made.keys()
    own = {name for module in engine.modules for name in vars(module)}
    assert len(by_kind - own) > 50
    for name in by_kind - own:
        with pytest.MonkeyPatch.context() as patch:
            without(name, patch, kind=FUSED)
            assert name not in kernels_of(engine), name
