"""The cache of compiled libraries on disk: checked files in a directory of the user's own, found by descriptor.

To load a library is to run it, so a library of somebody else's must never be loaded. Any directory above the cache may
belong to somebody else, who may exchange what it holds at any moment: a path says nothing about what it will lead to
next. So each level of ours is opened from the one above it, without following links; owner and mode are asked of what
was opened; and files are read, written and removed by its descriptor.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..._core.values.logs import INFO, listener

SUFFIX = ".so"
# How many files are kept on disk, of some 16 kB each.
MOST = 1000
# The directories below the user's cache directory.
LEVELS = ("unifyarr", "kernels")

_told: set[str] = set()


@contextmanager
def opened() -> Iterator[int | None]:
    """Open the cache and give its descriptor, for a ``with`` block; ``None`` if there is none that is safe."""
    try:
        folder = _open(_root())
    except OSError as error:
        tell_once("compiled loops are not kept on disk, and each process compiles its own: %s", error)
        yield None
        return
    try:
        yield folder
    finally:
        os.close(folder)


def tell_once(message: str, error: Exception) -> None:
    """Log why the cache isn't used: each message once."""
    if message not in _told:
        _told.add(message)
        logger = listener("compile", INFO)
        if logger is not None:
            logger.info(message, error)


def _root() -> str:
    root = os.environ.get("UNIFYARR_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.path.isabs(root):
        raise PermissionError(f"{root!r} depends on where the program runs: set UNIFYARR_CACHE_DIR to an absolute path")
    return root


def _open(root: str) -> int:
    os.makedirs(root, mode=0o700, exist_ok=True)
    # This directory may belong to another user: the directories in it are checked.
    level, path = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), root
    for name in LEVELS:
        path = os.path.join(path, name)
        try:
            with suppress(FileExistsError):
                os.mkdir(name, mode=0o700, dir_fd=level)
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=level)
        finally:
            os.close(level)
        level = below
        if not _is_ours(os.fstat(level)):
            os.close(level)
            raise PermissionError(
                f"{path} belongs to another user, or others can write it: make it yours alone, with mode 0700, or set "
                "UNIFYARR_CACHE_DIR to another directory"
            )
    if not os.access(".", os.W_OK | os.X_OK, dir_fd=level):
        os.close(level)
        raise PermissionError(f"{path} can't be written: set UNIFYARR_CACHE_DIR to a directory that can")
    return level


def _is_ours(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@contextmanager
def room(folder: int | None) -> Iterator[Path]:
    """Make an empty directory that nobody else can write or exchange, for a ``with`` block."""
    # In the cache, where the system can name a directory by its descriptor: programs may not be loaded from every
    # temporary directory.
    parent = None if folder is None else f"/proc/self/fd/{folder}"
    with tempfile.TemporaryDirectory(
        prefix="unifyarr-", dir=parent if parent and os.path.isdir(parent) else None
    ) as at:
        yield Path(at)


def read(folder: int, key: str) -> bytes | None:
    """Return the library of a key as it was written; ``None`` if there is none, or the file is damaged or not ours."""
    try:
        # Opening a pipe would wait for somebody who writes to it.
        file = os.open(key + SUFFIX, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return None
    try:
        found = os.fstat(file)
        if not (stat.S_ISREG(found.st_mode) and _is_ours(found)):
            return None
        with open(file, "rb", closefd=False) as reader:
            content = reader.read()
        # When it was used last.
        os.utime(file)
    finally:
        os.close(file)
    library, digest = content[: -hashlib.sha256().digest_size], content[-hashlib.sha256().digest_size :]
    return library if digest == _digest(key, library) else None


def write(folder: int, key: str, library: bytes) -> None:
    """Keep a library, in place of any file of that key; remove those that were used longest ago."""
    name = f"{key}.{secrets.token_hex(8)}"
    try:
        made = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
        try:
            with open(made, "wb") as file:
                # A loader ignores what follows a library.
                file.write(library + _digest(key, library))
            os.replace(name, key + SUFFIX, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            os.unlink(name, dir_fd=folder)
            raise
        _prune(folder)
    except OSError as error:
        # A full disk, or a directory of that name.
        tell_once("a compiled loop is not kept on disk: %s", error)


def _digest(key: str, library: bytes) -> bytes:
    # The key too: a file under another one's name is damage.
    return hashlib.sha256(key.encode() + library).digest()


def _prune(folder: int) -> None:
    ages = []
    with os.scandir(folder) as entries:
        for each in entries:
            # Another process may remove it meanwhile.
            with suppress(FileNotFoundError):
                if each.is_file(follow_symlinks=False):
                    ages.append((each.stat(follow_symlinks=False).st_mtime, each.name))
    for _, name in sorted(ages)[:-MOST]:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
