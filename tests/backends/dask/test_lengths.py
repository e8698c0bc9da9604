"""Views of arrays with unknown lengths on dask: their values, and writes through them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import ShapeError, UnknownShapeError
from unifyarr.testing.comparing import assert_same

from .tasks import computed, later

VALUES = np.arange(24.0).reshape(6, 4) - 3
MASK = VALUES[:, 0] > 4
_INNER = (slice(1, -1),)
CHUNKS = pytest.mark.parametrize("chunks", [2, (6, 4), (6, 1)])


def rows(chunks: Any = 2) -> tuple[np.ndarray, ua.Array]:
    """Return rows that are selected by their first elements, beside NumPy's."""
    x = later(VALUES, chunks)
    return VALUES[MASK], x[x[:, 0] > 4]


def softmax(xp: Any, x: Any) -> Any:
    if xp is ua:
        return ua.nn.softmax(x, axis=1)
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


READS: dict[str, Callable[[Any, Any], Any]] = {
    "u[:, 1]": lambda xp, u: u[:, 1],
    "u.T": lambda xp, u: u.T,
    "u[None]": lambda xp, u: u[None],
    "u[..., 0]": lambda xp, u: u[..., 0],
    "u[:, ::-1]": lambda xp, u: u[:, ::-1],
    "u[:, 1:3]": lambda xp, u: u[:, 1:3],
    "u.T[1:3][:, None]": lambda xp, u: u.T[1:3][:, None],
    "u[:, [0, 2]]": lambda xp, u: u[:, [0, 2]],
    "u[u[:, 1] > 10]": lambda xp, u: u[u[:, 1] > 10],
    "u[:, None] - u[:, :, None]": lambda xp, u: u[:, None] - u[:, :, None],
    "u[:, 1] * 2 + u[:, 0]": lambda xp, u: u[:, 1] * 2 + u[:, 0],
    "flip": lambda xp, u: xp.flip(u, axis=1),
    "moveaxis": lambda xp, u: xp.moveaxis(u, 0, 1),
    "expand_dims": lambda xp, u: xp.expand_dims(u, axis=1),
    "squeeze": lambda xp, u: xp.squeeze(u[:, :1], axis=1),
    "split": lambda xp, u: xp.split(u, 2, axis=1)[1],
    "unstack": lambda xp, u: xp.unstack(u, axis=1)[2],
    "stack": lambda xp, u: xp.stack([u, u + 1], axis=1),
    "vecdot": lambda xp, u: xp.vecdot(u, u[:, ::-1]),
    "diff": lambda xp, u: xp.diff(u),
    "cumulative_sum": lambda xp, u: xp.cumulative_sum(u, axis=1),
    "cumulative_sum, initial": lambda xp, u: xp.cumulative_sum(u, axis=1, include_initial=True),
    "softmax": softmax,
    "zeros_like": lambda xp, u: xp.zeros_like(u),
    "ones_like": lambda xp, u: xp.ones_like(u[:, 1], dtype=xp.int8),
    "full_like": lambda xp, u: xp.full_like(u, 7.5),
}


@CHUNKS
@pytest.mark.parametrize("name", READS)
def test_views_and_what_is_made_of_them(name: str, chunks: Any) -> None:
    values, u = rows(chunks)
    with computed() as names:
        found = READS[name](ua, u)
    assert names == []
    assert "?" in repr(found.shape)
    assert_same(found, READS[name](np, values))


def write(text: str) -> Callable[[Any, Any], None]:
    code = compile(text, text, "exec")
    return lambda xp, u: exec(code, {"xp": xp, "u": u})


WRITES = [
    "u[:, 1] = 0.0",
    "u[:, 1] += 1",
    "u.T[2] *= 3",
    "u[:] = 7.0",
    "u[...] = u[:, :1]",
    "u[..., 0] = u[..., 1]",
    "u[:, 1:] = xp.arange(3.0)",
    "u[:, ::-1] = xp.arange(4.0)",
    "u[:, ::-2] = u[:, :2]",
    "v = u.T; v += 1",
    "u.T[:] = xp.asarray([[1.0], [2.0], [3.0], [4.0]])",
    "u[:, 1][...] = 5.0",
    "u[None] -= 1",
    "u[:, 1:3][:, None] *= 2",
    "u[u[:, 0] > 8] = 0.0",
    "u[u[:, 0] > 8] = xp.arange(4.0)",
    "u[:, 1][u[:, 0] > 8] = 0.0",
    "xp.multiply(u, 2, out=u)",
    "u[:, 3] = u[:, 1] * 2; u[:, 0] = u[:, 3]",
    "u[:, [0, 2]] = 1.0",
]


