"""Containers in files: NumPy's archives and safetensors, with the structure as JSON beside the arrays."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import functions
from .._core.arrays.array import Array
from .._core.arrays.ownership import read
from .._core.engines import dtypes
from .._core.engines.tracing import current
from ..backends.base.abilities import is_numpys
from ..errors import DtypeError
from . import archives as _archives
from .replacing import replacing
from .tree import DEEPEST, Tree

# The entry (in a header: the key) for facts that names alone don't hold: the structure, and dtypes unknown to NumPy.
_STRUCTURE = "__unifyarr__"
# The most bytes of a path: an archive stores the length of a name, with its ending, in 16 bits.
_LONGEST = 65_000


def save(tree: Tree, path: str | os.PathLike[str]) -> None:
    """Write a container to a file in the format of its ending; an existing file is replaced as a whole."""
    path = os.fspath(path)
    _, write = _formats(path)
    structure = _structure(tree, 1)
    arrays = {name: _on_host(x) for name, x in zip(tree.paths(), tree.leaves(), strict=True)}
    if _STRUCTURE in arrays:
        raise ValueError(f"the name {_STRUCTURE!r} is taken: the file has its structure there; rename the item")
    _check_names(path, arrays)
    known = {"structure": structure, "dtypes": {name: x.dtype.name for name, x in arrays.items()}}
    with replacing(path) as unfinished:
        write(unfinished, arrays, json.dumps(known))


def load(path: str | os.PathLike[str], *, backend: str | None, device: object, limit: int | None = None) -> Any:
    """Read the nest of a container from a file in the format of its ending."""
    path = os.fspath(path)
    read_file, _ = _formats(path)
    arrays, text = read_file(path, os.path.getsize(path), limit)
    _check_names(path, arrays)
    known = _parsed(path, text) if text is not None else {}
    kept = known.get("dtypes", {})
    leaves = {
        name: functions.asarray(_of_dtype(path, name, x, kept.get(name)), backend=backend, device=device)
        for name, x in arrays.items()
    }
    if text is None:
        for name in leaves:
            if any(name.startswith(f"{other}/") for other in _parents(name) if other in leaves):
                raise ValueError(
                    f"{path} has arrays both at {name!r} and at a part of that path, which no container can have"
                )
        return leaves
    nest = _filled(path, known["structure"], "", leaves, 1)
    if not isinstance(nest, dict | list | tuple):
        raise ValueError(f"the structure that {path} gives is damaged: it is an array")
    if leaves:
        raise ValueError(f"{path} has arrays beside its structure: {', '.join(sorted(leaves))}")
    return nest


def _formats(path: str) -> tuple[Any, Any]:
    # The functions that read and write a file.
    ending = os.path.splitext(path)[1]
    if ending == ".npz":
        return _read_npz, _write_npz
    if ending == ".safetensors":
        return _read_safetensors, _write_safetensors
    raise ValueError(f"a container is kept in a file that ends in .npz or .safetensors, not in {path!r}")


def _parents(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _check_names(path: str, names: Iterable[str]) -> None:
    """Raise ``ValueError`` for a path of a container that some format couldn't restore."""
    for name in names:
        parts = name.split("/")
        if not all(parts) or {".", ".."} & set(parts) or "\0" in name:
            raise ValueError(
                f"{name!r} is no path of a container in {path}: its names are not empty, not '.' or '..', and have no "
                "character NUL"
            )
        if len(parts) > DEEPEST:
            raise ValueError(
                f"{path} has a path of {len(parts)} names, but a container is {DEEPEST} levels deep at most"
            )
        try:
            fits = len(name.encode()) <= _LONGEST
        except UnicodeEncodeError as error:
            raise ValueError(f"{name!r} can't be written to {path}: {error}") from error
        if not fits:
            raise ValueError(f"a path of {len(name)} characters is too long for {path}: at most {_LONGEST} bytes")


def _on_host(x: Array) -> np.ndarray:
    x = current(x)
    return np.ascontiguousarray(x._backend.to_numpy(read(x))).reshape(x.shape)


def _structure(node: Any, level: int) -> Any:
    # Leaves are null; a tuple, which JSON lacks, is named.
    if not isinstance(node, Tree):
        return None
    if level > DEEPEST:
        raise ValueError(f"a container in a file is {DEEPEST} levels deep at most")
    if node._container_type is dict:
        return {"dict": {name: _structure(each, level + 1) for name, each in node.items()}}
    return {node._container_type.__name__: [_structure(each, level + 1) for each in node.values()]}


