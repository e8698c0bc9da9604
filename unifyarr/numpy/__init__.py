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

from typing import Any as _Any

from . import fft, linalg, polynomial, random
from ._absent import missing as _missing
from .comparing import *  # noqa: F403
from .creation import *  # noqa: F403
from .functional import *  # noqa: F403
from .grids import *  # noqa: F403
from .hosted import *  # noqa: F403
from .indexing import *  # noqa: F403
from .joining import *  # noqa: F403
from .manipulation import *  # noqa: F403
from .memory import *  # noqa: F403
from .numerical import *  # noqa: F403
from .padding import *  # noqa: F403
from .products import *  # noqa: F403
from .reductions import *  # noqa: F403
from .sets import *  # noqa: F403
from .sorting import *  # noqa: F403
from .statistics import *  # noqa: F403
from .ufuncs import *  # noqa: F403

__all__ = [name for name in dir() if not name.startswith("_") and name != "annotations"]


def __getattr__(name: str) -> _Any:
    raise _missing(name)
