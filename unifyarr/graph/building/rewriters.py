"""Rewriters of single nodes: functions of a graph and a node, and patterns that are replaced."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..._core.declaring.declare import DECLARATIONS, Declaration
from ..._core.kernels.record import KERNELS, Alias
from ..._core.values.called import boundary
from ..core.basic import Apply, Constant, Op, Variable
from ..core.fgraph import FunctionGraph
from ..core.rewriting import Rule
from ..kernels.kernelop import KernelOp
from ..kernels.user_op_nodes import UserOp
from .arraytypes import known_values
from .variables import apply

# What a rewriter looks for: an operation, a class of operations, a name, or a function of arrays.
Head = Any
# The categories of functions that are made of others, and come to no operation of their own.
_COMPOSED = frozenset({"compositional", "view", "creation"})


class NodeRewriter:
    """A rewriter of single nodes, which is called on a graph and each node; see ``node_rewriter``."""

    def __init__(self, function: Rule, ops: Sequence[Head] = (), name: str | None = None) -> None:
        if not callable(function):
            raise TypeError(f"a rewriter is a function of a graph and a node, not {function!r}")
        for head in ops:
            _check_head(head)
        self._function, self._ops = function, tuple(ops)
        self.__name__ = name or getattr(function, "__name__", type(function).__name__)

    def __call__(self, fgraph: FunctionGraph, node: Apply) -> Sequence[Variable | None] | None:
        """Return replacements of the outputs of a node, or ``None`` to change nothing."""
        if self._ops and not any(_is_headed(node, head) for head in self._ops):
            return None
        return self._function(fgraph, node)

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self._key() == other._key())

    def __hash__(self) -> int:
        return hash((type(self), self.__name__))

    def _key(self) -> tuple[object, ...]:
        return (self._function, self._ops, self.__name__)

    def __repr__(self) -> str:
        return f"<node rewriter {self.__name__}>"


@boundary
def node_rewriter(*ops: Head, name: str | None = None) -> Callable[[Rule], NodeRewriter]:
    """Return a decorator that makes a function a rewriter of nodes.

    Parameters
    ----------
    *ops
        The operations whose nodes the function is called for, by default all: an ``Op``, a class of these, a function
        of arrays such as ``ua.exp``, or the name that an operation has in a graph.
    name
        The name of the rewriter, by default the function's.

    Returns
    -------
    Callable
        A decorator for a function of a graph and a node. That returns a list with a replacement for each output of the
        node, in which ``None`` stands for one that stays, or ``None`` if the rewriter does nothing there.

    Examples
    --------
    >>> import unifyarr as ua
    >>> @ua.graph.node_rewriter(ua.multiply)
    ... def square(fgraph, node):
    ...     x, y = node.inputs
    ...     return [ua.square(x)] if x is y else None
    >>> f = ua.compile(lambda x: ua.sin(x) * ua.sin(x), rewrites=[square], exclude="fuse")
    >>> x = ua.asarray([0.0])
    >>> [node.op.name for node in f.graph(x).toposort()]
    ['sin', 'square']

    Source: ``node_rewriter`` of PyTensor.
    """
    return lambda function: NodeRewriter(function, ops, name)


class PatternRewriter(NodeRewriter):
    """A rewriter that replaces what looks like a pattern; see ``pattern_rewriter``."""

    def __init__(
        self, pattern: object, replacement: object, when: Callable[..., bool] | None, name: str | None
    ) -> None:
        if not isinstance(pattern, tuple) or not pattern:
            raise TypeError(f"a pattern begins with an operation, as (ua.exp, 'x') does, not {pattern!r}")
        names = _check_pattern(pattern)
        _check_replacement(replacement, names)
        self._pattern, self._replacement, self._when = pattern, replacement, when
        super().__init__(self._rewritten, (pattern[0],), name or f"{_text(pattern)} -> {_text(replacement)}")

    def _key(self) -> tuple[object, ...]:
        return (self._pattern, self._replacement, self._when, self.__name__)

    def _rewritten(self, fgraph: FunctionGraph, node: Apply) -> Sequence[Variable | None] | None:
        found: dict[str, Variable] = {}
        if len(node.outputs) != 1 or not _match(self._pattern, node.outputs[0], found):
            return None
        if self._when is not None and not self._when(**found):
            return None
        return [_build(self._replacement, found)]


@boundary
def pattern_rewriter(
    pattern: object, replacement: object, *, when: Callable[..., bool] | None = None, name: str | None = None
) -> PatternRewriter:
    """Return a rewriter that replaces what looks like a pattern.

    Parameters
    ----------
    pattern
        A tuple of an operation and what it's applied to. The operation is as ``node_rewriter`` takes it; an argument is
        a pattern again, a number, which stands for a constant of that value, or a string, which stands for any
        variable: for the same one wherever it stands. A dictionary at the end has static arguments of the operation,
        such as ``{"axis": (0,)}``; ``...`` allows any. Without either it has none.
    replacement
        Such a tuple, a string or a number; its operations are functions of arrays or operations. Or a function of the
        variables, by their names, that returns the variable.
    when
        A function of the variables, by their names, that says whether to replace.
    name
        The name of the rewriter, by default the text of the pattern.

    Examples
    --------
    >>> import unifyarr as ua
    >>> rule = ua.graph.pattern_rewriter((ua.log, (ua.add, 1, (ua.exp, "x"))), (ua.logaddexp, "x", 0.0))
    >>> rule
    <node rewriter log(add(1, exp(x))) -> logaddexp(x, 0.0)>
    >>> f = ua.compile(lambda x: ua.log(1 + ua.exp(x)), rewrites=[rule])
    >>> float(f(ua.asarray(1000.0)))
    1000.0

    Source: ``PatternNodeRewriter`` of PyTensor.
    """
    return PatternRewriter(pattern, replacement, when, name)


def _check_head(head: Head) -> None:
    if isinstance(head, (Op, str)) or (isinstance(head, type) and issubclass(head, Op)):
        return
    declaration = _declaration_of(head)
    if declaration is None:
        raise TypeError(f"an operation is an Op, a class of these, a function of arrays or a name, not {head!r}")
    record = KERNELS.get(declaration.name)
    is_view = record is not None and record.alias is Alias.VIEW
    is_kernel = declaration.category not in _COMPOSED or is_view
    if not is_kernel and declaration.operation is None:
        raise ValueError(
            f"{declaration.qualified_name}() is no operation of graphs, but made of others: print(ua.graph.trace(...)) "
            "shows which, and a string names one of them"
        )


def _declaration_of(function: object) -> Declaration | None:
    name = getattr(function, "__name__", None)
    found = DECLARATIONS.get(name) if isinstance(name, str) else None
    if found is not None and found.public is function:
        return found
    return next((each for each in list(DECLARATIONS.values()) if each.public is function), None)


def _is_headed(node: Apply, head: Head) -> bool:
    op = node.op
    if isinstance(head, Op):
        return op == head or op in head.inplace
    if isinstance(head, type):
        return isinstance(op, head)
    if isinstance(head, str):
        return op.name == head
    return isinstance(op, (KernelOp, UserOp)) and op.name == head.__name__


def _parts(pattern: tuple[Any, ...]) -> tuple[Any, Sequence[Any], Mapping[str, Any] | None]:
    """Return the operation of a pattern, its arguments, and the static ones; ``None`` if they may be any."""
    head, *arguments = pattern
    if arguments and arguments[-1] is ...:
        return head, arguments[:-1], None
    static = arguments.pop() if arguments and isinstance(arguments[-1], Mapping) else {}
    return head, arguments, static


def _check_pattern(pattern: object) -> set[str]:
    """Return the names of the variables of a pattern; raise if it can't be one."""
    if isinstance(pattern, str):
        return {pattern}
    if isinstance(pattern, (bool, int, float, complex)):
        return set()
    if not isinstance(pattern, tuple) or not pattern:
        raise TypeError(f"a pattern has tuples, names of variables and numbers, not {pattern!r}")
    head, arguments, _ = _parts(pattern)
    _check_head(head)
    return set().union(*map(_check_pattern, arguments))


