"""What is logged of a write: that it copied the array."""

from __future__ import annotations

from ..arrays.array import Array
from ..values.logs import listener


def tell_copied(x: Array) -> None:
    """Log that a write has copied an array whose buffer a donating engine would else have written; never in a lock."""
    logger = listener("copy")
    if logger is not None:
        logger.debug(
            "a write to an array %s %s on %s has copied it: something else may refer to its buffer, or a trace runs",
            *(x.dtype.name, x.shape, x.backend),
        )
