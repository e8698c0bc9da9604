"""Special functions on torch."""

from __future__ import annotations

from torch import erf as erf
from torch import erfc as erfc
