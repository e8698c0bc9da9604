"""``copy=``: ``True`` never shares, ``False`` shares or raises, ``None`` shares where it can; ``out`` decides alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.testing import has

from ..functions.calls import PUBLIC, find
from ..natives import native, skip_unless, values_of, variable
from ..oracle import assert_same, assert_unchanged

COPY = (None, True, False)
VALUES = np.arange(1.0, 7.0).reshape(2, 3)


class Other:
    """An object of somebody else's that speaks DLPack."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __dlpack__(self, **options: Any) -> object:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.values.__dlpack_device__()


Call = Callable[..., ua.Array]
# These can share memory with an array of ours: a call, and its result for NumPy's array.
SHARING: dict[str, tuple[Call, Callable[[np.ndarray], np.ndarray]]] = {
    "array": (lambda x, **options: ua.array(x, **options), lambda v: v),
    "asarray": (lambda x, **options: ua.asarray(x, **options), lambda v: v),
    "asarray in its dtype": (lambda x, **options: ua.asarray(x, dtype=x.dtype, **options), lambda v: v),
    "asarray on its backend": (lambda x, **options: ua.asarray(x, backend=x.backend, **options), lambda v: v),
    "asarray on its device": (lambda x, **options: ua.asarray(x, device=x.device, **options), lambda v: v),
    "asarray of a view": (lambda x, **options: ua.asarray(x[::-1], **options), lambda v: v[::-1]),
    "astype": (lambda x, **options: ua.astype(x, "float64", **options), lambda v: v),
    "astype of a view": (lambda x, **options: ua.astype(x.T, "float64", **options), lambda v: v.T),
    "reshape": (lambda x, **options: ua.reshape(x, (3, 2), **options), lambda v: v.reshape(3, 2)),
    "reshape to the same shape": (lambda x, **options: ua.reshape(x, (2, 3), **options), lambda v: v),
    "reshape of a view": (lambda x, **options: ua.reshape(x[:, ::2], (2, 2, 1), **options), lambda v: v[:, ::2, None]),
    "from_dlpack": (lambda x, **options: ua.from_dlpack(x, **options), lambda v: v),
    "from_dlpack of a view": (lambda x, **options: ua.from_dlpack(x[1:], **options), lambda v: v[1:]),
}
each_sharing = pytest.mark.parametrize(("call", "numpy_call"), SHARING.values(), ids=SHARING.keys())


def test_every_function_with_a_copy_argument_is_tested_here() -> None:
    taking = {name for name in PUBLIC if "copy" in inspect.signature(find(name)).parameters}
    assert {name.split()[0] for name in SHARING} == taking


@pytest.mark.parametrize("copy", COPY)
@each_sharing
def test_what_can_share_shares_unless_it_must_not(
    backend: str, call: Call, numpy_call: Callable[[np.ndarray], np.ndarray], copy: bool | None
) -> None:
    values, x = VALUES.copy(), ua.asarray(VALUES, copy=True)
    result = call(x, copy=copy)
    seen = numpy_call(values)
    assert_same(result, seen)
    if copy:
        seen = seen.copy()
        assert result is not x
        assert result.base is None
    for array in (result, seen):
        array[-1] = 50
        array += 1
    assert_same(x, values)
    x[0] = 7
    values[0] = 7
    assert_same(result, seen)


@pytest.mark.parametrize("copy", COPY)
@pytest.mark.parametrize("on", ["array", "variable"])
def test_the_engines_own_array(backend: str, on: str, copy: bool | None) -> None:
    given = (variable if on == "variable" else native)(backend, VALUES)
    x = ua.asarray(given, copy=copy)
    assert copy or x.native is given
    x += 1
    assert_same(x, VALUES + 1)
    shares = not copy and (on == "variable" or has(backend, "writes"))
    np.testing.assert_array_equal(values_of(given), VALUES + 1 if shares else VALUES)


# These need a copy: a call, its result, and the error of ``copy=False``.
COPYING: dict[str, tuple[Call, np.ndarray]] = {
    "asarray of a list": (lambda x, **options: ua.asarray([1.0, 2.0], **options), np.array([1.0, 2.0])),
    "asarray of a scalar": (lambda x, **options: ua.asarray(2, **options), np.array(2)),
    "asarray in another dtype": (
        lambda x, **options: ua.asarray(x, dtype="float32", **options),
        VALUES.astype("float32"),
    ),
    "asarray of data in another dtype": (
        lambda x, **options: ua.asarray(VALUES, dtype="float32", **options),
        VALUES.astype("float32"),
    ),
    "asarray of another backend": (
        lambda x, **options: ua.asarray(_elsewhere(x), backend=x.backend, **options),
        VALUES,
    ),
    "reshape": (lambda x, **options: ua.reshape(x.T, (6,), **options), VALUES.T.reshape(6)),
    "reshape of a flipped array": (
        lambda x, **options: ua.reshape(x[:, ::-1], (6,), **options),
        VALUES[:, ::-1].ravel(),
    ),
}
each_copying = pytest.mark.parametrize(("call", "expected"), COPYING.values(), ids=COPYING.keys())


