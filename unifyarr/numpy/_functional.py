"""Functions of functions."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.engines import dtypes
from .._core.values.shapes import as_axis
from ..errors import ShapeError
from ._following import NO_VALUE, as_array, follows, together
from ._indexing import cast_to

__all__ = ["apply_along_axis", "apply_over_axes", "packbits", "piecewise", "unpackbits", "vectorize"]


@follows(np.apply_along_axis)
def apply_along_axis(func1d: Callable[..., Any], axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Array:
    """Return what a function of a vector gives for each vector along an axis.

    >>> import unifyarr.numpy as np
    >>> np.apply_along_axis(lambda v: v[-1] - v[0], 0, [[1, 2], [4, 9]])
    array([3, 7])
    """
    x = as_array(arr)
    axis = as_axis(axis, x.ndim)
    rows = ua.moveaxis(x, axis, -1)
    lead = rows.shape[:-1]
    if 0 in lead:
        raise ValueError("apply_along_axis() has no vector to call the function with")
    results = [as_array(func1d(rows[place], *args, **kwargs)) for place in np.ndindex(lead)]
    first = results[0]
    stacked = ua.stack([each.astype(first.dtype, copy=False) for each in results])
    made = ua.reshape(stacked, (*lead, *first.shape))
    # What the function gave stands where the axis was.
    count = len(lead)
    order = [*range(axis), *range(count, count + first.ndim), *range(axis, count)]
    return ua.permute_dims(made, order) if order != list(range(len(order))) else made


@follows(np.apply_over_axes)
def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Array:
    """Return what a function of an array and an axis gives, called for one axis after the other."""
    x = as_array(a)
    for axis in np.atleast_1d(np.asarray(axes)).tolist():
        place = as_axis(axis, x.ndim)
        found = as_array(func(x, place))
        if found.ndim != x.ndim:
            found = ua.expand_dims(found, place)
            if found.ndim != x.ndim:
                raise ValueError("the function returns an array of as many axes, or of one less")
        x = found
    return x


@follows(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Array:
    """Return what several functions, or numbers, give for the elements for which conditions hold.

    >>> import unifyarr.numpy as np
    >>> x = np.asarray([-1.0, 2.0])
    >>> np.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: 10 * v])
    array([ 1., 20.])
    """
    values = as_array(x)
    functions = list(funclist)
    if _is_one(condlist, values):
        condlist = [condlist]
    tests = [each.astype(dtypes.bool) for each in together(*condlist, values)[:-1]]
    if len(functions) == len(tests) + 1:
        # The one more is for where none holds.
        none = ua.logical_not(functools.reduce(ua.logical_or, tests)) if tests else ua.ones_like(values, dtype=bool)
        tests.append(none)
    elif len(functions) != len(tests):
        raise ValueError(
            f"{len(tests)} conditions take {len(tests)} or {len(tests) + 1} functions, not {len(functions)}"
        )
    result = ua.zeros_like(values)
    for test, function in zip(tests, functions, strict=True):
        if not callable(function):
            result[test] = cast_to(function, result)
            continue
        chosen = values[test]
        if chosen.size:
            result[test] = cast_to(function(chosen, *args, **kw), result)
    return result


def _is_one(condlist: Any, x: Array) -> bool:
    # Whether there is one condition, which needs no list around it.
    if isinstance(condlist, (bool, np.bool_)):
        return True
    if isinstance(condlist, Array) and condlist.ndim == 0:
        return True
    first = condlist[0] if len(condlist) else condlist
    return not isinstance(first, (list, tuple)) and not getattr(first, "ndim", 0) and x.ndim != 0


# -- vectorize ------------------------------------------------------------------------------------------------------

_NAME = r"\w+"
_CORE = rf"\((?:{_NAME}(?:,{_NAME})*)?\)"
_SIGNATURE = re.compile(rf"^{_CORE}(?:,{_CORE})*->{_CORE}(?:,{_CORE})*$")

Core = list[tuple[str, ...]]


def _parsed(signature: str) -> tuple[Core, Core]:
    signature = re.sub(r"\s+", "", signature)
    if not _SIGNATURE.match(signature):
        raise ValueError(f"not a signature of a function of arrays, such as '(n),(n)->()': {signature}")
    sides = [[tuple(re.findall(_NAME, core)) for core in re.findall(_CORE, side)] for side in signature.split("->")]
    return sides[0], sides[1]


class vectorize:
    """A function of elements, or with a signature of parts, as one of arrays.

    The function gets 0-d arrays, so that derivatives are taken through it; it's called once for each element.

    >>> import unifyarr.numpy as np
    >>> larger = np.vectorize(lambda a, b: a if a > b else b)
    >>> larger([1, 5, 3], 2)
    array([2, 5, 3])

    Source: NumPy's ``numpy.vectorize``, which says the rest.
    """

    def __init__(
        self, pyfunc: Any = NO_VALUE, otypes: Any = None, doc: str | None = None, excluded: Any = None,
        cache: bool = False, signature: str | None = None,
    ) -> None:  # fmt: skip
        if pyfunc is not NO_VALUE and not callable(pyfunc):
            raise TypeError("vectorize() decorates with keywords alone, or takes a function first")
        self.cache = cache
        self.signature = signature
        self.excluded = set(excluded or ())
        if isinstance(otypes, str):
            unknown = [char for char in otypes if char not in np.typecodes["All"]]
            if unknown:
                raise ValueError(f"otypes holds letters of dtypes, and not {unknown[0]!r}")
        elif otypes is not None and not np.iterable(otypes):
            raise ValueError("otypes is a string of letters, or a list of dtypes")
        self.otypes = None if otypes is None else [dtypes.as_dtype(each) for each in otypes]
        self._core = None if signature is None else _parsed(signature)
        self._doc = doc
        self._take(pyfunc)

    def _take(self, function: Any) -> None:
        self.pyfunc = function
        if function is not NO_VALUE:
            self.__name__ = getattr(function, "__name__", type(function).__name__)
            self.__doc__ = getattr(function, "__doc__", None) if self._doc is None else self._doc
        elif self._doc is not None:
            self.__doc__ = self._doc

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        # NumPy's is no method: in a class, it's called without the instance.
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the function gives for the elements of arrays, broadcast together."""
        if self.pyfunc is NO_VALUE:
            self._take(args[0])
            return self
        # What is excluded is passed on; all else is called with elements.
        places = [place for place in range(len(args)) if place not in self.excluded]
        names = [name for name in kwargs if name not in self.excluded]

        def function(*elements: Any) -> Any:
            given, named = list(args), dict(kwargs)
            for place, each in zip(places, elements, strict=False):
                given[place] = each
            named.update(zip(names, elements[len(places) :], strict=True))
            return self.pyfunc(*given, **named)

        operands = [args[place] for place in places] + [kwargs[name] for name in names]
        if self._core is not None:
            return self._of_parts(function, operands, *self._core)
        if not operands:
            return as_array(function())
        return self._of_elements(function, operands)

    def _of_elements(self, function: Callable[..., Any], operands: list[Any]) -> Any:
        arrays = ua.broadcast_arrays(*together(*operands))
        shape = arrays[0].shape
        if 0 in shape and self.otypes is None:
            raise ValueError("vectorize() has no elements to call the function with: pass otypes")
        flat = [ua.reshape(x, (-1,)) for x in arrays]
        results = [function(*(x[place] for x in flat)) for place in range(flat[0].shape[0])]
        several = isinstance(results[0], tuple) if results else len(self.otypes or ()) > 1
        columns = list(zip(*results, strict=True)) if several and results else [results] * (len(self.otypes or [0]))
        made = tuple(self._joined(list(column), number, shape, arrays[0]) for number, column in enumerate(columns))
        return made if several else made[0]

    def _joined(self, results: list[Any], number: int, shape: tuple[int, ...], like: Array) -> Array:
        dtype = self.otypes[number] if self.otypes is not None else as_array(results[0]).dtype
        if not results:
            return ua.empty(shape, dtype=dtype, backend=like.backend, device=like.device)
        joined = together(like, *results)[1:]
        return ua.reshape(ua.stack([each.astype(dtype) for each in joined]), shape + joined[0].shape)

    def _of_parts(self, function: Callable[..., Any], operands: list[Any], inputs: Core, outputs: Core) -> Any:
        if len(operands) != len(inputs):
            raise TypeError(f"the signature has {len(inputs)} arguments, and {len(operands)} came")
        arrays = together(*operands)
        lengths: dict[str, int] = {}
        for x, core in zip(arrays, inputs, strict=True):
            _match(lengths, x.shape, core)
        lead = np.broadcast_shapes(*(x.shape[: x.ndim - len(core)] for x, core in zip(arrays, inputs, strict=True)))
        spread = [
            ua.broadcast_to(x, lead + x.shape[x.ndim - len(core) :]) for x, core in zip(arrays, inputs, strict=True)
        ]
        columns: list[list[Any]] = [[] for _ in outputs]
        for place in np.ndindex(lead):
            found = function(*(x[place] for x in spread))
            several = found if isinstance(found, tuple) else (found,)
            if len(several) != len(outputs):
                raise ValueError(f"the signature has {len(outputs)} results, and the function gave {len(several)}")
            for column, each, core in zip(columns, several, outputs, strict=True):
                result = as_array(each)
                _match(lengths, result.shape, core)
                column.append(result)
        if 0 in lead:
            if self.otypes is None:
                raise ValueError("vectorize() has nothing to call the function with: pass otypes")
            if any(name not in lengths for core in outputs for name in core):
                raise ValueError(
                    "a length of the results isn't known, since there was nothing to call the function with"
                )
        made = []
        for number, (column, core) in enumerate(zip(columns, outputs, strict=True)):
            shape = lead + tuple(lengths[name] for name in core)
            made.append(self._joined_parts(column, number, shape, arrays[0], len(core)))
        return made[0] if len(made) == 1 else tuple(made)

    def _joined_parts(self, column: list[Array], number: int, shape: Any, like: Array, count: int) -> Array:
        dtype = self.otypes[number] if self.otypes is not None else column[0].dtype
        if not column:
            return ua.empty(shape, dtype=dtype, backend=like.backend, device=like.device)
        own = shape[len(shape) - count :]
        joined = together(like, *column)[1:]
        return ua.reshape(ua.stack([ua.broadcast_to(each, own).astype(dtype) for each in joined]), shape)


