"""``with ua.debug():``, the eager face of Theano's DebugMode: every call is held against what is declared of it.

Fast paths serve no call of the thread or task meanwhile, so that every call goes through ``handle_debug``, one of the
concerns. It keeps the values of all arguments, runs the call, and compares. What a write changes beside its target is
found on a mirror: a copy of the memory from before the write, on which NumPy repeats it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arrays.array import Array, owner, wrap
from .._core.arrays.ownership import LOCK, peek
from .._core.arrays.recipes import is_recipe, root_of
from .._core.arrays.views import get_through, put_through, steps_at
from .._core.engines.comparing import agree, native_values, natives_share_memory, same_bits
from .._core.engines.natives import backend_of_native
from .._core.engines.registry import load
from .._core.engines.tracing import checked
from .._core.values.records import Record
from .._core.values.scopes import scope
from ..errors import BadDestroyMap, BadInplace, BadOut, BadViewMap, DebugModeError

if TYPE_CHECKING:
    from .._core.declaring.declare import Declaration
    from .._core.declaring.operands import Call, Handler


@scope
def debug() -> Iterator[None]:
    """Check every call inside a ``with`` block, or inside a function that this decorates.

    Checked are functions, operators, indexing and updates in place, for what they do to memory: a result shares memory
    only with the arguments that the function's ``view_map`` allows; no argument changes but ``out``; of the array that
    ``out`` is a view of nothing changes beside it; what is written to ``out`` is what the call returns without; and a
    call that raises has changed nothing. Inside an engine's trace, where no values are known, only the first is.

    This is for tests of backends and of functions, not for work: it copies every argument of every call, and computes
    calls with ``out=`` twice. The scope is a context variable: calls of other threads and tasks aren't checked, and are
    as fast as ever. What they write to the arguments of a checked call is reported as that call's doing.

    Raises
    ------
    BadViewMap, BadDestroyMap, BadOut, BadInplace
        At the call that did it; all of them are a ``DebugModeError``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.zeros(4)
    >>> with ua.debug():
    ...     x[1:3] += 1
    >>> x
    array([0., 1., 1., 0.])
    """
    with checked(True):
        yield


class Argument(Record):
    """An array that was passed, and the values it had."""

    # As ``view_map`` counts them.
    position: int
    name: str
    array: Array
    before: np.ndarray | None

    @staticmethod
    def of(name: str, value: object, position: int = 0) -> Argument | None:
        """Return what was passed if that's an array, or an engine's own."""
        array = array_in(value)
        return None if array is None else Argument(position, name, array, values_of(array) if is_known(array) else None)

    @property
    def is_unchanged(self) -> bool:
        """Whether the values are what they were, bit for bit."""
        return self.before is None or same_bits(self.before, values_of(self.array))


class Mirror:
    """The memory of an array that owns it, as it was before a write."""

    def __init__(self, root: Array) -> None:
        self.root = root
        self.memory = values_of(root)

    def repeat(self, target: Array, values: Any) -> bool:
        """Write values to what mirrors a target; say whether there is such a thing."""
        part: Any = self._part(root_of(target))
        if part is None:
            return False
        if is_recipe(target):
            backend = target._backend
            steps = steps_at(target._steps, lambda index: native_values(backend, index))
            put_through(load("numpy"), part, steps, values)
        else:
            part[...] = values
        return True

    def _part(self, array: Array) -> np.ndarray | None:
        if array is self.root:
            return self.memory
        # A native view lies in the mirror where it lies in the memory, which may be that of an accelerator. Memory of
        # unknown address, or that has holes, which no copy has, can't be mirrored.
        whole, part = (array._backend.layout(each._native) for each in (self.root, array))
        flat = self.memory.ravel(order="K")
        if whole is None or part is None or not part.size or not np.may_share_memory(whole, part):
            return None
        if self.memory.strides != whole.strides or not np.may_share_memory(flat, self.memory):
            return None
        return np.ndarray(part.shape, values_of(array).dtype, flat, _address(part) - _address(whole), part.strides)

    @property
    def is_same(self) -> bool:
        """Whether the memory is what the mirror shows."""
        return same_bits(self.memory, values_of(self.root))


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def array_in(value: Any) -> Array | None:
    """Return what was passed as an array if it's one, or an engine's own; ``None`` for data, which is copied."""
    if isinstance(value, Array):
        return value
    backend = load("numpy") if isinstance(value, np.ndarray) else backend_of_native(value)
    return None if backend is None else wrap(value, backend)


def is_known(array: Array) -> bool:
    """Return whether an array has values at hand: it may have none inside a trace, and on a lazy engine it has none."""
    backend = array._backend
    return backend.trace() is None and backend.knows_values(peek(root_of(array)))


def values_of(array: Array) -> np.ndarray:
    """Return a copy of an array's values that leaves no trace: no run of writes ends, no engine's cache holds them."""
    backend = array._backend
    with LOCK:
        native = backend.read(peek(root_of(array)))
        if is_recipe(array):
            native = get_through(backend, native, array._steps)
        return native_values(backend, native)


def share_memory(first: Array, second: Array) -> bool:
    """Return whether a write to one of two arrays may be seen through the other."""
    backend = first._backend
    if owner(first) is owner(second):
        return True
    if backend is not second._backend or not (is_known(first) and is_known(second)):
        return False
    one, other = peek(root_of(first)), peek(root_of(second))
    if backend.can_write(one) or backend.can_write(other):
        return natives_share_memory(backend, one, other)
    # Of an immutable native a write makes another one, unless it's donated: the very same object is never.
    owned = getattr(root_of(first), "_owned", False) or getattr(root_of(second), "_owned", False)
    return owned and one is not other and bool(backend.may_share_memory(one, other))


class CallCheck:
    """What is known before a call, to be held against what is found after it."""

    def __init__(self, what: str, arguments: list[Argument], targets: list[Argument]) -> None:
        self.what = what
        self.targets = targets
        # What shares memory with a target is seen in that target's mirror.
        self.arguments = [
            each for each in arguments if not any(share_memory(each.array, target.array) for target in targets)
        ]
        known = targets if all(target.before is not None for target in targets) else []
        self.mirrors = [Mirror(root) for root in {id(root): root for root in (owner(x.array) for x in known)}.values()]
        self.backend = next((each.array.backend for each in (*targets, *arguments)), "numpy")

    def __enter__(self) -> CallCheck:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Check a call that has raised."""
        if isinstance(error, Exception) and not isinstance(error, DebugModeError):
            self.check_arguments()
            if not all(mirror.is_same for mirror in self.mirrors):
                raise BadOut(self._says(f"raised, but had written to {self._targets}: check all before the write"))

    def check_arguments(self) -> None:
        """Raise if an argument changed."""
        for argument in self.arguments:
            if not argument.is_unchanged:
                raise BadDestroyMap(
                    self._says(
                        f"changed its argument {argument.name}, which is no target of it: let the kernel write to "
                        "memory of its own"
                    )
                )

    def check_targets(self, key: Any = ...) -> None:
        """Raise if something changed beside the targets, or beside what a key picks of them."""
        for mirror in self.mirrors:
            seen = True
            for target in self.targets:
                if target.before is not None and owner(target.array) is mirror.root:
                    values = target.before
                    values[key] = values_of(target.array)[key]
                    seen = mirror.repeat(target.array, values) and seen
            if seen and not mirror.is_same:
                raise BadOut(
                    self._says(
                        f"changed elements beside those that it was to write in {self._targets}: let the write path or "
                        "the kernel write these alone"
                    )
                )

    def check_written(self, expected: list[np.ndarray] | Exception | None) -> None:
        """Raise if the targets hold other values than those of a call without them, or such a call raises."""
        if isinstance(expected, Exception):
            raise BadInplace(
                self._says(
                    f"wrote to {self._targets} where it raises without: {type(expected).__name__}: {expected}. Let it "
                    "check the same both ways"
                )
            ) from expected
        for target, values in zip(self.targets, expected or (), strict=False):
            if target.before is None:
                continue
            with np.errstate(all="ignore"):
                wanted = values.astype(target.before.dtype)
            if not agree(wanted, values_of(target.array)):
                raise BadInplace(
                    self._says(
                        f"wrote other values to {target.name} than it returns without: let the kernel compute the same "
                        "both ways, or take no out="
                    )
                )

    def check_views(self, outputs: list[Array], viewed_by: Callable[[int], tuple[int, ...]]) -> None:
        """Raise if an output shares memory with an argument that ``viewed_by`` doesn't name for it."""
        for place, output in enumerate(outputs):
            allowed = [each for each in self.arguments if each.position in viewed_by(place)]
            for argument in self.arguments:
                # The view of an argument shares memory with all that the argument itself does.
                if any(each is argument or share_memory(each.array, argument.array) for each in allowed):
                    continue
                if share_memory(output, argument.array):
                    which = f"output {place}" if len(outputs) > 1 else "the result"
                    raise BadViewMap(
                        self._says(
                            f"returned a view: {which} shares memory with its argument {argument.name}. Declare "
                            f"view_map={{{place}: ({argument.position},)}}, or return a copy"
                        )
                    )

    @property
    def _targets(self) -> str:
        return " and ".join(each.name for each in self.targets)

    def _says(self, what: str) -> str:
        return f"{self.what} on backend {self.backend!r} {what}"


