"""Sphinx configuration."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path[:0] = [str(HERE), str(ROOT)]

import pictures  # noqa: E402
import reference_pages  # noqa: E402
import search_words  # noqa: E402

project = "unifyarr"
author = "The unifyarr developers"
copyright = "2026, the unifyarr developers"
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_made"]
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False

html_theme = "pydata_sphinx_theme"
html_title = "unifyarr"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "collapse_navigation": True,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# These pages have nothing beside them.
html_sidebars = {page: [] for page in ("index", "write-a-backend", "changelog", "benchmarks", "versions")}
# Prompts and output stay out of what the button copies.
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

# Pages whose text is a file of the repository, which is read there too.
ELSEWHERE = {
    "changelog": "CHANGELOG.md",
    "contributing/index": "CONTRIBUTING.md",
    "contributing/core": "unifyarr/_core/README.md",
    "contributing/graph": "unifyarr/graph/README.md",
    "contributing/backends": "unifyarr/backends/README.md",
}
PAGES = {path: page for page, path in ELSEWHERE.items()}


def without_last_lines(app: Any, page: str, source: list[str]) -> None:
    """Drop the empty line at the end of an example: doctest needs it, and a reader doesn't."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def read_elsewhere(app: Any, page: str, source: list[str]) -> None:
    """Put the text of a file of the repository before that of its page, with links that lead to pages."""
    if page not in ELSEWHERE:
        return
    path = ROOT / ELSEWHERE[page]
    app.env.note_dependency(str(path))
    up = "../" * page.count("/")

    def link(found: re.Match[str]) -> str:
        text, target = found.groups()
        if target.startswith("docs/"):
            return f"[{text}]({up}{target.removeprefix('docs/')})"
        return f"[{text}]({up}{PAGES[target]}.md)" if target in PAGES else text

    text = re.sub(r"\[([^\]]+)\]\((?!https?:|#)([^)]+)\)", link, path.read_text())
    source[0] = f"{text}\n{source[0]}"


def add_words(app: Any, page: str, source: list[str]) -> None:
    """Add to a page the words by which the search finds it."""
    source[0] = search_words.with_words(page, source[0])


def with_breaks(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Add places where a line may end inside of a name, after dots and underscores, for narrow screens."""

    def broken(found: re.Match[str]) -> str:
        return found[1] + re.sub(r"([._/])(?=[A-Za-z])", r"\1<wbr>", found[2])

    if "body" in context:
        context["body"] = re.sub(r'(<span class="pre">)([^<]+)', broken, context["body"])


def setup(app: Any) -> None:
    """Register what this file adds to Sphinx."""
    app.connect("source-read", without_last_lines)
    app.connect("source-read", read_elsewhere)
    app.connect("source-read", add_words)
    app.connect("html-page-context", with_breaks)
    app.connect("builder-inited", lambda app: (pictures.write(), reference_pages.write()))
