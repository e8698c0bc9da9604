"""What kernels give of selections: computed for the whole arrays, so that engines which compile a graph can run it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..._core.declaring.declare import DECLARATIONS
from ..._core.engines.handle import Handle
from ..._core.values.shapes import broadcast
from ..kernels.kernelop import COPY
from .selections import Densely, Places, Selection, is_same, refuse
from .traced import Recorder, Traced

# Kernels that compute element by element, beside those of ufuncs.
ALIKE = frozenset(
    {
        *("where", "astype", "clip", "real", "imag", "set_real", "set_imag", "put_mask", "round", "remainder"),
        *("detach", "stop_gradient", "erf", "erfc", "erfinv", "ndtri", "gammaln", "digamma", "gammainc", "gammaincc"),
        *("i0", "i0e", "i1", "i1e", "betainc", "zeta", "relu", "sigmoid", "sinc", "nan_to_num"),
    }
)
# What unselected places hold for functions that have no finite value, or no finite slope, for one.
HARMLESS = {"atanh": 0, "asin": 0, "acos": 0, "acosh": 2, "ndtri": 0.5, "erfinv": 0, "zeta": 2, "betainc": 0.5}
# Kernels along an axis that isn't there any more in what they give.
_LOSING = frozenset({"max", "min", "sum", "prod", "any", "all", "mean", "var", "std", "argmax", "argmin", "vecdot"})
# What takes no part in a reduction.
_NEUTRAL = {"sum": 0, "prod": 1, "any": 0, "all": 1, "count_nonzero": 0, "vector_norm": 0}
_SPREADS = frozenset({"mean", "var", "std"})


def densely(
    trace: Recorder,
    backend: Handle,
    name: str,
    natives: Sequence[Traced],
    static: dict[str, Any],
    result: Any,
    offered: bool,
    record: Callable[..., Any],
) -> Any:
    """Return what a kernel gives for natives of which some are selections, or that makes one.

    ``NotImplemented`` is for a kernel that declines the call, as for other natives.
    """
    do = Densely(trace, backend, record)
    if name == "nonzero":
        return do.places(natives[0])
    if name == COPY:
        return natives[0]
    if name in ("gather", "take_places"):
        return _taken(do, natives, len(natives) - 1 if name == "gather" else static["axes"], name)
    if name in ("scatter", "put_places"):
        return _put(do, natives, len(natives) - 2 if name == "scatter" else static["axes"], name)
    if name in ALIKE or (name in DECLARATIONS and DECLARATIONS[name].ufunc is not None):
        return _alike(do, backend, name, natives, static, result, offered, record)
    x = natives[0]
    if isinstance(x, Selection):
        rule = _RULES.get(name)
        if rule is not None:
            return rule(do, x, natives[1:], static)
        axes = _axes(static, len(x.shape))
        if axes is not None and x.axis not in axes:
            return _rows(do, name, natives, axes, static, result)
        if axes is not None and name in _REDUCTIONS:
            return _REDUCTIONS[name](do, name, natives, axes, static, result)
    elif name == "matmul":
        return _product(do, x, natives[1:], static)
    return refuse(f"{name}()")


def _axes(static: dict[str, Any], ndim: int) -> tuple[int, ...] | None:
    axis = static.get("axis", static.get("axes", ()))
    if axis == ():
        return None
    if axis is None:
        return tuple(range(ndim))
    several = axis if isinstance(axis, tuple) else (axis,)
    return tuple([each % ndim for each in several])


def _alike(
    do: Densely,
    backend: Handle,
    name: str,
    natives: Sequence[Traced],
    static: dict[str, Any],
    result: Any,
    offered: bool,
    record: Callable[..., Any],
) -> Any:
    """Element by element."""
    selections = [each for each in natives if isinstance(each, Selection)]
    mask = do.mask_of(selections, f"{name}()")
    harmless = HARMLESS.get(name, 1)
    whole = [do.filled(each, harmless) if isinstance(each, Selection) else each for each in natives]
    # Shapes meet at their ends.
    back = {len(each.shape) - each.axis for each in selections}
    if len(back) > 1:
        refuse(f"{name}()")
    shape = broadcast(*[each.shape for each in whole], name=name)
    if result is not None:
        result = (shape, result[1])
    found = record(backend, name, whole, static, result, offered)
    axis = len(shape) - back.pop()
    if isinstance(found, tuple):
        return tuple([Selection(each, mask, axis) for each in found])
    return found if found is NotImplemented else Selection(found, mask, axis)


def _rows(
    do: Densely, name: str, natives: Sequence[Traced], axes: tuple[int, ...], static: dict[str, Any], result: Any
) -> Any:
    """Along other axes than the one that is selected from."""
    selections = [each for each in natives if isinstance(each, Selection)]
    if len(selections) < len(natives) or len({(each.axis, len(each.shape)) for each in selections}) > 1:
        refuse(f"{name}()")
    mask, axis = do.mask_of(selections, f"{name}()"), selections[0].axis
    if result is not None:
        # Where the axis is now.
        lengths = list(tuple.__iter__(result[0]))
        axis = lengths.index(None)
        lengths[axis] = mask.shape[0]
        result = (lengths, result[1])
    elif name in _LOSING:
        refuse(f"{name}()")
    elif name == "stack":
        axis += axes[0] <= axis
    found = do.kernel(name, *[do.filled(each, 1) for each in selections], gives=result, **static)
    if isinstance(found, tuple):
        return tuple([Selection(each, mask, axis) for each in found])
    return Selection(found, mask, axis)


# -- reading and writing by places ------------------------------------------------------------------------------------


def _places(indices: Sequence[Traced], shape: tuple[Any, ...], inside: Traced | None) -> Places | None:
    """Return the places that index the first axes of an array, if they are all those of a mask of its shape."""
    first = indices[0]
    if not isinstance(first, Places) or (first.inside is None) != (inside is None):
        return None
    rank = 1 if len(indices) == 1 and len(first.of) == 1 else len(indices)
    of = tuple(shape[:rank]) if inside is None else (None,)
    if not all(
        isinstance(each, Places) and each.of == of and each.place == axis and each.mask is first.mask
        for axis, each in enumerate(indices)
    ):
        return None
    return first


def _taken(do: Densely, natives: Sequence[Traced], axes: int, name: str) -> Traced:
    x, *indices = natives
    flat: Any
    if isinstance(x, Selection):
        found = _places(indices, (None,), x.mask)
        if found is None or axes != 1 or x.axis:
            refuse(f"{name}()")
        if found.inside is None or not is_same(do.trace, found.inside, x.mask):
            refuse(f"{name}()")
        return Selection(x.dense, found.mask)
    flat = do.flat(x, axes) if len(indices) == 1 else x
    found = _places(indices, flat.shape, None)
    if found is not None:
        return Selection(do.flat(flat, len(indices)), found.mask)
    # Other places: those of nothing that is selected are the first ones.
    mask = do.mask_of([each for each in indices if isinstance(each, Selection)], f"{name}()")
    if any(len(each.shape) > 1 for each in indices):
        refuse(f"{name}()")
    whole = [do.filled(each, 0) if isinstance(each, Selection) else each for each in indices]
    spread = [
        each if each.shape == mask.shape else do.kernel("broadcast_to", each, shape=tuple(mask.shape)) for each in whole
    ]
    return Selection(do.kernel("gather", flat, *spread), mask)


def _put(do: Densely, natives: Sequence[Traced], axes: int, name: str) -> Traced:
    x, value, *indices = natives
    if any(isinstance(each, Selection) and each.axis for each in (x, value)):
        refuse(f"{name}()")
    inside = x.mask if isinstance(x, Selection) else None
    whole = x.dense if isinstance(x, Selection) else do.flat(x, axes)
    shape = whole.shape if len(indices) == 1 else x.shape
    found = _places(indices, shape, inside)
    if found is None:
        return refuse("a write by places that aren't those of a mask of the array's shape")
    if isinstance(value, Selection):
        do.mask_of([value, found], "x[mask] = values")
        value = value.dense
    elif value.shape[:1] != (1,):
        refuse("x[mask] = values, of which there are as many as the mask selects,")
    new = do.chosen(found.mask, do.kernel("broadcast_to", value, shape=tuple(whole.shape)), whole)
    return Selection(new, inside) if inside is not None else do.reshaped(new, tuple(x.shape))


# -- views and products -----------------------------------------------------------------------------------------------


def _window(do: Densely, x: Selection, others: Sequence[Traced], static: dict[str, Any]) -> Selection:
    window, axis = list(static["window"]), x.axis
    if window[axis] != (0, 1, None):
        refuse("x[mask][start:stop]")
    window[axis] = (0, 1, x.mask.shape[0])
    name, dense = "set_window" if others else "get_window", x.dense
    for each in others:
        if isinstance(each, Selection):
            do.mask_of([x, each], "a write to x[mask]")
    values = [each.dense if isinstance(each, Selection) else each for each in others]
    if values and len(values[0].shape) < len(dense.shape):
        values = [do.kernel("broadcast_to", values[0], shape=tuple([length for _, _, length in window]))]
    return Selection(do.kernel(name, dense, *values, window=tuple(window)), x.mask, axis)


def _permuted(do: Densely, x: Selection, others: Sequence[Traced], static: dict[str, Any]) -> Selection:
    axes = static["axes"]
    return Selection(do.kernel("permute_dims", x.dense, axes=axes), x.mask, axes.index(x.axis))


def _shaped(name: str) -> Callable[..., Selection]:
    def rule(do: Densely, x: Selection, others: Sequence[Traced], static: dict[str, Any]) -> Selection:
        shape = list(tuple.__iter__(static["shape"]))
        axis = shape.index(None)
        # The axes in front hold as many elements as before.
        if name == "reshape" and prod(shape[:axis]) != prod(x.dense.shape[: x.axis]):
            refuse(f"{name}()")
        shape[axis] = x.mask.shape[0]
        return Selection(do.kernel(name, x.dense, shape=tuple(shape)), x.mask, axis)

    return rule


def _product(do: Densely, x: Traced, others: Sequence[Traced], static: dict[str, Any]) -> Traced:
    """A product of vectors and matrices: over the axis that is selected from, or along another one."""
    (y,) = others
    if max(len(x.shape), len(y.shape)) > 2:
        refuse("matmul()")
    whole = [do.filled(each, 0) if isinstance(each, Selection) else each for each in (x, y)]
    shape = (*whole[0].shape[:-1], *whole[1].shape[1:])
    found = do.kernel("matmul", *whole, gives=(shape, x.dtype))
    over = [isinstance(x, Selection) and x.axis == len(x.shape) - 1, isinstance(y, Selection) and y.axis == 0]
    if all(over):
        do.mask_of([x, y], "matmul()")
        return found
    if any(over) or (isinstance(x, Selection) and isinstance(y, Selection)):
        refuse("matmul()")
    return Selection(found, x.mask) if isinstance(x, Selection) else Selection(found, y.mask, len(shape) - 1)  # type: ignore[attr-defined]


_RULES: dict[str, Callable[..., Any]] = {
    "get_window": _window,
    "set_window": _window,
    "permute_dims": _permuted,
    "reshape": _shaped("reshape"),
    "broadcast_to": _shaped("broadcast_to"),
    "matmul": _product,
}


# -- reductions -------------------------------------------------------------------------------------------------------


def _reduced(
    do: Densely, name: str, natives: Sequence[Traced], axes: tuple[int, ...], static: dict[str, Any], result: Any
) -> Traced:
    (x,) = natives
    assert isinstance(x, Selection)
    if name == "vector_norm" and not static["ord"] > 0:
        refuse(f"vector_norm(ord={static['ord']})")
    return do.kernel(name, do.filled(x, _NEUTRAL[name]), gives=result, **static)


def _extremum(
    do: Densely, name: str, natives: Sequence[Traced], axes: tuple[int, ...], static: dict[str, Any], result: Any
) -> Traced:
    (x,) = natives
    assert isinstance(x, Selection)
    return do.kernel(name, do.filled(x, _outermost(x.dtype, name == "max")), gives=result, **static)


def _outermost(dtype: np.dtype[Any], lowest: bool) -> Any:
    if dtype.kind == "b":
        return not lowest
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if lowest else np.iinfo(dtype).max
    return -np.inf if lowest else np.inf


def _product_of_rows(
    do: Densely, name: str, natives: Sequence[Traced], axes: tuple[int, ...], static: dict[str, Any], result: Any
) -> Traced:
    selections = [each for each in natives if isinstance(each, Selection)]
    if len(selections) < len(natives):
        refuse(f"{name}()")
    do.mask_of(natives, f"{name}()")
    return do.kernel(name, *[do.filled(each, 0) for each in selections], gives=result, **static)


def _accumulated(
    do: Densely, name: str, natives: Sequence[Traced], axes: tuple[int, ...], static: dict[str, Any], result: Any
) -> Traced:
    (x,) = natives
    assert isinstance(x, Selection)
    if static["include_initial"]:
        refuse(f"{name}(include_initial=True)")
    whole = do.filled(x, 0 if name == "cumulative_sum" else 1)
    return Selection(do.kernel(name, whole, gives=(whole.shape, static["dtype"]), **static), x.mask, x.axis)


def _spread(
    do: Densely, name: str, natives: Sequence[Traced], axes: tuple[int, ...], static: dict[str, Any], result: Any
) -> Traced:
    """Mean, variance and standard deviation: the number of elements is one of values."""
    (x,) = natives
    assert isinstance(x, Selection)
    shape, dtype = result
    # In half precision, sums of many numbers overflow.
    narrow = x.dtype.itemsize == 2
    wide = Selection(do.kernel("astype", x.dense, dtype=np.dtype(np.float32)), x.mask, x.axis) if narrow else x
    keeps = tuple([1 if axis in axes else length for axis, length in enumerate(wide.dense.shape)])
    others = prod(wide.dense.shape[axis] for axis in axes if axis != x.axis)

    def total(values: Traced) -> Traced:
        dtype = values.dtype
        return do.kernel("sum", values, axis=axes, keepdims=True, dtype=dtype, gives=(keeps, dtype))

    def number(correction: float, like: Traced) -> Traced:
        real = np.dtype(like.dtype.type(0).real.dtype)
        count = do.kernel("astype", do.count(x.mask), dtype=real)
        count = do.kernel("multiply", count, do.number(others, count), gives=((), real))
        if correction:
            count = do.kernel("subtract", count, do.number(correction, count), gives=((), real))
            count = do.kernel("maximum", count, do.number(0, count), gives=((), real))
        return do.kernel("astype", count, dtype=like.dtype)

    def divided(values: Traced, correction: float) -> Traced:
        return do.kernel("divide", values, number(correction, values), gives=(keeps, values.dtype))

    found = divided(total(do.filled(wide, 0)), 0)
    if name != "mean":
        whole = wide.dense
        apart = do.kernel("subtract", do.filled(wide, 0), found, gives=(whole.shape, whole.dtype))
        apart = do.filled(Selection(apart, x.mask, x.axis), 0)
        if whole.dtype.kind == "c":
            conjugate = do.kernel("conj", apart, gives=(whole.shape, whole.dtype))
            apart = do.kernel("multiply", apart, conjugate, gives=(whole.shape, whole.dtype))
            squares = do.kernel("real", apart)
        else:
            squares = do.kernel("square", apart, gives=(whole.shape, whole.dtype))
        found = divided(total(squares), static["correction"])
        if name == "std":
            found = do.kernel("sqrt", found, gives=(keeps, found.dtype))
    if found.dtype != dtype:
        found = do.kernel("astype", found, dtype=dtype)
    return do.reshaped(found, tuple(shape))


def _outmost_place(
    do: Densely, name: str, natives: Sequence[Traced], axes: tuple[int, ...], static: dict[str, Any], result: Any
) -> Traced:
    """``argmax`` and ``argmin``: the first of the places that hold the greatest or least element, or a NaN."""
    (x,) = natives
    assert isinstance(x, Selection)
    if len(x.shape) > 1 or x.dtype.kind == "c":
        refuse(f"{name}()")
    whole = do.filled(x, _outermost(x.dtype, name == "argmax"))
    best = do.kernel(name[3:], whole, axis=(0,), keepdims=False, gives=((), x.dtype))
    found = do.kernel("equal", whole, best, gives=(whole.shape, bool))
    if x.dtype.kind not in "biu":
        nan = do.kernel("not_equal", whole, whole, gives=(whole.shape, bool))
        found = do.kernel("logical_or", found, nan, gives=(whole.shape, bool))
    found = do.kernel("astype", do.both(found, x.mask), dtype=np.dtype(np.int64))
    place = do.kernel("argmax", found, axis=0, keepdims=True, gives=((1,), np.int64))
    return do.reshaped(do.kernel("gather", do.ranks(x.mask), place), (1,) * bool(static["keepdims"]))


_REDUCTIONS: dict[str, Callable[..., Traced]] = {
    **dict.fromkeys(_NEUTRAL, _reduced),
    **dict.fromkeys(_SPREADS, _spread),
    **dict.fromkeys(("max", "min"), _extremum),
    **dict.fromkeys(("argmax", "argmin"), _outmost_place),
    **dict.fromkeys(("cumulative_sum", "cumulative_prod"), _accumulated),
    "vecdot": _product_of_rows,
}
