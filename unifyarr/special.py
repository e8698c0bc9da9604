"""Special functions of statistics and physics, by SciPy's names and with its values."""

from __future__ import annotations

from ._core.values.missing import missing_from
from .functions.activations import softplus
from .functions.bessel import i0, i0e, i1, i1e
from .functions.betas import beta, betainc, betaln
from .functions.combinations import comb, factorial
from .functions.exponentials import logsumexp
from .functions.gammas import digamma, gammainc, gammaincc, gammaln, polygamma, zeta
from .functions.logarithms import entr, expit, kl_div, logit, rel_entr, xlog1py, xlogy
from .functions.special import erf, erfc, erfinv, log_ndtr, ndtr, ndtri

__all__ = [
    "beta",
    "betainc",
    "betaln",
    "comb",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfinv",
    "expit",
    "factorial",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "kl_div",
    "log_ndtr",
    "logit",
    "logsumexp",
    "ndtr",
    "ndtri",
    "polygamma",
    "rel_entr",
    "softplus",
    "xlog1py",
    "xlogy",
    "zeta",
]

__getattr__ = missing_from(__name__)
