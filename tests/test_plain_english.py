"""Counts of phrases that read as translated, in ``unifyarr`` and ``docs``: they may only fall.

A failure shows the file and line of each hit: say the new ones in plain words. Lower the count when you rewrite others.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pytest

from tests.test_words import FILES, ROOT

LONGEST = 30  # Words of a sentence.
LONG = f"over {LONGEST} words"


class Sentence(NamedTuple):
    """A sentence of a comment, docstring, message or page."""

    line: int
    text: str
    is_message: bool = False


class Rule(NamedTuple):
    """A pattern, and how many sentences may have it now."""

    pattern: str
    package: int
    docs: int

    def has(self, text: str) -> bool:
        if self.pattern:
            return re.search(self.pattern, text) is not None
        return sum(any(map(str.isalnum, word)) for word in text.split()) > LONGEST


# Begin with the subject, or in a docstring's first line with the verb, and use the field's word.
RULES = {
    "opens with What": Rule(r"^What\b(?!.*\?)", 364, 119),
    "opens with Of": Rule(r"^Of\b(?! course)", 49, 14),
    "opens with Whose": Rule(r"^Whose\b(?!.*\?)", 1, 1),
    "Return what": Rule(r"^(Return|Yield) what\b", 192, 3),
    "by place": Rule(r"\bby place\b", 5, 1),
    "is told by": Rule(r"\b(is|are) told by\b", 2, 0),
    "comes again": Rule(r"\bcomes? again\b", 3, 3),
    LONG: Rule("", 157, 147),
}
# A new block: a list item, a table, an underline, an example, a directive.
_BLOCK = re.compile(r"\s*([-*+] |\d+\. |\||[-=~]{3,}|#|>>>|\.\.\. |:::|```|\.\. )")
_END = re.compile(r"(?<=[.!?])[)`*\"']*\s+(?=[A-Z`*\"'(])")


def sentences(lines: Iterable[tuple[int, str]]) -> Iterator[Sentence]:
    """Yield the sentences of lines of prose: paragraphs end at empty lines, other indents and new blocks."""
    texts: list[str] = []
    start, indent = 0, 0
    for number, line in (*lines, (0, "")):
        depth = len(line) - len(line.lstrip())
        if texts and (not line.strip() or depth != indent or _BLOCK.match(line)):
            yield from (Sentence(start, text) for text in _END.split(" ".join(texts)))
            texts = []
        if line.strip() and not re.match(r"\s*(>>>|\.\.\. |[-=~]{3,})", line):
            if not texts:
                start, indent = number, depth
            texts.append(re.sub(r"^([-*+]|\d+\.|#+) ", "", line.strip()))


def of_page(text: str) -> Iterator[Sentence]:
    without_code = re.sub(r"^( *)```.*?^\1```", lambda code: "\n" * code[0].count("\n"), text, flags=re.S | re.M)
    yield from sentences(
        (number, line) for number, line in enumerate(without_code.split("\n"), 1) if line[:4] != "    "
    )


# A comment of its own line, or behind code: tokens would be exact and take ten times as long.
_COMMENT = re.compile(r"^\s*# (?!--)(.*)|^.*\S  # (.*)")


def of_module(text: str) -> Iterator[Sentence]:
    docstrings, inside = set(), set()
    constants: list[ast.Constant] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            constants.append(node)
            inside.update(range(node.lineno, node.end_lineno or 0))
        elif isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.body:
            docstrings.add(id(getattr(node.body[0], "value", None)))
    comments: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if "#" in line and number not in inside and (found := _COMMENT.match(line)):
            # A comment behind code stands for itself.
            if comments and (found[1] is None or comments[-1][0] != number - 1):
                comments.append((0, ""))
            comments += [(number, found[1])] if found[1] is not None else [(number, found[2]), (0, "")]
    yield from sentences(comments)
    for node in constants:
        if " " in (value := str(node.value)):
            is_message = id(node) not in docstrings
            # The first line of a docstring begins behind the quotes.
            value = value if is_message else " " * node.col_offset + value
            lines = enumerate(value.split("\n"), node.lineno)
            yield from (each._replace(is_message=is_message) for each in sentences(lines))


@functools.cache
def all_sentences() -> list[tuple[str, Sentence]]:
    found = []
    for path in FILES:
        name = path.relative_to(ROOT).as_posix()
        found += [(name, each) for each in (of_page if path.suffix == ".md" else of_module)(path.read_text())]
    return found


def hits(rule: Rule, folder: str) -> list[str]:
    """Return the places in a folder where a sentence has the pattern; code in strings may have long ones."""
    return [
        f"{path}:{each.line}: {each.text[:90]}"
        for path, each in all_sentences()
        if path.startswith(f"{folder}/") and (rule.pattern or not each.is_message) and rule.has(each.text)
    ]


@pytest.mark.parametrize("name", RULES)
def test_counts_only_fall(name: str) -> None:
    rule = RULES[name]
    for folder, allowed in (("unifyarr", rule.package), ("docs", rule.docs)):
        found = hits(rule, folder)
        assert len(found) <= allowed, "\n".join(
            [f"{len(found)} sentences in {folder} are {name!r}, {allowed} are allowed; rewrite the new ones:", *found]
        )


def test_each_pattern_finds_its_phrase() -> None:
    text = '''"""What it is.

    Return what it has. The key
    is told by shapes.
    """

# Of all places. Arguments by place, of course.
x = 1  # Whose it is.
# What comes again?
y = "takes x by place"
'''
    found = {name: sorted(each.line for each in of_module(text) if rule.has(each.text)) for name, rule in RULES.items()}
    assert found == {
        "opens with What": [1],
        "opens with Of": [7],
        "opens with Whose": [8],
        "Return what": [3],
        "by place": [7, 10],
        "is told by": [3],
        "comes again": [9],
        LONG: [],
    }


@pytest.mark.parametrize(("count", "is_long"), [(LONGEST, False), (LONGEST + 1, True)])
def test_long_sentences(count: int, *, is_long: bool) -> None:
    text = "It is short. " + " ".join(["word"] * (count - 1)) + "\nend.\n"
    rule = RULES[LONG]
    assert any(rule.has(each.text) for each in of_page(text.replace("word", "Word", 1))) == is_long
