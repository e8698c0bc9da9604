"""The machinery between functions and backends.

These modules supply methods that classes below them declare (see ``supplying``). They are imported here, so that those
classes are complete after the import of any part.
"""

from .arrays import items, protection, recipes, reshaping
from .calling import dispatch, numpy_protocols, plain
from .writing import exporting, flat, indexing, inplace, updating

__all__ = [
    "dispatch",
    "exporting",
    "flat",
    "indexing",
    "inplace",
    "items",
    "numpy_protocols",
    "plain",
    "protection",
    "recipes",
    "reshaping",
    "updating",
]
