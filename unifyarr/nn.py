"""Neural networks: activations, losses, layers and normalisations, on any backend."""

from __future__ import annotations

from .functions.activations import softmax
from .functions.attention import multi_head_attention, scaled_dot_product_attention
from .functions.convolution import conv1d, conv2d, conv3d
from .functions.layers import dropout, embedding, linear, one_hot
from .functions.pooling import avg_pool1d, avg_pool2d, avg_pool3d, max_pool1d, max_pool2d, max_pool3d

__all__ = [
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "conv1d",
    "conv2d",
    "conv3d",
    "dropout",
    "embedding",
    "linear",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "multi_head_attention",
    "one_hot",
    "scaled_dot_product_attention",
    "softmax",
]
