"""The machine that makes programs: arrays, views and natives of ours, each with a twin of NumPy's."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import unifyarr as ua
from unifyarr._core.arrays.array import wrap
from unifyarr._core.arrays.ownership import read
from unifyarr._core.arrays.recipes import is_recipe
from unifyarr._core.engines.natives import backend_of_native

from .catalogue import (
    ADVANCED,
    BASIC,
    COMPUTED,
    COPIES,
    DTYPES,
    FACTORS,
    MAX_RANK,
    MAX_SIZE,
    OPERATORS,
    RESHAPES,
    SCALARS,
    SELVES,
    SHAPES,
    UFUNCS,
    VIEWS,
    Function,
)

# How many arrays and natives live at a time.
LIVE, KEPT = 8, 6
ERRORS = (TypeError, ValueError, IndexError, RuntimeError, OverflowError, BufferError)


class Pair(NamedTuple):
    """An array of NumPy's and its twin of ours."""

    values: np.ndarray
    x: ua.Array
    # Whether the owner's elements lie in C order on both sides, so that both reshape without a copy or neither does.
    ordered: bool
    # Whether it's read-only by its kind, as a broadcast array is, which NumPy lets be written after ``setflags`` alone.
    by_kind: bool = False


@dataclass
class Taken:
    """A native that somebody took out of an array, and what it has to be: one of those, on both sides of a write."""

    native: Any
    twins: list[np.ndarray]
    # Whether the twin is the array's own, which sees what is written to the native.
    alias: bool


