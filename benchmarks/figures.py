"""Save measurements as a figure of the documentation: a file that ``docs/pictures.py`` draws."""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

DISTRIBUTIONS = {"numpy": "numpy", "torch": "torch", "jax": "jax", "tensorflow": "tensorflow-cpu"}
LABELS = {"numpy": "NumPy", "torch": "torch", "jax": "JAX", "tensorflow": "TensorFlow"}
# Title of a panel -> the label of each of its rows -> what each series measured there, or nothing.
Panels = Mapping[str, Mapping[str, Sequence[float | None]]]


def write(path: str, panels: Panels, *, series: Sequence[str], unit: str, engines: Iterable[str], scale: str) -> None:
    """Write a figure: bars as long as their values, within a panel (``scale="panel"``) or a row (``scale="row"``)."""
    installed = [DISTRIBUTIONS[each] for each in DISTRIBUTIONS if each in {"numpy", *engines}]
    figure = {
        "command": f"python benchmarks/{Path(sys.argv[0]).name} {' '.join(arguments())}".strip(),
        "machine": ", ".join([cores(), *(f"{name} {importlib.metadata.version(name)}" for name in installed)]),
        "unit": unit,
        "scale": scale,
        "series": list(series),
        "panels": {
            title: {label: [rounded(value) for value in values] for label, values in rows.items()}
            for title, rows in panels.items()
            if rows
        },
    }
    Path(path).write_text(json.dumps(figure, indent=1, ensure_ascii=False) + "\n")


def cores() -> str:
    """Return on how many cores this runs."""
    count = os.cpu_count() or 1
    return "one core" if count == 1 else f"{'two' if count == 2 else count} cores"


def arguments() -> list[str]:
    """Return the arguments of the command line, without the file that the figure is written to."""
    given = sys.argv[1:]
    place = next((place for place, each in enumerate(given) if each.startswith("--figure")), len(given))
    return given[:place] + given[place + (1 if "=" in "".join(given[place : place + 1]) else 2) :]


def rounded(value: float | None) -> float | None:
    """Return a value in three digits."""
    return None if value is None else float(f"{value:.3g}")


def versions(distributions: Iterable[str]) -> dict[str, str]:
    """Return each package with its version, or with that it isn't installed."""

    def said(name: str) -> str:
        try:
            return f"{name} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            return f"{name} isn't installed"

    return {name: said(name) for name in distributions}
