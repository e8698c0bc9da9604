"""Checks of a backend for its writer: a pytest plugin, and a command that makes a package to begin with.

``python -m unifyarr.testing new NAME`` makes a package's skeleton. ``pytest -p unifyarr.testing.plugin
--unifyarr-backend NAME`` runs the checks on a backend and prints what is missing. ``docs/write-a-backend.md`` goes from
one to the other. pytest and Hypothesis have to be installed: ``pip install unifyarr[testing]``.
"""

from .abilities import has, lacks, needs
from .skeleton import new

__all__ = ["has", "lacks", "needs", "new"]
