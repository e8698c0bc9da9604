"""Typical programs that read a value in Python: the error names the line, and the remedy."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

import unifyarr as ua
import unifyarr.numpy as unp
from unifyarr import Array
from unifyarr.errors import TracedMutationError, TraceError

from ..oracle import as_numpy


def newton(x: Array) -> Array:
    guess = x
    while ua.max(ua.abs(guess * guess - x)) > 1e-9:  # here
        guess = (guess + x / guess) / 2
    return guess


def newton_until(x: Array) -> Array:
    guess = x
    for _ in range(50):
        new = (guess + x / guess) / 2
        if ua.max(ua.abs(new - guess)) < 1e-9:  # here
            break
        guess = new
    return guess


def clipped_step(x: Array) -> Array:
    norm = ua.linalg.vector_norm(x)
    if norm > 1.0:  # here
        x = x / norm
    return x


def huber(x: Array) -> Array:
    error = x[0] - x[1]
    return 0.5 * error * error if abs(error) < 1 else abs(error) - 0.5  # here


def rectified(x: Array) -> Array:
    return max(x[0], x[1])  # here


def coldest(x: Array) -> Array:
    return min(x)  # here


def in_range(x: Array) -> Array:
    return (0 < x[0] < 2) * x  # here


def both_positive(x: Array) -> Array:
    flag = x[0] > 0 and x[1] > 0  # here
    return flag * x


def checked(x: Array) -> Array:
    assert ua.all(x > 0), "positive numbers"  # here
    return ua.log(x)


def powers(x: Array) -> Array:
    total = x
    for _ in range(ua.astype(x[0], ua.int64)):  # here
        total = total * x
    return total


def first_ones(x: Array) -> Array:
    x[: ua.argmax(x)] = 0.0  # here
    return x


def median(x: Array) -> Array:
    return sorted(x)[1]  # here


def learning_rate(x: Array) -> Array:
    return x * math.exp(-x[0])  # here


def rounded(x: Array) -> Array:
    return x + round(x[0])  # here


def scale(x: Array) -> Array:
    return x * float(ua.sum(x))  # here


def scale_by_item(x: Array) -> Array:
    return x * ua.sum(x).item()  # here


def logged(x: Array) -> Array:
    loss = ua.sum(x * x)
    print(f"loss {loss:.3f}")  # here
    return loss


def by_numpy(x: Array) -> Any:
    return np.sum(np.asarray(x))  # here


def by_scipy(x: Array) -> Any:
    return gaussian_filter1d(x, 1.0)  # here


def activation(x: Array) -> Any:
    return [ua.sin, ua.cos, ua.tan][ua.argmax(x)](x)  # here


def has_zero(x: Array) -> Array:
    return x + (0.0 in x)  # here


def converged(x: Array) -> Array:
    return x if not any(x > 1) else x / 2  # here


def halved(x: Array) -> Array:
    while ua.any(x > 1):  # here
        x = x / 2
    return x


def halved_until(x: Array) -> Array:
    for _ in range(50):
        if ua.all(x <= 1):  # here
            break
        x = x / 2
    return x


def odd_parity(x: Array) -> Array:
    if (x[0] > 1) ^ (x[1] > 1):  # here
        x = x + 1
    return x


def either_large(x: Array) -> Array:
    return x if ua.any(x > 1) else -x  # here


def large_rows(x: Array) -> Any:
    return [row for row in x if ua.any(row > 1)]  # here


def counted(x: Array) -> Array:
    return ua.arange(ua.argmax(x) + 1)  # here


def as_many_zeros(x: Array) -> Array:
    return ua.zeros((ua.argmax(x) + 1, 2))  # here


def in_rows(x: Array) -> Array:
    return x.reshape(ua.argmax(x), -1)  # here


def checked_to_rounding(x: Array) -> Array:
    if unp.allclose(x, x * x):  # here
        x = x + 1
    return x


def rolled(x: Array) -> Array:
    return ua.roll(x, ua.argmax(x))  # here


PROGRAMS: list[tuple[Callable[[Array], Any], str]] = [
    (newton, "ua.while_loop("),
    (newton_until, "ua.while_loop("),
    (clipped_step, "ua.cond("),
    (huber, "ua.where("),
    (rectified, "ua.maximum("),
    (coldest, "ua.min("),
    (in_range, "(a < b) & (b < c)"),
    (both_positive, "(a < b) & (b < c)"),
    (checked, "check it outside"),
    (powers, "ua.fori_loop("),
    (first_ones, "ua.where(ua.arange(n) < stop"),
    (median, "ua.sort("),
    (learning_rate, "ua.exp("),
    (rounded, "ua.round("),
    (scale, "0-d array"),
    (scale_by_item, "0-d array"),
    (logged, "print it after the call"),
    (by_numpy, "functions of unifyarr"),
    (by_scipy, "functions of unifyarr"),
    (activation, "ua.switch("),
    (has_zero, "ua.any(x == value)"),
    (converged, "ua.any("),
    (halved, "ua.while_loop("),
    (halved_until, "ua.while_loop("),
    (odd_parity, "write the branch as ua.cond("),
    (either_large, "choose by ua.where("),
    (large_rows, "choose by ua.where("),
    (counted, "a Python integer"),
    (as_many_zeros, "a Python integer"),
    (in_rows, "a Python integer"),
    (checked_to_rounding, "ua.allclose("),
    (rolled, "(ua.arange(n) - shift) % n"),
]


@pytest.mark.parametrize(("program", "helps"), PROGRAMS, ids=[program.__name__ for program, _ in PROGRAMS])
def test_the_error_names_the_line_and_what_helps(backend: str, program: Callable[[Array], Any], helps: str) -> None:
    lines, first = inspect.getsourcelines(program)
    (line,) = [first + number for number, text in enumerate(lines) if text.rstrip().endswith("# here")]
    x = ua.asarray(np.array([0.25, 2.25, 1.0]), copy=True)
    program(x.copy())
    with pytest.raises(TraceError) as caught:
        ua.compile(program)(x)
    text = str(caught.value)
    assert f"{__file__}, line {line} " in text
    assert helps in text
    assert as_numpy(x).tolist() == [0.25, 2.25, 1.0]


# The same, as the errors say.


def newton_by_loop(x: Array) -> Array:
    return ua.while_loop(
        lambda guess: ua.max(ua.abs(guess * guess - x)) > 1e-9, lambda guess: (guess + x / guess) / 2, x
    )


def clipped_by_cond(x: Array) -> Array:
    norm = ua.linalg.vector_norm(x)
    return ua.cond(norm > 1.0, lambda: x / norm, lambda: x)


def huber_by_where(x: Array) -> Array:
    error = x[0] - x[1]
    return ua.where(ua.abs(error) < 1, 0.5 * error * error, ua.abs(error) - 0.5)


def in_range_by_bits(x: Array) -> Array:
    return ((x[0] > 0) & (x[0] < 2)) * x


def powers_by_loop(x: Array) -> Array:
    return ua.fori_loop(0, ua.astype(x[0], ua.int64), lambda i, total: total * x, x)


def first_ones_by_where(x: Array) -> Array:
    return ua.where(ua.arange(x.shape[0]) < ua.argmax(x), 0.0, x)


def activation_by_switch(x: Array) -> Array:
    return ua.switch(ua.argmax(x), [ua.sin, ua.cos, ua.tan], x)


MENDED = [
    (newton, newton_by_loop),
    (clipped_step, clipped_by_cond),
    (huber, huber_by_where),
    (in_range, in_range_by_bits),
    (powers, powers_by_loop),
    (first_ones, first_ones_by_where),
    (activation, activation_by_switch),
    (rectified, lambda x: ua.maximum(x[0], x[1])),
    (coldest, ua.min),
    (median, lambda x: ua.sort(x)[1]),
    (learning_rate, lambda x: x * ua.exp(-x[0])),
    (scale, lambda x: x * ua.sum(x)),
    (has_zero, lambda x: x + ua.any(x == 0.0)),
    (rolled, lambda x: x[(ua.arange(3) - ua.argmax(x)) % 3]),
]


@pytest.mark.parametrize(("program", "mended"), MENDED, ids=[program.__name__ for program, _ in MENDED])
def test_what_helps_computes_the_same(
    backend: str, program: Callable[[Array], Any], mended: Callable[..., Any]
) -> None:
    for values in ([0.25, 2.25, 1.0], [2.0, 0.5, 0.0625]):
        x = ua.asarray(np.array(values), copy=True)
        np.testing.assert_allclose(as_numpy(ua.compile(mended)(x)), as_numpy(program(x.copy())), rtol=1e-6)


def test_another_shape_in_place_names_the_line() -> None:
    def changed(x: Array) -> Array:
        y = x + 1
        y.shape = (2, 2)
        return y

    line = inspect.getsourcelines(changed)[1] + 2
    with pytest.raises(TracedMutationError, match=rf"line {line}: .*write x = x\.reshape\(shape\)"):
        ua.compile(changed)(ua.ones(4))


def test_without_the_source_it_names_all_that_may_help() -> None:
    space: dict[str, Any] = {}
    exec("def branch(x):\n    return x if x[0] > 0 else -x\n", space)
    with pytest.raises(TraceError, match=r"<string>, line 2 asks .*ua\.where\(\).*ua\.cond\(\).*ua\.while_loop\(\)"):
        ua.compile(space["branch"])(ua.ones(2))
