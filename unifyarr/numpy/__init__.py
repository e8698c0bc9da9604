"""NumPy's namespace, names and signatures, on every backend: ``import unifyarr.numpy as np`` runs a NumPy program.

All arrays are of the one class ``Array``. Nothing here is bound to a backend: new arrays made from numbers are of the
current one (``unifyarr.set_backend``), results of arrays are of theirs.

>>> import unifyarr.numpy as np
>>> x = np.arange(6).reshape(2, 3)
>>> x[:, 1:] += 10
>>> np.sum(x, 0)
array([ 3, 25, 27])
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

import numpy as _numpy
from numpy import __version__ as __version__

from . import (
    _comparing,
    _creation,
    _files,
    _functional,
    _histograms,
    _indexing,
    _joining,
    _manipulation,
    _matrices,
    _memory,
    _nan_reductions,
    _numerical,
    _padding,
    _polynomials,
    _products,
    _ranges,
    _reductions,
    _sets,
    _sorting,
    _splitting,
    _statistics,
    _ufuncs,
    _writing,
    fft,
    lib,
    linalg,
    polynomial,
    random,
)
from ._absent import missing as _missing
from ._classes import broadcast, flatiter, ndarray, ndenumerate
from ._following import publish as _publish
from ._grids import c_, mgrid, ogrid, r_
from ._hosted import *  # noqa: F403
from ._joining import row_stack
from ._ufunc import ufunc
from ._vectorize import vectorize

_publish(_numpy, globals())
__all__ = sorted(name for name in globals() if not name.startswith("_") and name != "annotations")


def __getattr__(name: str) -> _Any:
    if name == "testing":
        # NumPy's own, which takes as long to import as half of this package.
        return _import_module("numpy.testing")
    raise _missing(name)
