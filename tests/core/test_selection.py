"""The current backend, its scope, and conversions of arrays between backends."""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.engines.registry import BUILT_IN

from ..natives import native, values_of, variable
from ..oracle import ALL, assert_same


def other_than(backend: str) -> str:
    """Return the name of another backend, the cheapest to load."""
    return "numpy" if backend != "numpy" else next((name for name in ua.available_backends() if name != "numpy"), "")


def run(program: str, **environment: str) -> str:
    """Run a program in a fresh process and return its output."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=300,
        env={name: value for name, value in os.environ.items() if name != "UNIFYARR_BACKEND"} | environment,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


# -- scopes and defaults --------------------------------------------------------------------------------------------


def test_creation_lands_on_the_current_backend(backend: str) -> None:
    assert ua.current_backend() == backend
    for x in (ua.zeros(2), ua.asarray([1, 2]), ua.arange(3), ua.asarray(np.ones(2)), ua.eye(2), ua.asarray(1.5)):
        assert x.backend == backend


def test_use_backend_is_a_scope_that_nests(backend: str) -> None:
    with ua.use_backend("numpy"):
        assert ua.current_backend() == "numpy"
        with ua.use_backend(backend):
            assert ua.zeros(2).backend == backend
        assert ua.zeros(2).backend == "numpy"
    assert ua.current_backend() == backend


def test_use_backend_ends_with_an_error(backend: str) -> None:
    with pytest.raises(ZeroDivisionError), ua.use_backend("numpy"):
        _ = 1 / 0
    assert ua.current_backend() == backend


def test_use_backend_decorates_functions(backend: str) -> None:
    @ua.use_backend(backend)
    def make(depth: int) -> list[str]:
        """Make arrays."""
        return [ua.zeros(2).backend] + (make(depth - 1) if depth else [])

    with ua.use_backend("numpy"):
        assert make(2) == [backend] * 3
        assert make(0) == [backend]
        assert ua.current_backend() == "numpy"
    assert make.__doc__ == "Make arrays."


def test_set_backend_is_the_default_under_scopes(backend: str) -> None:
    # In a context of its own there is no scope, as at a program's start.
    def program() -> list[str]:
        seen = [ua.current_backend()]
        ua.set_backend(backend)
        seen.append(ua.zeros(2).backend)
        with ua.use_backend("numpy"):
            seen.append(ua.current_backend())
            ua.set_backend(backend)
            seen.append(ua.current_backend())
        return seen

    before = contextvars.Context().run(ua.current_backend)
    try:
        assert contextvars.Context().run(program) == [before, backend, "numpy", "numpy"]
        # The default is the process's: every thread and every context has it.
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(ua.current_backend).result() == backend
    finally:
        ua.set_backend(before)


def test_threads_dont_see_each_others_scopes(backend: str) -> None:
    other = other_than(backend)
    if not other:
        pytest.skip("one backend alone is installed")
    barrier = threading.Barrier(2, timeout=60)

    def program(name: str) -> list[str]:
        seen = []
        for _ in range(10):
            with ua.use_backend(name):
                barrier.wait()
                seen.append(ua.zeros(2).backend)
                barrier.wait()
        return seen

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.submit(program, backend), pool.submit(program, other)
        assert set(first.result()) == {backend}
        assert set(second.result()) == {other}
    assert ua.current_backend() == backend


def test_a_new_thread_starts_without_a_scope_unless_it_takes_it_along(backend: str) -> None:
    default = contextvars.Context().run(ua.current_backend)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(ua.current_backend).result() == default
        assert pool.submit(contextvars.copy_context().run, ua.current_backend).result() == backend


def test_tasks_dont_see_each_others_scopes(backend: str) -> None:
    other = other_than(backend)
    if not other:
        pytest.skip("one backend alone is installed")

    async def program(name: str) -> set[str]:
        seen = set()
        for _ in range(5):
            with ua.use_backend(name):
                await asyncio.sleep(0)
                seen.add(ua.zeros(2).backend)
                seen.add(await asyncio.to_thread(ua.current_backend))
        return seen

    async def both() -> list[set[str]]:
        return await asyncio.gather(program(backend), program(other), program(backend))

    assert asyncio.run(both()) == [{backend}, {other}, {backend}]
    assert ua.current_backend() == backend


def test_the_environment_names_the_default(backend: str) -> None:
    program = "import unifyarr as ua; print(ua.current_backend(), ua.zeros(2).backend)"
    if backend == "tensorflow":
        # The engine itself warns at its import.
        program = "import warnings; warnings.simplefilter('ignore'); " + program
    assert run(program, UNIFYARR_BACKEND=backend, TF_CPP_MIN_LOG_LEVEL="3") == f"{backend} {backend}"


def test_without_the_environment_the_default_is_numpy() -> None:
    assert run("import unifyarr as ua; print(ua.current_backend())") == "numpy"


def test_the_environment_may_name_what_there_is_not() -> None:
    program = """
