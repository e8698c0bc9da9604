"""Objects that stand for functions are copied and pickled as functions are.

One that its module has under its name is pickled by that name. ``cloudpickle`` takes functions that another process
can't import by value, such as those of ``__main__``, but asks objects only how to make them again. So an object is made
of functions whose names lead to attributes of it, such as ``f._plainly``. Whether these are pickled by name or by value
is decided as for any function.
"""

from __future__ import annotations

import copy
import functools
import sys
from collections.abc import Callable
from pickle import PicklingError
from types import FunctionType, MethodType
from typing import Any, Self

# The attributes under which an object has the functions that it's pickled as.
PLAINLY, HOW, STATE = "_plainly", "_how", "_state"


def found_by_name(function: Any) -> Any:
    """Return what a function's module has under its name, ``None`` if nothing."""
    return _found(getattr(function, "__module__", None), getattr(function, "__qualname__", ""))


def _found(module: str | None, name: str) -> Any:
    target: Any = sys.modules.get(module or "")
    for part in name.split("."):
        target = getattr(target, part, None)
    return target


def qualified(function: Any) -> str:
    """Return the name of a function, which its module has to have under that."""
    if found_by_name(function) is not function:
        raise PicklingError(
            f"{function!r} can't be pickled, since module {function.__module__} has no {function.__qualname__} that is "
            "it: define it at the top of a module, or in a class there, by that name"
        )
    return str(function.__qualname__)


class Wrapper:
    """An object that stands for a function: what ``make(function, *args, **kwargs)`` returned.

    A deep copy of it stands for a copy of the function, which is the function itself unless that is a method or another
    object.
    """

    _function: Callable[..., Any]

    def _stand_for(self, function: Callable[..., object]) -> None:
        """Take the name and the documentation of a function."""
        # The attributes of another such object are its own.
        updated = () if isinstance(function, Wrapper) else functools.WRAPPER_UPDATES
        functools.update_wrapper(self, function, updated=updated)  # type: ignore[arg-type]
        self._function = function

    def _made_by(self) -> tuple[Callable[..., Any], tuple[object, ...], dict[str, object]]:
        """Return what makes it of its function, and the other arguments of that."""
        raise NotImplementedError

    def _declared(self) -> dict[str, object]:
        """Return the attributes that were set once it was made."""
        return {}

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Bind the function to an instance, as a method."""
        return self if instance is None else MethodType(self, instance)  # type: ignore[arg-type]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        function = copy.deepcopy(self._function, memo)
        return self if function is self._function else self._like(function)

    def _like(self, function: Callable[..., Any]) -> Self:
        """Return what stands for another function in the same way."""
        make, args, kwargs = self._made_by()
        made: Self = make(function, *args, **kwargs)
        vars(made).update(self._declared())
        return made

    def __reduce_ex__(self, protocol: Any) -> str | tuple[object, ...]:
        is_named = found_by_name(self) is self
        if is_named and (protocol < 4 or not isinstance(_innermost(self), FunctionType)):
            # Older pickles have no names of attributes of objects.
            return qualified(self)
        if is_named:
            return _made_again, (self._plainly, self._how), self._state if self._declared() else None
        make, args, kwargs = self._made_by()
        return _made, (_to_pickle(self._function), make, args, kwargs), self._declared() or None

    def __setstate__(self, state: FunctionType | dict[str, object]) -> None:
        vars(self).update(vars(state)["held"] if isinstance(state, FunctionType) else state)

    @property
    def _plainly(self) -> FunctionType:
        """The innermost function, by another name."""
        function = _innermost(self)
        made = FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        functools.update_wrapper(made, function)
        del vars(made)["__wrapped__"]
        made.__kwdefaults__ = function.__kwdefaults__
        return self._by_name(PLAINLY, made)

    @property
    def _how(self) -> FunctionType:
        make, args, kwargs = self._made_by()
        function = self._function if isinstance(self._function, Wrapper) else self._plainly
        return self._by_name(HOW, _holding((function, make, args, kwargs)))

    @property
    def _state(self) -> FunctionType:
        return self._by_name(STATE, _holding(self._declared()))

    def _by_name(self, name: str, made: FunctionType) -> FunctionType:
        """Return a function that is found under a name; the same one each time."""
        known: dict[str, FunctionType] = vars(self).setdefault("_named", {})
        if name not in known:
            made.__module__ = self.__module__
            made.__qualname__ = f"{vars(self)['__qualname__']}.{name}"
            known.setdefault(name, made)
        elif name != PLAINLY:
            vars(known[name]).update(vars(made))
        return known[name]


def _holding(value: object) -> FunctionType:
    """Return a function with an attribute, which ``cloudpickle`` pickles with it."""

    def holder() -> None: ...

    vars(holder)["held"] = value
    return holder  # type: ignore[return-value]


def _innermost(function: Any) -> Any:
    while isinstance(function, Wrapper):
        function = function._function
    return function


def _to_pickle(function: Any) -> Any:
    """Return what can be pickled for a function whose name is that of an object that stands for it."""
    named = found_by_name(function) if isinstance(function, FunctionType) else None
    if isinstance(named, Wrapper) and _innermost(named) is function:
        return named._plainly
    return function


def _owner(function: Any, name: str) -> Wrapper | None:
    """Return the object that has a function under a name of its own."""
    found = _found(function.__module__, function.__qualname__.removesuffix(f".{name}"))
    is_owner = isinstance(found, Wrapper) and vars(found).get("_named", {}).get(name) is function
    return found if is_owner else None


def _as_it_was(function: Any) -> Any:
    """Return the function that was pickled by another name."""
    if not isinstance(function, FunctionType) or not function.__qualname__.endswith(f".{PLAINLY}"):
        return function
    owner = _owner(function, PLAINLY)
    if owner is not None:
        return _innermost(owner)
    function.__qualname__ = function.__qualname__.removesuffix(f".{PLAINLY}")
    return function


def _made(function: Any, make: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    return make(_as_it_was(function), *args, **kwargs)


def _made_again(function: Any, how: Any) -> Any:
    # ``function`` comes first, since it may refer to the object itself.
    return _owner(how, HOW) or _made(*how.held)
