"""Drawing on the host: NumPy's own generator, in the requested dtype."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .._core.calling.recording import integers
from .._core.engines import dtypes
from .._core.engines.current import current_name
from .._core.engines.dtypes import DType
from .._core.engines.handle import Handle, has_one_device
from ._arguments import Destination

Parameters = Mapping[str, Any]
# Distributions that NumPy draws in float32 itself, and with ``out``.
_STANDARD = frozenset({"random", "standard_normal", "standard_exponential", "standard_gamma"})


class Draw(NamedTuple):
    """Cached checks of a draw of NumPy's own 64 bits: the next one with equal arguments needs no check."""

    # The arguments of NumPy's method, ending with the size; positional arguments are faster.
    arguments: tuple[Any, ...]
    backend: Handle
    device: Any
    # Makes a native of what NumPy drew where nothing can fail any more; ``None`` where that is one, or it may fail.
    make: Callable[[np.ndarray], Any] | None
    is_certain: bool


KNOWN: dict[Hashable, Draw] = {}
_MOST = 1024


def key_of(name: str, where: tuple[Any, ...], parameters: Parameters) -> Hashable | None:
    """Return the cache key of a draw, ``None`` if it isn't cached; a key may be unhashable."""
    size, dtype, device, backend, out = where
    if out is not None:
        return None
    if type(size) is tuple:
        size = integers(*size)
        if size is None:
            return None
    elif size is not None and type(size) is not int:
        return None
    values = parameters.values()
    return name, size, dtype, device, backend or current_name(), *values, *map(type, values)


def remember(key: Hashable, kind: type, place: Destination, parameters: Parameters) -> None:
    """Remember a draw that went well, if its numbers become an array as they are."""
    if place.dtype is OWN.get(kind) and _NUMBERS.issuperset(map(type, parameters.values())):
        if len(KNOWN) >= _MOST:
            KNOWN.clear()
        backend, device, make = place.backend, place.device, None
        is_host = backend.native_type is np.ndarray
        if not is_host and backend.mutable and has_one_device(backend):
            make = backend.adopting(OWN[kind].dtype, device)
        KNOWN[key] = Draw((*parameters.values(), place.shape), backend, device, make, is_host or make is not None)


_NUMBERS = frozenset({int, float})
# The dtypes that NumPy draws numbers of these types in.
OWN = {float: dtypes.float64, int: dtypes.int64}


def sample(
    host: np.random.Generator, name: str, given: Parameters, place: Destination, event: int
) -> np.ndarray | None:
    """Return new values, or ``None`` if they were drawn directly into the memory of the target."""
    dtype, size = place.dtype, place.shape[: len(place.shape) - event]
    if name in _STANDARD and dtype in (dtypes.float32, dtypes.float64) and not any(map(np.ndim, given.values())):
        memory = place.memory()
        if memory is not None:
            getattr(host, name)(**given, dtype=dtype.dtype, out=memory)
            return None
    if dtypes.rank(dtype) > 2:
        return _complex(host, name, given, size, dtype)
    if dtype != dtypes.float64 and name in _SCALED:
        return _SCALED[name](host, size, dtype, **given)
    if name == "bernoulli":
        return np.asarray(np.less(host.random(size), given["p"]), dtype.dtype)
    return cast(name, np.asarray(getattr(host, name)(**given, size=size)), dtype)


def cast(name: str, values: np.ndarray, dtype: DType) -> np.ndarray:
    """Return values in another dtype: rounded if it's floating; for integers unchanged, or an error."""
    if dtype.kind in "iu" and values.size:
        limits = np.iinfo(dtype.dtype)
        worst = values.max() if values.max() > limits.max else values.min()
        if not limits.min <= worst <= limits.max:
            raise ValueError(f"{name}() drew {worst}, which {dtype} can't hold: give a wider dtype")
    return values.astype(dtype.dtype, copy=False)


def _standard(host: np.random.Generator, name: str, size: Any, *parameters: Any) -> np.ndarray:
    return np.asarray(getattr(host, name)(*parameters, size=size, dtype=np.float32))


def _single(value: Any) -> Any:
    return np.asarray(value, np.float32)


def _random(host: np.random.Generator, size: Any, dtype: DType) -> np.ndarray:
    values = _standard(host, "random", size)
    if dtype in dtypes.HALVES:
        # Rounding could give 1: keep only as many bits as the dtype has.
        steps = np.float32(2**11 if dtype == dtypes.float16 else 2**8)
        values = np.floor(values * steps) / steps
    return np.asarray(values, dtype.dtype)


def _uniform(host: np.random.Generator, size: Any, dtype: DType, low: Any, high: Any) -> np.ndarray:
    values = _random(host, size, dtype).astype(np.float32, copy=False)
    values *= _single(np.subtract(high, low))
    values += _single(low)
    return values.astype(dtype.dtype, copy=False)


def _scaled(standard: str) -> Callable[..., np.ndarray]:
    # The standard distribution times ``scale`` plus ``loc``, computed in float32.
    def draw(host: np.random.Generator, size: Any, dtype: DType, **given: Any) -> np.ndarray:
        own = [given["shape"]] if "shape" in given else []
        values = _standard(host, standard, size, *own)
        if "scale" in given:
            values *= _single(given["scale"])
        if "loc" in given:
            values += _single(given["loc"])
        return values.astype(dtype.dtype, copy=False)

    return draw


# Distributions with a separate float32 stream.
_SCALED: dict[str, Callable[..., np.ndarray]] = {
    "random": _random,
    "uniform": _uniform,
    "standard_normal": _scaled("standard_normal"),
    "normal": _scaled("standard_normal"),
    "standard_exponential": _scaled("standard_exponential"),
    "exponential": _scaled("standard_exponential"),
    "standard_gamma": _scaled("standard_gamma"),
    "gamma": _scaled("standard_gamma"),
}


def _complex(host: np.random.Generator, name: str, given: Parameters, size: Any, dtype: DType) -> np.ndarray:
    # A real and an imaginary part of half the variance each.
    parts = np.asarray(host.standard_normal((*size, 2), dtype=dtypes.real_of(dtype).dtype))
    parts *= np.asarray(np.sqrt(0.5), parts.dtype)
    values = parts.view(dtype.dtype)[..., 0]
    if name == "normal":
        values = values * np.asarray(given["scale"], parts.dtype) + np.asarray(given["loc"], dtype.dtype)
    return values
