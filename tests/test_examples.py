"""The examples give the same on every backend, on a part of their data."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

import unifyarr as ua

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
    example = load("digits")
    results = {name: example.run(name, 20) for name in (backend, "numpy")}
    np.testing.assert_allclose(results[backend].weights, results["numpy"].weights, rtol=0, atol=1e-10)
    assert results[backend].accuracy == results["numpy"].accuracy > 0.9
    assert ua.current_backend() == backend
