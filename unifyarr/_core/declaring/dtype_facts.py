"""What fast paths learn once for each dtype: which kernel computes operands of it at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engines import dtypes
from ..engines.handle import FastPath, Handle, declines
from .declare import Declaration


class DtypeFacts(dict[int, Any]):
    """What is learnt once for each native dtype, by its identity: some engines' dtypes are slow to hash and compare."""

    def __init__(self, learn: Callable[[object], object]) -> None:
        self.learn = learn
        # An identity means something as long as its object lives.
        self.kept: list[object] = []

    def of(self, native_dtype: Any) -> Any:
        """Return what is known of a dtype, learning it where it's new."""
        if id(native_dtype) not in self:
            self.kept.append(native_dtype)
            self[id(native_dtype)] = self.learn(native_dtype)
        return self[id(native_dtype)]


class ByDtype(dict[Any, Any]):
    """What is learnt once for each dtype of an engine whose dtypes are fast to hash."""

    def __init__(self, learn: Callable[[object], object]) -> None:
        self._learn = learn

    def __missing__(self, native_dtype: object) -> object:
        found = self[native_dtype] = self._learn(native_dtype)
        return found


def direct_kernel(backend: Handle, declaration: Declaration, *, into_out: bool = False) -> Callable[[Any], FastPath]:
    """Return a function from a native dtype to the kernel for it, which declines where the loop would cast first."""
    assert declaration.ufunc is not None
    ufunc, kernel = declaration.ufunc, backend.kernel(declaration.name)

    def learn(native_dtype: Any) -> FastPath:
        dtype = dtypes.BY_NUMPY[backend.as_dtype(native_dtype) or native_dtype]
        try:
            loop = dtypes.loop(ufunc, *[dtype] * ufunc.nin)
        except TypeError:
            # There's no such loop: the general path says so.
            return declines
        has_gap = native_dtype in getattr(kernel, "gaps", ())
        kept = loop if into_out else loop[:-1]
        if kept.count(dtype) < len(kept) or (has_gap and into_out):
            return declines
        found: FastPath = kernel if has_gap else getattr(kernel, "native", kernel)
        # Some are wrapped to run where their arrays are.
        unplaced = getattr(found, "unplaced", None)
        if unplaced is None or len(backend.devices()) == 1:
            found = unplaced or found
            # Whose dtype is known needs no choice between the kernel and what it does in its gaps.
            found = getattr(found, "within_gaps", found) if has_gap and not into_out else found
            # Its errors send the call to the general path, where the kernel is called.
            found = found if into_out else getattr(found, "plain", found)
        return found if into_out else backend.method(found)

    return learn