def _check_replacement(replacement: object, names: set[str]) -> None:
    if isinstance(replacement, str) and replacement not in names:
        raise ValueError(f"the replacement names {replacement!r}, but the pattern has {', '.join(sorted(names))}")
    if isinstance(replacement, tuple):
        if not replacement or not callable(replacement[0]):
            raise TypeError(f"a replacement begins with an operation, as (ua.exp, 'x') does, not {replacement!r}")
        for each in _parts(replacement)[1]:
            _check_replacement(each, names)
    elif not isinstance(replacement, (str, bool, int, float, complex)) and not callable(replacement):
        raise TypeError(f"a replacement has tuples, names and numbers, or is a function, not {replacement!r}")


def _match(pattern: object, variable: Variable, found: dict[str, Variable]) -> bool:
    """Return whether a variable is computed as a pattern says; ``found`` gets the variables that have names."""
    if isinstance(pattern, str):
        known = found.setdefault(pattern, variable)
        return known is variable or _are_equal(known, variable)
    if not isinstance(pattern, tuple):
        values = known_values(variable)
        return values is not None and values.shape == () and bool(values == pattern)
    head, arguments, static = _parts(pattern)
    node = variable.owner
    if node is None or len(node.outputs) != 1 or len(node.inputs) != len(arguments) or not _is_headed(node, head):
        return False
    if static is not None and dict(getattr(node.op, "static", {})) != dict(static):
        return False
    return all(_match(each, given, found) for each, given in zip(arguments, node.inputs, strict=True))


def _are_equal(first: Variable, second: Variable) -> bool:
    if isinstance(first, Constant) and isinstance(second, Constant):
        return first.signature() == second.signature()
    return False


def _build(replacement: object, found: Mapping[str, Variable]) -> Any:
    """Return the variable of a replacement."""
    if isinstance(replacement, str):
        return found[replacement]
    if not isinstance(replacement, tuple):
        return replacement(**found) if callable(replacement) else replacement
    head, arguments, static = _parts(replacement)
    given = [_build(each, found) for each in arguments]
    if isinstance(head, Op):
        return head(*(each if isinstance(each, Variable) else Constant(each) for each in given))
    if isinstance(head, type):
        return head(**(static or {}))(*given)
    return apply(functools.partial(head, **(static or {})), *given)


def _text(pattern: object) -> str:
    if isinstance(pattern, tuple):
        head, arguments, _ = _parts(pattern)
        name = head if isinstance(head, str) else getattr(head, "__name__", str(head))
        return f"{name}({', '.join(map(_text, arguments))})"
    return getattr(pattern, "__name__", str(pattern))
