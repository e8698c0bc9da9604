"""The installed packages and the configuration: versions, backends, devices, abilities, environment variables."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator
from importlib import metadata
from typing import Any

from ._core.engines.registry import check_installed, entry_points, load
from ._core.engines.tested import newer_than_tested
from ._core.values.called import boundary
from ._version import __version__
from .backends import Ability
from .backends.private import missing
from .errors import BackendNotFoundError

# Packages of ours, then those that are used where they are installed.
_PACKAGES = ("numpy", "ml_dtypes", "optree")
_OPTIONAL = ("scipy", "safetensors", "hypothesis", "pytest")
# Variables that the package and its backends read, and those of other packages that matter.
VARIABLES = (
    *("UNIFYARR_BACKEND", "UNIFYARR_NUM_THREADS", "UNIFYARR_CC", "UNIFYARR_CACHE_DIR", "UNIFYARR_CORE"),
    "UNIFYARR_TRACEBACK",
    *("OMP_NUM_THREADS", "XDG_CACHE_HOME", "JAX_ENABLE_X64", "TF_CPP_MIN_LOG_LEVEL"),
)
# The distributions of an engine that are named otherwise than its module.
_DISTRIBUTIONS = {"tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-intel", "tensorflow-macos")}


_NO_CORE = """NO: each call takes some microseconds more, and no result takes the memory of a temporary.
              Install the package where there is a C compiler, for a build of Python with the global lock, and leave
              UNIFYARR_CORE unset."""


def found() -> dict[str, Any]:
    """Return the content of ``show_versions``: strings, numbers, lists and dicts of these, as JSON has them.

    Every backend that is installed is loaded, and its engine asked for its devices.
    """
    from ._core.calling import plain_calls
    from ._native import core
    from .graph.fusion import cache, machine, threads

    compiler = cache.find_compiler()
    return {
        "unifyarr": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in (*_PACKAGES, *_OPTIONAL)},
        "compiled core": core is not None,
        "compiled loops": machine.is_compiled(),
        "temporaries": "written over" if plain_calls.FINDS else "kept",
        "C compiler": compiler,
        "threads": threads.get_num_threads(),
        "backends": {name: _of_backend(name) for name in entry_points()},
        "environment": {name: os.environ.get(name) for name in VARIABLES},
    }


def _version(*distributions: str) -> str | None:
    for name in distributions:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    # Copies of packages that aren't installed say it themselves.
    return getattr(sys.modules.get(distributions[0]), "__version__", None)


def _of_backend(name: str) -> dict[str, Any]:
    try:
        check_installed(name)
    except BackendNotFoundError as error:
        return {"installed": False, "why": str(error)}
    version = _version(*_DISTRIBUTIONS.get(name, (name,)))
    try:
        backend = load(name)
    except Exception as error:
        # An engine's import may fail in many ways, and the report shows the error.
        return {"installed": True, "version": version, "loads": False, "why": f"{type(error).__name__}: {error}"}
    return {
        "installed": True,
        "version": version,
        "newer than tested": newer_than_tested(name, version),
        "loads": True,
        "devices": [str(device) for device in backend.devices()],
        "64 bits": all(backend.supports_dtype(_dtype(each)) for each in ("int64", "float64")),
        "abilities": [each.value for each in Ability if not backend.lacks(each)],
        "lacks": [each.value for each in Ability if backend.lacks(each)],
        "private names that are gone": missing(name),
    }


def _dtype(name: str) -> Any:
    import numpy as np

    return np.dtype(name)


@boundary
def show_versions(*, as_json: bool = False) -> None:
    """Print the versions of the package and its dependencies, and each backend with its devices and abilities.

    ``python -m unifyarr`` prints the same. Add it to what you report.

    Parameters
    ----------
    as_json
        Whether to print JSON instead of lines.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.show_versions()  # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
    unifyarr ...
    """
    everything = found()
    print(json.dumps(everything, indent=2) if as_json else "\n".join(_lines(everything)))


def _lines(everything: dict[str, Any]) -> Iterator[str]:
    for name in ("unifyarr", "python", "platform"):
        yield f"{name:14}{everything[name]}"
    for name, version in everything["packages"].items():
        if version is not None or name in _PACKAGES:
            yield f"{name:14}{version or 'not installed'}"
    yield f"compiled core {'yes' if everything['compiled core'] else _NO_CORE}"
    yield f"compiled loops {_yes(everything['compiled loops'])}"
    yield f"{'temporaries':14}{everything['temporaries']}"
    yield f"{'C compiler':14}{everything['C compiler'] or 'none'}"
    yield f"{'threads':14}{everything['threads']}"
    for name, each in everything["backends"].items():
        yield ""
        yield f"backend {name}: {'not installed' if not each['installed'] else each['version'] or 'version unknown'}"
        if "why" in each:
            yield f"  why         {each['why']}"
            continue
        yield f"  devices     {', '.join(each['devices'])}"
        yield f"  64 bits     {_yes(each['64 bits'])}"
        yield f"  abilities   {', '.join(each['abilities'])}"
        yield f"  lacks       {', '.join(each['lacks']) or 'nothing'}"
        if each["newer than tested"]:
            yield f"  note        newer than {each['newer than tested']}, the newest version tested"
        if each["private names that are gone"]:
            yield f"  slower for  {', '.join(each['private names that are gone'])}"
    yield ""
    yield "environment variables that are set"
    given = {name: value for name, value in everything["environment"].items() if value is not None}
    yield from (f"  {name}={value}" for name, value in given.items())
    if not given:
        yield "  none"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
