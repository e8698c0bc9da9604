"""What reductions give of selections: what isn't selected takes no part in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..._core.kernels.record import REDUCTION, Kernel, kernel_named
from ..._core.values.registering import entered_in
from .dense import Densely, DenseSelection

# The rules of kernels that have no number for a neutral element, by name.
_OWN: dict[str, Callable[..., Any]] = {}


def reduction_rule(record: Kernel) -> Callable[..., Any] | None:
    """Return what a kernel gives over the axis that is selected from; ``None`` where nothing says how."""
    is_filled = record.kind is REDUCTION and isinstance(record.neutral, (int, float))
    return _reduced if is_filled else _OWN.get(record.name)


def _reduced(
    do: Densely, name: str, natives: Sequence[Any], axes: tuple[int, ...], static: dict[str, Any], result: Any
) -> Any:
    (x,) = natives
    if name == "vector_norm" and not static["ord"] > 0:
        do.refuse(f"vector_norm(ord={static['ord']})")
    return do.kernel(name, do.filled(x, kernel_named(name).neutral), gives=result, **static)


@entered_in(_OWN, "max", "min")
def _extremum(
    do: Densely, name: str, natives: Sequence[Any], axes: tuple[int, ...], static: dict[str, Any], result: Any
) -> Any:
    (x,) = natives
    return do.kernel(name, do.filled(x, outermost(do.dtype(x), name == "max")), gives=result, **static)


def outermost(dtype: np.dtype[Any], lowest: bool) -> Any:
    """Return the least number of a dtype, or the greatest one."""
    if dtype.kind == "b":
        return not lowest
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if lowest else np.iinfo(dtype).max
    return -np.inf if lowest else np.inf


@entered_in(_OWN, "vecdot")
def _product_of_rows(
    do: Densely, name: str, natives: Sequence[Any], axes: tuple[int, ...], static: dict[str, Any], result: Any
) -> Any:
    selections = [each for each in natives if isinstance(each, DenseSelection)]
    if len(selections) < len(natives):
        do.refuse(f"{name}()")
    do.mask_of(natives, f"{name}()")
    return do.kernel(name, *[do.filled(each, 0) for each in selections], gives=result, **static)


@entered_in(_OWN, "cumulative_sum", "cumulative_prod")
def _accumulated(
    do: Densely, name: str, natives: Sequence[Any], axes: tuple[int, ...], static: dict[str, Any], result: Any
) -> Any:
    (x,) = natives
    if static["include_initial"]:
        do.refuse(f"{name}(include_initial=True)")
    whole = do.filled(x, 0 if name == "cumulative_sum" else 1)
    return do.selection(do.kernel(name, whole, gives=(do.shape(whole), static["dtype"]), **static), x.mask, x.axis)


@entered_in(_OWN, "cumulative_max", "cumulative_min")
def _running(
    do: Densely, name: str, natives: Sequence[Any], axes: tuple[int, ...], static: dict[str, Any], result: Any
) -> Any:
    (x,) = natives
    dtype = do.dtype(x)
    whole = do.filled(x, outermost(dtype, name == "cumulative_max"))
    return do.selection(do.kernel(name, whole, gives=(do.shape(whole), dtype), **static), x.mask, x.axis)


@entered_in(_OWN, "mean", "var", "std")
def _spread(
    do: Densely, name: str, natives: Sequence[Any], axes: tuple[int, ...], static: dict[str, Any], result: Any
) -> Any:
    """Mean, variance and standard deviation: the number of elements is one of values."""
    (x,) = natives
    given, lengths = do.dtype(x), do.shape(x.dense)
    keeps = tuple([1 if axis in axes else length for axis, length in enumerate(lengths)])
    kept = keeps if static["keepdims"] else [length for axis, length in enumerate(lengths) if axis not in axes]
    dtype = given if name == "mean" else np.dtype(given.type(0).real.dtype)
    shape, dtype = (kept, dtype) if result is None else result
    # In half precision, sums of many numbers overflow.
    narrow = given.itemsize == 2
    wide = do.selection(do.kernel("astype", x.dense, dtype=np.dtype(np.float32)), x.mask, x.axis) if narrow else x
    others = prod(lengths[axis] for axis in axes if axis != x.axis)

    def total(values: Any) -> Any:
        dtype = do.dtype(values)
        return do.kernel("sum", values, axis=axes, keepdims=True, dtype=dtype, gives=(keeps, dtype))

    def number(correction: float, like: Any) -> Any:
        real = np.dtype(do.dtype(like).type(0).real.dtype)
        count = do.kernel("astype", do.count(x.mask), dtype=real)
        count = do.kernel("multiply", count, do.number(others, count), gives=((), real))
        if correction:
            count = do.kernel("subtract", count, do.number(correction, count), gives=((), real))
            count = do.kernel("maximum", count, do.number(0, count), gives=((), real))
        return do.kernel("astype", count, dtype=do.dtype(like))

    def divided(values: Any, correction: float) -> Any:
        return do.kernel("divide", values, number(correction, values), gives=(keeps, do.dtype(values)))

    found = divided(total(do.filled(wide, 0)), 0)
    if name != "mean":
        whole = wide.dense
        apart = do.kernel("subtract", do.filled(wide, 0), found, gives=(do.shape(whole), do.dtype(whole)))
        apart = do.filled(do.selection(apart, x.mask, x.axis), 0)
        if do.dtype(whole).kind == "c":
            conjugate = do.kernel("conj", apart, gives=(do.shape(whole), do.dtype(whole)))
            apart = do.kernel("multiply", apart, conjugate, gives=(do.shape(whole), do.dtype(whole)))
            squares = do.kernel("real", apart)
        else:
            squares = do.kernel("square", apart, gives=(do.shape(whole), do.dtype(whole)))
        found = divided(total(squares), static["correction"])
        if name == "std":
            found = _root(do, found)
    if do.dtype(found) != dtype:
        found = do.kernel("astype", found, dtype=dtype)
    return do.reshaped(found, tuple(shape))


def _root(do: Densely, x: Any) -> Any:
    """Return the square root, whose derivative at 0 is 0: equal elements have no deviation, whichever way they move."""
    gives = do.shape(x), do.dtype(x)
    zero = do.kernel("equal", x, do.number(0, x), gives=(gives[0], bool))
    root = do.kernel("sqrt", do.kernel("where", zero, do.number(1, x), x, gives=gives), gives=gives)
    return do.kernel("where", zero, x, root, gives=gives)


@entered_in(_OWN, "argmax", "argmin")
def _outmost_place(
    do: Densely, name: str, natives: Sequence[Any], axes: tuple[int, ...], static: dict[str, Any], result: Any
) -> Any:
    """``argmax`` and ``argmin``: the first of the places that hold the greatest or least element, or a NaN."""
    (x,) = natives
    if len(do.shape(x)) > 1 or do.dtype(x).kind == "c":
        do.refuse(f"{name}()")
    whole = do.filled(x, outermost(do.dtype(x), name == "argmax"))
    best = do.kernel(name[3:], whole, axis=(0,), keepdims=False, gives=((), do.dtype(x)))
    found = do.kernel("equal", whole, best, gives=(do.shape(whole), bool))
    if do.dtype(x).kind not in "biu":
        nan = do.kernel("not_equal", whole, whole, gives=(do.shape(whole), bool))
        found = do.kernel("logical_or", found, nan, gives=(do.shape(whole), bool))
    found = do.kernel("astype", do.both(found, x.mask), dtype=np.dtype(np.int64))
    place = do.kernel("argmax", found, axis=0, keepdims=True, gives=((1,), np.int64))
    return do.reshaped(do.kernel("gather", do.ranks(x.mask), place), (1,) * bool(static["keepdims"]))
