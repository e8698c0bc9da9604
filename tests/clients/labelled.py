"""Rows of xarray: its labelled arrays on ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .rows import Case, Outcome, Program


def _labelled(program: Program) -> Program:
    def run(x: Any) -> Any:
        import xarray

        places = {"x": np.arange(3), "y": np.arange(4)}
        return program(xarray.DataArray(x, dims=("x", "y"), coords=places, name="a")).data

    return run


def _kept() -> dict[str, Program]:
    import pandas as pd
    import xarray as xr

    ones, days = np.ones(3), pd.to_datetime(["2020-01-01", "2020-01-03", "2020-01-04"])
    return {
        "d + d[0]": lambda d: d + d.isel(x=0),
        "d += 1": lambda d: d.__iadd__(1.0),
        "d[...] = 9": lambda d: (d.__setitem__({"x": 0}, 9.0), d)[1],
        "d.loc[1] = 9": lambda d: (d.loc.__setitem__({"x": 1}, 9.0), d)[1],
        **{name: lambda d, name=name: getattr(d, name)("x") for name in ("mean", "std", "var", "sum", "prod", "max")},
        **{name: lambda d, name=name: getattr(d, name)("x") for name in ("min", "median", "count", "cumsum", "argmax")},
        "mean without NaN": lambda d: xr.where(d > 3, d, np.nan).mean("x"),
        "std with ddof": lambda d: d.std("x", ddof=1),
        "quantile": lambda d: d.quantile(0.3, "x"),
        "any": lambda d: (d > 3).any("x"),
        "where with another": lambda d: d.where(d > 3, 0.0),
        "xr.where": lambda d: xr.where(d > 3, d, -d),
        "clip": lambda d: d.clip(2, 5),
        "isnull": lambda d: d.isnull(),
        "fillna": lambda d: xr.where(d > 3, d, np.nan).fillna(7.0),
        "isel of a list": lambda d: d.isel(x=[0, 2]),
        "sel": lambda d: d.sel(x=slice(0, 1)),
        "transpose": lambda d: d.transpose("y", "x"),
        "stack, unstack": lambda d: d.stack(z=("x", "y")).unstack("z"),
        "concat": lambda d: xr.concat([d, d], "x"),
        "roll": lambda d: d.roll(x=1),
        "pad with a value": lambda d: d.pad(x=1, constant_values=0.0),
        "diff": lambda d: d.diff("x"),
        "coarsen": lambda d: d.coarsen(y=2).mean(),
        "groupby": lambda d: d.groupby("x").mean(),
        "groupby_bins": lambda d: d.groupby_bins("x", 2).sum(),
        "resample": lambda d: d.assign_coords(x=pd.date_range("2020-01-01", periods=3)).resample(x="2D").mean(),
        "dot": lambda d: xr.dot(d, d, dim="x"),
        "@": lambda d: d @ d.T.rename(x="z"),
        "np.sqrt": np.sqrt,
        "apply_ufunc": lambda d: xr.apply_ufunc(np.exp, d, dask="allowed"),
        "round, astype": lambda d: d.round(1).astype("float32"),
        "broadcast_like": lambda d: d.isel(x=0).broadcast_like(d),
        "sortby": lambda d: d.sortby("x", ascending=False),
        "differentiate": lambda d: d.differentiate("x"),
        "integrate": lambda d: d.integrate("x"),
        "isin": lambda d: d.isin([1.0, 2.0]),
        "copy": lambda d: d.copy(deep=True),
        "Dataset.mean": lambda d: xr.Dataset({"a": d}).mean("x")["a"],
        "to_dataset, to_dataarray": lambda d: d.to_dataset("x").to_dataarray("x"),
        "map_blocks": lambda d: d.map_blocks(lambda each: each + 1),
        "polyfit": lambda d: d.polyfit("x", 1).polyfit_coefficients.sel(degree=1),
        "where without another": lambda d: d.where(d > 3),
        "where of integers": lambda d: d.astype("int32").where(d > 3),
        "shift": lambda d: d.shift(x=1),
        "pad": lambda d: d.pad(x=1),
        "reindex": lambda d: d.reindex(x=[0, 1, 5]),
        "align, outer": lambda d: xr.align(d, d.isel(x=[0, 2]), join="outer")[1],
        "merge, outer": lambda d: xr.merge([d, d.isel(x=[0]).rename("b")], join="outer")["b"],
        "combine_first": lambda d: d.where(d > 3).combine_first(d),
        "dropna": lambda d: d.where(d > 3).dropna("x"),
        "weighted": lambda d: d.weighted(xr.DataArray(ones, dims="x")).mean("x"),
        "cov": lambda d: xr.cov(d, d, "x"),
        "corr": lambda d: xr.corr(d, d * d, "x"),
        "rolling.construct": lambda d: d.rolling(x=2).construct("w"),
        "rolling.mean": lambda d: d.rolling(x=2).mean(),
        "rolling.sum, centred": lambda d: d.rolling(x=2, center=True, min_periods=1).sum(),
        "rolling.reduce": lambda d: d.rolling(x=2).reduce(np.mean),
        "cumulative": lambda d: d.cumulative("x").sum(),
        "coarsen, padded": lambda d: d.coarsen(y=3, boundary="pad").mean(),
        "unstack with gaps": lambda d: d.stack(z=("x", "y")).isel(z=[0, 1, 5]).unstack("z"),
        "resample to more": lambda d: d.assign_coords(x=days).resample(x="1D").mean(),
        "idxmax": lambda d: d.idxmax("x"),
        "std(skipna=False)": lambda d: d.std("x", skipna=False),
        "var(skipna=False)": lambda d: d.var("x", skipna=False, ddof=1),
        "cumsum(skipna=False)": lambda d: d.cumsum("x", skipna=False),
        "cumprod(skipna=False)": lambda d: d.cumprod("x", skipna=False),
        "sum(min_count)": lambda d: d.where(d > 3).sum("x", min_count=3),
        "groupby.std": lambda d: d.groupby("x").std(),
        "groupby - mean": lambda d: d.groupby("x") - d.groupby("x").mean(),
        "sel, nearest": lambda d: d.sel(x=[0.4, 1.9], method="nearest"),
        "repr, HTML": lambda d: (repr(d), d._repr_html_(), d)[2],
    }


def xarray() -> Iterator[Case]:
    """Yield the rows."""
    import xarray as xr

    for what, program in _kept().items():
        yield Case("xarray", what, _labelled(program), Outcome.KEEPS)
    converts: dict[str, Program] = {
        "interp": lambda d: d.interp(x=[0.5, 1.5]),
        "interp_like": lambda d: d.interp_like(d.isel(x=[0, 1])),
        "interpolate_na": lambda d: d.where(d > 3).interpolate_na("x"),
        "curvefit": lambda d: d.curvefit("x", lambda x, a, b: a * x + b).curvefit_coefficients,
    }
    for what, program in converts.items():
        yield Case("xarray", what, _labelled(program))
    yield Case("xarray", "to_numpy", lambda x: xr.DataArray(x).to_numpy())
    yield Case("xarray", "to_pandas", lambda x: xr.DataArray(x).to_pandas())
    yield Case("xarray", "to_dataframe", lambda x: xr.DataArray(x, dims=("x", "y"), name="a").to_dataframe())
    # No array of the standard gets past these.
    places = xr.DataArray([0, 1], dims="points")
    refused: dict[str, tuple[Program, str]] = {
        "isel of points": (lambda d: d.isel(x=places, y=places), "Vectorized indexing is not supported"),
        "cross": (lambda d: xr.cross(d.isel(y=0), d.isel(y=1), dim="x"), "to a NumPy dtype (via `.dtype` value"),
        "idxmax over dates": (
            lambda d: d.assign_coords(x=np.array(["2020", "2021", "2022"], "M8[ns]")).idxmax("x"),
            "can't make an array of dtype datetime64",
        ),
        "astype of text": (lambda d: d.astype(str), "is not a dtype"),
    }
    for what, (program, words) in refused.items():
        yield Case("xarray", what, _labelled(program), Outcome.REFUSES, words)
