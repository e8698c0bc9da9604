"""The class of elementwise functions as objects, with their methods: ``add.reduce``, ``add.outer``, ``add.at``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.arrays.weak import kind_of
from .._core.calling.numpy_protocols import serve_ufunc
from .._core.engines import dtypes
from .._core.values.called import boundary, make_boundaries
from .._core.writing.inplace import as_target, check_target, update
from ..errors import ShapeError
from . import _folding
from ._following import COUNTERPARTS, NO_VALUE, as_array, deliver, places_data, together

WEAK = frozenset((int, float, complex))


def dtype_of(x: Any) -> Any:
    """Return NumPy's key for resolving a loop: the dtype of an array, the type of a Python number."""
    return kind_of(x) if kind_of(x) in WEAK else np.dtype(bool) if type(x) is bool else x.dtype.dtype


def as_numpy_dtype(dtype: Any) -> Any:
    """Return a dtype as NumPy's, ``None`` as it is."""
    return None if dtype is None else dtypes.as_dtype(dtype).dtype


def _write_on_host(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    own, *inputs = args
    return serve_ufunc(own._numpy, "at", tuple(inputs), kwargs)


class ufunc:
    """A function of each element, made from the function that computes and from NumPy's ufunc, which says the rest.

    >>> import unifyarr.numpy as np
    >>> np.add.outer([1, 2], [10, 20])
    array([[11, 21],
           [12, 22]])
    """

    __module__ = __name__.rpartition(".")[0]

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **options: Any) -> Any: ...

    else:
        # Calls read the function from the slot.
        __slots__ = ("__call__", "__dict__", "__weakref__")

    def __new__(cls, numpy: np.ufunc, compute: Callable[..., Any]) -> ufunc:
        kind = _CALLED.get((numpy.nin, numpy.nout)) if cls is ufunc else None
        return object.__new__(kind or cls)

    def __init__(self, numpy: np.ufunc, compute: Callable[..., Any]) -> None:
        self._numpy = numpy
        self._compute = compute
        self.__name__ = self.__qualname__ = numpy.__name__
        self.__doc__ = numpy.__doc__
        self.__signature__ = inspect.signature(numpy)
        self.nin, self.nout, self.nargs = numpy.nin, numpy.nout, numpy.nargs
        self.types, self.ntypes = numpy.types, numpy.ntypes
        self.identity, self.signature = numpy.identity, numpy.signature
        COUNTERPARTS[numpy] = self
        self.__call__ = boundary(self._usual, numpy.__name__)  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self) -> str:
        return self.__name__

    def resolve_dtypes(
        self, dtypes: Any, *, signature: Any = None, casting: Any = None, reduction: bool = False
    ) -> tuple[np.dtype[Any], ...]:
        """Return the dtypes of the loop that is used for operands of some dtypes, as NumPy's ufunc does."""
        given = tuple(each if each is None or each in WEAK else as_numpy_dtype(each) for each in dtypes)
        fixed = {name: each for name, each in (("signature", signature), ("casting", casting)) if each is not None}
        return self._numpy.resolve_dtypes(given, reduction=reduction, **fixed)

    def _usual(self, *args: Any, **options: Any) -> Any:
        return self._compute(*args) if not options and len(args) == self.nin else self._call(args, **options)

    @places_data
    def _call(
        self,
        args: tuple[Any, ...],
        out: Any = None,
        *,
        where: Any = True,
        casting: str = "same_kind",
        order: str = "K",
        dtype: Any = None,
        subok: bool = True,
        signature: Any = None,
        **unknown: Any,
    ) -> Any:
        if unknown:
            raise TypeError(f"{self.__name__}() got an unexpected keyword argument {min(unknown)!r}")
        inputs, outs = self._arguments(args, out)
        if dtype is None and signature is None and casting == "same_kind":
            if where is True and self.nout == 1 and outs[0] is not None:
                return self._compute_into(inputs, outs[0])
            results = self._results(inputs)
        else:
            results = self._results(*self._in_loop(inputs, dtype, signature, casting))
        finished = tuple(_stored(*each, where, casting) for each in zip(results, outs, strict=True))
        return finished if self.nout > 1 else finished[0]

    def _arguments(self, args: tuple[Any, ...], out: Any) -> tuple[list[Any], tuple[Any, ...]]:
        """Return the inputs and, for each result, where it goes."""
        count = len(args) - self.nin
        if not 0 <= count <= self.nout:
            most = f" to {self.nargs}" if count > 0 else ""
            raise TypeError(f"{self.__name__}() takes {self.nin}{most} positional arguments, but {len(args)} came")
        if count and out is not None:
            raise TypeError(f"{self.__name__}() got out both by position and by name: pass it once")
        if any(each is Ellipsis for each in (*args[self.nin :], *(out if type(out) is tuple else ()))):
            raise TypeError(f"out=... of {self.__name__}() is no positional argument, and in no tuple")
        # NumPy's ``out=...`` asks for an array where it would give a scalar.
        out = None if out is Ellipsis else out
        outs = args[self.nin :] if count else out if isinstance(out, tuple) else (out,)
        if count:
            outs += (None,) * (self.nout - count)
        if len(outs) != self.nout:
            raise ValueError(f"out of {self.__name__}() is a tuple of {self.nout} arrays, one for each result")
        for each in outs:
            if each is not None and not hasattr(each, "dtype"):
                raise TypeError(f"out of {self.__name__}() is an array, not {type(each).__name__}")
        return [*args[: self.nin]], outs

    def _results(self, inputs: Sequence[Any], loop: Any = None) -> tuple[Array, ...]:
        found = self._compute(*inputs)
        results = found if isinstance(found, tuple) else (found,)
        if loop is None:
            return results
        wanted = [dtypes.as_dtype(each) for each in loop[self.nin :]]
        return tuple(map(_folding.cast, results, wanted))

    def _compute_into(self, inputs: list[Any], out: Any) -> Any:
        target = as_target(out)
        shape = ua.broadcast_shapes(*(np.shape(x) if not isinstance(x, Array) else x.shape for x in inputs))
        if shape != target.shape:
            # As NumPy, which repeats inputs to the shape of out.
            first = together(target, inputs[0])[1]
            inputs[0] = ua.broadcast_to(first, ua.broadcast_shapes(first.shape, target.shape))
        self._compute(*inputs, out=target)
        return out

    def _in_loop(self, inputs: list[Any], dtype: Any, signature: Any, casting: str) -> tuple[list[Array], Any]:
        """Return the inputs cast to the dtypes of a loop, and these."""
        if dtype is not None:
            if signature is not None:
                raise TypeError(f"{self.__name__}() got both dtype and signature: pass one of them")
            signature = (None,) * self.nin + (as_numpy_dtype(dtype),) * self.nout
        elif isinstance(signature, tuple):
            signature = tuple(map(as_numpy_dtype, signature)) if len(signature) > 1 else signature
        arrays = together(*inputs)
        given = [x if kind_of(x) in WEAK else array for x, array in zip(inputs, arrays, strict=True)]
        asked = (*map(dtype_of, given), *(None,) * self.nout)
        fixed = {} if signature is None else {"signature": signature}
        loop = self._numpy.resolve_dtypes(asked, casting=casting, **fixed)  # type: ignore[arg-type]
        return [_folding.cast(x, dtypes.as_dtype(each)) for x, each in zip(arrays, loop, strict=False)], loop

    @places_data
    def reduce(
        self,
        array: Any,
        /,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Array:
        """Return the elements along an axis, combined by this function.

        >>> import unifyarr.numpy as np
        >>> np.maximum.reduce([[1, 5], [3, 2]])
        array([3, 5])
        """
        self._check_binary("reduce")
        out = _single(out)
        result = _folding.reduce(self, as_array(array), axis, dtype, out, bool(keepdims), initial, where)
        return deliver(result, out)

    @places_data
    def accumulate(self, array: Any, /, axis: int = 0, dtype: Any = None, out: Any = None) -> Array:
        """Return the result of ``reduce`` for the first element along an axis, for the first two, and so on.

        >>> import unifyarr.numpy as np
        >>> np.multiply.accumulate([2, 3, 4])
        array([ 2,  6, 24])
        """
        self._check_binary("accumulate")
        out = _single(out)
        return deliver(_folding.accumulate(self, as_array(array), axis, dtype, out), out)

    @places_data
    def reduceat(self, array: Any, /, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Array:
        """Return ``reduce`` for the slices between indices; an element, where the next index isn't higher.

        >>> import unifyarr.numpy as np
        >>> np.add.reduceat(np.arange(8), [0, 4, 1, 5])
        array([ 6,  4, 10, 18])
        """
        self._check_binary("reduceat")
        out = _single(out)
        return deliver(_folding.reduceat(self, as_array(array), indices, axis, dtype, out), out)

    @places_data
    def outer(self, a: Any, b: Any, /, **options: Any) -> Any:
        """Return the function of each element of one array and each of another.

        >>> import unifyarr.numpy as np
        >>> np.subtract.outer([10, 20], [1, 2, 3])
        array([[ 9,  8,  7],
               [19, 18, 17]])
        """
        self._check_elementwise("outer")
        if self.nin != 2:
            raise ValueError(f"outer() is for functions of two arrays, and {self.__name__} has {self.nin}")
        first, second = together(a, b)
        return self(ua.reshape(first, first.shape + (1,) * second.ndim), second, **options)

    @partial(places_data, written="a", on_host=_write_on_host)
    def at(self, a: Any, indices: Any, b: Any = None, /) -> None:
        """Write the function of the indexed elements of ``a``, once for each time that an index occurs.

        >>> import unifyarr.numpy as np
        >>> x = np.zeros(3)
        >>> np.add.at(x, [0, 0, 2], 1.0)
        >>> x
        array([2., 0., 1.])
        """
        self._check_elementwise("at")
        if self.nout != 1 or self.nin > 2:
            raise ValueError("at() is for functions of one or two arrays with one result")
        if (b is None) is (self.nin == 2):
            wanted = "a second array" if self.nin == 2 else "no second array"
            raise (ValueError if self.nin == 2 else TypeError)(f"{self.__name__}.at() takes {wanted}")
        target = as_target(a, "the first argument of at()")
        check_target(target)
        _folding.write_at(self, target, indices, b)

    def _check_elementwise(self, method: str) -> None:
        if self.signature is not None:
            kind = TypeError if method in ("outer", "at") else RuntimeError
            raise kind(f"{method}() isn't there for {self.__name__}, which takes whole rows: {self.signature}")

    def _check_binary(self, method: str) -> None:
        self._check_elementwise(method)
        if self.nin != 2 or self.nout != 1:
            raise ValueError(f"{method}() is for functions of two arrays with one result, unlike {self.__name__}")


class _unary(ufunc):
    """A function of one array: its usual calls have short ways."""

    __module__ = __name__.rpartition(".")[0]

    def _usual(self, x: Any, /, *more: Any, out: Any = None, **options: Any) -> Any:
        if len(more) == 1 and out is None and type(more[0]) is Array:
            (out,), more = more, ()
        if not options and not more:
            if out is None:
                return self._compute(x)
            if type(out) is Array:
                try:
                    return self._compute(x, out=out)
                except ShapeError:
                    # The input may have to be repeated.
                    pass
        return self._call((x, *more), out, **options)


class _binary(ufunc):
    """A function of two arrays: its usual calls have short ways."""

    __module__ = __name__.rpartition(".")[0]

    def _usual(self, x1: Any, x2: Any, /, *more: Any, out: Any = None, **options: Any) -> Any:
        if len(more) == 1 and out is None and type(more[0]) is Array:
            (out,), more = more, ()
        if not options and not more:
            if out is None:
                return self._compute(x1, x2)
            if type(out) is Array:
                try:
                    return self._compute(x1, x2, out=out)
                except ShapeError:
                    # Inputs may have to be repeated.
                    pass
        return self._call((x1, x2, *more), out, **options)


_CALLED: dict[tuple[int, int], type[ufunc]] = {(1, 1): _unary, (2, 1): _binary}


class row_ufunc(ufunc):
    """A function of rows or matrices, such as ``matmul``, whose axes can be named."""

    __module__ = __name__.rpartition(".")[0]

    @places_data
    def _call(
        self,
        args: tuple[Any, ...],
        out: Any = None,
        *,
        axes: Any = NO_VALUE,
        axis: Any = NO_VALUE,
        keepdims: bool = False,
        **options: Any,
    ) -> Any:
        if "where" in options:
            raise TypeError(f"{self.__name__}() takes no where, as its elements aren't computed one by one")
        if axes is NO_VALUE and axis is NO_VALUE and not keepdims:
            return super()._call(args, out, **options)
        inputs, (target,) = self._arguments(args, out)
        arrays = together(*inputs)
        counts, last = self._core_dimensions(arrays)
        named = self._axes(axes, axis, counts, last, bool(keepdims))
        moved = [_moved(x, each, inward=True) for x, each in zip(arrays, named, strict=False)]
        result = super()._call(tuple(moved), **options)
        if keepdims:
            result = ua.expand_dims(result, -1)
        return deliver(_moved(result, named[-1], inward=False), target)

    def _compute_into(self, inputs: list[Any], out: Any) -> Any:
        return _stored(self._compute(*inputs), out, True, "same_kind")

    def _core_dimensions(self, arrays: list[Array]) -> tuple[list[int], int]:
        """Return how many axes of each array are its rows and columns; of a vector in place of a matrix it's one."""
        assert self.signature is not None
        inputs, last = self.signature.split("->")
        counts = [part.count(",") + bool(part.strip("() ")) for part in inputs.split("),")]
        vectors = [x.ndim == 1 < count and "?" in self.signature for x, count in zip(arrays, counts, strict=True)]
        counts = [1 if vector else count for vector, count in zip(vectors, counts, strict=True)]
        return counts, last.count(",") + bool(last.strip("() ")) - sum(vectors)

    def _axes(self, axes: Any, axis: Any, counts: list[int], last: int, keepdims: bool) -> list[tuple[int, ...]]:
        if keepdims and (last or set(counts) != {1}):
            raise TypeError(f"{self.__name__}() takes no keepdims: its result has axes of its own")
        last += keepdims
        if axis is not NO_VALUE:
            if axes is not NO_VALUE:
                raise TypeError(f"{self.__name__}() got both axis and axes: pass one of them")
            if set(counts) != {1}:
                raise TypeError(f"{self.__name__}() takes no axis: its arrays have several, pass axes")
            return [(axis,)] * len(counts) + [(axis,) * last]
        if axes is NO_VALUE:
            return [tuple(range(-count, 0)) for count in (*counts, last)]
        if not isinstance(axes, list):
            raise TypeError(f"axes of {self.__name__}() is a list with a tuple for each array, not {axes!r}")
        named = [each if isinstance(each, tuple) else (each,) for each in axes]
        if len(named) == len(counts):
            named.append(named[0] if last == 1 and keepdims else ())
        if [len(each) for each in named] != [*counts, last]:
            raise ValueError(f"axes of {self.__name__}() has {[*counts, last]} axes for its arrays, not {axes}")
        return named


def _moved(x: Array, axes: tuple[int, ...], *, inward: bool) -> Array:
    inner = tuple(range(-len(axes), 0))
    if not axes or axes == inner:
        return x
    return ua.moveaxis(x, axes, inner) if inward else ua.moveaxis(x, inner, axes)


def _as_bools(where: Any) -> Any:
    """Return a list that says where as bools: numbers count where they aren't zero, as in NumPy."""
    return ua.astype(as_array(where), dtypes.bool)


def _single(out: Any) -> Any:
    if out is Ellipsis:
        return None
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError(f"out is one array, or a tuple of one, not of {len(out)}")
        (out,) = out
        if out is Ellipsis:
            raise TypeError("out=... is no tuple of it")
    if out is not None and not hasattr(out, "dtype"):
        raise TypeError(f"out is an array, not {type(out).__name__}")
    return out


def _stored(result: Array, out: Any, where: Any, casting: str) -> Any:
    """Return a result, or write it to ``out``, where ``where`` holds."""
    if where is True:
        if out is None:
            return result
        target = as_target(out)
        if result.shape != target.shape:
            result = ua.broadcast_to(result, target.shape)
        return deliver(result, out, casting=casting)
    mask = together(result, where if hasattr(where, "dtype") else _as_bools(where))[1]
    if mask.dtype != dtypes.bool:
        raise TypeError(f"where is an array of bools, not of {mask.dtype}")
    if out is None:
        # NumPy leaves uninitialized memory there.
        return ua.where(mask, result, ua.zeros_like(result))
    target = as_target(out)
    check_target(target)
    if not np.can_cast(result.dtype.dtype, target.dtype.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(f"out has dtype {target.dtype}, which {result.dtype} can't be cast to under {casting!r}")
    update(target, ua.where(mask, result.astype(target.dtype), target), what="out")
    return out


for _each in (ufunc, _unary, _binary, row_ufunc):
    make_boundaries(_each)
