"""The examples give the same on every backend, on a part of their data."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageColor

import unifyarr as ua

from .natives import skip_without_derivatives
from .transformations.through import engines

EXAMPLES = Path(__file__).parents[1] / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Where dataclasses look for the types of their annotations.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def colours_of(example: ModuleType, backends: Iterable[str]) -> set[Any]:
    return {ImageColor.getrgb(example.COLOURS[name]) for name in backends}


def colours_in(image: Image.Image) -> set[Any]:
    return {colour for _, colour in image.getcolors(maxcolors=image.width * image.height) or []}


@pytest.mark.parametrize("name", ["attention", "conductivity", "denoise", "digits"])
def test_all_backends_are_those_that_compute_at_once(name: str) -> None:
    """dask has no derivatives, and takes minutes for loops of small steps: climate.py is its example."""
    backends = load(name).BACKENDS
    assert "numpy" in backends
    assert "dask" not in backends


# torch's optimizers import triton where it's installed, which dies in a process that has imported TensorFlow.
@pytest.mark.alone("numpy", "torch", engines=("numpy", "torch", "jax"))
def test_attention_gives_the_same_on_every_backend(backend: str) -> None:
    skip_without_derivatives(backend)
    example = load("attention")
    example.BATCH, example.CONTEXT, example.WIDTH, example.LAYERS = 4, 16, 16, 1
    results = [example.run(backend, 10, length=5, through=engine) for engine in engines(backend)]
    if engines("numpy"):
        results.append(example.run("numpy", 10, length=5))
    for result in results:
        np.testing.assert_allclose(result.losses, results[-1].losses, rtol=0, atol=1e-6)
        assert result.losses[-1] < result.losses[0] - 0.1
        assert result.text == results[-1].text
        assert len(result.text) == 5
    assert ua.current_backend() == backend


def test_attention_draws_each_curve() -> None:
    example = load("attention")
    losses = {"numpy": [4.0, 3.0, 2.5], "torch": [4.0, 3.0, 2.5], "jax": [4.0, 3.0 + 1e-9, 2.5]}
    assert colours_of(example, losses) <= colours_in(example.picture(losses))


def test_conductivity_is_the_same_on_every_backend(backend: str) -> None:
    skip_without_derivatives(backend)
    example = load("conductivity")
    example.SIDE, example.TIMES = 12, 30
    results = {name: example.run(name, 40) for name in (backend, "numpy")}
    one, other = results[backend], results["numpy"]
    np.testing.assert_allclose(one.losses, other.losses, rtol=1e-8)
    np.testing.assert_allclose(one.found, other.found, rtol=1e-7)
    assert one.losses[-1] < 0.2 * one.losses[0]
    assert one.error < 0.9 * example.error_of(np.ones((12, 12)))
    losses = dict.fromkeys(("numpy", "torch"), one.losses)
    assert colours_of(example, losses) <= colours_in(example.picture(one.found, losses))


def test_the_plate_of_conductivity_keeps_its_heat(backend: str) -> None:
    """The flow out of one cell goes into its neighbour, so that all heat that came in is there in the end."""
    example = load("conductivity")
    example.SIDE, example.TIMES = 12, 7
    sources = example.heat()
    temperature = example.temperatures(ua.asarray(example.plate()), sources)
    came_in = example.TIMES * example.STEP * sources
    np.testing.assert_allclose(float(ua.sum(temperature)), float(ua.sum(came_in)), rtol=1e-12)
    assert float(ua.max(ua.abs(temperature - came_in))) > 0.01


@pytest.mark.chunks(64)
def test_denoise_gives_the_same_on_every_backend(backend: str) -> None:
    example = load("denoise")
    truth = example.photograph("flower.jpg")[:, 100:148, 180:244]
    noisy = example.with_noise(truth)
    images = {name: example.run(name, noisy, 30).image for name in (backend, "numpy")}
    np.testing.assert_allclose(images[backend], images["numpy"], rtol=0, atol=1e-10)
    assert images[backend].shape == truth.shape
    assert example.quality(images[backend], truth) > example.quality(noisy, truth) + 6
    assert example.picture(noisy, images[backend]).size == (3 * 64, 48)


def test_digits_gives_the_same_on_every_backend(backend: str) -> None:
    skip_without_derivatives(backend)
    example = load("digits")
    results = {name: example.run(name, 80) for name in (backend, "numpy")}
    np.testing.assert_allclose(results[backend].losses, results["numpy"].losses, rtol=0, atol=1e-8)
    assert results[backend].losses[-1] < 0.4 < 1.5 < results[backend].losses[0]
    assert results[backend].accuracy == results["numpy"].accuracy > 0.9
    assert results[backend].found.tolist() == results["numpy"].found.tolist()
    assert ua.current_backend() == backend


def test_digits_draws_each_curve_and_mistake() -> None:
    example = load("digits")
    labels = example.split()[3]
    found = labels.copy()
    found[:8] = (labels[:8] + 1) % 10
    sheet = example.mistakes_of(found)
    # Two rows: seven digits, and one.
    assert sheet.size == (example.COLUMNS * 96 + 16, 2 * 112 + 16)
    inked = np.asarray(sheet)[16:96, 16:].reshape(80, -1)[:, : 7 * 96].reshape(80, 7, 96).min(axis=(0, 2))
    assert (inked < 128).all()
    assert np.asarray(sheet)[128:208, 16 + 96 :].min() == 255
    losses = {"numpy": [2.0, 1.0, 0.1], "torch": [2.0, 1.0, 0.1], "jax": [2.0, 1.0 + 1e-9, 0.1]}
    whole = example.picture(losses, found)
    assert whole.size == (sheet.width, sheet.height + example.CURVES)
    assert colours_of(example, losses) <= colours_in(whole)


def test_climate_gives_the_same_on_every_backend(backend: str) -> None:
    example = load("climate")
    globe = example.Globe(years=4, days=6, height=9, width=14, chunk_days=3)
    found = {}
    for name in (backend, "numpy"):
        with ua.use_backend(name):
            found[name] = example.analyse(globe)
    for part in ("curve", "hottest", "share", "extremes", "spread"):
        np.testing.assert_allclose(getattr(found[backend], part), getattr(found["numpy"], part), rtol=0, atol=1e-12)
    # The curve rises each year by the formula's amount.
    assert abs(found[backend].warming - example.WARMING) < 1e-3


def test_climate_draws_a_picture(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    example = load("climate")
    with ua.use_backend("numpy"):
        found = example.analyse(example.Globe(years=4, days=6, height=9, width=14, chunk_days=3))
    example.picture(found, str(tmp_path / "climate.png"))
    assert (tmp_path / "climate.png").stat().st_size > 10_000
