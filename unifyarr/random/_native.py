"""Drawing on the device: the engine's own generator, as pure functions of a state that is an array.

A kernel ``draw_NAME(state, ...)`` returns the next state and the numbers. So a trace has the state as an input and the
next state as an output. All other distributions are computed from a few kernels by functions of the package, so that
gradients flow to the parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import functions
from .._core.arrays.array import Array, wrap
from .._core.arrays.nest import Nest
from .._core.arrays.ownership import read
from .._core.calling.invoke import invoke_several
from .._core.engines import dtypes
from .._core.engines.current import current_name
from .._core.engines.dtypes import DType
from .._core.engines.handle import Handle
from .._core.engines.registry import load
from .._core.engines.tracing import capture, running
from .._core.writing.inplace import assign
from ..errors import BackendFeatureError, BackendMismatchError, TraceError
from ..typing import Shape
from ._arguments import Where, check, check_range, places, store


class NativeState:
    """The state of an engine's generator, on one device of one backend."""

    __slots__ = ("array", "backend", "device")

    def __init__(self, backend: Handle, device: Any, array: Array) -> None:
        self.backend, self.device, self.array = backend, device, array

    @classmethod
    def seeded(cls, seeds: np.random.SeedSequence, name: str | None, device: object) -> NativeState | None:
        """Return the generator for a seed; ``None`` where the host's generator serves: on NumPy and on lazy engines."""
        if running() is not None:
            raise TraceError("a generator with engine='native' is made outside of what is compiled: pass it in")
        backend = load(name or current_name())
        own = None if device is None else backend.as_device(device)
        if backend.native_type is np.ndarray or not backend.has_values:
            # A lazy engine draws with the host's generator where it computes.
            return None
        if "random_state" not in backend.kernels:
            raise BackendFeatureError(f"backend {backend.name!r} has no generator of its own: use engine='host'")
        return cls(backend, own, wrap(backend.kernel("random_state")(seeds.generate_state(2), own), backend))

    @classmethod
    def restored(cls, name: str, device: str | None) -> NativeState:
        """Return a generator whose state will be set."""
        made = cls.seeded(np.random.SeedSequence(0), name, device)
        assert made is not None
        return made

    @classmethod
    def of_leaf(cls, name: str, device: Any, native: Any) -> NativeState:
        """Return a generator whose state is the leaf of an engine's pytree."""
        backend = load(name)
        return cls(backend, device, wrap(native, backend))

    @property
    def device_name(self) -> str | None:
        """The name of the device, ``None`` for the default one."""
        # Several devices have no common name: results are read back to the default one.
        found = None if self.device is None else self.backend.device(self.empty()._native)
        return found if isinstance(found, str) else None

    def empty(self) -> Array:
        """Return an array without elements, on the backend and device of the results."""
        return functions.empty(0, device=self.device, backend=self.backend.name)

    @property
    def state(self) -> dict[str, Any]:
        """The state, and the name of its backend."""
        if self.backend.stages() or running() is not None:
            raise TraceError("the state of a generator isn't known inside a trace: read it outside")
        return {"backend": self.backend.name, "state": np.array(self.backend.to_numpy(read(self.array)))}

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        if not isinstance(state, dict) or state.get("backend") != self.backend.name:
            raise ValueError(f"a state of a generator of backend {self.backend.name!r} is wanted, not {state!r:.60}")
        values = np.asarray(state["state"])
        if values.shape != self.array.shape or values.dtype != self.array.dtype:
            raise ValueError(f"a state has shape {self.array.shape} and dtype {self.array.dtype}, not {values!r:.60}")
        # Written into the old state, which stays on the device that the engine has it on.
        functions.asarray(values, backend=self.backend.name, device=self.array.device, out=self.array)

    def words(self, n: int) -> np.ndarray:
        """Draw the seeds of ``n`` generators."""
        stream = Stream(self)
        words = stream.draw("integers", low=0, high=2**31 - 1, shape=(n, 6), dtype=np.dtype(np.int32))
        stream.commit()
        return np.asarray(self.backend.to_numpy(read(words)))

    def draw(self, name: str, where: Where, kind: type, kinds: str, parameters: Mapping[str, Any]) -> Array:
        """Draw from a distribution; if it fails, nothing changes."""
        recipe = RECIPES.get(name)
        if recipe is None:
            raise BackendFeatureError(
                f"{name}() isn't there for engine='native': draw it from a Generator(seed), on the host"
            )
        where = self.placed(where)
        check(name, {key: value for key, value in parameters.items() if not is_native(value)})
        shapes = [value.shape if is_native(value) else np.shape(value) for value in parameters.values()]
        found = places(name, where, kind, kinds.replace("c", ""), shapes, ())
        stream = Stream(self)
        results = []
        for place in found:
            values = recipe(stream, place.shape, place.dtype, **parameters)
            results.append(values.astype(place.dtype, copy=False))
        stored = store(name, where, found, results)
        stream.commit()
        return stored

    def placed(self, where: Where) -> Where:
        """Return where results go, which must be this backend and device."""
        if where.backend not in (None, self.backend.name):
            raise BackendMismatchError(
                f"a native generator of backend {self.backend.name!r} draws there, not on {where.backend!r}"
            )
        device = self.device if where.device is None and not isinstance(where.out, Nest) else where.device
        return where._replace(backend=self.backend.name, device=device if where.out is None else where.device)