import unifyarr as ua
try:
    ua.zeros(2)
except ua.errors.BackendNotFoundError as error:
    print(error)
ua.set_backend("numpy")
print(ua.zeros(2).backend)
"""
    *message, backend = run(program, UNIFYARR_BACKEND="nonsense").splitlines()
    assert "nonsense" in message[0]
    assert backend == "numpy"


def test_importing_loads_no_engine_and_prints_nothing() -> None:
    program = """
import sys
import unifyarr as ua
ua.zeros(2) + 1
assert not {"torch", "jax", "tensorflow"} & set(sys.modules)
ua.available_backends()
ua.zeros(2).__add__(object())
assert not {"torch", "jax", "tensorflow"} & set(sys.modules)
"""
    assert run(program) == ""


# -- which backends there are ---------------------------------------------------------------------------------------


def test_available_backends_names_the_backend(backend: str) -> None:
    available = ua.available_backends()
    assert backend in available
    assert len(available) == len(set(available))


USES = {
    "set_backend": ua.set_backend,
    "use_backend": lambda name: ua.use_backend(name).__enter__(),
    "zeros": lambda name: ua.zeros(2, backend=name),
    "x.to_backend": lambda name: ua.asarray([1]).to_backend(name),
    "to_backend": lambda name: ua.to_backend([], name),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES.keys())
def test_an_unknown_backend_is_an_import_error_that_names_the_known(use: Any) -> None:
    with pytest.raises(ua.errors.BackendNotFoundError, match=r"nonsense.*numpy"):
        use("nonsense")
    assert issubclass(ua.errors.BackendNotFoundError, ImportError)


def test_an_engine_that_isnt_installed_is_an_error_with_the_pip_line() -> None:
    program = """
import sys
sys.modules["torch"] = None  # An import of torch fails.
import numpy as np
import unifyarr as ua
assert "torch" not in ua.available_backends(), ua.available_backends()
for use in (ua.set_backend, lambda name: ua.use_backend(name).__enter__(), ua.zeros(2).to_backend):
    try:
        use("torch")
    except ImportError as error:
        assert isinstance(error, ua.errors.BackendNotFoundError)
        print(error)
# Nothing else is harmed, not even by an operand of a type never seen.
class Unknown: pass
assert (ua.zeros(2) + np.float32(1)).tolist() == [1, 1]
assert ua.zeros(2).__add__(Unknown()) is NotImplemented
"""
    lines = run(program).splitlines()
    assert len(lines) == 3
    assert all("pip install 'unifyarr[torch]'" in line for line in lines)


PLUGIN = """
import numpy as np
from unifyarr.backends.numpy import Backend as NumPy

class Tagged(np.ndarray):
    pass

class Backend(NumPy):
    name = "tagged_engine"
"""


def test_a_third_partys_backend_is_found_by_its_entry_point(tmp_path: Path) -> None:
    (tmp_path / "tagged_engine.py").write_text(PLUGIN)
    information = tmp_path / "tagged_engine-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: tagged_engine\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[unifyarr.backends]\ntagged_engine = tagged_engine:Backend\nabsent_engine = absent_engine:Backend\n"
    )
    program = """
import unifyarr as ua
assert "tagged_engine" in ua.available_backends()
assert "absent_engine" not in ua.available_backends()
with ua.use_backend("tagged_engine"):
    x = ua.arange(4)
    x[1:] += 1
    print(x.backend, x.tolist(), x.__array_namespace__().zeros(1).backend)
try:
    ua.set_backend("absent_engine")
except ImportError as error:
    print(error)
