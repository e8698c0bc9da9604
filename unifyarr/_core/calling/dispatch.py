"""Compiling a dispatcher from a declaration: a short fast path, and the stack of concerns for everything else.

The fast path serves plain arrays of one backend without ``out=`` or ``copy=``, and elementwise calls into a plain
``out``, where no trace runs and no call is checked: it reads the native arrays, calls what ``Handle.fast_NAME`` offers
and wraps the result. ``NotImplemented`` from there means that this call needs the general path.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import linecache
import types
from typing import Any

import numpy as np

from ..arrays.array import Array, blank_array, wrap
from ..arrays.convert import shared_backend
from ..arrays.elements import Element, settle
from ..arrays.nest import Nest
from ..arrays.recipes import View
from ..declaring.declare import Declaration
from ..declaring.fast import OFFERED, install
from ..declaring.operands import PLAIN, Call
from ..engines.current import current, default, scoped_name
from ..engines.dtypes import SCALARS, DType
from ..engines.handle import LOADED, Handle, declines
from ..engines.refusals import explained
from ..engines.registry import when_loaded
from ..engines.tracing import inside, mode
from ..values.lazily import WeakBag
from ..values.supplying import supply
from ..writing.storing import put_small, takes_small
from .concerns import general
from .invoke import elementwise
from .line_tables import without_columns
from .mapping import map_plainly
from .plain_source import called_at_once
from .recording import beside, beside_elementwise, frozen, integers, told
from .refusing import ABSENT, refuse_keywords, refuse_positional
from .shortcut_source import count_told, has_shortcuts, shortcut, takes_arrays
from .shortcuts import Shortcuts
from .sources import (
    NAME,
    creation,
    fill,
    identifier,
    indent,
    mark_for,
)
from .ways import direct, mapped, settling

_KEPT = """
if {mark}mode is None or {mark}mode.tape is not None:
    {shortcut}
