"""The functions of a namespace, which their declarations name: no list of exports repeats them."""

from __future__ import annotations

import re
from types import ModuleType

from .declare import DECLARATIONS

_FUNCTIONS = f"{__name__.partition('.')[0]}.functions."


def publish(space: str, module: dict[str, object]) -> list[str]:
    """Put the functions of a namespace into its module, and return their names, sorted.

    They are those that the files which the module imports declare for the namespace, and single functions that it
    imports: these belong to another namespace too, or neither take nor give values.
    """
    files = {each.__name__ for each in module.values() if isinstance(each, ModuleType)}
    declared = [each for each in DECLARATIONS.values() if each.namespace == space and each.body.__module__ in files]
    single = [name for name, each in module.items() if str(getattr(each, "__module__", "")).startswith(_FUNCTIONS)]
    module.update({each.name: each.public for each in declared})
    return sorted({*single, *(each.name for each in declared)}, key=_in_order)


def _in_order(name: str) -> list[tuple[int, str]]:
    """Return a key that puts ``log2`` before ``log10``."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]
