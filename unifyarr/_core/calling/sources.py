"""Source texts of dispatchers: filling in templates, and the fast paths.

A fast path serves plain arrays of one backend: it reads the native arrays, calls what ``Handle.fast_NAME`` offers and
wraps the result. ``NotImplemented`` from there means that this call needs another way.
"""

from __future__ import annotations

import keyword

# Stands in the source for the function's name, so that functions of one structure have one source text.
NAME = "name_of_the_function"

# On several arrays, sequences of them and numbers, or of views: ``plain_source.py``.
PLAIN = """
if {condition}:
    backend = {first}._backend
    fast = backend.fast_{name}
    if fast is not {mark}declines:
        try:
            {look}
            native = fast({taken})
        except Exception:
            native = NotImplemented
        {made}
"""
# The result of a fast path. Nearly all are of the engine's usual class, of which nothing else is asked.
MADE = """
if type(native) is backend.native_type:
    array = blank_array()
    array._native = native
    array._backend = backend
    array._base = {base}
    return array
if native is not NotImplemented:
    return wrap(backend.as_native(native), backend, {base})
"""
_CREATION = """
if out is None and backend is None and chunks is None:
    try:
        {mark}backend = {mark}bound or {mark}loaded.get({mark}scoped_name() or {mark}default.name) or {mark}current()
        {mark}fast = {mark}backend.fast_{name}
        {mark}native = {mark}fast({operands})
    except Exception:
        {mark}native = NotImplemented
    if {mark}native is not NotImplemented:
        {finish}
"""
FINISH = """
if type({mark}native) is {mark}backend.native_type:
    {mark}array = blank_array()
    {mark}array._native = {mark}native
    {mark}array._backend = {mark}backend
    {mark}array._base = None
    return {mark}array
elif type({mark}native) is Array:
    return {mark}native
"""


def indent(text: str, by: str) -> str:
    """Return a text whose lines begin with ``by``: ``textwrap.indent`` calls two functions for each."""
    return "\n".join([by + line for line in text.split("\n")])


def fill(template: str, **parts: str) -> str:
    """Fill in a template; a part of several lines stands where its name does, with that line's indentation."""
    lines = []
    for line in template.strip("\n").splitlines():
        name = line.strip()[1:-1]
        if name in parts and line.strip() == f"{{{name}}}":
            lines.append(indent(parts[name].strip("\n"), line[: -len(line.strip())]))
        else:
            lines.append(line.format(**parts) if "{" in line else line)
    return "\n".join(lines)


def identifier(name: str) -> str:
    """Return a name as it may stand in source text: a user's function may be called anything."""
    return name if name.isidentifier() and name.isascii() and not keyword.iskeyword(name) else "function"


def mark_for(names: list[str]) -> str:
    """Return what the source's own names begin with, as no parameter of a user's function does."""
    mark = "_"
    while any(name.startswith(mark) for name in names):
        mark += "_"
    return mark


def creation(name: str, mark: str, operands: str) -> str:
    """Return the source of the fast path of a function that makes an array of what it is passed."""
    return fill(_CREATION, name=name, mark=mark, operands=operands, finish=fill(FINISH, mark=mark))