"""

# The names that every source text finds, as the package's modules do.
_OF_ALL = {
    "Array": Array,
    "blank_array": blank_array,
    "wrap": wrap,
    "running_mode": mode.get,
    "__builtins__": builtins,
}


def _by_name(signature: inspect.Signature) -> list[inspect.Parameter]:
    """Return the parameters that have to be passed by name."""
    return [each for each in signature.parameters.values() if each.kind is each.KEYWORD_ONLY]


def _catches(signature: inspect.Signature) -> bool:
    """Return whether what is passed by place and has to be passed by name is caught, to say so."""
    kinds = {each.kind for each in signature.parameters.values()}
    return bool(_by_name(signature)) and inspect.Parameter.VAR_POSITIONAL not in kinds


def _takes_anywhere(signature: inspect.Signature) -> bool:
    """Return whether these are parameters of any kind to Python, which finds defaults by place sooner than by name."""
    return _catches(signature) and all(each.default is not each.empty for each in _by_name(signature))


def _catches_keywords(declaration: Declaration) -> bool:
    """Return whether keywords that no parameter has are caught, to say which one is meant.

    Python makes a dictionary for them at each call, which would be felt in those of elementwise functions. Their
    parameters are few.
    """
    kinds = {each.kind for each in declaration.signature.parameters.values()}
    return declaration.ufunc is None and inspect.Parameter.VAR_KEYWORD not in kinds


def _source(declaration: Declaration, bound: bool) -> str:
    signature = declaration.signature
    names = list(signature.parameters)
    parameters = [
        parameter.replace(
            annotation=parameter.empty, default=parameter.empty if parameter.default is parameter.empty else None
        )
        for parameter in signature.parameters.values()
    ]
    mark = mark_for(names)
    beyond = f"{mark}beyond"
    named = [each.name for each in _by_name(signature)]
    if _takes_anywhere(signature):
        anywhere = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters[-len(named) :] = [inspect.Parameter(each, anywhere, default=None) for each in (beyond, *named)]
    elif _catches(signature):
        parameters.insert(-len(named), inspect.Parameter(beyond, inspect.Parameter.VAR_POSITIONAL))
    unknown = f"{mark}unknown" if _catches_keywords(declaration) else ""
    if unknown:
        parameters.append(inspect.Parameter(unknown, inspect.Parameter.VAR_KEYWORD))
    plain = signature.replace(parameters=parameters, return_annotation=signature.empty)
    fast = ""
    if declaration.fast and declaration.category == "creation":
        fast = creation(NAME, mark, ", ".join(name for name in names if name not in ("out", "backend", "chunks")))
    elif declaration.fast and not declaration.has_plain_calls:
        fast = called_at_once(declaration, names, mark)
    arguments = ", ".join(f"{name!r}: {name}" for name in names)
    # Inside a trace another handle stands for the backend.
    backend = f"{mark}inside({mark}bound)" if bound else "None"
    call = f"{mark}Call({{{arguments}}}, {mark}parameters, {backend})"
    kept = shortcut(declaration, names, mark, call)
    others = [settling(declaration, mark), direct(declaration, names, mark), mapped(declaration, names, mark)]
    otherwise_fast = "\n".join(each for each in others if each)
    parts = []
    parts.append(fill("{mark}mode = running_mode()", mark=mark))
    if fast:
        parts.append(fill("if {mark}mode is None:\n    {fast}", mark=mark, fast=fast))
    if kept:
        parts.append(fill(_KEPT, mark=mark, shortcut=kept))
    if otherwise_fast:
        parts.append(fill("if {mark}mode is None:\n    {fast}", mark=mark, fast=otherwise_fast))
    fast = "\n".join(parts) if len(parts) > 1 or fast else ""
    if "type" in names:
        # As in ``dct(x, type=2)``: there the builtin goes by another name.
        fast = fast.replace("type(", f"{mark}type(")
    otherwise = f"return {mark}general({call})"
    check = ""
    # Not the function's own name: functions of one structure have one source text.
    qualified_name = f"{declaration.namespace}.{NAME}" if declaration.namespace else NAME
    if _catches(signature):
        any_place = _takes_anywhere(signature)
        given = f"[{', '.join([beyond, *named])}], {mark}defaults" if any_place else beyond
        called = f"{mark}refuse_positional({mark}parameters, {qualified_name!r}, {given})"
        check = f"    if {beyond}{f' is not {mark}absent' if any_place else ''}:\n        {called}\n"
    if unknown:
        called = f"{mark}refuse_keywords({mark}parameters, {qualified_name!r}, {unknown})"
        check += f"    if {unknown}:\n        {called}\n"
    return f"def {NAME}{plain}:\n{check}{indent(fast, '    ')}\n    {otherwise}\n"


@functools.lru_cache(maxsize=128)
def _compiled(source: str, has_columns: bool) -> types.CodeType:
    """Return the code of the one function that a source text defines."""
    consts = compile(source, "<unifyarr>", "exec").co_consts
    code = next(each for each in consts if isinstance(each, types.CodeType))
    return code if has_columns else without_columns(code)


# What is compiled so far.
_dispatchers: WeakBag[types.FunctionType] = WeakBag()


@when_loaded
def _drop_columns(backend: Handle) -> None:
    if backend.looks_at_lines:
        for function in _dispatchers:
            function.__code__ = without_columns(function.__code__)


def _add(function: types.FunctionType) -> None:
    _dispatchers.add(function)
    # A backend may be loaded since its code was made: afterwards it finds the function.
    if any(each.looks_at_lines for each in OFFERED):
        function.__code__ = without_columns(function.__code__)


def _named(source: str, name: str, called: str, what: str) -> types.CodeType:
    """Return the code of a source text with a function's name for ``NAME``; tracebacks show its lines."""
    has_columns = not any(each.looks_at_lines for each in OFFERED)
    code, filename = _compiled(source, has_columns), f"<unifyarr {what}>"
    shown = source.replace(f"def {NAME}", f"def {called}").replace(NAME, name)
    linecache.cache[filename] = (len(shown), None, shown.splitlines(keepends=True), filename)
    return code.replace(
        co_name=called,
        co_qualname=called,
        co_filename=filename,
        co_names=tuple([each.replace(NAME, name) for each in code.co_names]),
        co_consts=tuple([each.replace(NAME, name) if type(each) is str else each for each in code.co_consts]),
    )


