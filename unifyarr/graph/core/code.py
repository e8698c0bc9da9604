"""What an operation declares as functions: checked, so that no declaration is one that nothing reads."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from types import MethodType
from typing import Any
from weakref import WeakKeyDictionary

# The arguments that each of these functions is called with. ``None`` stands for any number.
ARGUMENTS: Mapping[str, tuple[str, ...] | None] = {
    "infer": None,
    "perform": ("node", "inputs"),
    "grad": ("inputs", "outputs", "cotangents"),
}
# Declarations of Theano, Aesara and PyTensor that nothing reads here -> what to declare.
_ELSEWHERE = {
    "destroyhandler_tolerate_same": "tolerate_same",
    "destroyhandler_tolerate_aliased": "tolerate_aliased",
    "itypes": "infer",
    "otypes": "infer",
    "infer_shape": "infer",
    "L_op": "grad",
    "pullback": "grad",
    "default_output": "nout",
}
# Long enough that what is spelt almost like one of them is meant to be it.
_LONG = ("view_map", "destroy_map", "tolerate_same", "tolerate_aliased", "inplace", "perform")
# Whether a method takes a buffer for the result.
_METHODS: MutableMapping[Callable[..., object], bool] = WeakKeyDictionary()


def check_known(owner: str, name: str) -> None:
    """Raise if an attribute of an operation looks like a declaration, and nothing reads it."""
    meant = _ELSEWHERE.get(name)
    if meant is None and name not in _LONG and not name.startswith("_"):
        meant = _almost(name)
    if meant is not None:
        raise TypeError(f"{name} of {owner} is a declaration that nothing reads: declare {meant}")


@functools.cache
def _almost(name: str) -> str | None:
    """Return the declaration that is spelt almost like a name; names are those of attributes, so that they are few."""
    return next(iter(difflib.get_close_matches(name, _LONG, 1, 0.85)), None)


def check_code(owner: str, name: str, function: object, *, bound: bool = True) -> None:
    """Raise unless a function can be called with the arguments of ``infer``, ``perform`` or ``grad``.

    ``bound`` says that it takes no ``self``.
    """
    if not callable(function):
        raise TypeError(f"{name} of {owner} is a function, not {function!r}")
    wanted = ARGUMENTS[name]
    if wanted is None:
        return
    given = wanted if bound else ("self", *wanted)
    try:
        inspect.signature(function).bind(*given)
    except ValueError:
        # Some functions that aren't written in Python have no signature.
        return
    except TypeError as error:
        more = " and returns the results; it fills no lists" if name == "perform" else ""
        raise TypeError(f"{name} of {owner} takes {', '.join(wanted)}{more}, but {error}") from None


def takes_out(perform: Callable[..., object]) -> bool:
    """Return whether the function that computes an operation takes a buffer for the result."""
    if not isinstance(perform, MethodType):
        return _takes(perform, "node", "inputs", "out")
    # One function of a class serves all its operations.
    function = perform.__func__
    found = _METHODS.get(function)
    if found is None:
        found = _METHODS[function] = _takes(function, "self", "node", "inputs", "out")
    return found


def _takes(function: Callable[..., object], *arguments: str) -> bool:
    try:
        inspect.signature(function).bind(*arguments)
    except ValueError:
        return True
    except TypeError:
        return False
    return True


def check_types(owner: str, nout: int, found: object) -> Sequence[Any]:
    """Return the list of types that ``infer`` gave for the outputs of an operation; raise if it can't be right."""
    types = found if isinstance(found, Sequence) and not hasattr(found, "dtype") else [found]
    if len(types) != nout:
        raise TypeError(f"infer of {owner} returns {nout} types, one for each output, not {len(types)}")
    for each in types:
        if each is not None and not (hasattr(each, "shape") and hasattr(each, "dtype")):
            raise TypeError(f"infer of {owner} returns types, with a shape and a dtype, or None, not {each!r}")
    return types
