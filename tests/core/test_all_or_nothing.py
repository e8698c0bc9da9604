"""A call that fails, for whatever reason, leaves ``out`` and its inputs bit for bit as they were: on every function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.engines.registry import load
from unifyarr.testing import needs
from unifyarr.testing.cases.table import Q

from ..functions.calls import CALLS, REFUSED, SEVERAL, WIDER, case, find, lift
from ..kernels import Injected, failing, watched
from ..natives import skip_unless
from ..oracle import as_numpy

EVERY = CALLS | SEVERAL


def arrays_in(*nests: Any) -> list[ua.Array]:
    """Return the arrays in nests of them."""
    found: list[ua.Array] = []
    for nest in nests:
        found.extend(
            [nest] if isinstance(nest, ua.Array) else arrays_in(*nest) if isinstance(nest, (list, tuple)) else []
        )
    return found


@contextmanager
def unchanged(*nests: Any) -> Iterator[None]:
    """Assert that no array changes a bit, its base included."""
    arrays = arrays_in(*nests)
    arrays += [each.base for each in arrays if each.base is not None]
    before = [(x.dtype, x.shape, as_numpy(x).tobytes()) for x in arrays]
    yield
    assert [(x.dtype, x.shape, as_numpy(x).tobytes()) for x in arrays] == before


class Case:
    """A call of a function, with targets of its results."""

    def __init__(self, name: str, arguments: list[Any], options: dict[str, Any], expected: Any = None) -> None:
        self.name, self.options = name, options
        self.arguments = [lift(name, each) for each in arguments]
        self.several = name in SEVERAL
        if expected is None:
            result = find(name)(*self.arguments, **options)
            expected = [(x.shape, x.dtype.name) for x in (result if self.several else [result])]
        self.results: list[tuple[tuple[int, ...], str]] = expected

    @classmethod
    def of(cls, name: str) -> Case:
        return cls(name, *EVERY[name])

    def targets(self, dtypes: dict[str, str] | None = None, *, view: bool = False) -> Any:
        """Return fresh targets that fit: of other dtypes if they are given, views from behind if wanted."""
        made = [ua.full(shape, True, dtype=(dtypes or {}).get(dtype, dtype)) for shape, dtype in self.results]
        return self.as_out([ua.flip(x) for x in made] if view else made)

    def as_out(self, made: list[Any]) -> Any:
        return tuple(made) if self.several else made[0]

    def with_last(self, last: Any) -> Any:
        """Return targets that fit, but for the last one."""
        return self.as_out([*arrays_in(self.targets())[:-1], last])

    def call(self, out: Any) -> Any:
        return find(self.name)(*self.arguments, **self.options, out=out)

    def assert_fails(self, error: type[Exception] | tuple[type[Exception], ...], out: Any) -> None:
        with unchanged(self.arguments, list(self.options.values()), out), pytest.raises(error):
            self.call(out)


each_function = pytest.mark.parametrize("name", EVERY)


@each_function
def test_a_target_that_doesnt_fit(backend: str, name: str) -> None:
    call = Case.of(name)
    shape, dtype = call.results[-1]
    call.assert_fails(ua.errors.ShapeError, call.with_last(ua.full((*shape, 2), True, dtype=dtype)))
    if dtype in REFUSED:
        call.assert_fails(ua.errors.CastingError, call.with_last(ua.full(shape, True, dtype=REFUSED[dtype])))
    shared = ua.full((), True, dtype=dtype)
    call.assert_fails(ua.errors.ReadOnlyError, call.with_last(ua.broadcast_to(shared, shape)))


@each_function
def test_a_target_on_another_device(backend: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    handle, call = load(backend), Case.of(name)
    out = call.targets()
    last = arrays_in(out)[-1].native
    device = handle.device
    # Two devices of one engine aren't on every machine: one array says that it lives elsewhere.
    monkeypatch.setattr(handle, "device", lambda native: "elsewhere" if native is last else device(native))
    monkeypatch.setattr(handle, "may_meet", lambda first, second: handle.device(first) == handle.device(second))
    # Plain calls leave it to the engine, which isn't deceived.
    with watched(backend):
        call.assert_fails(ua.errors.DeviceError, out)


@each_function
def test_a_target_of_another_backend(backend: str, name: str) -> None:
    call = Case.of(name)
    other = next((each for each in ("numpy", "torch") if each != backend and each in ua.available_backends()), None)
    if other is None:
        pytest.skip("no other backend is installed")
    if "backend" in inspect.signature(find(name)).parameters:
        # Elsewhere the call goes to the backend of its target.
        call.options = {**call.options, "backend": backend}
    shape, dtype = call.results[-1]
    call.assert_fails(TypeError, call.with_last(ua.full(shape, True, dtype=dtype, backend=other)))


POSITIONAL_AXES: dict[str, list[Any]] = {
    "expand_dims": [7],
    "moveaxis": [7, 0],
    "permute_dims": [(7, 0)],
    "squeeze": [7],
    "transpose": [(7, 0)],
    "tensordot": [],
}


def bad_axis(name: str) -> tuple[list[Any], dict[str, Any]] | None:
    """Return arguments beside the arrays, and options, with an axis out of bounds; ``None`` where there's no axis."""
    parameters = inspect.signature(find(name)).parameters
    arguments, options = EVERY[name]
    if name.endswith("tensordot"):
        return arguments, {"axes": ((7,), (0,))}
    if name in POSITIONAL_AXES:
        return [arguments[0], *POSITIONAL_AXES[name]], {}
    if "axis" in parameters:
        return arguments, {**options, "axis": 7}
    return (arguments, {**options, "axes": (7,)}) if "axes" in parameters else None