def _defaults(signature: inspect.Signature) -> tuple[tuple[Any, ...], dict[str, Any]]:
    given = [each for each in signature.parameters.values() if each.default is not each.empty]
    keywords = {each.name: each.default for each in given if each.kind is each.KEYWORD_ONLY}
    by_place = tuple(each.default for each in given if each.name not in keywords)
    return ((*by_place, ABSENT, *keywords.values()), {}) if _takes_anywhere(signature) else (by_place, keywords)


def _paths(declaration: Declaration) -> tuple[str, str, str] | None:
    """Return the names of the fast paths of a function that takes nothing but arrays, and ``out``."""
    operands = declaration.parameters.operands
    only = declaration.fast and len(operands) < 3 and set(declaration.signature.parameters) == {*operands, "out"}
    plain, scalar, several = (f"fast_{form}{declaration.name}" for form in ("", "scalar_", "several_"))
    return (plain, scalar, several) if only else None


def compile_dispatcher(declaration: Declaration, function: types.FunctionType, /) -> None:
    """Replace the code of a function that is called for the first time by its dispatcher."""
    for handle in list(OFFERED):
        install(handle, declaration)
    namespace = function.__globals__
    signature = declaration.signature
    mark, name, named = mark_for(list(signature.parameters)), identifier(declaration.name), _by_name(signature)
    handler = general(declaration)
    shortcuts = Shortcuts(
        handler,
        declaration.name,
        takes_arrays=has_shortcuts(declaration) and takes_arrays(declaration),
        takes_nothing=declaration.category == "creation",
        told=count_told(declaration, list(signature.parameters)),
    )
    own = {
        "Call": Call,
        "Element": Element,
        "settle": settle,
        "general": handler,
        "parameters": declaration.parameters,
        "refuse_positional": refuse_positional,
        "refuse_keywords": refuse_keywords,
        "absent": ABSENT,
        "defaults": tuple([each.default for each in named]),
        "body": declaration.body,
        "ufunc": declaration.ufunc,
        "elementwise": elementwise,
        "explained": explained,
        "shared": shared_backend,
        "arrays": frozenset({Array, Element, View}),
        "data": frozenset({Array, Element, View, *SCALARS, list, tuple, np.ndarray}),
        "numbers": frozenset({*SCALARS, type(None)}),
        "plain": PLAIN,
        "bound": namespace["_bound"],
        "inside": inside,
        "frozen": frozen,
        "beside": beside if declaration.ufunc is None else beside_elementwise,
        "shortcuts": shortcuts,
        "DType": DType,
        "integers": integers,
        "told": told,
        "type": type,
        "takes": takes_small,
        "put": put_small,
        "lists": frozenset({list, tuple}),
        "settled": frozenset({Array, View}),
        "ndarray": np.ndarray,
        "current": current,
        "default": default,
        "scoped_name": scoped_name,
        "loaded": LOADED,
        "Nest": Nest,
        "mapped": map_plainly,
        "paths": _paths(declaration),
        "function": namespace["_function"],
        "declines": declines,
    }
    namespace.update({mark + key: value for key, value in own.items()}, **_OF_ALL)
    what = f"dispatcher of {declaration.namespace}{'.' if declaration.namespace else ''}{name}"
    function.__defaults__, function.__kwdefaults__ = _defaults(signature)
    function.__code__ = _named(_source(declaration, namespace["_bound"] is not None), declaration.name, name, what)
    _add(function)


supply(Declaration.compile, compile_dispatcher)
