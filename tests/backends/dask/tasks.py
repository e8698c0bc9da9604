"""The tasks that dask computes during a block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from dask.callbacks import Callback

import unifyarr as ua
from unifyarr.backends.dask._chunks import Chunk

# Arrays that came from the host are asked for as they are.
_READING = re.compile(r"(array-)?finalize-|array-[0-9a-f]+$")


@contextmanager
def computed() -> Iterator[list[str]]:
    """Return a list that gets the name of each task that dask runs in this block, but for those that only read."""
    names: list[str] = []

    def note(key: Any, *_: Any) -> None:
        name = key if isinstance(key, str) else key[0]
        if not _READING.match(name):
            names.append(name)

    with Callback(pretask=note):
        yield names


@contextmanager
def kernels() -> Iterator[list[str]]:
    """Return a list that gets the name of each kernel that is run on a chunk in this block."""
    names: list[str] = []
    run = Chunk.__call__

    def counted(chunk: Chunk, *arrays: Any) -> Any:
        names.append(chunk.name)
        return run(chunk, *arrays)

    with patch.object(Chunk, "__call__", counted):
        yield names


def later(values: Any, chunks: Any = "auto") -> ua.Array:
    """Return an array of values that have to be computed."""
    x = ua.asarray(values, copy=True, chunks=chunks)
    return ~~x if np.asarray(values).dtype.kind == "b" else +x
