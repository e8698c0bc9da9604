"""The compiled core, if the package was installed with it: ``core`` is ``None`` elsewhere, and Python does the same.

The environment variable ``UNIFYARR_CORE=0`` leaves it out.
"""

from __future__ import annotations

import os
from typing import Any

core: Any = None
if os.environ.get("UNIFYARR_CORE") != "0":
    try:
        from . import _compiled
    except ImportError:
        pass
    else:
        core = _compiled
