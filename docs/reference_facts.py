"""What the reference says of a function beside its docstring: read from declarations, kernels and lists of tests."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from generate import tables

import unifyarr as ua
import unifyarr.numpy
from tests.transformations import every_gradient
from unifyarr._core.declaring.declare import Declaration
from unifyarr._core.engines.handle import Handle
from unifyarr._core.engines.registry import load
from unifyarr.container.container import flatten


@dataclass(frozen=True)
class Entry:
    """A public name: what it stands for, and its declaration if it has one."""

    name: str
    value: Any
    declaration: Declaration | None

    @property
    def summary(self) -> str:
        """The first sentence of the docstring, on one line."""
        return " ".join((inspect.getdoc(self.value) or "").split("\n\n")[0].split())


@cache
def backends() -> list[Handle]:
    """Return all backends that are installed here."""
    return [load(name) for name in ua.available_backends()]


def of(entry: Entry) -> list[str]:
    """Return sentences about a function: its result, ``out``, its derivative, and other ways to call it."""
    assert entry.declaration is not None
    declaration = entry.declaration
    written = [f"**Writes** {names(each)} if ``{flag}``." for flag, each in declaration.updates.items()]
    return [view(declaration), *written, out(declaration), derivative(entry), *ways(entry)]


def names(parameters: Iterable[str]) -> str:
    """Return names of parameters as a list."""
    return ", ".join(f"``{each}``" for each in parameters)


def view(declaration: Declaration) -> str:
    """Return what the result shares memory with."""
    viewed = [declaration.parameters.operands[place] for place in declaration.viewed_by(0)]
    if not viewed:
        return "**Result**: memory of its own, or ``out``."
    each = "each result" if has_several_results(declaration) else "the result"
    return f"**Result**: {each} may be a view of {names(viewed)}. Then a write to one of the two changes the other."


def has_several_results(declaration: Declaration) -> bool:
    """Return whether a function returns several arrays, as its annotation says."""
    return str(declaration.signature.return_annotation) != "Array"


def out(declaration: Declaration) -> str:
    """Return what ``out`` does."""
    if "out" not in declaration.signature.parameters:
        return "**out**: not taken."
    target = "an array, a view or a native that can be written, or a container of them"
    if has_several_results(declaration):
        return f"**out**: for several results a tuple of targets. Each is {target}."
    return f"**out**: {target}."


def made_of(declaration: Declaration) -> str:
    """Return how a function without kernels of its own is computed."""
    if declaration.category == "view":
        return (
            "**Computed**: on NumPy and torch by the engine's own view, if it has one. Elsewhere the package keeps the "
            "view: it is read from its base, and written through it."
        )
    return "**Computed**: from other functions, on every backend."


@cache
def differentiated() -> dict[str, list[str]]:
    """Return the parameters by which tests compare derivatives with differences, by the function's name."""
    found: dict[str, list[str]] = {}
    for name, number, place in every_gradient.cases():
        key = place[0]
        if key in every_gradient.CONSTANT.get(name, ()) or not gives_floats(name, number, place):
            continue
        parameters = every_gradient.find(name).declaration.parameters
        named = parameters.positional
        parameter = key if isinstance(key, str) else named[key] if key < len(named) else f"*{parameters.variadic}"
        if parameter not in found.setdefault(name, []):
            found[name].append(parameter)
    return found


@cache
def gives_floats(name: str, *call: Any) -> bool:
    """Return whether a call that tests differentiate has results that are differentiated: floating-point ones."""
    drawn = every_gradient.draw(name, *call, seed=0)
    with ua.use_backend("numpy"):
        results = flatten(every_gradient.find(name)(*drawn.arguments, **drawn.options))[0]
    return any(ua.isdtype(each.dtype, ("real floating", "complex floating")) for each in results)


