"""Operations of users whose derivative was declared, on a record: one call each, by the kernel or by the body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._core.values.native import Native
from ...derivatives.rule import Cotangents
from ..rule_kernels import Kernels
from .entries import Taped
from .function_calls import Apart, constant, where_natives_are
from .handle import TapeHandle


def declared(tape: TapeHandle, application: Any, natives: Sequence[Any]) -> Any:
    """Return the results of an operation, ``NotImplemented`` if no derivative is taken."""
    if all(native.entry is None for native in natives):
        return NotImplemented
    kernel = application.operation.kernels.get(tape.name)
    found: Any = NotImplemented
    if kernel is not None:
        found = tape.base.apply(application, kernel, [x.value for x in natives])
    if found is NotImplemented:
        scope = Apart(tape)
        with scope.running():
            inside = application.compose(scope.handle, [constant(Taped(x)) for x in natives])
        found = [x.value.value for x in inside]

    def of_all(
        k: Kernels, needs: Sequence[bool], g: Cotangents, out: Sequence[Native], *operands: Native
    ) -> Sequence[Native | None]:
        with where_natives_are(k.handle) as handle:
            scope = Apart(handle, tape.generation + 1)
            with scope.running():
                given = (list(map(Taped, each)) for each in (operands, out, k.whole(g, out)))
                pulled = application.pulled(scope.handle, *given)
        return [None if x is None else x.value for x in pulled]

    return tape.recorded(of_all, natives, list(found))
