"""``python -m tests.devices.report``: everything that an accelerator should show once, in ten minutes, as one page.

The page has the versions, the results of the tests, the launches of programs beside those of the simulation, and the
benchmarks. Each part is a process with a time limit, and the page is written after each: a part that hangs, crashes or
fails doesn't affect the others. Where no engine sees an accelerator, torch's simulated one is used, and only a share of
the parts runs.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
# Seconds that a process has to report after its limit.
GRACE = 15
FAILURES = 40
LAST_LINES = 25
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TF_FORCE_GPU_ALLOW_GROWTH": "true"}


class Part(NamedTuple):
    """A process whose output is a section of the page; ``share`` is that of the time that is left."""

    title: str
    command: tuple[str, ...]
    share: float
    is_table: bool = False


class Outcome(NamedTuple):
    """How a part ended; ``status`` is ``None`` if its time was over."""

    status: int | None
    output: str
    seconds: float


def parts(found: dict[str, str]) -> list[Part]:
    """Return the parts for the engines that see an accelerator, by their devices."""
    versions = Part("versions", ("-m", "unifyarr"), 2)
    several = [part for backend, device in found.items() for part in _parts_of(backend, device)]
    # The most telling parts come first, for all engines.
    return [versions, *sorted(several, key=lambda part: -part.share)]


def _parts_of(backend: str, device: str) -> list[Part]:
    tests = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--backends", backend)
    if device.startswith("sim"):
        share = ("--device", device, "--quick", "tests/devices/test_loops.py", "-k", "results_are")
        return [
            Part(f"{backend}: tests of devices, a share", (*tests, *share), 4),
            Part(f"{backend}: launches of programs", ("-m", "tests.devices.launches", f"{device}:1"), 3, True),
        ]
    there = ("--device", "cpu", "--there", device, "tests/devices")
    suite = ("--device", device, "--quick", "tests/functions", "tests/core", "tests/graph")
    found = [
        Part(f"{backend}: tests of devices", (*tests, *there), 5),
        Part(f"{backend}: the suite on the device", (*tests, *suite), 4),
    ]
    if backend in ("torch", "jax"):
        found.append(Part(f"{backend}: calls", ("benchmarks/overhead.py", backend, "--device", device), 2))
    if backend == "torch":
        device = device.replace("gpu", "cuda")
        fused = ("benchmarks/inductor.py", "--device", device, "--rounds", "5")
        found.append(Part("torch: launches of programs", ("-m", "tests.devices.launches", device), 4.5, True))
        found.append(Part("torch: programs under torch's compiler", fused, 3))
    return found


def run(part: Part, limit: float) -> Outcome:
    """Run a part; after its limit it is interrupted, so that it can report, and then killed."""
    begin = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, *part.command],
        cwd=ROOT,
        env={**QUIET, **os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    status: int | None = None
    try:
        output, _ = process.communicate(timeout=limit)
        status = process.returncode
    except subprocess.TimeoutExpired:
        # Its own children are in its group, and nothing else is.
        os.killpg(process.pid, signal.SIGINT)
        try:
            output, _ = process.communicate(timeout=GRACE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
    return Outcome(status, output, time.monotonic() - begin)


def section(part: Part, outcome: Outcome) -> str:
    """Return the lines of the page for a part."""
    how = "its time was over" if outcome.status is None else f"status {outcome.status}"
    head = f"## {part.title}\n\n`python {' '.join(part.command)}`: {how}, {outcome.seconds:.0f} s\n"
    lines = outcome.output.splitlines()
    if part.is_table:
        table = [line for line in lines if line.startswith("|")]
        rest = lines[-LAST_LINES:] if outcome.status else []
        return "\n".join([head, *table, "", *_fenced(rest)])
    if "pytest" not in part.command:
        return "\n".join([head, *_fenced(lines)])
    totals = [line for line in lines if re.search(r"\d+ (passed|failed|error)", line)][-1:]
    failures = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
    # A crash has no summary, and tells by its last lines.
    rest = [] if totals and not (outcome.status and not failures) else lines[-LAST_LINES:]
    more = [f"... {len(failures) - FAILURES} more"] if len(failures) > FAILURES else []
    return "\n".join([head, *totals, "", *_fenced([*failures[:FAILURES], *more, *rest])])


def _fenced(lines: Sequence[str]) -> list[str]:
    return ["```", *(line.replace("```", "'''") for line in lines), "```", ""] if lines else []


def heading(found: dict[str, str], minutes: float) -> str:
    """Return the beginning of the page: the machine and the versions."""
    device = ", ".join(f"{backend} on {name}" for backend, name in found.items())
    lines = [
        f"# {device}\n",
        f"{time.strftime('%Y-%m-%d %H:%M')}, at most {minutes:g} minutes, {platform.platform()}\n",
    ]
    lines += _fenced(_device_facts())
    return "\n".join(lines)


def _device_facts() -> list[str]:
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=GRACE)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.splitlines()


def accelerators() -> dict[str, str]:
    """Return the engines that see an accelerator and its name, asked in a process of its own, which then is let go."""
    outcome = run(Part("", ("-m", "tests.accelerators"), 1), 120)
    pairs = [line.split() for line in outcome.output.splitlines()]
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and pair[0] in ("torch", "jax", "tensorflow")}


def write(path: Path, found: dict[str, str], minutes: float) -> bool:
    """Run all parts, write the page, and return whether none of them failed or ran out of time."""
    end = time.monotonic() + 60 * minutes
    page = heading(found, minutes)
    succeeded = True
    left = parts(found)
    while left:
        part = left[0]
        # Time that earlier parts didn't use is left to later ones.
        limit = (end - time.monotonic()) * part.share / sum(each.share for each in left) - GRACE
        outcome = run(part, max(limit, 1.0))
        succeeded = succeeded and outcome.status == 0
        page += "\n" + section(part, outcome)
        path.write_text(page)
        print(f"{part.title}: {'out of time' if outcome.status is None else outcome.status}", flush=True)
        left = left[1:]
    return succeeded


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--report", type=Path, default=Path("gpu-report.md"))
    parser.add_argument("--device", help="sim: the simulated device of torch, whatever there is")
    options = parser.parse_args()
    begin = time.monotonic()
    found = {"torch": "sim"} if options.device == "sim" else accelerators()
    if not found:
        print("no engine sees an accelerator here: torch's simulated device stands in")
        found = {"torch": "sim"}
    succeeded = write(options.report, found, options.minutes - (time.monotonic() - begin) / 60)
    print(f"the report is {options.report}")
    return 0 if succeeded else 1


if __name__ == "__main__":
    sys.exit(main())
