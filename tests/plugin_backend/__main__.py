"""``python -m tests.plugin_backend FOLDER`` makes the package in a folder."""

from __future__ import annotations

import sys
from pathlib import Path

from .fill import made

if __name__ == "__main__":
    made(Path(sys.argv[1]))
