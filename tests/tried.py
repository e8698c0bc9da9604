"""What passes with the installed versions: ``python -m tests.tried ENGINE [--record FILE] [pytest arguments]``.

It runs the self-test and the quick tests of core, functions, graph and derivatives on one engine, says which private
names of it are gone, and returns 1 where something failed. ``--record`` notes the counts in a file, of which
``docs/generate.py`` makes the table in ``docs/versions.md``.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from unifyarr.backends.references import has_no_lock

ROOT = Path(__file__).parents[1]
TESTS = tuple(f"tests/{name}" for name in ("test_signatures.py", "core", "functions", "graph", "derivatives"))
# What tells two lines of the table apart.
KEY = ("python", "engine", "version", "numpy")


def main(arguments: list[str] | None = None) -> int:
    """Run the tests, print what failed, and note the counts."""
    parser = argparse.ArgumentParser(prog="python -m tests.tried", description=__doc__)
    parser.add_argument("engine")
    parser.add_argument("--record", type=Path, help="the file in which the counts are noted")
    parser.add_argument("--seconds", type=float, default=60.0, help="the time for the self-test, 60 if not given")
    options, others = parser.parse_known_args(arguments)
    found = installed(options.engine)
    check = run("unifyarr", "check", options.engine, "--seconds", str(options.seconds))
    tried = {**found, "self-test": check == 0, **quick(options.engine, others)}
    tried["date"] = datetime.datetime.now(datetime.UTC).date().isoformat()
    for name in found["gone"]:
        print(f"gone: {name}")
    for name in tried["failures"]:
        print(f"failed: {name}")
    print(" ".join(f"{tried[each]} {each}" for each in ("passed", "failed", "skipped")))
    if options.record is not None:
        note(options.record, tried)
    return int(check != 0 or bool(tried["failed"]))


def run(*command: str) -> int:
    """Run a module of Python's in this environment, and return its exit status."""
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=False).returncode


def installed(engine: str) -> dict[str, Any]:
    """Return the versions of the interpreter, the engine and NumPy, and the private names that are gone."""
    command = [sys.executable, "-m", "unifyarr", "--json"]
    everything = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    backend = everything["backends"].get(engine, {"why": f"no backend is named {engine!r}"})
    if "why" in backend:
        raise SystemExit(backend["why"])
    return {
        "python": platform.python_version() + ("t" if has_no_lock() else ""),
        "engine": engine,
        "version": backend["version"].partition("+")[0],
        "numpy": everything["packages"]["numpy"],
        "gone": backend["private names that are gone"],
    }


def quick(engine: str, arguments: list[str]) -> dict[str, Any]:
    """Run the quick tests, and return their counts."""
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory) / "report.xml"
        options = ("--quick", "-q", "-n", "2", "-p", "no:cacheprovider", "--backends", engine, f"--junitxml={report}")
        run("pytest", *options, *(arguments or TESTS))
        if not report.exists():
            raise SystemExit("pytest ran no test: see what it printed above")
        return counts(report)


def counts(report: Path) -> dict[str, Any]:
    """Return how many tests of a report passed, failed and were skipped, and the names of those that failed."""
    cases = list(ElementTree.parse(report).iter("testcase"))
    failures = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    skipped = sum(case.find("skipped") is not None for case in cases)
    return {
        "passed": len(cases) - len(failures) - skipped,
        "failed": len(failures),
        "skipped": skipped,
        "failures": [f"{case.get('classname')}.{case.get('name')}" for case in failures],
    }


def note(path: Path, tried: dict[str, Any]) -> None:
    """Add a line to a file, in place of one with the same versions."""
    lines = json.loads(path.read_text()) if path.exists() else []
    key = [tried[each] for each in KEY]
    lines = [each for each in lines if [each[name] for name in KEY] != key]
    lines.append(tried)
    lines.sort(key=order)
    path.write_text(json.dumps(lines, indent=1) + "\n")


def order(tried: dict[str, Any]) -> tuple[Any, ...]:
    """Return what the lines of a file are sorted by: the engine, its version, and the others."""

    def numbers(version: str) -> list[int]:
        return [int(each) for each in re.findall(r"\d+", version)]

    return (tried["engine"], *(numbers(tried[each]) for each in ("version", "numpy", "python")), tried["python"])


if __name__ == "__main__":
    sys.exit(main())
