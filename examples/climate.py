"""Follow the weather of a warming globe through many years: more data than memory, in pure unifyarr, on any backend.

The temperature of each day and place follows from a formula: seasons, weather that moves, and a warming that the
program has to find. Measurements are smoothed by a stencil that writes through views, wrong ones are replaced by a
mask, the mean year is taken off, and what is left is reduced to a curve, maps and percentiles. Nothing in it names an
engine: NumPy takes a small part, JAX spreads the years over several devices, and dask computes 30 GB in chunks of days,
on the threads of one process or on workers. The stencil crosses places, so that no chunk ends between them.

python examples/climate.py [--backend numpy|torch|jax|tensorflow|dask] [--years 8] [--days 24] [--places 60x120]
    [--devices 8] [--workers 2] [--picture climate.png]

30 GB on dask: ``--backend dask --years 160 --days 365 --places 180x360 --chunk-days 73``.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

import unifyarr as ua

WARMING = 0.03  # degrees a year
COLDEST = -45.0  # that sensors measure
WARM = 4.0
# How much of the difference to its neighbours a place takes over.
SMOOTHING = 0.2


@dataclass
class Globe:
    """How many years, days of each, and places from south to north and from west to east, in chunks of days."""

    years: int
    days: int
    height: int
    width: int
    chunk_days: int

    @property
    def gigabytes(self) -> float:
        """What all temperatures take."""
        return self.years * self.days * self.height * self.width * 8 / 1e9


@dataclass
class Climate:
    """What a run finds, as NumPy's arrays, and the seconds it took."""

    curve: np.ndarray  # the mean anomaly of each year
    hottest: np.ndarray  # the highest anomaly of each place
    share: np.ndarray  # the share of the days of each place that are 4 degrees too warm
    extremes: np.ndarray  # the 90th percentile of the highest anomalies of all years, of each place
    spread: np.ndarray  # from the 5th to the 95th percentile of the latitudes on each day
    seconds: float

    @property
    def warming(self) -> float:
        """Degrees a year, by a line through the curve."""
        return float(np.polyfit(np.arange(len(self.curve)), self.curve, 1)[0])


def places(globe: Globe, place: Callable[[ua.Array], ua.Array]) -> tuple[ua.Array, ...]:
    """Return years, days, latitudes and longitudes, each along its axis; ``place`` puts the years where they belong."""
    with ua.using_chunks({0: 1}):
        year = place(ua.arange(float(globe.years)))
    with ua.using_chunks({0: globe.chunk_days}):
        day = ua.arange(float(globe.days))
    latitude = ua.linspace(-np.pi / 2, np.pi / 2, globe.height)
    longitude = ua.linspace(0.0, 2 * np.pi, globe.width)
    return year[:, None, None, None], day[:, None, None], latitude[:, None], longitude


def measured(year: ua.Array, day: ua.Array, latitude: ua.Array, longitude: ua.Array) -> ua.Array:
    """Return the temperature by year, day, latitude and longitude: smoothed, and without those that can't be."""
    # What needs few numbers is computed with few: all that has the whole shape is on the last lines.
    season = 2 * np.pi * day / day.shape[0]
    normal = 45 * ua.cos(latitude) - 18 - 12 * ua.sin(latitude) * ua.cos(season)
    east = ua.sin(3 * longitude + 2 * latitude)
    front = 2.1 * day + 1.7 * year + 4 * latitude
    height = 4 + 2 * ua.cos(1.3 * year + 0.11 * day)
    x = ua.sin(front + 5 * longitude) * height * east + (normal + WARMING * year)
    # Some sensors freeze in the coldest days.
    x[x < COLDEST] = 0.0
    # Those at the pole measure nothing.
    x[:, :, -1, ::7] = 0.0
    inner = x[:, :, 1:-1, 1:-1]
    around = x[:, :, :-2, 1:-1] + x[:, :, 2:, 1:-1] + x[:, :, 1:-1, :-2] + x[:, :, 1:-1, 2:]
    inner += SMOOTHING * (0.25 * around - inner)
    return x


@ua.compile
def mean_year(*places: ua.Array) -> ua.Array:
    """Return the mean of each day of the year."""
    return ua.mean(measured(*places), axis=0)


@ua.compile
def reduced(usual: ua.Array, weight: ua.Array, *places: ua.Array) -> tuple[ua.Array, ...]:
    """Return what is left of the anomalies: a curve, maps by year and of all years, and percentiles of each day."""
    anomaly = measured(*places) - usual
    curve = ua.mean(ua.sum(anomaly * weight, axis=(2, 3)), axis=1)
    warm = ua.mean(ua.astype(anomaly > WARM, anomaly.dtype), axis=(0, 1))
    zones = ua.mean(anomaly, axis=3)
    low, high = (ua.quantile(zones, q, axis=2) for q in (0.05, 0.95))
    return curve, ua.max(anomaly, axis=1), warm, high - low


