"""The cache of compiled loops: whatever lies on its path, only this user's loops are loaded, and whole."""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import shutil
import socket
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.test_logging import listening
from unifyarr.graph.fusion import background, cache, machine, store

pytestmark = pytest.mark.skipif(
    not machine.is_compiled() or cache.find_compiler() is None,
    reason="the package was installed without its compiled part, or there is no C compiler",
)

OURS, THEIRS = 3, 7


@pytest.fixture(autouse=True)
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty directory for caches, in a process that has loaded nothing and said nothing."""
    root = tmp_path / "shared"
    root.mkdir()
    monkeypatch.setenv("UNIFYARR_CACHE_DIR", str(root))
    monkeypatch.setattr(cache, "_loaded", {})
    monkeypatch.setattr(store, "_told", set())
    return root


def text(number: int) -> str:
    return f"void kernel_0(char **args) {{ args[0] = (char *){number}; }}"


def run(number: int = OURS) -> int | None:
    """Compile or load a function that returns a number, and call it; ``None`` if there is none."""
    found: list[int | None] = []

    def call() -> None:
        addresses = cache.functions(text(number), 1)
        if addresses is None:
            found.append(None)
            return
        arguments = (ctypes.c_void_p * 1)()
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(addresses[0])(ctypes.addressof(arguments))
        found.append(arguments[0])

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(60)
    assert found, "it waits for ever, or has failed"
    return found[0]


def again() -> int | None:
    """Do the same as another process would."""
    cache._loaded.clear()
    return run()


def count_compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count compilations from now on."""
    sources: list[str] = []
    compiler = cache._compile

    def note(path: str, source: str, room: Path) -> bytes:
        sources.append(source)
        return compiler(path, source, room)

    monkeypatch.setattr(cache, "_compile", note)
    return sources


def kept(root: Path) -> Path:
    """Return the file of the library that ``run`` has made."""
    (found,) = (root / "unifyarr" / "kernels").glob(f"*{store.SUFFIX}")
    return found


