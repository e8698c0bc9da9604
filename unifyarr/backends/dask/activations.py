"""Activation functions on dask."""

from __future__ import annotations

from ._elementwise import elementwise

sigmoid = elementwise("activations", "sigmoid")
