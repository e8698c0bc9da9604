"""NumPy's private names, for compiled functions: without them a setting is asked in Python, and clips aren't fused."""

from __future__ import annotations

from typing import Any

from ...backends.private import private

# The context variable of ``np.errstate``.
error_settings: Any = private("numpy._core._multiarray_umath._extobj_contextvar")
# ``np.clip`` is a function around it.
clip: Any = private("numpy._core.umath.clip")
