"""Inside ``debug()`` operations of users are held against their kinds, by runs on parts of their operands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .._core.engines.comparing import agree, native_values
from .._core.engines.handle import Handle
from .._core.engines.tracing import checked
from .._core.kernels.record import ELEMENTWISE, Kernel
from .._core.values.native import Native
from .._core.values.records import Record
from ..errors import BadKind, DebugModeError
from ..typing import Shape

Run = Callable[[Sequence[Native]], Sequence[Native]]
Key = tuple[Any, ...]


class PartResults(Record):
    """The results for parts of the operands, which are to be a part of the results."""

    described: str
    key: Key
    results: list[np.ndarray]


def parts_of(record: Kernel, backend: Handle, natives: Sequence[Native], run: Run) -> list[PartResults]:
    """Return the results for parts of the operands, of which a kind says which part of the results they are.

    Of an elementwise operation every second element along each axis, and a batch of one. ``run`` changes no operand.
    """
    if record.kind is not ELEMENTWISE:
        return []
    values = [native_values(backend, native) for native in natives]
    found = []
    for described, keys, key in _cuts([x.shape for x in values]):
        cut = [np.ascontiguousarray(x[each]).reshape(x[each].shape) for x, each in zip(values, keys, strict=True)]
        parts = [
            backend.from_numpy(x, device=backend.own_place(native)) for x, native in zip(cut, natives, strict=True)
        ]
        try:
            with checked(False):
                results = [native_values(backend, each) for each in run(parts)]
        except DebugModeError:
            raise
        except Exception as error:
            raise BadKind(
                f"{record.name}() on backend {backend.name!r} raises {type(error).__name__} for {described} of its "
                f"operands: {error}. {_ADVICE}"
            ) from error
        found.append(PartResults(described, key, results))
    return found


def check_parts(record: Kernel, backend: Handle, parts: Sequence[PartResults], results: Sequence[np.ndarray]) -> None:
    """Raise unless the results for parts of the operands are parts of the results for all of them."""
    for described, key, found in parts:
        for whole, part in zip(results, found, strict=True):
            wanted = whole[key]
            if wanted.shape != part.shape or wanted.dtype != part.dtype or not agree(wanted, part):
                raise BadKind(
                    f"{record.name}() on backend {backend.name!r} gives for {described} of its operands something else "
                    f"than that part of its result. {_ADVICE}"
                )


_ADVICE = (
    "It's declared elementwise: an element of each operand gives an element of the result, and nothing else does. "
    'Leave out kind="elementwise", or correct it'
)


def _cuts(shapes: Sequence[Shape]) -> Iterator[tuple[str, list[Key], Key]]:
    """Yield which parts are cut: in words, the keys of the operands, and the key of the result."""
    shape = np.broadcast_shapes(*shapes)
    ndim = len(shape)
    for axis, length in enumerate(shape):
        for start in range(2) if length > 1 else ():
            key = (*(slice(None),) * axis, slice(start, None, 2))
            keys = [_at_end(key, ndim, x) for x in shapes]
            yield f"every second element along axis {axis}, from {start} on,", keys, key
    batch = [(None, *(None,) * (ndim - len(x))) for x in shapes]
    yield "a batch of one", batch, (None,)


def _at_end(key: Key, ndim: int, shape: Shape) -> Key:
    """Return the key for an operand whose axes are the last ones, of which those of length one are repeated."""
    missing = ndim - len(shape)
    return tuple([slice(None) if shape[place] == 1 else each for place, each in enumerate(key[missing:])])
