"""NumPy as the kernels call it: without asking each operand whether another library takes over the call.

Natives are plain NumPy arrays, so no other class overrides the call (``__array_function__``). Checking that takes a
sixth of a microsecond, as long as the whole wrapper of a call.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy import *  # noqa: F403
    from numpy import fft as fft
    from numpy import lib as lib
    from numpy import linalg as linalg
else:
    import numpy

    # The type of functions that ask, each of which has the one that computes.
    _Asking = type(numpy.concatenate)

    def _direct(module: ModuleType) -> dict[str, Any]:
        return {name: each.__wrapped__ if type(each) is _Asking else each for name, each in vars(module).items()}

    def _directly(name: str) -> ModuleType:
        found = ModuleType(f"{__name__}.{name}")
        vars(found).update(_direct(getattr(numpy, name)))
        return found

    globals().update({name: each for name, each in _direct(numpy).items() if not name.startswith("__")})
    fft, linalg = _directly("fft"), _directly("linalg")

    def __getattr__(name: str) -> Any:
        return getattr(numpy, name)
