"""``x.flat``: all elements of an array in C order, to go through, to read and to write."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ...errors import CopyError
from ...typing import ArrayLike, Shape
from ..arrays import convert
from ..arrays.array import Array, blank, register
from ..arrays.recipes import RECIPES, View, fill_recipe, root_of, steps_with
from ..arrays.views import Reshape
from ..engines import dtypes
from ..engines.tracing import capture, original, unrepeatable
from ..values import above
from ..values.called import make_boundaries
from .indexing import get_item, set_item


@make_boundaries
class FlatIterator(View):
    """An iterator over all elements of an array in C order, which reads and writes them by keys too.

    It counts what it has passed. What is read is a copy; what is written goes to the array, whatever its layout is, and
    begins again where there are fewer values than elements. Functions take it for the 1-d array that it shows.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1, 2], [3, 4]])
    >>> x.T.flat[1:] = [0, 9]
    >>> x
    array([[1, 9],
           [0, 0]])
    >>> [int(each) for each in x.flat]
    [1, 9, 0, 0]

    Source: NumPy's ``numpy.flatiter``.
    """

    __module__ = __name__.partition("._core")[0]
    __slots__ = ("_array", "_place", "_plain")

    _array: Array
    # The number of the element that comes next.
    _place: int
    # The elements as a view of the array with one axis, where the layout allows one.
    _plain: Array | None

    @property
    def base(self) -> Array:
        """The array whose elements these are."""
        return original(self._array)

    @property
    def index(self) -> int:
        """The number of elements that the iterator has passed."""
        return self._place

    @property
    def coords(self) -> tuple[int, ...]:
        """The index, in the array, of the element that comes next."""
        return _coordinates(self._place, self._array.shape)

    def __iter__(self) -> FlatIterator:
        return self

    def __next__(self) -> Array:
        place = self._place
        if place >= self._array.size:
            raise StopIteration
        self._place = place + 1
        return self._array[_coordinates(place, self._array.shape)]

    def __getitem__(self, key: Any) -> Array:
        self._place = 0
        found = _as_key(slice(None) if type(key) is tuple and not key else key)
        if type(found) is int:
            return self._array[self._position(found)]
        shown = get_item(self if self._plain is None else self._plain, found)
        return shown if shown._base is None else shown.copy()

    def __setitem__(self, key: Any, value: ArrayLike) -> None:
        self._place = 0
        found = _as_key(key)
        if type(found) is int:
            self._array[self._position(found)] = value
            return
        if type(value) not in dtypes.SCALARS:
            shape = _selected(found, self._array.size)
            if shape:
                values = above.functions.reshape(_as_values(value, self), (-1,))
                if not values.size or not math.prod(shape):
                    return
                value = _repeated(values, shape)
        set_item(self if self._plain is None else self._plain, found, value)

    def __delitem__(self, key: object) -> None:
        raise TypeError("elements of an array can't be deleted: take the others, with np.delete(x, key)")

    def _position(self, place: int) -> tuple[int, ...]:
        size = self._array.size
        if not -size <= place < size:
            raise IndexError(f"index {place} is out of bounds for {size} elements")
        return _coordinates(place % size, self._array.shape)


register(FlatIterator)
RECIPES.add(FlatIterator)
_blank_iterator = blank(FlatIterator)


def flat(x: Array, /) -> FlatIterator:
    """Return an iterator over all elements of an array, in C order."""
    unrepeatable()
    x = capture(x)
    shape = x.shape
    iterator = _blank_iterator()
    fill_recipe(iterator, root_of(x), steps_with(x, Reshape(shape, (math.prod(shape),))))
    iterator._array, iterator._place = x, 0
    try:
        iterator._plain = above.functions.reshape(x, (-1,), copy=False)
    except CopyError:
        iterator._plain = None
    return iterator


def set_flat(x: Array, value: ArrayLike, /) -> None:
    """Write all elements in C order."""
    flat(x)[...] = value


def _coordinates(place: int, shape: Shape) -> tuple[int, ...]:
    # The first one has no bound, where all elements are passed.
    found = []
    for length in reversed(shape[1:]):
        place, here = divmod(place, length) if length else (place, 0)
        found.append(here)
    return (place, *reversed(found)) if shape else ()


def _as_key(key: object) -> object:
    """Return an integer, a slice or an index array for a key."""
    if isinstance(key, tuple):
        if len(key) != 1:
            raise IndexError(f"the elements have one axis, and the key has {len(key)} indices")
        (key,) = key
    if type(key) is int or isinstance(key, slice):
        return key
    if key is Ellipsis:
        return slice(None)
    if isinstance(key, (list, tuple)):
        key = convert.to_numpy(key) if key else np.empty(0, np.int64)
        if key.dtype == np.bool_:
            raise IndexError("a list of bools doesn't index x.flat, as in NumPy: pass an array of bools")
    if key is None or isinstance(key, (bool, np.bool_, str)):
        raise IndexError(f"an index of x.flat is an integer, a slice or an array of integers or bools, not {key!r}")
    return operator.index(key) if isinstance(key, np.integer) else key


def _selected(key: object, size: int) -> Shape:
    # The shape of what an index array or a slice takes.
    if isinstance(key, slice):
        return (len(range(*key.indices(size))),)
    if getattr(key, "dtype", None) == dtypes.bool:
        return (int(above.functions.count_nonzero(key)),)
    return tuple(getattr(key, "shape", ()))


def _as_values(value: object, target: Array) -> Array:
    # Numbers in lists are range-checked against the dtype.
    if isinstance(value, (list, tuple)) and not convert.stays(value):
        value = convert.to_numpy(value, target.dtype)
    return convert.as_array(value, target._backend)


def _repeated(values: Array, shape: Shape) -> Array:
    count, size = math.prod(shape), values.size
    if size == 1:
        return above.functions.reshape(values, ())  # type: ignore[no-any-return]
    if size < count:
        values = values[np.arange(count) % size]
    return above.functions.reshape(values[:count], shape)  # type: ignore[no-any-return]
