"""What a type checker sees: full signatures, through the decorators. Checked by pyright and mypy, never run."""

from __future__ import annotations

from typing import assert_type

import unifyarr as ua
from unifyarr.graph import Variable, array_type

x = ua.zeros((2, 3), dtype=ua.float32, backend="numpy")
assert_type(x, ua.Array)
assert_type(ua.sin(x), ua.Array)
assert_type(ua.sum(x, axis=0, keepdims=True), ua.Array)
assert_type(x.reshape(3, 2), ua.Array)
assert_type(x + 1, ua.Array)
assert_type(x[0, ...], ua.Array)
assert_type(ua.unstack(x), tuple[ua.Array, ...])
assert_type(ua.unique_all(x).counts, ua.Array)
assert_type(ua.linalg.svd(x).S, ua.Array)
assert_type(ua.inplace_update(x, 0.0), ua.Array)
assert_type(x.shape, tuple[int, ...])
assert_type(ua.array([1, 2]), ua.Array)
assert_type(ua.shares_memory(x, x[0, ...]), bool)
ua.sin(x, 1)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
ua.sum(x, axes=0)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]

# Variables of a graph give variables.
v = Variable(array_type((None, 3), "float64"), "v")
assert_type(ua.exp(v), Variable)
assert_type(ua.add(1.0, v), Variable)
assert_type(ua.where(v > 0, v, 0.0), Variable)
assert_type(ua.sum(v, axis=0), Variable)
assert_type(ua.stack([v, v]), Variable)
assert_type(ua.linalg.det(v), Variable)
assert_type(v + 1, Variable)
assert_type(2 * v, Variable)
assert_type(x * v, Variable)
assert_type(-v, Variable)
assert_type(v[1:], Variable)
assert_type(ua.scan(lambda carry, row: (carry + row, carry), v, v), tuple[Variable, Variable])
assert_type(ua.cond(ua.sum(v) > 0, lambda: v, lambda: v * 2), Variable)
ua.exp(v, out=x)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
