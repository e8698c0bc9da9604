"""The base of generators: the seed, the state, and how they are copied, pickled and split."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._core.arrays.array import Array, wrap
from .._core.engines import dtypes
from .._core.engines.handle import has_one_device
from .._core.engines.registry import Node, register_node
from .._core.engines.tracing import mode
from .._core.values.arguments import as_integer, shown
from .._core.values.shapes import check_memory
from ..backends.forks import free_after_fork
from ..errors import BackendFeatureError
from ._arguments import STAGING, Destination, Where, as_host, beside, check, places, refuse_inside_trace, store, wanted
from ._host import KNOWN, OWN, key_of, remember, sample
from ._later import Sampler, draw_later, is_drawn_later, is_steady, sampler
from ._native import NativeState
from ._repeated import compile_method

if TYPE_CHECKING:
    from .._core.engines.handle import Handle
    from ..typing import Shape
    from ._arguments import DrawOptions, Size

running_mode = mode.get
# A seed, or one of NumPy's objects made from seeds.
Seed = int | Sequence[int] | np.random.SeedSequence | None
ENGINES = ("host", "native")
# So few numbers take less memory than a call needs anyway.
_FEW = 1024


class Base:
    """A generator without its distributions."""

    __slots__ = ("__weakref__", "_engine", "_host", "_lock", "_native", "_seeds")

    _engine: str
    # One of the two is set.
    _host: np.random.Generator | None
    _native: NativeState | None
    _lock: threading.RLock
    _seeds: np.random.SeedSequence | None

    def __init__(self, seed: Seed, *, engine: str = "host", backend: str | None = None, device: object = None) -> None:
        if not isinstance(engine, str) or engine not in ENGINES:
            raise ValueError(f"engine is one of {', '.join(map(repr, ENGINES))}, not {shown(engine)}")
        if engine == "host" and not (backend is None and device is None):
            raise ValueError("a generator with engine='host' serves all backends: name backend and device when drawing")
        seeds = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(_entropy(seed))
        native = None if engine == "host" else NativeState.seeded(seeds, backend, device)
        self._set(engine, native, seeds)

    def _set(self, engine: str, native: NativeState | None, seeds: np.random.SeedSequence | None) -> None:
        self._engine, self._native, self._seeds = engine, native, seeds
        self._lock = free_after_fork(threading.RLock())
        self._host = np.random.Generator(np.random.Philox(seeds)) if native is None else None

    # -- engine and state -------------------------------------------------------------------------------------------

    @property
    def engine(self) -> str:
        """The engine: ``"host"`` is NumPy's Philox, ``"native"`` the generator of a backend's engine.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.random.Generator(0).engine
        'host'
        """
        return self._engine

    @property
    def state(self) -> dict[str, Any]:
        """The position in the stream of numbers: a dictionary that can be saved, and set again.

        With ``engine="host"`` it's the one of ``numpy.random.Philox``, which takes it too.

        Examples
        --------
        >>> import unifyarr as ua
        >>> generator = ua.random.Generator(7)
        >>> before = generator.state
        >>> x = generator.random(3)
        >>> generator.state = before
        >>> bool(ua.all(generator.random(3) == x))
        True
        """
        with self._lock:
            if self._native is not None:
                return self._native.state
            assert self._host is not None
            return dict(self._host.bit_generator.state)

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        with self._rollback() as host:
            if self._native is not None:
                self._native.state = state
            else:
                assert host is not None
                host.bit_generator.state = state

    def spawn(self, n: int) -> list[Self]:
        """Return new generators whose streams are independent of this one and of each other.

        Give each thread, worker or device one of them: its numbers then don't depend on the order of the others' calls.

        Parameters
        ----------
        n
            How many.

        Returns
        -------
        list of Generator
            Of the same engine. With ``engine="host"`` they are those that ``numpy.random.Generator.spawn`` makes, and
            the state stays as it is; else their seeds are drawn.

        Raises
        ------
        ValueError
            If ``n`` is negative.
        TraceError
            Inside a trace.

        Examples
        --------
        >>> import unifyarr as ua
        >>> first, second = ua.random.Generator(0).spawn(2)
        >>> first.integers(100, size=3), second.integers(100, size=3)
        (array([14, 72,  0]), array([65, 67, 99]))
        """
        n = as_integer(n, "the number of generators")
        # A generator takes a kilobyte.
        check_memory((n, 128), dtypes.float64)
        if n < 0:
            raise ValueError(f"spawn() takes a number of generators from 0 on, not {n}")
        refuse_inside_trace("spawn")
        with self._lock:
            if self._native is None:
                assert self._seeds is not None
                return [type(self)(seeds) for seeds in self._seeds.spawn(n)]
            words = self._native.words(n)
            place = {"backend": self._native.backend.name, "device": self._native.device}
        return [type(self)([*map(int, row)], engine="native", **place) for row in words]

    def __repr__(self) -> str:
        where = "" if self._native is None else f", backend={self._native.backend.name!r}"
        return f"Generator(engine={self._engine!r}{where})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Copies and pickles continue from the same state, independently.
        with self._lock:
            seeds = self._seeds
            made = (
                None if seeds is None else (seeds.entropy, seeds.spawn_key, seeds.pool_size, seeds.n_children_spawned)
            )
            native = None if self._native is None else (self._native.backend.name, self._native.device_name)
            return _restored, (type(self), self._engine, made, native, self.state)

    def __copy__(self) -> Self:
        """Return an independent generator with the same state."""
        rebuild, arguments = self.__reduce__()
        return rebuild(*arguments)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()

    # -- drawing ----------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _rollback(self) -> Iterator[np.random.Generator | None]:
        """Hold the lock, and restore the state if the block fails."""
        with self._lock:
            if self._host is None:
                yield None
                return
            before = self._host.bit_generator.state
            try:
                yield self._host
            except BaseException:
                self._host.bit_generator.state = before
                raise

    def _deliver(
        self,
        name: str,
        where: Where,
        found: Sequence[Destination],
        draw: Callable[[np.random.Generator, Destination], np.ndarray | None],
        later: Callable[[Destination], Sampler | None] | None = None,
    ) -> Array:
        """Draw on the host for each place and write there; if anything fails, change nothing.

        ``later`` takes a place and returns a function that draws blocks of it, if they may be drawn when they're
        computed.
        """
        with self._rollback() as host:
            assert host is not None
            results: list[Any] = []
            for place in found:
                sampler = later(place) if later is not None and is_drawn_later(place) else None
                if sampler is not None:
                    results.append(draw_later(host, sampler, place, is_steady(name, place.dtype)))
                    continue
                values = draw(host, place)
                results.append(place.out if values is None else place.made(values))
            return store(name, where, found, results)

    def _draw(
        self,
        name: str,
        size: Size,
        options: DrawOptions,
        /,
        *,
        kinds: str = "f",
        shapes: Sequence[Shape] | None = None,
        event: Shape = (),
        **parameters: Any,
    ) -> Array:
        """Draw from the distribution of NumPy's with a name; ``event`` is the shape of one element."""
        host, where = self._host, wanted(name, size, options)
        if host is None:
            with self._lock:
                return self._native.draw(name, Where(*where), _KINDS[kinds[0]], kinds, parameters)  # type: ignore[union-attr]
        if STAGING or running_mode() is not None:
            refuse_inside_trace(name)
        key = key_of(name, where, parameters)
        try:
            known = KNOWN.get(key)
        except TypeError:
            # Parameters that are no numbers.
            known = key = None
        if known is not None:
            arguments, backend, device, make, is_certain = known
            if is_certain:
                # NumPy allocates before it draws, and nothing fails after that.
                with self._lock:
                    values = getattr(host, name)(*arguments)
                return wrap(values if make is None else make(values), backend)
            if backend.supports_dtype(OWN[_KINDS[kinds[0]]].dtype, device):
                # Copying a few numbers can't fail, and saving the state takes longer than drawing them.
                is_safe = has_one_device(backend) and prod(arguments[-1]) <= _FEW
                with self._lock if is_safe else self._rollback():
                    values = np.asarray(getattr(host, name)(*arguments))
                    return wrap(backend.adopt(values, device=device), backend)
        return self._draw_checked(name, Where(*where), kinds, shapes, event, key, parameters)

    def _draw_checked(
        self,
        name: str,
        where: Where,
        kinds: str,
        shapes: Sequence[Shape] | None,
        event: Shape,
        key: Hashable | None,
        parameters: dict[str, Any],
    ) -> Array:
        # Apart from the draws that are known: functions in a function cost it something at each call.
        host, kind = self._host, _KINDS[kinds[0]]
        assert host is not None
        given = {parameter: as_host(value) for parameter, value in parameters.items()}
        check(name, given)
        if shapes is None:
            shapes = [np.shape(value) for value in given.values()]
        found = places(name, beside(where, *parameters.values()), kind, kinds, shapes, event)
        # Numbers drawn directly into their target can't be taken back.
        alone = len(found) == 1

        def draw(host: np.random.Generator, place: Destination) -> np.ndarray | None:
            return sample(host, name, given, place if alone else place._replace(out=None), len(event))

        def later(place: Destination) -> Sampler | None:
            plain = not event and not any(map(np.ndim, given.values()))
            return sampler(name, given, place.dtype) if plain else None

        result = self._deliver(name, where, found, draw, later)
        if is_drawn_later(found[0]):
            return result
        if key is not None and not event:
            remember(key, kind, found[0], parameters)
            compile_method(type(self), name)
        return result

    def _only_host(self, name: str) -> None:
        if self._native is not None:
            raise BackendFeatureError(
                f"{name}() isn't there for engine='native': draw it from a Generator(seed), on the host"
            )
        refuse_inside_trace(name)


