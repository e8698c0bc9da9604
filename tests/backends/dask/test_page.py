"""The program of the page on scale, ``docs/guides/scale.md``: its blocks, in order, in one process."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import unifyarr as ua

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "scale.md"


@pytest.mark.chunks("128MiB")
def test_the_page() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    programs = [each for each in blocks if ">>>" not in each]
    assert len(programs) > 5
    names: dict[str, Any] = {"__name__": "__main__"}
    before = ua.current_backend()
    # The page says it once, for the process.
    ua.set_backend(before)
    for program in programs:
        exec(compile(program.replace('ua.set_backend("dask")', ""), str(PAGE), "exec"), names)
    assert names["x"].backend == before
