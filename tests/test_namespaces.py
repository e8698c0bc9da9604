"""``unifyarr.on``: the package's functions bound to a backend."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import unifyarr as ua


def test_what_is_made_goes_to_the_backend_of_the_namespace(backend: str) -> None:
    xp = getattr(ua.on, backend)
    with ua.use_backend("numpy"):
        assert {x.backend for x in (xp.zeros(3), xp.asarray([1.0]), xp.sin(0.5))} == {backend}
        assert {x.backend for x in (xp.linalg.inv([[2.0]]), xp.fft.fft([1.0]), xp.nn.relu(-1.0))} == {backend}
        assert xp.use_backend is ua.use_backend


def test_all_ways_to_import_a_namespace_give_one_object(backend: str) -> None:
    by_attribute = getattr(ua.on, backend)
    assert importlib.import_module(f"unifyarr.on.{backend}") is by_attribute
    assert ua.zeros(1).__array_namespace__() is by_attribute
    assert by_attribute.__name__ == f"unifyarr.on.{backend}"
    assert backend in dir(ua.on)
    linalg = importlib.import_module(f"unifyarr.on.{backend}.linalg")
    assert linalg is by_attribute.linalg
    for each in (by_attribute, linalg):
        assert pickle.loads(pickle.dumps(each)) is each
    with pytest.raises(AttributeError, match="nothing"):
        by_attribute.nothing


def test_a_namespace_used_first_in_a_compiled_function_works_outside(backend: str) -> None:
    compiled = ua.compile(lambda x: x.__array_namespace__().linspace(1.0, 4.0, 3) + x)
    compiled(ua.zeros(3))
    outside = getattr(ua.on, backend).linspace(1.0, 4.0, 3)
    assert (outside + 1).tolist() == (ua.linspace(1.0, 4.0, 3) + 1).tolist()


def test_threads_get_one_namespace(backend: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: getattr(ua.on, backend).nn, range(64)))
    assert len({id(each) for each in found}) == 1


def test_an_unknown_backend_and_a_missing_engine_are_named() -> None:
    with pytest.raises(AttributeError, match="there is no backend 'cupy': the backends are numpy"):
        ua.on.cupy
    with pytest.raises(ImportError, match="cupy"):
        importlib.import_module("unifyarr.on.cupy")
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import unifyarr as ua\n"
        "assert 'torch' not in dir(ua.on)\n"
        "try:\n    from unifyarr.on import torch\n"
        "except ImportError as error:\n    print(type(error).__name__, error)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(ua.__file__).parents[1]
    )
    assert result.stdout.startswith("BackendNotFoundError backend 'torch' needs the engine torch")


def test_importing_a_namespace_loads_no_engine(backend: str) -> None:
    code = (
        f"import unifyarr.on.{backend} as xp, unifyarr.on.{backend}.linalg, sys\n"
        "print(sorted({'torch', 'jax', 'tensorflow'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(ua.__file__).parents[1]
    )
    assert result.stdout == "[]\n"


def test_a_namespace_has_numpys_names_that_xarray_asks_it_for(backend: str) -> None:
    xp = ua.zeros(1).__array_namespace__()
    x = ua.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert xp.cumsum(x, axis=1).tolist() == [[1, 3, 6], [4, 9, 15]]
    assert xp.cumprod(x, axis=0).tolist() == [[1, 2, 3], [4, 10, 18]]
    windows = xp.lib.stride_tricks.sliding_window_view(x, 2, axis=1)
    assert windows.backend == backend
    assert windows.tolist() == [[[1, 2], [2, 3]], [[4, 5], [5, 6]]]
    # The standard has none of them, so that they aren't listed.
    assert not {"cumsum", "cumprod", "lib"} & set(dir(xp))


def test_public_names_have_the_same_order_in_every_process() -> None:
    program = (
        "import unifyarr, unifyarr.numpy as unp\n"
        "spaces = unifyarr, unp, unp.fft, unp.linalg, unp.random\n"
        "print([name for space in spaces for name in space.__all__])"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1
