"""Remove noise from a photograph in pure unifyarr, on any backend, with the same result.

Real data: a photograph that scikit-learn ships, with Gaussian noise added. The total variation of all colours together
is minimised by Chambolle's projection: gradient and divergence are convolutions, and every step writes into a container
of buffers and views of them.

    python examples/denoise.py [--backend numpy|torch|jax|tensorflow|all] [--steps 100] [--picture denoised.png]

Source: Chambolle, "An algorithm for total variation minimization and applications" (2004); Bresson and Chan, "Fast dual
minimization of the vectorial total variation norm" (2008).
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_image
from tqdm import tqdm

import unifyarr as ua

# Not dask: it has no derivatives, and takes minutes for so many small steps. climate.py is its example.
BACKENDS = [name for name in ua.available_backends() if name != "dask"]
NOISE, WEIGHT = 0.1, 0.12
# Chambolle's bound, under which the projection converges in two dimensions.
STEP = 1 / 8


@dataclass
class Result:
    """What a run gives: the denoised photograph of shape (3, height, width), and the seconds it took."""

    image: np.ndarray
    seconds: float


def photograph(name: str) -> np.ndarray:
    """Return a photograph of scikit-learn's, of shape (3, height, width), from 0 to 1."""
    return load_sample_image(name).transpose(2, 0, 1) / 255.0


def with_noise(image: np.ndarray) -> np.ndarray:
    """Return a photograph with noise: drawn on the host, so that every backend gets the same."""
    return image + NOISE * np.random.Generator(np.random.Philox(0)).standard_normal(image.shape)


class Differences:
    """Forward differences down and right as one convolution, and minus their adjoint, the divergence, as another."""

    def __init__(self) -> None:
        down, right = [[-1.0, 0.0], [1.0, 0.0]], [[-1.0, 1.0], [0.0, 0.0]]
        self.forward = ua.asarray([[down], [right]])
        # Backward differences: the kernels are the same, and lie one place before.
        up, left = [[0.0, -1.0], [0.0, 1.0]], [[0.0, 0.0], [-1.0, 1.0]]
        self.backward = ua.asarray([[up, left]])

    def gradient(self, image: ua.Array, out: ua.Array) -> ua.Array:
        """Write the gradient of each colour of (3, 1, height, width) to ``out``, of (3, 2, height, width)."""
        ua.nn.conv2d(image, self.forward, padding=((0, 1), (0, 1)), out=out)
        # What lies beyond the photograph is as its border: nothing changes across it.
        down, right = out[:, 0], out[:, 1]
        down[:, -1, :] = 0.0
        right[:, :, -1] = 0.0
        return out

    def divergence(self, field: ua.Array, out: ua.Array) -> ua.Array:
        """Write the divergence of a field of (3, 2, height, width), which is 0 beyond it, to ``out``."""
        return ua.nn.conv2d(field, self.backward, padding=((1, 0), (1, 0)), out=out)


def denoise(noisy: ua.Array, steps: int, label: str = "") -> ua.Array:
    """Return a photograph of shape (3, height, width) with less total variation, near to the noisy one."""
    image = noisy[:, None]
    differences = Differences()
    colours, height, width = noisy.shape
    pair = (colours, 2, height, width)
    kept = ua.Container(
        field=ua.zeros(pair), slope=ua.empty(pair), excess=ua.empty_like(image), norm=ua.empty((1, 1, height, width))
    )
    for _ in tqdm(range(steps), desc=label, unit="step", leave=False):
        differences.divergence(kept.field, out=kept.excess)
        kept.excess -= image / WEIGHT
        differences.gradient(kept.excess, out=kept.slope)
        # The field moves along the slope, and never gets longer than 1, over all colours together.
        kept.slope *= STEP
        kept.field += kept.slope
        ua.sum(ua.square(kept.slope, out=kept.slope), axis=(0, 1), keepdims=True, out=kept.norm)
        ua.sqrt(kept.norm, out=kept.norm)
        kept.norm += 1.0
        kept.field /= kept.norm
    differences.divergence(kept.field, out=kept.excess)
    kept.excess *= -WEIGHT
    kept.excess += image
    return kept.excess[:, 0]


def run(backend: str, noisy: np.ndarray, steps: int) -> Result:
    """Denoise on a backend."""
    with ua.use_backend(backend):
        given = ua.asarray(noisy)
        began = time.perf_counter()
        image = denoise(given, steps, backend).to_backend("numpy")
        return Result(np.asarray(image), time.perf_counter() - began)


def quality(image: np.ndarray, truth: np.ndarray) -> float:
    """Return the peak signal-to-noise ratio in decibels."""
    return -10 * math.log10(np.mean((image - truth) ** 2))


def picture(noisy: np.ndarray, image: np.ndarray) -> Image.Image:
    """Return the photograph before, after, and the difference about a mid grey, side by side."""
    parts = [noisy, image, 0.5 + (noisy - image)]
    pixels = np.clip(np.concatenate(parts, axis=2), 0, 1).transpose(1, 2, 0)
    return Image.fromarray(np.round(pixels * 255).astype(np.uint8))


def main() -> None:
    """Run on the chosen backends, print a table and write the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="numpy", choices=[*BACKENDS, "all"])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--image", default="flower.jpg", choices=["flower.jpg", "china.jpg"])
    parser.add_argument("--picture", default="denoised.png", help="where to write before, after and difference")
    options = parser.parse_args()
    backends = BACKENDS if options.backend == "all" else [options.backend]

    truth = photograph(options.image)
    noisy = with_noise(truth)
    results = {backend: run(backend, noisy, options.steps) for backend in backends}
    first = next(iter(results.values())).image
    print(f"{options.image}, {options.steps} steps; noisy: {quality(noisy, truth):.2f} dB")
    print(f"{'backend':<12}{'seconds':>9}{'dB':>9}{'difference':>14}")
    for backend, result in results.items():
        difference = float(np.max(np.abs(result.image - first)))
        print(f"{backend:<12}{result.seconds:>9.2f}{quality(result.image, truth):>9.2f}{difference:>14.1e}")
    picture(noisy, first).save(options.picture)
    print(f"before, after and difference: {options.picture}")


if __name__ == "__main__":
    main()
