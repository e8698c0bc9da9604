"""Special functions of statistics and physics, by SciPy's names and with its values."""

from __future__ import annotations

from ._core.declaring.spaces import publish
from ._core.values.missing import missing_from
from .functions import bessel, betas, combinations, gammas, logarithms, special
from .functions.activations import softplus
from .functions.exponentials import logsumexp
from .functions.special import erf, erfc

__all__ = publish("special", globals())

__getattr__ = missing_from(__name__)
