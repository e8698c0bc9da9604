"""Compiling a dispatcher from a declaration: a short fast path, and the stack of concerns for everything else.

The fast path serves plain arrays of one backend without ``out=`` or ``copy=``, and elementwise calls into a plain
``out``: it reads the native arrays, calls what ``Handle.fast_NAME`` offers and wraps the result. ``NotImplemented``
from there means that this call needs the general path.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import re
import types
from collections.abc import Callable
from textwrap import indent
from typing import Any

from .concerns import CONCERNS, Call, Handler, Parameters
from .declare import Declaration
from .handle import loaded_backends
from .wrapper import array_class

# A fast path is read into a local name before it's called, which Python does faster than calling a method. An engine's
# error sends the call through the general path, which says what is wrong in one way on all backends.
_MAKE = """
try:
    native = fast({operands})
except Exception:
    native = NotImplemented
if native is not NotImplemented:
    array = new(Array)
    array._native = native if type(native) is backend.native_type else backend.as_native(native)
    array._backend = backend
    array._base = None
    return array
"""
_UNARY = """
if {condition}type({x}) is Array:
    backend = {x}._backend
    fast = backend.fast_{name}
    {make}
"""
_BINARY = """
{prefix}if type({x}) is Array:
    backend = {x}._backend
    if type({y}) is Array:
        if {y}._backend is backend:
            fast = backend.fast_{name}
            {make}
    elif type({y}) is int or type({y}) is float:
        fast = backend.fast_scalar_{name}
        {make_scalar}
elif type({y}) is Array and (type({x}) is int or type({x}) is float):
    backend = {y}._backend
    fast = backend.fast_reflected_{name}
    {make_reflected}
"""
_OUT = """
if out is not None:
    if type(out) is Array is type({x}):
        backend = out._backend
        if {x}._backend is backend and (
            ({y}._backend is backend) if type({y}) is Array else (type({y}) is int or type({y}) is float)
        ):
            fast = backend.fast_out_{name}
            try:
                if fast({x}._native, {y}._native if type({y}) is Array else {y}, out):
                    return out
            except (FloatingPointError, Warning):
                # NumPy's traps, for which it stops when it has written: a second time would compute on the results.
                raise
            except Exception:
                pass
"""


def _fill(template: str, **parts: str) -> str:
    """Fill in a template; a part of several lines stands where its name does, with that line's indentation."""
    lines = []
    for line in template.strip("\n").splitlines():
        name = line.strip()[1:-1]
        if line.strip() == f"{{{name}}}":
            lines.append(indent(parts[name].strip("\n"), line[: -len(line.strip())]))
        else:
            lines.append(line.format(**parts))
    return "\n".join(lines)


def _unary(name: str, x: str, static: str = "", condition: str = "") -> str:
    make = _fill(_MAKE, operands=f"{x}._native{static}")
    return _fill(_UNARY, name=name, x=x, make=make, condition=condition)


def _binary(name: str, x: str, y: str, prefix: str = "") -> str:
    return _fill(
        _BINARY,
        name=name,
        x=x,
        y=y,
        prefix=prefix,
        make=_fill(_MAKE, operands=f"{x}._native, {y}._native"),
        make_scalar=_fill(_MAKE, operands=f"{x}._native, {y}"),
        make_reflected=_fill(_MAKE, operands=f"{y}._native, {x}"),
    )


# What an annotation has beside ``Array`` where a scalar or ``None`` stays what it is.
_WEAK = re.compile(r"Scalar|\b(None|bool|int|float|complex)\b")


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
        elif _WEAK.search(annotation):
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
        fast = _fill(_OUT, name=declaration.name, x="x1", y="x2") + "\n"
        fast += _binary(declaration.name, "x1", "x2", prefix="el")
    elif declaration.fast:
        static = "".join(f", {name}" for name in names[1:] if name != "out")
        fast = _unary(declaration.name, names[0], static, condition="out is None and ")
    arguments = ", ".join(f"{name!r}: {name}" for name in names)
    # A function of a user's may have a parameter of any name.
    general = f"return _general(_Call({{{arguments}}}, _parameters, _bound))"
    return f"def {declaration.name}{plain}:\n{indent(fast, '    ')}\n    {general}\n"


def _execute(source: str, name: str, what: str, namespace: dict[str, Any]) -> types.FunctionType:
    """Return the function that the source defines; tracebacks show its lines."""
    filename = f"<unifyarr {what}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    cls = array_class()
    namespace.update(Array=cls, new=cls.__new__)
    local: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), namespace, local)
    compiled: types.FunctionType = local[name]
    return compiled


def _defaults(signature: inspect.Signature) -> tuple[tuple[Any, ...], dict[str, Any]]:
    given = [each for each in signature.parameters.values() if each.default is not each.empty]
    keywords = {each.name: each.default for each in given if each.kind is each.KEYWORD_ONLY}
    return tuple(each.default for each in given if each.name not in keywords), keywords


def compile_dispatcher(declaration: Declaration, function: types.FunctionType) -> None:
    """Replace the code of a function that is called for the first time by its dispatcher."""
    for handle in loaded_backends():
        handle.install(declaration)
    namespace = function.__globals__
    namespace.update(_Call=Call, _general=stack(declaration), _parameters=read_signature(declaration.body))
    what = f"dispatcher of {declaration.qualified_name}"
    compiled = _execute(_source(declaration), declaration.name, what, namespace)
    function.__defaults__, function.__kwdefaults__ = _defaults(inspect.signature(declaration.body))
    function.__code__ = compiled.__code__
    if function is declaration.public and declaration.fast and declaration.operator is not None:
        _compile_operator(declaration, declaration.operator)


def _compile_operator(declaration: Declaration, method: types.FunctionType) -> None:
    """Put the function's fast path into its operator, which saves a call of a function."""
    _, *others = inspect.signature(method).parameters
    if others:
        fast, arguments = _binary(declaration.name, "self", "other"), "self, other"
    else:
        fast, arguments = _unary(declaration.name, "self"), "self"
    name = method.__name__
    source = f"def {name}({arguments}, /):\n{indent(fast, '    ')}\n    return general({arguments})\n"
    compiled = _execute(source, name, f"operator {name}", {"general": method})
    setattr(array_class(), name, functools.update_wrapper(compiled, method))
