"""Arrays that are protected from writes, as NumPy's are by ``flags.writeable = False``.

The flag belongs to one array, and views that are taken later inherit it. It isn't set on the native, for which engines
other than NumPy have no flag, and which may be the user's own. A plain array gets another class, so that no plain call
serves it. A recipe gets a last step that can't be written.
"""

from __future__ import annotations

from typing import Any

from ...errors import ReadOnlyError, TracedMutationError
from ..engines.tracing import current, running
from ..values.caller import where
from .array import Array
from .elements import settle
from .ownership import settled
from .recipes import Protected, is_read_only, is_recipe, joined, root_of
from .slots import NO_KEY
from .views import Protection


def set_writeable(x: Array, writeable: bool, /) -> None:
    """Protect an array from writes, or allow them again."""
    if running() is not None or x._backend.trace() is not None:
        if is_read_only(current(x)) is not writeable:
            return
        raise TracedMutationError(
            f"{where()}: a trace can't follow a change of flags.writeable: set it outside of the traced function"
        )
    settle(x)
    if writeable:
        # NumPy refuses it for a view of a read-only base, whatever the flag of the view is.
        _check_may_be_writeable(x)
    if is_read_only(x) is not writeable:
        return
    # It isn't ``base[key]`` any more.
    x._key = NO_KEY
    if not writeable:
        if is_recipe(x):
            x._steps = (*x._steps, Protection())
        else:
            x.__class__ = Protected
        return
    if is_recipe(x):
        x._steps = joined(x._backend, (step for step in x._steps if type(step) is not Protection))
    else:
        x.__class__ = Array


def _check_may_be_writeable(x: Array) -> None:
    base, root = x._base, root_of(x)
    if base is not None and is_read_only(base):
        raise ReadOnlyError("the base of this view is read-only: make x.base writeable first, or write to x.copy()")
    steps: tuple[Any, ...] = x._steps if is_recipe(x) else ()
    if not all(step.writable or type(step) is Protection for step in steps):
        raise ReadOnlyError("broadcast and diagonal views can't be made writeable: write to x.base, or to x.copy()")
    if root._backend.is_read_only(settled(root._native)):
        raise ReadOnlyError("the native array is read-only and can't be made writeable: write to x.copy()")
