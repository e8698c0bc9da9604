"""NumPy's archives: zip files of arrays. Every field that is read is checked first."""

from __future__ import annotations

import io
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from typing import IO, TypeAlias

import numpy as np

# Shape, whether columns come first, and dtype.
_Header: TypeAlias = tuple[tuple[int, ...], bool, np.dtype]

# Without ``limit`` at most this many bytes of arrays are read, or this many times the size of the file. Zeros compress
# to a thousandth, in an honest archive and in one that is made to fill the memory.
SMALL = 64 << 20
RATIO = 100


def check_total(path: str, total: int, size: int, limit: int | None) -> None:
    """Raise ``ValueError`` if the arrays of a file of ``size`` bytes take more memory than the limit."""
    most = max(SMALL, RATIO * size) if limit is None else limit
    if total > most:
        raise ValueError(
            f"{path}, a file of {size:,} bytes, has arrays of {total:,} bytes, more than the limit of {most:,}: "
            f"if you trust it, load it with limit={total}"
        )


def write(path: str, arrays: dict[str, np.ndarray]) -> None:
    """Write arrays by name, as ``numpy.savez`` does, which can't have arrays named as its own arguments."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, x in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, x, allow_pickle=False)


def read(path: str, size: int, limit: int | None) -> dict[str, np.ndarray]:
    """Return the arrays of an archive of ``size`` bytes by name."""
    with open(path, "rb") as file:
        try:
            return _members(path, file, size, limit)
        except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError) as error:
            # ``OSError``: an offset before the start of the file. ``RuntimeError``: a password, or an unknown
            # compression.
            raise ValueError(f"{path} is no NumPy archive, or damaged: {error}") from error


def _members(path: str, file: IO[bytes], size: int, limit: int | None) -> dict[str, np.ndarray]:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        # At most as many bytes as its entry says are read of a member.
        check_total(path, sum(each.file_size for each in members), size, limit)
        arrays: dict[str, np.ndarray] = {}
        for each in members:
            name = each.filename.removesuffix(".npy")
            if name == each.filename or each.is_dir():
                raise ValueError(f"{path} has a member {name!r}, which is no array")
            if name in arrays:
                raise ValueError(f"{path} is damaged: it has two arrays {name!r}")
            arrays[name] = _array(f"{name!r} of {path}", archive.read(each))
        return arrays


def _header(read: Callable[[IO[bytes]], _Header], file: IO[bytes], attempts: int = 5) -> _Header:
    # NumPy parses a header with ``ast``, which may raise SystemError in Python 3.11 while another thread parses too:
    # https://github.com/python/cpython/issues/106905
    start = file.tell()
    while True:
        try:
            return read(file)
        except SystemError:
            attempts -= 1
            if not attempts:
                raise
            file.seek(start)


def _array(what: str, data: bytes) -> np.ndarray:
    # Without ``numpy.load``, which takes memory for as many elements as the header says before it reads one.
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in headers:
            raise ValueError(f"its format has version {version}")
        shape, by_columns, dtype = _header(headers[version], file)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError, tokenize.TokenError) as error:
        raise ValueError(f"{what} is damaged, or no array of numbers: {error}") from error
    if dtype.hasobject:
        raise ValueError(
            f"{what} holds pickled objects, which are never loaded: Object arrays run what their file says"
        )
    if any(length < 0 for length in shape) or math.prod(shape) * dtype.itemsize != len(data) - file.tell():
        raise ValueError(f"{what} is damaged: it has {len(data) - file.tell()} bytes for shape {shape} of {dtype}")
    flat = np.frombuffer(data, dtype, offset=file.tell()) if math.prod(shape) else np.empty(0, dtype)
    # In memory that can be written.
    return flat.reshape(shape, order="F" if by_columns else "C").copy(order="K")
