"""The lines of neural networks."""

from __future__ import annotations

import numpy as np

from .table import IMAGES, INDEX, KERNELS, ROW, SIGNALS, VOLUMES, A, B, Draws, K, Q, V, case, line, names

POSITIVE = np.abs(A)

line(names("nn.", "elu gelu hardswish leaky_relu mish relu selu sigmoid"), case(A), case(K), case(-A))
line(names("nn.", "silu softplus softsign"), case(A), case(K), case(-A))
line(names("nn.", "hardsigmoid hardtanh log_sigmoid relu6"), case(A), case(K), case(-A))
line("nn.glu", case(np.concatenate([A, B], axis=1)), case(ROW[..., :2].copy()))
line("nn.cosine_similarity", case(A, B), case(A, V), case(K, K[::-1].copy(), axis=0))
line("nn.softmax nn.log_softmax nn.l2_normalize", case(A), case(ROW, axis=0))
line("nn.logsumexp", case(A), case(ROW, axis=0), case(A, axis=()))

line("nn.batch_norm", case(A, V, V**2, V[::-1].copy(), V), case(A, np.zeros(3), np.ones(3)))
line("nn.group_norm", case(np.concatenate([A, B], axis=1), groups=2), case(A, groups=3), case(A, V, V, groups=1))
line("nn.instance_norm", case(SIGNALS), case(A, V, V))
line("nn.layer_norm", case(A, V, V[::-1].copy()), case(A), case(ROW, axis=0))
line("nn.rms_norm", case(A, V), case(A), case(ROW, axis=0))

SCALARS = case(np.array(2.0), np.array(1.0))
line(
    "nn.binary_cross_entropy",
    case(POSITIVE, np.round(POSITIVE), B, reduction="none"),
    case(np.array(0.5), np.array(1.0)),
)
line(
    "nn.binary_cross_entropy_with_logits", case(B, POSITIVE, A, B, reduction="none"), case(np.array(0.5), np.array(1.0))
)
line(
    *("nn.cross_entropy", case(A, np.array([2, 0]), V, reduction="none", label_smoothing=0.1)),
    *(case(A, INDEX), case(A, INDEX, np.ones(3), reduction="none")),
)
line("nn.nll_loss", case(-POSITIVE, INDEX, np.abs(V)), case(A, INDEX, np.ones(3), reduction="none"))
line("nn.huber_loss", case(A, B, delta=2.0, reduction="none"), SCALARS)
line("nn.kl_divergence", case(A, np.abs(B), reduction="none"), SCALARS)
line("nn.mae_loss", case(A, B, reduction="none"), SCALARS)
line("nn.mse_loss", case(A, B), case(A, B, reduction="none"), SCALARS)

line(
    *("nn.max_pool1d nn.avg_pool1d", case(SIGNALS, 3, stride=2, padding=1), case(A, 1), case(A, 3)),
    case(A, 2, ceil_mode=True),
)
line("nn.max_pool2d nn.avg_pool2d", case(IMAGES, 2, stride=1), case(A, 1), case(A, 2), case(A, 2, ceil_mode=True))
line("nn.max_pool3d nn.avg_pool3d", case(VOLUMES, (1, 2, 2)), case(A[None], 1))
line(
    *("nn.conv1d", case(SIGNALS, KERNELS[..., 0], V[:2].copy(), padding=1), case(A, np.eye(2)[:, :, None])),
    case(ROW, np.ones((1, 1, 2)), V[:1]),
)
line(
    *("nn.conv2d", case(IMAGES, KERNELS, V[:2].copy(), padding=((1, 1), (2, 0)))),
    *(case(A[None], np.ones((1, 1, 1, 1))), case(A[None], Q[None, None, :2, :2].copy())),
)
line("nn.conv3d", case(VOLUMES, KERNELS[:, :1, None, :2, :2].copy()), case(A[None, None], np.ones((1, 1, 1, 1, 1))))
line(
    *("nn.dropout", case(A, 0.5, generator=Draws()), case(A, 0.0, generator=Draws())),
    case(A, 0.5, training=False),
)
line("nn.embedding", case(np.array([[2, 0], [1, -1]]), Q), case(INDEX, A), case(np.array([0, 1]), A))
line("nn.linear", case(A, Q, V), case(A, np.eye(3)), case(V[:1], np.ones((1, 1))))
line(
    *("nn.multi_head_attention", case(Q, Q[::-1].copy(), Q, Q > 0, num_heads=3)),
    *(case(A, num_heads=1), case(ROW, A, A, A[:1, :2] > 0, num_heads=3)),
)
line("nn.one_hot", case(np.array([2, 0]), 3), case(INDEX, 2), case(np.array([0, 1]), 2, dtype="bool"))
line(
    *("nn.scaled_dot_product_attention", case(A, B, K / 4, A[:, :2] < 0.6), case(A, A, A)),
    *(case(ROW, ROW, ROW, scale=0.0), case(A, A, A, np.eye(2)), case(A, A, V[:2, None], np.eye(2) > 0)),
)
