"""Exports of arrays to NumPy and to DLPack's consumers: whether they are writable, and whether a write is seen.

The table of ``docs/contract.md`` is ``EXPORTS``, row by row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.testing import has, lacks

from .natives import on_host, skip_unless, values_of, variable
from .oracle import as_numpy

VALUES = np.arange(9.0).reshape(3, 3)


def read_only_native(backend: str) -> ua.Array:
    """Return an array over a native that must not be written: a read-only ``ndarray``, an expanded tensor."""
    if backend == "numpy":
        values = VALUES.copy()
        values.flags.writeable = False
        return ua.asarray(values)
    skip_unless(backend, "torch", why="native arrays that are read-only")
    import torch

    return ua.asarray(torch.arange(3.0, dtype=torch.float64).expand(3, 3))


def whole(backend: str) -> ua.Array:
    return ua.asarray(VALUES, copy=True)


KINDS: dict[str, Callable[[str], ua.Array]] = {
    "an array": whole,
    "a variable": lambda backend: ua.asarray(variable(backend, VALUES)),
    "a slice": lambda backend: whole(backend)[1:, 1:],
    "a view with a negative step": lambda backend: whole(backend)[::-1],
    "`broadcast_to`": lambda backend: ua.broadcast_to(whole(backend)[0], (3, 3)),
    "`linalg.diagonal`": lambda backend: ua.linalg.diagonal(whole(backend)),
    "a read-only native": read_only_native,
}
TAKERS: dict[str, Callable[[Any], Any]] = {
    "np.asarray(x)": np.asarray,
    "np.asarray(x, copy=False)": lambda x: np.asarray(x, copy=False),
    "np.array(x)": np.array,
    "np.from_dlpack(x)": np.from_dlpack,
    "np.from_dlpack(x, copy=False)": lambda x: np.from_dlpack(x, copy=False),
    "np.from_dlpack(x, copy=True)": lambda x: np.from_dlpack(x, copy=True),
    "a capsule without marks": lambda x: _Unmarked(x).taken(),
}
# The export of an engine with mutable arrays, and of one with immutable arrays.
SHARED, COPY, FROZEN, NOTHING = "the memory", "a copy", "read-only", "an error"
EXPORTS: dict[str, dict[str, tuple[str, str]]] = {
    "np.asarray(x)": {
        "an array": (SHARED, COPY),
        "a variable": (SHARED, COPY),
        "a slice": (SHARED, COPY),
        "a view with a negative step": (SHARED, COPY),
        "`broadcast_to`": (FROZEN, FROZEN),
        "`linalg.diagonal`": (FROZEN, FROZEN),
        "a read-only native": (FROZEN, FROZEN),
    },
    "np.asarray(x, copy=False)": {
        "an array": (SHARED, FROZEN),
        "a variable": (SHARED, FROZEN),
        "a slice": (SHARED, NOTHING),
        "a view with a negative step": (SHARED, NOTHING),
        "`broadcast_to`": (FROZEN, FROZEN),
        "`linalg.diagonal`": (FROZEN, FROZEN),
        "a read-only native": (FROZEN, FROZEN),
    },
    "np.array(x)": dict.fromkeys(KINDS, (COPY, COPY)),
    "np.from_dlpack(x)": {
        "an array": (SHARED, COPY),
        "a variable": (SHARED, COPY),
        "a slice": (SHARED, COPY),
        "a view with a negative step": (COPY, COPY),
        "`broadcast_to`": (FROZEN, FROZEN),
        "`linalg.diagonal`": (FROZEN, FROZEN),
        "a read-only native": (FROZEN, FROZEN),
    },
    "np.from_dlpack(x, copy=False)": {
        "an array": (SHARED, FROZEN),
        "a variable": (SHARED, FROZEN),
        "a slice": (SHARED, FROZEN),
        "a view with a negative step": (NOTHING, FROZEN),
        "`broadcast_to`": (FROZEN, FROZEN),
        "`linalg.diagonal`": (FROZEN, FROZEN),
        "a read-only native": (FROZEN, FROZEN),
    },
    "np.from_dlpack(x, copy=True)": dict.fromkeys(KINDS, (COPY, COPY)),
    "a capsule without marks": {
        "an array": (SHARED, COPY),
        "a variable": (SHARED, COPY),
        "a slice": (SHARED, COPY),
        "a view with a negative step": (COPY, COPY),
        "`broadcast_to`": (COPY, COPY),
        "`linalg.diagonal`": (COPY, COPY),
        "a read-only native": (COPY, COPY),
    },
}


class _Unmarked:
    """An array on its way to a consumer from before DLPack 1.0, which ignores flags and writes to the memory."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __dlpack__(self, **_: Any) -> Any:
        return self.x.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.x.__dlpack_device__()

    def taken(self) -> Any:
        torch = pytest.importorskip("torch", reason="torch is not installed")
        return torch.from_dlpack(self).numpy()


