"""Source texts of dispatchers: ways to the body for calls that have no fast path and no shortcut."""

from __future__ import annotations

from ..declaring.declare import Declaration
from .shortcut_source import absent_in, has_shortcuts
from .sources import NAME, fill

# An element holds a number: it becomes an array of the usual type, for which there are fast paths.
_SETTLE = """
if {condition}:
    {mark}settle({operands})
    return {mark}function({arguments})
"""
# What needs nothing but the body: arrays of one backend, and numbers where they stay numbers.
_DIRECT = """
if {condition}:
    try:
        return {called}
    except Exception as {mark}error:
        {mark}found = {mark}explained({mark}error, {name!r}, {backend})
        if {mark}found is None:
            raise
        raise {mark}found from {mark}error
"""
# Containers among the operands.
_MAPPED = """
if {condition}:
    try:
        {mark}native = {mark}mapped({mark}function, {mark}paths, ({operands}), {{{others}}}{into})
    except Exception:
        {mark}native = NotImplemented
    if {mark}native is not NotImplemented:
        return {mark}native
"""


def direct(declaration: Declaration, names: list[str], mark: str) -> str:
    """Return the source of what calls the body at once, or nothing where there's always more to do."""
    parameters = declaration.parameters
    if declaration.operation is not None or declaration.updates:
        return ""
    if declaration.category == "creation" and not (declaration.view_map and "backend" in names):
        return ""
    conditions = [f"{name} is None" for name in absent_in(declaration, names)]
    name = f"{declaration.namespace}.{NAME}()" if declaration.namespace else f"{NAME}()"
    if declaration.category == "creation":
        (x,) = parameters.operands
        conditions += ["backend is None", f"not isinstance({x}, {mark}Nest)"]
        others = "".join(f", {each}={each}" for each in parameters.keywords if each != "backend")
        called, backend = f"{mark}body({x}{others}, backend={mark}bound)", "None"
    elif declaration.ufunc is not None:
        conditions += [f"type({x}) in {mark}data" for x in parameters.operands]
        operands = "".join(f"{x}, " for x in parameters.operands)
        called = f"{mark}elementwise({NAME!r}, {mark}ufunc, ({operands}), None, {mark}bound)"
        backend = f"{mark}bound"
    else:
        backend = ""
        for x in parameters.operands:
            several = x in parameters.sequences
            if not backend:
                # One of the operands has to be an array.
                conditions.append(f"{mark}shared({x}) is not None" if several else f"type({x}) in {mark}arrays")
                backend = f"{x}[0]._backend" if several else f"{x}._backend"
            elif several:
                conditions.append(f"{mark}shared({x}) is {backend}")
            else:
                taken = f"type({x}) in {mark}arrays and {x}._backend is {backend}"
                numbers = f"type({x}) in {mark}numbers" if x in parameters.scalars else f"{x} is None"
                conditions.append(f"({taken} or {numbers})" if x in parameters.weak else taken)
        conditions += [f"type({x}) in {mark}plain" for x in names if x in parameters.numbers]
        positional = [f"tuple({x})" if x in parameters.sequences else x for x in parameters.positional]
        variadic = [] if parameters.variadic is None else [f"*{parameters.variadic}"]
        called = f"{mark}body({', '.join([*positional, *variadic, *(f'{x}={x}' for x in parameters.keywords)])})"
    return fill(_DIRECT, condition=" and ".join(conditions), called=called, mark=mark, name=name, backend=backend)


def settling(declaration: Declaration, mark: str) -> str:
    """Return the source of what makes arrays of elements among the operands, and calls again."""
    parameters = declaration.parameters
    operands = [x for x in parameters.operands if x not in parameters.sequences]
    if not operands or declaration.operation is not None:
        return ""
    condition = " or ".join(f"type({x}) is {mark}Element" for x in operands)
    variadic = [] if parameters.variadic is None else [f"*{parameters.variadic}"]
    arguments = ", ".join([*parameters.positional, *variadic, *(f"{x}={x}" for x in parameters.keywords)])
    return fill(_SETTLE, condition=condition, operands=", ".join(operands), arguments=arguments, mark=mark)


def mapped(declaration: Declaration, names: list[str], mark: str) -> str:
    """Return the source of what calls the function for each leaf of a container."""
    parameters = declaration.parameters
    operands = parameters.operands
    if not has_shortcuts(declaration) or not operands or tuple(names[: len(operands)]) != operands:
        return ""
    if parameters.sequences or declaration.view_map:
        return ""
    conditions = [f"({name} is None or isinstance({name}, {mark}Nest))" for name in names if name == "out"]
    conditions += ["chunks is None"] if "chunks" in names else []
    nests = " or ".join(f"isinstance({x}, {mark}Nest)" for x in operands)
    rest = [name for name in names[len(operands) :] if name not in ("out", "chunks")]
    if not set(rest) <= set(parameters.keywords):
        return ""
    return fill(
        _MAPPED,
        condition=" and ".join([f"({nests})", *conditions]),
        into=", out" if "out" in names else "",
        operands="".join(f"{x}, " for x in operands),
        others=", ".join(f"{name!r}: {name}" for name in rest),
        mark=mark,
    )