def _elsewhere(x: ua.Array) -> ua.Array:
    other = next((each for each in ua.available_backends() if each != x.backend), None)
    if other is None:
        pytest.skip("no other backend is installed")
    return x.to_backend(other)


@each_copying
def test_what_needs_a_copy_raises_where_it_is_forbidden(backend: str, call: Call, expected: np.ndarray) -> None:
    x = ua.asarray(VALUES, copy=True)
    with pytest.raises(ua.errors.CopyError):
        call(x, copy=False)
    for copy in (None, True):
        result = call(x, copy=copy)
        assert_same(result, expected)
        result += 1
        assert_unchanged(x, VALUES)


@pytest.mark.parametrize("copy", COPY)
def test_astype_to_another_dtype_makes_a_new_array_in_any_case(backend: str, copy: bool | None) -> None:
    x = ua.asarray(VALUES, copy=True)
    result = ua.astype(x, "float32", copy=copy)
    assert_same(result, VALUES.astype("float32"))
    result += 1
    assert_unchanged(x, VALUES)


@pytest.mark.parametrize("copy", COPY)
def test_from_dlpack_of_somebody_elses_object(backend: str, copy: bool | None) -> None:
    other = Other(VALUES.copy())
    if copy is False and not has(backend, "writes"):
        # Memory that somebody writes is never an immutable array's.
        with pytest.raises((BufferError, ValueError)):
            ua.from_dlpack(other, backend=backend, copy=copy)
        return
    x = ua.from_dlpack(other, backend=backend, copy=copy)
    x += 1
    shares = not copy and has(backend, "writes")
    np.testing.assert_array_equal(other.values, VALUES + 1 if shares else VALUES)


@pytest.mark.parametrize("copy", COPY)
def test_a_read_only_array_is_shared_to_be_read(backend: str, copy: bool | None) -> None:
    skip_unless(backend, "numpy", why="arrays that can be read-only")
    values = VALUES.copy()
    values.flags.writeable = False
    x = ua.asarray(values, copy=copy)
    assert np.shares_memory(np.asarray(x), values) == (not copy)
    if not copy:
        with pytest.raises(ua.errors.ReadOnlyError):
            x += 1
    assert_unchanged(x, VALUES)


EVERY_CALL: dict[str, tuple[Call, np.ndarray]] = {
    **{f"{name}, sharing": (call, of(VALUES)) for name, (call, of) in SHARING.items()},
    **{f"{name}, copying": found for name, found in COPYING.items()},
    "astype to another dtype": (lambda x, **options: ua.astype(x, "float32", **options), VALUES.astype("float32")),
    "from_dlpack of another's object": (
        lambda x, **options: ua.from_dlpack(Other(VALUES.copy()), backend=x.backend, **options),
        VALUES,
    ),
}


@pytest.mark.parametrize("copy", COPY)
@pytest.mark.parametrize(("call", "expected"), EVERY_CALL.values(), ids=EVERY_CALL.keys())
def test_out_decides(backend: str, call: Call, expected: np.ndarray, copy: bool | None) -> None:
    x = ua.asarray(VALUES, copy=True)
    base = ua.zeros((2, *expected.shape), dtype=expected.dtype)
    for out in (ua.zeros(expected.shape, dtype=expected.dtype), base[1, ...], ua.flip(base[0, ...])):
        assert call(x, copy=copy, out=out) is out
        assert_same(out, expected)
        out += 1
        assert_unchanged(x, VALUES)


@pytest.mark.parametrize("copy", COPY)
@pytest.mark.parametrize(
    "call",
    [
        lambda x, **options: ua.asarray(x, **options),
        lambda x, **options: ua.astype(x, "float64", **options),
        lambda x, **options: ua.reshape(x, (3, 3), **options),
        lambda x, **options: ua.from_dlpack(x, **options),
    ],
    ids=["asarray", "astype", "reshape", "from_dlpack"],
)
def test_out_may_overlap_what_is_copied(backend: str, call: Call, copy: bool | None) -> None:
    values = np.arange(9.0).reshape(3, 3)
    x = ua.asarray(values, copy=True)
    targets: list[Callable[[Any], Any]] = [lambda x: x, lambda x: x.T, lambda x: x[::-1]]
    for target in targets:
        call(x, copy=copy, out=target(x))
        target(values)[...] = values.copy()
        assert_same(x, values)
