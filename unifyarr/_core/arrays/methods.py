"""The methods of an array that are functions: each calls the function of its name."""

# What a function found by its name returns isn't known to mypy.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any, Self

from ..values.declared import functions
from .slots import Slots


class Methods(Slots):
    """The methods of arrays that are functions, which say what each does."""

    __slots__ = ()

    def sum(self, axis: Any = None, dtype: Any = None, keepdims: bool = False, out: Any = None) -> Self:
        """See the function ``sum``."""
        return functions.sum(self, axis=axis, dtype=dtype, keepdims=keepdims, out=out)

    def prod(self, axis: Any = None, dtype: Any = None, keepdims: bool = False, out: Any = None) -> Self:
        """See the function ``prod``."""
        return functions.prod(self, axis=axis, dtype=dtype, keepdims=keepdims, out=out)

    def mean(self, axis: Any = None, keepdims: bool = False, out: Any = None) -> Self:
        """See the function ``mean``."""
        return functions.mean(self, axis=axis, keepdims=keepdims, out=out)

    def max(self, axis: Any = None, keepdims: bool = False, out: Any = None) -> Self:
        """See the function ``max``."""
        return functions.max(self, axis=axis, keepdims=keepdims, out=out)

    def min(self, axis: Any = None, keepdims: bool = False, out: Any = None) -> Self:
        """See the function ``min``."""
        return functions.min(self, axis=axis, keepdims=keepdims, out=out)

    def all(self, axis: Any = None, keepdims: bool = False, out: Any = None) -> Self:
        """See the function ``all``."""
        return functions.all(self, axis=axis, keepdims=keepdims, out=out)

    def any(self, axis: Any = None, keepdims: bool = False, out: Any = None) -> Self:
        """See the function ``any``."""
        return functions.any(self, axis=axis, keepdims=keepdims, out=out)

    def std(self, axis: Any = None, correction: float = 0.0, keepdims: bool = False, out: Any = None) -> Self:
        """See the function ``std``."""
        return functions.std(self, axis=axis, correction=correction, keepdims=keepdims, out=out)

    def var(self, axis: Any = None, correction: float = 0.0, keepdims: bool = False, out: Any = None) -> Self:
        """See the function ``var``."""
        return functions.var(self, axis=axis, correction=correction, keepdims=keepdims, out=out)

    def argmax(self, axis: int | None = None, keepdims: bool = False, out: Any = None) -> Self:
        """See the function ``argmax``."""
        return functions.argmax(self, axis=axis, keepdims=keepdims, out=out)

    def argmin(self, axis: int | None = None, keepdims: bool = False, out: Any = None) -> Self:
        """See the function ``argmin``."""
        return functions.argmin(self, axis=axis, keepdims=keepdims, out=out)

    def squeeze(self, axis: Any = None) -> Self:
        """See the function ``squeeze``."""
        return functions.squeeze(self, axis)

    def astype(self, dtype: Any, *, copy: bool = True) -> Self:
        """See the function ``astype``."""
        if not copy and dtype is self.dtype:
            return self
        return functions.astype(self, dtype, copy=copy)

    def clip(self, min: Any = None, max: Any = None, *, out: Any = None) -> Self:
        """See the function ``clip``."""
        return functions.clip(self, min, max, out=out)

    def round(self, *, out: Any = None) -> Self:
        """See the function ``round``."""
        return functions.round(self, out=out)

    def conj(self, *, out: Any = None) -> Self:
        """See the function ``conj``."""
        return functions.conj(self, out=out)

    def take(self, indices: Any, *, axis: int | None = None, out: Any = None) -> Self:
        """See the function ``take``."""
        return functions.take(self, indices, axis=axis, out=out)

    def repeat(self, repeats: Any, *, axis: int | None = None) -> Self:
        """See the function ``repeat``."""
        return functions.repeat(self, repeats, axis=axis)

    def nonzero(self) -> tuple[Self, ...]:
        """See the function ``nonzero``."""
        return functions.nonzero(self)

    def reshape(self, *shape: Any, copy: bool | None = None) -> Self:
        """Return the array in another shape, given as one tuple or as several lengths; see ``reshape``."""
        return functions.reshape(self, shape[0] if len(shape) == 1 else shape, copy=copy)

    def flatten(self) -> Self:
        """Return the elements as a new 1-d array."""
        return functions.reshape(self, (-1,), copy=True)
