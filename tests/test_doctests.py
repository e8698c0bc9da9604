"""The examples in docstrings run on every backend, and print the same."""

from __future__ import annotations

import contextvars
import doctest
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest

import unifyarr as ua

from .natives import TRANSFORMS, lacking_for, show_values, skip_without_derivatives, skip_without_exporters

MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(ua.__path__, "unifyarr.")
    if not info.name.startswith("unifyarr.backends") and not info.name.endswith("__main__")
)


def documented(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield objects that a module itself defines: doctest's own finder skips functions that dispatch."""
    yield module.__name__, module
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if inspect.isroutine(value):
            yield f"{module.__name__}.{name}", value
        elif isinstance(value, type):
            yield f"{module.__name__}.{name}", value
            for method, function in vars(value).items():
                if inspect.isroutine(function) or isinstance(function, property):
                    yield f"{module.__name__}.{name}.{method}", function


def examples(name: str) -> list[doctest.DocTest]:
    parser = doctest.DocTestParser()
    module = importlib.import_module(name)
    tests = []
    for place, value in documented(module):
        text = inspect.getdoc(value) if not inspect.ismodule(value) else value.__doc__
        if text and ">>>" in text:
            tests.append(parser.get_doctest(text, {}, place, inspect.getsourcefile(module), 0))
    return tests


WITH_EXAMPLES = [name for name in MODULES if examples(name)]


def test_the_functions_have_examples() -> None:
    found = sum(len(examples(name)) for name in WITH_EXAMPLES if name.startswith("unifyarr.functions"))
    assert found >= len(ua.functions.__all__)


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples(backend: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    show_values(backend, monkeypatch)
    for test in examples(module):
        skip_without_exporters(test.docstring or "")
    if any(TRANSFORMS.search(test.docstring or "") for test in examples(module)):
        skip_without_derivatives(backend)
    report: list[str] = []
    # As at an interactive prompt: the backend is the process's default, no scope is open.
    before = ua.current_backend()

    def run() -> None:
        ua.set_backend(backend)
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
        for test in examples(module):
            if lacking_for(backend, test.docstring or ""):
                continue
            runner.run(test, out=report.append)
            assert ua.current_backend() == backend, f"{test.name} leaves another backend behind"

    try:
        contextvars.Context().run(run)
    finally:
        contextvars.Context().run(ua.set_backend, "numpy")
    assert ua.current_backend() == before
    assert not report, "".join(report)
