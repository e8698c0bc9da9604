"""Names of NumPy's that aren't here, each with its reason: asking for one says it."""

from __future__ import annotations

_TEXT = "arrays hold numbers, not text: use NumPy's own"
_TIME = "arrays hold numbers, not dates: use NumPy's own, or integers"
_OBJECTS = "arrays hold numbers, not objects: use a list"
_RECORDS = "arrays hold numbers, not records: use one array for each field, or a Container"
_MASKED = "there are no masked arrays: use nan, or a second array for the mask"
_MATRIX = "there are no matrices: use 2-d arrays, and @"
_FILES = "it is read by NumPy's own, whose result asarray() takes"
_EXTENDED = "no engine but NumPy has it: use float64 or complex128"
_ITERATORS = "it walks through NumPy's own memory: use ndindex, ndenumerate or broadcast, or functions of whole arrays"
_BUILD = "it is about NumPy's own installation: use NumPy's own"

_VALUES = "the dtype of its results depends on values: cast to complex first"

REASONS: dict[str, str] = {
    **dict.fromkeys(("char", "strings", "str_", "bytes_", "character"), _TEXT),
    **dict.fromkeys(
        ("busday_count", "busday_offset", "busdaycalendar", "is_busday", "datetime64", "timedelta64",
         "datetime_as_string", "datetime_data", "isnat"), _TIME,
    ),
    **dict.fromkeys(("object_", "frompyfunc"), _OBJECTS),
    **dict.fromkeys(("rec", "recarray", "record", "void", "flexible"), _RECORDS),
    "ma": _MASKED,
    "emath": _VALUES,
    **dict.fromkeys(("matrix", "asmatrix", "bmat"), _MATRIX),
    **dict.fromkeys(("fromregex", "memmap"), _FILES),
    **dict.fromkeys(("float128", "complex256", "float96", "complex192"), _EXTENDED),
    **dict.fromkeys(("nditer",), _ITERATORS),
    **dict.fromkeys(
        ("show_config", "show_runtime", "test", "f2py", "ctypeslib", "core", "info", "getbufsize",
         "setbufsize", "geterrcall", "seterrcall", "nested_iters"), _BUILD,
    ),
}  # fmt: skip


def missing(name: str) -> AttributeError:
    """Return the error for a name that isn't here."""
    reason = REASONS.get(name)
    said = f"has no {name!r}: {reason}" if reason else f"has no attribute {name!r}, as NumPy's has none"
    return AttributeError(f"module 'unifyarr.numpy' {said}")
