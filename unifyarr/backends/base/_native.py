"""The type variable of all groups: the engine's own arrays."""

from __future__ import annotations

from typing import TypeVar

Native = TypeVar("Native")
