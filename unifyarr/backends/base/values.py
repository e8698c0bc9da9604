"""Native arrays and their attributes, and conversions into and out of the engine."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic

import numpy as np

from ._native import Native
from .abilities import Abilities

# The characters of the floating dtypes, complex ones included; the last one is that of bfloat16.
FLOATING = "efdFDE"


class Values(Abilities, Generic[Native]):
    """Types, shapes, dtypes and values of native arrays."""

    # -- what an array is ---------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def native_types(self) -> tuple[type[Native], ...]:
        """The classes of native arrays, the one of nearly all results first."""

    @abstractmethod
    def shape(self, native: Native) -> tuple[int, ...]:
        """Return the shape as a tuple of ``int``; without ``has_shapes`` ``None`` is a length that isn't known."""

    @abstractmethod
    def dtype(self, native: Native) -> np.dtype[Any]:
        """Return the dtype as a ``numpy.dtype``; ``DtypeError`` for one that the package doesn't have."""

    # Whether the dtype of a kernel's result depends only on the operands' dtypes, and not on users' settings.
    has_fixed_dtypes: bool = False

    @abstractmethod
    def as_dtype(self, dtype: object) -> np.dtype[Any] | None:
        """Return the ``numpy.dtype`` of an engine's own dtype object, ``None`` for anything else."""

    def strides(self, native: Native) -> tuple[int, ...] | None:
        """Return the strides in bytes, where ``has_strides``; ``None`` elsewhere, as arrays are C-contiguous there."""
        return None

    # The kernels, beside those that add up, whose last bits depend on how their arguments lie in memory, with the
    # characters (``np.dtype.char``) of the dtypes for which they do.
    by_layout: Mapping[str, str] = {}
    # The kernels whose results may be in another order than C's though all their arguments are in it.
    # On most engines transforms put their axis last.
    reordering: frozenset[str] = frozenset(
        {"fft", "fftn", "hfft", "ifft", "ifftn", "ihfft", "irfft", "irfftn", "rfft", "rfftn"}
    )

    def with_strides(self, native: Native, strides: tuple[int, ...]) -> Native:
        """Return a copy with these strides in bytes, where ``has_strides``; it's only read."""
        return native

    @abstractmethod
    def read(self, native: Native) -> Native:
        """Return the array that kernels compute with: the value of a variable, otherwise the native itself."""

    def as_native(self, value: Any) -> Native:
        """Convert a kernel's result that isn't of the first of ``native_types`` to a native array.

        NumPy's ufuncs give scalars for 0-d arrays. By default it is a native array as it is.
        """
        native: Native = value
        return native

    def handed_out(self, native: Native) -> Any:
        """Return ``x.native`` for users: by default the native itself."""
        return native

    # -- values in and out --------------------------------------------------------------------------------------------

    @abstractmethod
    def from_numpy(self, array: np.ndarray, *, device: Any = None, copy: bool = True) -> Native:
        """Return a native array of the values of ``array``.

        ``copy=False`` shares the memory where the engine writes its arrays in place and can describe that memory. An
        immutable native never shares memory that somebody else may write: it is always a copy.
        """

    def constant(self, array: np.ndarray, *, device: Any = None) -> Native:
        """Return a native array of one number that is only read: an engine may keep it on its device."""
        return self.from_numpy(array, device=device)

    def stays(self, native: Native) -> bool:
        """Return whether a number that ``constant`` returned may serve later calls: by default it may."""
        return True

    def note_bounds(self, native: Native, low: int, high: int, /) -> None:
        """Remember of indices that they lie between two numbers: an accelerator needn't be waited for to see it."""

    @abstractmethod
    def to_numpy(self, native: Native) -> np.ndarray:
        """Return the values as a NumPy array, which may share memory and must not be written."""

    @abstractmethod
    def copy(self, native: Native) -> Native:
        """Return an independent native array of equal values; an immutable one may be its own copy."""

    @abstractmethod
    def from_dlpack(self, x: Any, *, device: Any = None, copy: bool | None = None) -> Native:
        """Return a native array from an object with ``__dlpack__``: a copy where only reading is allowed."""

    @abstractmethod
    def dlpack(
        self,
        native: Native,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
        read_only: bool = False,
    ) -> object:
        """Return a DLPack capsule of the array: of its memory, unless that is read-only.

        ``stream`` is ``None`` for host memory. For a device, it follows the standard: ``None`` for the default stream,
        -1 for no synchronization, or the address of a stream that waits for the array.

        ``read_only`` says that the array is a view that must not be written, whatever its memory. Memory that must not
        be written is only exported to consumers who insist on it (``copy=False``), and marked if they read marks;
        ``unifyarr.backends.memory.export`` does that for memory that NumPy can describe.
        """

    @abstractmethod
    def dlpack_device(self, native: Native) -> tuple[int, int]:
        """Return the DLPack device type and number."""

    # -- what is refused, and how errors are reported -----------------------------------------------------------------

    def check_type(self, native: Any) -> None:
        """Raise ``TypeError`` for an instance of a subclass of ``native_types`` that means something else.

        Such a class redefines operations, as torch's ``DTensor`` does. By default no class does.
        """

    def check_plain(self, native: Native) -> None:
        """Raise for a native that kernels don't compute with: a sparse tensor, a deleted buffer."""

    def own_error(self, error: Exception) -> type[Exception] | None:
        """Return the class of error to raise for one of the engine's own, ``None`` for any other.

        ``unifyarr.backends.kernels.own_error`` decides by the module of the error's class.
        """
        return None

    # -- what the engine asks of our objects --------------------------------------------------------------------------

    # Methods that arrays get for the engine's own protocols, by name. Each is a function of a native array (or of a
    # NumPy array, for an array of another backend) and of the arguments that the engine passes.
    protocols: Mapping[str, Callable[..., Any]] = {}

    def open_node(self, x: object) -> tuple[Sequence[Any], Any, Sequence[str]] | None:
        """Take a node of the engine's pytrees apart; ``None``, the default, for anything else.

        Return the children, a hashable structure whose ``unflatten(children)`` makes such a node, and the names of the
        children.
        """
        return None

    def register_node(
        self,
        cls: type,
        flatten: Callable[[Any], tuple[list[Any], Any]],
        unflatten: Callable[[Any, Any], Any],
        names: Callable[[Any], Sequence[str]],
    ) -> None:
        """Make a class a node of the engine's pytrees: by default the engine has none.

        ``flatten(x)`` returns the children and something hashable, ``unflatten(hashable, children)`` makes an equal
        object, ``names(x)`` names the children.
        """
