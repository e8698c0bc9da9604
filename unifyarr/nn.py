"""Neural networks: activations, losses, layers and normalisations, on any backend."""

from __future__ import annotations

from ._core.values.missing import missing_from
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
from .functions.adaptive import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
)
from .functions.attention import multi_head_attention, scaled_dot_product_attention
from .functions.channels import batch_norm, group_norm, instance_norm
from .functions.classification import cross_entropy, nll_loss
from .functions.convolution import conv1d, conv2d, conv3d
from .functions.entropies import binary_cross_entropy, binary_cross_entropy_with_logits, kl_divergence
from .functions.exponentials import log_softmax, logsumexp, softmax
from .functions.folding import fold, unfold
from .functions.gates import glu, hardsigmoid, hardtanh, log_sigmoid, relu6
from .functions.layers import dropout, embedding, linear, one_hot
from .functions.losses import huber_loss, mae_loss, mse_loss
from .functions.normalization import l2_normalize, layer_norm, rms_norm
from .functions.pooling import avg_pool1d, avg_pool2d, avg_pool3d, max_pool1d, max_pool2d, max_pool3d
from .functions.recurrent import gru, lstm
from .functions.resampling import interpolate
from .functions.rotary import rotary_embedding
from .functions.similarities import cosine_similarity
from .functions.transposed import conv_transpose1d, conv_transpose2d, conv_transpose3d

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "fold",
    "gelu",
    "glu",
    "group_norm",
    "gru",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_divergence",
    "l2_normalize",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_sigmoid",
    "log_softmax",
    "logsumexp",
    "lstm",
    "mae_loss",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "mish",
    "mse_loss",
    "multi_head_attention",
    "nll_loss",
    "one_hot",
    "relu",
    "relu6",
    "rms_norm",
    "rotary_embedding",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "softsign",
    "unfold",
]

__getattr__ = missing_from(__name__)
