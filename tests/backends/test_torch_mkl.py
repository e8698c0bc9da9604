"""The functions of MKL by which torch computes some kernels: each is compared with the kernel before it's used."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from tests.natives import skip_unless

Function = Callable[[int, int, int, int], None]


@pytest.fixture
def mkl() -> Any:
    """Return the module."""
    skip_unless("torch", *ua.available_backends(), why="torch")
    from unifyarr.backends.torch import _mkl

    return _mkl


def by_torch(native: Callable[..., Any], wrong: Callable[[Any, int], None] = lambda result, at: None) -> Function:
    """Return a function in C's manner that computes by torch, and then does something wrong to the result."""
    import torch

    def function(count: int, start: int, to: int, mode: int) -> None:
        memory = [(ctypes.c_double * count).from_address(each) for each in (start, to)]
        x, result = (torch.from_numpy(np.frombuffer(each)) for each in memory)
        result.copy_(native(x))
        wrong(result, to)

    return function


def last_bit(result: Any, at: int) -> None:
    """Change one element of pieces that begin in the middle of a line of the cache."""
    if at % 64:
        result.numpy().view("u1")[0] ^= 1


def test_a_function_is_taken_that_gives_the_bits_of_the_kernel(mkl: Any) -> None:
    import torch

    double = np.dtype("float64")
    assert mkl.agrees(torch.square, by_torch(torch.square), double)
    assert not mkl.agrees(torch.square, by_torch(torch.square, last_bit), double)
    assert not mkl.agrees(torch.exp, by_torch(lambda x: torch.exp2(x * 1.4426950408889634)), double)


def test_a_kernel_is_left_alone_whose_bits_depend_on_the_place(mkl: Any) -> None:
    import torch

    def native(x: Any) -> Any:
        result = torch.square(x)
        result[5::8] *= 2
        return result

    assert not mkl.agrees(native, by_torch(torch.square), np.dtype("float64"))


def test_a_function_that_reads_what_it_has_written_is_left_alone(mkl: Any) -> None:
    import torch

    def function(count: int, start: int, to: int, mode: int) -> None:
        by_torch(torch.square)(count, start, to, mode)
        if start == to:
            by_torch(torch.square)(count, start, to, mode)

    assert not mkl.agrees(torch.square, function, np.dtype("float64"))


@pytest.mark.parametrize("dtype", ["float16", "int64", "complex128"])
def test_there_are_none_for_other_dtypes(mkl: Any, dtype: str) -> None:
    assert all(find(np.dtype(dtype)) is None for find in mkl.FUNCTIONS.values())


def test_nothing_is_compared_while_a_derivative_is_taken(mkl: Any) -> None:
    import torch

    found = []

    def function(x: Any) -> Any:
        found.append(mkl.FUNCTIONS["exp"](np.dtype("float64")))
        return x * 2

    torch.func.grad(function)(torch.tensor(1.0))
    assert found == [None]
