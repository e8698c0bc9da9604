"""What stands for an array in a graph that is built: operators, functions and indexing of it make nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

from . import above

Own = TypeVar("Own", bound="Symbol")


def _unary(name: str) -> Callable[[Own], Own]:
    def operator(self: Own, /) -> Own:
        return getattr(above.functions, name)(self)  # type: ignore[no-any-return]

    operator.__doc__ = f"Return what the function ``{name}`` gives, as a variable."
    return operator


def _binary(name: str) -> Callable[[Own, object], Own]:
    def operator(self: Own, other: object, /) -> Own:
        return getattr(above.functions, name)(self, other)  # type: ignore[no-any-return]

    operator.__doc__ = f"Return what the function ``{name}`` gives, as a variable."
    return operator


def _reflected(name: str) -> Callable[[Own, object], Own]:
    def operator(self: Own, other: object, /) -> Own:
        return getattr(above.functions, name)(other, self)  # type: ignore[no-any-return]

    operator.__doc__ = f"Return what the function ``{name}`` gives, as a variable."
    return operator


class Symbol:
    """What stands for an array. ``==`` compares symbols themselves; the function ``equal`` compares elements."""

    __slots__ = ()
    # NumPy leaves operators to us, and iterating would ask for rows one by one without end.
    __array_ufunc__ = None
    __iter__ = None

    def _called(self, declaration: object, call: object) -> object:
        """Return the result of a call of a function that takes this symbol."""
        raise NotImplementedError

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a variable of a graph has no value yet, so it's neither true nor false: choose with ua.where(), or "
            "compare variables themselves with `is`"
        )

    __neg__ = _unary("negative")
    __pos__ = _unary("positive")
    __abs__ = _unary("abs")
    __invert__ = _unary("bitwise_invert")
    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("subtract"), _reflected("subtract")
    __mul__, __rmul__ = _binary("multiply"), _reflected("multiply")
    __truediv__, __rtruediv__ = _binary("divide"), _reflected("divide")
    __floordiv__, __rfloordiv__ = _binary("floor_divide"), _reflected("floor_divide")
    __mod__, __rmod__ = _binary("remainder"), _reflected("remainder")
    __pow__, __rpow__ = _binary("pow"), _reflected("pow")
    __matmul__, __rmatmul__ = _binary("matmul"), _reflected("matmul")
    __and__, __rand__ = _binary("bitwise_and"), _reflected("bitwise_and")
    __or__, __ror__ = _binary("bitwise_or"), _reflected("bitwise_or")
    __xor__, __rxor__ = _binary("bitwise_xor"), _reflected("bitwise_xor")
    __lshift__, __rlshift__ = _binary("bitwise_left_shift"), _reflected("bitwise_left_shift")
    __rshift__, __rrshift__ = _binary("bitwise_right_shift"), _reflected("bitwise_right_shift")
    __lt__, __le__ = _binary("less"), _binary("less_equal")
    __gt__, __ge__ = _binary("greater"), _binary("greater_equal")
