"""The package of a stranger's backend, made once for these tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from unifyarr.backends import Backend

from ..plugin_backend.fill import installed, made


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the package and install it, and return the folder that it is found in."""
    folder = tmp_path_factory.mktemp("plugin")
    return installed(made(folder), folder / "site")


@pytest.fixture
def boxed(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> type[Backend[Any]]:
    """Have the package found, and return its backend."""
    monkeypatch.syspath_prepend(str(plugin))
    from unifyarr_boxed import BoxedBackend

    return BoxedBackend  # type: ignore[no-any-return]
