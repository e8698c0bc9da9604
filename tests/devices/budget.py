"""``python -m tests.devices.budget``: the page "What waits for the device", counted on torch's simulated device.

A call counts once everything that later calls keep is made. So the numbers are the same in each run.
"""

from __future__ import annotations

import contextlib
import inspect
import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import unifyarr as ua
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._core.engines.registry import load
from unifyarr.testing.calling import FUNCTIONS, UNSET, find, leaves
from unifyarr.testing.cases import CASES, Case

from .counting import counting
from .reasons import BY_NAME
from .simulated import install

PAGE = Path(__file__).parents[2] / "docs/what-waits-for-the-device.md"
THERE = "sim:1"
# Earlier calls: the first is recorded, and a later one served.
FIRST = 3
# The simulation has no DLPack.
NAMES = [name for name in FUNCTIONS if name != "from_dlpack"]
KINDS = ("sync", "to_host", "to_device", "launch")
_SPACES = (torch, torch.nn.functional, torch.linalg, torch.special, torch.fft)
# Names that the engine has another one for, where the call is the same.
_NAMES = {
    "bitwise_invert": "bitwise_not",
    "cumulative_prod": "cumprod",
    "cumulative_sum": "cumsum",
    "matrix_transpose": "adjoint",
    "max": "amax",
    "min": "amin",
    "permute_dims": "permute",
    "unique_values": "unique",
}
# The engine's own words of these calls.
_BY_HAND: dict[str, Callable[..., Any]] = {
    "take": lambda x, i, axis=0: torch.index_select(x, axis, i),
    "nn.layer_norm": lambda x, *given, axis=-1, eps=1e-5: _layer_norm(x, given, axis, eps),
    "ldexp": torch.ldexp,
    "nonzero": lambda x: torch.nonzero(x, as_tuple=True),
}

Numbers = tuple[int, ...]


class Row(NamedTuple):
    """The sums over a function's cases; ``beside`` has launches of ours and the engine's of the same cases."""

    eager: Numbers
    compiled: Numbers | None
    beside: Numbers | None


def _layer_norm(x: torch.Tensor, given: tuple[torch.Tensor, ...], axis: int, eps: float) -> torch.Tensor:
    if axis not in (-1, x.dim() - 1):
        raise TypeError("the engine takes the last axes")
    return torch.nn.functional.layer_norm(x, x.shape[-1:], *given, eps=eps)


def row_of(name: str) -> Row:
    """Return the numbers of a function."""
    # By chance the engine may draw what we do.
    torch.manual_seed(0)
    eager: Counter[str] = Counter()
    compiled: Counter[str] = Counter()
    beside: Counter[str] = Counter()
    can_compile = can_compare = False
    for case in CASES[name]:
        options = {}
        if not case.arrays and "device" in inspect.signature(find(name)).parameters:
            options["device"] = THERE
        call = partial(_call, name, case, options)
        mine = _counted(call, case)
        eager += mine
        if case.arrays and case.view is None:
            # Inductor has no simulated device. Calls that can't be traced have no numbers.
            with contextlib.suppress(ua.errors.TraceError, ua.errors.UnknownShapeError):
                compiled += _counted(ua.compile(call, fuse=False), case)
                can_compile = True
        theirs = _engines(name, case)
        if theirs is not None:
            beside.update(ours=mine["launch"], theirs=theirs["launch"])
            can_compare = True
    return Row(
        tuple(eager[kind] for kind in KINDS),
        tuple(compiled[kind] for kind in KINDS) if can_compile else None,
        (beside["ours"], beside["theirs"]) if can_compare else None,
    )


def _call(name: str, case: Case, options: dict[str, Any], *arrays: ua.Array) -> Any:
    return case.call(find(name), arrays, **options)


def _counted(function: Callable[..., Any], case: Case) -> Counter[str]:
    for time in range(FIRST + 1):
        arrays = [ua.asarray(x, copy=True, device=THERE) for x in case.arrays]
        with counting() as events:
            # It lives until everything is counted.
            result = function(*arrays)
        del result
        if time == FIRST:
            return events.counts
    raise AssertionError


def _engines(name: str, case: Case) -> Counter[str] | None:
    """Return the counts of the engine's function of that name, where there is one that gives the same."""
    if not case.arrays or case.view is not None or name in UNSET:
        return None
    for function in _named(name):
        with contextlib.suppress(Exception):
            given = [ua.asarray(x, copy=True, device=THERE) for x in case.arrays]
            expected = leaves(case.call(find(name), given))
            arrays = [torch.tensor(x, device=THERE) for x in case.arrays]
            with counting() as events:
                found = leaves(case.call(function, arrays))
            if _are_alike(found, expected):
                return events.counts
    return None


def _named(name: str) -> Iterator[Callable[..., Any]]:
    if name in _BY_HAND:
        yield _BY_HAND[name]
    short = name.rpartition(".")[2]
    for space in _SPACES:
        function = getattr(space, _NAMES.get(short, short), None)
        if function is not None:
            yield function


