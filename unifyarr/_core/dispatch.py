"""Compiling a dispatcher from a declaration: a short fast path, and the stack of concerns for everything else.

The fast path serves plain arrays of one backend without ``out=`` or ``copy=``, and elementwise calls into a plain
``out``: it reads the native arrays, calls what ``Handle.fast_NAME`` offers and wraps the result. ``NotImplemented``
from there means that this call needs the general path.
"""

from __future__ import annotations

import inspect
import linecache
import types
from collections.abc import Callable
from typing import Any

from .concerns import CONCERNS, Call, Handler, Parameters
from .declare import Declaration
from .selection import loaded_backends
from .wrapper import array_class

# An engine's error sends the call through the general path, which says what is wrong in one way on all backends.
_UNARY = """
    if out is None and type({x}) is Array:
        backend = {x}._backend
        try:
            native = backend.fast_{name}({x}._native{static})
        except Exception:
            native = NotImplemented
        if native is not NotImplemented:
            array = new(Array)
            array._native = native
            array._backend = backend
            array._base = None
            return array
"""
_BINARY = """
    if type({x}) is Array:
        backend = {x}._backend
        if type({y}) is Array:
            if {y}._backend is backend:
                if out is None:
                    try:
                        native = backend.fast_{name}({x}._native, {y}._native)
                    except Exception:
                        native = NotImplemented
                    if native is not NotImplemented:
                        array = new(Array)
                        array._native = native
                        array._backend = backend
                        array._base = None
                        return array
                elif type(out) is Array and out._backend is backend:
                    try:
                        if backend.fast_out_{name}({x}._native, {y}._native, out):
                            return out
                    except Exception:
                        pass
        elif out is None and (type({y}) is int or type({y}) is float):
            try:
                native = backend.fast_scalar_{name}({x}._native, {y})
            except Exception:
                native = NotImplemented
            if native is not NotImplemented:
                array = new(Array)
                array._native = native
                array._backend = backend
                array._base = None
                return array
"""


def read_signature(body: Callable[..., Any]) -> Parameters:
    """Return what a declaration's signature says, from the kinds and the annotations of its parameters."""
    positional, keywords, arrays, weak, sequences = [], [], set(), set(), set()
    variadic = None
    for parameter in inspect.signature(body).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            variadic = parameter.name
        elif parameter.kind is parameter.KEYWORD_ONLY:
            keywords.append(parameter.name)
        else:
            positional.append(parameter.name)
        annotation = str(parameter.annotation)
        if parameter.name == "out" or "Array" not in annotation:
            continue
        if "Sequence" in annotation or parameter.name == variadic:
            sequences.add(parameter.name)
        elif "Scalar" in annotation or "int" in annotation or "None" in annotation:
            weak.add(parameter.name)
        else:
            arrays.add(parameter.name)
    return Parameters(
        tuple(positional), variadic, tuple(keywords), frozenset(arrays), frozenset(weak), frozenset(sequences)
    )


def stack(declaration: Declaration) -> Handler:
    """Return the body with all concerns around it."""
    body = declaration.body

    def call_body(call: Call) -> Any:
        parameters, arguments = call.parameters, call.arguments
        positional = [arguments[name] for name in parameters.positional]
        if parameters.variadic is not None:
            positional += arguments[parameters.variadic]
        return body(*positional, **{name: arguments[name] for name in parameters.keywords})

    handler: Handler = call_body
    for concern in reversed(CONCERNS):
        handler = concern(declaration, handler)
    return handler


def _source(declaration: Declaration) -> str:
    signature = inspect.signature(declaration.body)
    names = list(signature.parameters)
    plain = signature.replace(
        parameters=[
            parameter.replace(
                annotation=parameter.empty, default=parameter.empty if parameter.default is parameter.empty else None
            )
            for parameter in signature.parameters.values()
        ],
        return_annotation=signature.empty,
    )
    fast = ""
    if declaration.fast and names[:2] == ["x1", "x2"]:
        fast = _BINARY.format(name=declaration.name, x="x1", y="x2")
    elif declaration.fast:
        static = "".join(f", {name}" for name in names[1:] if name != "out")
        fast = _UNARY.format(name=declaration.name, x=names[0], static=static)
    arguments = ", ".join(f"{name!r}: {name}" for name in names)
    return f"def {declaration.name}{plain}:{fast}\n    return general(Call({{{arguments}}}, parameters, _bound))\n"


def compile_dispatcher(declaration: Declaration, function: types.FunctionType) -> None:
    """Replace the code of a function that is called for the first time by its dispatcher."""
    source = _source(declaration)
    filename = f"<unifyarr dispatcher of {declaration.qualified_name}>"
    for handle in loaded_backends():
        handle.install(declaration)
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = function.__globals__
    cls = array_class()
    namespace.update(
        Array=cls,
        new=cls.__new__,
        Call=Call,
        general=stack(declaration),
        parameters=read_signature(declaration.body),
    )
    local: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), namespace, local)
    compiled: types.FunctionType = local[declaration.name]
    function.__defaults__ = declaration.body.__defaults__
    function.__kwdefaults__ = declaration.body.__kwdefaults__
    function.__code__ = compiled.__code__
