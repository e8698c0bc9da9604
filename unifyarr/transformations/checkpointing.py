"""``checkpoint``: what a function computes isn't kept for its derivative, but computed again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .._core.arrays.array import Array, wrap
from .._core.arrays.ownership import read
from .._core.engines.handle import Handle
from .._core.engines.tracing import capture
from .._core.values.arguments import check_callable
from .._core.values.called import boundary
from ..derivatives.walks.forward import push
from ..derivatives.walks.reverse import pull
from ..modes.side_effects import silenced
from ..modes.tape.entries import Taped, at_places
from ..modes.tape.function_calls import (
    Apart,
    FlatNest,
    constant,
    later,
    natives_of,
    recording_of,
    where_natives_are,
    wrapped,
)
from ..modes.tape.handle import TapeHandle, tape_of
from .returned import Transformed
from .run import write

Function = TypeVar("Function", bound=Callable[..., Any])


@boundary
def checkpoint(function: Function, /) -> Function:
    """Return a function whose derivative runs it once more, in place of keeping what it computes.

    A derivative keeps what it needs of each call until it comes back to it. Of a call of this function it keeps the
    arguments alone; on its way back it runs the function again. That takes the time of one more call, and the memory of
    one call at a time.

    Parameters
    ----------
    function
        A function of arrays, containers and other nests of arrays, and of other values. It may write to its arguments
        and to arrays from outside. Called again on the same values it computes the same.

    Returns
    -------
    Callable
        A function of the same arguments with the same results. Where no derivative is taken it's the same. In a
        compiled function the second computation isn't merged with the first. Inside an engine's own derivative, one
        with ``backend=``, the engine keeps what it would.

    Examples
    --------
    >>> import unifyarr as ua
    >>> @ua.checkpoint
    ... def layer(x, weight):
    ...     x = ua.tanh(x @ weight)
    ...     x *= 2
    ...     return x
    >>> def loss(weight, x):
    ...     for _ in range(3):
    ...         x = layer(x, weight)
    ...     return ua.sum(x)
    >>> ua.grad(loss)(ua.asarray([[0.0, 1.0], [0.5, 0.0]]), ua.asarray([0.0, 0.0]))
    array([[0., 0.],
           [0., 0.]])

    Source: ``jax.checkpoint``, ``torch.utils.checkpoint.checkpoint``.
    """
    check_callable(function, "checkpoint()")

    def held(*args: Any, **kwargs: Any) -> Any:
        tape = recording_of()
        return function(*args, **kwargs) if tape is None else _Held(function, (args, kwargs)).recorded(tape)

    return Transformed(held, function, checkpoint)  # type: ignore[return-value]


class _Held:
    """One call of a function: its arguments, the arrays from outside that it reads, and what it writes."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._function, self._given = function, FlatNest(arguments)
        self._met: list[tuple[Array, int, Any]] = []
        # The places of the arguments, and of the arrays from outside, that it writes.
        self._written: list[int] = []
        self._changed: list[int] = []
        self._count = self._generation = 0

    def recorded(self, tape: TapeHandle) -> Any:
        """Run the function apart from a record, make it one entry there, and return the result."""
        self._generation = tape.generation + 1
        arguments = [capture(x) for x in self._given.arrays]
        natives = [read(x) for x in arguments]
        self._given.forget()
        scope = Apart(tape)
        with scope.running():
            inner = wrapped([constant(Taped(native)) for native in natives], scope.handle)
            before = [x._native for x in inner]
            result = self._run(inner)
            self._written = [place for place, x in enumerate(inner) if x._native is not before[place]]
            captured = [each.array for each in scope.captured]
            self._changed = [
                place for place, each in enumerate(scope.captured) if each.stand_in._native is not each.before
            ]
            outputs = self._outputs(result, inner, [each.stand_in for each in scope.captured])
            self._met, self._count = scope.met(), len(result.places)
        values = [x.value.value for x in outputs]
        given = [*natives, *scope.natives]
        made = tape.recorded(self.of_all, given, values, pushed=self.pushed)
        targets = [*(arguments[place] for place in self._written), *(captured[place] for place in self._changed)]
        write(targets, made[self._count :], [*arguments, *captured])
        return result.like([wrap(native, tape) for native in made[: self._count]])

    def _run(self, arrays: Sequence[Array]) -> FlatNest:
        args, kwargs = self._given.like(arrays)
        return FlatNest(self._function(*args, **kwargs)).captured()

    def _outputs(self, result: FlatNest, inner: Sequence[Array], captured: Sequence[Array]) -> list[Any]:
        written = [*(inner[place] for place in self._written), *(captured[place] for place in self._changed)]
        return natives_of([*result.arrays, *written])

    def _again(self, handle: Handle, natives: Sequence[Any]) -> list[Any]:
        """Return natives of the outputs, for those of a record of a backend in the places of what was given and met."""
        scope = Apart(handle, self._generation)
        with scope.running(), silenced():
            arrays = wrapped(natives, scope.handle)
            count = len(self._given.places)
            scope.puts(self._met, arrays[count:])
            result = self._run(arrays[:count])
            if len(result.places) != self._count:
                raise TypeError(
                    f"a function of checkpoint() returned {self._count} arrays, and {len(result.places)} when it was "
                    "called again for the derivative: let it compute the same each time"
                )
            return self._outputs(result, arrays[:count], arrays[count:])

    def of_all(self, k: Any, needs: Sequence[bool], g: Sequence[Any], out: Sequence[Any], *operands: Any) -> list[Any]:
        """Return the cotangents of what the function was given and met."""
        places = [place for place, needed in enumerate(needs) if needed]
        with where_natives_are(k.handle) as handle:
            tape = tape_of(handle, self._generation)
            values = later(handle, operands, [each for each in g if each is not None])
            leaves, natives = tape.leaves(values, places)
            found = self._again(handle, natives)
            pairs = [(x, cotangent) for x, cotangent in zip(found, g, strict=True) if cotangent is not None]
            pulled = pull(tape.k, tape.writers, pairs, leaves, [values[place] for place in places], True)
        return at_places(len(operands), places, pulled)

    def pushed(self, k: Any, tangents: Sequence[Any], *operands: Any) -> list[Any]:
        """Return the tangents of what the function computes and writes."""
        places = [place for place, tangent in enumerate(tangents) if tangent is not None]
        with where_natives_are(k.handle) as handle:
            tape = tape_of(handle, self._generation)
            leaves, natives = tape.leaves(operands, places)
            found = self._again(handle, natives)
            return push(tape, found, {leaf: tangents[place] for leaf, place in zip(leaves, places, strict=True)})