def check_call(declaration: Declaration, call: Call, call_next: Handler) -> object:
    """Run a call of a declared function, and check it."""
    name = f"{declaration.qualified_name}()"
    given = call.out
    outs = given if isinstance(given, (tuple, list)) else [] if given is None else [given]
    names = ["out"] if outs and outs[0] is given else [f"out[{place}]" for place in range(len(outs))]
    targets = [target for each, value in zip(names, outs, strict=True) if (target := Argument.of(each, value))]
    updated = declaration.updated_by(call.arguments)
    arguments = [each for each in _arguments(declaration, call) if each.name not in updated]
    with CallCheck(name, arguments, targets) as check:
        # What updates arguments would do so twice.
        expected = _without_out(declaration, call, call_next, targets) if targets and not updated else None
        result = call_next(call)
    check.check_arguments()
    if given is None:
        results = result if isinstance(result, tuple) else (result,)
        check.check_views([each for each in results if isinstance(each, Array)], declaration.viewed_by)
    else:
        check.check_targets()
        check.check_written(expected)
    return result


def _arguments(declaration: Declaration, call: Call) -> Iterator[Argument]:
    parameters = call.parameters
    position = 0
    for name, value in call.arguments.items():
        if name == "out":
            continue
        several = isinstance(value, (list, tuple)) and (
            name in parameters.sequences or declaration.category == "creation"
        )
        for place, each in enumerate(value) if several else [(None, value)]:
            argument = Argument.of(name if place is None else f"{name}[{place}]", each, position)
            if argument is not None:
                yield argument
            if argument is not None or name in parameters.arrays | parameters.weak | parameters.sequences:
                position += 1