"""
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    first, second = run(program, PYTHONPATH=path).splitlines()
    assert first == "tagged_engine [0, 2, 3, 4] tagged_engine"
    assert "the package 'tagged_engine', and needs the module 'absent_engine'" in second


def test_no_other_package_replaces_a_backend_of_ours(backend: str, tmp_path: Path) -> None:
    """Neither does the metadata of an older version of this one, which had an entry for each."""
    (tmp_path / "planted.py").write_text("raise RuntimeError('this is not loaded')")
    for package in ("evil", "unifyarr"):
        information = tmp_path / f"{package}-0.1.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1\n")
        entries = "".join(f"{name} = planted:Backend\n" for name in BUILT_IN)
        (information / "entry_points.txt").write_text(f"[unifyarr.backends]\n{entries}")
    program = f"""
import unifyarr as ua
ua.set_backend({backend!r})
print(ua.zeros(2).backend, len(ua.available_backends()) == len({{*ua.available_backends()}}))
"""
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    assert run(program, PYTHONPATH=path) == f"{backend} True"


BROKEN = """
[unifyarr.backends]
other_name = failing_plugin:Backend
odd..name = failing_plugin:Backend
absent.engine = failing_plugin:Backend
failing_plugin = failing_plugin:Backend
absent_attribute = absent_attribute:Backend
needy = needy:Backend
"""


def test_a_third_partys_backend_that_cant_be_loaded_says_whose_it_is_and_why(tmp_path: Path) -> None:
    (tmp_path / "failing_plugin.py").write_text("raise RuntimeError('no such driver')")
    (tmp_path / "absent_attribute.py").write_text("")
    (tmp_path / "needy.py").write_text("import absent_library")
    information = tmp_path / "evil-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(BROKEN)
    program = """
import unifyarr as ua
for name in ("other_name", "odd..name", "absent.engine", "failing_plugin", "absent_attribute", "needy"):
    try:
        ua.set_backend(name)
    except ua.errors.BackendNotFoundError as error:
        assert "unifyarr[" not in str(error)
        print(error, "|", type(error.__cause__).__name__)
