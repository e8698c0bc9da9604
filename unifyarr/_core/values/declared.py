"""What is declared, by name: for modules below those that declare it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

# ``declare`` puts in here each function of the main namespace,
functions: Any = SimpleNamespace()
# and the names of the kernels of all functions.
kernel_names: set[str] = set()
