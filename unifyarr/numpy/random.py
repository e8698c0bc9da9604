"""Random numbers: NumPy's own generators, on the host, so that a seed gives NumPy's numbers on every backend.

Arrays among the arguments are read, ``out`` and what ``shuffle`` shuffles are written. The results are arrays of the
backend of those, or of the current one; a number that NumPy returns is that number. Inside a trace these numbers would
become constants: ``unifyarr.random`` has generators that draw there.

>>> import unifyarr.numpy as np
>>> np.random.default_rng(0).integers(10, size=3)
array([8, 6, 5])
"""

from __future__ import annotations

import numpy as _numpy
from numpy.random import MT19937, PCG64, PCG64DXSM, SFC64, BitGenerator, Philox, SeedSequence

from ._drawing import Generator, RandomState, default_rng
from ._drawing import shared as _shared

# Other names of a method.
_ALIASES = {"ranf": "random_sample", "sample": "random_sample"}

_state = _shared()
_methods = {name: getattr(_state, _ALIASES.get(name, name), None) for name in _numpy.random.__all__}
globals().update({name: each for name, each in _methods.items() if each is not None})
__all__ = [name for name in _methods if name in globals()]
