"""Replacing a file as a whole: readers find the old one or the new one, and nothing in between."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator


@contextlib.contextmanager
def replacing(path: str) -> Iterator[str]:
    """Yield the name of a new empty file, which replaces ``path`` if the block ends without an error.

    The new file is in the same folder, has an unpredictable name, and isn't open anywhere else. It gets the old file's
    permissions, or the defaults of the process. If ``path`` is a symbolic link, the file that it points to is replaced,
    and the link stays.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    mode = _mode_of(target)
    unfinished = os.path.join(folder, f".{secrets.token_hex(16)}.unfinished")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    # The new file must not be readable by more users than the old one, not even while it's written.
    descriptor = os.open(unfinished, flags, 0o666 if mode is None else 0o600)
    if mode is None:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
    os.close(descriptor)
    try:
        yield unfinished
        _to_disk(unfinished, os.O_RDWR)
        # Some writers replace the file by one of their own.
        os.chmod(unfinished, mode)
        os.replace(unfinished, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.remove(unfinished)
        raise
    # The folder records which file has the name, so it's synced too. Some systems can't open folders.
    with contextlib.suppress(OSError):
        _to_disk(folder, os.O_RDONLY)


def _mode_of(path: str) -> int | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise ValueError(f"{path} is no regular file, which could be replaced")
    return stat.S_IMODE(found.st_mode)


def _to_disk(path: str, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