def make_foreign(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a file or directory belong to another user, as far as this process sees."""
    inode, real = path.lstat().st_ino, os.fstat

    def fstat(descriptor: int) -> os.stat_result:
        found = real(descriptor)
        return os.stat_result((*found[:4], found.st_uid + 1, *found[5:])) if found.st_ino == inode else found

    monkeypatch.setattr(os, "fstat", fstat)


def test_libraries_are_kept_for_other_processes(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    compiled = count_compiled(monkeypatch)
    assert (run(), again(), again()) == (OURS,) * 3
    assert compiled == [text(OURS)]
    assert stat.S_IMODE(kept(root).stat().st_mode) == 0o600
    assert {stat.S_IMODE(each.stat().st_mode) for each in (root / "unifyarr", root / "unifyarr/kernels")} == {0o700}
    assert [each.name for each in kept(root).parent.iterdir()] == [kept(root).name]


# -- directories ----------------------------------------------------------------------------------------------------


def writable(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.chmod(0o777)


def writable_by_a_group(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.chmod(0o770)


def linked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = path.with_name("elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def a_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(path)
    path.write_text("")


def unwritable(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Root could write to it.
    inode, real = path.stat().st_ino, os.access

    def access(name: Any, mode: int, *, dir_fd: int | None = None) -> bool:
        return (dir_fd is None or os.fstat(dir_fd).st_ino != inode) and real(name, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "access", access)


CHANGES = [writable, writable_by_a_group, linked, a_file, make_foreign]


@pytest.mark.parametrize(
    ("change", "level"),
    [(change, level) for change in CHANGES for level in ("unifyarr", "unifyarr/kernels")]
    # Nothing is made in the first of them once it has the second.
    + [(unwritable, "unifyarr/kernels")],
)
def test_a_directory_that_others_may_write_is_not_used(
    monkeypatch: pytest.MonkeyPatch, root: Path, level: str, change: Callable[..., None]
) -> None:
    compiled = count_compiled(monkeypatch)
    assert run() == OURS
    before = sorted(each.name for each in root.rglob("*"))
    change(root / level, monkeypatch)
    with listening("compile", logging.INFO) as said:
        assert (again(), again()) == (OURS, OURS)
    assert compiled == [text(OURS)] * 3
    assert len(said) == 1
    assert "each process compiles its own" in said[0]
    if change in (writable, writable_by_a_group, make_foreign):
        assert f"{root / level} belongs to another user, or others can write it: make it yours alone" in said[0]
        assert before == sorted(each.name for each in root.rglob("*"))


def test_whoever_the_directories_above_belong_to(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    root.chmod(0o1777)
    make_foreign(root, monkeypatch)
    link = root.with_name("link")
    link.symlink_to(root)
    monkeypatch.setenv("UNIFYARR_CACHE_DIR", str(link))
    compiled = count_compiled(monkeypatch)
    assert (run(), again()) == (OURS, OURS)
    assert len(compiled) == 1


def test_the_cache_doesnt_depend_on_where_a_program_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    before = {*tmp_path.rglob("*")}
    monkeypatch.setenv("UNIFYARR_CACHE_DIR", "relative")
    with listening("compile", logging.INFO) as said:
        assert run() == OURS
    assert "'relative' depends on where the program runs" in said[0]
    assert {*tmp_path.rglob("*")} == before


# The moments of a swap: after the directories were checked, before a file is written, and before the library is loaded.
MOMENTS = [(store, "read"), (store, "write"), (ctypes, "CDLL")]


@pytest.mark.parametrize(("module", "name"), MOMENTS)
@pytest.mark.parametrize("is_kept", [True, False])
def test_a_directory_that_is_exchanged_after_it_was_checked(
    monkeypatch: pytest.MonkeyPatch, root: Path, module: Any, name: str, is_kept: bool
) -> None:
    """Another user, who can rename files in a shared directory, puts one of their own in its place."""
    assert run() == OURS
    name_of_ours = kept(root).name
    planted = root / "planted" / "kernels"
    planted.mkdir(parents=True)
    monkeypatch.setenv("UNIFYARR_CACHE_DIR", str(root.with_name("theirs")))
    root.with_name("theirs").mkdir()
    assert run(THEIRS) == THEIRS
    library = kept(root.with_name("theirs")).read_bytes()[:-32]
    key = name_of_ours.removesuffix(store.SUFFIX)
    (planted / name_of_ours).write_bytes(library + hashlib.sha256(key.encode() + library).digest())
    monkeypatch.setenv("UNIFYARR_CACHE_DIR", str(root))
    if not is_kept:
        kept(root).unlink()
    real, swapped = getattr(module, name), []

    def swap(*arguments: Any) -> Any:
        if not swapped:
            swapped.append(name)
            (root / "unifyarr").rename(root / "moved")
            (root / "planted").rename(root / "unifyarr")
        return real(*arguments)

    monkeypatch.setattr(module, name, swap)
    assert again() == OURS
    assert bool(swapped) is (name != "write" or not is_kept)


# -- files ----------------------------------------------------------------------------------------------------------


def truncated(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(path.read_bytes()[:3000])


def emptied(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(b"")


def without_its_checksum(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(path.read_bytes()[:-32])


def longer(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def flipped(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = bytearray(path.read_bytes())
    for place in range(0, len(content), 97):
        content[place] ^= 1
    path.write_bytes(content)


def another_ones(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(THEIRS) == THEIRS
    (other,) = {*path.parent.glob(f"*{store.SUFFIX}")} - {path}
    other.replace(path)


def a_link(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def a_pipe(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.unlink()
    os.mkfifo(path)


def a_socket(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.unlink()
    monkeypatch.chdir(path.parent)
    # Names of sockets are short.
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name[-20:])
    Path(path.name[-20:]).rename(path)


def a_directory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.unlink()
    (path / "inside").mkdir(parents=True)


DAMAGES = [truncated, emptied, without_its_checksum, longer, flipped, another_ones, a_link, a_pipe, a_socket]
DAMAGES += [a_directory, writable, make_foreign]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_that_is_damaged_or_foreign_is_replaced(
    monkeypatch: pytest.MonkeyPatch, root: Path, damage: Callable[..., None]
) -> None:
    assert run() == OURS
    path = kept(root)
    damage(path, monkeypatch)
    compiled = count_compiled(monkeypatch)
    assert (again(), again()) == (OURS, OURS)
    # A directory stays where it is, and nothing else is harmed by it.
    assert len(compiled) == (2 if damage is a_directory else 1)
    assert path.is_dir() if damage is a_directory else (path.is_file() and not path.is_symlink())


def test_every_byte_is_checked(root: Path) -> None:
    run()
    path = kept(root)
    content, key = path.read_bytes(), path.name.removesuffix(store.SUFFIX)
    with store.opened() as folder:
        assert folder is not None
        assert store.read(folder, key) == content[:-32]
        for place in range(0, len(content), 61):
            path.write_bytes(content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :])
            assert store.read(folder, key) is None
            path.write_bytes(content[:place])
            assert store.read(folder, key) is None


def test_a_full_disk_keeps_nothing(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    def replace(*arguments: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, listening("compile", logging.INFO) as said:
        patch.setattr(os, "replace", replace)
        assert run() == OURS
    assert [*(root / "unifyarr/kernels").iterdir()] == []
    assert "not kept on disk" in said[0]


def test_the_oldest_files_are_removed(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    monkeypatch.setattr(store, "MOST", 2)
    for number in range(1, 4):
        run(number)
        for age, path in enumerate(
            sorted((root / "unifyarr/kernels").iterdir(), key=lambda path: path.stat().st_mtime)
        ):
            os.utime(path, (age, age))
    assert len([*(root / "unifyarr/kernels").iterdir()]) == 2
    compiled = count_compiled(monkeypatch)
    cache._loaded.clear()
    assert [run(number) for number in (3, 2, 1)] == [3, 2, 1]
    assert compiled == [text(1)]


# -- the compiler ---------------------------------------------------------------------------------------------------


def script(path: Path, version: str, otherwise: str) -> Path:
    path.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then {version}; else {otherwise}; fi\n')
    path.chmod(0o700)
    return path


def test_a_compiler_may_call_its_version_anything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compiler = script(tmp_path / "latin", r"printf 'gcc \351t\351 14'", f'exec {cache.find_compiler()} "$@"')
    monkeypatch.setenv("UNIFYARR_CC", str(compiler))
    assert (run(), again()) == (OURS, OURS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNIFYARR_CC", "./latin")
    assert again() == OURS


@pytest.mark.parametrize("version", ["exit 0", "kill -9 $$"])
def test_a_compiler_that_fails_says_so_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str) -> None:
    monkeypatch.setenv("UNIFYARR_CC", str(script(tmp_path / "broken", version, "exit 1")))
    with listening("compile", logging.INFO) as said:
        assert (run(), again()) == (None, None)
    assert len(said) == 1
    assert said[0].startswith("loops can't be compiled: ")


def test_a_compiler_that_never_ends_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cache, "PATIENCE", 0.2)
    for number, (version, otherwise) in enumerate((("exec sleep 20", "exit 1"), ("exit 0", "exec sleep 20"))):
        monkeypatch.setenv("UNIFYARR_CC", str(script(tmp_path / f"slow{number}", version, otherwise)))
        assert run() is None


def test_work_that_fails_ends_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    begin, done, shown = threading.Event(), threading.Event(), threading.Semaphore(0)
    monkeypatch.setattr(threading, "excepthook", lambda failure: shown.release())

    def fail() -> None:
        begin.wait(10)
        raise ValueError("this is shown")

    for _ in range(3):
        background.later(fail)
    background.later(done.set)
    begin.set()
    # Python may show an error when the next thread has begun.
    assert all(shown.acquire(timeout=10) for _ in range(3))
    assert done.wait(10)