# Their values are not set.
UNSET = frozenset({"empty", "empty_like"})


def _without_out(
    declaration: Declaration, call: Call, call_next: Handler, targets: list[Argument]
) -> list[np.ndarray] | Exception | None:
    # What the call returns or raises without ``out``, which decides over ``copy`` where it's given.
    if declaration.name in UNSET or any(target.before is None for target in targets):
        return None
    changed = call.without_out(**({"copy": None} if "copy" in call.arguments else {}))
    changed.backend = targets[0].array._backend
    with checked(False):
        try:
            result = call_next(changed)
            return [values_of(each) for each in (result if isinstance(result, tuple) else (result,))]
        except Exception as error:
            # The call itself says what is wrong with it, if it raises too.
            return error


def check_get_item(get_item: Callable[[Array, object], Array], x: Array, key: object) -> Array:
    """Run ``x[key]``, and check it."""
    with checked(False):
        with CallCheck("x[key]", [*_found("x", x), *_found_in_key(key)], []) as check:
            result = get_item(x, key)
        check.check_arguments()
        # A view says so by its base.
        check.check_views([result], lambda _: () if result.base is None else (0,))
        return result


def check_write(what: str, write: Callable[[], None], target: Array, value: object, key: object = ...) -> None:
    """Run a write of a value to what a key picks of a target, and check it."""
    with checked(False):
        arguments = [*_found("value", value), *_found_in_key(key)]
        with CallCheck(what, arguments, _found("x", target)) as check:
            # Before the write, which may change the key itself.
            key = _on_host(key) if check.mirrors else key
            write()
        check.check_arguments()
        check.check_targets(key)


def _found(name: str, value: object, position: int = 0) -> list[Argument]:
    argument = Argument.of(name, value, position)
    return [] if argument is None else [argument]


def _found_in_key(key: object) -> list[Argument]:
    return [each for item in (key if isinstance(key, tuple) else (key,)) for each in _found("key", item, 1)]


def _on_host(key: object) -> object:
    if isinstance(key, tuple):
        return tuple(map(_on_host, key))
    array = array_in(key)
    return key if array is None else values_of(array)
