"""A loaded backend as the dispatchers see it, and which path calls take through it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ...backends.base import MEMBERS, Backend
from ...backends.forks import free_after_fork
from ...errors import BackendFeatureError
from ..kernels.record import Derivative
from ..values.lengths import partly_known
from ..values.native import Native

if TYPE_CHECKING:
    # To a type checker a handle is a backend: it has the same members.
    Members = Backend[Native]
else:
    Members = object

FastPath = Callable[..., Any]
LOADED: dict[str, Handle] = {}
LOAD_LOCK = free_after_fork(threading.RLock())


# What the compiled dispatchers read, which no subclass has another answer for.
_OF_EACH_CALL = ("large", "native_type", "no_trace", "trace_cell", "type_key")


class Handle(Members):
    """A loaded backend as the dispatchers see it: the members of its engine, its kernels and plain calls by name.

    The engine's members are looked up once and stay in the instance, where reading them costs least: those that every
    call reads in slots, which lie side by side. A subclass defines the members that it has another answer for.
    """

    __slots__ = (*_OF_EACH_CALL, "__dict__", "__weakref__")

    # Whether its kernels make nodes of a graph: they take ``result`` and ``offered``, as ``invoke`` was told.
    records = False
    # Whether selections have lengths that aren't known, and places of their own kind.
    hides_lengths = False
    # Itself, if it records calls for derivatives of arrays whose values are known: short ways may serve it.
    tape: Handle | None = None
    # Then, by the name of an elementwise function, what takes the running trace and the operands.
    short: ByName
    # Dtypes of natives that only store numbers, which plain calls leave to the general path, if there are any.
    stored: Set[np.dtype[np.generic]] | None = None

    def __init__(self, engine: Backend[Any], kernels: Mapping[str, Callable[..., Any]]) -> None:
        self.engine = engine
        for name in MEMBERS:
            if name in _OF_EACH_CALL or not hasattr(type(self), name):
                setattr(self, name, getattr(engine, name))
        if not engine.has_shapes:
            self.shape = partly_known(engine.shape)  # type: ignore[assignment, method-assign]
        self.kernels = dict(kernels)
        # The names of kernels by which NumPy computes on the host.
        self.by_host = frozenset(name for name, each in self.kernels.items() if getattr(each, "origin", "") == "host")
        self._devices: dict[object, object] = {}
        # The type of nearly all results; what else kernels return becomes an array by ``as_native``.
        self.native_type: type[Any] = engine.native_types[0]
        # What the engine does at once for items of arrays; what it lacks declines.
        self.items = {**_NO_ITEMS, **engine.items}
        # By the name of a function, what computes its plain calls: it takes natives and numbers, and returns a native,
        # or ``NotImplemented``. Without the compiled core it always does that, as it does in modes.
        self.plain = ByName(lambda name: declines)
        # Whether kernels that write have a destructive twin, which uses up the memory of an immutable array.
        self.destroys: bool = any(hasattr(kernel, "destructive") for kernel in self.kernels.values())

    @classmethod
    def of(cls, *arguments: Any) -> Self:
        """Return a handle. To type checkers the class is abstract: they don't see that members come from an engine."""
        return cls(*arguments)

    @property
    def around(self) -> Handle:
        """The backend whose natives a transformation by this one takes and returns: by default the same one."""
        return self

    def own_device(self, device: object) -> object:
        """Return the engine's own device for what ``Backend.device`` gave."""
        if device not in self._devices:
            self._devices[device] = self.as_device(device)
        return self._devices[device]

    def own_place(self, native: Native) -> object:
        """Return the engine's own device for data beside an array, ``None`` where it's any or isn't known yet."""
        place = self.place_beside(native)
        return None if place is None else self.own_device(place)

    def kernel(self, name: str) -> Callable[..., Native]:
        """Return the kernel of a function, which takes and returns native arrays."""
        try:
            return self.kernels[name]
        except KeyError:
            raise BackendFeatureError(
                f"backend {self.name!r} has no kernel for {name}: move the arrays to another one for this call, "
                "x.to_backend('numpy') for example"
            ) from None

    def apply(self, application: Any, kernel: Any, natives: Sequence[object], **out: Any) -> Any:
        """Return the results of a kernel of a user's operation, or ``NotImplemented`` if it declines."""
        if application.operation.record.derivative is Derivative.RULE:
            found = self.declared(application, natives)
            if found is not NotImplemented:
                return found
        return application.perform(kernel, self, natives, **out)

    def declared(self, application: Any, natives: Sequence[object]) -> Any:
        """Return the results of a user's operation with a declared derivative, ``NotImplemented`` if none is taken."""
        return application.by_engine(self, natives)

    def is_same(self, one: Any, other: Any) -> bool:
        """Return whether two natives are known to be equal."""
        if one is other:
            return True
        if self.dtype(one) != self.dtype(other) or not (self.knows_values(one) and self.knows_values(other)):
            return False
        values, others = self.to_numpy(one), self.to_numpy(other)
        return values.shape == others.shape and values.tobytes() == others.tobytes()

    def count(self, native: Any) -> Any:
        """Return the number of elements of an array of unknown lengths, as a 0-d array."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<backend {self.name!r}>"


class ByName(dict[str, FastPath]):
    """Ways of calls by the names of functions, each made when it's first asked for.

    One returns a result, or ``NotImplemented`` to leave a call to the general path.
    """

    def __init__(self, make: Callable[[str], FastPath]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, name: str) -> FastPath:
        way = self[name] = self._make(name)
        return way


def casts_itself(kernel: object) -> bool:
    """Return whether an elementwise kernel casts its operands itself: the backend has made it by ``casting``."""
    return getattr(kernel, "casts_itself", False) is True


@cache
def has_one_device(backend: Handle) -> bool:
    """Return whether a backend has one device, where all of its arrays are then."""
    return len(backend.devices()) == 1


def declines(*operands: object, **options: object) -> Any:
    """Leave a call to the general path."""
    return NotImplemented


def declines_write(*operands: object) -> bool:
    """Leave a write to the general path."""
    return False


_NO_ITEMS: dict[str, FastPath] = {
    **dict.fromkeys(("get_item", "get_copy", "get_transpose", "put_copy"), declines),
    "set_item": declines_write,
}


def loaded_backends() -> list[Handle]:
    """Return the backends that are loaded."""
    return list(LOADED.values())
