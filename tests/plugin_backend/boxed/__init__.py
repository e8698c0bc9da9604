"""An engine with an array class of its own, and its backend for unifyarr."""

from __future__ import annotations

from ._array import Box
from ._backend import BoxedBackend

__all__ = ["Box", "BoxedBackend"]
