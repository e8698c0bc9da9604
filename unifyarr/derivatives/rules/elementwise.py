"""Elementwise functions: of each operand the cotangent is ``g`` times the partial derivative."""

from __future__ import annotations

from ..rule import constant, rule

rule("add", lambda k, g, out, x, y: g, uses=())
rule("subtract", lambda k, g, out, x, y: g, lambda k, g, out, x, y: k.negative(g), uses=())
rule("multiply", lambda k, g, out, x, y: k.multiply(g, y), lambda k, g, out, x, y: k.multiply(g, x))
rule(
    "divide",
    lambda k, g, out, x, y: k.divide(g, y),
    lambda k, g, out, x, y: k.negative(k.divide(k.multiply(g, out), y)),
    uses=(1, "out"),
)
rule("negative", lambda k, g, out, x: k.negative(g), uses=())
rule("square", lambda k, g, out, x: k.multiply(g, k.multiply(x, 2.0)))
rule("exp", lambda k, g, out, x: k.multiply(g, out), uses=("out",))
rule("log", lambda k, g, out, x: k.divide(g, x))
rule("sin", lambda k, g, out, x: k.multiply(g, k.cos(x)))
rule("cos", lambda k, g, out, x: k.negative(k.multiply(g, k.sin(x))))
rule("tanh", lambda k, g, out, x: k.multiply(g, k.subtract(1.0, k.square(out))), uses=("out",))

constant("equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "sign", "floor", "ceil")
