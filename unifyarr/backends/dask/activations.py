"""Activation functions on dask."""

from __future__ import annotations

from ._chunks import elementwise

sigmoid = elementwise("activations", "sigmoid")
