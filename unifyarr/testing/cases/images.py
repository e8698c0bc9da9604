"""The lines of functions of images: transposed convolutions, windows as columns, and other sizes."""

from __future__ import annotations

import numpy as np

from .table import IMAGES, KERNELS, SIGNALS, VOLUMES, A, K, V, case, line

COLUMNS = np.linspace(-1.0, 2.0, 48).reshape(1, 8, 6) ** 3
ONE = np.ones((1, 1, 1, 1, 1))

line(
    *("nn.conv_transpose1d", case(SIGNALS, KERNELS[..., 0], V[:2].copy(), stride=2, padding=1, output_padding=1)),
    *(case(A, np.eye(2)[:, :, None]), case(A, KERNELS[..., 0], groups=2, dilation=2)),
)
line("nn.conv_transpose2d", case(IMAGES, KERNELS, V[:2].copy(), stride=(2, 1)), case(A[None], ONE[0]))
line("nn.conv_transpose3d", case(VOLUMES, KERNELS[:1, :, None, :2, :2].copy()), case(A[None, None], ONE))
line("nn.unfold", case(IMAGES, (2, 3), stride=(1, 2), padding=1), case(A[None], 1), case(K, (2,), padding=((0, 1),)))
line("nn.fold", case(COLUMNS, (3, 4), 2), case(A, (1, 3), 1), case(COLUMNS, (2, 2), 2, stride=2, padding=(1, 2)))
line("nn.adaptive_avg_pool1d nn.adaptive_max_pool1d", case(SIGNALS, 3), case(A, 3), case(A, 1))
line("nn.adaptive_avg_pool2d nn.adaptive_max_pool2d", case(IMAGES, (3, None)), case(A, None), case(A, (1, 2)))
line("nn.adaptive_avg_pool3d nn.adaptive_max_pool3d", case(VOLUMES, (1, 2, 3)), case(A[None], None))
line(
    *("nn.interpolate", case(IMAGES, (6, 3), None, "bilinear"), case(A[None], 3, mode="linear"), case(A[None], 3)),
    *(case(IMAGES, scale_factor=0.6, mode="bicubic"), case(A[None], 2, mode="area")),
)