@pytest.mark.parametrize("name", [name for name in EVERY if bad_axis(name)])
def test_an_axis_out_of_bounds(backend: str, name: str) -> None:
    results = Case.of(name).results
    found = bad_axis(name)
    assert found is not None
    call = Case(name, *found, expected=results)
    call.assert_fails(ValueError, call.targets())


# These refuse values when they are computed: late, on a lazy engine.
LATE = {"cholesky", "cholesky, upper", "inv", "solve", "matrix_power", "take_along_axis"}
LATE |= {"pow", "pow to another dtype", "pow of a scalar"}
INDEFINITE = np.stack([Q, -Q])
SINGULAR = np.stack([Q, np.zeros((3, 3))])
INTEGERS = np.array([2, 3, 4])
BAD_VALUES: dict[str, tuple[str, list[Any], dict[str, Any], type[Exception], list[tuple[tuple[int, ...], str]]]] = {
    "cholesky": ("linalg.cholesky", *case(INDEFINITE), np.linalg.LinAlgError, [((2, 3, 3), "float64")]),
    "cholesky, upper": (
        "linalg.cholesky",
        *case(INDEFINITE, upper=True),
        np.linalg.LinAlgError,
        [((2, 3, 3), "float64")],
    ),
    "inv": ("linalg.inv", *case(SINGULAR), np.linalg.LinAlgError, [((2, 3, 3), "float64")]),
    "solve": ("linalg.solve", *case(SINGULAR, Q), np.linalg.LinAlgError, [((2, 3, 3), "float64")]),
    "matrix_power": ("linalg.matrix_power", *case(SINGULAR, -1), np.linalg.LinAlgError, [((2, 3, 3), "float64")]),
    "take": ("take", *case(INTEGERS, np.array([0, 1, 7])), IndexError, [((3,), "int64")]),
    "take_along_axis": ("take_along_axis", *case(INTEGERS, np.array([0, 1, 7])), IndexError, [((3,), "int64")]),
    "pow": ("pow", *case(INTEGERS, np.array([1, 2, -1])), ValueError, [((3,), "int64")]),
    "pow to another dtype": ("pow", *case(INTEGERS, np.array([1, 2, -1])), ValueError, [((3,), "float64")]),
    "pow of a scalar": ("pow", *case(INTEGERS, -1), ValueError, [((3,), "int64")]),
    "repeat": ("repeat", *case(INTEGERS, np.array([1, 1, -1])), ValueError, [((3,), "int64")]),
    "full": ("full", *case((3,), 300, dtype="int8"), OverflowError, [((3,), "int8")]),
    "asarray": ("asarray", *case([1, 2, 300], dtype="int8"), OverflowError, [((3,), "int8")]),
    "add": ("add", *case(np.array([1, 2, 3], "int8"), 300), OverflowError, [((3,), "int8")]),
    "arange": ("arange", *case(0, 3, 0), ValueError, [((3,), "int64")]),
}