@CHUNKS
@pytest.mark.parametrize("text", WRITES)
def test_writes_through_views(text: str, chunks: Any) -> None:
    values, u = rows(chunks)
    values, view, column = values.copy(), u.T, u[:, 1]
    with computed() as names:
        write(text)(ua, u)
    assert names == []
    write(text)(np, values)
    assert_same(u, values)
    assert_same(view, values.T)
    assert_same(column, values[:, 1])


@pytest.mark.parametrize("shape", [(12,), (5, 7), (4, 3, 2)])
def test_selections_of_one_mask_fit_together(shape: tuple[int, ...]) -> None:
    values = np.arange(float(np.prod(shape))).reshape(shape)
    mask = values[..., 0] % 3 > 0 if len(shape) == 3 else values % 3 > 0
    chosen = later(mask, 2)
    # Numbers, arrays in other chunks and windows are divided as the mask is.
    others = [
        ua.ones(shape),
        later(values, 3),
        later(values, 2),
        later(values, -1),
        later(np.pad(values, 1), 3)[_INNER * len(shape)],
    ]
    for each in others:
        expected = np.asarray(each)[mask] * 2 + values[mask]
        x = later(values, 3)
        found = each[chosen] * 2 + x[chosen]
        assert_same(found.compute(), expected)
        x[chosen] = each[chosen] * 2 + x[chosen]
        assert_same(x[chosen].compute(), expected)


def test_what_needs_the_length_says_what_to_call() -> None:
    values, u = rows()
    refused: list[Callable[[], Any]] = [
        lambda: u[0],
        lambda: u[1:],
        lambda: u[::-1],
        lambda: u.T[:, 0],
        lambda: ua.flip(u),
        lambda: ua.squeeze(u),
        lambda: ua.diff(u, axis=0),
        lambda: ua.zeros_like(u, chunks=2),
        lambda: ua.linalg.svd(u),
        # Different numbers of chunks.
        lambda: u[:, 0] + rows((1, 4))[1][:, 0],
        lambda: write("u[0] = 1.0")(ua, u),
        lambda: write("u[:, 0] = xp.arange(4.0)")(ua, u),
        # As many chunks as it has would have to be known to be as long.
        lambda: write("u[:, 0] = xp.unique_values(u)")(ua, u),
    ]
    for ask in refused:
        with pytest.raises(UnknownShapeError, match=r"x\.compute"):
            ask()
    assert_same(u, values)


def test_lengths_that_differ_show_when_they_are_computed() -> None:
    x = later(np.arange(6.0), 3)
    for bound in (1, 4):
        # Chunks of 1 and 3 elements, and of 1 and 0.
        u, other = x[x > bound], x[x < 4]
        u[:] = other
        with pytest.raises(ShapeError, match="elements are written"):
            u.compute()
        with pytest.raises(ValueError, match="shape"):
            ua.stack([x[x > bound], other]).compute()


def test_a_selection_of_no_rows() -> None:
    x = later(VALUES, 2)
    u, values = x[x[:, 0] > 100], VALUES[VALUES[:, 0] > 100]
    u[:, 1] += 1
    assert_same(u.T[1:], values.T[1:])
    assert_same(ua.nn.softmax(u), values)


@CHUNKS
def test_the_place_of_an_extreme(chunks: Any) -> None:
    wanted, u = rows(chunks)
    for name in ("argmax", "argmin"):
        for options in ({"axis": 0}, {"axis": 0, "keepdims": True}):
            found = getattr(ua, name)(u, **options)
            assert_same(found, getattr(np, name)(wanted, **options))
        assert_same(getattr(ua, name)(u[:, 2]), getattr(np, name)(wanted[:, 2]))


@CHUNKS
def test_writes_at_places_of_an_unknown_number(chunks: Any) -> None:
    x, values = later(VALUES, chunks), VALUES.copy()
    x[ua.nonzero(x[:, 0] > 4)[0]] = [1.0, 2.0, 3.0, 4.0]
    values[MASK] = [1.0, 2.0, 3.0, 4.0]
    assert_same(x, values)
