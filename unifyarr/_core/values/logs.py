"""Messages by the loggers ``unifyarr.compile``, ``unifyarr.fallback``, ``unifyarr.copy`` and ``unifyarr.versions``.

Nothing is imported for them: a program that hasn't imported ``logging`` doesn't listen. Messages are made only on paths
that are slow anyway, and never while a lock is held: a handler may do anything.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

# The levels of ``logging``: what happens once for each program, and what may happen at each call.
INFO, DEBUG = 20, 10


def listener(area: str, level: int = DEBUG) -> Any:
    """Return the logger of an area if somebody listens to messages of a level, else ``None``."""
    logging = sys.modules.get("logging")
    # Another thread may be in the middle of importing it.
    if logging is None or not hasattr(logging, "getLogger"):
        return None
    logger = _logger(area)
    return logger if logger.isEnabledFor(level) else None


@cache
def _logger(area: str) -> Any:
    import logging

    return logging.getLogger(f"unifyarr.{area}")
