"""Python floats whose values aren't known while a function is traced.

A ``WeakFloat`` stands for a float that was passed to a compiled function, or for one that was computed from such. It is
weak as a float is: beside an array it takes the array's dtype. Arithmetic with other numbers gives another one, which
each call computes anew, in Python; so it has the bits and the errors of Python's own. Where the value itself is asked
for, it's given, and the trace is told: what was traced is for this value alone then.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, SupportsIndex

from ..values.native import Native
from ..values.records import Record
from .operators import TAKEN, Operators

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Owner(Protocol):
    """The trace that a float is of."""

    def ask(self, places: frozenset[int]) -> None:
        """Note that what is traced depends on the values of some floats."""

    def note(self, made: object) -> None:
        """Note a float that mustn't outlive the trace."""

    def scalar(self, x: WeakFloat, dtype: Any, backend: Any, device: object) -> Native | None:
        """Return a native 0-d array of a dtype that stands for a float; ``None`` if its value has to be asked for."""


class Computed(Record):
    """How a float follows from others: a function, and its arguments."""

    function: Callable[..., float]
    arguments: tuple[Any, ...]


class WeakFloat:
    """A float that is another one at each call; ``how`` is its place among the arguments, or how it's computed."""

    __slots__ = ("__weakref__", "how", "owner", "places", "value")

    def __init__(self, value: float, how: int | Computed, owner: Owner, places: frozenset[int]) -> None:
        self.value, self.how, self.owner, self.places = value, how, owner, places
        owner.note(self)

    # To ``isinstance`` it's a float. C code, which reads the memory of floats, sees by its type that it's none.
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return float

    def known(self) -> float:
        """Return the value, which what is traced depends on from then on."""
        self.owner.ask(self.places)
        return self.value

    def __float__(self) -> float:
        return self.known()

    def __getattr__(self, name: str) -> Any:
        getattr(float, name)
        return getattr(self.known(), name)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        import numpy as np

        return np.asarray(self.known(), dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, /, *inputs: object, **options: object) -> object:
        return getattr(ufunc, method)(*known(inputs), **options)

    def __array_function__(
        self, function: Callable[..., object], types: object, args: object, kwargs: object
    ) -> object:
        return function(*known(args), **known(kwargs))

    def __copy__(self) -> WeakFloat:
        return self

    def __deepcopy__(self, memo: object) -> WeakFloat:
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[object, ...]:
        return float, (self.known(),)


def kind_of(value: object) -> Any:
    """Return the type of an argument, as which a float without a value counts as a float."""
    return float if type(value) is WeakFloat else type(value)


def known(value: Any) -> Any:
    """Return an argument, or a nest of arguments, with values in place of floats that have none yet."""
    if type(value) is WeakFloat:
        return value.known()
    if type(value) in (list, tuple):
        return type(value)([known(each) for each in value])
    if type(value) is dict:
        return {key: known(each) for key, each in value.items()}
    return value


def _computed(function: Callable[..., Any], *arguments: Any) -> object:
    weak = [each for each in arguments if type(each) is WeakFloat]
    values = [each.value if type(each) is WeakFloat else each for each in arguments]
    value = function(*values)
    if function is operator.pow and not _stays_real(*arguments):
        return function(*known(arguments))
    return WeakFloat(value, Computed(function, arguments), weak[0].owner, frozenset().union(*(x.places for x in weak)))


def _stays_real(base: Any, exponent: Any) -> bool:
    # Other powers may be complex.
    return isinstance(exponent, int) or (type(base) is not WeakFloat and base > 0)


_NUMBERS = (int, float, bool, WeakFloat)


def _binary(function: Callable[..., object]) -> tuple[object, object]:
    def forward(self: WeakFloat, other: object) -> object:
        if type(other) in _NUMBERS:
            return _computed(function, self, other)
        return NotImplemented if isinstance(other, Operators) else function(self.known(), other)

    def reflected(self: WeakFloat, other: object) -> object:
        if type(other) in _NUMBERS:
            return _computed(function, other, self)
        return NotImplemented if isinstance(other, Operators) else function(other, self.known())

    return forward, reflected


def _unary(function: Callable[..., object]) -> object:
    return lambda self: _computed(function, self)


def _of_value(name: str) -> object:
    def method(self: WeakFloat, *others: Any) -> object:
        if others and isinstance(others[0], Operators):
            return NotImplemented
        return getattr(self.known(), name)(*known(others))

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    _forward, _reflected = _binary(getattr(operator, _name))
    setattr(WeakFloat, f"__{_name}__", _forward)
    setattr(WeakFloat, f"__r{_name}__", _reflected)
for _name in ("neg", "pos", "abs"):
    setattr(WeakFloat, f"__{_name}__", _unary(getattr(operator, _name)))
for _name in (
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "divmod",
    "rdivmod",
    "bool",
    "int",
    "trunc",
    "floor",
    "ceil",
    "round",
):
    setattr(WeakFloat, f"__{_name}__", _of_value(f"__{_name}__"))
for _name in ("hash", "repr", "str", "format"):
    setattr(WeakFloat, f"__{_name}__", _of_value(f"__{_name}__"))

TAKEN.add(WeakFloat)
