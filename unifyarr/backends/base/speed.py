"""Members that make calls and writes faster, and change nothing else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ._native import Native
from .host import HostLoops
from .one_launch import OneLaunch
from .plain import LEARNT, Plain
from .values import Values


class Speed(Values[Native]):
    """How plain calls are computed, and writes that use memory again. All of it is optional."""

    # -- plain calls, and items: what isn't given here is learnt from kernels, or takes the general path ---------------

    def plain_way(self, name: str, kernel: Callable[..., Any] | None) -> Plain:
        """Return how plain calls of a function with this kernel are computed, where that isn't to be learnt.

        Beside elementwise functions there are "matmul" and "asarray", whose kernel takes the function's own arguments.
        """
        return LEARNT

    # Fast paths of the engine for items of arrays. All decline by NotImplemented, or False for a write: always, if
    # a key or a value is of a type that they don't know. Keys and values hold natives in place of arrays.
    # "get_item"(native, key): for a basic key, the native view; of one element a number that ``as_native`` takes.
    # "get_copy"(native, key): for any other key, a native in memory of its own, or a number.
    # "get_transpose"(native): the view with all axes reversed, where the engine has it.
    # "set_item"(native, key, value): write a native, a number, or data.
    # "put_copy"(native, key, value): of an engine that can't write its arrays, a new native.
    items: Mapping[str, Callable[..., Any]] = {}
    # From how many bytes of an array on a plain call asks ``Plain.large`` first, which uses memory again; never if it's
    # zero.
    large: int = 0
    # The elementwise functions whose kernels take a Python number beside an array, and treat it as NumPy does.
    takes_scalars: Collection[str] = frozenset()

    def casting(
        self, kernel: Callable[..., Any], inputs: Callable[..., Sequence[np.dtype[Any]]]
    ) -> Callable[..., Any] | None:
        """Return an elementwise kernel that casts its operands itself; ``None`` where each is cast by another call.

        ``inputs`` takes the operands and returns the dtypes to cast them to, or raises if they are invalid. It depends
        on dtypes and shapes only, so an engine that compiles the kernel per signature calls it at compile time.
        """
        return None

    # Return a key for a plain native: equal for natives of the same dtype, shape and strides, and only for those
    # outside of traces. It raises for other natives. Where it's ``None``, calls read ``dtype`` and ``shape``, and check
    # the type.
    type_key: Callable[[Any], Hashable] | None = None

    # Return what plain natives share that lie on the same device, and no others do, for an engine without ``type_key``.
    # Where it's ``None``, calls that make arrays or numbers beside operands aren't known if there are several devices.
    device_key: Callable[[Any], Hashable] | None = None

    # Return a key for the dtype of a plain native. Where it's ``None``, the identity of the dtype is used.
    dtype_key: Callable[[Any], Hashable] | None = None

    def method(self, kernel: Callable[..., Any], *, in_place: bool = False) -> Any:
        """Return a faster equivalent of ``kernel(x, ...)`` on natives, where the engine has methods.

        With ``in_place`` it writes the result to the first native, which has its dtype and shape, and returns that;
        ``None`` where the engine has no such method.
        """
        return None if in_place else kernel

    def elementwise_operand(self, array: np.ndarray) -> Any:
        """Return the operand that elementwise kernels take for a NumPy array, whose caller may change it later.

        By default that is a native array with a copy of the values.
        """
        return self.from_numpy(array)

    # From a native and an array of NumPy's to a native in the array's memory, which an elementwise kernel reads at once
    # and nothing keeps, or to a copy that it takes too, or ``NotImplemented``. ``None`` where there's no such.
    borrow: Callable[[Any, np.ndarray], Any] | None = None

    # The keys for which ``native[key]`` is what NumPy has: none, or "windows", slices with positive steps, alone or
    # among integers and new axes, or "basic", all slices, integers, ``...`` and new axes, where integers alone give a
    # number.
    plain_keys: str = ""

    # From a dtype of natives to the types of numbers that ``native[key] = number`` takes without a loss for such keys,
    # as ``native[key] = other`` takes a native of the same dtype. ``None`` leaves all writes to ``items``.
    plain_values: dict[Any, frozenset[type]] | None = None

    # The dtypes of natives with axes by which ``native[key]`` selects as NumPy does, in memory of its own. If natives
    # have a ``base``, which is ``None`` for memory of their own, ``native[key] = value`` writes as NumPy does, too.
    plain_selections: frozenset[Any] = frozenset()

    # From the native of a 0-d array to its number, for ``float(x)``; it declines by ``NotImplemented``. Where it's
    # ``None``, "get_item" is asked, whose number stands for an array.
    number_of: Callable[[Any], Any] | None = None

    # Return a NumPy array in the memory of a plain native, which both may write, or ``None`` in doubt. Where this is
    # missing, the engine's other members are used for mutable natives.
    memory_of: Callable[[Any], np.ndarray | None] | None = None

    # From a plain native to an array of NumPy's with its values, in memory of its own; ``None`` in doubt. Where it
    # isn't there, an engine whose natives are immutable is asked about derivatives, and for values to copy.
    values_of: Callable[[Any], np.ndarray | None] | None = None

    def layout_key(self, native: Native) -> Hashable:
        """Return a key for the layout of natives of one shape, by default the strides."""
        return self.strides(native)

    # The name of an attribute of natives that raises for those which mustn't be written. With it, and with the table of
    # functions that DLPack has classes of arrays bring, the compiled core serves such calls; never where it's ``None``.
    writable_by: str | None = None
    # Return ``None`` where no transformation of the engine runs, inside of which natives have no address. Where it's
    # ``None``, there's none.
    transformation: Callable[[], object] | None = None

    # -- compiled functions on memory of the host ---------------------------------------------------------------------

    def host_loops(self) -> HostLoops | None:
        """Return how operations on arrays in the host's memory are computed together, ``None`` if one by one.

        NumPy's own are computed together without it.
        """
        return None

    def one_launch(self, name: str) -> OneLaunch | None:
        """Return how several calls of an elementwise kernel are computed at once off the host, ``None`` if one by one.

        An engine that has it writes to several natives at once by ``assign_all``, too.
        """
        return None

    # -- writes that use the memory of an immutable array again -------------------------------------------------------

    def destructive(self, kernel: Callable[..., Any]) -> Callable[..., Any] | None:
        """Return the twin of a kernel whose result takes the memory of its first array, ``None`` if there is none.

        The twin also takes a list ``results``. It adds the result in the same step that uses up the array, so that an
        interrupt finds either the array or the result.
        """
        return None

    def updating(self, kernel: Callable[..., Any]) -> Callable[..., Any] | None:
        """Return a function that updates windows of an array by an elementwise kernel and an operand.

        It takes a window and the order of its axes, and returns two functions of the array and the operand, whose
        result is the new array, made in one step. The second one is destructive, as ``destructive`` has it. ``None``
        where the engine has nothing that is faster than to read, compute and write.
        """
        return None

    def begin_run(self, native: Native, kernel: str) -> Any:
        """Return a holder, written in place, for a run of writes that begins with a native's values.

        ``None`` where that wouldn't pay, or ``kernel`` can't write into a holder. Arrays have the holder in place of a
        native until the first read.
        """
        return None

    def goes_on(self, holder: Any, kernel: str) -> bool:
        """Return whether a write by ``kernel`` may go on in a holder."""
        return False

    def end_run(self, holder: Any) -> Native:
        """Return the values of a holder as a native, which later writes to the holder don't change."""
        native: Native = holder
        return native
