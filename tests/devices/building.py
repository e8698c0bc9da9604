"""The simulation's extension module, compiled once for each version of torch and of its sources."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

SOURCES = Path(__file__).parent / "sim"
_FLAGS = ("-std=c++20", "-O0", "-g0", "-fPIC", "-shared", "-DTORCH_API_INCLUDE_EXTENSION_H")
_LIBRARIES = ("c10", "torch_cpu", "torch", "torch_python")


class UnavailableError(Exception):
    """The simulation can't be built here."""


def module_path() -> Path:
    """Return the compiled module, made now unless an earlier run has made it."""
    compiler = os.environ.get("CXX", "c++")
    if not sys.platform.startswith("linux"):
        raise UnavailableError(f"the simulated device uses pages of Linux, and this is {sys.platform}")
    if shutil.which(compiler) is None:
        raise UnavailableError(f"the simulated device is compiled, and there is no {compiler!r} on PATH: set CXX")
    import fcntl

    folder = _folder()
    path = folder / f"_sim{sysconfig.get_config_var('EXT_SUFFIX')}"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    # The first process compiles, others wait for it.
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            unfinished = path.with_suffix(".unfinished")
            done = subprocess.run([compiler, *_arguments(unfinished)], capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"{compiler} can't compile the simulated device:\n{done.stderr}")
            unfinished.replace(path)
    return path


def _folder() -> Path:
    key = hashlib.sha256(repr((metadata.version("torch"), sys.version, _FLAGS)).encode())
    for source in sorted(SOURCES.iterdir()):
        key.update(source.read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "unifyarr-tests" / f"simulated-device-{key.hexdigest()[:16]}"


def _arguments(path: Path) -> list[str]:
    spec = find_spec("torch")
    assert spec is not None, "torch isn't installed"
    assert spec.origin is not None
    torch = Path(spec.origin).parent
    headers = torch / "include", torch / "include/torch/csrc/api/include", sysconfig.get_paths()["include"]
    return [
        *_FLAGS,
        # Warnings of torch's own headers aren't ours to mend.
        *(option for each in headers for option in ("-isystem", str(each))),
        *(str(SOURCES / "module.cpp"), "-o", str(path), f"-L{torch / 'lib'}", f"-Wl,-rpath,{torch / 'lib'}"),
        *(f"-l{library}" for library in _LIBRARIES),
    ]
