"""Training: optimizers that update parameters in place, clipping of gradients, and schedules of the learning rate."""

from .._core.values.missing import missing_from
from .clipping import clip_by_norm, clip_by_value, global_norm
from .optimizer import Optimizer
from .rules import adam, adamw, rmsprop, sgd
from .schedules import constant, cosine, exponential, joined, piecewise, warmup

__all__ = [
    "Optimizer",
    "adam",
    "adamw",
    "clip_by_norm",
    "clip_by_value",
    "constant",
    "cosine",
    "exponential",
    "global_norm",
    "joined",
    "piecewise",
    "rmsprop",
    "sgd",
    "warmup",
]

__getattr__ = missing_from(__name__)
