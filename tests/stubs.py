"""``python -m tests.stubs``: write the stubs of the namespaces of functions, which type checkers read.

A function is declared once, for arrays. The rest follows from the declaration, and is written here: arguments may be
array-likes, and a call with a container, or a variable of a graph, returns one.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import unifyarr as ua
import unifyarr.numpy
from unifyarr import functions
from unifyarr._core.declaring.declare import Declaration

ROOT = Path(ua.__file__).parent
HEADER = "# Written by ``python -m tests.stubs`` from the declarations: change these instead."
SPACES = {
    "functions/__init__.pyi": functions,
    **{f"{name}.pyi": getattr(ua, name) for name in ("fft", "linalg", "nn", "signal", "special")},
}
PACKAGE = "__init__.pyi"
# Namespaces whose names stand in other files: the stubs say in which.
GATHERED = {
    "numpy/__init__.pyi": unifyarr.numpy,
    **{f"numpy/{path}.pyi": getattr(unifyarr.numpy, path.partition("/")[0]) for path in ("linalg/__init__", "random")},
}
# Result types of calls with such an argument, and their modules.
OTHERS = {"Container": "unifyarr.container.container", "Variable": "unifyarr.graph.core.basic"}
# Names of types, as they stand in annotations.
ARRAY = re.compile(r"\bArray\b")


class Stub:
    """The text of one stub, and its imports."""

    def __init__(self, space: ModuleType, path: str) -> None:
        self.space, self.depth = space, path.count("/") + 1
        self.imports: dict[str, set[str]] = {}
        self.aliases: dict[str, str] = {}
        self.lines: list[str] = []

    def text(self) -> str:
        for name in self.space.__all__:
            value = getattr(self.space, name)
            if isinstance(value, type):
                self.need(value.__module__, f"{name} as {name}")
            elif self.space is not functions and getattr(functions, name, None) is value:
                self.need("unifyarr.functions", f"{name} as {name}")
            else:
                self.function(name, value)
        listed = [f"    {name!r},".replace("'", '"') for name in self.space.__all__]
        return "\n".join([HEADER, *self.imported(), "", "__all__ = [", *listed, "]", "", *self.lines, ""])

    def imported(self) -> list[str]:
        lines = []
        for module, names in sorted(self.imports.items(), key=lambda each: (each[0].startswith("unifyarr"), each)):
            own = module.startswith("unifyarr")
            where = "." * self.depth + module.removeprefix("unifyarr").removeprefix(".") if own else module
            lines.append(f"from {where} import {', '.join(sorted(names))}")
        return lines

    def need(self, module: str, name: str) -> None:
        self.imports.setdefault(module, set()).add(name)

    def function(self, name: str, value: Any) -> None:
        body = inspect.unwrap(value)
        signature = inspect.signature(body)
        declaration: Declaration | None = getattr(value, "declaration", None)
        operands = () if declaration is None else declaration.parameters.operands
        variants = [self.variant(body, signature, operands, None)]
        for kind in OTHERS:
            if operands and self.of_others(body, signature, kind) is not None:
                # It may be the first array, or the second where that has no default. Arrays come first: to type
                # checkers an item of a container is both.
                required = inspect.Parameter.empty
                second = [each for each in operands[1:2] if signature.parameters[each].default is required]
                variants += [self.variant(body, signature, operands, (each, kind)) for each in (operands[0], *second)]
        for parameters, result in dict.fromkeys(variants):
            if len(variants) > 1:
                self.need("typing", "overload")
                self.lines.append("@overload")
            self.lines.append(f"def {name}({parameters}) -> {result}: ...")

    def of_others(self, body: Any, signature: inspect.Signature, kind: str) -> str | None:
        """Return the result type of a call with a container or a variable, ``None`` if none is accepted."""
        text = str(signature.return_annotation)
        if ARRAY.search(text):
            return ARRAY.sub(kind, text)
        found = vars(sys.modules[body.__module__]).get(text)
        # Named results are tuples of these, which no class describes.
        return "Any" if isinstance(found, type) and issubclass(found, tuple) else None

    def variant(
        self, body: Any, signature: inspect.Signature, operands: tuple[str, ...], other: tuple[str, str] | None
    ) -> tuple[str, str]:
        """Return parameters and result of one overload; ``other`` says which parameter is no array, and its type."""
        parts: list[str] = []
        kinds = [each.kind for each in signature.parameters.values()]
        for place, (name, parameter) in enumerate(signature.parameters.items()):
            kind = parameter.kind
            if kind is parameter.KEYWORD_ONLY and not {parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL} & {
                *kinds[:place]
            }:
                parts.append("*")
            star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(kind, "")
            text = self.annotation(name, str(parameter.annotation), operands, other)
            default = _default(parameter)
            parts.append(f"{star}{name}: {text}{default}")
            if kind is parameter.POSITIONAL_ONLY and parameter.POSITIONAL_ONLY not in kinds[place + 1 :]:
                parts.append("/")
            self.names(body, text)
        found = self.of_others(body, signature, other[1]) if other else str(signature.return_annotation)
        self.names(body, str(found))
        return ", ".join(parts), str(found)

    def annotation(self, name: str, text: str, operands: tuple[str, ...], other: tuple[str, str] | None) -> str:
        place, kind = other or ("", "")
        if name == "out":
            # Variables are values.
            return "None" if kind == "Variable" else ARRAY.sub(kind or "Array", text)
        if name == "backend":
            return text.replace("str", "BackendName")
        if name not in operands:
            return text
        liked = re.sub(r"\bArray\b(?!Like)", "ArrayLike", text)
        if name == place:
            several = text.startswith(("Sequence", "tuple", "list"))
            return f"Sequence[{kind}]" if several else kind
        return re.sub(r"\bArrayLike\b", f"ArrayLike | {kind}", liked) if kind else liked

    def names(self, body: Any, text: str) -> None:
        """Import the names of an annotation."""
        for node in ast.walk(ast.parse(text, mode="eval")):
            if not isinstance(node, ast.Name) or node.id in dir(builtins):
                continue
            name = node.id
            if name in OTHERS:
                self.need(OTHERS[name], name)
            elif name in ("ArrayLike", "BackendName"):
                self.need("unifyarr.typing", name)
            elif name == "Array":
                self.need("unifyarr._core.arrays.array", name)
            elif name in ("Any", "Literal", "Protocol"):
                self.need("typing", name)
            elif name in ("Callable", "Sequence", "Iterable", "Mapping"):
                self.need("collections.abc", name)
            else:
                module, name = _origin(body.__module__, name)
                # Several files have an alias of one name, of one meaning.
                first = self.aliases.setdefault(name, module)
                if module != first and _value(first, name) != _value(module, name):
                    raise NotImplementedError(f"{name} means one thing in {first} and another in {module}")
                self.need(first, name)


def _value(module: str, name: str) -> Any:
    return getattr(sys.modules[module], name)


def _default(parameter: inspect.Parameter) -> str:
    """Return a default as it stands in a stub."""
    if parameter.default is parameter.empty:
        return ""
    plain = isinstance(parameter.default, (bool, int, str, type(None)))
    return f" = {parameter.default!r}".replace("'", '"') if plain else " = ..."


def _origin(module: str, name: str) -> tuple[str, str]:
    """Return the module that a name is imported from, for type checkers too, or defined in."""
    path = Path(str(sys.modules[module].__file__))
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and any((each.asname or each.name) == name for each in node.names):
            package = module.split(".")[: -node.level] if node.level else []
            return ".".join([*package, *([node.module] if node.module else [])]), name
        if isinstance(node, ast.Import) and any(each.asname == name for each in node.names):
            raise NotImplementedError(f"{module} imports {name} as a module")
    return module, name


def gathered(space: ModuleType) -> str:
    """Return the stub of a namespace of NumPy's names, which imports each from where it stands."""
    package = str(space.__spec__.parent)  # type: ignore[union-attr]
    theirs = sys.modules[space.__name__.removeprefix("unifyarr.")]
    others = [each for name, each in sorted(sys.modules.items()) if name.startswith(f"{package}._")]
    lines = []
    for name in (*(("__version__", "testing") if theirs is np else ()), *sorted(space.__all__)):
        value = getattr(space, name)
        if isinstance(value, ModuleType) and value.__name__.startswith("unifyarr"):
            lines.append(f"from . import {name} as {name}")
        elif getattr(theirs, name, None) is value:
            lines.append(f"from {theirs.__name__} import {name} as {name}")
        elif isinstance(value, unifyarr.numpy.ufunc):
            lines.append(f"{name}: ufunc")
        else:
            lines.append(_import_of(name, value, others))
    return "\n".join([HEADER, "from typing import Any", *lines, ""])