def derivative(entry: Entry) -> str:
    """Return by which parameters the derivative is tested, and which engine lacks it."""
    assert entry.declaration is not None
    name = entry.declaration.qualified_name
    parameters = differentiated().get(entry.name) or differentiated().get(name) or []
    if not parameters:
        return "**Derivative**: none is tested."
    text = f"**Derivative**: by {names(parameters)}, tested beside finite differences."
    for (engine, direction), lacks in every_gradient.MISSING.items():
        if calls := [each for each in lacks if each.split("[")[0].split(" ")[0] == name]:
            ways = "" if direction == "both" else f" {direction}"
            some = "" if name in calls else " for some arguments"
            text += f" {engine} has no{ways} derivative{some}, and raises."
    return text


@cache
def elsewhere() -> dict[str, list[str]]:
    """Return the names that functions have in other libraries, from the tables of ``coming-from``, by ours."""
    found: dict[str, list[str]] = {}
    for their, our in tables():
        if our.startswith("ua."):
            found.setdefault(our.removeprefix("ua."), []).append(their)
    return found


def ways(entry: Entry) -> list[str]:
    """Return sentences on other names of the same function, and its place in the source."""
    assert entry.declaration is not None
    found = []
    name = entry.name.rpartition(".")[2]
    if "." not in entry.name and callable(getattr(ua.Array, name, None)):
        found.append(f"**Method**: ``x.{name}()``, see :doc:`/reference/array`.")
    space = entry.name.rpartition(".")[0]
    theirs = getattr(unifyarr.numpy, space, None) if space else unifyarr.numpy
    if space in ("", "linalg", "fft") and hasattr(theirs, name):
        path = f"unifyarr.numpy.{entry.name}"
        found.append(f"**With NumPy's signature**: ``{path}``.")
    if theirs_names := elsewhere().get(entry.name):
        found.append(f"**Elsewhere**: {names(theirs_names)}; see :doc:`/coming-from/index`.")
    module = entry.declaration.body.__module__.replace(".", "/")
    return [*found, f"**Source**: ``{module}.py``."]


def routes(entry: Entry) -> list[tuple[str, ...]]:
    """Return a row for each backend: how it has the kernels, and whether these write ``out`` themselves."""
    assert entry.declaration is not None
    rows = []
    for backend in backends():
        of_derivatives = [each for each in entry.declaration.derivatives if each in backend.kernels]
        kernels = *entry.declaration.kernels, *of_derivatives
        said = [text for text in (route(entry.declaration, backend, kernel) for kernel in kernels) if text]
        if said:
            writes = any(writes_out(backend, kernel) for kernel in kernels if kernel in backend.kernels)
            rows.append((backend.name, "; ".join(dict.fromkeys(said)), "yes" if writes else "no"))
    return rows


def route(declaration: Declaration, backend: Handle, kernel: str) -> str:
    """Return how a backend has a kernel, and why if it isn't the engine's own."""
    of_which = f"``{kernel}``: " if len(declaration.kernels) + len(declaration.derivatives) > 1 else ""
    if kernel not in backend.kernels:
        return f"{of_which}composed of other functions" if declaration.category == "mixed" else f"{of_which}missing"
    found = backend.kernel(kernel)
    origin, reason = getattr(found, "origin", "native"), getattr(found, "reason", "")
    words = {"native": "by the engine", "host": "by NumPy on the host", "composed": "composed of other functions"}
    return f"{of_which}{words.get(origin, origin)}{f' ({reason})' if reason else ''}"


def writes_out(backend: Handle, name: str) -> bool:
    """Return whether a kernel writes ``out`` itself; otherwise the result is written to it afterwards."""
    kernel = backend.kernels[name]
    return any(backend.supports_out(each) for each in (kernel, getattr(kernel, "native", kernel)))


def short(entry: Entry) -> str:
    """Return the result in two words, for tables."""
    if entry.declaration is None:
        return ""
    viewed = "view" if entry.declaration.viewed_by(0) else "new"
    return f"{viewed}, ``out``" if "out" in entry.declaration.signature.parameters else viewed
