"""Waves in a basin of shallow water that turns with the Earth: heights and velocities, stepped in place.

A hill of water collapses. Waves run to the walls and along them, and a vortex stays, which drifts to the west because
the Coriolis parameter grows to the north. Heights stand in the middles of the cells, velocities on their faces
(Arakawa's grid C). Walls are the faces that no step writes to.

python examples/gallery/ocean.py [--backend numpy|torch|jax|tensorflow] [--plot FILE]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import unifyarr as ua

Arrays = tuple[np.ndarray, ...]
# Metres of a cell, of the water's depth; m/s^2; 1/s in the south, and how much it grows to the north of the basin.
CELL, DEPTH, GRAVITY, CORIOLIS, BETA = 20e3, 100.0, 9.81, 8e-5, 4e-5
SECONDS = 250.0
SNAPSHOTS, STEPS = 4, 150


def data(size: int = 200, snapshots: int = SNAPSHOTS, steps: int = STEPS) -> tuple[Any, ...]:
    """Return the height of the hill, the Coriolis parameter of each row, and how many snapshots and steps to take."""
    y, x = np.mgrid[:size, :size] / size
    hill = np.exp(-((x - 0.6) ** 2 + (y - 0.5) ** 2) / 0.003)
    return hill, CORIOLIS + BETA * np.linspace(0.0, 1.0, size)[:, None], snapshots, steps


def step(height: Any, east: Any, north: Any, coriolis: Any) -> None:
    """Step the water once, in place: arrays of any kind that can be written."""
    across = 0.25 * (north[:-1, :-1] + north[1:, :-1] + north[:-1, 1:] + north[1:, 1:])
    slope = (GRAVITY / CELL) * (height[:, 1:] - height[:, :-1])
    east[:, 1:-1] += SECONDS * (coriolis * across - slope)
    across = 0.25 * (east[:-1, :-1] + east[1:, :-1] + east[:-1, 1:] + east[1:, 1:])
    slope = (GRAVITY / CELL) * (height[1:, :] - height[:-1, :])
    north[1:-1, :] -= SECONDS * (0.5 * (coriolis[1:] + coriolis[:-1]) * across + slope)
    # Water flows through a face as deep as the cells beside it are in the middle.
    column = DEPTH + height
    flow_east, flow_north = east * DEPTH, north * DEPTH
    flow_east[:, 1:-1] = east[:, 1:-1] * (0.5 * (column[:, 1:] + column[:, :-1]))
    flow_north[1:-1, :] = north[1:-1, :] * (0.5 * (column[1:, :] + column[:-1, :]))
    height -= (SECONDS / CELL) * (flow_east[:, 1:] - flow_east[:, :-1] + flow_north[1:, :] - flow_north[:-1, :])


@ua.compile
def steps_of(height: ua.Array, east: ua.Array, north: ua.Array, coriolis: ua.Array, count: int) -> None:
    """Step the water so many times."""
    ua.fori_loop(0, count, lambda _, __: step(height, east, north, coriolis), None)


def solve(hill: np.ndarray, rows: np.ndarray, snapshots: int, steps: int) -> Any:
    """Return the heights at some times, as an array of shape (snapshots, rows, columns)."""
    height, coriolis = ua.asarray(hill, copy=True), ua.asarray(rows)
    size = len(hill)
    east, north = ua.zeros((size, size + 1)), ua.zeros((size + 1, size))
    heights = ua.empty((snapshots, size, size))
    for place in range(snapshots):
        steps_of(height, east, north, coriolis, steps)
        heights[place] = height
    return heights


def plot(heights: np.ndarray, path: str) -> None:
    """Draw the heights."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, len(heights), figsize=(8, 2.2), layout="constrained", squeeze=False)
    for place, (axes, height) in enumerate(zip(panels[0], heights, strict=True), 1):
        axes.imshow(height[::4, ::4], origin="lower", cmap="RdBu_r", vmin=-0.15, vmax=0.15, interpolation="nearest")
        axes.set(xticks=[], yticks=[], title=f"{place * STEPS * SECONDS / 3600:.0f} hours")
    figure.savefig(path, dpi=80)


def main() -> None:
    """Run on the backend that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="numpy")
    parser.add_argument("--plot", metavar="FILE")
    options = parser.parse_args()
    ua.set_backend(options.backend)
    began = time.perf_counter()
    heights = np.asarray(solve(*data()))
    print(f"{options.backend}: {time.perf_counter() - began:.2f} s, highest {heights[-1].max():.6f} m")
    if options.plot:
        plot(heights, options.plot)


if __name__ == "__main__":
    main()
