"""Fill the skeleton of a backend's package with the code of the page: a definition takes the place of its namesake."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

from unifyarr.testing import new

PAGE = Path(__file__).parents[2] / "docs" / "write-a-backend.md"


def blocks() -> list[tuple[str, str]]:
    """Return the code of the page, each block with the file, or files, that it is for."""
    return re.findall(r"^```python\n# (\S+)\n(.*?)^```$", PAGE.read_text(), re.M | re.S)


def made(folder: Path) -> Path:
    """Make the package in a folder, and return its root."""
    root = new("boxed", folder)
    for place, code in blocks():
        files = sorted(root.glob(place)) if "*" in place else [root / place]
        for file in files:
            # A package's own list of modules has no kernels.
            if "*" not in place or (file.name != "__init__.py" and "not_implemented(" in file.read_text()):
                file.write_text(filled(file.read_text() if file.exists() else "", code))
    project = root / "pyproject.toml"
    for table, lines in re.findall(r"^```toml\n# pyproject.toml\n(\[.*?\]\n)(.*?)^```$", PAGE.read_text(), re.M | re.S):
        text = project.read_text()
        assert text.count(table) == 1
        project.write_text(text.replace(table, table + lines))
    return root


def installed(root: Path, site: Path) -> Path:
    """Install a package into a folder as users do, by pip; its dependencies are installed already."""
    options = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check")
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(site), str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return site


def filled(source: str, code: str) -> str:
    """Return a module's source with the definitions of some code in the place of those of the same names."""
    if not source:
        return code
    for node in ast.parse(code).body:
        text = _text(code, node)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            source = source if text in source else _after_imports(source, text)
        elif isinstance(node, ast.ClassDef):
            source = _class(source, code, node)
        else:
            source = _put(source, ast.parse(source).body, _name(node), text)
    return source


def _class(source: str, code: str, node: ast.ClassDef) -> str:
    mine = _found(source, node.name)
    lines = source.splitlines(keepends=True)
    lines[mine.lineno - 1] = code.splitlines(keepends=True)[node.lineno - 1]
    source = "".join(lines)
    for member in node.body:
        if not _is_docstring(member):
            source = _put(source, _found(source, node.name).body, _name(member), _text(code, member))
        else:
            source = _put(source, _found(source, node.name).body[:1], "", _text(code, member))
    return source


def _found(source: str, name: str) -> ast.ClassDef:
    return next(each for each in ast.parse(source).body if isinstance(each, ast.ClassDef) and each.name == name)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _name(node: ast.stmt) -> str:
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0])
    return getattr(node, "name", "")


def _first(lines: list[str], node: ast.stmt) -> int:
    """Return the first line of a statement, with the comments above it."""
    first = node.lineno - 1
    while first and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return first


def _text(code: str, node: ast.stmt) -> str:
    lines = code.splitlines(keepends=True)
    return "".join(lines[_first(lines, node) : node.end_lineno])


def _put(source: str, body: list[ast.stmt], name: str, text: str) -> str:
    """Put a statement where one of its name is, or behind the last one of a body."""
    lines = source.splitlines(keepends=True)
    for node in body:
        if _name(node) == name and (name or (_is_docstring(node) and text.lstrip().startswith('"""'))):
            lines[_first(lines, node) : node.end_lineno] = [text]
            return "".join(lines)
    end = body[-1].end_lineno
    assert end is not None
    gap = "\n" if "def " in text or "#" in text else ""
    lines[end:end] = [gap, text if text.endswith("\n") else text + "\n"]
    return "".join(lines)


def _after_imports(source: str, text: str) -> str:
    lines = source.splitlines(keepends=True)
    last = [each for each in ast.parse(source).body if isinstance(each, (ast.Import, ast.ImportFrom))][-1]
    lines[last.end_lineno : last.end_lineno] = [text if text.endswith("\n") else text + "\n"]
    return "".join(lines)
