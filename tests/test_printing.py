"""Print options on every backend, and the output in notebooks."""

from __future__ import annotations

import re
import threading
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.graph.show import html
from unifyarr.testing import has

THIRDS = np.array([1 / 3, 2 / 3, 1e-9])
OPTIONS: list[dict[str, Any]] = [
    {"precision": 2},
    {"precision": 3, "suppress": True},
    {"threshold": 2, "edgeitems": 1},
    {"linewidth": 12},
    {"formatter": {"float_kind": lambda x: f"<{x:.1f}>"}},
    {"sign": "+", "floatmode": "fixed", "precision": 1},
]


@pytest.mark.parametrize("options", OPTIONS, ids="-".join)
def test_options_mean_what_numpys_do(backend: str, options: dict[str, Any]) -> None:
    x = ua.asarray(THIRDS)
    with np.printoptions(**options):
        wanted = repr(THIRDS), str(THIRDS)
    with ua.use_backend(backend):
        with ua.printoptions(**options):
            assert (repr(x), str(x)) == wanted
            assert ua.get_printoptions()[next(iter(options))] == next(iter(options.values()))
        assert repr(x) == repr(THIRDS)


def test_names_of_special_values(backend: str) -> None:
    x = ua.asarray([np.nan, np.inf])
    with ua.printoptions(nanstr="missing", infstr="∞"):
        assert "missing" in str(x)
        assert "∞" in str(x)


def test_the_process_s_options_hold_in_every_thread_and_can_be_undone() -> None:
    x, before, found = ua.asarray(THIRDS), ua.get_printoptions(), []
    ua.set_printoptions(precision=1, formatter={"int": str})
    try:
        thread = threading.Thread(target=lambda: found.append(repr(x)))
        thread.start()
        thread.join()
        assert found == ["array([3.3e-01, 6.7e-01, 1.0e-09])"]
        assert ua.get_printoptions()["formatter"] is not None
    finally:
        ua.set_printoptions(**before)
    assert ua.get_printoptions() == before
    assert repr(x) == repr(THIRDS)
    # NumPy's own options hold again.
    with np.printoptions(precision=1):
        assert "0.33" not in repr(x)


def test_a_scope_is_its_thread_s_own() -> None:
    x, found = ua.asarray(THIRDS), []
    with ua.printoptions(precision=1):
        thread = threading.Thread(target=lambda: found.append(repr(x)))
        thread.start()
        thread.join()
        assert "0.33" not in repr(x)
    assert found == [repr(THIRDS)]


def test_numpys_own_options_hold_where_ours_say_nothing() -> None:
    x = ua.asarray(THIRDS)
    with np.printoptions(suppress=True), ua.printoptions(precision=2):
        assert repr(x) == "array([0.33, 0.67, 0.  ])"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"precison": 2}, TypeError),
        ({"precision": "two"}, TypeError),
        ({"precision": -1}, TypeError),
        ({"edgeitems": True}, TypeError),
        ({"linewidth": None, "nanstr": 3}, TypeError),
        ({"formatter": 3}, TypeError),
        ({"formatter": {"int": 3}}, TypeError),
        ({"threshold": "much"}, TypeError),
        ({"threshold": float("nan")}, ValueError),
        ({"sign": "?"}, ValueError),
        ({"floatmode": "loose"}, ValueError),
    ],
    ids=str,
)
def test_wrong_options_change_nothing(options: dict[str, Any], error: type[Exception]) -> None:
    before = ua.get_printoptions()
    with pytest.raises(error):
        ua.set_printoptions(**options)
    with pytest.raises(error), ua.printoptions(**options):
        pass
    assert ua.get_printoptions() == before


# -- HTML --------------------------------------------------------------------------------------------------------------


def cells(html: str) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]


