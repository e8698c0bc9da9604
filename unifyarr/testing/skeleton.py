"""The skeleton of a backend's package, made of the contract as it is: ``python -m unifyarr.testing new NAME``."""

from __future__ import annotations

import inspect
import re
from collections import abc, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._core.engines.registry import BUILT_IN
from .._core.kernels.record import KERNELS, RANDOM
from ..backends import Backend
from ..errors import UnifyarrError
from .declarations import DECLARATIONS

# Longer lines are broken.
_WIDE = 110
# The files of kernels that the machinery calls by itself.
_INDEXING = {"get_window", "set_window", "gather", "scatter", "put_mask"}


class SkeletonError(UnifyarrError, ValueError):
    """A package can't be made: its name is none, or there's something already."""


def new(name: str, folder: str | Path = ".") -> Path:
    """Make the package ``unifyarr-NAME``, with a backend for the engine whose module is ``NAME``; return its folder.

    All of it can be installed and loaded. What has to be written raises ``NotImplementedError`` with a TODO, and the
    kernels are gaps. Nothing is overwritten: ``SkeletonError`` if the folder is there.

    >>> import tempfile
    >>> from unifyarr.testing import new
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     package = new("cupy", folder)
    ...     sorted(path.name for path in package.iterdir())
    ['README.md', 'pyproject.toml', 'tests', 'unifyarr_cupy']
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise SkeletonError(f"the name of a backend is that of its engine's module, in lower case, not {name!r}")
    if name in BUILT_IN:
        raise SkeletonError(f"{name!r} is the name of a backend of this package, which another one can't replace")
    root = Path(folder) / f"unifyarr-{name}"
    if root.exists():
        raise SkeletonError(f"{root} is there already: choose another folder, or move it away")
    for path, text in _files(name):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def _files(name: str) -> Iterator[tuple[str, str]]:
    package, cls = f"unifyarr_{name}", f"{name.title().replace('_', '')}Backend"
    categories = _kernels()
    yield "pyproject.toml", _PYPROJECT.format(name=name, package=package, cls=cls)
    yield "README.md", f"# unifyarr-{name}\n\nA backend of [unifyarr](https://pypi.org/project/unifyarr) for {name}.\n"
    yield f"tests/test_{name}.py", _TESTS.format(name=name)
    yield f"{package}/__init__.py", _INIT.format(name=name, cls=cls)
    yield f"{package}/py.typed", ""
    yield f"{package}/_backend.py", _backend(name, cls)
    modules = "".join(f"    {category},\n" for category in sorted(categories))
    yield f"{package}/kernels/__init__.py", _MODULES.format(modules=modules)
    for category, kernels in sorted(categories.items()):
        text = "\n".join(kernels)
        head = _HEAD if "not_implemented(" in text else ""
        yield f"{package}/kernels/{category}.py", _KERNELS.format(category=category, head=head, lines=text)


# -- kernels --------------------------------------------------------------------------------------------------------


def _kernels() -> dict[str, list[str]]:
    """Return the lines of each file of kernels: those that are called whatever happens, then those that needn't be."""
    needed: dict[str, set[str]] = defaultdict(set)
    optional: dict[str, set[str]] = defaultdict(set)
    for declaration in DECLARATIONS.values():
        if declaration.operation is None:
            category = declaration.body.__module__.rpartition(".")[2].lstrip("_")
            found = optional if declaration.category in ("mixed", "compositional") else needed
            found[category].update(declaration.kernels)
            optional[category].update(declaration.derivatives)
    for record in KERNELS.values():
        if record.required:
            needed["indexing" if record.name in _INDEXING else "manipulation"].add(record.name)
    # The cases of all functions are made at the first use.
    from .arguments import arguments_of_kernels

    given = arguments_of_kernels()
    taken: set[str] = set()
    lines: dict[str, list[str]] = {}
    for category, kernels in sorted(needed.items()):
        mine = sorted(kernels - taken)
        taken |= kernels
        if mine:
            lines[category] = [_line(kernel, given.get(kernel, "")) for kernel in mine]
    for category, kernels in sorted(optional.items()):
        extra = sorted(kernels - taken)
        if extra:
            before = [*lines[category], ""] if category in lines else []
            lines[category] = [*before, "# Composed of other functions unless they are here:", f"# {', '.join(extra)}"]
        taken |= optional[category]
    drawn = sorted([record.name for record in KERNELS.values() if record.kind is RANDOM])
    lines["random"] = ["# The engine's own random numbers, if it has any:", f"# {', '.join(drawn)}"]
    return {category: _wrapped(each) for category, each in lines.items()}


