"""What is logged of a call: why it took a longer way than a kernel of the engine."""

from __future__ import annotations

from collections.abc import Sequence

from ..arrays.array import Array
from ..engines.dtypes import DType
from ..values.logs import listener


def shown(operands: Sequence[object]) -> str:
    """Return the types of arrays in words."""
    return ", ".join(f"{x.dtype.name} {x.shape}" for x in operands if isinstance(x, Array)) or "no array"


def _tell(area: str, message: str, name: str, operands: Sequence[object], *more: str) -> None:
    logger = listener(area)
    if logger is not None:
        logger.debug(message, name, shown(operands), *more)


def tell_composed(name: str, operands: Sequence[Array]) -> None:
    """Log that other functions compute a function, since the engine has no kernel for this call."""
    message = "%s of %s: composed of other functions, no kernel of %s does this call"
    _tell("fallback", message, name, operands, operands[0]._backend.name)


def tell_host(name: str, operands: Sequence[Array]) -> None:
    """Log that NumPy computes a function, on the host."""
    backend = operands[0]._backend
    reason = getattr(backend.kernels[name], "reason", "")
    _tell("fallback", "%s of %s: by NumPy on the host, on %s: %s", name, operands, backend.name, reason)


def tell_general(name: str, operands: Sequence[object]) -> None:
    """Log that calls of a kind have no shortcut: each of them takes the general path."""
    _tell("fallback", "%s of %s: no shortcut, each such call takes the general path", name, operands)


def tell_copied_out(name: str, out: Array, dtype: DType) -> None:
    """Log that a result is made beside ``out`` and copied there."""
    # In a trace nothing is copied yet.
    if listener("copy") is not None and not out._backend.records:
        why = (
            f"it has dtype {out.dtype.name}, the result {dtype.name}"
            if out.dtype != dtype
            else "the engine can't write there in this call"
        )
        _tell("copy", "%s: the result is copied to out %s, since %s", name, [out], why)