def analyse(globe: Globe, place: Callable[[ua.Array], ua.Array] = lambda x: x) -> Climate:
    """Return what the data of a globe tell, in two passes: the second one needs the mean year of the first."""
    began = time.perf_counter()
    given = places(globe, place)
    # The temperatures are made twice. To keep them for the second pass would take all of the memory.
    usual = ua.persist(mean_year(*given))
    latitude = given[2]
    # What all chunks need is computed before: they don't wait for it in memory.
    weight = ua.compute(ua.cos(latitude) / (ua.sum(ua.cos(latitude)) * globe.width))
    # The highest of each year stay where they were computed: two more reductions read them there.
    curve, highest, warm, spread = ua.persist(*reduced(usual, weight, *given))
    found = ua.compute(curve, ua.max(highest, axis=0), warm, ua.quantile(highest, 0.9, axis=0), spread)
    return Climate(*(x.to_numpy() for x in found), seconds=time.perf_counter() - began)


# -- where it runs -----------------------------------------------------------------------------------------------------


def over_devices(count: int) -> Callable[[ua.Array], ua.Array]:
    """Return what spreads a first axis over JAX's devices."""
    import jax
    from jax.sharding import Mesh

    mesh = Mesh(np.array(jax.devices()[:count]), ("years",))
    return lambda x: ua.shard(x, mesh, "years")


@contextmanager
def cluster(workers: int, memory: str) -> Iterator[None]:
    """Compute on so many processes of dask's, inside of the block; without any on the threads of this one."""
    if not workers:
        yield
        return
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, memory_limit=memory, dashboard_address=None) as local,
        Client(local),
    ):
        yield


def picture(climate: Climate, path: str) -> None:
    """Draw the curve and the maps; without matplotlib print the curve."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        low, high = climate.curve.min(), climate.curve.max()
        for year, each in enumerate(climate.curve):
            print(f"{year:4d} {each:+6.2f} {'#' * round(1 + 59 * (each - low) / (high - low or 1.0))}")
        return
    figure = Figure(figsize=(11, 6), layout="constrained")
    panels = figure.subplots(2, 2)
    panels[0, 0].plot(climate.curve, color="firebrick")
    panels[0, 0].set(title=f"mean anomaly: {climate.warming:+.4f} degrees a year", xlabel="year", ylabel="degrees")
    maps = {"days 4 degrees too warm": climate.share, "highest anomaly": climate.hottest}
    maps["90th percentile of the years' highest"] = climate.extremes
    for panel, (title, values) in zip(panels.flat[1:], maps.items(), strict=True):
        figure.colorbar(panel.imshow(values, origin="lower", aspect="auto", cmap="inferno"), ax=panel)
        panel.set(title=title, xticks=[], yticks=[])
    figure.savefig(path, dpi=110)
    print(f"picture: {path}")


def main() -> None:
    """Run on the chosen backend, print what was found, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="numpy")
    parser.add_argument("--years", type=int, default=8)
    parser.add_argument("--days", type=int, default=24)
    parser.add_argument("--places", default="60x120")
    parser.add_argument("--chunk-days", type=int, default=6, help="days in one chunk, on dask")
    parser.add_argument("--devices", type=int, default=0, help="devices of the CPU, on JAX")
    parser.add_argument("--workers", type=int, default=0, help="processes, on dask; 0 for threads of this one")
    parser.add_argument("--memory", default="4GB", help="of each worker")
    parser.add_argument("--picture", default="climate.png")
    options = parser.parse_args()
    if options.devices:
        # Read when JAX is imported.
        os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={options.devices}"
    height, width = map(int, options.places.split("x"))
    globe = Globe(options.years, options.days, height, width, options.chunk_days)
    with ua.use_backend(options.backend), cluster(options.workers, options.memory):
        climate = analyse(globe, over_devices(options.devices) if options.devices else lambda x: x)
    where = f"{options.devices} devices" * (options.devices > 0) + f"{options.workers} workers" * (options.workers > 0)
    print(f"{options.backend:<11}{where:<12}{globe.gigabytes:.2f} GB, {climate.seconds:.1f} s")
    print(f"warming {climate.warming:+.5f} degrees a year, hottest {climate.hottest.max():+.3f}")
    print(f"days 4 degrees too warm: {climate.share.mean():.4f}; spread of latitudes {climate.spread.mean():.3f}")
    print(f"peak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")
    picture(climate, options.picture)


if __name__ == "__main__":
    main()