@on_host("the table says what shares it")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("taker", TAKERS)
def test_what_others_get_of_an_array(backend: str, taker: str, kind: str) -> None:
    x = KINDS[kind](backend)
    before = as_numpy(x)
    wanted = EXPORTS[taker][kind][not has(backend, "writes")]
    if backend == "torch" and kind == "a view with a negative step" and "asarray" in taker:
        # torch has no negative steps, so that such a view has no memory of its own there.
        wanted = {SHARED: COPY}[wanted] if taker == "np.asarray(x)" else NOTHING
    if wanted == NOTHING:
        with pytest.raises((ValueError, BufferError), match="copy=False"):
            TAKERS[taker](x)
        return
    taken = TAKERS[taker](x)
    np.testing.assert_array_equal(taken, before)
    assert taken.flags.writeable == (wanted != FROZEN)
    if wanted != FROZEN:
        taken[...] = 99
    seen = not np.array_equal(as_numpy(x), before)
    assert seen == (wanted == SHARED)


@pytest.mark.parametrize("kind", KINDS)
def test_torch_gets_no_memory_that_must_not_be_written(backend: str, kind: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    # torch obeys no marks.
    x = KINDS[kind](backend)
    before = as_numpy(x)
    for take in (torch.from_dlpack, torch.asarray):
        tensor = take(x)
        np.testing.assert_array_equal(values_of(tensor), before)
        tensor.fill_(99)
        expected = EXPORTS["np.from_dlpack(x)"][kind][not has(backend, "writes")]
        assert np.array_equal(as_numpy(x), before) == (expected != SHARED)
        ua.inplace_update(x, before) if expected == SHARED else None


@pytest.mark.parametrize("target", ["numpy", "torch", "jax", "tensorflow"])
def test_from_dlpack_takes_negative_steps(backend: str, target: str, request: pytest.FixtureRequest) -> None:
    named = request.config.getoption("--backends")
    if target not in (named.split(",") if named else ua.available_backends()):
        pytest.skip(f"{target} is not under test")
    for given in (VALUES[::-1], VALUES[:, ::-2], ua.asarray(VALUES)[::-1], ua.asarray(VALUES).T[::-2]):
        taken = ua.from_dlpack(given, backend=target)
        np.testing.assert_array_equal(as_numpy(taken), as_numpy(given))


@pytest.mark.parametrize("kind", KINDS)
def test_to_numpy_is_independent(backend: str, kind: str) -> None:
    x = KINDS[kind](backend)
    before = as_numpy(x)
    taken = x.to_numpy()
    assert type(taken) is np.ndarray
    np.testing.assert_array_equal(taken, before)
    taken[...] = 99
    np.testing.assert_array_equal(as_numpy(x), before)


def test_the_page_has_the_table() -> None:
    from pathlib import Path

    text = (Path(__file__).parent.parent / "docs" / "contract.md").read_text()
    for kind in KINDS:
        cells = [f"{one}, {two}" if one != two else one for one, two in (EXPORTS[taker][kind] for taker in TAKERS)]
        assert f"| {kind} | {' | '.join(cells)} |" in text


@lacks("writes", why="memory that is written needs no marks")
@pytest.mark.parametrize("kind", ["an array", "a slice"])
def test_who_insists_on_immutable_memory_gets_it(backend: str, kind: str) -> None:
    x = KINDS[kind](backend)
    before = as_numpy(x).copy()
    assert "dltensor" in str(x.__dlpack__(copy=False))
    x[...] = 0.0
    assert before.any()
    assert not as_numpy(x).any()
