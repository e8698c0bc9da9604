"""Neural networks: activations, losses, layers and normalisations, on any backend."""

from __future__ import annotations

from ._core.declaring.spaces import publish
from ._core.values.missing import missing_from
from .functions import (
    activations,
    adaptive,
    attention,
    channels,
    classification,
    convolution,
    entropies,
    exponentials,
    folding,
    gates,
    layers,
    losses,
    normalization,
    pooling,
    recurrent,
    resampling,
    rotary,
    similarities,
    transposed,
)

__all__ = publish("nn", globals())

__getattr__ = missing_from(__name__)
