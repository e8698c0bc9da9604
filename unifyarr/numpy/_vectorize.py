"""Functions of elements, as functions of arrays."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.engines import dtypes
from .._core.values.called import make_boundaries
from ._following import NO_VALUE, as_array, together

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


@make_boundaries
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
        """Call the function for the elements of arrays, broadcast together."""
        if self.pyfunc is NO_VALUE:
            self._take(args[0])
            return self
        # Excluded arguments are passed on; the others are passed element by element.
        places = [place for place in range(len(args)) if place not in self.excluded]
        names = [name for name in kwargs if name not in self.excluded]

        def function(*elements: Any) -> Any:
            given, named = list(args), dict(kwargs)
            for place, each in zip(places, elements, strict=False):
                given[place] = each
            named.update(zip(names, elements[len(places) :], strict=True))
            return self.pyfunc(*given, **named)

        operands = [args[place] for place in places] + [kwargs[name] for name in names]
        if self._core is None and any(map(_is_object, operands)):
            return self._of_objects(function, operands)
        if self._core is not None:
            return self._of_parts(function, operands, *self._core)
        if not operands:
            return as_array(function())
        return self._of_elements(function, operands)

    def _of_objects(self, function: Callable[..., Any], operands: list[Any]) -> Any:
        # Arguments that arrays can't hold count as one element, which each call gets.
        others = [each for each in operands if not _is_object(each)]

        def with_objects(*elements: Any) -> Any:
            left = iter(elements)
            return function(*(each if _is_object(each) else next(left) for each in operands))

        return self._of_elements(with_objects, others) if others else as_array(with_objects())

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


def _is_object(x: Any) -> bool:
    known = (Array, np.ndarray, np.generic, *dtypes.SCALARS, list, tuple)
    return not isinstance(x, known) and not hasattr(type(x), "__array__")


def _match(lengths: dict[str, int], shape: tuple[int, ...], core: tuple[str, ...]) -> None:
    if len(shape) < len(core):
        raise ValueError(f"an array of shape {shape} has not all axes of its part {core} of the signature")
    for name, length in zip(core, shape[len(shape) - len(core) :], strict=True):
        if lengths.setdefault(name, length) != length:
            raise ValueError(f"{name!r} of the signature is {lengths[name]} long elsewhere, and {length} here")
