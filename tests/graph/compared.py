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
    Compared("local_add_canonizer, x + 0", "x + 0.0", "x", ("add",), "not done: -0.0 + 0.0 is 0.0"),
    Compared("local_mul_zero", "x * 0.0", "x", ("multiply",), "not done: NaN, infinities and the signs of zeros"),
    Compared("local_add_canonizer, x - x", "x - x", "x", ("subtract",), "not done: NaN and infinities"),
    Compared("local_div_by_one", "x / 1.0", "x", ("divide",), "not done"),
    Compared("local_zero_div", "0.0 / x", "x", ("divide",), "not done: NaN, zeros and their signs"),
    Compared(
        "local_mul_pow_to_pow_add", "x**2 * x**3", "x", ("square", "pow", "multiply"), "not done: other last bits"
    ),
    Compared("local_pow_specialize, x**0.5", "x**0.5", "x", ("pow",), "not done: other values for -0.0 and -infinity"),
    Compared("local_neg_div_neg", "(-x) / (-y)", "xy", ("negative", "negative", "divide"), "not done"),
    Compared("local_abs_merge", "ua.abs(x) * ua.abs(y)", "xy", ("abs", "abs", "multiply"), "not done"),
    Compared(
        "local_mul_switch_sink",
        "ua.where(x > 0, x, 0.0) * y",
        "xy",
        ("greater", "where", "multiply"),
        "not done: NaN and infinities",
    ),
    Compared(
        "local_useless_switch, a constant condition",
        "ua.where(ua.ones(3, dtype=ua.bool), x, y)",
        "xy",
        ("where",),
        "not done",
    ),
    Compared("local_useless_elemwise_comparison", "ua.where(x < x, x, y)", "xy", ("less", "where"), "not done"),
    Compared(
        "local_cast_cast",
        "ua.astype(ua.astype(x, ua.float32), ua.float64)",
        "x",
        ("astype", "astype"),
        "not done: the first one rounds",
    ),
    Compared("local_useless_reshape", "ua.reshape(m, (3, 3)) + 1", "m", ("add",), "`reshape_once`"),
    Compared("local_useless_slice", "x[:] + 1", "x", ("add",), "when it's traced"),
    Compared("local_join_1", "ua.concat([x]) + 1", "x", ("concat", "add"), "not done"),
    Compared(
        "local_subtensor_make_vector",
        "ua.stack([x[0], x[1]])[0] + 1",
        "x",
        ("get_window", "reshape", "get_window", "reshape", "stack", "get_window", "reshape", "add"),
        "not done",
    ),
    Compared("local_shape_to_shape_i", "x * x.shape[0]", "x", ("multiply",), "when it's traced"),
    Compared("local_second_sink", "ua.full_like(x, 2.0) * y", "xy", ("multiply",), "`fold_constants`"),
    Compared("local_elemwise_alloc", "ua.ones(3) * x", "x", ("multiply",), "`fold_constants`"),
    Compared(
        "local_reshape_lift",
        "ua.exp(ua.reshape(m, (9,)))",
        "m",
        ("reshape", "exp"),
        "not done: a reshape moves nothing",
    ),
    Compared(
        "local_lift_transpose_through_dot",
        "ua.permute_dims(m @ m, (1, 0)) + 1",
        "m",
        ("matmul", "permute_dims", "add"),
        "not done: a transpose moves nothing",
    ),
    Compared("GemmOptimizer", "m @ m + m", "m", ("matmul", "add"), "not done: other last bits"),
    Compared("inv_to_solve", "ua.linalg.inv(m) @ x", "mx", ("inv", "matmul"), "not done: other digits"),
    Compared(
        "local_sum_prod_of_mul_or_div", "ua.sum(m / 2.0, axis=0)", "m", ("divide", "sum"), "not done: other last bits"
    ),
    Compared(
        "scan_merge",
        "ua.stack([ua.fori_loop(0, 3, lambda i, s: s * 2, x), ua.fori_loop(0, 3, lambda i, s: s * 2, x)])",
        "x",
        ("scan", "stack"),
        "`merge`",
    ),
    Compared("local_sqrt_sqr", "ua.sqrt(x) ** 2", "x", ("less", "where"), '`"stabilize"`', STABLE),
    Compared("local_log_add_exp", "ua.log(ua.exp(x) + ua.exp(y))", "xy", ("logaddexp",), '`"stabilize"`', STABLE),
    Compared(
        "local_log_sum_exp",
        "ua.log(ua.sum(ua.exp(x)))",
        "x",
        ("max", "clip", "subtract", "exp", "sum", "greater", "where", "log", "add", "reshape"),
        '`"stabilize"`',
        STABLE,
    ),
    Compared(
        "local_logsoftmax",
        "ua.log(ua.exp(x) / ua.sum(ua.exp(x)))",
        "x",
        ("max", "subtract", "exp", "sum", "broadcast_to", "log", "subtract"),
        '`"stabilize"`',
        STABLE,
    ),
    Compared(
        "local_log1p_plusminus_exp, log1mexp",
        "ua.log(1 - ua.exp(-x))",
        "x",
        ("negative", "less", "minimum", "exp", "negative", "log1p", "maximum", "expm1", "negative", "log", "where"),
        '`"stabilize"`',
        STABLE,
    ),
    Compared("local_erf_minus_one", "ua.erf(x) - 1", "x", ("erfc", "negative"), '`"stabilize"`', STABLE),
    Compared("local_one_minus_erfc", "1 - ua.erfc(x)", "x", ("erf",), '`"stabilize"`', STABLE),
    Compared("local_reciprocal_1_plus_exp", "1 / (1 + ua.exp(-x))", "x", ("sigmoid",), '`"stabilize"`', STABLE),
]
