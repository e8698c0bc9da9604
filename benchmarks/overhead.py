"""Overhead of a call over the engine's own call, in one run: interleaved, on arrays of 4 elements, peers beside it.

python benchmarks/overhead.py [BACKEND ...] [--only TEXT] [--peers A,B] [--json FILE] [--compare OLD] [--picture FILE]
                               [--device NAME]

Times are microseconds of the CPU, the least of many short batches. All rows take turns, since a machine may be slow for
seconds, and each backend has a process of its own. ``benchmarks/calls/rows.py`` has the rows, and
``benchmarks/calls/peers.py`` the packages beside ours: those that are installed take part.

``--json`` saves the times, and ``--compare`` names the rows that got slower since: the status is 1 if there are any.
``--picture`` draws an SVG. ``--device`` puts the arrays of torch or JAX on one of their devices, such as ``gpu``: then
the CPU time of launches is compared, since a batch ends before the device has caught up.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import statistics
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
import unifyarr as ua
from benchmarks.calls import names, peers
from benchmarks.calls.reports import MACHINE, Found, change, header, line, slower, summary
from benchmarks.calls.rows import ASSIGNED, rows
from benchmarks.calls.timing import PASSES, Timed, machine
from benchmarks.programs import ENGINES
from tests.engines import make_arrays_on


def measure(backend: str, only: list[str], wanted: tuple[str, ...]) -> Found:
    """Return the microseconds of each row, by who did it; print them."""
    others = peers.statements(backend)
    present = tuple(peers.peers(backend, wanted, names.of_engine(backend)))
    wanted_rows = [row for row in rows(backend) if any(text in row.ours for text in only or [""])]
    timed = {MACHINE: machine()}
    for row in wanted_rows:
        # The names are new for each row: statements write into arrays.
        natives = names.of_engine(backend)
        statements = {"ours": (row.ours, names.ours())}
        if row.native is not None:
            statements["native"] = (row.native, natives)
        for peer, space in peers.peers(backend, present if row.ours in others else (), natives).items():
            text = others[row.ours].get(peer)
            if text and works(text, space):
                statements[peer] = (text, space)
        timed[row.ours] = Timed(statements, ASSIGNED)
    for _ in range(PASSES):
        for each in timed.values():
            each.measure()
    found = {text: each.best for text, each in timed.items()}
    print(f"\n{header(backend, present)}")
    for section, each in groupby(wanted_rows, key=lambda row: row.section):
        print(f"  -- {section}", *(line(row.ours, found[row.ours], present) for row in each), sep="\n  ")
    return found


def works(statement: str, space: names.Names) -> bool:
    """Return whether a peer has the call for the engine."""
    try:
        exec(statement, dict(space))
    except Exception:
        return False
    return True


def import_time() -> float:
    """Return the milliseconds of an import, over that of NumPy."""
    with tempfile.TemporaryDirectory() as caches:
        # As installed packages are: with their bytecode compiled.
        environment = {
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[1]),
            "PYTHONPYCACHEPREFIX": caches,
            "PYTHONDONTWRITEBYTECODE": "",
        }

        def seconds(module: str) -> float:
            code = f"import numpy, time; t = time.process_time(); import {module}; print(time.process_time() - t)"
            command = [sys.executable, "-c", code]
            return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)

        seconds("unifyarr")
        return 1e3 * statistics.median(seconds("unifyarr") for _ in range(21))


def versions() -> dict[str, str]:
    found = {}
    for each in ("numpy", "torch", "jax", "tensorflow", "tensorflow-cpu", *peers.PEERS):
        try:
            found[each] = importlib.metadata.version(each.replace("_", "-"))
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def apart(backend: str, only: list[str], wanted: str, device: str | None = None) -> Found:
    """Return the result of ``measure`` in a process of its own, where no other engine has threads."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "found.json")
        command = [sys.executable, __file__, backend, f"--peers={wanted}", *(f"--only={text}" for text in only)]
        command += [f"--device={device}"] if device else []
        subprocess.run([*command, "--measured", str(result)], check=True)
        found: Found = json.loads(result.read_text())
        return found


def compare(before: dict[str, Found], after: dict[str, Found], device: str | None) -> list[str]:
    """Return lines about the rows that got slower; candidates are measured a second time."""
    lines = []
    for backend, found in after.items():
        old = before.get(backend, {})
        if texts := list(slower(old, found)):
            again = apart(backend, texts, "", device)
            lines += [
                f"{backend:10} {text:30} {change(old, again, text)}" for text in slower(old, again) if text in texts
            ]
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("backends", nargs="*", default=[each for each in ENGINES if each in ua.available_backends()])
    parser.add_argument("--only", action="append", default=[], help="rows whose statement has this text")
    parser.add_argument("--peers", default=",".join(peers.PEERS), help="packages to compare with")
    parser.add_argument("--json", type=Path, help="keep the times in this file")
    parser.add_argument("--compare", type=Path, help="name the rows that got slower since this file was kept")
    parser.add_argument("--picture", type=Path, help="draw an SVG")
    parser.add_argument("--device", help="the device where torch or JAX makes the arrays")
    parser.add_argument("--measured", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measured:
        [backend] = options.backends
        ua.set_backend(backend)
        if options.device:
            make_arrays_on(backend, options.device)
        found = measure(backend, options.only, tuple(filter(None, options.peers.split(","))))
        options.measured.write_text(json.dumps(found))
        return 0
    every = {backend: apart(backend, options.only, options.peers, options.device) for backend in options.backends}
    for backend, found in every.items():
        print(f"\n{backend}", *summary(backend, found), sep="\n  ")
    if not options.only:
        print(f"\nimport unifyarr: {import_time():.0f} ms over import numpy")
    if options.json:
        options.json.write_text(json.dumps({"versions": versions(), "microseconds": every}, indent=1) + "\n")
    if options.picture:
        from benchmarks.calls.picture import drawn

        options.picture.write_text(drawn(every))
    if options.compare:
        lines = compare(json.loads(options.compare.read_text())["microseconds"], every, options.device)
        print("\nSlower than before:", *lines or ["nothing"], sep="\n  ")
        return int(bool(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