def _import_of(name: str, value: Any, modules: list[ModuleType]) -> str:
    wanted = getattr(value, "__func__", value)
    found = [(key, each) for each in modules for key, own in vars(each).items() if own is wanted and key[0] != "_"]
    # The file that it stands in, of those that import it.
    found.sort(key=lambda place: (place[1].__name__ != getattr(wanted, "__module__", None), place[0] != name))
    if not found:
        return f"{name}: Any"
    key, module = found[0]
    return f"from .{module.__name__.rpartition('.')[2]} import {key} as {name}"


def of_package() -> str:
    """Return the stub of the package itself: where its names are imported from, at once or when they're first used."""
    lines = ["from .functions import *"]
    for node in ast.parse((ROOT / "__init__.py").read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            names = [each.name for each in node.names if (each.asname or each.name) in ua.__all__]
            lines += [f"from .{node.module or ''} import {name} as {name}" for name in names]
    lines += [f"from .{'' if where == name else where} import {name} as {name}" for name, where in ua._LATER.items()]
    said = ["from .functions.inspection import Info", "__array_api_version__: str"]
    return "\n".join([HEADER, *lines, *said, "def __array_namespace_info__() -> Info: ...", ""])


def text(path: str) -> str:
    """Return the stub in a file."""
    if path == PACKAGE:
        return of_package()
    return Stub(SPACES[path], path).text() if path in SPACES else gathered(GATHERED[path])


def main() -> None:
    for path in (PACKAGE, *SPACES, *GATHERED):
        (ROOT / path).write_text(text(path))


if __name__ == "__main__":
    main()
