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
from .functions.exponentials import log_softmax, logsumexp, softmax

__all__ = [
    "elu",
    "gelu",
    "hardswish",
    "leaky_relu",
    "log_softmax",
    "logsumexp",
    "mish",
    "relu",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "softsign",
]
