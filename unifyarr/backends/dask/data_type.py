"""Casting on dask."""

from __future__ import annotations

from ._chunks import elementwise

astype = elementwise("data_type", "astype")
