"""Elementwise functions on dask: a task for each chunk, which dask joins with those before and after it."""

from __future__ import annotations

from ._elementwise import elementwise

_NAMES = """
    abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or
    bitwise_right_shift bitwise_xor cbrt ceil clip conj copysign cos cosh divide equal exp expm1 floor floor_divide
    fmod greater greater_equal hypot isfinite isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and
    logical_not logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive pow reciprocal
    remainder round sign signbit sin sinh sqrt square subtract tan tanh trunc
"""
globals().update({name: elementwise("elementwise", name) for name in _NAMES.split()})
