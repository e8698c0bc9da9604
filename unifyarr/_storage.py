"""Containers in files: NumPy's archives and safetensors, with the structure as JSON beside the arrays."""

from __future__ import annotations

import json
import os
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from . import functions
from ._core import dtypes
from ._core.wrapper import read
from ._tree import Tree
from .errors import DtypeError

if TYPE_CHECKING:
    from .array import Array

# The entry, or the key of the header, that says what the names alone don't: the structure, and dtypes unknown to NumPy.
_STRUCTURE = "__unifyarr__"


def save(tree: Tree, path: str | os.PathLike[str]) -> None:
    """Write a container to a file of the format that its ending says; a file that was there is replaced as a whole."""
    path = os.fspath(path)
    _, write = _formats(path)
    arrays = {name: _on_host(x) for name, x in zip(tree.paths(), tree.leaves(), strict=True)}
    if _STRUCTURE in arrays:
        raise ValueError(f"the name {_STRUCTURE!r} is taken: the file has its structure there")
    structure = json.dumps({"structure": _structure(tree), "dtypes": {k: x.dtype.name for k, x in arrays.items()}})
    # Beside the file first, so that a failure on the way leaves the old one.
    unfinished = f"{path}.unfinished"
    try:
        write(unfinished, arrays, structure)
        os.replace(unfinished, path)
    finally:
        if os.path.exists(unfinished):
            os.remove(unfinished)


def load(path: str | os.PathLike[str], *, backend: str | None, device: object) -> Any:
    """Read the nest of a container from a file of the format that its ending says."""
    path = os.fspath(path)
    read_file, _ = _formats(path)
    arrays, text = read_file(path)
    known = _parsed(path, text) if text is not None else {}
    kept = known.get("dtypes", {})
    leaves = {
        name: functions.asarray(_of_dtype(path, name, x, kept.get(name)), backend=backend, device=device)
        for name, x in arrays.items()
    }
    if text is None:
        return leaves
    nest = _filled(path, known["structure"], "", leaves)
    if not isinstance(nest, dict | list | tuple):
        raise ValueError(f"the structure that {path} gives is damaged: it is an array")
    if leaves:
        raise ValueError(f"{path} has arrays beside its structure: {', '.join(sorted(leaves))}")
    return nest


def _formats(path: str) -> tuple[Any, Any]:
    # How to read and how to write a file.
    ending = os.path.splitext(path)[1]
    if ending == ".npz":
        return _read_npz, _write_npz
    if ending == ".safetensors":
        return _read_safetensors, _write_safetensors
    raise ValueError(f"a container is kept in a file that ends in .npz or .safetensors, not in {path!r}")


def _on_host(x: Array) -> np.ndarray:
    return np.ascontiguousarray(x._backend.to_numpy(read(x))).reshape(x.shape)


def _structure(node: Any) -> Any:
    # Leaves are null; a tuple, which JSON lacks, is named.
    if not isinstance(node, Tree):
        return None
    if node._kind is dict:
        return {"dict": {name: _structure(each) for name, each in node.items()}}
    return {node._kind.__name__: [_structure(each) for each in node.values()]}


def _parsed(path: str, text: str) -> dict[str, Any]:
    try:
        known = json.loads(text)
    except ValueError as error:
        raise ValueError(f"the structure that {path} gives is damaged: {error}") from error
    if not isinstance(known, dict) or "structure" not in known or not isinstance(known.get("dtypes", {}), dict):
        raise ValueError(f"the structure that {path} gives is damaged: it has no 'structure'")
    return known


def _filled(path: str, node: Any, prefix: str, leaves: dict[str, Array]) -> Any:
    # The nest of a structure, each leaf taken out of ``leaves``.
    if node is None:
        if prefix not in leaves:
            raise ValueError(f"{path} is damaged: it has no array {prefix!r}, which its structure names")
        return leaves.pop(prefix)
    kind, items = next(iter(node.items())) if isinstance(node, dict) and len(node) == 1 else (None, None)
    deeper = f"{prefix}/" if prefix else ""
    if kind == "dict" and isinstance(items, dict):
        return {name: _filled(path, each, deeper + name, leaves) for name, each in items.items()}
    if kind in ("list", "tuple") and isinstance(items, list):
        made = [_filled(path, each, f"{deeper}{place}", leaves) for place, each in enumerate(items)]
        return made if kind == "list" else tuple(made)
    raise ValueError(f"the structure that {path} gives is damaged at {prefix or 'its root'!r}")


def _of_dtype(path: str, name: str, x: np.ndarray, dtype: str | None) -> np.ndarray:
    # NumPy's archives keep what NumPy itself doesn't know as plain bytes.
    if dtype is None or dtype == x.dtype.name:
        return x
    wanted = dtypes.BY_NAME.get(dtype)
    if wanted is None or x.dtype.kind != "V" or wanted.itemsize != x.dtype.itemsize:
        raise ValueError(f"{path} is damaged: {name!r} is of dtype {x.dtype}, and its structure says {dtype}")
    return x.view(wanted.dtype)


def _write_npz(path: str, arrays: dict[str, np.ndarray], structure: str) -> None:
    # As ``np.savez`` does, which can't have arrays named as its own arguments.
    with zipfile.ZipFile(path, "w") as archive:
        for name, x in {_STRUCTURE: np.frombuffer(structure.encode(), np.uint8), **arrays}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, x, allow_pickle=False)


def _read_npz(path: str) -> tuple[dict[str, np.ndarray], str | None]:
    try:
        # Without pickles: an array of objects in the file is an error.
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"{path} is no NumPy archive, or damaged: {error}") from error
    structure = arrays.pop(_STRUCTURE, None)
    return arrays, None if structure is None else structure.tobytes().decode()


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError:
        raise ImportError(
            "files that end in .safetensors need the package safetensors: pip install 'unifyarr[safetensors]'"
        ) from None
    return safetensors


def _write_safetensors(path: str, arrays: dict[str, np.ndarray], structure: str) -> None:
    for name, x in arrays.items():
        if x.dtype == np.complex128:
            raise DtypeError(f"{name!r} is of dtype complex128, which safetensors lacks: cast it, or save to .npz")
    _safetensors().numpy.save_file(arrays, path, {_STRUCTURE: structure})


def _read_safetensors(path: str) -> tuple[dict[str, np.ndarray], str | None]:
    safetensors = _safetensors()
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return arrays, (file.metadata() or {}).get(_STRUCTURE)
    except safetensors.SafetensorError as error:
        raise ValueError(f"{path} is no file of safetensors, or damaged: {error}") from error