def _line(name: str, given: str) -> str:
    return f'{name} = not_implemented("{name} is not written yet")' + (f"  # {given}" if given else "")


def _wrapped(lines: list[str]) -> list[str]:
    import textwrap

    out: list[str] = []
    for line in lines:
        out += textwrap.wrap(line, 116, initial_indent="", subsequent_indent="# ") if line.startswith("#") else [line]
    return out


# -- the class ------------------------------------------------------------------------------------------------------


def _backend(name: str, cls: str) -> str:
    # ``__abstractmethods__`` has no order; the contract's groups have one.
    given = {"name", "modules"}
    properties, methods = [], []
    for base in reversed(Backend.__mro__):
        for member, value in vars(base).items():
            if member in Backend.__abstractmethods__ and member not in given:
                given.add(member)
                if isinstance(value, property):
                    properties.append(_attribute(member, value))
                else:
                    methods.append(_method(member, value))
    written = "\n".join(methods)
    used = [each for each in abc.__all__ if re.search(rf"\b{each}\b", written)]
    imports = f"from collections.abc import {', '.join(sorted(used))}\n" if used else ""
    return _BACKEND.format(imports=imports, name=name, cls=cls, properties="\n".join(properties), methods=written)


def _attribute(name: str, member: property) -> str:
    default = {"native_types": "(object,)", "mutable": "False"}[name]
    return f"    # TODO: {_first(member)}\n    {name} = {default}"


def _first(member: Any) -> str:
    return (inspect.getdoc(member) or "").partition("\n")[0]


def _method(name: str, member: Any) -> str:
    signature = str(inspect.signature(member)).replace("'", "")
    native = re.sub(r"\bNative\b", "Any", signature)
    line = f"    def {name}{native}:"
    if len(line) > _WIDE:
        arguments, _, returned = native[1:].rpartition(") -> ")
        line = f"    def {name}(\n        {arguments}\n    ) -> {returned}:"
        if len(arguments) > _WIDE:
            several = "".join(f"        {each},\n" for each in re.split(r", (?![^\[]*\])", arguments))
            line = f"    def {name}(\n{several}    ) -> {returned}:"
    return f'{line}\n        """{_first(member)}"""\n        raise NotImplementedError("TODO: {name}")\n'


_PYPROJECT = """\
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "unifyarr-{name}"
version = "0.1.0"
description = "A backend of unifyarr for {name}"
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["unifyarr"]

[project.optional-dependencies]
test = ["unifyarr[testing]"]

# The name is that of the engine's module.
[project.entry-points."unifyarr.backends"]
{name} = "{package}:{cls}"

[tool.setuptools]
packages = ["{package}", "{package}.kernels"]
package-data = {{ {package} = ["py.typed"] }}

[tool.pytest.ini_options]
testpaths = ["tests"]
addopts = ["-p", "unifyarr.testing.plugin", "--unifyarr-backend", "{name}"]
"""

_INIT = '''\
"""A backend of unifyarr for {name}."""

from ._backend import {cls}

__all__ = ["{cls}"]
'''

_MODULES = '''\
"""The kernels, in a file for each category of functions."""

from . import (
{modules})

MODULES = (
{modules})
'''

_KERNELS = '''\
"""Kernels on native arrays: {category}."""

{head}{lines}
'''
_HEAD = "from unifyarr.backends.kernels import not_implemented\n\n"

_BACKEND = '''\
"""The backend: what the contract asks for. ``unifyarr.backends.Backend`` has what is optional, with its defaults."""

{imports}from typing import Any, final

import numpy as np

from unifyarr.backends import Backend

from .kernels import MODULES


@final
class {cls}(Backend[Any]):
    """{name}, as unifyarr sees it."""

    name = "{name}"
    modules = MODULES
{properties}

{methods}'''

_TESTS = '''\
"""Tests of the backend's own; the plugin of ``pyproject.toml`` runs unifyarr's checks beside them."""

import numpy as np

import unifyarr as ua


def test_values_go_in_and_come_out():
    values = np.arange(6.0).reshape(2, 3)
    x = ua.asarray(values, backend="{name}")
    assert x.backend == "{name}"
    np.testing.assert_array_equal(x.to_numpy(), values)
'''
