"""Operands that are temporaries: nothing reads ``x + y`` in ``(x + y) * z`` once the product is there.

The compiled part finds them, on Linux with CPython 3.11 to 3.13: its source, ``native/temporaries.c``, says how.
Without it no operand is taken for a temporary, and large results take memory that is free.
"""

from __future__ import annotations

import opcode
from collections.abc import Callable
from typing import Any

_UNARY = {"neg": "-", "invert": "~"}
_BINARY = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
}
_INSTRUCTIONS = ("BINARY_OP", "UNARY_NEGATIVE", "UNARY_INVERT")


def _none(*operands: Any) -> int:
    return 0


def _probe(learn: Callable[[Any], bool]) -> type:
    """Return a class, each of whose operators remembers how the interpreter calls it."""
    # Of each operand that may be a temporary, as in a compiled operator: the call is in the operator's own frame.
    methods: dict[str, Any] = {f"__{name}__": lambda self: learn(self) for name in _UNARY}
    methods |= {f"__{name}__": lambda self, other: learn(self) for name in _BINARY}
    methods |= {f"__r{name}__": lambda self, other: learn(self) for name in _BINARY}
    return type("Probe", (), methods)


def _find() -> Callable[..., int]:
    try:
        from . import _temporaries as part  # type: ignore[attr-defined]
    except ImportError:
        return _none
    if not part.prepare([opcode.opmap[name] for name in _INSTRUCTIONS]):
        return _none
    names = {"probe": _probe(part.learn)}
    texts = [f"{symbol}probe()" for symbol in _UNARY.values()]
    for symbol in _BINARY.values():
        texts += [f"probe() {symbol} 2", f"2 {symbol} probe()"]
    # All or none: what is left is the same interpreter.
    return part.dying if all(eval(text, names) for text in texts) else _none


# Returns which of one or two operands, passed by their operator itself, are temporaries: 1, 2, 3 for both, or 0.
dying = _find()
# Whether it finds any.
FINDS = dying is not _none
