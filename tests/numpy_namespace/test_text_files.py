"""Files of text and of bare numbers: NumPy's values, in arrays of the current backend."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import unifyarr as ua
import unifyarr.numpy as np

from ..oracle import assert_same

TEXT = ["# a b c", "1 2 3", "4 5 6.5"]
GAPS = ["1,2,", "4,,6"]
READS: dict[str, Callable[[Any], Any]] = {
    "lines": lambda xp: xp.loadtxt(TEXT),
    "dtype": lambda xp: xp.loadtxt(TEXT[:2], dtype="int16", ndmin=2),
    "some": lambda xp: xp.loadtxt(TEXT, usecols=(2, 0), skiprows=1, max_rows=2),
    "columns": lambda xp: xp.loadtxt(TEXT, unpack=True),
    "delimiter": lambda xp: xp.loadtxt(
        io.StringIO("1;2\n3;4"), delimiter=";", converters={1: lambda text: 2 * float(text)}
    ),
    "nothing": lambda xp: xp.loadtxt(["1"], ndmin=0),
    "gaps": lambda xp: xp.genfromtxt(GAPS, delimiter=","),
    "filled": lambda xp: xp.genfromtxt(GAPS, delimiter=",", filling_values=-1, dtype=int),
    "guessed": lambda xp: xp.genfromtxt(["1 2", "3 4"], dtype=None),
    "columns with gaps": lambda xp: xp.genfromtxt(GAPS, delimiter=",", unpack=True),
    "string": lambda xp: xp.fromstring("1 2  3", dtype="int32", sep=" "),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_text(backend: str, read: Callable[[Any], Any]) -> None:
    found, expected = read(np), read(numpy)
    assert found.backend == backend
    assert_same(found, expected)


@pytest.mark.filterwarnings("ignore:.*input contained no data")
def test_files(backend: str, tmp_path: Path) -> None:
    x = np.asarray([[1.0, 2.5], [-3.0, float("nan")]])
    for number, (saved, options) in enumerate(
        [(x, {}), (x[0], {"fmt": "%.2f"}), ([x[:, 0], x[:, 1]], {"delimiter": ",", "header": "a,b"}), ([1, 2], {})]
    ):
        ours, theirs = tmp_path / f"{number}.txt", tmp_path / f"{number} of numpy.txt"
        np.savetxt(ours, saved, **options)
        numpy.savetxt(theirs, numpy.asarray(saved), **options)
        assert ours.read_text() == theirs.read_text()
        assert_same(np.loadtxt(ours, delimiter=options.get("delimiter")), numpy.asarray(saved, dtype=float))
    # NumPy's own gives our array to ours.
    numpy.savetxt(tmp_path / "again.txt", x)
    assert_same(np.loadtxt(tmp_path / "again.txt"), numpy.asarray(x))
    assert np.loadtxt(tmp_path / "again.txt", dtype=ua.float32).dtype is ua.float32
    numpy.arange(5, dtype="int32").tofile(tmp_path / "x.bin")
    found = np.fromfile(tmp_path / "x.bin", dtype=ua.int32, count=3, offset=4)
    assert found.backend == backend
    assert_same(found, numpy.arange(1, 4, dtype="int32"))
    (tmp_path / "x.txt").write_text("1, 2, 3")
    assert_same(np.fromfile(tmp_path / "x.txt", sep=","), numpy.array([1.0, 2.0, 3.0]))


def test_errors() -> None:
    with pytest.raises(TypeError, match=r"genfromtxt\(\) has read values of dtype .*: pass dtype=float and usecols"):
        np.genfromtxt(["1 a"], dtype=None, encoding="utf8")
    with pytest.raises(TypeError, match="pass filling_values instead of usemask"):
        np.genfromtxt(["1 2"], usemask=True)
    with pytest.raises(TypeError, match=r"loadtxt.*dtype <U1"):
        np.loadtxt(["a b"], dtype="U1")
    with pytest.raises(TypeError, match="leave it out"):
        np.fromfile("nowhere", like=np.ones(1))
    with pytest.raises(ValueError, match="could not convert"):
        np.loadtxt(["a b"])


def test_what_is_about_numpy_is_numpys() -> None:
    assert np.__version__ == numpy.__version__
    assert np.get_include() == numpy.get_include()
