"""Neural networks: activations, losses, layers and normalisations, on any backend."""

from __future__ import annotations

from .functions.activations import (
    elu,
    gelu,
    hardswish,
    leaky_relu,
    mish,
    relu,
    selu,
    sigmoid,
    silu,
    softplus,
    softsign,
)
from .functions.attention import multi_head_attention, scaled_dot_product_attention
from .functions.channels import batch_norm, group_norm
from .functions.classification import cross_entropy
from .functions.convolution import conv1d, conv2d, conv3d
from .functions.entropies import binary_cross_entropy, binary_cross_entropy_with_logits, kl_divergence
from .functions.exponentials import log_softmax, logsumexp, softmax
from .functions.layers import dropout, embedding, linear, one_hot
from .functions.losses import huber_loss, mae_loss, mse_loss
from .functions.normalization import l2_normalize, layer_norm, rms_norm
from .functions.pooling import avg_pool1d, avg_pool2d, avg_pool3d, max_pool1d, max_pool2d, max_pool3d

__all__ = [
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "conv1d",
    "conv2d",
    "conv3d",
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "gelu",
    "group_norm",
    "hardswish",
    "huber_loss",
    "kl_divergence",
    "l2_normalize",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsumexp",
    "mae_loss",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "mish",
    "mse_loss",
    "multi_head_attention",
    "one_hot",
    "relu",
    "rms_norm",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "softsign",
]
