"""The common part of all optimizers: their state, and the one write of a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.calling.mapping import updated_at_once
from .._core.engines import dtypes
from .._core.engines.dtypes import DType
from .._core.engines.tracing import mode
from .._core.values.called import make_boundaries
from ..container.container import Container
from ..errors import DtypeError, StructureError
from ..functions.inplace import inplace_update
from .nests import Leaves, working_dtype

# Takes the number of a step, from 0 on, and returns the learning rate there.
Schedule = Callable[[Any], Any]
Nest = Any
# Takes the learning rate and how many steps there are with this one (int64), and returns numbers for all leaves.
Numbers = Callable[[Any, Array], tuple[Any, ...]]
# Takes a parameter, its gradient, its slots and these numbers; returns the new parameter and the new slots.
Formula = Callable[..., tuple[Array, ...]]


@make_boundaries
@dataclass(frozen=True)
class Optimizer:
    """How parameters move against their gradient: what ``sgd``, ``adam``, ``adamw`` and ``rmsprop`` return.

    It has options alone, and no arrays: everything that changes from step to step is in the state.

    Examples
    --------
    >>> import unifyarr as ua
    >>> params = ua.Container(weight=ua.asarray([1.0, -2.0]))
    >>> optimizer = ua.optim.adam(0.1)
    >>> state = optimizer.init(params)
    >>> for _ in range(3):
    ...     optimizer.update(params, ua.grad(lambda p: ua.sum(p.weight**2))(params), state)
    >>> ua.round(100 * params.weight), state.steps
    (array([  70., -170.]), array(3))
    """

    name: str
    rate: Any
    # Slot of each parameter -> whether it's real where the parameter is complex.
    slots: Mapping[str, bool] = field(repr=False)
    numbers: Numbers = field(repr=False)
    formula: Formula = field(repr=False)

    def init(self, params: Nest) -> Container:
        """Return the state before the first step.

        Parameters
        ----------
        params
            An array, a container or another nest of arrays, with floating-point or complex dtypes.

        Returns
        -------
        Container
            ``steps``, the number of steps so far (int64), and zeros like the parameters for each thing that the
            optimizer keeps of them: in the parameters' dtypes, in float32 where a parameter has less precision.

        Raises
        ------
        DtypeError
            If a parameter is of integers or bools.

        Examples
        --------
        >>> import unifyarr as ua
        >>> ua.optim.sgd(0.1, momentum=0.9).init({"bias": ua.ones(2)})
        Container
        ├── steps: array(0)
        └── velocity
            └── bias: array([0., 0.])
        """
        leaves = Leaves(params, "params")
        leaves.check_floating()
        kept = {
            name: leaves.like([ua.zeros_like(x, dtype=_dtype_of(x.dtype, real)) for x in leaves.arrays])
            for name, real in self.slots.items()
        }
        first = leaves.arrays[0] if leaves.arrays else None
        where = {} if first is None else {"backend": first.backend, "device": first.device}
        return Container(steps=ua.zeros((), dtype=dtypes.int64, **where), **kept)

    def update(self, params: Nest, gradient: Nest, state: Container) -> None:
        """Move parameters against their gradient, in place, and the state on by one step.

        All leaves are written, or none: after an error, parameters and state are unchanged. In a function that
        ``ua.compile`` compiles, they aren't copied.

        Parameters
        ----------
        params
            The parameters: arrays over any native, also an immutable one.
        gradient
            The result of ``ua.grad`` for them: a nest of the same structure and shapes.
        state
            The result of ``init`` for them, or a saved copy of it.

        Raises
        ------
        StructureError
            If the structures differ, or the state is that of another optimizer.
        ShapeError
            If shapes differ.
        DtypeError
            If a parameter is of integers or bools, or its gradient is complex and it isn't.
        ValueError
            If arrays that are written share memory.

        Examples
        --------
        >>> import unifyarr as ua
        >>> x, optimizer = ua.asarray([1.0, 2.0]), ua.optim.sgd(0.5)
        >>> optimizer.update(x, ua.asarray([1.0, 1.0]), optimizer.init(x))
        >>> x
        array([0.5, 1.5])
        """
        leaves, slopes = Leaves(params, "params"), Leaves(gradient, "the gradient")
        leaves.check_floating()
        slopes.check_like(leaves)
        _check_dtypes(slopes, leaves)
        kept = self._kept(leaves, state)
        steps = state.steps + 1
        rate = self.rate(state.steps) if callable(self.rate) else self.rate
        numbers = self.numbers(rate, steps)
        together = self._moved_together([leaves, slopes, *kept], numbers)
        if together is not None:
            self._write(leaves, state, kept, steps, together)
            return
        rows = list(zip(leaves.arrays, slopes.arrays, *(each.arrays for each in kept), strict=True))
        columns: list[tuple[Array, ...]] = [()] * len(rows)
        for dtype in {working_dtype(x.dtype): None for x in leaves.arrays}:
            places = [place for place, x in enumerate(leaves.arrays) if working_dtype(x.dtype) is dtype]
            cast = tuple(_as_dtype(each, dtypes.real_of(dtype)) for each in numbers)
            for place, row in zip(places, self._moved([rows[place] for place in places], dtype, cast), strict=True):
                columns[place] = row
        self._write(leaves, state, kept, steps, [list(each) for each in zip(*columns, strict=True)])

    def _moved_together(self, nests: Sequence[Leaves], numbers: tuple[Any, ...]) -> list[list[Array]] | None:
        """Apply the formula to whole containers whose leaves have one real dtype; return ``None`` for others."""
        alike = {dtype for each in nests for dtype in each.dtypes}
        if len(alike) != 1 or mode.get() is not None or not all(isinstance(each.tree, Container) for each in nests):
            return None
        (dtype,) = alike
        if dtypes.rank(dtype) != 2 or working_dtype(dtype) is not dtype:
            return None
        new: Any = self.formula(*(each.tree for each in nests), *(_as_dtype(each, dtype) for each in numbers))
        return [each.leaves() for each in new]

    def _moved(
        self, rows: Sequence[tuple[Array, ...]], dtype: DType, numbers: tuple[Any, ...]
    ) -> Sequence[tuple[Array, ...]]:
        """Apply the formula to parameters of one dtype, their gradients and slots."""
        cast = [(_as_dtype(x, dtype), _direction(slope, dtype), *parts) for x, slope, *parts in rows]
        if len(cast) == 1 or mode.get() is not None:
            return [self.formula(*row, *numbers) for row in cast]
        # The core and accelerators compute all leaves of containers at once.
        new: Any = self.formula(*(Container(list(each)) for each in zip(*cast, strict=True)), *numbers)
        return list(zip(*(each.leaves() for each in new), strict=True))

    def _kept(self, leaves: Leaves, state: Any) -> list[Leaves]:
        """Return the leaves of the state's slots, checked."""
        wanted = {"steps", *self.slots}
        if not isinstance(state, Container) or set(state.keys()) != wanted:
            found = ", ".join(state.keys()) if isinstance(state, Container) else type(state).__name__
            raise StructureError(
                f"the state of {self.name}() has {', '.join(sorted(wanted))}, not {found}: pass what init() returned"
            )
        kept = [Leaves(state[name], f"{name!r} of the state") for name in self.slots]
        for each, real in zip(kept, self.slots.values(), strict=True):
            each.check_like(leaves)
            for place, (own, dtype) in enumerate(zip(each.dtypes, leaves.dtypes, strict=True)):
                if own != _dtype_of(dtype, real):
                    raise DtypeError(
                        f"{each.name(place)} has dtype {own}, but init() makes {_dtype_of(dtype, real)} for "
                        f"parameters of {dtype}: cast it"
                    )
        return kept

    def _write(
        self,
        leaves: Leaves,
        state: Container,
        parts: Sequence[Leaves],
        steps: Array,
        columns: Sequence[list[Array]],
    ) -> None:
        """Write the new parameters and slots, all or none."""
        new = columns or [[] for _ in range(1 + len(self.slots))]
        moved = [_as_dtype(x, old.dtype) for x, old in zip(new[0], leaves.arrays, strict=True)]
        targets = [*leaves.arrays, state.steps, *(x for each in parts for x in each.arrays)]
        if updated_at_once(targets, [*moved, steps, *(x for column in new[1:] for x in column)]):
            return
        kept = {name: leaves.like(arrays) for name, arrays in zip(self.slots, new[1:], strict=True)}
        values: Any = Container(params=leaves.like(moved), state=Container(steps=steps, **kept))
        inplace_update(Container(params=leaves.tree, state=state), values)


def _dtype_of(dtype: DType, real: bool) -> DType:
    dtype = working_dtype(dtype)
    return dtypes.real_of(dtype) if real else dtype


def _as_dtype(number: Any, dtype: DType) -> Any:
    # Python's numbers take the dtype of the array beside them. A cast that changes nothing costs a call, too.
    return number if not isinstance(number, Array) or number.dtype is dtype else ua.astype(number, dtype, copy=False)


def _direction(slope: Array, dtype: DType) -> Array:
    slope = _as_dtype(slope, dtype)
    # The gradient of a real function is the conjugate of the direction in which it rises.
    return ua.conj(slope) if dtypes.rank(dtype) == 3 else slope


def _check_dtypes(slopes: Leaves, leaves: Leaves) -> None:
    for place, (slope, dtype) in enumerate(zip(slopes.dtypes, leaves.dtypes, strict=True)):
        if not 2 <= dtypes.rank(slope) <= dtypes.rank(dtype):
            raise DtypeError(f"{slopes.name(place)} has dtype {slope}, but {leaves.name(place)} {dtype}")
