"""Whether a reference count proves that nothing else refers to an object.

An array of an immutable engine is changed in its own memory only if nothing else refers to it, according to
``sys.getrefcount``. Whether the count can be trusted is tested at import. In doubt arrays are copied.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Generator
from typing import Any

# From this version on the interpreter borrows references instead of counting each.
BORROWS = (3, 14)


class Holder:
    """An object that holds a reference to another one."""

    __slots__ = ("held",)

    def __init__(self) -> None:
        self.held: Any = object()


def count(holder: Holder) -> int:
    """Return the interpreter's count of references to the held object."""
    return sys.getrefcount(holder.held)


# Ways to hold a second reference. Each returns the count while there is one.


def _in_a_local(holder: Holder) -> int:
    second = holder.held
    found = count(holder)
    del second
    return found


def _in_an_argument(holder: Holder, *second: Any) -> int:
    return count(holder) if second else _in_an_argument(holder, holder.held)


def _on_the_stack(holder: Holder) -> int:
    # The count before the call that takes the second reference.
    found: int = (holder.held, count(holder))[1]
    return found


def _local_on_the_stack(holder: Holder) -> int:
    second = holder.held
    # Where references are borrowed, the one on the stack isn't counted, but that of the local name is.
    found: int = (second, count(holder))[1]
    return found


def _in_a_list(holder: Holder) -> int:
    seconds = [holder.held]
    return count(holder) * len(seconds)


def _in_a_closure(holder: Holder) -> int:
    second = holder.held

    def closure() -> Any:
        return second

    found = count(holder)
    del closure
    return found


def _in_a_partial(holder: Holder) -> int:
    second = functools.partial(id, holder.held)
    found = count(holder)
    del second
    return found


def _in_a_generator(holder: Holder) -> int:
    def generator() -> Generator[None, None, None]:
        second = holder.held
        yield
        del second

    waiting = generator()
    next(waiting)
    found = count(holder)
    waiting.close()
    return found


def _in_an_error(holder: Holder) -> int:
    try:
        raise ValueError(holder.held)
    except ValueError as error:
        found = count(holder)
        del error
        return found


WAYS: tuple[Callable[[Holder], int], ...] = (
    _in_a_local,
    _in_an_argument,
    _on_the_stack,
    _local_on_the_stack,
    _in_a_list,
    _in_a_closure,
    _in_a_partial,
    _in_a_generator,
    _in_an_error,
)


def sees_every_reference() -> bool:
    """Test that the count is the same for all objects with one reference, and larger for any with a second one."""
    alone = count(Holder())
    return count(Holder()) == alone and all(way(Holder()) > alone for way in WAYS)


def can_be_trusted() -> bool:
    """Return whether this interpreter counts references so that a second one is always seen."""
    if sys.implementation.name != "cpython" or sys.version_info >= BORROWS:
        return False
    # Without the global lock another thread may be about to count the reference that it holds.
    return not has_no_lock() and sees_every_reference()


def has_no_lock() -> bool:
    """Return whether this interpreter runs threads without the global lock."""
    # In its version text, since to import ``sysconfig`` takes long.
    return "free-threading" in sys.version


COUNTED = can_be_trusted()