def _match(lengths: dict[str, int], shape: tuple[int, ...], core: tuple[str, ...]) -> None:
    if len(shape) < len(core):
        raise ValueError(f"an array of shape {shape} has not all axes of its part {core} of the signature")
    for name, length in zip(core, shape[len(shape) - len(core) :], strict=True):
        if lengths.setdefault(name, length) != length:
            raise ValueError(f"{name!r} of the signature is {lengths[name]} long elsewhere, and {length} here")


# -- bits -----------------------------------------------------------------------------------------------------------


def _bits(axis: Any, a: Any, bitorder: str, name: str) -> tuple[Array, Array]:
    # The array with its bits' axis last, and what each place in a byte counts.
    if bitorder not in ("big", "little"):
        raise ValueError(f"bitorder is 'big' or 'little', not {bitorder!r}")
    x = as_array(a)
    x = ua.reshape(x, (-1,)) if axis is None else x
    if x.ndim == 0:
        raise ShapeError(f"{name}() takes an array of at least one dimension along an axis, not a 0-d one")
    order = np.arange(8, dtype=np.uint8)
    weights = np.left_shift(np.uint8(1), order[::-1] if bitorder == "big" else order)
    moved = ua.moveaxis(x, -1 if axis is None else as_axis(axis, x.ndim), -1)
    return moved, ua.asarray(weights, backend=x.backend, device=x.device, copy=True)


