"""The lines of signals and of recurrent layers."""

from __future__ import annotations

import numpy as np

from .table import SIGNALS, A, B, V, case, line, names, several

SIGNAL = SIGNALS[0]

line(names("signal.", "bartlett blackman hamming hann"), case(5), case(4, sym=False, dtype="float32"), case(1))
line("signal.convolve2d", case(A, A), case(A, A[:1], "same"), case(A, A[:, :2], "valid", "symm"), case(A, A[:1, :1]))
line("signal.fftconvolve", case(A, A), case(A, A[:1], "same", 1), case(A, A[:, :2], "valid"), case(A, A, "full", ()))
line("signal.kaiser", case(5, 2.5), case(4, 0.5, sym=False, dtype="float32"), case(1, 1.0))
line("fft.dct fft.idct", case(A), case(A, 1, axis=0), case(SIGNAL, 3, norm="ortho"), case(A, 4, n=2, norm="forward"))
line(
    *("signal.lfilter", case(V, np.array([2.0, -0.5]), A), case(V[:1], V[:1], A), case(V[:1], V[1:2], V)),
    case(V[:2], V, B, axis=0, zi=B),
)
line(
    *("signal.stft", case(SIGNAL, 4, 2, window=V), case(SIGNAL, 8, 3, center=False, onesided=False)),
    case(SIGNAL[0], 3, 1, pad_mode="edge", normalized=True),
)
line(
    *("signal.istft", case(np.stack([SIGNAL, -SIGNAL, SIGNAL**2], 1)[:, :, :4], 4, 2, window=V**2)),
    case(np.ones((3, 2)), 4, 3, center=False, length=9),
)

STEPS = np.linspace(-0.5, 0.5, 12).reshape(1, 4, 3)


def _weights(rows: int, *, bias: bool) -> dict[str, np.ndarray]:
    shapes: dict[str, tuple[int, ...]] = {"weight_ih_l0": (rows, 3), "weight_hh_l0": (rows, 2)}
    shapes |= {"bias_ih_l0": (rows,), "bias_hh_l0": (rows,)} if bias else {}
    return {name: np.cos(np.arange(np.prod(shape)) + len(name)).reshape(shape) for name, shape in shapes.items()}


several("nn.lstm", case(STEPS, _weights(8, bias=True)), case(STEPS[0], _weights(8, bias=False), axis=0, reverse=True))
several("nn.gru", case(STEPS, _weights(6, bias=True)), case(STEPS[0], _weights(6, bias=False), axis=0, reverse=True))
line("nn.rotary_embedding", case(STEPS[..., :2].copy(), V[:1]), case(STEPS[..., :2].copy(), interleaved=True))
