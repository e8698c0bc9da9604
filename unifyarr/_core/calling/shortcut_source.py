"""Source texts of dispatchers: how a call finds its shortcut (``shortcuts.py``), or learns one."""

from __future__ import annotations

import inspect

from ..declaring.declare import Declaration
from .sources import FINISH, fill

# The kernels that the body called for operands of these dtypes and shapes: ``shortcuts.py``.
_SHORTCUT = """
if {condition}:
    {mark}backend = {backend}
    try:
        {look}
        {keyed}
    except Exception:
        {mark}found = {mark}native = NotImplemented
    {finish}
    if {mark}found is None:
        return {mark}shortcuts.{learn}({mark}key, {call}, {mark}backend)
"""
# Of a function with ``out``: what it gives is written there where that is small.
_FINISH_OUT = """
if out is None:
    {finish}
elif {mark}native is not NotImplemented and {mark}put(out, {mark}native):
    return out
"""
_FOUND = """
{found}
{mark}native = NotImplemented if {mark}found is None else {mark}found({inputs})
"""
# By dtypes and shapes, or by what an engine has sooner for both.
_KEYED = """
if {mark}type_key is None:
    {shaped}
else:
    {typed}
{mark}native = NotImplemented if {mark}found is None else {mark}found({inputs})
"""
# The same of a function whose shortcuts take natives. The one of an engine with a ``trace_cell`` may be a kernel, which
# doesn't look whether a trace runs.
_KEYED_KERNEL = """
if {mark}type_key is None:
    {shaped}
    {mark}native = NotImplemented if {mark}found is None else {mark}found({inputs})
else:
    {typed}
    {mark}cell = {mark}backend.trace_cell
    if {mark}found is None or ({mark}cell is not None and {mark}cell.value is not {mark}backend.no_trace):
        {mark}native = NotImplemented
    else:
        {mark}native = {mark}found({inputs})
"""
_LOOKED_UP = """
{mark}key = ({mark}backend, {key})
{mark}found = {mark}shortcuts.get({mark}key)
"""
# The one that was found last is tried first: it is told by identities and shapes, sooner than a key is made.
_AGAIN = """
{told}
{mark}b, {last}, {mark}found = {mark}shortcuts.last
if {mark}b is not {mark}backend or {differs}:
    {mark}key = ({mark}backend, {key})
    {mark}found = {mark}shortcuts.get({mark}key)
    if {mark}found is not None:
        {mark}shortcuts.last = {mark}backend, {now}, {mark}found
"""
# The natives of a list or tuple of arrays of one backend, and what tells it from other sequences.
_LOOK = """
{mark}n{place}, {mark}k{place} = [], []
for {mark}x in {x}:
    if (type({mark}x) is not Array and type({mark}x) not in {mark}arrays) or {mark}x._backend is not {mark}backend:
        raise TypeError
    {mark}y = {mark}x._native
    {mark}n{place}.append({mark}y)
    if {mark}type_key is None:
        {mark}k{place}.append({mark}y.dtype)
        {mark}k{place}.append({mark}y.shape)
    else:
        {mark}k{place}.append({mark}type_key({mark}y))
"""
_FINISHED = """
if {mark}native is not NotImplemented:
    return {mark}native
"""


def has_shortcuts(declaration: Declaration) -> bool:
    """Return whether what a body does may follow from its arguments: not if it updates some, or is a user's."""
    if declaration.category == "creation":
        # What takes data looks at it.
        return not declaration.view_map
    return declaration.operation is None and not declaration.updates


def absent_in(declaration: Declaration, names: list[str]) -> list[str]:
    """Return the parameters that ask for more than the body and its kernels if anything is passed for them."""
    return [name for name in names if name in ("out", "chunks") or (name == "copy" and declaration.category == "view")]


def _finish(names: list[str], mark: str, finish: str) -> dict[str, str]:
    """Return the source of what ends a shortcut, and the name of what learns one."""
    finish = fill(finish, mark=mark)
    if "out" not in names:
        return {"finish": finish, "learn": "learn"}
    return {"finish": fill(_FINISH_OUT, mark=mark, finish=finish), "learn": "learn_into"}


