"""Memory shared between the results and the inputs of every function: exactly what its declaration says.

Told by writing: into an input, and whether a result changes; into a result, and whether an input changes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.declaring.declare import DECLARATIONS, Declaration
from unifyarr.testing.cases import CASES, Case, has_loop
from unifyarr.testing.cases import case as case_of
from unifyarr.testing.cases.table import TRUTH, A, J, Z

from ..functions.calls import PUBLIC, find
from ..natives import skip_unless
from ..oracle import LENGTH, as_numpy

# Operands of an elementwise function, one of each kind, and the scalars that change nothing. JAX compiles each function
# for their shape anyway.
_OPERANDS = [np.resize(each, LENGTH) for each in (TRUTH, J, J.astype("uint8"), A, Z)]
_NEUTRAL = (0, 1, 0.0, 1.0, True, False)


def elementwise_cases(ufunc: np.ufunc) -> Iterator[Case]:
    for operand in _OPERANDS:
        if not has_loop(ufunc, *[operand] * ufunc.nin):
            continue
        yield case_of(*[operand] * ufunc.nin)
        if ufunc.nin == 1:
            continue
        for scalar in _NEUTRAL:
            if has_loop(ufunc, operand, scalar):
                yield case_of(operand, scalar)


def cases_of(declaration: Declaration) -> Iterator[Bound]:
    """Return the cases of a function in which it takes arrays."""
    cases = CASES[declaration.qualified_name]
    if declaration.ufunc is not None and len(cases) == 1:
        cases = [*cases, *elementwise_cases(declaration.ufunc)]
    return (Bound(find(declaration.qualified_name), each) for each in cases if each.arrays)


class Bound(NamedTuple):
    """A case of a function."""

    function: Callable[..., Any]
    case: Case

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.case.arrays

    @property
    def copies(self) -> bool:
        return self.case.copies

    def call(self, *arrays: Any, **more: Any) -> Any:
        return self.case.call(self.function, arrays, **more)


def may_share(declaration: Declaration, output: int, number: int) -> bool:
    """Say whether a declaration lets an output share memory with an input."""
    return number in declaration.viewed_by(output)


def write_something_else(x: ua.Array) -> None:
    # NumPy's data: code that an engine compiles for the shape isn't tested here.
    values = as_numpy(x)
    # Both parts, where there are two.
    x[...] = ~values if x.dtype == "bool" else values + (1 + 1j if x.dtype.kind == "c" else 1)


def seen_from(written: ua.Array, other: ua.Array) -> bool:
    """Write to an array and say whether another one changes."""
    # ``empty`` is uninitialized, and on a lazy engine differs each time it's computed.
    before = as_numpy(ua.compute(other))
    write_something_else(written)
    return not np.array_equal(as_numpy(other), before, equal_nan=before.dtype.kind in "fc")


def is_read_only(x: ua.Array) -> bool:
    try:
        x[...] = x
    except ua.errors.ReadOnlyError:
        return True
    return False


def outputs_of(result: Any) -> tuple[ua.Array, ...]:
    return tuple(result) if isinstance(result, tuple) else (result,)


TESTED = [name for name in DECLARATIONS if any(case.arrays for case in CASES.get(name, ()))]


def test_every_function_has_a_line_of_cases() -> None:
    taking = {name for name in PUBLIC if "out" in inspect.signature(find(name)).parameters}
    missing = {*taking, *DECLARATIONS} - {*CASES}
    assert not missing, f"write a line of cases for {', '.join(sorted(missing))} in a file of unifyarr/testing/cases"
    assert not CASES.keys() - taking, "a line of unifyarr/testing/cases is about no function"


@pytest.mark.parametrize("name", [name for name, each in DECLARATIONS.items() if each.view_map])
def test_a_declared_view_is_one_in_some_case(name: str) -> None:
    assert not all(case.copies for case in cases_of(DECLARATIONS[name]))


@pytest.mark.parametrize("name", TESTED)
def test_results_share_exactly_the_memory_that_is_declared(backend: str, name: str) -> None:
    declaration = DECLARATIONS[name]
    for case in cases_of(declaration):
        given = ", ".join(f"{each.dtype}{each.shape}" for each in case.arrays)
        for number in range(len(case.arrays)):
            arrays = [ua.asarray(each, copy=True) for each in case.arrays]
            try:
                count = len(outputs_of(case.call(*arrays)))
            except ua.errors.BackendFeatureError:
                # A gap, which the completeness test counts.
                return
            for output in range(count):
                expected = may_share(declaration, output, number) and not case.copies
                what = f"output {output} and input {number} of {name}({given})"
                arrays = [ua.asarray(each, copy=True) for each in case.arrays]
                result = outputs_of(case.call(*arrays))[output]
                assert result.size, f"{what}: a result without elements tells nothing"
                assert seen_from(arrays[number], result) is expected, f"{what}, by writing to the input"
                if not is_read_only(result):
                    arrays = [ua.asarray(each, copy=True) for each in case.arrays]
                    result = outputs_of(case.call(*arrays))[output]
                    assert seen_from(result, arrays[number]) is expected, f"{what}, by writing to the result"
                if expected and result is not arrays[number]:
                    assert result.base is not None, f"{what}: a view without a base"


@pytest.mark.parametrize("name", TESTED)
def test_functions_dont_change_their_inputs(backend: str, name: str) -> None:
    for case in cases_of(DECLARATIONS[name]):
        arrays = [ua.asarray(each, copy=True) for each in case.arrays]
        try:
            case.call(*arrays)
        except ua.errors.BackendFeatureError:
            return
        for array, before in zip(arrays, case.arrays, strict=True):
            np.testing.assert_array_equal(as_numpy(array), before, err_msg=name)


@pytest.mark.parametrize("name", ["unique_all", "unique_counts", "unique_inverse", "nonzero", "meshgrid"])
def test_several_results_are_independent_of_each_other(backend: str, name: str) -> None:
    declaration = DECLARATIONS[name]
    for case in cases_of(declaration):
        count = len(outputs_of(case.call(*[ua.asarray(each, copy=True) for each in case.arrays])))
        for first in range(count):
            for second in range(count):
                if first != second:
                    results = outputs_of(case.call(*[ua.asarray(each, copy=True) for each in case.arrays]))
                    assert not seen_from(results[first], results[second]), f"{name}: {first} and {second}"


@pytest.mark.parametrize("name", TESTED)
def test_out_never_shares_memory_with_an_input(backend: str, name: str) -> None:
    declaration = DECLARATIONS[name]
    assert "out" in inspect.signature(declaration.body).parameters
    for case in cases_of(declaration):
        arrays = [ua.asarray(each, copy=True) for each in case.arrays]
        try:
            like = case.call(*arrays)
        except ua.errors.BackendFeatureError:
            return
        targets = tuple(ua.zeros(each.shape, dtype=each.dtype) for each in outputs_of(like))
        out = targets if isinstance(like, tuple) else targets[0]
        assert case.call(*arrays, out=out) is out
        # Uninitialized elements may differ each time.
        for target, each in zip(targets, () if name.startswith("empty") else outputs_of(like), strict=False):
            np.testing.assert_array_equal(as_numpy(target), as_numpy(each))
        for array in arrays:
            for target in targets:
                assert not seen_from(array, target), name


def has_a_place_for_each_element(x: ua.Array) -> bool:
    """Write values that are all different, as far as the dtype has so many, and say whether they can be read."""
    values = (np.arange(x.size) % (2 if x.dtype == "bool" else 100)).reshape(x.shape).astype(str(x.dtype))
    try:
        x[...] = values
    except (ua.errors.ReadOnlyError, ua.errors.InplaceUpdateError):
        return False
    return np.array_equal(as_numpy(x), values)


@pytest.mark.parametrize("name", TESTED)
def test_what_is_no_view_has_a_place_for_each_element(backend: str, name: str) -> None:
    skip_unless(backend, "numpy", "torch", why="natives whose elements may share a place")
    declaration = DECLARATIONS[name]
    for case in cases_of(declaration):
        arrays = [ua.asarray(each, copy=True) for each in case.arrays]
        try:
            results = outputs_of(case.call(*arrays))
        except ua.errors.BackendFeatureError:
            return
        for output, result in enumerate(results):
            is_view = not case.copies and any(may_share(declaration, output, number) for number in range(len(arrays)))
            assert is_view or has_a_place_for_each_element(result), f"output {output} of {name}"


@pytest.mark.parametrize("name", ["meshgrid", *(name for name, each in DECLARATIONS.items() if each.view_map)])
def test_results_of_compiled_functions_have_memory_of_their_own(backend: str, name: str) -> None:
    for case in cases_of(DECLARATIONS[name]):
        arrays = [ua.asarray(each, copy=True) for each in case.arrays]

        def function(*given: ua.Array, case: Bound = case) -> tuple[ua.Array, ...]:
            # If an argument itself is returned, a view of it is returned as a view.
            return outputs_of(case.call(*(ua.where(True, x, x) for x in given)))

        try:
            results = ua.compile(function)(*arrays)
        except ua.errors.TraceError:
            return
        for output, result in enumerate(results):
            others = [each for each in (*arrays, *results) if each is not result]
            before = [as_numpy(each) for each in others]
            assert has_a_place_for_each_element(result), f"output {output} of {name}"
            for each, values in zip(others, before, strict=True):
                np.testing.assert_array_equal(as_numpy(each), values, err_msg=f"output {output} of {name}")
