"""The lines of special functions, inside of their domains."""

from __future__ import annotations

import numpy as np

from .table import INDEX, ROW, SCALAR, TRUTH, A, B, K, V, case, line, names

POSITIVE = np.abs(B)
# Between 0 and 1.
CHANCE = (A + 1.5) / 3
OTHERS = POSITIVE[::-1] + 0.25

line(names("special.", "erf erfc entr expit i0 i0e i1 i1e log_ndtr ndtr softplus"), case(A), case(K), case(SCALAR))
line(names("special.", "digamma gammaln factorial"), case(POSITIVE), case(np.abs(K)), case(TRUTH), case(SCALAR))
line("special.logsumexp", case(A), case(ROW, axis=0))
line(names("special.", "erfcinv erfinv logit ndtri"), case(CHANCE), case(INDEX), case(TRUTH))
line("special.polygamma", case(2, POSITIVE), case(0, SCALAR), case(1, K))
line("special.zeta", case(POSITIVE + 1, OTHERS), case(POSITIVE + 1), case(SCALAR, V[:1]))
line(
    *(names("special.", "beta betaln kl_div rel_entr xlog1py xlogy"), case(POSITIVE, OTHERS), case(POSITIVE, 2.0)),
    *(case(SCALAR, SCALAR), case(np.abs(K), np.abs(V))),
)
line("special.comb", case(POSITIVE + 4, OTHERS), case(POSITIVE + 1, 1.0), case(np.array([5, 8]), INDEX))
line("special.gammainc special.gammaincc", case(POSITIVE, OTHERS), case(POSITIVE, 1.0), case(SCALAR, np.abs(V)))
line("special.betainc", case(POSITIVE, OTHERS, CHANCE), case(POSITIVE, 1.0, 0.5), case(SCALAR, SCALAR, CHANCE))