def shortcut(declaration: Declaration, names: list[str], mark: str, call: str) -> str:
    """Return the source of what calls a shortcut, or learns one."""
    parameters = declaration.parameters
    if not has_shortcuts(declaration):
        return ""
    if declaration.category == "creation":
        return _creating_shortcut(declaration, names, mark, call)
    if not parameters.operands:
        return ""
    whole = takes_arrays(declaration)
    absent = absent_in(declaration, names)
    backend, conditions = _backend_of(declaration, mark)
    if "out" in names:
        conditions.append(f"(out is None or ({mark}mode is None and {mark}takes(out, {backend})))")
    conditions.append(f"({mark}mode is None or {mark}mode.tape is {backend})")
    look = [f"{mark}type_key = {mark}backend.type_key"]
    inputs: list[str] = []
    key: list[str] = []
    typed: list[str] = []
    for place, x in enumerate(parameters.operands):
        lines, taken, told = _operand(declaration, x, place, mark, whole)
        look += lines
        inputs.append(taken)
        key += told
        looked = f"{mark}type_key({mark}n{place})" if parameters.sequences else f"{mark}d{place}"
        typed += [looked] if x in _firm(declaration) else told
    others = [_told(declaration, each, mark) for each in _told_names(declaration, names)]
    return fill(
        _SHORTCUT,
        condition=" and ".join([*(f"{name} is None" for name in absent if name != "out"), *conditions]),
        backend=backend,
        look="\n".join(look),
        keyed=fill(
            _KEYED if whole else _KEYED_KERNEL,
            shaped=_found(declaration, names, key + others, mark, typed=False),
            typed=_found(declaration, names, typed + others, mark, typed=True),
            inputs=", ".join(inputs),
            mark=mark,
        ),
        call=call,
        mark=mark,
        **_finish(names, mark, _FINISHED if whole else FINISH),
    )


def count_told(declaration: Declaration, names: list[str]) -> int:
    """Return how many values tell the last call from others: two of each operand, and each other argument."""
    return 2 * len(_looked_at(declaration)) + len(_told_names(declaration, names))


def _looked_at(declaration: Declaration) -> tuple[str, ...]:
    """Return the parameters whose arrays are looked at; what makes arrays of numbers is told all of its arguments."""
    return () if declaration.category == "creation" else declaration.parameters.operands


def _told_names(declaration: Declaration, names: list[str]) -> list[str]:
    aside = [*_looked_at(declaration), *absent_in(declaration, names)]
    aside += ["backend"] if declaration.category == "creation" else []
    return [each for each in names if each not in aside]


def _found(declaration: Declaration, names: list[str], key: list[str], mark: str, *, typed: bool) -> str:
    """Return the source of what finds a shortcut, by dtypes and shapes of natives or by their types."""
    if declaration.parameters.sequences:
        # Of a sequence each array is looked at anyway.
        return fill(_LOOKED_UP, key=", ".join(key), mark=mark)
    # Arguments are compared by identity: a key has none that can change.
    others = _told_names(declaration, names)
    told, now, last, differs = [], [], [], []
    for place, x in enumerate(_looked_at(declaration)):
        native, kind, shape = f"{mark}n{place}", f"{mark}d{place}", f"{mark}s{place}"
        by_type = typed and x in _firm(declaration)
        if x in _firm(declaration):
            told += [f"{kind} = {mark}type_key({native})" if typed else f"{kind} = {native}.dtype"]
            told += [] if typed else [f"{shape} = {native}.shape"]
        now += [kind, "None" if by_type else shape]
        last += [f"{mark}k{place}", f"{mark}l{place}"]
        differs += [f"{kind} is not {mark}k{place}", *([] if by_type else [f"{shape} != {mark}l{place}"])]
    before = [f"{mark}t{place}" for place in range(len(others))]
    return fill(
        _AGAIN,
        told="\n".join(told),
        last=", ".join(last + before),
        differs=" or ".join(differs + [f"{one} is not {other}" for one, other in zip(others, before, strict=True)]),
        now=", ".join(now + others),
        key=", ".join(key),
        mark=mark,
    )


def _backend_of(declaration: Declaration, mark: str) -> tuple[str, list[str]]:
    """Return the source of the backend of a call, and of the conditions on which that is there."""
    parameters = declaration.parameters
    firm = _firm(declaration)
    if firm:
        backend = f"{firm[0]}._backend"
        is_settled = [f"type({x}) is Array" for x in firm]
        if not declaration.view_map:
            is_settled = [f"({each} or type({x}) in {mark}settled)" for x, each in zip(firm, is_settled, strict=True)]
        return backend, [*is_settled, *(f"{x}._backend is {backend}" for x in firm[1:])]
    if parameters.sequences:
        arrays = parameters.operands[0]
        return f"{arrays}[0]._backend", [f"type({arrays}) in {mark}lists", arrays, f"type({arrays}[0]) in {mark}arrays"]
    one, *others = parameters.operands
    other = others[0] if others else one
    backend = f"({one} if type({one}) in {mark}settled else {other})._backend"
    # A list is made an array at each call.
    data = [f"type({x}) is not list" for x in parameters.operands]
    return backend, [f"(type({one}) in {mark}settled or type({other}) in {mark}settled)", *data]


