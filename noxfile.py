"""Sessions: ``nox -s quick``, ``tests``, ``without-core``, ``dask``, ``interpreters``, ``newest``, ``lowest``,
``lint``, ``typecheck``, ``docs``, ``bench``, ``conformance``, ``gpu``.
"""

from __future__ import annotations

import argparse
import os
import shutil

import nox

nox.options.sessions = ["lint", "typecheck", "tests"]
nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = True

CONSTRAINTS = ("-c", "constraints.txt")
BACKENDS = ("numpy", "torch", "jax", "tensorflow", "dask")
# What the standard's suite imports: the namespace bound to a backend, or an engine's own.
NAMESPACE = "exec('import unifyarr; unifyarr.set_backend(\"{}\"); xp = unifyarr.asarray(0).__array_namespace__()')"
BARE = {"numpy": "numpy", "jax": "jax.numpy", "torch": "array_api_compat.torch", "dask": "array_api_compat.dask.array"}
# TensorFlow's start-up messages say nothing about us.
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3"}
# The suite starts some hundred processes. Each would compile the package and the tests anew where Python writes no
# bytecode.
SUITE = {**QUIET, "PYTHONDONTWRITEBYTECODE": ""}


# The interpreters on PATH, builds without the lock among them.
FOUND = [
    version
    for version in ("3.11", "3.12", "3.13", "3.14", "3.15", "3.13t", "3.14t", "3.15t")
    if shutil.which(f"python{version}")
]
# What the tests need beside the package and one engine.
BESIDE = ("pytest-xdist", "scipy", "mpmath", "setuptools")
# What ``quick`` runs.
QUICK = ("tests/test_signatures.py", "tests/functions", "tests/graph")


def install(session: nox.Session, *extras: str) -> None:
    """Install the package with extras, in the pinned versions."""
    # torch first and by its pin: a range would take a build of several gigabytes.
    if {"all", "torch"} & {*extras}:
        session.install("torch==2.13.0", *CONSTRAINTS)
    session.install("-e", f".[{','.join(extras)}]", *CONSTRAINTS)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests on all engines, on dask a part; arguments go to pytest, such as ``--backends numpy,jax``."""
    install(session, "all", "test")
    workers = () if any(argument.startswith("-n") for argument in session.posargs) else ("-n", "2")
    session.run("pytest", *workers, *session.posargs, env=SUITE)


@nox.session
def quick(session: nox.Session) -> None:
    """Test every function on NumPy and torch with one dtype of each kind, then the graph: in under two minutes."""
    install(session, "torch", "test")
    session.run("pytest", "--quick", "-q", *(session.posargs or QUICK))


@nox.session(name="without-core")
def without_core(session: nox.Session) -> None:
    """Run all tests on NumPy and torch without the compiled core, whose calls Python does then."""
    install(session, "torch", "test")
    session.run("pytest", "-n", "2", "--quick", *session.posargs, env={**SUITE, "UNIFYARR_CORE": "0"})


@nox.session
def dask(session: nox.Session) -> None:
    """Run all tests on dask with one dtype of each kind, in chunks as they are by default, then of two elements."""
    install(session, "dask", "test")
    blocks = {"DASK_ARRAY__CHUNK_SIZE": "32B"}
    for chunks in ({}, blocks):
        settings = {**SUITE, **chunks, "DASK_SCHEDULER": "synchronous"}
        session.run("pytest", "-n", "2", "--quick", "--backends", "dask", "-rs", *session.posargs, env=settings)


@nox.session(python=FOUND or False)
def interpreters(session: nox.Session) -> None:
    """Try the package on NumPy under each version of Python on PATH; arguments go to ``tests.tried``."""
    # Without the pins, which are those of one version of Python.
    session.install("-e", ".[testing]", *BESIDE)
    session.run("python", "-m", "tests.tried", "numpy", *session.posargs, env=QUIET)


@nox.session
@nox.parametrize("engine", BACKENDS)
def newest(session: nox.Session, engine: str) -> None:
    """Try each engine's newest release, or with ``--pre`` its nightly wheel; other arguments go to ``tests.tried``.

    Where nightly wheels are is for pip to know: set ``PIP_EXTRA_INDEX_URL``.
    """
    pre = ["--pre"] if "--pre" in session.posargs else []
    extra = "" if engine == "numpy" else f"{engine},"
    session.install("--upgrade", *pre, "-e", f".[{extra}testing]", *BESIDE)
    arguments = [each for each in session.posargs if each != "--pre"]
    session.run("python", "-m", "tests.tried", engine, *arguments, env=QUIET)


@nox.session
@nox.parametrize("engine", BACKENDS)
def lowest(session: nox.Session, engine: str) -> None:
    """Try the oldest versions that ``pyproject.toml`` takes; arguments go to ``tests.tried``."""
    project = nox.project.load_toml("pyproject.toml")["project"]
    extras = project["optional-dependencies"]
    oldest = [each.replace(">=", "==") for each in (*project["dependencies"], *extras.get(engine, ()))]
    session.install("-e", ".[testing]", *BESIDE, *oldest)
    session.run("python", "-m", "tests.tried", engine, *session.posargs, env=QUIET)


@nox.session(venv_backend="none")
def gpu(session: nox.Session) -> None:
    """Try the accelerator that torch, JAX or TensorFlow sees, in ten minutes, and write ``gpu-report.md``.

    The environment is the one that nox runs in: which build of an engine drives an accelerator depends on the machine.
    Where none is seen, a share runs on torch's simulated device. Arguments go to ``tests.devices.report``.
    """
    session.run("python", "-m", "tests.devices.report", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting."""
    session.install("ruff", *CONSTRAINTS)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def typecheck(session: nox.Session) -> None:
    """Check the package's types with mypy, and with pyright that users see full signatures."""
    # Types of these are read; those of engines are none. The package is read from its sources: it isn't built for this.
    read = ("pytest", "hypothesis", "pydantic", "cloudpickle")
    dependencies = nox.project.load_toml("pyproject.toml")["project"]["dependencies"]
    session.install("mypy", "pyright", *read, *dependencies, *CONSTRAINTS)
    session.run("mypy")
    session.run("pyright", "tests/typing_cases.py", "tests/typing_programs.py")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation; warnings are errors. With ``examples``, run these first, for what their pages show."""
    install(session, "all", "docs", *session.posargs)
    session.run("python", "docs/generate.py", env=QUIET)
    if "examples" in session.posargs:
        session.run("python", "docs/run_examples.py", env=QUIET)
    session.run("sphinx-build", "-W", "-b", "html", "docs", "docs/_build/html", env=QUIET)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure calls, programs, updates in place, allocations and rewriting; arguments are backends."""
    install(session, "all", "test")
    # What the package is compared with, where it can be installed.
    others = ("pytensor", "numexpr", "autoray", "eagerpy", "tensorly", "array-api-compat")
    session.install(*others, *CONSTRAINTS, success_codes=[0, 1])
    for benchmark in ("overhead", "whole", "inplace"):
        session.run("python", f"benchmarks/{benchmark}.py", *session.posargs, env=QUIET)
    # What can count its allocations.
    counted = [name for name in session.posargs if name in ("numpy", "torch")]
    session.run("python", "benchmarks/allocations.py", *counted, env=QUIET)
    session.run("python", "benchmarks/rewriting.py", env=QUIET)
    engines = ("--engines", ",".join((*session.posargs, "pytensor"))) if session.posargs else ()
    session.run("python", "benchmarks/compiled.py", *engines, env=QUIET)


