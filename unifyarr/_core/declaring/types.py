"""The types of a kernel's results without asking the engine: by the rule in its record, or by its ufunc's loops."""

from __future__ import annotations

from collections.abc import Sequence

from ..engines import dtypes
from ..kernels.record import kernel_named
from ..kernels.types import ArrayType, Typed, Types
from ..values.shapes import broadcast


def result_types(name: str, arrays: Sequence[Typed], static: dict[str, object]) -> Types | None:
    """Return the types of what a kernel gives, a tuple if it gives several arrays; ``None`` if there's no rule."""
    record = kernel_named(name)
    if record.types is not None:
        found: Types | None = record.types(*arrays, **static)
        return found
    if record.ufunc is None or static:
        return None
    *_, dtype = dtypes.loop(record.ufunc, *[dtypes.BY_NUMPY[x.dtype] for x in arrays])
    return ArrayType(broadcast(*[x.shape for x in arrays], name=name), dtype.dtype)
