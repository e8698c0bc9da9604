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
from .functions.channels import batch_norm, group_norm
from .functions.classification import cross_entropy
from .functions.entropies import binary_cross_entropy, binary_cross_entropy_with_logits, kl_divergence
from .functions.exponentials import log_softmax, logsumexp, softmax
from .functions.losses import huber_loss, mae_loss, mse_loss
from .functions.normalization import l2_normalize, layer_norm, rms_norm

__all__ = [
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "elu",
    "gelu",
    "group_norm",
    "hardswish",
    "huber_loss",
    "kl_divergence",
    "l2_normalize",
    "layer_norm",
    "leaky_relu",
    "log_softmax",
    "logsumexp",
    "mae_loss",
    "mish",
    "mse_loss",
    "relu",
    "rms_norm",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "softsign",
]
