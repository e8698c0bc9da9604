"""What arrays do by what is above them: declared here, supplied by ``indexing``, ``exporting`` and others."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Self

import numpy as np

from ...typing import BackendName
from ..engines.tracing import current
from ..values.supplying import NotSupplied
from .ownership import read
from .slots import Mixin
from .views import Step


class Protocols(Mixin):
    """The protocols by which the standard, NumPy and the machinery ask an array: see ``supply``."""

    __slots__ = ()

    # -- the standard's ---------------------------------------------------------------------------------------------

    def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType:
        """Return the namespace of the functions, bound to this array's backend: what it makes lands there."""
        raise NotSupplied

    def __dlpack__(
        self,
        /,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        """Export the memory through DLPack where the engine can write it; what is exported elsewhere is a copy.

        What is read-only is exported as a copy, which is marked as read-only for consumers that read such marks. With
        ``copy=False`` an immutable or read-only array gives its memory itself, so marked, and what takes a copy is a
        ``BufferError``.
        """
        raise NotSupplied

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's numbers for the device."""
        x = current(self)
        return x._backend.dlpack_device(read(x))

    def to_backend(self, /, backend: BackendName, *, device: object = None) -> Self:
        """Return the values on another backend, in memory of its own; the array itself if it's there.

        Parameters
        ----------
        backend
            The name of the backend.
        device
            The device there; its default one if not given.
        """
        raise NotSupplied

    # -- NumPy's ----------------------------------------------------------------------------------------------------

    def __array__(self, /, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        """Return the values as a NumPy array, which may be written if this one may.

        It shares the memory that the engine can write, a copy stands for any other; ``copy=False`` gives the memory of
        an immutable array as read-only.
        """
        raise NotSupplied

    def to_numpy(self, /) -> np.ndarray:
        """Return the values as a NumPy array of its own memory, on every backend.

        ``np.asarray(x)`` shares memory where the engine can write it, which saves the copy.

        Examples
        --------
        >>> import unifyarr as ua
        >>> x = ua.zeros(2)
        >>> values = x.to_numpy()
        >>> values[0] = 1
        >>> x
        array([0., 0.])
        """
        raise NotSupplied

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> object:
        """Have models of pydantic take arrays, and write them as nested lists where they write JSON."""
        from pydantic_core import core_schema

        as_list = core_schema.plain_serializer_function_ser_schema(lambda x: x.tolist(), when_used="json")
        return core_schema.is_instance_schema(cls, serialization=as_list)

    def __array_ufunc__(self, /, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object) -> object:
        """Serve NumPy's ufuncs: by the function of the same meaning, else by NumPy on the host."""
        raise NotSupplied

    def __array_function__(
        self, /, function: Callable[..., object], types: object, args: object, kwargs: object
    ) -> object:
        """Serve NumPy's functions, by NumPy on the host; what they return comes back to this backend."""
        raise NotSupplied

    # -- the machinery's --------------------------------------------------------------------------------------------

    def _get_item(self, key: object, /) -> Self:
        """Return what ``x[key]`` is."""
        raise NotSupplied

    def _set_item(self, key: object, value: object, /) -> None:
        """Write a value to ``x[key]``."""
        raise NotSupplied

    def _update(self, value: object, /, *, what: str = "x", assigned: bool = False) -> None:
        """Overwrite the array by a value; ``what`` it is called in errors, ``assigned`` that any cast will do."""
        raise NotSupplied

    # -- the views' -------------------------------------------------------------------------------------------------

    def _view(self, step: Step, /) -> Self:
        """Return the view that one step makes."""
        raise NotSupplied

    def _geometry(self, /) -> np.ndarray:
        """Return an array of NumPy's without memory, of the shape and the strides of this one."""
        raise NotSupplied

    def _is_read_only(self, /) -> bool:
        """Return whether a write would be refused."""
        raise NotSupplied
