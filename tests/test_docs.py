"""The pages: their examples run on every backend, their links lead somewhere, and the tests they name exist."""

from __future__ import annotations

import ast
import doctest
import importlib
import io
import json
import re
from contextlib import redirect_stdout
from pathlib import Path
from xml.etree import ElementTree

import pytest

import unifyarr as ua
from unifyarr.testing.abilities import LACKING

from .natives import TRANSFORMS, lacking_for, show_values, skip_without_derivatives, skip_without_exporters

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md") if "_build" not in page.parts)
WITH_EXAMPLES = [page for page in PAGES if ">>>" in (DOCS / page).read_text()]


@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_examples_run(backend: str, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    show_values(backend, monkeypatch)
    text = (DOCS / page).read_text()
    skip_without_exporters(text)
    if TRANSFORMS.search(text):
        skip_without_derivatives(backend)
    if lacking := lacking_for(backend, text):
        pytest.skip(f"{LACKING} {', '.join(lacking)}: {backend}")
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    with ua.use_backend(backend):
        runner.run(doctest.DocTestParser().get_doctest(text, {}, page, page, 0), out=report.append)
    assert runner.tries > 0
    assert not runner.failures, "".join(report)


def test_the_guides_have_examples() -> None:
    assert {"guides/inplace.md", "guides/graph.md", "start/five-minutes.md"} <= set(WITH_EXAMPLES)


# Pages with programs that have no prompts -> where these run.
PROGRAMS = {
    "index.md": "here",
    "guides/devices.md": "tests/backends/over_devices/placing.py",
    "write-a-backend.md": "tests/plugin_backend",
    "guides/scale.md": "tests/backends/dask/test_page.py",
    # A fixture for pytest, and the logging of a process, which are their users' own.
    "guides/debug.md": "nowhere",
    "guides/why-slow.md": "nowhere",
}


def test_every_program_of_a_page_is_run() -> None:
    programs = {
        page
        for page in PAGES
        for program in re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.M | re.S)
        if ">>>" not in program
    }
    assert programs == {*PROGRAMS}
    assert all((ROOT / path).exists() for path in PROGRAMS.values() if "/" in path)


def test_the_first_program_prints_what_its_page_shows() -> None:
    text = (DOCS / "index.md").read_text()
    program, shown = (re.findall(rf"^```{kind}\n(.*?)^```", text, re.M | re.S)[0] for kind in ("python", "text"))
    backends = re.search(r"in (\(.*?\)):", program)
    assert backends is not None
    # An engine that isn't installed leaves its line out.
    here = {*ua.available_backends()}
    program = program.replace(backends[1], repr(tuple(name for name in ast.literal_eval(backends[1]) if name in here)))
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(program, "index.md", "exec"), {})
    assert {*printed.getvalue().splitlines()} <= {*shown.splitlines()}
    assert [line.split()[0] for line in shown.splitlines()] == ["numpy", "torch", "jax", "tensorflow"]


def test_pages_have_the_words_that_the_search_finds_them_by(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    words = importlib.import_module("search_words")
    for page in words.WORDS:
        if not page.startswith("reference/"):
            text = words.with_words(page, (DOCS / f"{page}.md").read_text())
            assert re.search(rf"^# .*\n\n```{{index}} ! {words.WORDS[page][0]}", text, re.M), page
    made = words.with_words("reference/functions/where", "where\n=====\n\n.. autofunction:: unifyarr.where\n")
    assert made.startswith("where\n=====\n\n.. index:: ! where, ")
    assert words.with_words("contract", "# The contract\n") == "# The contract\n"


def test_what_was_measured_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    pictures = importlib.import_module("pictures")
    for path in (DOCS / "measured").glob("*.json"):
        measured = json.loads(path.read_text())
        assert len(ElementTree.fromstring(pictures.figure(measured)).findall("div/svg")) == len(measured["panels"])
        assert f"_made/{path.stem}.html" in (DOCS / "benchmarks.md").read_text()
    rows = {"x += y": [4.0, 1.0], "x[i] = s": [None, 200.0]}
    widths = {
        scale: [float(bar) for bar in re.findall(r'<rect .*?width="([\d.]+)"', pictures.panel("", rows, "µs", scale))]
        for scale in ("panel", "row")
    }
    # The longest of a row is as long as the longest of all, where each row has a scale of its own.
    assert widths["row"] == [widths["panel"][3], widths["panel"][3] / 4, 0.0, widths["panel"][3]]
    assert widths["panel"][0] == pytest.approx(widths["panel"][3] / 50, abs=0.1)


LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(?:#[\w-]+)?\)")


@pytest.mark.parametrize("page", PAGES)
def test_links_between_pages_lead_somewhere(page: str) -> None:
    text = re.sub(r"```.*?```", "", (DOCS / page).read_text(), flags=re.S)
    path = DOCS / page
    # Pages of the reference are made when the site is built.
    targets = [target for target in LINK.findall(text) if "reference/" not in target]
    assert not [target for target in targets if not (path.parent / target).exists()]


@pytest.mark.parametrize("page", ["contract.md", "guides/inplace.md"])
def test_the_tests_that_a_page_names_exist(page: str) -> None:
    named = set(re.findall(r"`(test_\w+)`", (DOCS / page).read_text()))
    defined = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(), re.M)
    }
    assert named <= defined, sorted(named - defined)
    assert page != "contract.md" or len(named) > 15


def test_the_pages_of_examples_show_what_these_print() -> None:
    examples = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert {path.stem for path in (DOCS / "examples").glob("*.md")} - {"index"} == examples
    for name in examples:
        page, printed = ((DOCS / "examples" / f"{name}.{kind}").read_text() for kind in ("md", "txt"))
        for function in re.findall(r":pyobject: (\w+)", page):
            assert f"def {function}(" in (ROOT / "examples" / f"{name}.py").read_text()
        assert {"numpy", "torch", "jax", "tensorflow"} <= {
            line.split()[0] for line in printed.splitlines() if line.split()
        }
