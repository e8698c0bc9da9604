"""A call of every function that takes ``out=``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

from ..oracle import as_numpy, words

A = np.array([[0.25, -0.5, 0.75], [0.5, 0.125, -1.0]])
B = np.array([[2.0, 3.0, -1.5], [0.5, 1.0, 4.0]])
K, J = np.array([[7, -8, 9], [1, 0, 5]]), np.array([[2, 3, 1], [4, 1, 2]])
Q = np.array([[3.0, 1.0, 0.5], [1.0, 4.0, 0.0], [0.5, 0.0, 5.0]])
V = np.array([1.0, -2.0, 3.0])
Z = A + 1j * B
N = np.where(A == 0.5, np.nan, A)

# A batch of signals, images and volumes, with kernels.
SIGNALS = np.linspace(-1.0, 2.0, 16).reshape(1, 2, 8) ** 3
IMAGES = np.linspace(-1.0, 2.0, 40).reshape(1, 2, 4, 5) ** 3
VOLUMES = np.linspace(-1.0, 2.0, 24).reshape(1, 1, 2, 3, 4) ** 3
KERNELS = np.linspace(2.0, -1.0, 36).reshape(2, 2, 3, 3)

Case = tuple[list[Any], dict[str, Any]]


class Draws:
    """A generator that draws the same numbers at each call."""

    def random(self, size: Any) -> np.ndarray:
        return np.linspace(0, 1, int(np.prod(size)), endpoint=False).reshape(size)


def case(*arguments: Any, **options: Any) -> Case:
    return list(arguments), options


CALLS: dict[str, Case] = {
    **{name: case(A) for name in words("acos asin asinh atan atanh ceil cos cosh exp expm1 floor log1p round sign")},
    **{name: case(A) for name in words("sin sinh square tan tanh trunc isfinite isinf isnan signbit negative")},
    **{name: case(A) for name in words("positive reciprocal abs flip cumulative_sum stop_gradient")},
    **{name: case(np.abs(B) + 1) for name in words("acosh log log10 log1p log2 sqrt")},
    **{name: case(A, B) for name in words("add atan2 copysign divide equal floor_divide greater greater_equal hypot")},
    **{name: case(A, B) for name in words("less less_equal logaddexp maximum minimum multiply nextafter not_equal")},
    **{name: case(A, B) for name in words("remainder subtract logical_and logical_or logical_xor vecdot isin")},
    **{name: case(K, J) for name in words("bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor")},
    **{name: case(A) for name in words("sum prod max min mean std var all any count_nonzero argmax argmin")},
    **{name: case(A) for name in words("sort argsort unique_values diff matrix_transpose squeeze")},
    **{name: case(A) for name in words("ones_like zeros_like empty_like tril triu")},
    **{name: case((2, 3)) for name in words("empty ones zeros")},
    **{name: case(Z) for name in words("conj real imag")},
    **{f"linalg.{name}": case(Q) for name in words("cholesky det expm inv eigvalsh eigvals pinv svdvals matrix_rank")},
    **{f"linalg.{name}": case(Q) for name in words("matrix_norm vector_norm trace diagonal matrix_transpose")},
    **{f"linalg.{name}": case(Q, V) for name in words("matmul solve")},
    **{f"linalg.{name}": case(V, V[::-1].copy()) for name in words("cross outer vecdot")},
    **{f"fft.{name}": case(A) for name in words("fft fftn hfft ifft ifftn ihfft irfft irfftn rfft rfftn")},
    **{f"fft.{name}": case(A) for name in words("fftshift ifftshift")},
    **{f"fft.{name}": case(5) for name in words("fftfreq rfftfreq")},
    "arange": case(5),
    "asarray": case(A),
    "astype": case(A, "float32"),
    "bitwise_invert": case(K),
    "broadcast_to": case(V, (2, 3)),
    "clip": case(A, -0.5, 0.5),
    "concat": case([A, B], axis=1),
    "convolve": case(V, V[:2].copy(), "same"),
    "cumulative_prod": case(A, axis=1, include_initial=True),
    "cumulative_sum": case(A, axis=0),
    "einsum": case("ij,kj->ki", A, B),
    "expand_dims": case(A, 1),
    "eye": case(3),
    "from_dlpack": case(A),
    "full": case((2, 3), 2.5),
    "full_like": case(A, 2.5),
    "gradient": case(A, 0.5, axis=1),
    "interp": case(A, np.sort(V), V),
    "kron": case(A, V),
    "linalg.matrix_power": case(Q, 3),
    "linalg.tensordot": case(Q, Q, axes=1),
    "linspace": case(0, 1, 5),
    "logical_not": case(A),
    "matmul": case(A, B.T.copy()),
    "moveaxis": case(A, 0, 1),
    "pad": case(A, ((1, 0), (0, 2)), "edge"),
    "permute_dims": case(A, (1, 0)),
    "pow": case(np.abs(A), B),
    "repeat": case(A, 2, axis=0),
    "reshape": case(A, (3, 2)),
    "roll": case(A, 1, axis=1),
    "rot90": case(A),
    "gather": case(A, np.array([[1, 0], [0, -1], [0, 0]])),
    "scatter": case(A, np.array([[1, 0], [0, -1], [1, 0]]), V, mode="add"),
    **{f"segment_{name}": case(A, np.array([2, 0])) for name in words("sum prod max min mean")},
    **{
        name: case(N)
        for name in words("nansum nanprod nanmax nanmin nanmean nanstd nanvar nanmedian nanargmax nanargmin")
    },
    "nanquantile": case(N, np.array([0.25, 0.5, 0.1]), axis=1),
    "bincount": case(np.array([2, 0, 5, 2])),
    "corrcoef": case(A),
    "cov": case(A),
    "median": case(A),
    "quantile": case(A, np.array([0.25, 0.5, 0.1]), axis=1),
    "searchsorted": case(np.sort(V), A),
    "squeeze": case(A[:, None], 1),
    "stack": case([A, B]),
    "swapaxes": case(A, 0, 1),
    "take": case(A, np.array([2, 0]), axis=1),
    "take_along_axis": case(A, np.array([[1], [0]]), axis=1),
    "tensordot": case(A, B, axes=((0, 1), (0, 1))),
    "tile": case(A, (2, 1)),
    "trapezoid": case(A, V, axis=1),
    "where": case(A > 0, A, B),
    **{f"nn.{name}_pool1d": case(SIGNALS, 3, stride=2, padding=1) for name in ("max", "avg")},
    **{f"nn.{name}_pool2d": case(IMAGES, 2, stride=1) for name in ("max", "avg")},
    **{f"nn.{name}_pool3d": case(VOLUMES, (1, 2, 2)) for name in ("max", "avg")},
    "nn.conv1d": case(SIGNALS, KERNELS[..., 0], V[:2].copy(), padding=1),
    "nn.conv2d": case(IMAGES, KERNELS, V[:2].copy(), padding=((1, 1), (2, 0))),
    "nn.conv3d": case(VOLUMES, KERNELS[:, :1, None, :2, :2].copy()),
    "nn.dropout": case(A, 0.5, generator=Draws()),
    "nn.embedding": case(np.array([[2, 0], [1, -1]]), Q),
    "nn.linear": case(A, Q, V),
    "nn.multi_head_attention": case(Q, Q[::-1].copy(), Q, Q > 0, num_heads=3),
    "nn.one_hot": case(np.array([2, 0]), 3),
    "nn.scaled_dot_product_attention": case(A, B, K / 4, A[:, :2] < 0.6),
    "nn.batch_norm": case(A, V, V**2, V[::-1].copy(), V),
    "nn.binary_cross_entropy": case(np.abs(A), np.round(np.abs(A)), B, reduction="none"),
    "nn.binary_cross_entropy_with_logits": case(B, np.abs(A), A, B, reduction="none"),
    "nn.cross_entropy": case(A, np.array([2, 0]), V, reduction="none", label_smoothing=0.1),
    "nn.group_norm": case(np.concatenate([A, B], axis=1), groups=2),
    "nn.huber_loss": case(A, B, delta=2.0, reduction="none"),
    "nn.kl_divergence": case(A, np.abs(B), reduction="none"),
    "nn.l2_normalize": case(A),
    "nn.layer_norm": case(A, V, V[::-1].copy()),
    "nn.mae_loss": case(A, B, reduction="none"),
    "nn.mse_loss": case(A, B),
    "nn.rms_norm": case(A, V),
    **{name: case(A) for name in words("erf erfc")},
    **{f"nn.{name}": case(A) for name in words("elu gelu hardswish leaky_relu mish relu selu sigmoid silu softplus")},
    **{f"nn.{name}": case(A) for name in words("softsign log_softmax logsumexp softmax")},
}
# Their values are not set.
UNSET = {"empty", "empty_like"}


# These return several arrays.
SEVERAL: dict[str, Case] = {
    "broadcast_arrays": case(V, A),
    "meshgrid": case(V, V[:2].copy()),
    "histogram": case(A, 3),
    "nonzero": case(A > 0),
    "unique_all": case(K),
    "unique_counts": case(K),
    "unique_inverse": case(K),
    "unstack": case(A),
    "split": case(A, 2),
    "linalg.eig": case(Q),
    "linalg.eigh": case(Q),
    "linalg.lstsq": case(A.T.copy(), V),
    "linalg.qr": case(Q),
    "linalg.slogdet": case(Q),
    "linalg.svd": case(Q),
}

# Dtypes that a result of the dtype casts to, and that it doesn't.
WIDER = {
    "bool": "int64",
    "int64": "float64",
    "float32": "complex64",
    "float64": "complex128",
    "complex128": "complex64",
}
NARROWER = {"bool": "uint8", "int64": "int16", "float32": "float16", "float64": "float32", "complex128": "complex64"}
REFUSED = {"int64": "bool", "float32": "int64", "float64": "int64", "complex128": "float64"}


def find(name: str) -> Callable[..., Any]:
    found: Any = ua
    for part in name.split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def lift(name: str, x: Any) -> Any:
    if isinstance(x, list):
        return [lift(name, each) for each in x]
    return ua.asarray(x, copy=True) if isinstance(x, np.ndarray) and name != "from_dlpack" else x


def prepared(name: str) -> tuple[Callable[..., Any], list[Any], dict[str, Any], np.ndarray]:
    """Return a function, its arguments and what it returns without ``out``."""
    arguments, options = CALLS[name]
    arguments = [lift(name, each) for each in arguments]
    function = find(name)
    expected = as_numpy(function(*arguments, **options))
    return function, arguments, options, np.zeros_like(expected) if name in UNSET else expected


PUBLIC = [
    *ua.functions.__all__,
    *(f"linalg.{name}" for name in ua.linalg.__all__),
    *(f"fft.{name}" for name in ua.fft.__all__),
    *(f"nn.{name}" for name in ua.nn.__all__),
]
