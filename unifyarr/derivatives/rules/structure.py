"""Views, writes through views, casts and joins: where elements go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..rule import AddedInto, Outside, joint_rule, rule
from .indexing import added_along

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.rule_kernels import Kernels
    from ..rule import Cotangent

Window = Sequence[tuple[int, int, int]]

rule("copy", lambda k, g, out, x: g, uses=())
rule("reshape", lambda k, g, out, x, *, shape: k.reshape(g, k.shape(x)), uses=())
rule("broadcast_to", lambda k, g, out, x, *, shape: g, uses=())
rule("astype", lambda k, g, out, x, *, dtype: g, uses=())
rule("shard", lambda k, g, out, x, *, sharding, spec: g, uses=())
rule("roll", lambda k, g, out, x, *, shift, axis: k.roll(g, shift=tuple(-by for by in shift), axis=axis), uses=())


def _permuted(k: Kernels, g: Native, out: Native, x: Native, *, axes: Sequence[int]) -> Native:
    return k.permute_dims(g, [axes.index(place) for place in range(len(axes))])


rule("permute_dims", _permuted, uses=())

# -- windows ----------------------------------------------------------------------------------------------------------


def _into_window(k: Kernels, g: Native, out: Native, x: Native, *, window: Window) -> AddedInto:
    # What is read several times gets the sum.
    again = tuple([axis for axis, (_, step, length) in enumerate(window) if step == 0 and length > 1])
    if again:
        g = k.sum(g, axis=again, keepdims=True)
        window = [(start, 1, 1) if axis in again else (start, step, n) for axis, (start, step, n) in enumerate(window)]
    return AddedInto(lambda k, total: added(k, total, g, window), g, tuple(window))


def added(k: Kernels, total: Native, g: Native, window: Window) -> Native:
    """Return an array with another one added in a window."""
    if 0 in tuple.__iter__(k.shape(g)):
        return total
    return k.set_window(total, k.add(k.get_window(total, window), g), window=tuple(window))


rule("get_window", _into_window, uses=())


@joint_rule("set_window", uses=())
def _set_window(
    k: Kernels, needs: Sequence[bool], g: Native, out: Native, x: Native, value: Native, *, window: Window
) -> Sequence[Cotangent | None]:
    def fill(k: Kernels, value: Native | None = None) -> Native:
        if value is None:
            lengths = tuple([length for _, _, length in window])
            value = k.full(0, k.get_window(g, window)) if None in lengths else k.full(0, g, lengths)
        return k.set_window(g, value, window=window)

    inside = k.get_window(g, window) if needs[1] else None
    return [Outside(fill, g, inside, tuple(window)) if needs[0] else None, inside]


def part(k: Kernels, g: Native, axis: int, start: int, length: int, step: int = 1) -> Native:
    """Return some of the places along an axis."""
    window = [(0, 1, n) for n in k.shape(g)]
    window[axis] = start, step, length
    return k.get_window(g, window)


def flipped(k: Kernels, x: Native, axis: int) -> Native:
    """Return an array in the reverse order along an axis."""
    length = k.shape(x)[axis]
    return part(k, x, axis, length - 1, length, -1) if length else x


@joint_rule("concat", uses=())
def _concat(
    k: Kernels, needs: Sequence[bool], g: Native, out: Native, *arrays: Native, axis: int
) -> Sequence[Cotangent | None]:
    found, start = [], 0
    for needed, x in zip(needs, arrays, strict=True):
        length = k.shape(x)[axis]
        found.append(part(k, g, axis, start, length) if needed else None)
        start += length
    return found


@joint_rule("stack", uses=())
def _stack(
    k: Kernels, needs: Sequence[bool], g: Native, out: Native, *arrays: Native, axis: int
) -> Sequence[Cotangent | None]:
    return [
        k.reshape(part(k, g, axis, place, 1), k.shape(x)) if needed else None
        for place, (needed, x) in enumerate(zip(needs, arrays, strict=True))
    ]


def _into_diagonal(k: Kernels, g: Native, out: Native, x: Native, *, offset: int) -> AddedInto:
    *batch, rows, columns = k.shape(x)
    start, length = offset if offset >= 0 else -offset * columns, k.shape(g)[-1]
    window = [(0, 1, n) for n in batch] + [(start, columns + 1, length)]

    def add(k: Kernels, total: Native) -> Native:
        return k.reshape(added(k, k.reshape(total, (*batch, rows * columns)), g, window), (*batch, rows, columns))

    return AddedInto(add)


rule("diagonal", _into_diagonal, uses=())


def _triangle(name: str) -> None:
    rule(name, lambda kernels, g, out, x, **static: getattr(kernels, name)(g, **static), uses=())


_triangle("tril")
_triangle("triu")

# -- edges ------------------------------------------------------------------------------------------------------------


def _padded(
    k: Kernels, g: Native, out: Native, x: Native, *, widths: Sequence[tuple[int, int]], mode: str, values: Native
) -> Native:
    for axis, ((before, after), length) in enumerate(zip(widths, k.shape(x), strict=True)):
        if mode == "constant" or not (before or after):
            g = part(k, g, axis, before, length)
            continue
        # Which elements the edges are, padded positions tell.
        places = np.pad(np.arange(length), (before, after), mode)  # type: ignore[call-overload]
        zeros = k.full(0, g, (*k.shape(g)[:axis], length, *k.shape(g)[axis + 1 :]))
        g = added_along(k, zeros, g, k.array(places, g), axis)
    return g


rule("pad", _padded, uses=())

# -- memory read as another dtype -------------------------------------------------------------------------------------


def _bits(k: Kernels, g: Native, out: Native, x: Native, *, dtype: np.dtype[np.generic]) -> Native:
    own, wanted = k.dtype(x), np.dtype(dtype)
    if own == wanted:
        return g
    if own.kind == "c" and wanted.kind == "f" and own.itemsize == 2 * wanted.itemsize:
        return k.conj(k.bitcast(g, dtype=own))
    if own.kind == "f" and wanted.kind == "c" and wanted.itemsize == 2 * own.itemsize:
        return k.bitcast(k.conj(g), dtype=own)
    raise TypeError(f"there is no derivative through the bits of {own} read as {wanted}: cast with astype() instead")


rule("bitcast", _bits, uses=())
