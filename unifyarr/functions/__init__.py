"""The functions of the package. Each is declared once; there's one file for each category of the standard."""

from __future__ import annotations

from .._core.declaring.spaces import publish
from . import (
    angles,
    arithmetic,
    averaging,
    comparing,
    contraction,
    covariance,
    creation,
    data_type,
    diagonals,
    editing,
    elementwise,
    gradients,
    histograms,
    indexing,
    interpolation,
    linalg,
    manipulation,
    nan_reductions,
    number_parts,
    numerical,
    order_statistics,
    ordering,
    padding,
    places,
    products,
    scattering,
    searching,
    segments,
    set_operations,
    sets,
    sorting,
    spaced,
    special,
    statistical,
    utility,
)
from .data_type import can_cast, finfo, iinfo, isdtype, result_type
from .manipulation import broadcast_shapes
from .memory import may_share_memory, shares_memory

__all__ = publish("", globals())
