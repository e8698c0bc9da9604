from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex, TypeAlias, TypeVar, TypeVarTuple, overload

import numpy as np

from .._core.arrays.array import Array
from ..graph.core.basic import Variable
from ..typing import Scalar

Carry = TypeVar("Carry")
Rows = TypeVar("Rows")
Result = TypeVar("Result")
Operands = TypeVarTuple("Operands")

Number: TypeAlias = Scalar | np.generic
Integer: TypeAlias = SupportsIndex | Array | Variable
Predicate: TypeAlias = bool | np.bool | Array | Variable
# A nest that may hold numbers, which become arrays: its type is what the functions say.
Nest: TypeAlias = tuple[Any, ...] | list[Any] | dict[Any, Any]

# A number that is carried becomes an array. Everything else is carried on as what it is.
@overload
def scan(
    function: Callable[[Array, Rows], tuple[Array | Number, Result]],
    carry: Number,
    xs: Rows,
    *,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Array, Result]: ...
@overload
def scan(
    function: Callable[[Array, Any], tuple[Array | Number, Result]],
    carry: Number,
    xs: None = None,
    *,
    length: int,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Array, Result]: ...
@overload
def scan(
    function: Callable[[Carry, Rows], tuple[Carry, Result]],
    carry: Carry,
    xs: Rows,
    *,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Carry, Result]: ...
@overload
def scan(
    function: Callable[[Carry, Any], tuple[Carry, Result]],
    carry: Carry,
    xs: None = None,
    *,
    length: int,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Carry, Result]: ...
@overload
def scan(
    function: Callable[[Carry, Rows], tuple[Carry, Result]],
    carry: Nest,
    xs: Rows,
    *,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Carry, Result]: ...
@overload
def scan(
    function: Callable[[Carry, Any], tuple[Carry, Result]],
    carry: Nest,
    xs: None = None,
    *,
    length: int,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Carry, Result]: ...
@overload
def fori_loop(
    start: Integer, stop: Integer, body: Callable[[Array, Array], Array | Number], carry: Number
) -> Array: ...
@overload
def fori_loop(start: Integer, stop: Integer, body: Callable[[Array, Carry], Carry], carry: Carry) -> Carry: ...
@overload
def fori_loop(start: Integer, stop: Integer, body: Callable[[Array, Carry], Carry], carry: Nest) -> Carry: ...
@overload
def while_loop(
    condition: Callable[[Array], Predicate], body: Callable[[Array], Array | Number], carry: Number
) -> Array: ...
@overload
def while_loop(condition: Callable[[Carry], Predicate], body: Callable[[Carry], Carry], carry: Carry) -> Carry: ...
@overload
def while_loop(condition: Callable[[Carry], Predicate], body: Callable[[Carry], Carry], carry: Nest) -> Carry: ...
@overload
def cond(
    predicate: Predicate,
    true: Callable[[*Operands], Number],
    false: Callable[[*Operands], Number],
    *operands: *Operands,
) -> Array: ...
@overload
def cond(
    predicate: Predicate,
    true: Callable[[*Operands], Result],
    false: Callable[[*Operands], Result],
    *operands: *Operands,
) -> Result: ...
@overload
def switch(index: Integer, branches: Sequence[Callable[[*Operands], Number]], *operands: *Operands) -> Array: ...
@overload
def switch(index: Integer, branches: Sequence[Callable[[*Operands], Result]], *operands: *Operands) -> Result: ...
@overload
def map(function: Callable[[Rows], Number], xs: Rows) -> Array: ...
@overload
def map(function: Callable[[Rows], Result], xs: Rows) -> Result: ...
def associative_scan(
    function: Callable[[Rows, Rows], Rows], xs: Rows, *, reverse: bool = False, axis: int = 0
) -> Rows: ...
def debug_print(text: str, /, *args: Any, **kwargs: Any) -> None: ...
def check(condition: Array | bool | np.bool_, text: str, /, *args: Any, **kwargs: Any) -> None: ...
