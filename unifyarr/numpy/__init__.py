"""NumPy's namespace, names and signatures, on every backend: ``import unifyarr.numpy as np`` runs a NumPy program.

The arrays are the one ``Array``. Nothing here is bound to a backend: what is made from numbers is of the current one
(``unifyarr.set_backend``), what is made from arrays is of theirs.

>>> import unifyarr.numpy as np
>>> x = np.arange(6).reshape(2, 3)
>>> x[:, 1:] += 10
>>> np.sum(x, 0)
array([ 3, 25, 27])
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

from numpy import __version__ as __version__

from . import (
    _classes,
    _comparing,
    _creation,
    _files,
    _functional,
    _grids,
    _histograms,
    _hosted,
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
    _vectorize,
    _writing,
    fft,
    lib,
    linalg,
    polynomial,
    random,
)
from ._absent import missing as _missing
from ._classes import *  # noqa: F403
from ._comparing import *  # noqa: F403
from ._creation import *  # noqa: F403
from ._files import *  # noqa: F403
from ._functional import *  # noqa: F403
from ._grids import *  # noqa: F403
from ._histograms import *  # noqa: F403
from ._hosted import *  # noqa: F403
from ._indexing import *  # noqa: F403
from ._joining import *  # noqa: F403
from ._manipulation import *  # noqa: F403
from ._matrices import *  # noqa: F403
from ._memory import *  # noqa: F403
from ._nan_reductions import *  # noqa: F403
from ._numerical import *  # noqa: F403
from ._padding import *  # noqa: F403
from ._polynomials import *  # noqa: F403
from ._products import *  # noqa: F403
from ._ranges import *  # noqa: F403
from ._reductions import *  # noqa: F403
from ._sets import *  # noqa: F403
from ._sorting import *  # noqa: F403
from ._splitting import *  # noqa: F403
from ._statistics import *  # noqa: F403
from ._ufuncs import *  # noqa: F403
from ._vectorize import *  # noqa: F403
from ._writing import *  # noqa: F403

__all__ = ["fft", "lib", "linalg", "polynomial", "random"]
__all__ += _classes.__all__
__all__ += _comparing.__all__
__all__ += _creation.__all__
__all__ += _files.__all__
__all__ += _functional.__all__
__all__ += _grids.__all__
__all__ += _histograms.__all__
__all__ += _hosted.__all__
__all__ += _indexing.__all__
__all__ += _joining.__all__
__all__ += _manipulation.__all__
__all__ += _matrices.__all__
__all__ += _memory.__all__
__all__ += _nan_reductions.__all__
__all__ += _numerical.__all__
__all__ += _padding.__all__
__all__ += _polynomials.__all__
__all__ += _products.__all__
__all__ += _ranges.__all__
__all__ += _reductions.__all__
__all__ += _sets.__all__
__all__ += _sorting.__all__
__all__ += _splitting.__all__
__all__ += _statistics.__all__
__all__ += _ufuncs.__all__
__all__ += _vectorize.__all__
__all__ += _writing.__all__


def __getattr__(name: str) -> _Any:
    if name == "testing":
        # NumPy's own, which takes as long to import as half of this package.
        return _import_module("numpy.testing")
    raise _missing(name)