def outcome(function: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """Return what a function returns and what it raises."""
    try:
        return function(), None
    except ERRORS as error:
        return None, error


def peek(x: ua.Array) -> np.ndarray:
    """Return an array's values without a trace: a NumPy view of its native would keep JAX from writing in place."""
    backend = x._backend
    return np.array(backend.to_numpy(backend.copy(read(x))))


def equal(values: np.ndarray, expected: np.ndarray) -> bool:
    """Return whether two arrays have the same dtype, shape and elements, NaN equal to itself."""
    if values.dtype != expected.dtype or values.shape != expected.shape:
        return False
    return values.tobytes() == expected.tobytes() or np.array_equal(
        values, expected, equal_nan=expected.dtype.kind in "fc"
    )


def casts(value: Any, dtype: np.dtype[Any]) -> bool:
    """Return whether a value may be written to an array of that dtype."""
    if isinstance(value, np.ndarray):
        return np.can_cast(value.dtype, dtype, "same_kind")
    # A Python number has a kind, but no width.
    return "biufc".index(np.asarray(value).dtype.kind) <= "biufc".index(dtype.kind.replace("u", "i"))


def is_defined(value: Any, dtype: np.dtype[Any]) -> bool:
    """Return whether an array's cast has a value that all engines agree on: an integer has no place for infinity."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc" or dtype.kind not in "iu":
        return True
    limits = np.iinfo(dtype)
    real = value.real
    return bool(np.all(np.isfinite(value)) and np.all((real > limits.min - 1) & (real < limits.max)))


def broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Return whether an array of a shape can be written to one of another."""
    joint, _ = outcome(lambda: np.broadcast_shapes(shape, to))
    return bool(joint == to)


def fitted(key: tuple[Any, ...], ndim: int) -> tuple[Any, ...]:
    """Return a basic key without the items for which an array has no axes, and with one ellipsis at most."""
    items: list[Any] = []
    for item in key:
        if item is None or (item is Ellipsis and Ellipsis not in items):
            items.append(item)
        elif item is not Ellipsis and ndim > 0:
            items.append(item)
            ndim -= 1
    return tuple(items)


def selected(values: np.ndarray, key: Any) -> tuple[int, ...] | None:
    """Return the shape of what a key selects, ``None`` if it doesn't fit."""
    found, _ = outcome(lambda: values[key].shape)
    return found  # type: ignore[no-any-return]


class ArrayMachine(RuleBasedStateMachine):
    """A program over pairs of an array of NumPy's and its twin of ours."""

    backend: str
    # Where new arrays are, the default device if it's ``None``.
    device: Any = None

    def __init__(self) -> None:
        super().__init__()
        self.scope = ua.use_backend(self.backend)
        self.scope.__enter__()
        self.patches: list[Any] = []
        self.pairs: list[Pair] = []
        self.taken: list[Taken] = []
        self.watchful = True

    def teardown(self) -> None:
        try:
            self.compare()
        finally:
            for patch in self.patches:
                patch.stop()
            self.scope.__exit__(None, None, None)

    # -- what there is ----------------------------------------------------------------------------------------------

    def add(self, values: np.ndarray, x: ua.Array, ordered: bool, by_kind: bool = False) -> None:
        self.pairs.append(Pair(values, x, ordered, by_kind))
        del self.pairs[:-LIVE]

    def one(self, number: int) -> Pair:
        return self.pairs[number % len(self.pairs)]

    def target(self, number: int) -> Pair:
        """Return an array to write to; what is read-only is for ``fail``."""
        targets = [pair for pair in self.pairs if pair.values.flags.writeable] or self.pairs
        return targets[number % len(targets)]

    def value(self, number: int, shape: tuple[int, ...] | None, dtype: np.dtype[Any]) -> Pair:
        """Return an array that can be written to a target of that shape and dtype, any if there is none."""
        values = [
            pair
            for pair in self.pairs
            if shape is not None and broadcasts(pair.values.shape, shape) and casts(pair.values, dtype)
        ] or self.pairs
        return values[number % len(values)]

    def out(self, number: int, result: Callable[[], Any], beside: Sequence[Pair] = ()) -> Pair:
        """Return an array that can take a result, and overlaps none of some others, any if there is none."""
        computed, _ = outcome(lambda: np.asarray(result()))
        outs = [
            pair
            for pair in self.pairs
            if computed is not None
            and pair.values.shape == computed.shape
            and pair.values.flags.writeable
            and casts(computed, pair.values.dtype)
            and not any(np.shares_memory(pair.values, other.values) for other in beside)
        ] or self.pairs
        return outs[number % len(outs)]

    def both(self, numpys: Callable[[], Any], ours: Callable[[], Any]) -> tuple[Any, Any]:
        """Run one step on both sides, which both succeed or both refuse; return their results, ``None`` of errors."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            (expected, error), (actual, our_error) = outcome(numpys), outcome(ours)
        if (error is None) != (our_error is None):
            raise AssertionError(f"NumPy: {error!r}, unifyarr: {our_error!r}") from our_error
        return expected, actual

    def write(self, into: Pair, result: Callable[[], Any], ours: Callable[[], Any]) -> None:
        """Write a result of exactly the target's shape on both sides, as if its inputs had been copied first."""

        def numpys() -> None:
            computed = np.array(result())
            if computed.shape != into.values.shape:
                raise ValueError
            np.copyto(into.values, computed, casting="same_kind")

        self.both(numpys, ours)

    def store(self, into: Pair, key: Any, our_key: Any, value: Any, y: Any) -> None:
        """Write to what a key selects: any cast will do."""
        given = value.copy() if isinstance(value, np.ndarray) else value
        if not is_defined(given, into.values.dtype):
            return
        # Where a mask alone selects, NumPy refuses values of several axes, which it takes where the mask's indices do.
        whole = isinstance(key, np.ndarray) and key.dtype == bool and key.shape == into.values.shape and key.ndim
        where = np.nonzero(key) if whole and np.ndim(given) > 1 else key
        arrays = [each for each in (key if isinstance(key, tuple) else (key,)) if isinstance(each, (np.ndarray, list))]
        if arrays and np.ndim(given) > 1 and not np.size(given):
            # NumPy takes an empty value of any shape where nothing is selected.
            return

        def put(values: np.ndarray) -> None:
            if np.ndim(given) and isinstance(values[key], np.generic):
                # An element takes a 0-d value only; an element of bool would take the truth of others.
                raise ValueError
            values[where] = given

        def numpys() -> None:
            put(into.values)

        late = isinstance(our_key, ua.Array) and (not our_key._backend.has_values or our_key._backend.hides_lengths)
        if late and outcome(lambda: put(into.values.copy()))[1] is not None:
            # An engine that computes values later, and a compiled function, may refuse them later.
            return
        self.both(numpys, lambda: into.x.__setitem__(our_key, y))

    def compare(self) -> None:
        """Check every array, and every native that was taken, against its twin."""
        for number, (values, x, *_) in enumerate(self.pairs):
            found = peek(x)
            assert equal(found, values), f"array {number}: {found!r}, NumPy has {values!r}"
            assert x.flags.writeable == values.flags.writeable, f"array {number}: NumPy has {values.flags.writeable}"
        for number, taken in enumerate(self.taken):
            found = taken.native if isinstance(taken.native, np.ndarray) else peek(lifted(taken.native))
            assert any(equal(found, twin) for twin in taken.twins), f"native {number}: {found!r}, not {taken.twins!r}"

    # -- the rules' draws -------------------------------------------------------------------------------------------

    numbers = st.integers(0, LIVE - 1)
    scalars = st.sampled_from(SCALARS)
    basic = st.lists(st.sampled_from(BASIC), min_size=1, max_size=3).map(tuple)
    advanced = st.sampled_from(ADVANCED)
    # Lengths of chunks, where the engine has any.
    chunks = st.sampled_from([2, 1, 3, -1])

    @initialize(shape=st.sampled_from(SHAPES), dtype=st.sampled_from(DTYPES), watchful=st.booleans(), run=st.booleans())
    def start(self, shape: tuple[int, ...], dtype: str, watchful: bool, run: bool) -> None:
        """Make the first array.

        A watchful program looks at everything after each step. Others leave runs of writes without a read between,
        which may go on in memory that nothing else refers to.
        """
        self.watchful = watchful
        self.has_variables = ua.inplace_variables_supported(self.backend)
        if self.backend == "tensorflow" and run:
            # Runs pay for long arrays only; here they begin with any.
            self.patches.append(mock.patch("unifyarr.backends.tensorflow._PAYS", 1))
            self.patches[-1].start()
        self.make(shape, dtype, False, 2)

    @rule(shape=st.sampled_from(SHAPES), dtype=st.sampled_from(DTYPES), in_variable=st.booleans(), chunks=chunks)
    def make(self, shape: tuple[int, ...], dtype: str, in_variable: bool, chunks: int) -> None:
        numbers = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 5 - 1
        values = np.asarray(numbers + 1j * numbers[..., ::-1] if dtype == "complex64" and shape else numbers)
        values = values.astype(dtype)
        in_variable = in_variable and self.has_variables
        with ua.using_chunks(chunks):
            if in_variable:
                x = ua.variable(values, device=self.device)
            else:
                x = ua.asarray(values, copy=True, device=self.device)
        self.add(values, x, True)

    @rule(number=numbers)
    def drop(self, number: int) -> None:
        if len(self.pairs) > 1:
            del self.pairs[number % len(self.pairs)]

    @rule()
    def look(self) -> None:
        self.compare()

    # -- views and copies -------------------------------------------------------------------------------------------

    def view(self, of: Pair, function: Function) -> None:
        expected, error = outcome(lambda: function(np, of.values))
        if error is None and (expected.ndim > MAX_RANK or expected.size > MAX_SIZE):
            return
        _, x = self.both(lambda: function(np, of.values), lambda: function(ua, of.x))
        if x is None:
            return
        assert x.shape == expected.shape
        # NumPy returns the array itself where there is nothing to squeeze.
        expected = expected.view() if expected is of.values else expected
        # A 0-size array shares no memory, but it's a view all the same.
        if np.may_share_memory(expected, of.values) or expected.base is not None:
            self.add(expected, x, of.ordered, of.by_kind or (of.values.flags.writeable > expected.flags.writeable))
        else:
            self.add(np.array(expected), x, False)

    @rule(number=numbers, name=st.sampled_from(list(VIEWS)))
    def view_by_function(self, number: int, name: str) -> None:
        of = self.one(number)
        if "imag" in name and of.values.dtype.kind != "c":
            # NumPy's zeros are read-only, ours a new array.
            return
        self.view(of, VIEWS[name])

    @rule(number=numbers, key=basic)
    def view_by_key(self, number: int, key: Any) -> None:
        of = self.one(number)
        key = fitted(key, of.values.ndim)
        self.view(of, lambda xp, x: x[key])

    @rule(number=numbers, name=st.sampled_from(list(RESHAPES)))
    def view_by_reshape(self, number: int, name: str) -> None:
        of = self.one(number)
        if of.ordered:
            self.view(of, RESHAPES[name])

    @rule(number=numbers, name=st.sampled_from(list(SELVES)))
    def the_array_itself(self, number: int, name: str) -> None:
        _, x, *_ = self.one(number)
        assert SELVES[name](x) is x

    @rule(number=numbers, name=st.sampled_from(list(COPIES)))
    def copy(self, number: int, name: str) -> None:
        of = self.one(number)
        expected, x = self.both(lambda: COPIES[name](np, of.values), lambda: COPIES[name](ua, of.x))
        if x is not None:
            self.add(np.array(expected), x, of.values.flags.c_contiguous)

    @rule(number=numbers, key=advanced)
    def select(self, number: int, key: Any) -> None:
        of = self.one(number)
        expected, x = self.both(lambda: of.values[key], lambda: of.x[key])
        if x is not None and expected.ndim <= MAX_RANK and expected.size <= MAX_SIZE:
            self.add(np.array(expected), x, False)

    # -- writes -----------------------------------------------------------------------------------------------------

    @rule(into=numbers, of=numbers, name=st.sampled_from(list(OPERATORS)))
    def operate(self, into: int, of: int, name: str) -> None:
        values, x, *_ = self.target(into)
        value, y, *_ = self.value(of, values.shape, values.dtype)
        given = value.copy()
        self.both(lambda: OPERATORS[name](values, given), lambda: OPERATORS[name](x, y))

    @rule(into=numbers, scalar=scalars, name=st.sampled_from(list(OPERATORS)))
    def operate_with_a_scalar(self, into: int, scalar: Any, name: str) -> None:
        values, x, *_ = self.target(into)
        self.both(lambda: OPERATORS[name](values, scalar), lambda: OPERATORS[name](x, scalar))

    @rule(into=numbers, name=st.sampled_from(list(FACTORS)))
    def scale(self, into: int, name: str) -> None:
        values, x, *_ = self.target(into)
        if name in ("/= 2", "**= 1") and values.dtype.kind == "c":
            # Complex quotients and powers are rounded as each engine does it.
            return
        function, factor = FACTORS[name]
        self.both(lambda: function(values, factor), lambda: function(x, factor))

    @rule(into=numbers, of=numbers, form=st.sampled_from(["update", "increment", "decrement"]), insist=st.booleans())
    def update_in_place(self, into: int, of: int, form: str, insist: bool) -> None:
        values, x, *_ = self.target(into)
        value, y, *_ = self.value(of, values.shape, values.dtype)
        root = getattr(x, "_root", x)
        given = value.copy()

        def numpys() -> None:
            if insist and not x._backend.can_write(root._native):
                raise RuntimeError
            if form == "update":
                np.copyto(values, given, casting="same_kind")
            else:
                OPERATORS["+=" if form == "increment" else "-="](values, given)

        self.both(numpys, lambda: getattr(ua, f"inplace_{form}")(x, y, ensure_in_backend=insist))

    @rule(into=numbers, scalar=scalars)
    def fill(self, into: int, scalar: Any) -> None:
        values, x, *_ = self.target(into)

        def numpys() -> None:
            values[...] = scalar

        self.both(numpys, lambda: x.fill(scalar))

    @rule(into=numbers, of=numbers, part=st.sampled_from(["real", "imag"]))
    def set_a_part(self, into: int, of: int, part: str) -> None:
        values, x, *_ = self.target(into)
        value, y, *_ = self.value(of, values.shape, values.real.dtype)
        given = value.copy()

        def numpys() -> None:
            if part == "imag" and values.dtype.kind != "c":
                raise TypeError
            getattr(values, part)[...] = given

        if is_defined(given, values.real.dtype):
            self.both(numpys, lambda: setattr(x, part, y))

    @rule(into=numbers, first=numbers, second=numbers, name=st.sampled_from(UFUNCS))
    def compute_by_ufunc(self, into: int, first: int, second: int, name: str) -> None:
        one = self.one(first)
        other = self.value(second, one.values.shape, np.dtype("complex128"))
        if name in ("maximum", "minimum", "less") and "c" in (one.values.dtype.kind, other.values.dtype.kind):
            return
        self.compute(
            into,
            lambda: getattr(np, name)(one.values, other.values),
            lambda out: getattr(ua, name)(one.x, other.x, out=out),
        )

    @rule(into=numbers, first=numbers, second=numbers, name=st.sampled_from(list(COMPUTED)))
    def compute_by_function(self, into: int, first: int, second: int, name: str) -> None:
        one = self.one(first)
        other = self.value(second, one.values.shape, np.dtype("complex128"))
        function = COMPUTED[name]
        self.compute(
            into,
            lambda: function(np, one.values, other.values),
            lambda out: function(ua, one.x, other.x, out=out),
        )

    @rule(into=numbers, of=numbers, axis=st.sampled_from([0, -1]))
    def compute_a_sum(self, into: int, of: int, axis: int) -> None:
        one = self.one(of)
        if one.values.ndim and one.values.dtype.kind in "iub":
            # Sums of floats are rounded as their order has it; NumPy takes axis 0 of a 0-d array for none.
            self.compute(into, lambda: np.sum(one.values, axis=axis), lambda out: ua.sum(one.x, axis=axis, out=out))

    def compute(self, into: int, numpys: Callable[[], Any], ours: Callable[[ua.Array], Any]) -> None:
        out = self.out(into, numpys)
        self.write(out, numpys, lambda: ours(out.x))

    @rule(into=numbers, of=numbers, key=basic)
    def assign(self, into: int, of: int, key: Any) -> None:
        out = self.target(into)
        key = fitted(key, out.values.ndim)
        value = self.value(of, selected(out.values, key), out.values.dtype)
        self.store(out, key, key, value.values, value.x)

    @rule(into=numbers, scalar=scalars, key=basic)
    def assign_a_scalar(self, into: int, scalar: Any, key: Any) -> None:
        out = self.target(into)
        key = fitted(key, out.values.ndim)
        self.store(out, key, key, scalar, scalar)

    @rule(into=numbers, of=numbers, key=advanced)
    def assign_to_selected(self, into: int, of: int, key: Any) -> None:
        out = self.target(into)
        value = self.value(of, selected(out.values, key), out.values.dtype)
        self.store(out, key, key, value.values, value.x)

    @rule(into=numbers, scalar=scalars, key=advanced)
    def assign_a_scalar_to_selected(self, into: int, scalar: Any, key: Any) -> None:
        self.store(self.target(into), key, key, scalar, scalar)

    @rule(into=numbers, by=numbers, of=numbers)
    def assign_by_an_array(self, into: int, by: int, of: int) -> None:
        """Write where an array says, be it of integers, a mask, or neither; it may share memory with the target."""
        out, key = self.target(into), self.one(by)
        value = self.value(of, selected(out.values, key.values), out.values.dtype)
        self.store(out, key.values.copy(), key.x, value.values, value.x)

    @rule(into=numbers, bound=st.integers(-1, 3), of=st.one_of(numbers, st.none()), scalar=scalars)
    def assign_by_a_mask(self, into: int, bound: int, of: int | None, scalar: Any) -> None:
        """Write a scalar, or as many values as the mask selects, where an array's own elements are large."""
        out = self.target(into)
        if out.values.dtype.kind == "c":
            return
        mask = out.values > bound
        value, y = (scalar, scalar) if of is None else self.one(of)[:2]
        if of is not None:
            value, y = value.reshape(-1)[: mask.sum()], y.reshape(-1)[: int(mask.sum())]
        self.store(out, mask, out.x > bound, value, y)

    @rule(into=numbers, shape=st.sampled_from([(5, 7), (1, 5)]))
    def fail(self, into: int, shape: tuple[int, ...]) -> None:
        values, x, *_ = self.one(into)
        wrong = np.zeros(shape, "bool")
        if outcome(lambda: values.copy().__setitem__(..., wrong))[1] is None:
            # Axes of length one go where there's none.
            return
        for write in (
            lambda: x.__setitem__(..., wrong),
            lambda: x.__setitem__((0, 0, 0, 0, 0), 0),
            lambda: x.__setitem__((..., ...), 0),
            lambda: x.__setitem__(..., np.array("text")),
            lambda: ua.add(x, wrong, out=x),
            lambda: ua.take(x, ua.asarray([9]), axis=0, out=x),
            lambda: ua.flip(x, axis=5, out=x),
        ):
            assert outcome(write)[1] is not None
        if not values.flags.writeable:
            for write in (
                lambda: x.__setitem__(..., 0),
                lambda: x.__setitem__(np.ones(values.shape, "bool"), 0),
                lambda: OPERATORS["|="](x, False),
                lambda: ua.logical_or(x, x, out=x),
                lambda: ua.roll(x, 1, out=x),
                lambda: ua.inplace_update(x, x),
                lambda: x.fill(0),
            ):
                assert isinstance(outcome(write)[1], ua.errors.ReadOnlyError)

    @rule(number=numbers, writeable=st.booleans())
    def set_flags(self, number: int, writeable: bool) -> None:
        """Protect an array from writes, or allow them: views that exist keep their own flags, on both sides."""
        values, x, _, by_kind = self.one(number)
        # An array of another one's native owns its memory, and its twin is a view.
        if not by_kind and (values.base is None) == (x.base is None):
            self.both(lambda: values.setflags(write=writeable), lambda: x.setflags(write=writeable))

    # -- natives ----------------------------------------------------------------------------------------------------

    def keep(self, native: Any, twins: list[np.ndarray], alias: bool) -> None:
        self.taken.append(Taken(native, twins, alias))
        del self.taken[:-KEPT]

    @rule(number=numbers)
    def take_the_native(self, number: int) -> None:
        values, x, *_ = self.one(number)
        native = x.native
        if not is_recipe(x) and x._backend.can_write(native):
            # The native has no flag of ours, and its twin one of its own.
            self.keep(native, [values.view()], values.flags.writeable)
        elif x._backend.mutable:
            # The native of a recipe shares memory or doesn't.
            self.keep(native, [values, values.copy()], False)
        else:
            self.keep(native, [values.copy()], False)

    @rule(number=numbers, how=st.sampled_from([np.asarray, np.from_dlpack]))
    def take_as_numpy(self, number: int, how: Callable[[Any], np.ndarray]) -> None:
        values, x, *_ = self.one(number)
        if not str(x.device).startswith("cpu"):
            # NumPy reads no other memory: it gets the values.
            self.keep(np.asarray(x), [values.copy()], False)
            return
        try:
            taken = how(x)
        except BufferError:
            assert how is np.from_dlpack
            return
        if not x._backend.mutable:
            self.keep(taken, [values.copy()], False)
        elif not values.flags.writeable or (how is np.from_dlpack and any(step < 0 for step in values.strides)):
            # The memory, read-only, or a copy. An engine may turn no axis of length one.
            self.keep(taken, [values.view(), values.copy()], False)
        elif not is_recipe(x):
            self.keep(taken, [values.view()], True)
        elif how is np.asarray:
            self.keep(taken, [values.copy()], False)
        else:
            self.keep(taken, [values, values.copy()], False)

    @rule(number=numbers)
    def take_to_numpys_backend(self, number: int) -> None:
        values, x, *_ = self.one(number)
        if self.backend != "numpy":
            self.keep(x.to_backend("numpy").native, [values.copy()], False)

    @rule(number=numbers)
    def wrap_the_native(self, number: int) -> None:
        """Make an array of another array's native: over the same memory where it can be written."""
        values, x, ordered, _ = self.one(number)
        y = ua.asarray(x.native)
        if not is_recipe(x) and x._backend.can_write(x.native):
            if values.flags.writeable:
                self.add(values.view(), y, ordered)
        elif not x._backend.mutable:
            self.add(values.copy(), y, values.flags.c_contiguous)

    @rule(number=numbers, scalar=scalars)
    def write_to_a_taken(self, number: int, scalar: Any) -> None:
        """Write to a native: the array sees it where they share memory, and no other array does."""
        if not self.taken:
            return
        taken = self.taken[number % len(self.taken)]
        twin = taken.twins[0]
        if len(taken.twins) > 1 or not casts(scalar, twin.dtype) or (scalar == -3 and twin.dtype == "uint8"):
            return
        if not twin.flags.writeable:
            return
        if isinstance(taken.native, np.ndarray):
            if taken.native.flags.writeable:
                taken.native[...] = scalar
                twin[...] = scalar
        elif taken.alias:
            ua.inplace_update(taken.native, scalar, ensure_in_backend=True)
            twin[...] = scalar

    @rule(number=numbers, first=numbers, second=numbers)
    def compute_into_a_taken(self, number: int, first: int, second: int) -> None:
        one, other = self.one(first), self.one(second)
        aliases = [taken for taken in self.taken if taken.alias]
        if aliases:
            taken = aliases[number % len(aliases)]
            twin = Pair(taken.twins[0], one.x, False)
            native = taken.native
            if self.backend == "numpy" or not isinstance(native, np.ndarray):
                self.write(
                    twin,
                    lambda: np.logical_or(one.values, other.values),
                    lambda: ua.logical_or(one.x, other.x, out=native),
                )

    @rule(number=numbers)
    def drop_a_taken(self, number: int) -> None:
        if self.taken:
            del self.taken[number % len(self.taken)]

    @invariant()
    def every_array_equals_its_twin(self) -> None:
        if self.watchful:
            self.compare()


def lifted(native: Any) -> ua.Array:
    """Return an array over a native, on the native's own backend."""
    backend = backend_of_native(native)
    assert backend is not None
    return wrap(native, backend)
