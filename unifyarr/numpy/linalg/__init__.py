"""Linear algebra: NumPy's linalg, on every backend.

>>> import unifyarr.numpy as np
>>> np.linalg.norm(np.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [6.0, 16.0]))
array(5.)
"""

from __future__ import annotations

import numpy as _numpy
from numpy.linalg import LinAlgError

from .._following import publish as _publish
from . import _factoring, _measuring, _products, _solving

__all__ = ["LinAlgError", *_publish(_numpy.linalg, globals())]
