"""Nothing is missing: every name of the standard, every kernel of every backend, or a line that says why not."""

from __future__ import annotations

import ast
import types
from pathlib import Path
from typing import Any

import pytest

import unifyarr as ua
from unifyarr import functions
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._core.engines.registry import load
from unifyarr._core.kernels.record import KERNELS

from .oracle import STANDARD as DTYPES
from .test_signatures import STANDARD

ROOT = Path(ua.__file__).parent
CONSTANTS = ["e", "inf", "nan", "newaxis", "pi"]
# They consist of other functions, or of values that NumPy computed on the host.
WITHOUT_KERNELS = {"view", "compositional", "creation"}
ORIGINS = {"worked around", "host", "not implemented"}


@pytest.mark.parametrize("name", [*STANDARD, *CONSTANTS, *DTYPES])
def test_every_name_of_the_standard_is_there(name: str) -> None:
    found: Any = ua
    for part in name.split("."):
        assert part in found.__all__
        found = getattr(found, part)


def test_all_lists_what_is_there() -> None:
    for namespace in (ua, ua.linalg, ua.fft, ua.nn, ua.signal, ua.special, functions):
        assert len(set(namespace.__all__)) == len(namespace.__all__)
        for name in namespace.__all__:
            assert hasattr(namespace, name), name


def test_every_function_is_declared_or_neither_takes_nor_gives_values() -> None:
    for name in functions.__all__:
        function = getattr(ua, name)
        assert hasattr(function, "declaration") or name in {
            "broadcast_shapes", "can_cast", "finfo", "iinfo", "isdtype", "result_type",
            "may_share_memory", "shares_memory",
        }, name  # fmt: skip
    for namespace in (ua.linalg, ua.fft, ua.nn, ua.signal, ua.special):
        assert all(hasattr(getattr(namespace, name), "declaration") for name in namespace.__all__)


def test_every_declaration_is_public() -> None:
    for name, declaration in DECLARATIONS.items():
        found: Any = ua
        for part in name.split("."):
            found = getattr(found, part)
        assert found.declaration is declaration


@pytest.mark.parametrize("name", list(DECLARATIONS))
def test_a_declaration_names_its_kernels(name: str) -> None:
    declaration = DECLARATIONS[name]
    assert declaration.kernels or declaration.derivatives or declaration.category in WITHOUT_KERNELS
    assert (declaration.category == "view") <= bool(declaration.view_map)


@pytest.mark.parametrize("name", list(DECLARATIONS))
def test_every_backend_has_the_kernels_of_a_declaration(backend: str, name: str) -> None:
    if DECLARATIONS[name].category == "mixed":
        pytest.skip("the body computes what a backend has no kernel for")
    for kernel in DECLARATIONS[name].kernels:
        assert callable(load(backend).kernel(kernel))


def called_by_name() -> set[str]:
    """Return the names of kernels that the frontend's files hold."""
    found = set()
    for path in (*ROOT.glob("*.py"), *ROOT.glob("_core/**/*.py"), *ROOT.glob("functions/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name in ("kernel", "invoke", "invoke_several", "attempt", "attempt_for_derivative"):
                    found.add(node.args[0].value)
    return found


def test_what_the_frontend_calls_has_a_record() -> None:
    declared = {
        kernel for declaration in DECLARATIONS.values() for kernel in (*declaration.kernels, *declaration.derivatives)
    }
    assert {"sort", "get_window"} <= called_by_name() | declared <= KERNELS.keys()


@pytest.mark.parametrize("name", sorted(name for name, record in KERNELS.items() if record.required))
def test_every_backend_has_the_kernels_of_the_machinery(backend: str, name: str) -> None:
    assert callable(load(backend).kernel(name))


def test_what_isnt_the_engines_own_says_why(backend: str) -> None:
    for name, kernel in load(backend).kernels.items():
        origin = getattr(kernel, "origin", None)
        if origin is not None and not isinstance(kernel, type):
            assert origin in ORIGINS, name
            reason = kernel.reason
            assert isinstance(reason, str), name
            assert len(reason) > 10, name


def test_a_gap_raises_with_its_reason(backend: str) -> None:
    gaps = [kernel for kernel in load(backend).kernels.values() if getattr(kernel, "origin", None) == "not implemented"]
    for kernel in gaps:
        with pytest.raises(ua.errors.BackendFeatureError) as caught:
            kernel()
        assert str(caught.value) == kernel.reason


def test_a_bound_namespace_has_the_same_names(backend: str) -> None:
    namespace = ua.zeros(1).__array_namespace__()
    assert isinstance(namespace, types.ModuleType)
    for name in [*STANDARD, *CONSTANTS, *DTYPES]:
        found: Any = namespace
        for part in name.split("."):
            found = getattr(found, part)
    assert namespace.__array_api_version__ == ua.__array_api_version__ == "2025.12"


def test_the_info_names_the_standards_dtypes_and_defaults(backend: str) -> None:
    info = ua.__array_namespace_info__()
    assert set(info.capabilities()) == {"boolean indexing", "data-dependent shapes", "max dimensions"}
    assert info.default_device() in info.devices()
    assert info.default_dtypes() == {
        "real floating": ua.float64, "complex floating": ua.complex128, "integral": ua.int64, "indexing": ua.int64,
    }  # fmt: skip
    assert info.dtypes() == {name: getattr(ua, name) for name in DTYPES}
    assert set(info.dtypes(kind="signed integer")) == {"int8", "int16", "int32", "int64"}
    assert set(info.dtypes(kind=("bool", "complex floating"))) == {"bool", "complex64", "complex128"}
    assert set(info.dtypes(device=info.default_device())) == set(DTYPES)