# The types of the numbers, by NumPy's letters.
_KINDS: dict[str, type] = {"f": float, "i": int, "b": bool}
# More integers than any seed has.
_MOST = 2**16


def _entropy(seed: Any) -> Any:
    # NumPy takes nested sequences, and crashes if one contains itself.
    if not isinstance(seed, Iterable) or isinstance(seed, (str, bytes)):
        return seed
    parts = [as_integer(each, "each part of a seed") for each in islice(seed, _MOST + 1)]
    if len(parts) > _MOST:
        raise ValueError(f"a seed is an integer, or at most {_MOST} of them")
    return parts


def _restored(cls: Any, engine: str, seeds: Any, native: Any, state: dict[str, Any]) -> Any:
    generator = object.__new__(cls)
    sequence = None
    if seeds is not None:
        entropy, spawn_key, pool_size, spawned = seeds
        sequence = np.random.SeedSequence(entropy, spawn_key=spawn_key, pool_size=pool_size, n_children_spawned=spawned)
    generator._set(engine, None if native is None else NativeState.restored(*native), sequence)
    generator.state = state
    return generator


def register(cls: type[Base]) -> None:
    """Register generators with the engines' pytrees. With ``engine="native"`` the state is the leaf."""

    def flatten(generator: Base) -> tuple[list[Any], Any]:
        native = generator._native
        if native is None:
            return [], generator
        return [native.array.native], (native.backend.name, native.device)

    def unflatten(handle: Handle, other: Any, children: Sequence[Any]) -> Any:
        if isinstance(other, Base):
            return other
        generator = object.__new__(cls)
        generator._set("native", NativeState.of_leaf(*other, *children), None)
        return generator

    register_node(Node(cls, flatten, unflatten, lambda generator: ["state"] if generator._native else []))
