"""The compiled core, if the package was installed with it: ``core`` is ``None`` elsewhere, and Python does the same."""

from __future__ import annotations

from typing import Any

core: Any
try:
    from . import _compiled
except ImportError:
    core = None
else:
    core = _compiled