available = ua.available_backends()
print(ua.zeros(2) + 1, ua.current_backend(), "needy" in available, "other_name" in available)
"""
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    *lines, last = run(program, PYTHONPATH=path).splitlines()
    assert len(lines) == 6
    assert all("the package 'evil'" in line for line in lines)
    for name, line in zip(("other_name", "odd..name", "absent.engine"), lines[:3], strict=True):
        assert f"needs the module {name!r}, which is not installed" in line
        assert f"'{name} = failing_plugin:Backend'" in line
    assert "RuntimeError: no such driver | RuntimeError" in lines[3]
    assert lines[4].endswith("| AttributeError")
    assert "No module named 'absent_library' | ModuleNotFoundError" in lines[5]
    assert last == "[1. 1.] numpy True False"


# -- to which backend an object belongs -----------------------------------------------------------------------------


def test_an_engines_own_array_keeps_its_engine(backend: str) -> None:
    array = native(backend, [1.0, 2.0])
    with ua.use_backend(other_than(backend) or backend):
        if backend != "numpy":
            # NumPy's arrays are data: they go to the current backend.
            assert ua.asarray(array).backend == backend
            assert ua.asarray(variable(backend, [1.0, 2.0])).backend == backend
            assert (ua.asarray(array) + 1).backend == backend
            assert ua.sin(array).backend == backend
            assert ua.current_backend(array) == backend
        assert ua.sin(ua.asarray(array, backend=backend)).backend == backend
        assert ua.asarray(array, backend=backend).backend == backend
    for target in {"numpy", backend}:
        moved = ua.asarray(array, backend=target)
        assert moved.backend == target
        assert_same(moved, np.array([1.0, 2.0]))


def test_numpy_arrays_lists_and_scalars_go_where_the_arrays_are(backend: str) -> None:
    x = ua.asarray([1.0, 2.0])
    with ua.use_backend("numpy"):
        for result in (
            x + np.ones(2),
            np.ones(2) + x,
            x - [1.0, 2.0],
            ua.add(np.ones(2), x),
            ua.where(np.array([True, False]), x, 0.0),
            ua.concat([x, np.ones(2)]),
            x * np.float64(2),
        ):
            assert result.backend == backend
    assert ua.current_backend(x, np.ones(2), [1], 2.0) == backend
    assert ua.current_backend(np.ones(2)) == backend


def test_the_bound_namespace_makes_arrays_on_its_backend(backend: str) -> None:
    xp = ua.zeros(2).__array_namespace__()
    with ua.use_backend(other_than(backend) or backend):
        for x in (
            xp.zeros(2),
            xp.asarray([1, 2]),
            xp.asarray(np.ones(2)),
            xp.arange(3),
            xp.sum(np.ones(3)),
            xp.add(1, 2),
            xp.from_dlpack(np.ones(2)),
            xp.linspace(0, 1, 3),
        ):
            assert x.backend == backend
        assert xp.asarray(native(backend, [1.0])).backend == backend


# -- two backends ---------------------------------------------------------------------------------------------------


def test_arrays_of_two_backends_are_an_error_that_says_how_to_move(backend: str) -> None:
    other = other_than(backend)
    if not other:
        pytest.skip("one backend alone is installed")
    x, y = ua.ones(2), ua.ones(2, backend=other)
    into = ua.zeros(2)
    for mix in (
        lambda: x + y,
        lambda: y - x,
        lambda: ua.add(x, y),
        lambda: ua.add(x, x, out=y),
        lambda: ua.concat([x, y]),
        lambda: ua.where(x > 0, x, y),
        lambda: ua.matmul(x, y),
        lambda: ua.asarray([x[0], y[0]]),
        lambda: into.__setitem__(..., y),
        lambda: into.__iadd__(y),
        lambda: ua.inplace_update(into, y),
        lambda: ua.current_backend(x, y),
    ):
        with pytest.raises(ua.errors.BackendMismatchError, match="to_backend") as caught:
            mix()
        assert backend in str(caught.value)
        assert other in str(caught.value)
        assert isinstance(caught.value, TypeError)
    assert_same(into, np.zeros(2))
    assert_same(y, np.ones(2))


@pytest.mark.parametrize("source", ua.available_backends())
def test_to_backend_moves_values_into_memory_of_their_own(
    backend: str, source: str, request: pytest.FixtureRequest
) -> None:
    named = request.config.getoption("--backends")
    if named and source not in named.split(","):
        pytest.skip(f"{source} is not under test")
    values = np.arange(6.0).reshape(2, 3)
    for make in (lambda x: x, lambda x: x.T, lambda x: x[::-1], lambda x: x[1], lambda x: x[1, 2]):
        x = ua.asarray(values, backend=source, copy=True)
        view, expected = make(x), np.array(make(values))
        moved = view.to_backend(backend)
        assert moved.backend == backend
        assert_same(moved, expected)
        if source == backend:
            assert moved is view
            continue
        x[...] = -1
        assert_same(moved, expected)
        moved[...] = -2
        assert_same(x, np.full((2, 3), -1.0))


@pytest.mark.parametrize("dtype", ALL)
def test_to_backend_keeps_every_dtype(backend: str, dtype: str) -> None:
    values = np.arange(4).astype(dtype)
    x = ua.asarray(values, backend="numpy", copy=True)
    assert_same(x.to_backend(backend), values)
    assert_same(x.to_backend(backend).to_backend("numpy"), values)


def test_to_backend_moves_a_nest(backend: str) -> None:
    other = other_than(backend)
    if not other:
        pytest.skip("one backend alone is installed")
    leaf = ua.asarray([1.0, 2.0], backend=other)
    tree = {"a": leaf, "b": [np.ones(2), (native(backend, [3.0]), None, "text", 3)]}
    moved = ua.to_backend(tree, backend)
    assert list(moved) == ["a", "b"]
    (b, (c, *rest)) = moved["b"]
    assert [x.backend for x in (moved["a"], b, c)] == [backend] * 3
    assert rest == [None, "text", 3]
    leaf[...] = 0
    assert_same(moved["a"], np.array([1.0, 2.0]))


def test_to_backend_leaves_the_engines_arrays_independent(backend: str) -> None:
    for first, second in itertools.product(sorted({"numpy", backend}), repeat=2):
        array = native(first, [1.0, 2.0])
        moved = ua.to_backend(array, second)
        assert moved.backend == second
        moved[0] = 9
        np.testing.assert_array_equal(values_of(array), [1.0, 2.0])
        ua.asarray(array, backend=first)[1] = 7
        assert_same(moved, np.array([9.0, 2.0]))
