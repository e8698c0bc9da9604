"""The machinery between functions and backends.

These modules do what is called from below them (see ``values/above.py``), or fill tables. They are imported here, so
that no first call has to import them.
"""

from .arrays import items, protection, recipes, reshaping
from .calling import dispatch, numpy_protocols, plain_calls
from .engines import raising
from .writing import exporting, flat, indexing, inplace, updating

__all__ = [
    "dispatch",
    "exporting",
    "flat",
    "indexing",
    "inplace",
    "items",
    "numpy_protocols",
    "plain_calls",
    "protection",
    "raising",
    "recipes",
    "reshaping",
    "updating",
]
