"""The protocols by which other libraries ask an array for its values; ``exporting`` and others answer."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Self

import numpy as np

from ...typing import BackendName
from ..engines.tracing import current
from ..values import above
from .ownership import alike, read
from .slots import Mixin


class Protocols(Mixin):
    """The protocols by which the standard, NumPy and the machinery ask an array."""

    __slots__ = ()

    @property
    def device(self) -> Any:
        """The name of the device, such as ``"cpu"`` or ``"gpu:0"``; JAX's own sharding where devices are several."""
        x = current(self)
        return x._backend.device(alike(x))

    @property
    def sharding(self) -> Any:
        """How the array is spread over devices, a ``jax.sharding.Sharding``; ``None`` where engines have no such."""
        x = current(self)
        return x._backend.sharding(alike(x))

    # -- the standard's ---------------------------------------------------------------------------------------------

    def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType:
        """Return the namespace of the functions, bound to this array's backend: what it makes lands there."""
        return above.backends.namespace_of(self, api_version)  # type: ignore[no-any-return]

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
        return above.exporting.as_capsule(self, stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

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
        return above.exporting.to_backend(self, backend, device=device)  # type: ignore[no-any-return]

    # -- NumPy's ----------------------------------------------------------------------------------------------------

    def __array__(self, /, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        """Return the values as a NumPy array, which may be written if this one may.

        It shares the memory that the engine can write, a copy stands for any other; ``copy=False`` gives the memory of
        an immutable array as read-only.
        """
        return above.exporting.as_ndarray(self, dtype, copy)  # type: ignore[no-any-return]

    @property
    def data(self) -> memoryview:
        """The memory as a buffer of Python's, without a copy, where the engine writes its arrays.

        It has the shape, the strides and the format of the array, and may be written if the array may. Without
        such memory it's a ``BufferError``: on JAX and TensorFlow, of the dtype bfloat16, on an accelerator, in a
        compiled function, and where a derivative is taken. ``np.asarray(x)`` gives values on every engine.

        Examples
        --------
        >>> import hashlib
        >>> import unifyarr as ua
        >>> x = ua.asarray([1, 2, 3], backend="numpy")
        >>> hashlib.sha256(x.data).hexdigest()[:8]
        'e2e2033a'
        """
        return above.exporting.as_buffer(self)  # type: ignore[no-any-return]

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
        return above.exporting.to_numpy(self)  # type: ignore[no-any-return]

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        """Where the memory is on CUDA, of an engine that writes its arrays: for Numba and CuPy."""
        return above.exporting.cuda_interface(self)  # type: ignore[no-any-return]

    def __arrow_array__(self, type: object = None) -> object:
        """Return the values of a 1-d array as one of Arrow's, for ``pyarrow.array``."""
        import pyarrow

        return pyarrow.array(np.asarray(self), type=type)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> object:
        """Have models of pydantic take arrays, and write them as nested lists where they write JSON."""
        from pydantic_core import core_schema

        as_list = core_schema.plain_serializer_function_ser_schema(lambda x: x.tolist(), when_used="json")
        return core_schema.is_instance_schema(cls, serialization=as_list)

    def __array_ufunc__(self, /, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object) -> object:
        """Serve NumPy's ufuncs: by the function of the same meaning, else by NumPy on the host."""
        return above.numpy_protocols.answer_ufunc(self, ufunc, method, inputs, kwargs)

    def __array_function__(
        self, /, function: Callable[..., object], types: object, args: object, kwargs: object
    ) -> object:
        """Serve NumPy's functions, by NumPy on the host; what they return comes back to this backend."""
        return above.numpy_protocols.answer_function(self, function, types, args, kwargs)
