"""The ufuncs, each made of the function of the main namespace that has one of its names."""

from __future__ import annotations

import numpy

from .. import functions as ua
from . import _composed
from ._ufunc import row_ufunc, ufunc

# Those that have another name there.
_RENAMED = {"degrees": ua.rad2deg, "radians": ua.deg2rad}

UFUNCS: dict[str, ufunc] = {}


def _declare(original: numpy.ufunc) -> None:
    names = [name for name, each in vars(numpy).items() if each is original]
    found = (getattr(space, name, None) for name in names for space in (ua, _composed))
    compute = _RENAMED.get(original.__name__) or next((each for each in found if each is not None), None)
    # NumPy has some that are absent here, and a newer one may have more.
    if compute is not None:
        made = ufunc if original.signature is None else row_ufunc
        UFUNCS[original.__name__] = made(original, compute)


for _each in {id(each): each for each in vars(numpy).values() if isinstance(each, numpy.ufunc)}.values():
    _declare(_each)
