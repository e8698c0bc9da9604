"""Run the examples on all backends, and keep what they print and draw for their pages, in ``docs/examples``.

python docs/run_examples.py
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
ROOT = HERE.parent
# Example -> the picture that it draws.
PICTURES = {
    "digits": "digits.png",
    "denoise": "denoised.png",
    "attention": "attention.png",
    "conductivity": "conductivity.png",
}


def main() -> None:
    """Run each example in a process of its own."""
    for name, picture in PICTURES.items():
        drawn = str(HERE / "examples" / picture)
        command = [sys.executable, f"examples/{name}.py", "--backend", "all", "--picture", drawn]
        printed = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        (HERE / "examples" / f"{name}.txt").write_text(printed.replace(f"{HERE}/examples/", ""))
    climate()
    # A photograph with noise is large as a PNG.
    photograph = Path(HERE / "examples" / "denoised.png")
    with Image.open(photograph) as image:
        smaller = image.convert("RGB").resize((image.width * 5 // 8, image.height * 5 // 8), Image.Resampling.LANCZOS)
        smaller.save(photograph.with_suffix(".jpg"), quality=82)
    photograph.unlink()


def climate() -> None:
    """Run the climate as each backend suits it: on one device, on several, in threads and in processes."""
    printed = ""
    for where in ("numpy", "torch", "jax --devices 8", "tensorflow", "dask", "dask --workers 2"):
        picture = str(HERE / "examples" / "climate.png")
        command = [sys.executable, "examples/climate.py", "--backend", *where.split(), "--picture", picture]
        lines = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines(True)
        printed += "".join(line for line in lines if not line.startswith("picture"))
    (HERE / "examples" / "climate.txt").write_text(printed)


if __name__ == "__main__":
    main()
