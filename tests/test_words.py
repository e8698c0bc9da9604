"""Plain English: docstrings, comments, messages and docs have no riddles, and subjects of commits are short.

The rules are in CONTRIBUTING.md, "Style of words". ``PHRASES`` has those that can be found by a pattern. Add to it when
you clean up a phrase, so that it doesn't come back.
"""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = [
    path
    for path in sorted([*(ROOT / "unifyarr").rglob("*"), *(ROOT / "docs").rglob("*")])
    if path.suffix in (".py", ".md") and "_build" not in path.parts
]

# Pattern -> what to write in its place.
PHRASES = {
    r"\b(at|come|comes|came|bring|brings|is|are|'s) home\b|\bhome (backend|of)\b": "the arrays' backend; copy back",
    r"\b(lend|lends|lent|lending)\b": "pass without a copy; share memory with",
    r"\bwhom\b": "name the node, the function or the user",
    r"\bthat of which\b": "split the sentence",
    r"\b(is|are|was|were|has|had|have) (been )?met\b|\bit met\b": "captured, used, found",
    r"\bglance\b": "peek, look at",
    r"\b(is|are|was|were) born\b": "created",
    r"\b(emptied by single steps|as large to go through)\b": "say what the code does and why",
    r"\bkinds? of arguments\b": "cache key; arguments of one structure, shape and dtype",
    r"\b(no|some|any)body (else )?(needs|has|reads|sees|looks|gets)\b|\bwhoever\b": (
        "name the thing: nothing else refers to it, it's dead, no other thread"
    ),
    r"\bwho (reads|meets|computes|asks|keeps|has|gets|wants)\b": "name the reader, the caller or the thread",
    r"\bso it is with\b": "the same holds for",
    r"\bwhat (stands for what|is what)\b": "name both things",
    r"\bthought of\b": "say what happens",
}
# In docstrings and comments a sentence begins with its subject or, in a first line, with its verb.
FIRST_WORDS = {
    r"^(Let|Tell|Bring|Say)\b": "Return whether ..., Make ..., Set ...",
}


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring, comment and message of a file; of a page, of each line."""
    text = path.read_text()
    if path.suffix == ".md":
        yield from enumerate(
            re.sub(r"```.*?```", lambda code: "\n" * code[0].count("\n"), text, flags=re.S).split("\n"), 1
        )
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")
    for node in ast.walk(ast.parse(text)):
        # Messages and docstrings; other strings are names.
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            for number, line in enumerate(node.value.split("\n")):
                yield node.lineno + number, line.strip()


def riddles(line: str) -> Iterator[str]:
    """Yield advice for a line of prose."""
    for pattern, advice in PHRASES.items():
        if found := re.search(pattern, line, re.I):
            yield f"{found[0]!r}: {advice}"
    for pattern, advice in FIRST_WORDS.items():
        if found := re.search(pattern, line):
            yield f"begins with {found[0]!r}: {advice}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_riddles(path: Path) -> None:
    found = [f"{path.relative_to(ROOT)}:{number}: {riddle}" for number, line in prose(path) for riddle in riddles(line)]
    assert not found, "\n".join(["say it in plain words, see CONTRIBUTING.md, 'Style of words':", *found])


def test_a_riddle_is_found(tmp_path: Path) -> None:
    path = tmp_path / "example.py"
    path.write_text('"""Lend it.\n\nWhom it serves.\n"""\n\n# Let it be.\nx = f"{1} is lent"\n')
    lines = [number for number, line in prose(path) for _ in riddles(line)]
    assert sorted(lines) == [1, 3, 6, 7]


# Subjects before this commit are older than the rule. ``UNIFYARR_TEST_COMMITS`` names another base.
BASE = "0ebb3ef3da1cb7cdd95e101f0e036c27cdcc6625"
SUBJECT = re.compile(r"[a-z_.][\w./, *{}-]*: [^A-Z\s].*[^.]$|Merge ")


def subjects() -> list[str]:
    """Return the subjects of the commits since the base; skip where there's no such history."""
    base = os.environ.get("UNIFYARR_TEST_COMMITS", BASE)
    command = ["git", "log", "--no-merges", "--format=%h %s", f"{base}..HEAD"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("git isn't installed, so that the subjects of commits can't be read")
    if done.returncode or not (ROOT / ".git").exists():
        pytest.skip(f"there is no git history since {base} here: {done.stderr.strip()}")
    return done.stdout.splitlines()


def wrong_subject(subject: str) -> str | None:
    """Return the error in the subject of a commit, if any."""
    if len(subject) > 72:
        return f"has {len(subject)} characters: 72 at most"
    if not SUBJECT.match(subject):
        return "isn't 'area: what changed', in lower case, without a full stop"
    return None


def test_subjects_of_commits() -> None:
    wrong = [
        f"{commit}: {subject!r} {reason}"
        for commit, subject in (line.split(" ", 1) for line in subjects())
        if (reason := wrong_subject(subject)) is not None
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("subject", "is_right"),
    [
        ("graph: copy back only the windows that were written", True),
        ("jax, torch: one helper for strides", True),
        ("Let programs see what NumPy writes", False),
        ("graph: Let it be", False),
        ("graph: " + "x" * 72, False),
        ("graph: it's done.", False),
    ],
)
def test_what_is_a_right_subject(subject: str, *, is_right: bool) -> None:
    assert (wrong_subject(subject) is None) == is_right


# The documentation names files of users and of other projects, too.
OF_PACKAGE = [path for path in FILES if ROOT / "unifyarr" in path.parents]


@pytest.mark.parametrize("path", OF_PACKAGE, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_that_are_named_are_there(path: Path) -> None:
    """A module that was moved has its new name in docstrings, comments and the READMEs of the package."""
    modules = [each for folder in ("unifyarr", "tests", "benchmarks") for each in (ROOT / folder).rglob("*.py")]
    known = [f"/{each.relative_to(ROOT).as_posix()}" for each in modules]
    named = re.findall(r"`([\w/]+\.py)\b", path.read_text())
    assert not [name for name in named if not any(each.endswith(f"/{name}") for each in known)]


# Names that several modules share on purpose, and why.
SHARED_CLASSES = {
    "Backend": "each engine's package has one",
    "Generator": "that of unifyarr.random, and NumPy's interface to it in unifyarr.numpy.random",
    "_TraceCell": "how two engines are asked whether one of their traces is running",
}


def test_one_name_for_one_class() -> None:
    """A class is found by its name: no other one of the package has the same name, inside of functions too."""
    places: dict[str, list[str]] = {}
    for path in (each for each in OF_PACKAGE if each.suffix == ".py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(path.relative_to(ROOT).as_posix())
    shared = {name: found for name, found in places.items() if len(found) > 1}
    assert shared.keys() == SHARED_CLASSES.keys(), {
        name: found for name, found in shared.items() if name not in SHARED_CLASSES
    }


# Folders whose files have the names of their siblings' files: modes, rules for the same kernels, kernels of engines.
PARALLEL = ("modes/tape", "modes/batch", "modes/trace", "modes/selection", "modes/batch/rules", "derivatives/rules")
# Files that share a name across the other rooms, at most.
SHARED_FILES = 15


def test_few_files_of_one_name() -> None:
    rooms = ("_core", "graph", "modes", "derivatives", "transformations", "control", "optim", "container")
    places: dict[str, set[str]] = {}
    for path in (each for room in rooms for each in (ROOT / "unifyarr" / room).rglob("*.py")):
        folder = path.parent.relative_to(ROOT / "unifyarr").as_posix()
        if path.stem != "__init__":
            places.setdefault(path.stem, set()).add("parallel" if folder in PARALLEL else folder)
    shared = {name: found for name, found in places.items() if len(found) > 1}
    assert len(shared) <= SHARED_FILES, shared
