"""Plain calls in the compiled core, by the tables of backends; Python does the rest."""

from __future__ import annotations

import opcode
from typing import Any

import numpy as np

from ..._native import core
from ...errors import TraceError
from ..arrays.array import Array, wrap
from ..arrays.operators import OPERATORS
from ..arrays.recipes import View
from ..declaring.declare import DECLARATIONS
from ..engines.current import default, scoped
from ..engines.handle import LOADED, Handle
from ..engines.refusals import explained, is_refusal
from ..engines.tracing import mode
from ..values import above
from ..values.native import Native
from ..writing.inplace import check_target
from ..writing.storing import put_native


def _wrap(native: Native, backend: Handle) -> Array:
    return wrap(backend.as_native(native), backend)


def explain(function: str, operands: Any, out: Any, error: Exception, backend: Handle) -> Exception | None:
    """Return the error to raise in the place of an engine's, found by the checks alone: nothing is computed again."""
    if not is_refusal(error, backend):
        return None
    call = DECLARATIONS[function].public
    found: Exception | None = None
    try:
        if out is None:
            above.package.graph.trace(call, *operands)
        else:
            check_target(out)
            above.package.graph.trace(lambda out, *operands: call(*operands, out=out), out, *operands)
    except TraceError:
        pass
    except Exception as checked:
        found = checked.with_traceback(None)
    found = found or explained(error, f"{function}()", backend)
    if found is not None:
        found.__cause__ = error
    return found


def _put_in() -> None:
    """Give arrays the operators of the compiled core."""
    own = vars(core.Slots)
    for function, forms in OPERATORS.items():
        for form, method in forms.items():
            core.take_method(function, form, method)
            setattr(Array, method.__name__, own[method.__name__])
    probe = np.zeros((2, 3))[:, ::2]
    fields = probe.shape, probe.strides, probe.base, probe.dtype, probe.flags.num
    core.take_numpys(probe, probe.__array_interface__["data"][0], *fields)
    numpys = np.ndarray, np.float64, np.dtype(np.float64)
    core.set_up(Array, View, mode, _wrap, explain, put_native, *numpys, scoped, default, LOADED)


_INSTRUCTIONS = ("BINARY_OP", "UNARY_NEGATIVE", "UNARY_INVERT")


def _each_operator(probe: Any) -> tuple[object, ...]:
    """Return the answers of all operators, each called on a temporary probe."""
    return (
        *(-probe(), ~probe(), probe() + 2, 2 + probe(), probe() - 2, 2 - probe(), probe() * 2, 2 * probe()),
        *(probe() / 2, 2 / probe(), probe() // 2, 2 // probe(), probe() % 2, 2 % probe(), probe() ** 2, 2 ** probe()),
        *(probe() & 2, 2 & probe(), probe() | 2, 2 | probe(), probe() ^ 2, 2 ^ probe()),
        *(probe() << 2, 2 << probe(), probe() >> 2, 2 >> probe()),
    )


def _finds_temporaries() -> bool:
    """Return whether operands that are temporaries are found: the core has seen then how each operator is called."""
    if core is None or not core.prepare_temporaries([opcode.opmap[name] for name in _INSTRUCTIONS]):
        return False
    # All or none: what is left is the same interpreter.
    return {*_each_operator(core.Probe)} == {True}


if core is not None:
    _put_in()
# Whether results take the memory of operands that are temporaries.
FINDS = _finds_temporaries()
