"""Members of the contract that a backend lacks, found when it is loaded."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from . import MEMBERS, Ability, Backend

# The members that go with an ability, and with nothing else.
WITH = {
    "has_strides": ("strides", "with_strides"),
    "has_variables": ("variable",),
    "can_compile": ("compiled",),
    "can_transform": ("vjp", "jvp", "vmap"),
}
# A holder of writes is begun, gone on with and ended; memory that is written in place has addresses.
TOGETHER = {"begin_run": ("goes_on", "end_run")}
_MAPPINGS = ("protocols", "pure_kernels", "items")
_FLAGS = (
    "computes_later",
    "has_fixed_dtypes",
    *(each.attribute for each in Ability if isinstance(getattr(Backend, each.attribute), bool)),
)
_KINDS: dict[str, tuple[type, str]] = {
    "name": (str, "a string"),
    "native_types": (tuple, "a tuple of classes"),
    "modules": (Sequence, "a sequence of modules"),
    "mutable": (bool, "a bool"),
    "large": (int, "a number of bytes"),
    "no_trace": (object, "anything"),
    "trace_cell": (object, "anything"),
    "plain_keys": (str, 'a string: "", "windows" or "basic"'),
    "plain_values": (dict, "a dict from dtypes to sets of types of numbers"),
    "plain_selections": (frozenset, "a frozenset of dtypes"),
    "writable_by": (str, "the name of an attribute"),
    "takes_scalars": (Collection, "a set of names of functions"),
    "by_layout": (Mapping, "a mapping from names of kernels to characters of dtypes"),
    "reordering": (Collection, "a set of names of kernels"),
    "cache_reads": (Mapping, "a mapping from expressions to operators"),
    **dict.fromkeys(_MAPPINGS, (Mapping, "a mapping from names to functions")),
    **dict.fromkeys(_FLAGS, (bool, "a bool")),
}
# Types of their elements, for some members.
_ELEMENTS: dict[str, type] = {"native_types": type, "modules": ModuleType}


def problems(found: object) -> list[str]:
    """Return in words all that keeps an object from being the class of a backend; nothing for one that is."""
    if not isinstance(found, type) or not issubclass(found, Backend):
        what = f"class {found.__qualname__}" if isinstance(found, type) else f"{type(found).__name__}"
        return [f"it is no subclass of unifyarr.backends.Backend, but a {what}"]
    return [*_missing(found), *_wrong(found), *_incomplete(found), *_unknown(found)]


def _missing(cls: type[Backend[Any]]) -> Iterator[str]:
    names = sorted(cls.__abstractmethods__)
    if names:
        yield f"it lacks {', '.join(names)}"


def _wrong(cls: type[Backend[Any]]) -> Iterator[str]:
    """Yield the members that are of another kind than the contract's."""
    for name in MEMBERS:
        own = inspect.getattr_static(cls, name)
        # A property is asked for when there's an instance.
        if own is inspect.getattr_static(Backend, name) or isinstance(own, property):
            continue
        value = getattr(cls, name)
        if name not in _KINDS:
            if not callable(value):
                yield f"{name} has to be a method, and is {_described(value)}"
            continue
        kind, words = _KINDS[name]
        element = _ELEMENTS.get(name, object)
        if not isinstance(value, kind) or (element is not object and not _all(value, element)):
            yield f"{name} has to be {words}, and is {_described(value)}"


def _all(values: Any, kind: type) -> bool:
    return len(values) > 0 and all(isinstance(each, kind) for each in values)


def _described(value: object) -> str:
    return repr(value) if isinstance(value, (str, bool, type(None))) else f"a {type(value).__name__}"


def _incomplete(cls: type[Backend[Any]]) -> Iterator[str]:
    """Yield abilities whose members are missing, and members whose ability isn't declared."""
    for ability, members in WITH.items():
        has, own = getattr(cls, ability), [name for name in members if _is_own(cls, name)]
        if has is True and len(own) < len(members):
            yield f"{ability} is True, but it lacks {', '.join(name for name in members if name not in own)}"
        elif has is False and own:
            yield f"it has {', '.join(own)}, but {ability} is False"
    for name, others in TOGETHER.items():
        own = [each for each in (name, *others) if _is_own(cls, each)]
        if own and len(own) <= len(others):
            yield f"{', '.join((name, *others))} belong together, but it has only {', '.join(own)}"
    if getattr(cls, "mutable", False) is True and not _is_own(cls, "extent"):
        yield "mutable is True, but it lacks extent"


def _is_own(cls: type[Backend[Any]], name: str) -> bool:
    return inspect.getattr_static(cls, name) is not inspect.getattr_static(Backend, name)


# Members of earlier versions, and their replacements.
_EARLIER = {
    "fast": "plain_way returns how functions are computed, and items has what is done at once for keys",
    "fast_forms": "plain_way returns how each function is computed",
    "writes_at_once": "with writable_by the core finds out by itself",
}


def _unknown(cls: type[Backend[Any]]) -> Iterator[str]:
    """Yield public names that aren't in the contract: misspelt ones, mostly."""
    # Only an error needs it, and it takes as long to import as all of the contract.
    from difflib import get_close_matches

    for name in dir(cls):
        if name in _EARLIER:
            yield f"{name} is no member of a backend any more: {_EARLIER[name]}"
        elif not name.startswith("_") and name not in MEMBERS:
            near = get_close_matches(name, MEMBERS, 1)
            meant = f" (meant is {near[0]}?)" if near else ": a name of its own begins with an underscore"
            yield f"{name} is no member of a backend{meant}"
