"""Arrays in other libraries: the table of ``docs/clients.md``, a program a row.

A program takes an array, ours or NumPy's, and returns the client's result. ``Outcome`` says how ours fare.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import unifyarr as ua

from .labelled import xarray
from .rows import VALUES, Case, Outcome, Program, like
from .surveyed import matplotlib, python, scikit_learn, scipy


def _pandas() -> Iterator[Case]:
    import pandas as pd

    converts: dict[str, Program] = {
        "Series": lambda x: pd.Series(x[0]),
        "DataFrame": pd.DataFrame,
        "DataFrame of columns": lambda x: pd.DataFrame({"a": x[0], "b": x[1]}),
        "Index": lambda x: pd.Index(x[0]),
        "assign": lambda x: pd.DataFrame(np.zeros((4, 1)), columns=["q"]).assign(z=x[0]),
        "Series + x": lambda x: pd.Series(np.ones(4)) + x[0],
        "x + Series": lambda x: x[0] + pd.Series(np.ones(4)),
        "cut": lambda x: pd.cut(x[0], 2).codes,
        "iloc": lambda x: pd.Series(np.arange(4.0)).iloc[like(x, [0, 2])],
        "where": lambda x: pd.Series(np.arange(4.0)).where(x[0] > 1),
        "concat": lambda x: pd.concat([pd.Series(x[0]), pd.Series(x[1])]),
        "merge": lambda x: pd.DataFrame({"k": x[0]}).merge(pd.DataFrame({"k": x[0], "v": x[1]})),
        "rolling": lambda x: pd.Series(x[0]).rolling(2).mean(),
        "isna": lambda x: pd.isna(x[0]),
        "frame + x[0, 0]": lambda x: pd.DataFrame(VALUES) + x[0, 1],
        "x[0, 0] * frame": lambda x: x[0, 2] * pd.DataFrame(VALUES),
        "frame > x.mean()": lambda x: pd.DataFrame(VALUES) > x.mean(),
        "frame.clip": lambda x: pd.DataFrame(VALUES).clip(x[0, 2], x.max() - 3),
        "series.where(mask, x[0, 0])": lambda x: pd.Series(np.arange(4.0)).where([True, False] * 2, x[0, 3]),
        "series.replace": lambda x: pd.Series(np.arange(4.0)).replace(x[0, 1], x[1, 1]),
        "resample, groupby of columns": lambda x: (
            pd.DataFrame({"a": x[0], "b": x[1]}, index=pd.date_range("2020", periods=4)).resample("2D").mean()
        ),
        "rolling.apply of our function": lambda x: pd.Series(x[0]).rolling(2).apply(lambda each: like(x, each).sum()),
        "series[0] = x[0, 0]": lambda x: _put(pd.Series(np.arange(4.0)), 0, x[0, 0]),
        "series[:] = x": lambda x: _put(pd.Series(np.arange(4.0)), slice(None), x[0]),
    }
    for what, program in converts.items():
        yield Case("pandas", what, program)
    yield Case("pandas", "unique", lambda x: pd.unique(x[0]), Outcome.REFUSES, "unique requires a Series")
    yield Case("pandas", "factorize", lambda x: pd.factorize(x[0]), Outcome.REFUSES, "factorize requires a Series")
    rows = Case("pandas", "series[mask]", lambda x: pd.Series(np.arange(4.0))[x[0] > 1], Outcome.REFUSES, "are in the")
    yield rows
    refused: dict[str, tuple[Program, str]] = {
        "frame.loc[mask]": (lambda x: pd.DataFrame(VALUES).loc[x[:, 0] > 1], "are in the"),
        "frame + x": (lambda x: pd.DataFrame(VALUES) + x, "Unable to coerce"),
        "Categorical": (lambda x: pd.Categorical(x[0]).codes, "unhashable"),
    }
    for what, (program, words) in refused.items():
        yield Case("pandas", what, program, Outcome.REFUSES, words)
    differs: dict[str, Program] = {
        "series.isin(x)": lambda x: pd.Series([0, 1, 2, 1, 1]).isin(like(x, [0, 1, 2])),
        "frame.isin(x)": lambda x: pd.DataFrame({"a": [0, 1, 2, 1, 1]}).isin(like(x, [0, 1, 2])),
        "series.iloc[mask]": lambda x: pd.Series(np.arange(4.0) + 5).iloc[x[0] > 1],
        "frame.iloc[mask]": lambda x: pd.DataFrame(VALUES + 5).iloc[x[:, 0] > 1],
        "Series([x[0, 0]]).dtype": lambda x: pd.Series([x[0, 0]]).dtype == np.float64,
    }
    for what, program in differs.items():
        yield Case("pandas", what, program, Outcome.DIFFERS)
    yield Case("pandas", "np.add(x, series)", lambda x: np.add(x[0], pd.Series(np.ones(4))))
    groups: Program = lambda x: pd.Series(np.asarray(x[0])).groupby(like(x, [0, 0, 1, 1])).sum()  # noqa: E731
    yield Case("pandas", "groupby(x)", groups, Outcome.REFUSES, "not callable")


def _put(target: Any, key: Any, value: Any) -> Any:
    target[key] = value
    return target


def _einops() -> Iterator[Case]:
    import einops

    keeps: dict[str, Program] = {
        "rearrange": lambda x: einops.rearrange(x, "a (b c) -> c b a", c=2),
        "rearrange of a list": lambda x: einops.rearrange([x, x], "k a b -> a b k"),
        "reduce": lambda x: einops.reduce(x, "a (b c) -> a b", "mean", c=2),
        "repeat": lambda x: einops.repeat(x, "a b -> a b c", c=2),
        "einsum": lambda x: einops.einsum(x, x, "a b, c b -> a c"),
        "pack": lambda x: einops.pack([x, x], "* b")[0],
        "unpack": lambda x: einops.unpack(x, [(1,), (2,)], "* b")[1],
    }
    for what, program in keeps.items():
        yield Case("einops", what, program, Outcome.KEEPS)
    yield Case("einops", "asnumpy", einops.asnumpy)
    yield Case("einops", "parse_shape", lambda x: list(einops.parse_shape(x, "a b").values()))


def _files() -> Iterator[Case]:
    import h5py
    import joblib
    import zarr
    from PIL import Image
    from safetensors import numpy as safetensors

    def folder() -> Path:
        return Path(tempfile.mkdtemp())

    def written(x: Any) -> Any:
        with h5py.File(io.BytesIO(), "w") as file:
            file["x"] = x
            file["x"][0] = x[1]
            return file["x"][...]

    def read_into(x: Any) -> Any:
        with h5py.File(io.BytesIO(), "w") as file:
            file["x"] = VALUES
            file["x"].read_direct(x)
            return x

    def zarr_written(x: Any) -> Any:
        made = zarr.create_array(store=folder(), shape=(3, 4), chunks=(2, 2), dtype="f8")
        made[...] = x
        made[1:2] = x[:1]
        made.set_orthogonal_selection((like(x, [0, 2]), like(x, [1, 3])), x[:2, :2])
        return made.oindex[like(x, [0, 1])]

    def dumped(x: Any) -> Any:
        [written] = joblib.dump(x, folder() / "x")
        return joblib.load(written)

    def image(x: Any) -> Any:
        return np.asarray(Image.fromarray((x * 20).astype("uint8")))

    yield Case("h5py", "write", written)
    words = "expected numpy.ndarray"
    yield Case("h5py", "read_direct into x", read_into, Outcome.REFUSES, words)
    yield Case("h5py", "read_direct into np.asarray(x)", lambda x: read_into(np.asarray(x)))
    yield Case("zarr", "write, oindex", zarr_written)
    chunk: Program = lambda x: _put(zarr.create_array(store={}, shape=(3, 4), dtype="f8"), ..., x)[...]  # noqa: E731
    yield Case("zarr", "array[...] = x", chunk)
    whole: Program = lambda x: zarr.create_array(store={}, data=x)[...]  # noqa: E731
    yield Case("zarr", "create_array(data=x)", whole, Outcome.REFUSES, "No Zarr data type")
    typed: Program = lambda x: zarr.create_array(store={}, shape=x.shape, dtype=x.dtype)[...]  # noqa: E731
    yield Case("zarr", "create_array(dtype=x.dtype)", typed, Outcome.REFUSES, "No Zarr data type")
    named: Program = lambda x: zarr.create_array(store={}, shape=x.shape, dtype=np.dtype(x.dtype))[...]  # noqa: E731
    yield Case("zarr", "create_array(dtype=np.dtype(x.dtype))", named)
    yield Case("joblib", "dump, load", dumped, Outcome.KEEPS)
    yield Case("joblib", "hash", lambda x: joblib.hash(x) == joblib.hash(x.copy()) != joblib.hash(x + 1))
    threads: Program = lambda x: joblib.Parallel(2, backend="threading")(  # noqa: E731
        joblib.delayed(lambda each: each * 2)(each) for each in (x, x)
    )[1]
    yield Case("joblib", "Parallel", threads, Outcome.KEEPS)
    saved: Program = lambda x: safetensors.load(safetensors.save({"x": np.asarray(x)}))["x"]  # noqa: E731
    yield Case("safetensors", "save np.asarray(x), load", saved)
    direct: Program = lambda x: safetensors.load(safetensors.save({"x": x}))["x"]  # noqa: E731
    yield Case("safetensors", "save x", direct, Outcome.REFUSES, "ctypes")
    yield Case("PIL", "fromarray(x)", image, Outcome.REFUSES, "__array_interface__")
    yield Case("PIL", "fromarray(np.asarray(x))", lambda x: image(np.asarray(x)))
    yield Case("PIL", "asarray(image)", lambda x: like(x, Image.fromarray(np.uint8(VALUES * 20))), Outcome.KEEPS)


def _numpy() -> Iterator[Case]:
    def put(x: Any) -> Any:
        target = np.zeros((3, 4))
        target[...] = x
        target[x > 5] = 0
        return target

    converts: dict[str, Program] = {
        "savez, load": lambda x: _loaded(x),
        "target[...] = x, target[x > 5] = 0": put,
        "Generator.choice": lambda x: np.random.default_rng(0).choice(x),
        "Generator.permutation": lambda x: np.random.default_rng(0).permutation(x),
        "from_dlpack": np.from_dlpack,
        "from_dlpack(copy=True, device='cpu')": lambda x: np.from_dlpack(x, copy=True, device="cpu"),
        "from_dlpack(copy=False)": lambda x: np.from_dlpack(x, copy=False),
        "bytes(x)": lambda x: np.frombuffer(bytes(x)),
        "np.array([x[0], x[1]])": lambda x: np.array([x[0], x[1]]),
        "np.apply_along_axis": lambda x: np.apply_along_axis(np.sum, 1, x),
        "np.vectorize": lambda x: np.vectorize(lambda each: 1 if each > 4 else 0)(x),
        "np.histogramdd": lambda x: np.histogramdd(x[:, :2], bins=3)[0],
        "isdtype(x.dtype, 'real floating')": lambda x: np.isdtype(x.dtype, "real floating"),
        "result_type(x, x.dtype)": lambda x: np.zeros(1, np.result_type(x, x.dtype)).nbytes,
        "float in a format": lambda x: float(f"{x[0, 1]:.2f}"),
    }
    for what, program in converts.items():
        yield Case("NumPy", what, program)
    yield Case("NumPy", "Generator.shuffle of rows", _shuffled, Outcome.DIFFERS)
    yield Case("NumPy", "isscalar(x[0, 0])", lambda x: np.isscalar(x[0, 0]), Outcome.DIFFERS)
    equal: Program = lambda x: np.testing.assert_equal(x[0, 1], np.float64(1))  # noqa: E731
    yield Case("NumPy", "testing.assert_equal of an element", equal, Outcome.REFUSES, "not equal")
    keeps: dict[str, Program] = {
        "np.stack of a list": lambda x: np.stack([x[0], x[1]]),
        "np.block": lambda x: np.block([[x, VALUES], [x, x]]),
        "np.concatenate": lambda x: np.concatenate([x, VALUES]),
        "np.einsum": lambda x: np.einsum("ij->i", x),
        "np.linalg.norm": lambda x: np.linalg.norm(x, axis=0),
        "np.percentile": lambda x: np.percentile(x, 30, axis=0),
        "np.add.reduce": lambda x: np.add.reduce(x, axis=1),
    }
    for what, program in keeps.items():
        yield Case("NumPy", what, program, Outcome.KEEPS)


def _shuffled(x: Any) -> Any:
    np.random.default_rng(0).shuffle(x)
    return x


def _loaded(x: Any) -> Any:
    file = io.BytesIO()
    np.savez(file, x=x)
    file.seek(0)
    return np.load(file)["x"]


def _torch() -> Iterator[Case]:
    import torch
    from torch.utils.data import DataLoader, StackDataset, Subset, TensorDataset, WeightedRandomSampler, default_collate

    yield Case("torch", "default_collate", lambda x: default_collate([x, x])[1], Outcome.KEEPS)
    loaded: Program = lambda x: next(iter(DataLoader([(x[i], i) for i in range(3)], batch_size=2)))[0]  # noqa: E731
    yield Case("torch", "DataLoader of tuples", loaded, Outcome.KEEPS)
    yield Case("torch", "DataLoader(x)", lambda x: next(iter(DataLoader(x, batch_size=2))), Outcome.KEEPS)

    def batch(x: Any) -> Any:
        """Return an array of a batch of nests, in an order that a sampler of ours draws."""
        rows = [{"x": row, "pair": (row[:2], 1)} for row in x]
        # The sampler's weights are on the default device, as its generator has to be.
        generator = torch.Generator(torch.get_default_device()).manual_seed(0)
        sampler = WeightedRandomSampler(x[:, 0] + 1, 4, generator=generator)
        return next(iter(DataLoader(Subset(rows, like(x, [2, 0])), 2)))["pair"][0] + 0 * len(list(sampler))

    yield Case("torch", "DataLoader of nests, Subset, WeightedRandomSampler", batch, Outcome.KEEPS)
    yield Case("torch", "StackDataset", lambda x: StackDataset(x, x + 1)[1][1], Outcome.KEEPS)
    sized = "'int' object is not callable"
    yield Case("torch", "TensorDataset", lambda x: TensorDataset(x)[1], Outcome.REFUSES, sized)
    layer = torch.nn.Linear(4, 2, dtype=torch.float64)
    yield Case("torch", "nn.Linear of x", layer, Outcome.REFUSES, "must be Tensor, not Array")
    yield Case("torch", "nn.Linear of as_tensor(x)", lambda x: layer(torch.as_tensor(x)).detach())
    yield Case("torch", "as_tensor", torch.as_tensor)
    yield Case("torch", "tensor", torch.tensor)
    yield Case("torch", "from_dlpack", torch.from_dlpack)
    # It takes any sequence for a tuple of indices, and our arrays for sequences.
    rows = torch.arange(4.0)
    yield Case("torch", "tensor[x]", lambda x: rows[like(x, [2, 0])], Outcome.REFUSES, "too many indices")
    yield Case("torch", "tensor[as_tensor(x)]", lambda x: rows[torch.as_tensor(like(x, [2, 0]))])


def _flat(tree: Any, x: Any) -> tuple[Any, Any]:
    leaves, kind = tree.flatten([x, {"a": x}])
    return kind, leaves


def _jax() -> Iterator[Case]:
    import jax

    yield Case("JAX", "tree.map", lambda x: jax.tree.map(lambda each: each + 1, {"a": x})["a"], Outcome.KEEPS)
    yield Case("JAX", "tree.leaves, unflatten", lambda x: jax.tree.unflatten(*_flat(jax.tree, x))[0], Outcome.KEEPS)
    yield Case("JAX", "numpy.asarray", jax.numpy.asarray)
    yield Case("JAX", "from_dlpack", jax.dlpack.from_dlpack)
    # Its own arrays and NumPy's are indices, and it asks others for nothing.
    rows = jax.numpy.arange(4.0)
    yield Case("JAX", "array[x]", lambda x: rows[like(x, [2, 0])], Outcome.REFUSES, "are valid indices")
    yield Case("JAX", "array[numpy.asarray(x)]", lambda x: rows[jax.numpy.asarray(like(x, [2, 0]))])


def _sympy() -> Iterator[Case]:
    import sympy

    yield Case("SymPy", "sympify", lambda x: np.array(sympy.sympify(x).tolist(), dtype=float))
    yield Case("SymPy", "sympify of integers", lambda x: np.array(sympy.sympify(like(x, [1, 2])).tolist(), dtype=int))
    yield Case("SymPy", "sympify of an element", lambda x: float(sympy.sympify(x[0, 1]) + sympy.Rational(1, 2)))
    yield Case("SymPy", "Float(x[0, 1])", lambda x: float(sympy.Float(x[0, 1])), Outcome.REFUSES, "cannot create mpf")
    yield Case("SymPy", "symbol + x[0, 0]", lambda x: float((sympy.Symbol("t") + x[0, 1]).subs("t", 2)))
    yield Case("SymPy", "lambdify", lambda x: sympy.lambdify("t", sympy.sin("t") + 1)(x), Outcome.KEEPS)


def _tensorflow() -> Iterator[Case]:
    import tensorflow as tf

    converts: dict[str, Program] = {
        "convert_to_tensor": tf.convert_to_tensor,
        "math.reduce_sum": lambda x: tf.math.reduce_sum(x, axis=0),
        "concat": lambda x: tf.concat([x, x], axis=0),
        "data.Dataset.from_tensor_slices": lambda x: list(tf.data.Dataset.from_tensor_slices(x)),
        "nest.map_structure": lambda x: np.asarray(tf.nest.map_structure(lambda each: each + 1, {"a": x})["a"]),
    }
    for what, program in converts.items():
        yield Case("TensorFlow", what, program)


def _annotations() -> Iterator[Case]:
    import jaxtyping
    import pydantic

    def model(x: Any) -> Any:
        kind = ua.Array if isinstance(x, ua.Array) else pydantic.SkipValidation[Any]
        made = pydantic.create_model("Model", x=(kind, ...))
        return made(x=x).x

    def refusing(x: Any) -> Any:
        made = pydantic.create_model("Model", x=(ua.Array, ...))
        return made(x=x.tolist())

    def annotated(x: Any) -> Any:
        kind: Any = jaxtyping.Float[ua.Array, "a b"]
        wrong: Any = jaxtyping.Float[ua.Array, "a"]
        integers: Any = jaxtyping.Int[ua.Array, "a b"]
        if isinstance(x, ua.Array):
            assert isinstance(x, kind)
            assert not isinstance(x, wrong)
            assert not isinstance(x, integers)
        return x

    yield Case("pydantic", "a field of type ua.Array", model, Outcome.KEEPS)
    yield Case("pydantic", "a list in that field", refusing, Outcome.REFUSES, "instance of Array")
    yield Case("jaxtyping", "Float[ua.Array, 'a b']", annotated, Outcome.KEEPS)


def _numba() -> Iterator[Case]:
    import numba

    @numba.njit  # type: ignore[untyped-decorator]
    def scaled(x: Any) -> Any:
        made = np.empty_like(x)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                made[i, j] = 2 * x[i, j]
        return made

    yield Case("Numba", "njit function of np.asarray(x)", lambda x: scaled(np.asarray(x)))
    # It takes NumPy's array.
    yield Case("Numba", "njit function of x", scaled, Outcome.REFUSES, "Failed in nopython mode")


# Packages that each group needs, beside the table's own rows.
GROUPS: dict[str, tuple[Callable[[], Iterator[Case]], tuple[str, ...]]] = {
    "NumPy": (_numpy, ()),
    "einops": (_einops, ("einops",)),
    "SciPy": (scipy, ("scipy",)),
    "scikit-learn": (scikit_learn, ("sklearn",)),
    "Matplotlib": (matplotlib, ("matplotlib",)),
    "Python": (python, ()),
    "xarray": (xarray, ("xarray", "pandas")),
    "pandas": (_pandas, ("pandas",)),
    "files": (_files, ("h5py", "zarr", "joblib", "safetensors", "PIL")),
    "torch": (_torch, ("torch",)),
    "JAX": (_jax, ("jax",)),
    "SymPy": (_sympy, ("sympy",)),
    "TensorFlow": (_tensorflow, ("tensorflow",)),
    "Numba": (_numba, ("numba",)),
    "annotations": (_annotations, ("pydantic", "jaxtyping")),
}