def is_native(value: Any) -> bool:
    """Return whether a parameter is an array of the package or of an engine, whose values aren't checked."""
    from .._core.arrays.convert import backend_of

    return isinstance(value, Array) or backend_of(value) is not None


class Stream:
    """The draws of one call. Each starts from the state after the one before."""

    def __init__(self, native: NativeState) -> None:
        self.native = native
        root = capture(native.array)
        backend = root._backend
        if backend.trace() is not None and running() is None and backend.stages():
            inside = getattr(root, "_born", None) == backend.trace() or backend.can_write(root._native)
            if not inside:
                raise TraceError(
                    "a generator made outside the running trace draws inside it, and its next state would be lost: "
                    "pass it to the traced function, and return it from there"
                )
        self.state = root

    def draw(self, name: str, *operands: Any, **static: Any) -> Array:
        """Draw from a kernel."""
        arrays = map(capture, operands)
        self.state, values = invoke_several(f"draw_{name}", self.state, *arrays, device=self.native.device, **static)
        return values

    def commit(self) -> None:
        """Set the generator to the state after the last draw."""
        array = capture(self.native.array)
        if self.state is not array:
            assign(array, read(self.state))

    def parameter(self, value: Any, dtype: DType) -> Array:
        """Return a parameter as a Python number, or as an array of a dtype on the generator's device."""
        if type(value) in dtypes.SCALARS:
            number: Array = value
            return number
        native = self.native
        device = native.device if not isinstance(value, Array) else None
        return functions.asarray(value, dtype=dtype, device=device, backend=native.backend.name)

    def operand(self, value: Any, shape: Shape, dtype: DType) -> Array:
        """Return a parameter as an array of the result's shape."""
        array = self.parameter(value, dtype)
        if not isinstance(array, Array):
            array = functions.asarray(array, dtype=dtype, device=self.native.device, backend=self.native.backend.name)
        return functions.broadcast_to(array, shape)

    # -- distributions ------------------------------------------------------------------------------------------------

    def random(self, shape: Shape, dtype: DType) -> Array:
        return self.draw("uniform", shape=shape, dtype=dtype.dtype)

    def uniform(self, shape: Shape, dtype: DType, low: Any, high: Any) -> Array:
        start, stop = self.parameter(low, dtype), self.parameter(high, dtype)
        return self.random(shape, dtype) * (stop - start) + start

    def standard_normal(self, shape: Shape, dtype: DType) -> Array:
        return self.draw("normal", shape=shape, dtype=dtype.dtype)

    def normal(self, shape: Shape, dtype: DType, loc: Any, scale: Any) -> Array:
        drawn = self.standard_normal(shape, dtype)
        if type(scale) is float is type(loc) and scale == 1 and loc == 0:
            return drawn
        return drawn * self.parameter(scale, dtype) + self.parameter(loc, dtype)

    def lognormal(self, shape: Shape, dtype: DType, mean: Any, sigma: Any) -> Array:
        return functions.exp(self.normal(shape, dtype, mean, sigma))

    def standard_exponential(self, shape: Shape, dtype: DType) -> Array:
        return -functions.log1p(-self.random(shape, dtype))

    def exponential(self, shape: Shape, dtype: DType, scale: Any) -> Array:
        return self.standard_exponential(shape, dtype) * self.parameter(scale, dtype)

    def laplace(self, shape: Shape, dtype: DType, loc: Any, scale: Any) -> Array:
        difference = self.standard_exponential(shape, dtype) - self.standard_exponential(shape, dtype)
        return difference * self.parameter(scale, dtype) + self.parameter(loc, dtype)

    def standard_gamma(self, shape: Shape, dtype: DType, alpha: Any) -> Array:
        wide = dtypes.single_of(dtype)
        return self.draw("gamma", self.operand(alpha, shape, wide))

    def gamma(self, size: Shape, dtype: DType, shape: Any, scale: Any) -> Array:
        wide = dtypes.single_of(dtype)
        return self.standard_gamma(size, dtype, shape) * self.parameter(scale, wide)

    def beta(self, shape: Shape, dtype: DType, a: Any, b: Any) -> Array:
        first, second = self.log_gamma(shape, dtype, a), self.log_gamma(shape, dtype, b)
        return functions.exp(first - functions.logaddexp(first, second))

    def log_gamma(self, shape: Shape, dtype: DType, alpha: Any) -> Array:
        # For small shapes nearly all numbers of the gamma distribution would underflow to zero: draw their logarithms.
        wide = dtypes.single_of(dtype)
        operand = self.operand(alpha, shape, wide)
        return functions.log(self.draw("gamma", operand + 1)) - self.standard_exponential(shape, wide) / operand

    def bernoulli(self, shape: Shape, dtype: DType, p: Any) -> Array:
        return self.random(shape, dtypes.float32) < self.parameter(p, dtypes.float32)

    def poisson(self, shape: Shape, dtype: DType, lam: Any) -> Array:
        return self.draw("poisson", self.operand(lam, shape, self.wide()))

    def binomial(self, shape: Shape, dtype: DType, n: Any, p: Any) -> Array:
        wide = self.wide()
        return self.draw("binomial", self.operand(n, shape, wide), self.operand(p, shape, wide))

    def geometric(self, shape: Shape, dtype: DType, p: Any) -> Array:
        # A geometric variable is an exponential one, divided by the rate -log(1 - p) and rounded up.
        wide = self.wide()
        rate = -functions.log1p(-self.operand(p, shape, wide))
        return functions.floor(self.standard_exponential(shape, wide) / rate) + 1

    def wide(self) -> DType:
        """Return the widest dtype of the backend that counts are computed in."""
        wide = self.native.backend.supports_dtype(np.dtype(np.float64), self.native.device)
        return dtypes.float64 if wide else dtypes.float32

    def integers(self, shape: Shape, dtype: DType, low: int, high: int) -> Array:
        if dtype.kind != "f":
            check_range(low, high, False, dtype)
        if low < -(2**63) or high > 2**63 - 1 or high - low > 2**63 - 1:
            raise BackendFeatureError("engine='native' draws from at most 2**63 - 1 integers, those of int64")
        narrow = low >= -(2**31) and high <= 2**31 - 1 and high - low <= 2**31 - 1
        drawn = np.dtype(np.int32 if narrow else np.int64)
        return self.draw("integers", low=low, high=high, shape=shape, dtype=drawn)

    def permutation(self, n: int) -> Array:
        return self.draw("permutation", length=n)


RECIPES: dict[str, Callable[..., Array]] = {
    name: getattr(Stream, name)
    for name in (
        *("random", "uniform", "standard_normal", "normal", "lognormal", "standard_exponential", "exponential"),
        *("laplace", "gamma", "beta", "bernoulli", "poisson", "binomial", "geometric", "integers"),
    )
}
RECIPES["standard_gamma"] = lambda stream, size, dtype, shape: Stream.standard_gamma(stream, size, dtype, shape)