@nox.session
def conformance(session: nox.Session) -> None:
    """Run the standard's suite: ``-- PATH-TO-A-CHECKOUT [--backend X] [--bare X] [--seed N] [pytest arguments]``.

    ``--bare`` names an engine's own namespace, to compare with.
    """
    parser = argparse.ArgumentParser(usage=conformance.__doc__)
    parser.add_argument("checkout", help="of data-apis/array-api-tests, with its submodule array-api populated")
    parser.add_argument("--backend", action="append", default=[], choices=BACKENDS)
    parser.add_argument("--bare", action="append", default=[], choices=BARE)
    parser.add_argument("--seed", default="0")
    options, arguments = parser.parse_known_args(session.posargs)
    ours = options.backend or ([] if options.bare else BACKENDS)
    install(session, "all", "test")
    session.install("-r", os.path.join(options.checkout, "requirements.txt"), *CONSTRAINTS)
    plugins = os.path.abspath("tests/conformance")
    for module in (*map(NAMESPACE.format, ours), *(BARE[name] for name in options.bare)):
        environment = {
            **QUIET,
            "ARRAY_API_TESTS_MODULE": module,
            "ARRAY_API_TESTS_VERSION": "2025.12",
            "JAX_ENABLE_X64": "1",
            "PYTHONPATH": plugins,
            "SUITE_SEED": options.seed,
        }
        with session.chdir(options.checkout):
            session.run(
                *("python", "-m", "pytest", "array_api_tests", "-p", "no:cacheprovider", "-p", "suite_seed"),
                *(
                    "--derandomize",
                    f"--hypothesis-seed={options.seed}",
                    "--disable-deadline",
                    "--disable-warnings",
                    "-q",
                ),
                *arguments,
                env=environment,
                # All of them run, whatever the bare engines fail.
                success_codes=[0, 1] if module in BARE.values() else [0],
            )
