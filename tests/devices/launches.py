"""``python -m tests.devices.launches DEVICE``: launches of programs on a device, and times as ratios to torch by hand.

On the simulation its own counters count, on an accelerator torch's profiler does. Without a device it prints the page
with the table of the simulation's launches, which `docs/generate.py` writes.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

import unifyarr as ua

from .programs import PROGRAMS, writings

PAGE = Path(__file__).parents[2] / "docs/guides/accelerators.md"
TITLES = [f"{name}{kind}" for name, each in PROGRAMS.items() for kind in ("", ", gradient")[: 1 + each.has_gradient]]
HEAD = "| program | eager | compiled | torch, by hand |\n|---|---|---|---|\n"
# The simulated device that isn't the default one.
THERE = "sim:1"
# Calls before counting, to fill caches and compile.
FIRST = 2
ROUNDS, CALLS = 7, 10

# Launches, and how often host and device meet.
Numbers = tuple[int, int]


def counted(run: Callable[[], Any], device: str) -> Numbers:
    """Return the launches of a later call on a device, and how often it waits or copies between host and device."""
    for _ in range(FIRST):
        run()
    if not device.startswith("sim"):
        return tally(profiled(run))
    from .counting import counting

    with counting() as events:
        run()
    counts = dict(events.counts)
    return counts.pop("launch", 0), sum(counts.values())


def profiled(run: Callable[[], Any]) -> list[str]:
    """Return the events of the accelerator in a call, as torch's profiler names them."""
    torch.accelerator.synchronize()
    with torch.profiler.profile() as profile:
        run()
        torch.accelerator.synchronize()
    host = torch.autograd.DeviceType.CPU
    return [event.name for event in profile.events() or () if event.device_type != host]


def tally(names: Iterable[str]) -> Numbers:
    """Return the launches among an accelerator's activities, and the copies between host and device."""
    kinds = Counter("copy" if "HtoD" in name or "DtoH" in name else "launch" for name in names)
    return kinds["launch"], kinds["copy"]


def of_page() -> dict[str, list[Numbers]]:
    """Return the numbers of the page by the program's title, those of the simulation: eager, compiled, by hand."""
    lines = PAGE.read_text().partition(HEAD)[2].partition("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {title: [_numbers(cell) for cell in found] for title, *found in cells}


def page() -> str:
    """Return the page, with the table counted anew."""
    before, begin, rest = PAGE.read_text().partition(HEAD)
    lines = [f"| {title} | {' | '.join(map(shown, now(title)))} |" for title in TITLES]
    return before + begin + "\n".join(lines) + "\n\n" + rest.partition("\n\n")[2]


def now(title: str) -> list[Numbers]:
    """Return a program's numbers on the simulation: eager, compiled, by hand."""
    return [counted(run, THERE) for run in writings(title, THERE).values()]


def _numbers(cell: str) -> Numbers:
    launches, _, others = cell.rstrip(")").partition(" (")
    return int(launches), int(others or 0)


def shown(numbers: Numbers) -> str:
    """Return numbers as the page has them."""
    return f"{numbers[0]} ({numbers[1]})" if numbers[1] else f"{numbers[0]}"


def ratios(runs: dict[str, Callable[[], Any]]) -> list[float]:
    """Return the time of each run as a ratio to the last one's, the median of rounds in which they take turns."""
    took: list[list[float]] = [[] for _ in runs]
    for _ in range(ROUNDS):
        for times, run in zip(took, runs.values(), strict=True):
            torch.accelerator.synchronize()
            begin = time.perf_counter()
            for _ in range(CALLS):
                run()
            torch.accelerator.synchronize()
            times.append(time.perf_counter() - begin)
    return [statistics.median(x / y for x, y in zip(times, took[-1], strict=True)) for times in took]


def line(title: str, device: str) -> str:
    """Return a line of the table: launches beside those of the simulation, and times."""
    runs = writings(title, device)
    found = [counted(run, device) for run in runs.values()]
    cells = [f"{shown(now)} / {shown(said)}" for now, said in zip(found, of_page()[title], strict=True)]
    eager, compiled, _ = ratios(runs)
    return " | ".join([f"| {title}", *cells, f"{eager:.2f}", f"{compiled:.2f} |"])


def main(device: str | None = None) -> int:
    """Print the table; the status is 1 if a program fails, which the others outlive."""
    ua.set_backend("torch")
    if device is None or device.startswith("sim"):
        from .simulated import install

        install()
    if device is None:
        # As with all tests: no array is made on the host by default.
        torch.set_default_device("sim:0")
        print(page(), end="")
        return 0
    print("| program | eager | compiled | torch, by hand | time, eager | compiled |\n|---|---|---|---|---|---|")
    status = 0
    for title in TITLES:
        try:
            print(line(title, device), flush=True)
        # An accelerator's libraries raise errors of their own.
        except Exception as error:
            status = 1
            print(
                f"| {title} | {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''} |", flush=True
            )
    return status


if __name__ == "__main__":
    status = main(*sys.argv[1:])
    sys.stdout.flush()
    # Autograd's threads of the devices may still wait for the interpreter, and abort the process where that ends first.
    os._exit(status)
