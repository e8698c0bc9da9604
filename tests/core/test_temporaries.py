"""Operators don't write into operands that a count of references takes for temporaries.

In each of these calls the left operand has as many references inside its operator as the result of ``x + y`` has in
``(x + y) * z``, and for two of them the caller's instruction is the operator's own. But something in C keeps it, and
uses it a second time.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

# Results that large come from the pool.
SIZE = 1 << 16


def _partial(x: ua.Array) -> Callable[[], Any]:
    call = functools.partial(operator.mul, x)
    return lambda: call(3.0)


def _bound(x: ua.Array) -> Callable[[], Any]:
    method = x.__mul__
    return lambda: method(3.0)


def _in_objects(x: ua.Array) -> Callable[[], Any]:
    objects = np.empty(1, object)
    objects[0] = x
    # The loop of objects calls operators of elements that it keeps.
    return lambda: (objects * 3.0)[0]


def _of_a_class(x: ua.Array) -> Callable[[], Any]:
    box = type("Box", (), {"__mul__": x.__mul__})()
    return lambda: box * 3.0


@pytest.mark.parametrize("kept", [_partial, _bound, _in_objects, _of_a_class])
def test_an_operand_that_is_kept_in_c_stays_as_it_is(backend: str, kept: Callable[[Any], Callable[[], Any]]) -> None:
    # Nothing else refers to the operand.
    call = kept(ua.arange(SIZE, dtype=ua.float64) + 1.0)
    for _ in range(3):
        assert ua.sum(call() == 3.0 * (ua.arange(SIZE, dtype=ua.float64) + 1.0)) == SIZE
