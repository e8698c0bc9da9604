"""Private names of engines: in one table, used in one file of each backend, each with a public way beside it."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import unifyarr as ua
from unifyarr.backends import private

from ..natives import skip_unless

BACKENDS = Path(ua.__file__).parent / "backends"
# Modules of engines without public members, and attributes that begin with an underscore.
PRIVATE = (
    "dask._",
    "jax._src",
    "jax.interpreters",
    "jax.extend.core.find",
    "torch._",
    "torch.utils._",
    "tensorflow.python",
    "tf.__internal__",
)


def skip_if_public(backend: str) -> None:
    if backend not in {private.engine_of(name) for name in private.NAMES}:
        pytest.skip(f"no private name of {backend} is used")


def load_all_modules(backend: str) -> None:
    ua.zeros(1)
    importlib.import_module("unifyarr.graph.fusion._private")
    for path in (BACKENDS / backend).glob("_*.py"):
        importlib.import_module(f"unifyarr.backends.{backend}.{path.stem}")


def test_the_installed_version_has_every_name(backend: str) -> None:
    load_all_modules(backend)
    assert private.missing(backend) == []


def test_a_name_has_to_stand_in_the_table() -> None:
    with pytest.raises(KeyError, match=r"torch\._nothing isn't in the table of private names: add it"):
        private.private("torch._nothing")


def test_a_name_that_is_gone_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(private.NAMES, "numpy._nothing.at_all", private.Private("a test", "nothing"))
    monkeypatch.setitem(private.NAMES, "numpy.ndarray._nothing", private.Private("a test", "nothing"))
    monkeypatch.setattr(private, "_found", {})
    assert private.private("numpy._nothing.at_all") is private.private("numpy.ndarray._nothing") is None
    assert private.missing("numpy") == ["numpy._nothing.at_all", "numpy.ndarray._nothing"]
    assert private.missing("torch") == []


def private_names(path: Path) -> set[str]:
    """Return the names of an engine's private parts that a file uses, as it spells them."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{each.name}" for each in node.names]
        elif isinstance(node, ast.Attribute):
            names = [ast.unparse(node)]
            own = isinstance(node.value, ast.Name) and node.value.id in ("x", "native", "first", "second", "tensor")
            if own and re.match(r"_[a-z]", node.attr):
                names.append(f"torch._{node.attr}")
        found.update(name for name in names if name.startswith(PRIVATE))
    return found


@pytest.mark.parametrize("engine", ["torch", "jax", "tensorflow", "dask"])
def test_names_are_used_through_the_table(engine: str) -> None:
    for path in (BACKENDS / engine).glob("*.py"):
        used = private_names(path)
        if engine == "dask" or path.name == "_private.py":
            # Attributes of arrays: ``_meta`` is in dask's own guide, the others were looked up by name.
            used = {name for name in used if not name.startswith("torch.__")}
        assert not used, f"{path.name} uses {used}: look it up in _private.py, and list it in private.py"


def private_module(engine: str, hidden: str) -> dict[str, Any]:
    """Return the contents of ``_private.py`` of a backend where the engine lacks a name."""
    # NumPy's are used by compiled functions alone.
    package = "unifyarr.graph.fusion" if engine == "numpy" else f"unifyarr.backends.{engine}"
    path = BACKENDS.parents[1].joinpath(*package.split(".")) / "_private.py"
    names: dict[str, Any] = {"__name__": f"{package}._private", "__package__": package}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(private, "HIDDEN", {hidden})
        patch.setattr(private, "_found", {})
        exec(compile(path.read_text(), str(path), "exec"), names)
    return names


def test_without_a_name_something_else_is_there(backend: str) -> None:
    skip_if_public(backend)
    for name in (name for name in private.NAMES if private.engine_of(name) == backend):
        whole, found = private_module(backend, ""), private_module(backend, name)
        assert {each for each in whole if not each.startswith("_")} <= found.keys(), name


