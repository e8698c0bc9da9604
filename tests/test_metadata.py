"""Metadata of the project agree: versions, versions of Python, and the content of a wheel."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

import unifyarr as ua
from unifyarr._core.engines.tested import NEWEST

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_version_stands_in_one_file_and_the_citation() -> None:
    assert PROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "unifyarr._version.__version__"}
    assert re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.M)[1] == ua.__version__  # type: ignore[index]
    minor = ".".join(ua.__version__.split(".")[:2])
    assert re.search(rf"^## {re.escape(minor)}\.", (ROOT / "CHANGELOG.md").read_text(), re.M)


def test_the_tested_versions_of_python_are_those_that_the_package_takes() -> None:
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    tested = re.findall(r'"(3\.\d+)"', re.search(r"python: \[(.*)\]", text)[1])  # type: ignore[index]
    named = re.findall(r":: (3\.\d+)$", "\n".join(PROJECT["project"]["classifiers"]), re.M)
    assert {*named} <= {*tested}
    assert PROJECT["project"]["requires-python"] == f">={tested[0]}"


def test_engines_have_no_upper_bounds() -> None:
    """A newer engine than any tested can be installed beside the package."""
    extras = PROJECT["project"]["optional-dependencies"]
    for requirement in (
        *PROJECT["project"]["dependencies"],
        *(each for several in extras.values() for each in several),
    ):
        assert not re.search(r"<|==|~=", requirement.partition(";")[0]), requirement


def test_the_newest_versions_tested_are_those_of_the_tests() -> None:
    pinned = dict(re.findall(r"^([\w-]+)==(.*)$", (ROOT / "constraints.txt").read_text(), re.M))
    assert {engine: pinned[f"{engine}-cpu" if engine == "tensorflow" else engine] for engine in NEWEST} == NEWEST


@pytest.mark.parametrize("name", ["tests", "release", "ahead"])
def test_workflows_that_never_ran_say_so(name: str) -> None:
    text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text()
    assert text.startswith("# Untried")
    # No step keeps what could push.
    assert text.count("actions/checkout") == text.count("persist-credentials: false")


@pytest.mark.skipif(sys.platform != "linux", reason="the step is written for a runner with Linux")
def test_a_release_without_urls_is_refused(tmp_path: Path) -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    step = re.search(r"run: (tar .*Project-URL.*)$", text, re.M)[1]  # type: ignore[index]
    for urls, accepted in ("Project-URL: Homepage, https://example.org\n", True), ("", False):
        folder = tmp_path / f"{accepted}"
        information = folder / "package-1.0" / "PKG-INFO"
        information.parent.mkdir(parents=True)
        information.write_text(f"Metadata-Version: 2.4\nName: package\n{urls}")
        (folder / "dist").mkdir()
        with tarfile.open(folder / "dist" / "package-1.0.tar.gz", "w:gz") as archive:
            archive.add(information.parent, "package-1.0")
        # As the runners' shell does it.
        ran = subprocess.run(["bash", "-eo", "pipefail", "-c", step], cwd=folder, capture_output=True, check=False)
        assert (ran.returncode == 0) == accepted


def test_a_wheel_has_data_and_what_type_checkers_read() -> None:
    data = PROJECT["tool"]["setuptools"]["package-data"]
    for path in ROOT.joinpath("unifyarr").rglob("*"):
        if path.suffix in (".json", ".pyi") or path.name == "py.typed":
            package = ".".join(path.parent.relative_to(ROOT).parts)
            assert any(path.match(pattern) for pattern in data.get(package, [])), path
