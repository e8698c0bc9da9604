"""Shared setup of all tests: their backends, Hypothesis's number of examples, and JAX's compiler.

``pytest --backends numpy,jax`` runs as if no other engine was installed; by default all that are installed are tested,
but for lazy engines: ``tests/backends/test_dask.py`` runs a part of the tests on dask, in processes of their own.
"""

from __future__ import annotations

import importlib
import itertools
import os
import sys
from collections.abc import Generator, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.database import InMemoryExampleDatabase

# Failing tests show the package's own frames too.
os.environ.setdefault("UNIFYARR_TRACEBACK", "full")
# TensorFlow imports Keras, a third of its own time, unless it is to use an older one, which isn't installed.
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")

import unifyarr as ua
from unifyarr.testing.abilities import LINES, skip_by_marks, skip_unknown_lengths

from . import engines
from .natives import skip_off_host

pytest.register_assert_rewrite("unifyarr.testing.comparing", "unifyarr.testing.calling")
pytest_plugins = ["tests.alone", "tests.devices.watching", "tests.quick", "tests.workers"]
ON_HOST = "on_host(why): of memory that the host reads too, left out where --device names an accelerator"
CHUNKS = "chunks(length): of arrays that are large for another reason, on engines with chunks, whatever the settings"

# Engines compile at their first call with a shape, which no deadline foresees.
# The database is in memory and the seed stands in pyproject.toml: ``derandomize`` would do the same, but without any
# database Hypothesis looks for one through the settings of all earlier parameters of a test, recursively.
_common = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "print_blob": True,
    "database": InMemoryExampleDatabase(),
}
settings.register_profile("ci", max_examples=15, **_common)
settings.register_profile("quick", max_examples=4, **_common)
settings.register_profile("thorough", max_examples=500, **_common)
settings.load_profile(os.environ.get("UNIFYARR_TEST_PROFILE", "ci"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--backends", default=None, help="comma-separated names of the backends to test")
    parser.addoption("--device", default=None, help="where engines make arrays: gpu, cpu, cpu:1, sim")
    parser.addoption("--there", default=None, help="of tests/devices: the accelerator, beside --device cpu")


def pytest_configure(config: pytest.Config) -> None:
    for line in (*LINES, CHUNKS, ON_HOST):
        config.addinivalue_line("markers", line)
    left_out = {*ua.available_backends()} - {"numpy", *_selected(config)}
    if left_out:
        engines.leave_out(left_out)
    if settings.get_current_profile_name() == "ci":
        engines.compile_cheaply()
    # The workers of a run share compilations, set up by the first process, which runs no tests and needs no engine.
    if not hasattr(config, "workerinput"):
        shared = engines.SharedCompilations()
        config.add_cleanup(shared.remove)
        if config.getoption("dist", "no") != "no" and not config.option.collectonly:
            return
    engines.collect_seldom()
    device: str | None = config.getoption("--device")
    if device and device.partition(":")[0] == "cpu":
        engines.have_two_cpus(_selected(config))
    _import_all(_selected(config))
    there: str | None = config.getoption("--there")
    if there:
        engines.SECOND.update(dict.fromkeys(engines.SECOND, there))
    if device:
        for backend in _selected(config):
            engines.make_arrays_on(backend, device)
    if "jax" in sys.modules:
        engines.reuse_contexts()


def _selected(config: pytest.Config) -> list[str]:
    named = config.getoption("--backends")
    return named.split(",") if named else [name for name in ua.available_backends() if not _is_lazy(name)]


def _is_lazy(backend: str) -> bool:
    # Each small array costs a lazy engine some milliseconds. Its class is read, not imported: an engine that isn't
    # under test looks as if it weren't installed.
    source = Path(ua.__file__).parent / "backends" / backend / "__init__.py"
    return source.exists() and "has_values = False" in source.read_text()


def _import_all(backends: list[str]) -> None:
    # Hypothesis draws constants from all our loaded modules: if they were loaded one by one, a test's draws would
    # depend on the tests that its worker has run before.
    package = Path(ua.__file__).parent
    left_out = {path.name for path in (package / "backends").iterdir() if path.is_dir()} - set(backends)
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        if not left_out & set(parts):
            importlib.import_module(".".join(part for part in parts if part != "__init__"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "backend" in metafunc.fixturenames:
        metafunc.parametrize("backend", _selected(metafunc.config), indirect=True)


def pytest_runtest_setup(item: pytest.Item) -> None:
    parameters = getattr(item, "callspec", None)
    backend = parameters.params.get("backend") if parameters else None
    skip_by_marks(item, backend)
    if mark := item.get_closest_marker("on_host"):
        skip_off_host(backend, *mark.args)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Skip a test of all backends that needs a length which an engine doesn't know. Tests of one know what it knows."""
    report = yield
    parameters = getattr(item, "callspec", None)
    backend = parameters.params.get("backend") if parameters else None
    if backend is not None and Path(__file__).parent / "backends" not in item.path.parents:
        skip_unknown_lengths(item, backend, call, report)
    return report


def pytest_collection_finish() -> None:
    engines.spare_the_collector()


# How many tests a worker runs before JAX's caches are cleared, and before the collector skips the new objects.
FORGETS, SPARES = 6000, 200
_tests = itertools.count(1)


def pytest_runtest_teardown() -> None:
    count = next(_tests)
    if count % FORGETS == 0:
        engines.forget_compilations()
    elif count % SPARES == 0:
        engines.spare_the_collector()


@pytest.fixture
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of the backend under test, current while the test runs."""
    name: str = request.param
    marker = request.node.get_closest_marker("chunks")
    with ua.use_backend(name), np.errstate(all="ignore"), ua.using_chunks(*marker.args) if marker else nullcontext():
        yield name
