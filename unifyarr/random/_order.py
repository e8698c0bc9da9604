"""Choosing elements, and putting them in another order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import functions
from .._core.arrays import convert
from .._core.arrays.array import Array
from .._core.arrays.nest import Nest
from .._core.calling.invoke import check_result
from .._core.engines import dtypes
from .._core.engines.handle import Handle
from .._core.engines.tracing import capture
from .._core.values.arguments import as_integer
from .._core.values.shapes import as_axis, as_shape, check_memory
from .._core.writing.inplace import as_target, check_backend, check_target, update
from ..errors import BackendFeatureError, ShapeError
from ._arguments import Destination, Where, as_host, places, refuse_inside_trace, store
from ._base import Base
from ._native import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..typing import ArrayLike, Shape
    from ._arguments import Size


class Ordering(Base):
    """Choosing elements, and putting them in another order."""

    __slots__ = ()

    def choice(
        self,
        a: ArrayLike,
        size: Size = None,
        replace: bool = True,
        p: ArrayLike | None = None,
        axis: int = 0,
        shuffle: bool = True,
        *,
        device: object = None,
        backend: str | None = None,
        out: Array | None = None,
    ) -> Array:
        """Choose elements.

        Parameters
        ----------
        a
            An array to choose from along ``axis``, which stays on its backend and device; or ``n``, for the integers
            from 0 up to it.
        size
            The shape of what's chosen, which takes the place of ``axis``; one element by default.
        replace
            Whether an element may be chosen again.
        p
            The probability of each element, whose sum is 1; all are equal by default.
        axis
            The axis.
        shuffle
            Whether the order of what's chosen without replacement is random too.
        device, backend
            Where the result is made, if ``a`` isn't an array.
        out
            An array or a view for the result, of its shape and of a dtype that it casts to.

        Returns
        -------
        Array
            A new array, of int64 where ``a`` is an integer, or ``out``.

        Raises
        ------
        ValueError
            If there are too few elements, or ``p`` has other ones than probabilities.
        TraceError
            Inside a trace that would keep what's chosen as constants.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).choice(5, size=3)
        array([0, 0, 4])
        >>> ua.random.Generator(0).choice(ua.asarray([1.5, 2.5, 3.5]), size=2, replace=False)
        array([1.5, 3.5])

        Source: ``numpy.random.Generator.choice``.
        """
        where = Where(None, None, device, backend, out)
        shape = () if size is None else as_shape(size)
        check_memory(shape, dtypes.int64)
        items, length, axis = self._items("choice", a, axis, where)
        count = math.prod(shape)
        if count and not length:
            raise ValueError("choice() has nothing to choose from: a is empty")
        if not replace and count > length:
            raise ValueError(f"choice() takes {count} of {length} elements: without replacement there are no more")
        weights = None if p is None else _weights(as_host(p), length, 0 if replace else count)
        if self._native is not None and weights is not None:
            raise BackendFeatureError("choice() with p isn't there for engine='native': choose on the host")

        def draw(host: np.random.Generator) -> Any:
            return host.choice(length, size=shape, replace=replace, p=weights, shuffle=shuffle)

        def draw_natively(stream: Stream) -> Array:
            if not replace:
                return functions.reshape(stream.permutation(length)[:count], shape)
            return stream.integers(shape, dtypes.int64, 0, max(length, 1))

        return self._taken("choice", where, items, axis, shape, draw, draw_natively)

    def permutation(
        self,
        x: ArrayLike,
        axis: int = 0,
        *,
        device: object = None,
        backend: str | None = None,
        out: Array | None = None,
    ) -> Array:
        """Return an array with its parts along an axis in a random order.

        Parameters
        ----------
        x
            An array, which stays on its backend and device; or ``n``, for the integers from 0 up to it.
        axis
            The axis along which the parts lie.
        device, backend
            Where the result is made, if ``x`` isn't an array.
        out
            An array or a view for the result, of its shape and of a dtype that it casts to; ``x`` itself, say.

        Returns
        -------
        Array
            A new array, of int64 where ``x`` is an integer, or ``out``.

        Raises
        ------
        AxisError
            If there's no such axis.
        TraceError
            Inside a trace that would keep the order as a constant.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).permutation(5)
        array([0, 3, 4, 2, 1])
        >>> ua.random.Generator(0).permutation([[1, 2], [3, 4], [5, 6]])
        array([[5, 6],
               [1, 2],
               [3, 4]])

        Source: ``numpy.random.Generator.permutation``.
        """
        where = Where(None, None, device, backend, out)
        items, length, axis = self._items("permutation", x, axis, where)
        return self._taken(
            "permutation",
            where,
            items,
            axis,
            (length,),
            lambda host: host.permutation(length),
            lambda stream: stream.permutation(length),
        )

    def shuffle(self, x: ArrayLike, axis: int = 0) -> None:
        """Put the parts of an array along an axis in a random order, in place.

        Parameters
        ----------
        x
            An array, a view, or an engine's own array that can be written.
        axis
            The axis along which the parts lie.

        Raises
        ------
        TypeError
            If ``x`` is no array: a list isn't shuffled.
        AxisError
            If there's no such axis.
        TraceError
            Inside a trace that would keep the order as a constant.

        Examples
        --------
        >>> import unifyarr as ua
        >>> x = ua.arange(6)
        >>> ua.random.Generator(0).shuffle(x[1:])
        >>> x
        array([0, 1, 4, 5, 3, 2])

        Source: ``numpy.random.Generator.shuffle``.
        """
        target = as_target(x, "x")
        check_target(target)
        self.permutation(target, axis, out=target)

    def permuted(self, x: ArrayLike, *, axis: int | None = None, out: Array | None = None) -> Array:
        """Return an array in which the elements of each line along an axis are in a random order of their own.

        Parameters
        ----------
        x
            An array, which stays on its backend and device.
        axis
            The axis of the lines; ``None`` puts all elements in a random order.
        out
            An array or a view for the result, of its shape and of a dtype that it casts to; ``x`` itself, say.

        Returns
        -------
        Array
            A new array, or ``out``.

        Raises
        ------
        AxisError
            If there's no such axis.
        TraceError
            Inside a trace that would keep the order as a constant.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).permuted([[1, 2, 3], [4, 5, 6]], axis=1)
        array([[3, 1, 2],
               [4, 6, 5]])

        Source: ``numpy.random.Generator.permuted``.
        """
        self._only_host("permuted")
        where = Where(out=out)
        items = _as_array(x, where)
        flat = functions.reshape(items, (-1,)) if axis is None else items
        along = 0 if axis is None else as_axis(axis, items.ndim)
        target = _out_of("permuted", where, items, items.shape)
        length = flat.shape[along] if flat.ndim else 1
        line = np.arange(length).reshape([-1 if each == along else 1 for each in range(max(flat.ndim, 1))])
        with self._rollback() as host:
            assert host is not None
            order = host.permuted(np.broadcast_to(line, flat.shape or (1,)), axis=along)
            indices = _index(order.reshape(flat.shape), items)
            taken = functions.take_along_axis(flat, indices, axis=along) if flat.ndim else flat
            result = functions.reshape(taken, items.shape)
            return _stored("permuted", where, target, result)

    def _items(self, name: str, x: Any, axis: int, where: Where) -> tuple[Array | None, int, int]:
        # The items, ``None`` for integers from 0, and their number along the axis.
        if isinstance(x, np.integer) or not any(hasattr(x, name) for name in ("ndim", "__len__", "__array__")):
            length = as_integer(x, f"what {name}() takes without an array")
            if length < 0:
                raise ValueError(f"{name}() takes an array or how many integers there are, not {length}")
            return None, length, 0
        items = _as_array(x, where)
        if not items.ndim:
            length = int(items)
            return None, length, 0
        axis = as_axis(axis, items.ndim)
        return items, items.shape[axis], axis

    def _taken(
        self,
        name: str,
        where: Where,
        items: Array | None,
        axis: int,
        shape: Shape,
        draw: Callable[[np.random.Generator], Any],
        draw_natively: Callable[[Stream], Array],
    ) -> Array:
        # The items at drawn indices; without items the indices themselves.
        if self._native is not None:
            where = self._native.placed(where)
        else:
            refuse_inside_trace(name)
        if items is None:
            if where.out is not None:
                # A container, whose leaves would share the indices, is none.
                as_target(where.out)
            found = places(name, where._replace(size=shape), int, "iu", (), ())
        else:
            target = _out_of(name, where, items, (*items.shape[:axis], *shape, *items.shape[axis + 1 :]))
        with self._lock, self._rollback() as host:
            stream = None
            if self._native is not None:
                stream = Stream(self._native)
                indices = draw_natively(stream)
            else:
                assert host is not None
                order = np.asarray(draw(host), np.int64)
                if items is None:
                    indices = found[0].made(order.astype(found[0].dtype.dtype, copy=False))
                else:
                    indices = _index(order, items)
            if items is None:
                result = store(name, where, found, [indices.astype(found[0].dtype, copy=False)])
            else:
                result = _stored(name, where, target, functions.take(items, indices, axis=axis))
            if stream is not None:
                stream.commit()
            return result


def _as_array(x: Any, where: Where) -> Array:
    if isinstance(x, Array):
        return capture(x)
    if isinstance(x, Nest):
        raise TypeError("a container has no order of its own: shuffle its leaves, or take what an index array says")
    # An engine's own array stays where it is, data goes where the result does.
    backend: Handle | None = convert.backend_of(x)
    if backend is None:
        backend = where.out._backend if isinstance(where.out, Array) else where.handle()
    return functions.asarray(x, backend=backend.name, device=where.device)


def _index(order: np.ndarray, items: Array) -> Array:
    backend = items._backend
    dtype = dtypes.int64 if convert.has_dtype(backend, dtypes.int64) else dtypes.int32
    device = convert.device_of([items], backend)
    made = Destination(order.shape, dtype, backend, device, None).made(order.astype(dtype.dtype, copy=False))
    return convert.within_bounds(made, int(order.min()), int(order.max())) if order.size else made


def _out_of(name: str, where: Where, items: Array, shape: Shape) -> Array | None:
    if where.backend is not None:
        check_backend(items, where.handle(), "the array")
    if where.out is None:
        return None
    target = as_target(where.out)
    check_target(target)
    check_backend(target, items._backend)
    check_result(name, target, shape, items.dtype)
    return target


def _stored(name: str, where: Where, target: Array | None, result: Array) -> Array:
    if target is None:
        return result
    update(target, result, exact=True, what=f"out of {name}()")
    written: Array = where.out
    return written


def _weights(p: Any, length: int, distinct: int) -> np.ndarray:
    weights = np.asarray(p)
    if weights.shape != (length,):
        raise ShapeError(f"choice() of {length} elements takes a p of shape {(length,)}, not {weights.shape}")
    if not np.all(weights >= 0):
        raise ValueError(f"choice() takes a p of probabilities, not {weights[~(weights >= 0)][0]}")
    precision = weights.dtype if weights.dtype.kind == "f" else np.float64
    total = weights.sum(dtype=np.float64)
    if abs(total - 1) > np.sqrt(np.finfo(precision).eps):
        raise ValueError(f"choice() takes a p whose sum is 1, not {total}: divide it by its sum")
    if np.count_nonzero(weights) < distinct:
        raise ValueError(f"choice() takes {distinct} elements, but p is above zero for fewer")
    return weights
