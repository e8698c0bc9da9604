"""Containers in files: replaced as a whole, and read with nothing believed that isn't checked."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Container

ENDINGS = ["npz", "safetensors"]
SMALL = Container(x=np.arange(3.0))


def only(folder: Path) -> list[str]:
    """Return the names of all files of a folder."""
    return sorted(each.name for each in folder.iterdir())


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_link_stays_and_what_it_points_to_is_replaced(tmp_path: Path, ending: str) -> None:
    target, link = tmp_path / f"target.{ending}", tmp_path / f"link.{ending}"
    link.symlink_to(target.name)
    for x in (1.0, 2.0):
        # The link's target is made first, then replaced.
        Container(x=x).save(link)
        assert link.is_symlink()
        assert not target.is_symlink()
        assert float(Container.load(target).x) == x
    assert only(tmp_path) == [link.name, target.name]


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_file_of_a_name_that_can_be_foreseen_is_written(tmp_path: Path, ending: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    path = tmp_path / f"model.{ending}"
    (tmp_path / f"{path.name}.unfinished").symlink_to(victim)
    SMALL.save(path)
    assert victim.read_text() == "precious"
    assert not path.is_symlink()


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_permissions_stay(tmp_path: Path, ending: str, mode: int) -> None:
    path = tmp_path / f"model.{ending}"
    SMALL.save(path)
    (tmp_path / "ordinary").touch()
    # A new file has those of any other.
    assert path.stat().st_mode == (tmp_path / "ordinary").stat().st_mode
    path.chmod(mode)
    SMALL.save(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_nobody_else_may_read_what_is_being_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.npz"
    SMALL.save(path)
    path.chmod(0o600)
    modes = []
    write = zipfile.ZipFile.open

    def watched(self: Any, *arguments: Any, **options: Any) -> Any:
        modes.extend(stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir())
        return write(self, *arguments, **options)

    monkeypatch.setattr(zipfile.ZipFile, "open", watched)
    SMALL.save(path)
    assert len(modes) > 2
    assert set(modes) == {0o600}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_failure_on_the_way_leaves_the_old_file(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"model.{ending}"
    SMALL.save(path)
    before = path.read_bytes()

    def fails(*arguments: Any) -> None:
        raise KeyboardInterrupt

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fails)
            with pytest.raises(KeyboardInterrupt):
                Container(x=np.zeros(50)).save(path)
        assert path.read_bytes() == before
        assert only(tmp_path) == [path.name]
    with pytest.raises(FileNotFoundError):
        SMALL.save(tmp_path / "nowhere" / path.name)


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_no_file_is_not_replaced(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"folder.{ending}").mkdir()
    with pytest.raises(ValueError, match="no regular file"):
        SMALL.save(tmp_path / f"folder.{ending}")
    assert only(tmp_path) == [f"folder.{ending}"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_several_savers_leave_a_whole_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"model.{ending}"
    start = threading.Barrier(4)
    failures: list[BaseException] = []

    def saver(number: int) -> None:
        try:
            start.wait()
            for _ in range(10):
                Container(x=np.full(20_000, number), y=np.full(3, number)).save(path)
                found = Container.load(path)
                assert len(np.unique(np.concatenate([np.asarray(each) for each in found.leaves()]))) == 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=saver, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert only(tmp_path) == [path.name]


# -- names and levels -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    "name", ["a b", "π", "a.npy", "a\\b", "\n", "\u202e", "file", "__metadata__x", "x" * 300, ":", "*"]
)
def test_odd_names_come_back(tmp_path: Path, ending: str, name: str) -> None:
    c = Container({name: 1.0, "a": 2.0, "nest": {name: 3.0}})
    c.save(tmp_path / f"c.{ending}")
    assert Container.load(tmp_path / f"c.{ending}").diff(c) == {}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", ["a\0b", "\0", ".", "..", "\ud800", "x" * 70_000], ids=ascii)
def test_names_that_would_not_come_back_are_refused(tmp_path: Path, ending: str, name: str) -> None:
    for c in (Container({name: 1.0}), Container(a={name: [1.0]})):
        with pytest.raises(ValueError, match=r"path|written"):
            c.save(tmp_path / f"c.{ending}")
    assert only(tmp_path) == []


def nested(levels: int) -> Container:
    """Return a container of so many levels, made without recursion."""
    c = Container(x=1.0)
    for _ in range(levels - 1):
        c = Container(a=c)
    return c


@pytest.mark.parametrize("ending", ENDINGS)
def test_levels(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"c.{ending}"
    nested(150).save(path)
    assert Container.load(path).diff(nested(150)) == {}
    with pytest.raises(ValueError, match="200 levels"):
        nested(201).save(path)
    assert len(Container.load(path).paths()[0].split("/")) == 150
    with pytest.raises(ValueError, match="200 names"):
        Container()["/".join(["a"] * 5000)] = 1.0
    nest: dict[str, Any] = {}
    deepest = nest
    for _ in range(5000):
        deepest["a"] = {}
        deepest = deepest["a"]
    with pytest.raises(ValueError, match="levels"):
        Container(nest)
    deepest["a"] = nest
    with pytest.raises(ValueError, match="itself"):
        Container(nest)


# -- hostile archives -------------------------------------------------------------------------------------------------


def array(x: Any) -> bytes:
    """Return an array as NumPy writes it to a file."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(x))
    return stream.getvalue()


def members(**files: bytes) -> list[tuple[str, bytes]]:
    return list(files.items())


