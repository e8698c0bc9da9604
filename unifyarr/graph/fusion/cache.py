"""Generated C, compiled by the system's compiler into a cache on disk.

To load a library is to run it. So the cache is a directory of the user's that nobody else can write, and never one that
depends on where a program runs.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import stat
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

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
# How many libraries are kept on disk, of some 16 kB each; and how long the compiler may take, in seconds.
MOST = 1000
PATIENCE = 120

_loaded: dict[str, ctypes.CDLL] = {}


def functions(source: str, count: int) -> list[int] | None:
    """Return the addresses of ``kernel_0`` to ``kernel_<count - 1>`` of C source; ``None`` if it can't be compiled."""
    compiler = find_compiler()
    folder = find_folder()
    if compiler is None or folder is None:
        return None
    key = hashlib.sha256("\0".join((source, compiler, describe(compiler), *FLAGS)).encode()).hexdigest()
    # No lock is held meanwhile, which a process that is forked would find taken for ever.
    library = _loaded.get(key)
    if library is None:
        path = folder / f"{key}.so"
        if not path.exists() and not _compile(compiler, source, path):
            return None
        library = _load(path)
        if library is None:
            return None
        _loaded[key] = library
    found = (ctypes.cast(getattr(library, f"kernel_{i}"), ctypes.c_void_p).value for i in range(count))
    return [each for each in found if each is not None]


def find_compiler() -> str | None:
    """Return the path of the C compiler, or ``None``: of the one that ``UNIFYARR_CC`` names, else of the system's."""
    if os.name != "posix":
        return None
    given = os.environ.get("UNIFYARR_CC")
    if given is not None:
        return shutil.which(given) if given else None
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


@lru_cache(maxsize=8)
def describe(compiler: str) -> str:
    """Return what compiled code depends on besides its source: the compiler's version, and the processor."""
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, timeout=PATIENCE, check=False)
    processor = [platform.machine(), platform.processor(), platform.system()]
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text().splitlines()
        processor += sorted(
            {each for each in lines if each.startswith(("model name", "flags", "Features", "CPU part"))}
        )
    return "\n".join([done.stdout, *processor])


def find_folder() -> Path | None:
    """Return the directory of the cache, made if need be; ``None`` if there's none that is the user's alone."""
    root = os.environ.get("UNIFYARR_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.path.isabs(root):
        return None
    folder = Path(root) / "unifyarr" / "kernels"
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return folder if private and os.access(folder, os.W_OK | os.X_OK) else None


def _compile(compiler: str, source: str, path: Path) -> bool:
    """Compile into the cache; return whether that was possible."""
    try:
        with tempfile.TemporaryDirectory(dir=path.parent) as room:
            text, made = Path(room) / "kernel.c", Path(room) / "kernel.so"
            text.write_text(source)
            command = [compiler, *FLAGS, "-o", str(made), str(text)]
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, check=False, cwd=room
            )
            if done.returncode:
                return False
            # What another process compiles meanwhile is the same.
            made.replace(path)
    except (OSError, subprocess.TimeoutExpired):
        # A full disk, or a compiler that's gone: the machine runs the steps as before.
        return False
    _prune(path.parent)
    return True


def _load(path: Path) -> ctypes.CDLL | None:
    try:
        path.touch()
        return ctypes.CDLL(str(path))
    except OSError:
        # Damaged, as by a full disk, or removed by another process: it's compiled anew next time.
        path.unlink(missing_ok=True)
        return None


def _prune(folder: Path) -> None:
    """Remove the libraries that were used longest ago."""
    ages = []
    for each in folder.glob("*.so"):
        try:
            ages.append((each.stat().st_mtime, each))
        except FileNotFoundError:
            continue
    for _, each in sorted(ages)[:-MOST]:
        each.unlink(missing_ok=True)