def _parsed(path: str, text: str | bytes) -> dict[str, Any]:
    try:
        known = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the structure that {path} gives is damaged: {error}") from error
    if not isinstance(known, dict) or "structure" not in known or not isinstance(known.get("dtypes", {}), dict):
        raise ValueError(f"the structure that {path} gives is damaged: it has no 'structure'")
    return known


def _filled(path: str, node: Any, prefix: str, leaves: dict[str, Array], level: int) -> Any:
    # The nest of a structure; each leaf is removed from ``leaves``.
    if node is None:
        if prefix not in leaves:
            raise ValueError(f"{path} is damaged: it has no array {prefix!r}, which its structure names")
        return leaves.pop(prefix)
    if level > DEEPEST:
        raise ValueError(f"the structure that {path} gives is more than {DEEPEST} levels deep")
    kind, items = next(iter(node.items())) if isinstance(node, dict) and len(node) == 1 else (None, None)
    deeper = f"{prefix}/" if prefix else ""
    if kind == "dict" and isinstance(items, dict):
        return {name: _filled(path, each, deeper + name, leaves, level + 1) for name, each in items.items()}
    if kind in ("list", "tuple") and isinstance(items, list):
        made = [_filled(path, each, f"{deeper}{place}", leaves, level + 1) for place, each in enumerate(items)]
        return made if kind == "list" else tuple(made)
    raise ValueError(f"the structure that {path} gives is damaged at {prefix or 'its root'!r}")


def _of_dtype(path: str, name: str, x: np.ndarray, dtype: str | None) -> np.ndarray:
    # NumPy's archives store arrays of dtypes that are unknown to NumPy as plain bytes.
    if dtype is None or dtype == x.dtype.name:
        return x
    wanted = dtypes.BY_NAME.get(dtype) or dtypes.STORED.get(dtype)
    if wanted is None or x.dtype.kind != "V" or wanted.itemsize != x.dtype.itemsize:
        raise ValueError(f"{path} is damaged: {name!r} is of dtype {x.dtype}, and its structure says {dtype}")
    return x.view(wanted.dtype)


def _write_npz(path: str, arrays: dict[str, np.ndarray], structure: str) -> None:
    # Dtypes that have no name in NumPy's headers are written as plain bytes.
    plain = {name: x if is_numpys(x.dtype) else x.view(f"V{x.itemsize}") for name, x in arrays.items()}
    _archives.write(path, {_STRUCTURE: np.frombuffer(structure.encode(), np.uint8), **plain})


def _read_npz(path: str, size: int, limit: int | None) -> tuple[dict[str, np.ndarray], bytes | None]:
    arrays = _archives.read(path, size, limit)
    structure = arrays.pop(_STRUCTURE, None)
    return arrays, None if structure is None else structure.tobytes()


# The dtypes that safetensors stores and gives to no NumPy array, by its names.
_FLOAT8 = {"F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2"}


def _float8(path: str, kinds: dict[str, str]) -> dict[str, np.ndarray]:
    # The arrays of these dtypes, from their bytes.
    if not kinds:
        return {}
    with open(path, "rb") as file:
        parts = dict(_safetensors().deserialize(file.read()))
    found = {name: np.frombuffer(parts[name]["data"], dtypes.STORED[kind].dtype) for name, kind in kinds.items()}
    return {name: x.reshape(parts[name]["shape"]).copy() for name, x in found.items()}


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
        if x.dtype == np.complex128 or (x.dtype in dtypes.USED and x.dtype.name not in _FLOAT8.values()):
            raise DtypeError(f"{name!r} is of dtype {x.dtype}, which safetensors lacks: cast it, or save to .npz")
    _safetensors().numpy.save_file(arrays, path, {_STRUCTURE: structure})


def _read_safetensors(path: str, size: int, limit: int | None) -> tuple[dict[str, np.ndarray], str | None]:
    safetensors = _safetensors()
    # Such a file has no compression, so that its size limits that of the arrays.
    _archives.check_total(path, size, size, limit)
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            kinds = {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118
            arrays = {name: file.get_tensor(name) for name, kind in kinds.items() if kind not in _FLOAT8}
            text = (file.metadata() or {}).get(_STRUCTURE)
        return arrays | _float8(path, {name: _FLOAT8[kind] for name, kind in kinds.items() if kind in _FLOAT8}), text
    except safetensors.SafetensorError as error:
        raise ValueError(f"{path} is no file of safetensors, or damaged: {error}") from error