@pytest.mark.parametrize("view", [False, True], ids=["array", "view"])
@pytest.mark.parametrize(
    ("name", "arguments", "options", "error", "results"),
    [pytest.param(*each, id=name, marks=[needs("values")] * (name in LATE)) for name, each in BAD_VALUES.items()],
)
def test_values_that_an_engine_refuses(
    backend: str,
    name: str,
    arguments: list[Any],
    options: dict[str, Any],
    error: type[Exception],
    results: list[tuple[tuple[int, ...], str]],
    view: bool,
) -> None:
    call = Case(name, arguments, options, expected=results)
    call.assert_fails(error, call.targets(view=view))


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda x: x.__ipow__(ua.asarray([1, 2, -1])), marks=needs("values")),
        pytest.param(lambda x: x.__ipow__(-1), marks=needs("values")),
        lambda x: ua.take(x, ua.asarray([1, 0, 7]), out=x),
        lambda x: x.__imatmul__(ua.ones((2, 2), dtype="int64")),
        lambda x: x.__iadd__(2**70),
    ],
    ids=["**=", "**= scalar", "take", "@=", "+= scalar"],
)
def test_an_input_that_is_out(backend: str, write: Callable[[ua.Array], Any]) -> None:
    x = ua.asarray(INTEGERS, copy=True)
    with unchanged(x), pytest.raises((ValueError, IndexError, OverflowError)):
        write(x)


def places(count: int, most: int = 12) -> list[int]:
    """Choose which of a call's kernels fail: a series of 200 has the same few kernels in each of its terms."""
    return sorted({*range(min(count, most)), *range(0, count, count // most + 1), *range(count)[-4:]})


@pytest.mark.parametrize("dtypes", [None, WIDER], ids=["of the result's dtype", "of another dtype"])
@each_function
def test_a_kernel_that_fails(backend: str, name: str, dtypes: dict[str, str] | None) -> None:
    call = Case.of(name)
    view = dtypes is not None
    # Used scalars and parsed recipes are cached: they take no second kernel. Plain calls, which are off while kernels
    # are watched, need no arrays of scalars.
    with watched(backend):
        call.call(call.targets(dtypes, view=view))
    out = call.targets(dtypes, view=view)
    for target in arrays_in(out):
        as_numpy(target)
    with watched(backend) as kernels:
        call.call(out)
    # A body that keeps intermediate values in ``out`` has written to it when a later kernel fails.
    scratch = find(name).declaration.scratch and dtypes is None
    for number in places(len(kernels)):
        out = call.targets(dtypes, view=view)
        with unchanged(call.arguments, [] if scratch else out), failing(backend, number), pytest.raises(Injected):
            call.call(out)
    # An array goes to ``out`` unchanged.
    assert kernels or name in ("asarray", "array")


def test_numpys_floating_point_trap_comes_once(backend: str) -> None:
    skip_unless(backend, "numpy", why="an engine with traps, which stop it when it has written")
    x = ua.asarray([2.0, 1e300])
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        x *= x
    assert as_numpy(x)[0] in (2, 4)