def test_the_public_ways_pass_the_self_test(backend: str) -> None:
    skip_if_public(backend)
    command = [sys.executable, "-m", "tests.backends.without", backend, "--seconds", "15"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert f"{backend}: passed" in done.stdout


def test_what_torch_doesnt_tell_has_a_default(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_unless(backend, "torch", why="these are torch's")
    ua.zeros(1)
    found = private_module("torch", "torch._C._functorch.get_unwrapped")
    assert not found["is_functorch_wrapped_tensor"](None)
    view = ua.zeros(2).native[:1]
    assert found["base_of"](view) is not view
    assert private_module("torch", "torch.Tensor._base")["base_of"](view) is view
    assert not private_module("torch", "torch.Tensor._is_zerotensor")["is_zero"](view)
    monkeypatch.setattr(private, "HIDDEN", {"torch._standard_gamma"})
    with pytest.raises(ua.errors.BackendFeatureError, match="use engine='host'"):
        found["standard_gamma"](None, None)


def test_what_torch_hides_is_none(backend: str) -> None:
    skip_unless(backend, "torch", why="these are torch's")
    ua.zeros(1)
    assert private_module("torch", "torch._C._disabled_torch_function_impl")["disabled_torch_function"] is None
    assert private_module("torch", "torch.utils._pytree.register_pytree_node")["register_pytree_node"] is None


def test_a_tracer_that_gives_no_value_has_none(backend: str) -> None:
    skip_unless(backend, "jax", why="these are JAX's")
    jax, x = pytest.importorskip("jax"), ua.ones(()).native
    found: list[Any] = []

    def squared(x: Any) -> Any:
        for hidden in ("jax.core.Tracer.to_concrete_value", "jax.core.eval_context"):
            found.append(private_module("jax", hidden)["known_value"](x))
        return x * x

    jax.grad(squared)(x)
    assert found[0] is None
    assert found[1] == 1
    assert private_module("jax", "jax.core.eval_context")["known_value"](x) is None


def test_traces_are_told_apart_without_their_own_name(backend: str) -> None:
    skip_unless(backend, "jax", why="these are JAX's")
    jax, x = pytest.importorskip("jax"), ua.ones(2).native
    module = private_module("jax", "jax.extend.core.find_top_trace")
    trace, none = module["trace_state"], module["NO_TRACE"]

    def inside(x: Any) -> Any:
        first = trace()
        assert first is trace()
        assert first is not none

        def inner(y: Any) -> Any:
            assert trace() not in (first, none)
            assert trace() is trace()
            return y

        jax.vmap(inner)(x)
        assert trace() is first
        return x.sum()

    for transformed in (jax.jit(inside), jax.grad(inside), jax.jit(inside), jax.vmap(lambda x: inside(x[None]))):
        assert trace() is none
        transformed(x)
        assert trace() is none
    # More traces than are kept.
    for number in range(300):
        jax.make_jaxpr(lambda x, number=number: inside(x) * number)(x)
    assert trace() is none


def test_the_class_of_eager_tensors_is_found_without_its_name(backend: str) -> None:
    skip_unless(backend, "tensorflow", why="these are TensorFlow's")
    x = ua.zeros(1).native
    assert private_module("tensorflow", "tensorflow.__internal__.EagerTensor")["EagerTensor"] is type(x)


def test_autograph_without_rules_is_left_as_it_is(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_unless(backend, "tensorflow", why="these are TensorFlow's")
    ua.zeros(1)
    leave_alone = importlib.import_module("unifyarr.backends.tensorflow._autograph").leave_alone
    assert leave_alone("unifyarr")
    monkeypatch.delattr(importlib.import_module("tensorflow.python.autograph.core.config"), "CONVERSION_RULES")
    assert not leave_alone("unifyarr")


def test_calls_read_attributes_of_jax_that_are_no_properties_in_python(backend: str) -> None:
    skip_unless(backend, "jax", why="it has both")
    module = importlib.import_module("unifyarr.backends.jax._private")
    x = ua.zeros(2)
    for public, reads in (("sharding", module.SHARDING), ("committed", module.COMMITTED)):
        assert reads == f"_{public}"
        assert getattr(x.native, reads) == getattr(x.native, public)
    assert module.SHARDING in x._backend.cache_reads
    # Other classes of arrays have the public names alone.
    key = importlib.import_module("jax").random.key(0)
    assert importlib.import_module("unifyarr.backends.jax._donating")._kind(key)[0] == key.aval
