"""The operators of arrays and containers: each is the function that the standard names for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from ...typing import ArrayLike
from ..engines.foreign import check_data, overrides
from ..engines.natives import backend_of_native
from ..values import above

X = TypeVar("X")
# The operators by the function, whose plain calls the core does, and by their form: ``""`` is that of the function.
OPERATORS: dict[str, dict[str, Any]] = {}


class _Operands(set[type]):
    """The types that operators take; what is no array or data may know by itself how to deal with an array."""

    def accept(self, other: object) -> bool:
        """Return whether an operand of a type not met before is taken, and remember its type."""
        become_array = getattr(type(other), "_become_array", None)
        if become_array is not None:
            # An element, which is an array of the usual type from then on.
            become_array(other)
            return True
        if isinstance(other, np.ndarray) and overrides(other, "__array_ufunc__"):
            return False
        data = (Operators, np.ndarray, np.generic, list, tuple)
        accepted = isinstance(other, data) or backend_of_native(other) is not None
        if accepted:
            self.add(type(other))
        return accepted


# The types that operators take, as far as they are known.
TAKEN = _Operands((bool, int, float, complex))


def _left(x: Any, other: object, name: str, compute: Callable[[Any], Any]) -> object:
    r"""Leave an operation to an operand that is no array and no data: to its method of that name.

    Where that declines, what NumPy makes an array of is ``compute``\ d with. Where NumPy's functions ask the operand
    what they give, Python asks it too, and says so if it declines; but of ``==`` and ``!=`` it would then compare
    identities.
    """
    if name in ("__mul__", "__rmul__") and isinstance(other, (str, bytes, bytearray)):
        # Python would repeat it.
        raise TypeError(f"operators take arrays, numbers and nests of lists of them, not {type(other).__name__}")
    method = getattr(type(other), name, None)
    is_pandas = hasattr(type(other), "__pandas_priority__")
    if not is_pandas and overrides(other, "__array_ufunc__"):
        if name not in ("__eq__", "__ne__"):
            return NotImplemented
        if isinstance(other, np.ndarray):
            # Its operators may take a refusal for "not equal".
            return (np.equal if name == "__eq__" else np.not_equal)(x, other)
    # pandas computes with the arrays that it holds, and keeps what comes of it: its frames can't hold ours.
    given = np.asarray(x) if is_pandas else x
    result = NotImplemented if method is None else method(other, given)
    if result is NotImplemented:
        check_data(other)
        if hasattr(type(other), "__array__"):
            return compute(above.functions.asarray(other))
    return result


_SYMBOLS = {
    "positive": "+",
    "negative": "-",
    "bitwise_invert": "~",
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "floor_divide": "//",
    "remainder": "%",
    "pow": "**",
    "matmul": "@",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "bitwise_left_shift": "<<",
    "bitwise_right_shift": ">>",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "equal": "==",
    "not_equal": "!=",
}
# Of a comparison, the method by which Python asks the other operand.
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


class _Operator:
    """What stands for an operator in the body of a class until that is made: a function takes its place then."""

    def __init__(self, function: str, make: Callable[[str, str], Any], text: str) -> None:
        self.function, self.make = function, make
        self.text = text.format(_SYMBOLS.get(function, function))

    def __set_name__(self, cls: type, name: str) -> None:
        method = self.make(self.function, name)
        method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
        method.__doc__ = f"Return ``{self.text}``; see the function ``{self.function}``."
        setattr(cls, name, method)


def _make_unary(function: str, name: str) -> object:
    def operator(self: Any, /) -> object:
        return getattr(above.functions, function)(self)

    OPERATORS[function] = {"": operator}
    return operator


def _make_binary(function: str, name: str) -> object:
    word = name.strip("_")
    other_name = f"__{_MIRRORED.get(word, 'r' + word)}__"

    def operator(self: Any, other: Any, /) -> object:
        if type(other) in TAKEN or TAKEN.accept(other):
            return getattr(above.functions, function)(self, other)
        return _left(self, other, other_name, lambda given: getattr(above.functions, function)(self, given))

    OPERATORS[function] = {"": operator}
    return operator


def _make_reflected(function: str, name: str) -> object:
    other_name = name.replace("__r", "__", 1)

    def operator(self: Any, other: Any, /) -> object:
        if type(other) in TAKEN or TAKEN.accept(other):
            return getattr(above.functions, function)(other, self)
        return _left(self, other, other_name, lambda given: getattr(above.functions, function)(given, self))

    OPERATORS[function]["reflected"] = operator
    return operator


def _make_in_place(function: str, name: str) -> object:
    def operator(self: Any, other: Any, /) -> object:
        if type(other) in TAKEN or TAKEN.accept(other):
            return getattr(above.functions, function)(self, other, out=self)
        return NotImplemented

    OPERATORS[function]["in_place"] = operator
    return operator


# What type checkers see of these is the method that will be there.


def unary(function: str, text: str = "{}self") -> Callable[[X], X]:
    """Return the operator that is a function of one array."""
    return _Operator(function, _make_unary, text)  # type: ignore[return-value]


def binary(function: str) -> Callable[[X, ArrayLike | X], X]:
    """Return the operator that is a function of two arrays, the left one of which has the operator."""
    return _Operator(function, _make_binary, "self {} other")  # type: ignore[return-value]


def reflected(function: str) -> Callable[[X, ArrayLike | X], X]:
    """Return the operator that is a function of two arrays, the right one of which has the operator."""
    return _Operator(function, _make_reflected, "other {} self")  # type: ignore[return-value]


def in_place(function: str) -> Callable[[X, ArrayLike | X], X]:
    """Return the operator that writes what a function returns to its left operand."""
    return _Operator(function, _make_in_place, "self {}= other")  # type: ignore[return-value]


class Operators:
    """Arithmetic, bitwise operators and comparisons; the in-place ones write to the array or the container itself."""

    __slots__ = ()

    __neg__ = unary("negative")
    __pos__ = unary("positive")
    __abs__ = unary("abs", "abs(self)")
    __invert__ = unary("bitwise_invert")

    __add__ = binary("add")
    __sub__ = binary("subtract")
    __mul__ = binary("multiply")
    __truediv__ = binary("divide")
    __floordiv__ = binary("floor_divide")
    __mod__ = binary("remainder")
    __pow__ = binary("pow")
    __matmul__ = binary("matmul")
    __and__ = binary("bitwise_and")
    __or__ = binary("bitwise_or")
    __xor__ = binary("bitwise_xor")
    __lshift__ = binary("bitwise_left_shift")
    __rshift__ = binary("bitwise_right_shift")

    __lt__ = binary("less")
    __le__ = binary("less_equal")
    __gt__ = binary("greater")
    __ge__ = binary("greater_equal")
    if TYPE_CHECKING:
        # ``object`` has these with another result, which checkers keep to where nothing is declared.
        def __eq__(self, other: ArrayLike | Self, /) -> Self: ...  # type: ignore[override]
        def __ne__(self, other: ArrayLike | Self, /) -> Self: ...  # type: ignore[override]
    else:
        __eq__ = binary("equal")
        __ne__ = binary("not_equal")

    __radd__ = reflected("add")
    __rsub__ = reflected("subtract")
    __rmul__ = reflected("multiply")
    __rtruediv__ = reflected("divide")
    __rfloordiv__ = reflected("floor_divide")
    __rmod__ = reflected("remainder")
    __rpow__ = reflected("pow")
    __rmatmul__ = reflected("matmul")
    __rand__ = reflected("bitwise_and")
    __ror__ = reflected("bitwise_or")
    __rxor__ = reflected("bitwise_xor")
    __rlshift__ = reflected("bitwise_left_shift")
    __rrshift__ = reflected("bitwise_right_shift")

    __iadd__ = in_place("add")
    __isub__ = in_place("subtract")
    __imul__ = in_place("multiply")
    __itruediv__ = in_place("divide")
    __ifloordiv__ = in_place("floor_divide")
    __imod__ = in_place("remainder")
    __ipow__ = in_place("pow")
    __imatmul__ = in_place("matmul")
    __iand__ = in_place("bitwise_and")
    __ior__ = in_place("bitwise_or")
    __ixor__ = in_place("bitwise_xor")
    __ilshift__ = in_place("bitwise_left_shift")
    __irshift__ = in_place("bitwise_right_shift")