@follows(np.packbits)
def packbits(a: Any, /, axis: Any = None, bitorder: str = "big") -> Array:
    """Return bytes of eight bits each, which are elements along an axis; zeros fill the last one.

    >>> import unifyarr.numpy as np
    >>> np.packbits([1, 0, 0, 0, 0, 0, 1, 1])
    array([131], dtype=uint8)
    """
    x, weights = _bits(axis, a, bitorder, "packbits")
    if x.dtype.kind not in "biu":
        raise TypeError(f"bits are integers or bools, not {x.dtype}")
    length = x.shape[-1]
    bits = ua.pad((x != 0).astype(dtypes.uint8), [(0, 0)] * (x.ndim - 1) + [(0, -length % 8)])
    groups = ua.reshape(bits, (*x.shape[:-1], -(-length // 8), 8))
    packed = ua.sum(groups * weights, axis=-1, dtype=dtypes.uint8)
    return packed if axis is None else ua.moveaxis(packed, -1, axis)


@follows(np.unpackbits)
def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: str = "big") -> Array:
    """Return the bits of bytes, as so many elements along an axis.

    >>> import unifyarr.numpy as np
    >>> np.unpackbits(np.asarray([131], np.uint8))
    array([1, 0, 0, 0, 0, 0, 1, 1], dtype=uint8)
    """
    x, weights = _bits(axis, a, bitorder, "unpackbits")
    if x.dtype is not dtypes.uint8:
        raise TypeError(f"bytes are of uint8, not of {x.dtype}")
    bits = (ua.bitwise_and(x[..., None], weights) != 0).astype(dtypes.uint8)
    unpacked = ua.reshape(bits, (*x.shape[:-1], 8 * x.shape[-1]))
    if count is not None:
        length = unpacked.shape[-1]
        wanted = count if count >= 0 else length + count
        if wanted < 0:
            raise ValueError(f"count {count} leaves out more than the {length} bits that there are")
        unpacked = unpacked[..., :wanted]
        if wanted > length:
            unpacked = ua.pad(unpacked, [(0, 0)] * (x.ndim - 1) + [(0, wanted - length)])
    return unpacked if axis is None else ua.moveaxis(unpacked, -1, axis)
