"""Random programs of views and in-place updates beside plain NumPy: equal after every step, on every backend."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

import unifyarr as ua

from ..natives import variable
from ..oracle import as_numpy

# Sums, and products with powers of two, are exact in all of them, so that programs of any length stay comparable.
DTYPES = ["float64", "int64", "int8", "complex64", "bool", "float32"]
SHAPES = [(4,), (2, 3), (3, 3), (2, 1, 3)]
LIVE = 8

Pair = tuple[np.ndarray, ua.Array]
VIEWS: dict[str, Callable[[Any], Any]] = {
    "[1:]": lambda x: x[1:],
    "[:-1]": lambda x: x[:-1],
    "[::-1]": lambda x: x[::-1],
    "[..., ::2]": lambda x: x[..., ::2],
    "[..., ::-1]": lambda x: x[..., ::-1],
    "[0, ...]": lambda x: x[0, ...],
    "[..., -1]": lambda x: x[..., -1:] if x.ndim == 1 else x[..., -1],
    "[None]": lambda x: x[None],
    "[:, None]": lambda x: x[:, None],
    "T": lambda x: x.T,
    "real": lambda x: x.real,
    "imag": lambda x: x.imag if x.dtype.kind == "c" else x[...],
    "ravel": lambda x: x.reshape(-1),
}
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "&=": operator.iand,
    "|=": operator.ior,
    "^=": operator.ixor,
}
UFUNCS = ["add", "subtract", "maximum", "minimum", "logical_or", "less", "not_equal"]


def outcome(function: Callable[[], Any]) -> type[Exception] | None:
    """Run a write and return the class of what it raises, ``None`` if it writes."""
    try:
        function()
    except (TypeError, ValueError, IndexError, RuntimeError) as error:
        return type(error)
    return None


class Programs(RuleBasedStateMachine):
    """A program over pairs of an array of NumPy's and its twin of ours."""

    backend: str

    def __init__(self) -> None:
        super().__init__()
        self.scope = ua.use_backend(self.backend)
        self.scope.__enter__()
        self.pairs: list[Pair] = []

    def teardown(self) -> None:
        self.scope.__exit__(None, None, None)

    def add(self, values: np.ndarray, x: ua.Array) -> None:
        self.pairs.append((values, x))
        del self.pairs[:-LIVE]

    def one(self, number: int) -> Pair:
        return self.pairs[number % len(self.pairs)]

    def both(self, numpys: Callable[[], Any], ours: Callable[[], Any]) -> None:
        """Run one step on both sides, which both write or both refuse."""
        expected, actual = outcome(numpys), outcome(ours)
        assert (expected is None) == (actual is None), f"NumPy: {expected}, unifyarr: {actual}"

    numbers = st.integers(0, LIVE - 1)
    scalars = st.sampled_from([0, 1, -3, 2.5, True, 1 + 2j])

    @initialize(shape=st.sampled_from(SHAPES), dtype=st.sampled_from(DTYPES))
    def start(self, shape: tuple[int, ...], dtype: str) -> None:
        self.make(shape, dtype, False)

    @rule(shape=st.sampled_from(SHAPES), dtype=st.sampled_from(DTYPES), on_variable=st.booleans())
    def make(self, shape: tuple[int, ...], dtype: str, on_variable: bool) -> None:
        values = (np.arange(np.prod(shape)).reshape(shape) % 5 - 1).astype(dtype)
        if dtype == "complex64":
            values = values + 1j * values[::-1]
        values = values.astype(dtype)
        x = ua.asarray(variable(self.backend, values)) if on_variable else ua.asarray(values, copy=True)
        self.add(values, x)

    @rule(number=numbers, name=st.sampled_from(list(VIEWS)))
    def look(self, number: int, name: str) -> None:
        values, x = self.one(number)
        if values.ndim == 0 or values.ndim > 4 or values.size == 0:
            return
        view = VIEWS[name](values)
        # Where NumPy copies, layout decides, in which engines may differ.
        if np.shares_memory(view, values):
            self.add(view, VIEWS[name](x))

    @rule(number=numbers)
    def copy(self, number: int) -> None:
        values, x = self.one(number)
        self.add(values.copy(), x.copy())

    @rule(number=numbers)
    def drop(self, number: int) -> None:
        if len(self.pairs) > 1:
            del self.pairs[number % len(self.pairs)]

    @rule(into=numbers, of=numbers, name=st.sampled_from(list(OPERATORS)))
    def operate(self, into: int, of: int, name: str) -> None:
        (values, x), (value, y) = self.one(into), self.one(of)
        # As the design says: as if the inputs had been copied first.
        self.both(lambda: OPERATORS[name](values, value.copy()), lambda: OPERATORS[name](x, y))

    @rule(into=numbers, scalar=scalars, name=st.sampled_from(list(OPERATORS)))
    def operate_with_a_scalar(self, into: int, scalar: Any, name: str) -> None:
        values, x = self.one(into)
        self.both(lambda: OPERATORS[name](values, scalar), lambda: OPERATORS[name](x, scalar))

    @rule(into=numbers, factor=st.sampled_from([-1, 2, 0.5, 0]))
    def scale(self, into: int, factor: Any) -> None:
        values, x = self.one(into)
        self.both(lambda: operator.imul(values, factor), lambda: operator.imul(x, factor))

    @rule(into=numbers, first=numbers, second=numbers, name=st.sampled_from(UFUNCS))
    def compute_into_out(self, into: int, first: int, second: int, name: str) -> None:
        (values, x), (one, x1), (other, x2) = self.one(into), self.one(first), self.one(second)
        if one.dtype.kind == "c" and name in ("maximum", "minimum", "less"):
            return
        if other.dtype.kind == "c" and name in ("maximum", "minimum", "less"):
            return
        function = getattr(np, name)

        def numpys() -> None:
            # Unlike NumPy's, our out has the very shape of the result.
            if np.broadcast_shapes(one.shape, other.shape) != values.shape:
                raise ValueError
            function(one, other, out=values)

        self.both(numpys, lambda: getattr(ua, name)(x1, x2, out=x))

    @rule(into=numbers, of=numbers, axis=st.sampled_from([0, -1]))
    def sum_into_out(self, into: int, of: int, axis: int) -> None:
        (values, x), (value, y) = self.one(into), self.one(of)
        if not value.ndim:
            return
        total = np.sum(value, axis=axis)

        def numpys() -> None:
            if total.shape != values.shape:
                raise ValueError
            np.copyto(values, total, casting="same_kind")

        self.both(numpys, lambda: ua.sum(y, axis=axis, out=x))

    def store(self, into: int, key: Any, ours_key: Any, value: Any, y: Any) -> None:
        values, x = self.one(into)

        def numpys() -> None:
            # NumPy's own assignment casts anything; ours as NumPy's in-place operators.
            if not _casts(value, values.dtype):
                raise TypeError
            values[key] = np.array(value)

        self.both(numpys, lambda: x.__setitem__(ours_key, y))

    @rule(into=numbers, of=numbers, key=st.sampled_from([np.s_[...], np.s_[0], np.s_[::-1], np.s_[..., 1:], 7]))
    def assign(self, into: int, of: int, key: Any) -> None:
        value, y = self.one(of)
        self.store(into, key, key, value, y)

    @rule(into=numbers, scalar=scalars, key=st.sampled_from([np.s_[...], np.s_[-1], np.s_[..., ::2], np.s_[0, 0], 7]))
    def assign_a_scalar(self, into: int, scalar: Any, key: Any) -> None:
        self.store(into, key, key, scalar, scalar)

    @rule(into=numbers, scalar=scalars, bound=st.integers(-1, 3))
    def assign_by_mask(self, into: int, scalar: Any, bound: int) -> None:
        values, x = self.one(into)
        if values.ndim and values.dtype.kind != "c":
            self.store(into, values > bound, x > bound, scalar, scalar)

    @rule(into=numbers, of=numbers, indices=st.lists(st.integers(-2, 1), min_size=2, max_size=2))
    def assign_by_integers(self, into: int, of: int, indices: list[int]) -> None:
        value, y = self.one(of)
        self.store(into, np.array(indices), ua.asarray(indices), value, y)

    @rule(into=numbers, of=numbers, form=st.sampled_from(["update", "increment", "decrement"]))
    def update_in_place(self, into: int, of: int, form: str) -> None:
        (values, x), (value, y) = self.one(into), self.one(of)
        given = value.copy()

        def numpys() -> None:
            if form == "update":
                np.copyto(values, given, casting="same_kind")
            else:
                (operator.iadd if form == "increment" else operator.isub)(values, given)

        self.both(numpys, lambda: getattr(ua, f"inplace_{form}")(x, y))

    @rule(into=numbers)
    def fail(self, into: int) -> None:
        _, x = self.one(into)
        for wrong in (lambda: x.__setitem__(..., np.zeros((5, 7))), lambda: ua.add(x, np.zeros((5, 7)), out=x)):
            assert outcome(wrong) is not None

    @invariant()
    def every_array_equals_its_twin(self) -> None:
        for values, x in self.pairs:
            assert x.dtype == values.dtype
            np.testing.assert_array_equal(as_numpy(x), values)


def _casts(value: Any, dtype: np.dtype[Any]) -> bool:
    if isinstance(value, np.ndarray):
        return np.can_cast(value.dtype, dtype, "same_kind")
    # A Python number has a kind, but no width.
    return "bifc".index(np.asarray(value).dtype.kind) <= "bifc".index(dtype.kind)


def run(backend: str, examples: int, steps: int) -> None:
    machine = type("Programs", (Programs,), {"backend": backend})
    # As many as the profile in force tries, if that is more.
    examples = max(examples, settings.default.max_examples if settings.default else 0)
    with np.errstate(all="ignore"):
        run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=steps))


def test_programs_run_as_on_numpy(backend: str) -> None:
    run(backend, 25, 25)


def test_long_programs_run_as_on_numpy(backend: str) -> None:
    run(backend, 5, 100)
