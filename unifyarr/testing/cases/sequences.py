"""The lines of signals."""

from __future__ import annotations

import numpy as np

from .table import SIGNALS, A, B, V, case, line, names

SIGNAL = SIGNALS[0]

line(names("signal.", "bartlett blackman hamming hann"), case(5), case(4, sym=False, dtype="float32"), case(1))
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