def claims(shape: str, descr: str = "<f8") -> bytes:
    """Return an array whose header says anything, of 16 bytes."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(16)


DEEP = b'{"structure": ' + b'{"list": [' * 300 + b"null" + b"]}" * 300 + b"}"
DEEPER = b'{"structure": ' + b'{"list": [' * 100_000
HOSTILE: dict[str, list[tuple[str, bytes]]] = {
    "an absolute path": [("/etc/x.npy", array(1.0))],
    "a path outside": [("../../x.npy", array(1.0))],
    "an empty name": [(".npy", array(1.0))],
    "two of one name": [("x.npy", array(1.0)), ("x.npy", array(2.0))],
    "an array in an array": [("x.npy", array(1.0)), ("x/y/z.npy", array(2.0))],
    "no array": [("x.txt", b"hello")],
    "a folder": [("x.npy/", b"")],
    "nothing in it": [("x.npy", b"")],
    "half an array": [("x.npy", array(np.arange(9.0))[:-8])],
    "more than an array": [("x.npy", array(np.arange(9.0)) + b"more")],
    "wrong magic": [("x.npy", b"\x00" + array(1.0)[1:])],
    "an unknown version": [("x.npy", array(1.0)[:6] + b"\x09" + array(1.0)[7:])],
    "a huge shape": [("x.npy", claims("(10**15,)"))],
    "a huge shape in digits": [("x.npy", claims(f"({10**15},)"))],
    "a huge shape without elements": [("x.npy", claims(f"({2**62}, {2**62}, 0)"))],
    "a negative shape": [("x.npy", claims("(-2, -1)"))],
    "a shape that is none": [("x.npy", claims("'abc'"))],
    "a shape that is code": [("x.npy", claims("__import__('os').getpid()"))],
    "a deep header": [("x.npy", claims("(" * 3000 + ")" * 3000))],
    "pickled objects": [("x.npy", array(np.array([1.0])).replace(b"'<f8'", b"'|O' "))],
    "a deep structure": [("__unifyarr__.npy", array(np.frombuffer(DEEP, np.uint8)))],
    "a structure deeper than any": [("__unifyarr__.npy", array(np.frombuffer(DEEPER, np.uint8)))],
    "a structure that isn't text": [("__unifyarr__.npy", array(np.frombuffer(b"\xff\xfe", np.uint8)))],
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("files", HOSTILE.values(), ids=HOSTILE)
def test_hostile_archives(tmp_path: Path, files: list[tuple[str, bytes]]) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files:
            archive.writestr(name, data)
    with pytest.raises(ValueError, match=r"a\.npz"):
        Container.load(path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_truncated_and_altered_files(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"c.{ending}"
    Container(x=np.arange(50.0), y=[1, 2]).save(path)
    whole = path.read_bytes()
    random = np.random.default_rng(0)
    cuts: list[bytes] = [whole[: int(n)] for n in random.integers(0, len(whole), 40)]
    for _ in range(200):
        altered = bytearray(whole)
        altered[int(random.integers(0, len(whole)))] ^= 1 << int(random.integers(0, 8))
        cuts.append(bytes(altered))
    for data in cuts:
        path.write_bytes(data)
        # Either the altered bytes don't belong to values, or the error is one that a program can expect.
        with contextlib.suppress(ValueError, ua.errors.UnifyarrError):
            Container.load(path)


def test_a_file_that_inflates_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, x=np.zeros(9 << 20))
    assert path.stat().st_size < 1 << 20
    with pytest.raises(ValueError, match=r"limit=\d+"):
        Container.load(path)
    assert Container.load(path, limit=80 << 20).x.shape == (9 << 20,)
    with pytest.raises(ValueError, match="limit of 10"):
        Container.load(path, limit=10)
    SMALL.save(tmp_path / "small.safetensors")
    with pytest.raises(ValueError, match="limit of 10"):
        Container.load(tmp_path / "small.safetensors", limit=10)
    np.savez_compressed(tmp_path / "honest.npz", x=np.zeros(1 << 20))
    assert Container.load(tmp_path / "honest.npz").x.shape == (1 << 20,)


def test_files_of_numpy_of_any_layout(backend: str, tmp_path: Path) -> None:
    values = {
        "c": np.arange(6.0).reshape(2, 3),
        "f": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "z": np.zeros((0, 4)),
    }
    values["big"] = np.arange(3, dtype=">i4")
    save: Callable[..., Any] = np.savez
    save(tmp_path / "a.npz", **values)
    found = Container.load(tmp_path / "a.npz")
    for name, x in values.items():
        np.testing.assert_array_equal(np.asarray(found[name]), x)
        found[name] += ua.asarray(1, dtype=found[name].dtype)
        np.testing.assert_array_equal(np.asarray(found[name]), x + 1)


def test_a_header_is_read_again_when_the_interpreter_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As Python 3.11 does now and then while other threads parse source text.
    path = tmp_path / "tree.npz"
    ua.Container(a=ua.arange(3)).save(path)
    read, failures = np.lib.format.read_array_header_1_0, [SystemError("recursion depth mismatch")] * 2

    def fails_twice(file: Any) -> Any:
        if failures:
            file.read(4)
            raise failures.pop()
        return read(file)

    monkeypatch.setattr(np.lib.format, "read_array_header_1_0", fails_twice)
    assert ua.Container.load(path).a.tolist() == [0, 1, 2]
    assert not failures
    failures[:] = [SystemError("always")] * 99
    with pytest.raises(SystemError):
        ua.Container.load(path)
