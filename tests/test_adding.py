"""Adding a function or a kernel: in how many files, and that the suite asks for each of them.

``special.erfcinv`` stands for any elementwise kernel with a derivative. ``CONTRIBUTING.md`` says how one is added.
"""

from __future__ import annotations

import fnmatch
import re
import subprocess
import sys
from pathlib import Path

import pytest

import unifyarr as ua
from unifyarr._core.declaring.declare import DECLARATIONS

from .stubs import SPACES
from .test_signatures import STANDARD

PACKAGE = Path(ua.__file__).parent
ROOT = PACKAGE.parent
ADDED = "erfcinv"
# A file for each engine, and: function, record, derivative, cases, values, changelog.
MOST_FILES = 10


def _generated() -> set[Path]:
    written = re.findall(r'"([^"]+\.(?:md|py))"[:\]]', (ROOT / "docs" / "generate.py").read_text())
    return {(ROOT / "docs" / name).resolve() for name in written} | {PACKAGE / name for name in SPACES}


def test_an_elementwise_kernel_is_added_in_few_files() -> None:
    word, own = re.compile(rf"\b{ADDED}\b"), Path(__file__).resolve()
    patterns = ("unifyarr/**/*.py", "unifyarr/**/*.pyi", "unifyarr/**/*.[ch]", "tests/**/*.py", "*.md", "docs/**/*.md")
    files = {path.resolve() for pattern in patterns for path in ROOT.glob(pattern)}
    generated = _generated()
    assert len(generated) == 16
    assert generated <= files
    found = sorted(str(path.relative_to(ROOT)) for path in files - generated - {own} if word.search(path.read_text()))
    assert len(found) == MOST_FILES, found


# -- what the suite asks for, beside what is tried of every declaration and record -------------------------------------


def test_every_file_of_functions_is_published() -> None:
    """A namespace imports the files that declare its functions, and the tests go through all namespaces."""
    program = """
import importlib, pathlib
import unifyarr.testing.declarations as found
known = set(found.DECLARATIONS)
import unifyarr.functions
for path in sorted(pathlib.Path(unifyarr.functions.__file__).parent.glob("*.py")):
    importlib.import_module(f"unifyarr.functions.{path.stem}")
print(*sorted(set(found.DECLARATIONS) - known))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


@pytest.mark.parametrize("name", sorted({*DECLARATIONS} - {*STANDARD}))
def test_the_changelog_names_every_function(name: str) -> None:
    """It may name several by a pattern, such as ``segment_*``."""
    text = (ROOT / "CHANGELOG.md").read_text()
    words = {word.rpartition(".")[2] for word in re.findall(r"[\w.*]+", text)}
    last = name.rpartition(".")[2]
    assert last in words or any(fnmatch.fnmatch(last, word) for word in words if word.count("*") == 1 < len(word))
