"""Source texts of dispatchers: fast paths of functions that take several arrays, sequences of them, or return views.

A backend that has none for a function costs a call no more than looking for it.
"""

from __future__ import annotations

from ..declaring.declare import Declaration
from .shortcut_source import absent_in
from .sources import MADE, NAME, PLAIN, fill

# The natives of a sequence.
_SEQUENCE = """
{mark}n{place} = []
for {mark}x in {x}:
    if type({mark}x) is not Array or {mark}x._backend is not backend:
        raise TypeError
    {mark}n{place}.append({mark}x._native)
"""
# Of what may be an array, a number or nothing, which the fast path looks at.
_WEAK = """
{mark}n{place} = {x}
if type({x}) is Array:
    if {x}._backend is not backend:
        raise TypeError
    {mark}n{place} = {x}._native
elif {x} is not None and type({x}) is not int and type({x}) is not float:
    raise TypeError
"""

_SEVERAL = """
if native is not NotImplemented:
    return native
"""


def called_at_once(declaration: Declaration, names: list[str], mark: str) -> str:
    """Return the source of the fast path of a function on plain arrays, which gets their natives and the rest."""
    parameters = declaration.parameters
    operands, absent = parameters.operands, absent_in(declaration, names)
    one = operands[0]
    first = f"{one}[0]" if one in parameters.sequences else one
    conditions = [f"{name} is None" for name in absent]
    if one in parameters.sequences:
        conditions += [f"(type({one}) is list or type({one}) is tuple)", one]
    conditions.append(f"type({first}) is Array")
    look, taken = [], []
    for place, x in enumerate(operands):
        if x in parameters.sequences:
            look += fill(_SEQUENCE, x=x, place=str(place), mark=mark).splitlines()
        elif x in parameters.weak:
            look += fill(_WEAK, x=x, place=str(place), mark=mark).splitlines()
        else:
            if x != one:
                conditions.append(f"type({x}) is Array and {x}._backend is {first}._backend")
            taken.append(f"{x}._native")
            continue
        taken.append(f"{mark}n{place}")
    taken += [name for name in names if name not in (*operands, *absent)]
    base = f"{one} if {one}._base is None else {one}._base" if declaration.view_map else "None"
    return fill(
        PLAIN,
        condition=" and ".join(conditions),
        first=first,
        name=NAME,
        look="\n".join(look),
        taken=", ".join(taken),
        # Of several arrays it gives the result.
        made=fill(MADE, base=base) if declaration.returns_one_array else _SEVERAL,
        mark=mark,
    )
