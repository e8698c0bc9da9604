"""The one way up: modules above their callers, by name.

Imports point down. A function whose work is done further up names the module where it calls it:
``above.indexing.get_item(x, key)`` calls ``get_item`` in ``_core/writing/indexing.py``. ``DOORS`` lists the modules
that are called so, and their callers. Each is imported at its first call, and is an attribute of this module from then
on.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .records import Record

if TYPE_CHECKING:
    from ...graph.building import running as running
    from ...graph.building import variables as variables
    from ...graph.show import html as html
    from ...modes.tape import declared_operations as declared_operations
    from ..arrays import items as items
    from ..calling import dispatch as dispatch
    from ..engines import tracing as tracing
    from ..writing import flat as flat
    from ..writing import indexing as indexing

    # Public functions take anything, and methods of mixins pass themselves, which are arrays to nobody but Python.
    backends: ModuleType
    deferring: ModuleType
    exporting: ModuleType
    following: ModuleType
    functions: ModuleType
    inplace: ModuleType
    masking: ModuleType
    numpy: ModuleType
    numpy_protocols: ModuleType
    package: ModuleType
    protection: ModuleType
    recipes: ModuleType
    reshaping: ModuleType
    tape: ModuleType
    traced: ModuleType


class Door(Record):
    """A module that is called from below, and the modules that call it; both without ``unifyarr.`` before them."""

    answers: str
    asked_by: tuple[str, ...]


_ARRAYS = "_core.arrays"
DOORS: dict[str, Door] = {
    # The package's own functions.
    "functions": Door(
        "functions",
        (
            *(f"{_ARRAYS}.{name}" for name in ("array", "layout", "methods", "operators", "reshaping")),
            "_core.calling.applications",
            "_core.values.symbols",
            "_core.writing.flat",
        ),
    ),
    "numpy": Door("numpy", tuple(f"{_ARRAYS}.{name}" for name in ("array", "conversions", "methods"))),
    "following": Door("numpy._following", ("_core.calling.numpy_protocols",)),
    # Loops, compiled functions and traces.
    "package": Door(
        "",
        (
            *("_core.calling.plain_calls", "functions.filters", "functions.linalg_solvers", "functions.recurrent"),
            "graph.loops.ops",
        ),
    ),
    "backends": Door("functions.backends", (f"{_ARRAYS}.protocols",)),
    "deferring": Door("functions.deferring", (f"{_ARRAYS}.deferred",)),
    # Methods of arrays.
    "items": Door(f"{_ARRAYS}.items", (f"{_ARRAYS}.array",)),
    "protection": Door(f"{_ARRAYS}.protection", (f"{_ARRAYS}.layout",)),
    "recipes": Door(f"{_ARRAYS}.recipes", (f"{_ARRAYS}.array", f"{_ARRAYS}.layout")),
    "reshaping": Door(
        f"{_ARRAYS}.reshaping", tuple(f"{_ARRAYS}.{name}" for name in ("elements", "layout", "recipes", "slots"))
    ),
    "exporting": Door("_core.writing.exporting", (f"{_ARRAYS}.protocols",)),
    "flat": Door("_core.writing.flat", (f"{_ARRAYS}.array",)),
    "indexing": Door("_core.writing.indexing", tuple(f"{_ARRAYS}.{name}" for name in ("elements", "items", "recipes"))),
    "inplace": Door("_core.writing.inplace", tuple(f"{_ARRAYS}.{name}" for name in ("array", "methods"))),
    "masking": Door("_core.writing.masking", (f"{_ARRAYS}.slots",)),
    "numpy_protocols": Door("_core.calling.numpy_protocols", (f"{_ARRAYS}.protocols",)),
    # Lengths that aren't known, and functions.
    "tracing": Door("_core.engines.tracing", ("_core.values.lengths",)),
    "dispatch": Door("_core.calling.dispatch", ("_core.declaring.declare",)),
    # Derivatives and graphs.
    "declared_operations": Door("modes.tape.declared_operations", ("modes.tape.handle",)),
    "tape": Door("modes.tape.handle", ("derivatives.rules.backward",)),
    "traced": Door("graph.loops.traced_loops", ("modes.trace.handle",)),
    "variables": Door("graph.building.variables", ("graph.core.basic",)),
    "running": Door("graph.building.running", ("graph.core.fgraph",)),
    "html": Door("graph.show.html", ("graph.core.fgraph",)),
}


def __getattr__(name: str) -> Any:
    """Import the module of a door at its first use."""
    if name not in DOORS:
        raise AttributeError(f"no module above is called {name!r}: add it to DOORS", name=name)
    module = globals()[name] = import_module(f"...{DOORS[name].answers}", __package__)
    return module
