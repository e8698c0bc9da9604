"""Compiled functions that use up arrays, so that an interrupt loses nothing.

Python runs signal handlers after any function call, before the result is stored. An interrupt there would lose both the
donated array and the result. So the call and the store of its result are one step for Python: a list is extended by an
iterator that makes the call. JAX runs Python code of its own during the call, where no signal handler may run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, starmap
from operator import attrgetter
from typing import Any

import jax

from ..interrupts import undisturbed
from ._devices import jit
from ._memory import copied
from ._private import ARRAYS, COMMITTED, SHARDING


class Donating:
    """A function, compiled by JAX, that uses up the arguments at some places.

    A call takes a list ``results``, and adds the result in the step that uses up the arguments. Until then the
    arguments are valid; from then on the result is there. A function with ``several`` results adds each of them.
    """

    def __init__(
        self, function: Callable[..., Any], places: Sequence[int], *, static: Sequence[str] = (), several: bool = False
    ) -> None:
        self._places, self._several = tuple(places), several
        self._compiled: Any = jit(function, static_argnames=static, inline=True, donate_argnums=self._places)
        # How many signatures JAX has compiled, where it tells.
        self._size: Callable[[], int] = getattr(self._compiled, "_cache_size", lambda: 1)
        self._known: set[Any] = set()
        self._last: Any = None

    def __call__(self, *natives: Any, results: list[Any], **static: Any) -> Any:
        """Call the function, and return what ``results`` ends with."""
        try:
            signature = (*map(_kind_of_array, natives), *static.values())
        except AttributeError:
            signature = (*map(_kind, natives), *static.values())
        # A signature is compared by identity first, and isn't hashed then.
        is_known = (signature == self._last or signature in self._known) and self._size()
        if not is_known:
            natives = self._copied(natives)
        call = partial(self._compiled, **static) if static else self._compiled
        made = starmap(call, (natives,))
        undisturbed(results.extend, chain.from_iterable(made) if self._several else made)
        if not is_known:
            # An interrupted call may not have finished its one-time setup.
            self._known.add(signature)
        self._last = signature
        return results[-1]

    def _copied(self, natives: tuple[Any, ...]) -> tuple[Any, ...]:
        # The first call for a signature runs a lot of Python inside of JAX, also after the arguments are used up: it
        # uses up copies. So do the first calls after JAX has forgotten all that was compiled.
        if not self._size():
            self._known.clear()
        return tuple(copied(native) if place in self._places else native for place, native in enumerate(natives))


_kind_of_array = attrgetter("aval", SHARDING, COMMITTED)


def _kind(native: Any) -> Any:
    # JAX's key for the look-up of a compiled function.
    if type(native) is ARRAYS[0]:
        return _kind_of_array(native)
    if isinstance(native, jax.Array):
        return native.aval, native.sharding, getattr(native, "committed", True)
    return type(native), getattr(native, "shape", None), getattr(native, "dtype", None)
