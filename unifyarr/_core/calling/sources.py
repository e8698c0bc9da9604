"""Source texts of dispatchers: filling in templates, and the fast paths.

A fast path serves plain arrays of one backend: it reads the native arrays, calls what ``Handle.fast_NAME`` offers and
wraps the result. ``NotImplemented`` from there means that this call needs another way.
"""

from __future__ import annotations

import keyword
from functools import lru_cache

# Stands in the source for the function's name, so that functions of one structure have one source text.
NAME = "name_of_the_function"

# A fast path is read into a local name before it's called, which Python does faster than calling a method. An engine's
# error sends the call through the general path, which says what is wrong in one way on all backends.
_MAKE = """
try:
    native = fast({operands})
except Exception:
    native = NotImplemented
{made}
"""
_UNARY = """
if {condition}type({x}) is Array:
    backend = {x}._backend
    {chosen}
"""
_BINARY = """
{prefix}if type({x}) is Array:
    backend = {x}._backend
    if type({y}) is Array:
        if {y}._backend is backend:
            {chosen}
    elif type({y}) is int or type({y}) is float:
        {large}
        fast = backend.fast_scalar_{name}
        {make_scalar}
    elif type({y}) is ndarray:
        # On NumPy it is a native, though none whose memory may be used again.
        if backend.native_type is ndarray and {y}.dtype is {x}._native.dtype and {y}.nbytes < (backend.large or inf):
            fast = backend.fast_{name}
            {make_beside}
        elif backend.borrow is not None:
            fast = backend.fast_{name}
            {make_borrowed}
    elif type({y}) is float64:
        if backend.dtype({x}._native) == double:
            {large_double}
            fast = backend.fast_scalar_{name}
            {make_double}
"""
_REFLECTED = """
{prefix}if type({y}) is Array and (type({x}) is int or type({x}) is float):
    backend = {y}._backend
    {large}
    fast = backend.fast_reflected_{name}
    {make_reflected}
"""
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
# Natives of an engine's usual class outside of its traces need no fast path that looks at them: their kernel is called.
_CHOSEN = """
large = backend.large
if large is None and {plain} is backend.native_type and backend.trace_cell.value is backend.no_trace:
    try:
        native = backend.fast_at_once_{name}({operands})
    except Exception:
        native = NotImplemented
    if native is not NotImplemented:
        array = blank_array()
        array._native = native
        array._backend = backend
        array._base = None
        return array
else:
    {large}
    fast = backend.fast_{name}
    {make}
"""
# A large result may stand in the memory of an operand, for which nothing computes it a second time.
_LARGE_TOO = """
if large and {x}._native.nbytes >= large:
    fast = backend.fast_large_{name}
    try:
        native = fast({operands})
    except (FloatingPointError, Warning):
        raise
    except Exception:
        native = NotImplemented
    {made}
"""
_LARGE = "large = backend.large" + _LARGE_TOO
_OUT = """
if out is not None:
    if type(out) is Array is type({x}):
        backend = out._backend
        if {x}._backend is backend:
            {write}
"""
_WRITE = """
if ({y}._backend is backend) if type({y}) is Array else (type({y}) is int or type({y}) is float):
    fast = backend.fast_out_{name}
    try:
        if fast({x}._native, {y}._native if type({y}) is Array else {y}, {out}):
            return {out}
    except (FloatingPointError, Warning):
        # NumPy's traps, for which it stops when it has written: a second time would compute on the results.
        raise
    except Exception:
        pass
"""
OUT_UNARY = """
if out is not None and type(out) is Array is type({x}) and {x}._backend is out._backend:
    fast = out._backend.fast_out_{name}
    try:
        if fast({x}._native, None, out):
            return out
    except (FloatingPointError, Warning):
        raise
    except Exception:
        pass
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


def _make(operands: str) -> str:
    return fill(_MAKE, operands=operands, made=fill(MADE, base="None"))


def _large(template: str, name: str, x: str, operands: str) -> str:
    return fill(template, name=name, x=x, operands=operands, made=fill(MADE, base="None"))


def _chosen(name: str, *operands: str, elementwise: bool = True) -> str:
    natives = ", ".join(f"{x}._native" for x in operands)
    return fill(
        _CHOSEN,
        name=name,
        plain=" is ".join(f"type({x}._native)" for x in operands),
        operands=natives,
        large=_large(_LARGE_TOO, name, operands[0], natives) if elementwise else "",
        make=_make(natives),
    )


@lru_cache(maxsize=16)
def unary(name: str, x: str, condition: str = "") -> str:
    return fill(_UNARY, x=x, chosen=_chosen(name, x), condition=condition)


@lru_cache(maxsize=16)
def binary(name: str, x: str, y: str, elementwise: bool, prefix: str = "") -> str:
    return fill(
        _BINARY,
        name=name,
        x=x,
        y=y,
        prefix=prefix,
        chosen=_chosen(name, x, y, elementwise=elementwise),
        large=_large(_LARGE, name, x, f"{x}._native, {y}") if elementwise else "",
        large_double=_large(_LARGE, name, x, f"{x}._native, float({y})") if elementwise else "",
        make_beside=_make(f"{x}._native, {y}"),
        make_borrowed=_make(f"{x}._native, backend.borrow({x}._native, {y})"),
        make_scalar=_make(f"{x}._native, {y}"),
        make_double=_make(f"{x}._native, float({y})"),
    )


@lru_cache(maxsize=16)
def reflected(name: str, x: str, y: str, elementwise: bool, prefix: str = "") -> str:
    return fill(
        _REFLECTED,
        name=name,
        x=x,
        y=y,
        prefix=prefix,
        large=_large(_LARGE, name, y, f"{x}, {y}._native") if elementwise else "",
        make_reflected=_make(f"{y}._native, {x}"),
    )


def creation(name: str, mark: str, operands: str) -> str:
    """Return the source of the fast path of a function that makes an array of what it is passed."""
    return fill(_CREATION, name=name, mark=mark, operands=operands, finish=fill(FINISH, mark=mark))


@lru_cache(maxsize=16)
def into_out(name: str, x: str, y: str) -> str:
    return fill(_OUT, x=x, write=fill(_WRITE, name=name, x=x, y=y, out="out"))
