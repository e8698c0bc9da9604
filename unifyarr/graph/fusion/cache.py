"""Generated C, compiled by the system's compiler into a cache on disk."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

from . import store

# No product and sum become one operation, integers wrap, and all that's left of a value are its bits.
FLAGS: tuple[str, ...] = (
    "-O3",
    "-march=native",
    "-ffp-contract=off",
    "-fwrapv",
    "-fno-math-errno",
    "-fno-trapping-math",
)
FLAGS += ("-fno-strict-aliasing", "-shared", "-fPIC", "-w")
if platform.machine() in ("x86_64", "AMD64"):
    # By the costs of other processors GCC reads twice what a loop uses twice, and reads bound most loops.
    FLAGS += ("-mtune=skylake-avx512", "-mprefer-vector-width=512")
# How long the compiler may take, in seconds.
PATIENCE = 120

_loaded: dict[str, ctypes.CDLL] = {}


def functions(source: str, count: int) -> list[int] | None:
    """Return the addresses of ``kernel_0`` to ``kernel_<count - 1>`` of C source; ``None`` if it can't be compiled."""
    compiler = find_compiler()
    if compiler is None:
        return None
    try:
        library = _library(compiler, source)
    except (OSError, subprocess.SubprocessError) as error:
        # A full disk, or a compiler that's gone or never ends: the machine runs the steps as before.
        store.tell_once("loops can't be compiled: %s", error)
        return None
    found = (ctypes.cast(getattr(library, f"kernel_{i}"), ctypes.c_void_p).value for i in range(count))
    return [each for each in found if each is not None]


def _library(compiler: str, source: str) -> ctypes.CDLL:
    parts = (source.encode(), os.fsencode(compiler), describe(compiler), *(each.encode() for each in FLAGS))
    key = hashlib.sha256(b"\0".join(parts)).hexdigest()
    # No lock is held meanwhile, which a process that is forked would find taken for ever.
    if key not in _loaded:
        with store.opened() as folder, store.room(folder) as room:
            content = None if folder is None else store.read(folder, key)
            if content is None:
                content = _compile(compiler, source, room)
                if folder is not None:
                    store.write(folder, key, content)
            # A copy of its own, of the bytes that were checked. The loader takes two files of one name for one library.
            path = room / f"{key}{store.SUFFIX}"
            path.write_bytes(content)
            _loaded[key] = ctypes.CDLL(str(path))
    return _loaded[key]


def find_compiler() -> str | None:
    """Return the path of the C compiler, or ``None``: of the one that ``UNIFYARR_CC`` names, else of the system's."""
    if os.name != "posix":
        return None
    given = os.environ.get("UNIFYARR_CC")
    names = ("cc", "gcc", "clang") if given is None else (given,)
    found = next(filter(None, map(shutil.which, names)), None)
    # It runs in another directory.
    return found and os.path.abspath(found)


@lru_cache(maxsize=8)
def describe(compiler: str) -> bytes:
    """Return what compiled code depends on besides its source: the compiler's version, and the processor."""
    done = subprocess.run(
        [compiler, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False
    )
    processor = [each.encode() for each in (platform.machine(), platform.processor(), platform.system())]
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_bytes().splitlines()
        processor += sorted(
            {each for each in lines if each.startswith((b"model name", b"flags", b"Features", b"CPU part"))}
        )
    return b"\n".join([done.stdout, *processor])


def _compile(compiler: str, source: str, room: Path) -> bytes:
    """Return the library that the compiler makes."""
    (room / "kernel.c").write_text(source)
    # By names in the room: its path may have a meaning in this process alone.
    command = [compiler, *FLAGS, "-o", "made", "kernel.c"]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=True, cwd=room)
    return (room / "made").read_bytes()
