"""The places where torch has the dtype, shape and memory of a tensor, for the compiled core, which reads them there.

They are found by looking for what torch tells of a few tensors, and the core checks that they tell the same of others.
Where one isn't found, the core asks torch itself, which takes longer.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable

import numpy as np
import torch
from torch import Tensor

from ..._native import core
from ..private import lost
from ._private import BODY, address_of
from ._shared import DTYPES

# How many words of an object, of its C++ tensor and of a storage are read: no version has had fewer.
_OBJECT, _BODY, _STORAGE = 4, 22, 6
_WORD, _HALF = ctypes.c_uint64, ctypes.c_uint16


def _words(address: int, count: int) -> list[int]:
    return list((_WORD * count).from_address(address))


def _the_place(fits: Iterable[bool], size: int) -> int:
    # The one place that fits, in bytes.
    [place] = [place for place, does in enumerate(fits) if does]
    return place * size


def _place(addresses: list[int], count: int, wanted: list[list[int]]) -> int:
    """Return the place where each of several structures has certain words, one after another."""
    found = [_words(address, count) for address in addresses]
    return _the_place(
        (
            all(words[at : at + len(given)] == given for words, given in zip(found, wanted, strict=True))
            for at in range(count)
        ),
        ctypes.sizeof(_WORD),
    )


def _find(
    windows: list[Tensor],
    by_dtype: list[list[Tensor]],
    watched: list[Tensor],
    usual: list[Tensor],
    others: list[Tensor],
) -> list[int]:
    """Return the places, in the order of the core's; raise ``ValueError`` where one isn't found."""
    bodies = [address_of(x) for x in windows]
    storages = [address_of(x.untyped_storage()) for x in windows]

    def place(read: Callable[[Tensor], list[int]]) -> int:
        return _place(bodies, _BODY, [read(x) for x in windows])

    numbers = [[list((_HALF * (4 * _BODY)).from_address(address_of(x))) for x in pair] for pair in by_dtype]
    kinds = [_words(address_of(x), _BODY) for x in usual]
    other_kinds = [_words(address_of(x), _BODY) for x in others]
    noted = [_words(address_of(x), _BODY) for x in watched]
    fresh = [_words(address_of(x), _BODY) for pair in by_dtype for x in pair]
    ndim = place(lambda x: [x.dim(), *x.shape])
    return [
        _place([id(x) for x in windows], _OBJECT, [[address] for address in bodies]),
        # Tensors of one dtype have the same number there, and no others have it.
        _the_place(
            (
                all(one[at] == other[at] for one, other in numbers)
                and len({one[at] for one, _ in numbers}) == len(numbers)
                for at in range(4 * _BODY)
            ),
            ctypes.sizeof(_HALF),
        ),
        _the_place(
            (
                len({words[at] for words in kinds}) == 1 and all(words[at] != kinds[0][at] for words in other_kinds)
                for at in range(_BODY)
            ),
            ctypes.sizeof(_WORD),
        ),
        ndim,
        ndim + ctypes.sizeof(_WORD),
        place(lambda x: list(x.stride())),
        place(lambda x: [x.storage_offset()]),
        _place(bodies, _BODY, [[address] for address in storages]),
        _place(storages, _STORAGE, [[x.untyped_storage().data_ptr()] for x in windows]),
        _the_place(
            (all(words[at] for words in noted) and not any(words[at] for words in fresh) for at in range(_BODY)),
            ctypes.sizeof(_WORD),
        ),
    ]


def _probes() -> tuple[list[Tensor], list[list[Tensor]], list[Tensor], list[Tensor], list[Tensor]]:
    """Return windows on memory, two tensors of each dtype, some with derivatives, all these, and others.

    The core mustn't read the last ones.
    """
    with torch.inference_mode(mode=False), torch.enable_grad():
        windows = [
            torch.from_numpy(np.zeros(3000)).as_strided((3, 5, 7), (1031, 97, 13), 11),
            torch.from_numpy(np.zeros(3000, np.int32)).as_strided((2, 9), (37, 4), 6),
        ]
        by_dtype = [
            [torch.empty(shape, dtype=dtype, device="cpu") for shape in ((2,), (1, 3))] for dtype in DTYPES.values()
        ]
        leaf = torch.zeros(2, device="cpu", requires_grad=True)
        watched = [leaf, leaf * 2, leaf[1:]]
        conjugate = torch.zeros(2, dtype=torch.complex64, device="cpu").conj()
        others = [conjugate, conjugate.imag, torch.empty(2, device="meta"), torch.zeros(2, device="cpu").to_sparse()]
    with torch.inference_mode():
        others.append(torch.zeros(2, device="cpu"))
    usual = [*windows, *(x for pair in by_dtype for x in pair), *watched]
    return windows, by_dtype, watched, usual, others


def offer() -> bool:
    """Make the core read tensors by itself, if all places are found; return whether it does."""
    if core is None or address_of is None:
        return False
    if not _is_taken():
        lost(BODY)
        return False
    return True


def _is_taken() -> bool:
    windows, by_dtype, watched, usual, others = _probes()
    if {type(x) for x in (*usual, *others)} != {Tensor}:
        return False
    try:
        places = _find(windows, by_dtype, watched, usual, others)
    except ValueError:
        return False
    return bool(core.take_fields(Tensor, places, usual, "stored_strides"))