def _are_alike(found: list[Any], expected: list[Any]) -> bool:
    return len(found) == len(expected) and all(
        isinstance(mine, torch.Tensor)
        and isinstance(right, ua.Array)
        and mine.shape == right.shape
        and np.allclose(mine.cpu().numpy(), right.to_numpy(), equal_nan=True)
        for mine, right in zip(found, expected, strict=True)
    )


def _cells(numbers: Numbers | None, count: int) -> list[str]:
    return ["–"] * count if numbers is None else [str(each) for each in numbers]


def line_of(name: str, row: Row) -> str:
    """Return a row as a line of the page."""
    cells = [*_cells(row.eager, len(KINDS)), *_cells(row.compiled, len(KINDS)), *_cells(row.beside, 2)]
    return f"| `{name}` | {' | '.join(cells)} |"


def of_page() -> dict[str, Row]:
    """Return the rows of the page by name."""
    rows = {}
    for line in PAGE.read_text().splitlines():
        if line.startswith("| `"):
            first, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            numbers = [None if cell == "–" else int(cell) for cell in cells]
            parts = [tuple(numbers[place]) for place in (slice(0, 4), slice(4, 8), slice(8, 10))]
            rows[first.strip("`")] = Row(*(None if None in part else part for part in parts))  # type: ignore[arg-type]
    return rows


def engine_of_page() -> str:
    """Return the engine's version that the page was counted with."""
    return PAGE.read_text().partition("torch ")[2].partition(",")[0]


def engine_here() -> str:
    return str(torch.__version__).partition("+")[0]


def rises(now: Row, then: Row) -> list[str]:
    """Return which numbers are greater than they were."""
    found = []
    for title, mine, said in zip(("eager", "compiled"), now[:2], then[:2], strict=True):
        pairs = zip(KINDS, mine or (0,) * 4, said or (math.inf,) * 4, strict=True)
        found += [f"{title}, {kind}: {x}, and it was {y}" for kind, x, y in pairs if x > y]
    return found


def page() -> str:
    """Return the whole page."""
    rows = {name: row_of(name) for name in NAMES}
    lines = [HEAD.format(engine=engine_here()), _TITLES, "|---" * 11 + "|", _total(rows.values())]
    lines += [line_of(name, row) for name, row in rows.items()]
    return "\n".join([*lines, "", ON_HOST, *on_host(), "", WHY, *reasons(rows), ""])


def on_host() -> Iterator[str]:
    """Yield a line for each kernel that computes on the host, with the reason."""
    handle = load("torch")
    for name in sorted(handle.by_host):
        yield f"- `{name}`: {getattr(handle.kernels[name], 'reason', '')}."


def reasons(rows: dict[str, Row]) -> Iterator[str]:
    """Yield a line for each function that launches more than the engine's, with its kernel's reason or `REASONS`."""
    kernels = load("torch").kernels
    for name, row in rows.items():
        declaration = DECLARATIONS.get(name)
        if row.beside is None or declaration is None or row.beside[0] <= row.beside[1]:
            continue
        given = [getattr(kernels.get(each), "reason", None) or "" for each in (name, *declaration.kernels)]
        found = "; ".join(filter(None, dict.fromkeys("; ".join(given).split("; "))))
        yield f"- `{name}`, {row.beside[0]} for {row.beside[1]}: {found or BY_NAME[name]}."


def _total(rows: Iterable[Row]) -> str:
    columns = [_sum(part for part in map(itemgetter(place), rows) if part is not None) for place in range(3)]
    return f"| all | {' | '.join(str(each) for column in columns for each in column)} |"


def _sum(parts: Iterable[Numbers]) -> list[int]:
    return [sum(each) for each in zip(*parts, strict=True)]


_TITLES = (
    "| function | waits | to host | to device | launches | waits, compiled | to host | to device | launches "
    "| launches, ours | torch's |"
)
HEAD = """\
# What waits for the device

The table has what each function asks of an accelerator on torch, summed over its calls in `unifyarr/testing/cases`:
how often the host *waits*, copies *to the host* and *to the device*, and launches of kernels; eager, and in a compiled
function whose graph runs torch's kernels one by one. The last two columns have the launches of those calls that a
function of torch's with the same name does alike, ours beside torch's. A dash stands where there is nothing to compare,
and where a function can't be compiled.

The counts are those of the simulated device with torch {engine}, see [Accelerators](guides/accelerators.md). Earlier
calls have made what is kept for later ones. This page is generated by `docs/generate.py`. A number that rises fails a
test, and one that falls asks for the page to be written again.
"""


ON_HOST = """\
## What is computed on the host

The arguments of these kernels are copied to the host, and results back, but those of `gammainc` of 32 bits and less:
torch's has digits enough for them.
"""


WHY = """\
## Why more launches

Where torch's own kernel gives other values than the contract wants, the kernel of ours in its place says so. For
functions that are composed `tests/devices/reasons.py` does:
"""


if __name__ == "__main__":
    ua.set_backend("torch")
    install()
    # As with all tests: no array is made on the host by default.
    torch.set_default_device("sim:0")
    warnings.simplefilter("ignore")
    print(page(), end="")
