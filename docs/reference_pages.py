"""Write the reference, when the site is built: a page for each public name, made from its declaration.

What a page says beside the docstring is read from the code: how each backend computes the function, what may be a view,
what ``out=`` does, and by which parameters tests hold its derivative against differences.
"""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import reference_facts as facts
from reference_facts import Entry

import unifyarr as ua
from unifyarr._core.declaring.declare import DECLARATIONS

FOLDER = Path(__file__).parent / "reference"
# Title of a category -> the modules of ``unifyarr.functions`` whose names of the main namespace it has.
MODULES: dict[str, tuple[str, ...]] = {
    "Creating arrays": ("creation", "spaced"),
    "Elementwise functions": ("elementwise", "arithmetic", "angles", "number_parts", "special", "logarithms"),
    "Comparing": ("comparing", "utility", "memory"),
    "Shapes, joining and editing": ("manipulation", "editing", "padding", "diagonals"),
    "Indexing and places": ("indexing", "places", "scattering", "segments"),
    "Sums, means and statistics": (
        *("statistical", "averaging", "nan_reductions", "order_statistics", "covariance", "histograms"),
    ),
    "Sorting, searching and sets": ("sorting", "ordering", "searching", "sets", "set_operations"),
    "Products and linear algebra": ("linalg", "contraction", "products"),
    "Numerical methods": ("numerical", "interpolation"),
    "Data types": ("data_type",),
    "Updates in place": ("inplace",),
    "Backends and devices": ("backends", "inspection", "_versions"),
    "Larger than memory": ("deferring",),
    "Printing": ("printing",),
}
# Names that stand in other modules -> their category.
NAMES: dict[str, tuple[str, ...]] = {
    "Backends and devices": (
        *("available_backends", "set_backend", "use_backend", "portable", "get_num_threads", "set_num_threads"),
        *("__array_namespace_info__",),
    ),
    "Derivatives and batches": (
        *("grad", "value_and_grad", "jacobian", "hessian", "hvp", "vjp", "jvp", "linearize", "vmap", "stop_gradient"),
        *("checkpoint", "custom_vjp", "custom_jvp"),
    ),
    "Compiled functions and operations": ("compile", "op", "debug", "debug_print", "check", "export"),
    "Loops and branches": ("associative_scan", "cond", "fori_loop", "map", "scan", "switch", "while_loop"),
}
EXTENSIONS = {
    "linalg": "Linear algebra: linalg",
    "fft": "Fourier transforms: fft",
    "nn": "Neural networks: nn",
    "signal": "Signals: signal",
    "special": "Special functions: special",
    "optim": "Training: optim",
}
LATER = (
    "Derivatives and batches",
    "Loops and branches",
    "Compiled functions and operations",
    "Data types",
    "Updates in place",
)


def category_of(name: str, value: Any) -> str:
    """Return the category of a function of the main namespace; a module that no category names is one of its own."""
    for title, names in NAMES.items():
        if name in names:
            return title
    module = value.__module__.rpartition(".")[2]
    for title, modules in MODULES.items():
        if module in modules:
            return title
    return module.replace("_", " ").capitalize()


def functions() -> dict[str, list[Entry]]:
    """Return all public functions, by category, each category in the alphabet's order."""
    found: dict[str, list[Entry]] = {title: [] for title in MODULES if title not in LATER}
    found |= {title: [] for title in (*EXTENSIONS.values(), *LATER)}
    for name in sorted({*ua.__all__}, key=str.lower):
        value = getattr(ua, name)
        if callable(value) and name not in ("Array", "Container") and not isinstance(value, type(ua.float64)):
            entry = Entry(name, value, DECLARATIONS.get(name))
            found.setdefault(category_of(name, value), []).append(entry)
    for space, title in EXTENSIONS.items():
        for name in getattr(ua, space).__all__:
            value = getattr(getattr(ua, space), name)
            # ``fft.fft`` has the name of a namespace, and is another object.
            if value is not getattr(ua, name, None):
                found[title].append(Entry(f"{space}.{name}", value, getattr(value, "declaration", None)))
    return {title: entries for title, entries in found.items() if entries}


def heading(text: str, line: str = "=") -> list[str]:
    """Return the lines of a heading."""
    return [text, line * len(text), ""]


def toctree(pages: list[str]) -> list[str]:
    """Return the lines of a list of pages that only the navigation shows."""
    return [".. toctree::", "   :hidden:", "", *(f"   {page}" for page in pages), ""]


def table(header: tuple[str, ...], rows: list[tuple[str, ...]], widths: str = "auto") -> list[str]:
    """Return the lines of a table."""
    lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {widths}", ""]
    for row in (header, *rows):
        lines += [f"   {'*' if place == 0 else ' '} - {cell}" for place, cell in enumerate(row)]
    return [*lines, ""]


def slug(title: str) -> str:
    """Return the name of a category's page."""
    return title.split(":")[0].lower().replace(",", "").replace(" ", "-")


def found_by(entry: Entry) -> list[str]:
    """Return the lines by which the search finds a function under the names that it has in other libraries."""
    paths = facts.elsewhere().get(entry.name, [])
    words = dict.fromkeys(word for path in paths for word in (path, path.rpartition(".")[2]))
    return [f".. index:: {', '.join(f'! {word}' for word in words)}", ""] if words else []


