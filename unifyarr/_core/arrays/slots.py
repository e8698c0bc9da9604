"""The slots of an array: what each means, what is always true of it, and which modules write it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..._native import core
from ...typing import Shape
from ..engines import dtypes
from ..engines.dtypes import DType
from ..engines.handle import Handle
from ..engines.tracing import current
from ..values import above
from ..values.lengths import PartialShape

# Stands for the key of a view that no key gives: ``None`` is a key.
NO_KEY = object()
NAMES = ("_native", "_backend", "_base", "_token", "_born", "_element", "_from", "_key", "_owned", "_run")


class _Slots:
    """The slots in Python, where there's no compiled core."""

    __slots__ = ("__weakref__", *NAMES)


if TYPE_CHECKING:
    _Base = _Slots
else:
    _Base = _Slots if core is None else core.Slots


class Slots(_Base):
    """The slots of ``Array`` and what its backend says of them, for the modules below ``Array``.

    Making an array has to cost little, so that most slots are set only where they mean something: read those with
    ``getattr(x, slot, None)``. A *recipe* is a view on an engine that can't write its arrays (class ``View``); its
    *root* is the array that holds the memory. Only ``ownership`` gives a root another native, under ``LOCK``.

    ============ ======================================== ==================================== =======================
    slot         meaning                                  always true                          written by
    ============ ======================================== ==================================== =======================
    ``_native``  the engine's array, or what stands there of a type that ``_backend`` has,     array inplace
                 until a write ends (``ownership.Held``); when it's ``settled``                ownership fast_calls
                 computed, of a recipe
    ``_backend`` the backend that computes with           never changed; of a view, that of    array elements
                 ``_native``                              its base                             recipes fast_calls
    ``_base``    of a view, the owner of the memory; else no view                              array elements
                 ``None``                                                                      items programs
                                                                                               recipes fast_calls
    ``_element`` of an ``Element``, the number that       ``_native`` isn't set while there's  elements
                 stands for ``_native`` until that is     a number; ``None`` when it is
                 read
    ``_token``   another object after each change of      set on roots of recipes; written     inplace ownership
                 ``_native``                              after ``_native``, read before it    recipes
    ``_born``    the engine's trace that it was made in   set inside a trace alone             array capturing
                                                                                               transformed programs
                                                                                               fast_calls
    ``_owned``   whether nothing else has ``_native``     true after a write of our own, until ownership program
                                                          it's handed out or a trace reads it
    ``_run``     the writes collected in a variable of    its holder has the values of         ownership
                 the engine last, which the next write    ``_native``
                 may resume
    ``_key``     the key by which a view was taken, a     ``NO_KEY`` once it has another shape indexing items
                 recipe from its root                     or was protected                     protection reshaping
    ``_from``    the native from which ``_key`` took a    written with ``_key``                items
                 view that isn't a recipe
    ``_root``    the array that a recipe starts from      no recipe                            recipes
    ``_steps``   how the value of a recipe follows from   not empty; no two windows in a row   recipes reshaping
                 its root's                                                                    protection
    ``_value``   the value of a recipe that was computed  that for the root's value at         recipes updating
                 last                                     ``_seen``
    ``_seen``    the token that the root had then         written with ``_value``              recipes reshaping
                                                                                               updating
    ============ ======================================== ==================================== =======================
    """

    __slots__ = ()

    _native: Any
    _backend: Handle
    _base: Any
    _token: object
    _born: object
    _element: Any
    _from: Any
    _key: object
    _owned: bool
    # Recipes alone have these.
    _root: Any
    _steps: tuple[Any, ...]
    # An ``ownership.RunOfWrites``, or None.
    _run: object

    @property
    def backend(self) -> str:
        """The name of the backend."""
        return current(self)._backend.name

    # The stand-in of an array in a trace has the same dtype and shape, on a device that may be another one.

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return dtypes.BY_NUMPY[self._backend.dtype(self._native)]

    @property
    def shape(self) -> Shape:
        """The lengths of the axes."""
        return self._backend.shape(self._native)

    @shape.setter
    def shape(self, shape: Any) -> None:
        above.reshaping.set_shape(self, shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements; of an array whose shape isn't known in a compiled function, a 0-d array."""
        shape = self.shape
        if type(shape) is PartialShape and self._backend.hides_lengths:
            return above.masking.count(self)  # type: ignore[no-any-return]
        return math.prod(shape)

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self.dtype.itemsize


if TYPE_CHECKING:
    # To a type checker the classes that ``Array`` is made of have its slots.
    Mixin = Slots
else:

    class Mixin:
        """What ``Array`` has beside its slots: an array is freed sooner if one base of its class alone has them."""

        __slots__ = ()
