"""The newest version of each engine that the whole suite passes with. A newer one loads, and is reported."""

from __future__ import annotations

import re
import sys

from ..values.logs import INFO, listener

# As ``constraints.txt`` pins them; ``docs/versions.md`` has the others that were tried.
NEWEST = {"numpy": "2.4.6", "torch": "2.13.0", "jax": "0.10.2", "tensorflow": "2.21.0", "dask": "2026.8.0"}


def newer_than_tested(engine: str, version: str | None) -> str | None:
    """Return the newest version that was tested, if the given one has a greater minor version; else ``None``."""
    newest = NEWEST.get(engine)
    if newest is None or version is None:
        return None
    return newest if _release(version) > _release(newest) else None


def _release(version: str) -> tuple[int, ...]:
    # Patches and local parts, such as ``+cpu``, don't count.
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("+")[0])[:2])


def report(engine: str) -> None:
    """Log an engine that is newer than the newest one tested, when its backend has been loaded."""
    version = getattr(sys.modules.get(engine), "__version__", None)
    newest = newer_than_tested(engine, version)
    logger = listener("versions", INFO) if newest is not None else None
    if logger is not None:
        logger.info("%s %s is newer than %s, the newest version that unifyarr was tested with", engine, version, newest)