def function_page(entry: Entry) -> list[str]:
    """Return the page of a function."""
    kind = "autoclass" if isinstance(entry.value, type) else "autofunction"
    lines = [*heading(entry.name), *found_by(entry), f".. {kind}:: unifyarr.{entry.name}", ""]
    if isinstance(entry.value, type):
        lines[-1:] = ["   :members:", ""]
    if entry.declaration is None:
        return lines
    lines += [*heading("On each backend", "-"), *(f"- {fact}" for fact in facts.of(entry)), ""]
    rows = facts.routes(entry)
    if not rows:
        lines[-1:] = [f"- {facts.made_of(entry.declaration)}", ""]
    return [*lines, *table(("backend", "computed", "writes ``out`` itself"), rows)] if rows else lines


def category_page(title: str, entries: list[Entry]) -> list[str]:
    """Return the page of a category: what each of its functions does."""
    rows = [(f":doc:`{entry.name} <functions/{entry.name}>`", entry.summary, facts.short(entry)) for entry in entries]
    return [
        *heading(title),
        *table(("function", "what it does", "result"), rows, "22 58 20"),
        *toctree([f"functions/{entry.name}" for entry in entries]),
    ]


def class_page(path: str, *options: str, title: str = "") -> list[str]:
    """Return the page of a class: its description, a list of its members, and then each of them."""
    return [
        *heading(title or path.removeprefix("unifyarr.")),
        f".. autoclass:: {path}",
        *(f"   :{option}:" for option in ("members", *options)),
        "",
    ]


def graph_page() -> list[str]:
    """Return the page of what ``unifyarr.graph`` has, with a page for each class."""
    lines = [*heading("Graphs: graph"), ua.graph.__doc__ or "", ""]
    rows, pages = [], []
    for name in ua.graph.__all__:
        value = getattr(ua.graph, name)
        target = f"graph/{name}" if isinstance(value, type) else ""
        said = (inspect.getdoc(value) or "").split("\n")[0]
        rows.append((f":doc:`{name} <{target}>`" if target else f":func:`~unifyarr.graph.{name}`", said))
        pages += [target] if target else []
    lines += table(("name", "what it is"), rows, "25 75")
    for name in ua.graph.__all__:
        if not isinstance(getattr(ua.graph, name), type) and name != "compile":
            lines += [f".. autofunction:: unifyarr.graph.{name}", ""]
    return [*lines, "``graph.compile`` is :func:`unifyarr.compile`.", "", *toctree(pages)]


def dtypes_page() -> list[str]:
    """Return the page of dtypes and constants."""
    rows = [
        (f"``ua.{name}``", f"``{getattr(ua, name).name}``")
        for name in ua.__all__
        if isinstance(getattr(ua, name), type(ua.float64))
    ]
    constants = [(f"``ua.{name}``", f"``{getattr(ua, name)!r}``") for name in ("e", "pi", "inf", "nan", "newaxis")]
    return [
        *heading("Dtypes and constants"),
        "A dtype is one object for all engines. It equals NumPy's dtype, the engines' own and its name.",
        "",
        *table(("dtype", "name"), rows),
        *table(("constant", "value"), constants),
    ]


def pages() -> Iterator[tuple[str, list[str]]]:
    """Yield the path and the lines of each page."""
    categories = functions()
    subjects = []
    for title, entries in categories.items():
        names = ", ".join(f":doc:`{entry.name} <functions/{entry.name}>`" for entry in entries)
        subjects += [f":doc:`{title} <{slug(title)}>`", f"   {names}", ""]
        yield slug(title), category_page(title, entries)
        for entry in entries:
            yield f"functions/{entry.name}", function_page(entry)
    classes = {
        "array": class_page("unifyarr.Array", "inherited-members", title="Array"),
        "container": class_page("unifyarr.Container", title="Container"),
        "generator": class_page("unifyarr.random.Generator", "inherited-members", title="random.Generator"),
    }
    yield from classes.items()
    for name in ua.graph.__all__:
        if isinstance(getattr(ua.graph, name), type):
            yield f"graph/{name}", class_page(f"unifyarr.graph.{name}")
    yield "graph", graph_page()
    yield "dtypes", dtypes_page()
    errors = [*heading("Errors"), ".. automodule:: unifyarr.errors", "   :members:", "   :member-order: bysource", ""]
    yield "errors", errors
    others = [*classes, "graph", "dtypes", "errors"]
    count = sum(map(len, categories.values()))
    yield (
        "index",
        [
            *heading("Reference"),
            f"{count} functions, by subject. Each has a page of its own, which says how each backend computes it.",
            "",
            *subjects,
            *heading("Classes and other names", "-"),
            *(f"- :doc:`{each}`" for each in others),
            "- :doc:`Names of unifyarr.numpy <../coming-from/numpy-names>`",
            "",
            *toctree([*others[:3], *map(slug, categories), *others[3:]]),
        ],
    )


def write() -> None:
    """Write all pages; those that are as they were keep their time, so that Sphinx doesn't read them again."""
    wanted = {FOLDER / f"{path}.rst": "\n".join(lines) for path, lines in pages()}
    if FOLDER.exists():
        for path in {*FOLDER.rglob("*.rst")} - {*wanted}:
            path.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    write()
