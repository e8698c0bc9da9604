"""The kernels: those of NumPy on the values of boxes, whose results are boxes. What isn't named here is a gap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unifyarr.backends.numpy import (
    activations,
    convolution,
    creation,
    data_type,
    elementwise,
    fft,
    gradients,
    indexing,
    linalg,
    manipulation,
    searching,
    sets,
    sorting,
    special,
    statistical,
    utility,
)
from unifyarr.backends.numpy import scattering as scatter

from ._array import Box

_Kernel = Callable[..., Any]

_NAMES = {
    activations: "sigmoid",
    convolution: "convolution",
    creation: "empty full ones tril triu zeros",
    data_type: "astype",
    elementwise: """
        abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_or
        bitwise_right_shift bitwise_xor ceil conj copysign cos cosh divide equal exp expm1 floor floor_divide fmod
        greater greater_equal hypot isfinite isinf isnan less less_equal log log10 log1p log2 logaddexp logical_and
        logical_not logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive pow
        reciprocal remainder round sign signbit sin sinh sqrt square subtract tan tanh trunc
    """,
    fft: "fft fftn hfft ifft ifftn ihfft irfft irfftn rfft rfftn",
    gradients: "stop_gradient",
    indexing: "gather get_window take take_along_axis",
    linalg: """
        cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power matrix_rank pinv qr
        slogdet solve svd svdvals vecdot vector_norm
    """,
    manipulation: "bitcast broadcast_to concat imag permute_dims real repeat reshape roll stack",
    scatter: "scatter_reduce",
    searching: "argmax argmin nonzero searchsorted where",
    sets: "isin unique_all unique_values",
    sorting: "argsort sort",
    special: "betainc digamma erf erfc erfinv gammainc gammaincc gammaln i0 i0e i1 i1e ndtri zeta",
    statistical: "cumulative_prod cumulative_sum max mean min prod std sum var",
    utility: "all any",
}
# These write into their first array: NumPy's write into a copy of it.
_WRITING = {indexing: "put_mask scatter set_window", manipulation: "set_imag set_real"}


def _boxed(result: Any) -> Any:
    if isinstance(result, tuple):
        return tuple(map(_boxed, result))
    return Box(np.asarray(result)) if isinstance(result, (np.ndarray, np.generic)) else result


def _on_boxes(kernel: _Kernel) -> _Kernel:
    return lambda *boxes, **static: _boxed(kernel(*(box.values for box in boxes), **static))


def _on_a_copy(kernel: _Kernel) -> _Kernel:
    def write(x: Box, *boxes: Box, **static: Any) -> Any:
        return _boxed(kernel(x.values.copy(), *(box.values for box in boxes), **static))

    return write


for _make, _kernels in ((_on_boxes, _NAMES), (_on_a_copy, _WRITING)):
    for _module, _names in _kernels.items():
        globals().update({_name: _make(getattr(_module, _name)) for _name in _names.split()})
