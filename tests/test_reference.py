"""The reference: each public name has a page, which agrees with its declaration."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

import unifyarr as ua

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def made() -> ModuleType:
    sys.path.insert(0, str(DOCS))
    try:
        import reference_pages
    finally:
        sys.path.remove(str(DOCS))
    return reference_pages


def test_every_public_function_has_a_page(made: ModuleType) -> None:
    entries = {entry.name: entry for found in made.functions().values() for entry in found}
    dtypes = {name for name in ua.__all__ if isinstance(getattr(ua, name), type(ua.float64))}
    public = {name for name in ua.__all__ if callable(getattr(ua, name))} - dtypes - {"Array", "Container"}
    for space in made.EXTENSIONS:
        namespace = getattr(ua, space)
        others = {name for name in namespace.__all__ if getattr(namespace, name) is not getattr(ua, name, None)}
        public |= {f"{space}.{name}" for name in others}
    assert {"fft.fft", "linalg.svd"} <= public
    assert "linalg.matmul" not in public
    assert {*entries} == public
    # Each name of a subject is one.
    known = {*made.MODULES, *made.NAMES, *made.EXTENSIONS.values()}
    assert {*made.functions()} <= known, "name the category of a new file in docs/reference_pages.py"


def entry(made: ModuleType, name: str) -> object:
    return next(each for found in made.functions().values() for each in found if each.name == name)


def test_a_page_says_what_is_a_view(made: ModuleType) -> None:
    assert "a view" in made.facts.view(ua.reshape.declaration)
    assert "``x``" in made.facts.view(ua.reshape.declaration)
    assert "memory of its own" in made.facts.view(ua.sum.declaration)
    assert made.facts.short(entry(made, "reshape")).startswith("view")
    assert made.facts.short(entry(made, "add")) == "new, ``out``"


def test_a_page_says_what_out_is_of_several_results(made: ModuleType) -> None:
    said = {name: made.facts.out(entry(made, name).declaration) for name in ("add", "divmod", "linalg.svd", "any")}
    assert [name for name, text in said.items() if "a tuple" in text] == ["divmod", "linalg.svd"]
    assert "each result may be a view" in made.facts.view(ua.split.declaration)


def test_a_page_says_how_functions_without_kernels_are_computed(made: ModuleType) -> None:
    assert "- **Computed**: from other functions" in "\n".join(made.function_page(entry(made, "divmod")))
    assert "- **Computed**: on NumPy and torch" in "\n".join(made.function_page(entry(made, "reshape")))
    assert "**Computed**" not in "\n".join(made.function_page(entry(made, "add")))


def test_a_page_says_which_derivatives_are_tested(made: ModuleType) -> None:
    said = made.facts.derivative(entry(made, "nn.layer_norm"))
    assert "``x``, ``weight``, ``bias``" in said
    assert "eps" not in said
    assert made.facts.derivative(entry(made, "argmax")).endswith("none is tested.")
    assert "jax has no derivative, and raises" in made.facts.derivative(entry(made, "linalg.eig"))
    assert "for some arguments" in made.facts.derivative(entry(made, "scatter"))


def test_the_search_finds_a_page_by_its_names_elsewhere(made: ModuleType) -> None:
    directive = made.found_by(entry(made, "concat"))[0]
    assert directive.startswith(".. index:: ! ")
    assert {"! torch.cat", "! cat", "! vstack"} <= {*directive.removeprefix(".. index:: ").split(", ")}
    assert made.found_by(entry(made, "heaviside")) == []


def test_a_page_says_how_backends_compute(made: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made.facts.ua, "available_backends", lambda: ["numpy"])
    made.facts.backends.cache_clear()
    assert made.facts.routes(entry(made, "add")) == [("numpy", "by the engine", "yes")]
    (row,) = made.facts.routes(entry(made, "special.gammaln"))
    assert "(" in row[1]
    assert made.facts.routes(entry(made, "hstack" if hasattr(ua, "hstack") else "moveaxis")) == []
    made.facts.backends.cache_clear()


def test_a_page_names_what_other_libraries_call_it(made: ModuleType) -> None:
    named = made.facts.elsewhere()
    assert {"np.concatenate", "torch.cat", "tf.concat", "jax.numpy.concatenate"} <= {*named["concat"]}
    assert named["value_and_grad"] == ["ivy.execute_with_gradients", "jax.value_and_grad"]
    assert "``torch.cat``" in " ".join(made.facts.ways(entry(made, "concat")))
