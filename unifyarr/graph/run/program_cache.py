"""The programs of a compiled function: one for each cache key, made when it's first asked for."""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ..._core.arrays.array import Array
from ..._core.engines.handle import Handle
from ..._core.engines.registry import load
from ...backends.forks import free_after_fork
from ...modes.trace.crossing import Crossing
from ...modes.trace.implicit import Implicit, PlaceTracer, State
from ..core.names import leaf_parameters
from .any_lengths import AnyLengths, Types, any_length_key
from .cache_keys import cache_key, state_key, structure_key
from .options import Options
from .program_calls import CalledProgram
from .program_watch import ProgramWatch
from .trace_log import tell_dropped, tell_traced


class ProgramCache:
    """The programs of a function, as many as its options say; ``name`` is what it's called in messages.

    Beyond that number the one that was called longest ago is dropped.
    """

    def __init__(self, function: Callable[..., object], name: str, options: Options) -> None:
        self._function, self._name, self._options = function, name, options
        self._implicit, self._any_lengths = Implicit(function), AnyLengths(function, options)
        # The one that was called last is the last one.
        self._kept: OrderedDict[Hashable, CalledProgram] = OrderedDict()
        # For each structure of arguments, the floats whose values the function has asked for: these are in keys.
        self._asked: dict[Hashable, frozenset[int]] = {}
        # While a function is traced it runs.
        self._lock = free_after_fork(threading.RLock(), patience=0)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._kept)

    def values(self) -> list[CalledProgram]:
        """Return all of them, the one that was called last at the end."""
        return list(self._kept.values())

    def find(self, backend: Handle, leaves: list[object], spec: object, args: Any) -> CalledProgram:
        """Return the program for the flattened arguments of a call, ``args``, whose arrays are of a backend.

        It's bound to what the places of the function hold now.
        """
        kept = self._kept
        state = self._implicit.state(*args)
        key = self._key(backend, leaves, spec, state)
        types = self._any_lengths.types(backend, leaves)
        if types is not None and key not in kept and self._any_lengths.is_seldom(key):
            key = self._key(backend, leaves, spec, state, types)
        else:
            types = None
        found = kept.get(key)
        if found is None:
            traced, dropped = False, False
            with self._lock:
                state = self._implicit.state(*args)
                key = self._key(backend, leaves, spec, state, types)
                found = kept.get(key)
                if found is None:
                    recording = PlaceTracer(self._function, state.places)
                    function = recording if state.places else self._function
                    found = self._traced(backend, leaves, spec, function, types)
                    self._asked[spec] = self._asked.get(spec, frozenset()) | found.made.floats.asked
                    for place in recording.changed:
                        self._implicit.ignore(place)
                    state = self._implicit.state(*args)
                    key = self._key(backend, leaves, spec, state, types)
                    found.watch = ProgramWatch(state, recording, found.made.captured)
                    kept[key] = found
                    traced, dropped = True, len(kept) > self._options.programs
                    for _ in range(len(kept) - self._options.programs):
                        kept.popitem(last=False)
            # Handlers of messages may do anything: no lock is held.
            if traced:
                tell_traced(self._name, self._function, leaves, key, kept)
            if dropped:
                tell_dropped(self._name, self._options.programs)
        found.watch.bind(state.values)
        # Another thread may have dropped it.
        with contextlib.suppress(KeyError):
            kept.move_to_end(key)
        return found

    def _key(
        self, backend: Handle, leaves: Sequence[object], spec: object, state: State, types: Types | None = None
    ) -> tuple[str, tuple[Hashable, ...], tuple[Hashable, ...], Hashable]:
        keys = cache_key(leaves, self._asked.get(spec, frozenset()))
        if types is not None:
            keys = any_length_key(keys, types, leaves)
        return (backend.name, structure_key(spec), keys, state_key(state.values))

    def _traced(
        self,
        backend: Handle,
        leaves: list[object],
        spec: object,
        function: Callable[..., object],
        types: Types | None,
    ) -> CalledProgram:
        options = self._options
        engine = None if options.backend is None else load(options.backend)
        # Without array arguments the results stay on the engine that was asked for.
        crossing = Crossing(backend if engine is None or any(isinstance(x, Array) for x in leaves) else engine, engine)
        came_by = zip(leaves, leaf_parameters(self._function, spec), strict=True)
        owners = [parameter for leaf, (parameter, _) in came_by if isinstance(leaf, Array)]
        mutable = [place for place, parameter in enumerate(owners) if parameter in options.mutable]
        asked = self._asked.get(spec, frozenset())
        floats = [place for place, leaf in enumerate(leaves) if type(leaf) is float and place not in asked]
        return CalledProgram(function, leaves, spec, crossing, mutable, options, floats, types)