def _firm(declaration: Declaration) -> list[str]:
    """Return the parameters that take one array and nothing else."""
    parameters = declaration.parameters
    return [x for x in parameters.operands if x not in parameters.weak and x not in parameters.sequences]


def _operand(declaration: Declaration, x: str, place: int, mark: str, whole: bool) -> tuple[list[str], str, list[str]]:
    """Return the source that looks at an operand, of what the shortcut takes for it, and of its part of the key."""
    native, told = f"{mark}n{place}", [f"{mark}d{place}", f"{mark}s{place}"]
    values = [f"{native}.dtype", f"{native}.shape"]
    taken = x if whole else native
    if x in declaration.parameters.sequences:
        # The length of a key tells that of one sequence.
        told = [f"*{mark}k{place}" if len(declaration.parameters.sequences) == 1 else f"tuple({mark}k{place})"]
        return fill(_LOOK, x=x, place=str(place), mark=mark).splitlines(), f"*{taken}", told
    if x in _firm(declaration):
        return [f"{native} = {x}._native"], taken, values if declaration.parameters.sequences else told
    # On NumPy its own arrays are natives.
    beside = [
        f"elif type({x}) is {mark}ndarray is {mark}backend.native_type:",
        f"    {native}, {told[0]}, {told[1]} = {x}, {x}.dtype, {x}.shape",
    ]
    # What most calls leave out is looked at first.
    is_optional = declaration.signature.parameters[x].default is None
    otherwise = "elif" if is_optional else "if"
    look = [
        *([f"if {x} is None:", f"    {native} = {' = '.join(told)} = None"] if is_optional else []),
        f"{otherwise} (type({x}) is Array or type({x}) in {mark}arrays) and {x}._backend is {mark}backend:",
        f"    {native} = {x}._native",
        f"    if {mark}type_key is None:",
        *[f"        {name} = {value}" for name, value in zip(told, values, strict=True)],
        "    else:",
        f"        {told[0]} = {mark}type_key({native})",
        f"        {' = '.join(told[1:])} = None",
        f"elif {'' if is_optional else f'{x} is None or '}type({x}) is int or type({x}) is float:",
        f"    {native}, {told[0]}, {told[1]} = None, {x}, type({x})",
        *([] if whole else beside),
        "else:",
        f"    {native}, {told[0]}, {told[1]} = {mark}beside({x}, {mark}backend)",
    ]
    # 0.0 equals -0.0.
    return look, taken, [f"{mark}frozen({told[0]}) if {told[1]} is float else {told[0]}", told[1]]


def _told(declaration: Declaration, name: str, mark: str) -> str:
    """Return the source of what tells an argument from others: itself if it's of the types that are expected there.

    ``frozen`` returns ``None``, a bool or a tuple with the type, so that 1 and True are told apart.
    """
    parameter = declaration.signature.parameters[name]
    default = parameter.default
    if default is None or type(default) is bool:
        frozen = f"(int, {name}) if type({name}) is int else {mark}frozen({name})"
        return f"{name} if {name} is None or {name} is False or {name} is True else {frozen}"
    dtype = "" if name != "dtype" else f"{name}.dtype if type({name}) is {mark}DType else "
    sequence = (
        f"{mark}integers(*{name}) or {mark}frozen({name}) if type({name}) is tuple else "
        if default is inspect.Parameter.empty
        else ""
    )
    # What is a text by its default or its annotation is one nearly always.
    kind = "str" if type(default) is str or parameter.annotation in (str, "str") else "int"
    return f"{dtype}{name} if type({name}) is {kind} else {sequence}{mark}told({name})"


def _creating_shortcut(declaration: Declaration, names: list[str], mark: str, call: str) -> str:
    key = [_told(declaration, name, mark) for name in _told_names(declaration, names)]
    usual = f"({mark}bound or {mark}loaded.get({mark}scoped_name() or {mark}default.name) or {mark}current())"
    into = f"{mark}bound is None and {mark}takes(out, getattr(out, '_backend', None))"
    conditions = [f"{name} is None" for name in ("backend", "chunks") if name in names]
    conditions.append(f"(out is None or ({into}))")
    conditions.append(f"{mark}mode is None")
    return fill(
        _SHORTCUT,
        condition=" and ".join(conditions),
        backend=f"{usual} if out is None else out._backend",
        look="",
        keyed=fill(_FOUND, found=_found(declaration, names, key, mark, typed=False), inputs="", mark=mark),
        call=call,
        mark=mark,
        **_finish(names, mark, FINISH),
    )


def takes_arrays(declaration: Declaration) -> bool:
    """Return whether the shortcuts of a function take arrays: of one that may return views, or several arrays."""
    return bool(declaration.view_map) or not declaration.returns_one_array
