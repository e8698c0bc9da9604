"""Warnings of floating-point arithmetic, as NumPy gives them."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np

from .region import FusedStep

# In the order in which NumPy warns, with the bits of the flags.
_FLAGS = {
    "divide": (1, "divide by zero"),
    "over": (2, "overflow"),
    "under": (4, "underflow"),
    "invalid": (8, "invalid value"),
}
# What the names of steps begin with that are SciPy's functions.
_SCIPY = "scipy.special."
_PACKAGE = str(Path(__file__).parents[2])


def flags_to_watch() -> int:
    """Return the flags that become warnings; -1 if one is for something that has to be done at once."""
    modes: dict[str, str] = {**np.geterr()}  # type: ignore[dict-item]
    if not {"ignore", "warn"}.issuperset(modes.values()):
        return -1
    return sum(flag for kind, (flag, _) in _FLAGS.items() if modes[kind] == "warn")


def asker(steps: Sequence[FusedStep]) -> Callable[[], bool] | None:
    """Return what is asked before each run of some steps: whether their loops may run. ``None`` if they always may."""
    return _scipy_is_quiet if any(step.name.startswith(_SCIPY) for step in steps) else None


@cache
def _scipy() -> ModuleType:
    # To ask for it at each run would take as long as to ask it.
    return importlib.import_module(_SCIPY[:-1])


def _scipy_is_quiet() -> bool:
    """Return whether SciPy's functions ignore their errors: else their loops warn or raise, which takes Python.

    Each thread has settings of its own. Threads of C set none, so that errors are ignored there. Those of memory are
    never ignored; no loop that is fused takes any.
    """
    settings = _scipy().geterr()
    settings.pop("memory", None)
    return {*settings.values()} == {"ignore"}


class Report:
    """Gives the warnings of a run, from the flags of its steps."""

    def __init__(self, steps: Sequence[FusedStep]):
        self._names = ["reduce" if step.reduces else step.name.rpartition(".")[2] for step in steps]

    def __call__(self, flags: bytes) -> None:
        """Warn of the flags that were raised: a byte for each step."""
        level = _level()
        for name, raised in zip(self._names, flags, strict=True):
            for flag, text in _FLAGS.values():
                if raised & flag:
                    warnings.warn(f"{text} encountered in {name}", RuntimeWarning, stacklevel=level)


def _level() -> int:
    """Return the level of the first caller outside of this package, as seen from the caller of this function."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename.startswith((_PACKAGE, "<")):
        level, frame = level + 1, frame.f_back
    return level
