"""What is logged of a call: why it took a longer way than a kernel of the engine."""

from __future__ import annotations

from collections.abc import Sequence

from ..arrays.array import Array
from ..engines.dtypes import DType
from ..values.logs import listener


def shown(operands: Sequence[object]) -> str:
    """Return the types of arrays in words."""
    return ", ".join(f"{x.dtype.name} {x.shape}" for x in operands if isinstance(x, Array)) or "no array"


def tell_composed(name: str, operands: Sequence[Array]) -> None:
    """Log that other functions compute a function, since the engine has no kernel for this call."""
    logger = listener("fallback")
    if logger is not None:
        backend = operands[0].backend
        logger.debug(
            "%s of %s: composed of other functions, no kernel of %s does this call", name, shown(operands), backend
        )


def tell_host(name: str, operands: Sequence[Array]) -> None:
    """Log that NumPy computes a function, on the host."""
    logger = listener("fallback")
    if logger is not None:
        backend = operands[0]._backend
        reason = getattr(backend.kernels[name], "reason", "")
        logger.debug("%s of %s: by NumPy on the host, on %s: %s", name, shown(operands), backend.name, reason)


def tell_general(name: str, operands: Sequence[object]) -> None:
    """Log that calls of a kind have no shortcut: each of them takes the general path."""
    logger = listener("fallback")
    if logger is not None:
        logger.debug("%s of %s: no shortcut, each such call takes the general path", name, shown(operands))


def tell_copied_out(name: str, out: Array, dtype: DType) -> None:
    """Log that a result is made beside ``out`` and copied there."""
    logger = listener("copy")
    # In a trace nothing is copied yet.
    if logger is not None and not out._backend.records:
        why = (
            f"it has dtype {out.dtype.name}, the result {dtype.name}"
            if out.dtype != dtype
            else "the engine can't write there in this call"
        )
        logger.debug("%s: the result is copied to out %s, since %s", name, shown([out]), why)
