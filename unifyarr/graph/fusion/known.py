"""What is known of NumPy's operations as steps of loops: how C writes them, and what bits and flags depend on."""

from __future__ import annotations

from typing import Any

from ..._core.values.records import Record

# Reductions that begin with their first element, and operations that are none.
FIRST, NONE = object(), object()


class OperationFacts(Record):
    """What is known of an operation.

    Not written in C is what C leaves open (division and shifts of integers), what NumPy computes in its own way (exp,
    power), and maximum and minimum of floats, where the sign of zero depends on the processor.
    """

    # Expressions in C of the operands, by the kind of their dtype.
    floats: str | None = None
    integers: str | None = None
    bools: str | None = None
    # Whether results are defined to the last bit. Other loops have several ways, whose results differ in the last bits:
    # one for dense memory, and others for negative strides or results in the memory of an input.
    is_exact: bool = True
    # Which operands make a result infinite or NaN where they are.
    passes: tuple[int, ...] = ()
    # Whether flags are raised where results are infinite or NaN, or for signaling NaN alone. (Comparisons raise none
    # that count: NumPy takes theirs back.)
    raises: bool = False
    asks: bool = False
    # Whether a result isn't known if its operands are one value, or follow from one.
    varies: bool = False
    # Kinds of dtypes for which bits depend on strides, or on where in a loop an element is: of 0.0 and -0.0 ``fmax``
    # gives the one in vectors, and the other in what is left at the end.
    by_place: str = ""
    # What the loop of a whole row begins with, if that is one call of it.
    begins: Any = NONE


STEPS: dict[str, OperationFacts] = {}
_UNKNOWN = OperationFacts(is_exact=False)


def known_of(name: str) -> OperationFacts:
    """Return what is known of an operation, nothing of most."""
    return STEPS.get(name, _UNKNOWN)


def _take(name: str, floats: str | None = None, integers: str | None = None, **facts: Any) -> None:
    STEPS[name] = OperationFacts(floats, integers, **facts)


def _alike(name: str, expression: str, **facts: Any) -> None:
    """Take one that is written alike for floats and integers."""
    _take(name, expression, expression, **facts)


def _of_truth(name: str, expression: str, **facts: Any) -> None:
    _take(name, expression, expression, bools=expression, asks=True, **facts)


_alike("add", "{0} + {1}", passes=(0, 1), raises=True, begins=0)
_alike("subtract", "{0} - {1}", passes=(0, 1), raises=True)
_alike("multiply", "{0} * {1}", passes=(0, 1), raises=True, varies=True, begins=1)
_take("divide", "{0} / {1}", passes=(0,), raises=True)
_alike("negative", "-{0}", passes=(0,))
_alike("positive", "{0}", passes=(0,))
_alike("conjugate", "{0}", passes=(0,))
_take("absolute", "__builtin_fabs{f}({0})", "{0} < 0 ? -{0} : {0}", passes=(0,))
_take("sqrt", "__builtin_sqrt{f}({0})", passes=(0,), raises=True)
_alike("square", "{0} * {0}", passes=(0,), raises=True, by_place="c")
_take("reciprocal", "1 / {0}", raises=True)
_take("rint", "__builtin_rint{f}({0})", passes=(0,), raises=True)
_take("floor", "__builtin_floor{f}({0})", passes=(0,), raises=True)
_take("ceil", "__builtin_ceil{f}({0})", passes=(0,), raises=True)
_take("trunc", "__builtin_trunc{f}({0})", passes=(0,), raises=True)
_take("copysign", "__builtin_copysign{f}({0}, {1})", passes=(0,))
_take("maximum", None, "{0} > {1} ? {0} : {1}", varies=True, begins=FIRST)
_take("minimum", None, "{0} < {1} ? {0} : {1}", varies=True, begins=FIRST)
_take("fmax", is_exact=False, by_place="f")
_take("fmin", is_exact=False, by_place="f")
_take("isnan", "{0} != {0}", is_exact=False)
_take("sign")
_take("copy")
_take("cast")
_take("where")

_alike("equal", "{0} == {1}")
_alike("not_equal", "{0} != {1}")
# NaN raises no flag here, as in NumPy.
_take("less", "__builtin_isless({0}, {1})", "{0} < {1}")
_take("less_equal", "__builtin_islessequal({0}, {1})", "{0} <= {1}")
_take("greater", "__builtin_isgreater({0}, {1})", "{0} > {1}")
_take("greater_equal", "__builtin_isgreaterequal({0}, {1})", "{0} >= {1}")
# NaN stays, and so does zero of either sign between bounds that are zero: as with bounds that stand still in NumPy.
_RAISED = "select_{size}(__builtin_isless({0}, {1}), {1}, {0})"
_take(
    "clip",
    f"select_{{size}}(__builtin_isgreater({_RAISED}, {{2}}), {{2}}, {_RAISED})",
    "({0} < {1} ? {1} : {0}) > {2} ? {2} : ({0} < {1} ? {1} : {0})",
)

_of_truth("logical_and", "({0} != 0) & ({1} != 0)", begins=True)
_of_truth("logical_or", "({0} != 0) | ({1} != 0)", begins=False)
_of_truth("logical_xor", "({0} != 0) ^ ({1} != 0)")
_of_truth("logical_not", "{0} == 0")
_take("bitwise_and", None, "{0} & {1}", bools="{0} & {1}")
_take("bitwise_or", None, "{0} | {1}", bools="{0} | {1}")
_take("bitwise_xor", None, "{0} ^ {1}", bools="{0} ^ {1}")
_take("invert", None, "~{0}", bools="!{0}")
_take("left_shift")
_take("right_shift")
