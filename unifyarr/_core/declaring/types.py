"""The types of a kernel's results without asking the engine: by the rule in its record, or by its ufunc's loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..engines import dtypes
from ..kernels.record import Kernel, kernel_named
from ..kernels.types import ArrayType, Typed, Types
from ..values.shapes import broadcast


def result_types(name: str, arrays: Sequence[Typed], static: dict[str, object]) -> Types | None:
    """Return the types of what a kernel gives, a tuple if it gives several arrays; ``None`` if there's no rule."""
    return types_of(kernel_named(name), arrays, static)


def types_of(record: Kernel, arrays: Sequence[Typed], static: Mapping[str, object]) -> Types | None:
    """Return the same for a kernel with this record, which may be a user's."""
    if record.types is not None:
        found: Types | None = record.types(*arrays, **static)
        return found
    if record.ufunc is None or static:
        return None
    *_, dtype = dtypes.loop(record.ufunc, *[dtypes.BY_NUMPY[x.dtype] for x in arrays])
    return ArrayType(broadcast(*[x.shape for x in arrays], name=record.name), dtype.dtype)
