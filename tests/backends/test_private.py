"""What engines have no public name for: used in one file of each backend, listed, with a default."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import unifyarr as ua

from ..natives import skip_unless

BACKENDS = Path(ua.__file__).parent / "backends"
TABLE = re.findall(r"^\| (\w+) \| `([\w.]+)` \| .* \| (.*) \|$", (BACKENDS / "README.md").read_text(), re.MULTILINE)
# Where the backends may use such names.
PLACES = {"_private.py", "_autograph.py"}
# Modules of engines without public members, and attributes that begin with an underscore.
PRIVATE = (
    "jax._src",
    "jax.interpreters",
    "jax.extend",
    "torch._",
    "torch.utils._",
    "tensorflow.python",
    "tf.__internal__",
)


def find(name: str) -> Any:
    """Return what a dotted name stands for."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise ImportError(name)


def test_the_table_has_rows() -> None:
    assert len(TABLE) >= 15


@pytest.mark.parametrize(("engine", "name", "without"), TABLE, ids=[name for _, name, _ in TABLE])
def test_the_engine_has_it(backend: str, engine: str, name: str, without: str) -> None:
    skip_unless(backend, engine, why=f"{name} is another engine's")
    ua.zeros(1)
    find(name)


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


@pytest.mark.parametrize("engine", ["torch", "jax", "tensorflow"])
def test_nothing_else_of_the_kind_is_used(engine: str) -> None:
    for path in (BACKENDS / engine).glob("*.py"):
        used = private_names(path)
        assert path.name in PLACES or not used, f"{path.name} uses {used}: put it into _private.py, and list it"
    assert private_names(BACKENDS / engine / "_private.py")


class Without:
    """A module without one of its attributes, which may be an attribute of an attribute."""

    def __init__(self, module: Any, hidden: str) -> None:
        self._module, self._hidden = module, hidden.partition(".")

    def __getattr__(self, name: str) -> Any:
        first, _, rest = self._hidden
        if name != first:
            return getattr(self._module, name)
        if not rest:
            raise AttributeError(name)
        return Without(getattr(self._module, name), rest)


def private_module(engine: str, hidden: str) -> dict[str, Any]:
    """Return what ``_private.py`` of a backend has where a name of the engine's isn't there."""

    def importing(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if not level and any(f"{name}.{each}" == hidden for each in fromlist or ()):
            raise ImportError(f"cannot import name {hidden}")
        found = builtins.__import__(name, globals, locals, fromlist, level)
        if not level and not fromlist and hidden.startswith(f"{name}."):
            return Without(found, hidden.removeprefix(f"{name}."))
        return found

    path = BACKENDS / engine / "_private.py"
    package = f"unifyarr.backends.{engine}"
    names = {
        "__builtins__": vars(builtins) | {"__import__": importing},
        "__name__": f"{package}._private",
        "__package__": package,
    }
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names


@pytest.mark.parametrize(("engine", "name", "without"), TABLE, ids=[name for _, name, _ in TABLE])
def test_without_it_something_else_is_there(backend: str, engine: str, name: str, without: str) -> None:
    skip_unless(backend, engine, why=f"{name} is another engine's")
    ua.zeros(1)
    if without.startswith("an error"):
        with pytest.raises(ImportError, match=re.escape(name)):
            private_module(engine, name)
    else:
        found = private_module(engine, name)
        assert set(found["__all__"]) <= found.keys()


def test_what_torch_doesnt_tell_has_a_default(backend: str) -> None:
    skip_unless(backend, "torch", why="these are torch's")
    ua.zeros(1)
    found = private_module("torch", "torch._C._functorch.get_unwrapped")
    assert not found["is_functorch_wrapped_tensor"](None)
    other = SimpleNamespace()
    assert found["base_of"](other) is other
    assert not found["is_zero"](other)
    found["torch"] = SimpleNamespace(__version__="9")
    with pytest.raises(ua.errors.BackendFeatureError, match="use engine='host'"):
        found["standard_gamma"](None, None)


def test_what_torch_hides_is_none(backend: str) -> None:
    skip_unless(backend, "torch", why="these are torch's")
    ua.zeros(1)
    assert private_module("torch", "torch._C._disabled_torch_function_impl")["disabled_torch_function"] is None
    assert private_module("torch", "torch.utils._pytree.register_pytree_node")["register_pytree_node"] is None


def test_a_tracer_that_gives_no_value_has_none(backend: str) -> None:
    skip_unless(backend, "jax", why="these are JAX's")
    ua.zeros(1)
    known_value = private_module("jax", "jax.core.Tracer.to_concrete_value")["known_value"]
    assert known_value(SimpleNamespace()) is None
    assert known_value(SimpleNamespace(to_concrete_value=lambda: 3)) == 3


def test_the_class_of_eager_tensors_is_found_without_its_name(backend: str) -> None:
    skip_unless(backend, "tensorflow", why="these are TensorFlow's")
    x = ua.zeros(1).native
    assert private_module("tensorflow", "tensorflow.__internal__.EagerTensor")["EagerTensor"] is type(x)
    assert private_module("tensorflow", "tensorflow.__internal__")["EagerTensor"] is type(x)


def test_autograph_without_rules_is_left_as_it_is(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_unless(backend, "tensorflow", why="these are TensorFlow's")
    ua.zeros(1)
    leave_alone = importlib.import_module("unifyarr.backends.tensorflow._autograph").leave_alone
    assert leave_alone("unifyarr")
    monkeypatch.delattr(importlib.import_module("tensorflow.python.autograph.core.config"), "CONVERSION_RULES")
    assert not leave_alone("unifyarr")


def test_calls_read_attributes_of_jax_that_are_no_properties_in_python(backend: str) -> None:
    skip_unless(backend, "jax", why="it has both")
    private = importlib.import_module("unifyarr.backends.jax._private")
    x = ua.zeros(2)
    for public, reads in (("sharding", private.SHARDING), ("committed", private.COMMITTED)):
        assert reads == f"_{public}"
        assert getattr(x.native, reads) == getattr(x.native, public)
    assert private.SHARDING in x._backend.cache_reads
    # Other classes of arrays have the public names alone.
    key = importlib.import_module("jax").random.key(0)
    assert importlib.import_module("unifyarr.backends.jax._donating")._kind(key)[0] == key.aval