@pytest.mark.parametrize(
    ("shape", "size"),
    [((), (1, 1)), ((1,), (1, 1)), ((7,), (1, 7)), ((8,), (1, 7)), ((9, 2), (7, 2)), ((2, 3, 20), (3, 7))],
    ids=str,
)
def test_arrays_as_tables(backend: str, shape: tuple[int, ...], size: tuple[int, int]) -> None:
    values = np.arange(np.prod(shape, dtype=int), dtype="float64").reshape(shape)
    text = ua.asarray(values)._repr_html_()
    found = cells(text)
    assert (len(found), len(found[0])) == size
    assert (found[0][0], found[-1][-1]) == ("0.", f"{values[(0,) * max(len(shape) - 2, 0)].reshape(-1)[-1]:.0f}.")
    assert f"shape <code>{shape}</code>" in text
    assert "dtype <code>float64</code>" in text
    assert f"backend <code>{backend}</code>" in text
    assert "device" in text
    assert ("elements of <code>x[0]</code>" in text) == (len(shape) == 3)


def test_arrays_without_elements_and_of_other_dtypes(backend: str) -> None:
    assert "no elements" in ua.compute(ua.zeros((0, 3)))._repr_html_()
    assert cells(ua.asarray([True, False])._repr_html_()) == [["True", "False"]]
    if has(backend, "dtypes"):
        assert cells(ua.asarray([1 + 2j])._repr_html_()) == [["1.+2.j"]]
        assert cells(ua.asarray([1.5], dtype="bfloat16")._repr_html_()) == [["1.5"]]


def test_only_the_ends_are_copied(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = ua.asarray(np.zeros((300, 400)))
    handle, sizes = x._backend, []
    to_numpy = handle.to_numpy
    monkeypatch.setattr(handle, "to_numpy", lambda native: (sizes.append(handle.shape(native)), to_numpy(native))[1])
    x._repr_html_()
    assert sizes == [(3, 3)] * 4
    # A small array is copied as a whole.
    sizes.clear()
    x = ua.asarray(np.zeros((300, 1000)))
    assert repr(x) == repr(np.zeros((300, 1000)))
    assert str(x) == str(np.zeros((300, 1000)))
    assert sizes == [(3, 3)] * 8


@pytest.mark.chunks(10_000)
@pytest.mark.parametrize("options", [{}, {"edgeitems": 1}, {"edgeitems": 0}], ids=str)
@pytest.mark.parametrize("shape", [(3, 2, 40_000), (7, 40_000), (200_001,)], ids=str)
def test_large_arrays_have_the_text_of_numpys(backend: str, shape: tuple[int, ...], options: dict[str, Any]) -> None:
    if options.get("edgeitems") == 0 and len(shape) > 1:
        # All elements are shown then, which takes seconds.
        shape = (*shape[:-1], 400)
    values = np.random.default_rng(0).normal(size=shape)
    x = ua.asarray(values, copy=True)
    with np.printoptions(**options):
        expected = repr(values), str(values.T)
    with ua.printoptions(**options):
        assert (repr(x), str(x.T)) == expected


def test_a_traced_array_shows_no_values(backend: str) -> None:
    found = []

    @ua.compile
    def function(x: ua.Array) -> ua.Array:
        found.append(x._repr_html_())
        return x + 1

    function(ua.zeros(3))
    assert "traced" in found[0]
    assert not cells(found[0])


def test_containers_as_trees(backend: str) -> None:
    text = ua.Container({"<b>": ua.zeros(2), "layers": [ua.ones((2, 2))]})._repr_html_()
    assert "&lt;b&gt;" in text
    assert "<b>" not in text
    assert "Container, 2 arrays" in text
    assert "Container: list" in text
    many = ua.Container([ua.asarray([0.0])] * 205)._repr_html_()
    assert "105 more" in many
    assert many.count("<table>") == 100


def test_graphs_and_compiled_functions(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    step = ua.compile(lambda x: ua.sum(ua.sort(x)))
    assert "no call so far" in step._repr_html_()
    step(ua.zeros(3))
    assert cells(step._repr_html_())[-1][:2] == ["float64 (3,)", backend]
    graph = step.graph(ua.zeros(3))
    assert "<svg" in graph._repr_html_()
    # One that is too large to draw is listed.
    monkeypatch.setattr(html, "LIMIT", 1)
    monkeypatch.setattr(html, "_LINES", 2)
    large = graph._repr_html_()
    assert "<svg" not in large
    assert "sum" in large
    assert "1 more lines" in large
