"""PyTensor's rewrites, and the graphs of the same formulas here: both the page and the tests are made of this."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import unifyarr as ua
from unifyarr import nn


class Compared(NamedTuple):
    """A rewrite of PyTensor's, a formula, and the operations that its compiled graph has.

    ``given`` names the arguments: two vectors and a matrix. ``include`` is what ``compile`` is passed. ``left`` are the
    operations on NumPy, without fusion. ``by`` says how it comes about, for the page.
    """

    theirs: str
    formula: str
    given: str
    left: tuple[str, ...]
    by: str
    include: tuple[str, ...] = ()

    @property
    def function(self) -> Callable[..., Any]:
        """The formula as a function of its inputs."""
        found: Callable[..., Any] = eval(
            f"lambda {', '.join(self.given)}: {self.formula}", {"ua": ua, "nn": nn, "_written": _written}
        )
        return found


def _written(x: Any) -> Any:
    y = x * 2.0
    z = ua.zeros_like(x)
    z[...] = y
    return z


STABLE = ("stabilize",)
ROWS = [
    Compared("MergeOptimizer", "ua.sin(x) + ua.sin(x)", "x", ("sin", "add"), "`merge`"),
    Compared("x + y with y + x", "ua.stack([x + y, y + x])", "xy", ("add", "stack"), "`merge`"),
    Compared("topo_constant_folding", "x + (ua.ones(3) + 1)", "x", ("add",), "`fold_constants`"),
    Compared("local_neg_neg", "-(-x)", "x", ("copy",), "`no_sign`"),
    Compared("local_abs_lift, abs(abs(x))", "ua.abs(ua.abs(x))", "x", ("abs",), "`no_sign`"),
    Compared("local_max_to_min", "-ua.max(-x)", "x", ("min",), "`least_of_all`"),
    Compared("local_mul_specialize, x * 1", "x * 1.0", "x", ("copy",), "`no_factor`"),
    Compared("local_pow_specialize", "x**2", "x", ("square",), "when it's traced"),
    Compared(
        "local_dimshuffle_lift",
        "ua.permute_dims(ua.permute_dims(m, (1, 0)), (1, 0)) + 1",
        "m",
        ("add",),
        "`permute_once`",
    ),
    Compared("local_reshape_chain", "ua.reshape(ua.reshape(m, (9,)), (3, 3)) + 1", "m", ("add",), "`reshape_once`"),
    Compared("local_subtensor_merge", "x[1:][1:] + 0.5", "x", ("get_window", "add"), "when it's traced"),
    Compared(
        "local_useless_alloc, broadcasts", "ua.broadcast_to(x, (3, 3)) * m", "xm", ("multiply",), "`no_broadcast`"
    ),
    Compared("local_useless_switch", "ua.where(x > 0, x, x)", "x", ("greater", "where"), "not done"),
    Compared(
        "cond_merge_ifs",
        "ua.stack([ua.cond(ua.sum(x) > 0, ua.sin, ua.cos, x), ua.cond(ua.sum(x) > 0, ua.exp, ua.cos, x)])",
        "x",
        ("sum", "greater", "astype", "switch", "stack"),
        "`join`",
    ),
    Compared(
        "cond_merge_ifs_true, cond_merge_ifs_false",
        "ua.cond(ua.sum(x) > 0, ua.sin, lambda x: ua.cond(ua.sum(x) > 0, ua.exp, ua.cos, x), x)",
        "x",
        ("sum", "greater", "astype", "switch"),
        "`join`",
    ),
    Compared(
        "scan_push_out_non_seq",
        "ua.fori_loop(0, 3, lambda i, s: s + ua.exp(y), x)",
        "xy",
        ("exp", "laid_out", "scan"),
        "`hoist`",
    ),
    Compared("a write that is read at once", "_written(x)", "x", ("multiply",), "`read_what_was_written`"),
    Compared("inplace_elemwise", "ua.sin(ua.cos(x))", "x", ("cos", "sin"), "`inplace`"),
    Compared(
        "local_cut_useless_reduce, sums in turn",
        "ua.sum(ua.sum(m, axis=0))",
        "m",
        ("sum", "sum"),
        "not done: other last bits",
    ),
    Compared(
        "local_useless_elemwise, casts", "ua.astype(x, 'float64', copy=False) + 1", "x", ("add",), "when it's traced"
    ),
    Compared("local_subtensor_of_elemwise", "ua.exp(x)[0]", "x", ("exp", "get_window", "reshape"), "not done"),
    Compared("local_sum_mul_by_scalar", "ua.sum(2.0 * x)", "x", ("multiply", "sum"), "not done: other last bits"),
    Compared("local_log1p", "ua.log(1 + x)", "x", ("log1p",), '`"stabilize"`', STABLE),
    Compared("local_expm1", "ua.exp(x) - 1", "x", ("expm1",), '`"stabilize"`', STABLE),
    Compared(
        "local_log1p_plusminus_exp, log1pexp_to_softplus",
        "ua.log(1 + ua.exp(x))",
        "x",
        ("logaddexp",),
        '`"stabilize"`',
        STABLE,
    ),
    Compared(
        "logsigm_to_softplus",
        "ua.log(nn.sigmoid(x))",
        "x",
        ("negative", "logaddexp", "negative"),
        '`"stabilize"`',
        STABLE,
    ),
    Compared("local_1msigmoid", "1 - nn.sigmoid(x)", "x", ("negative", "sigmoid"), '`"stabilize"`', STABLE),
    Compared("local_exp_over_1_plus_exp", "ua.exp(x) / (1 + ua.exp(x))", "x", ("sigmoid",), '`"stabilize"`', STABLE),
    Compared("local_exp_log", "ua.log(ua.exp(x))", "x", ("copy",), '`"stabilize"`', STABLE),
    Compared("local_mul_canonizer, x * y / y", "x * y / y", "xy", ("copy",), '`"stabilize"`', STABLE),
    Compared("local_pow_canonicalize, sqrt(x**2)", "ua.sqrt(x * x)", "x", ("abs",), '`"stabilize"`', STABLE),
    Compared("local_log_pow", "ua.log(x**2)", "x", ("abs", "log", "multiply"), '`"stabilize"`', STABLE),
    Compared("local_log_erfc, local_one_minus_erf", "1 - ua.erf(x)", "x", ("erfc",), '`"stabilize"`', STABLE),
    Compared("slogdet_specialization", "ua.log(ua.abs(ua.linalg.det(m)))", "m", ("slogdet",), '`"stabilize"`', STABLE),
    Compared(
        "softmax by hand",
        "ua.exp(x) / ua.sum(ua.exp(x))",
        "x",
        ("max", "subtract", "exp", "sum", "divide"),
        '`"stabilize"`',
        STABLE,
    ),
]
