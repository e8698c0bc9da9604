"""``python -m tests.plugin_backend FOLDER`` makes the package in a folder, and installs it into ``FOLDER/site``."""

from __future__ import annotations

import sys
from pathlib import Path

from .fill import installed, made

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    installed(made(folder), folder / "site")
