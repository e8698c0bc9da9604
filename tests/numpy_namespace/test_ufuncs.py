"""Ufuncs as objects against NumPy's: each of them, their options and their methods."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy
import pytest

import unifyarr as ua
import unifyarr.numpy as np
from unifyarr.numpy._following import COUNTERPARTS

from ..oracle import LENGTH, as_numpy, assert_raises, assert_same, assert_values
from .calls import check_call

UFUNCS = sorted({each.__name__ for each in vars(numpy).values() if isinstance(each, numpy.ufunc)} - {"isnat"})
ELEMENTWISE = [name for name in UFUNCS if getattr(numpy, name).signature is None]
FOLDING = [name for name in ELEMENTWISE if (getattr(numpy, name).nin, getattr(numpy, name).nout) == (2, 1)]
# NumPy's own reductions of these are wrong in places: its vectorized loops read elements after overwriting them.
ODD = {"arctan2", "power", "float_power", "floor_divide", "ldexp"}

CALLS = """
add(A, v) | add(A, 1) | add(1, 2.5) | add([1, 2], [3, 4]) | add(A, v, zeros((3, 4))) | add(A, v, out=zeros((3, 4)))
add(I, 1, out=zeros((3, 4))) | add(A, 1, zeros((2, 3, 4))) | add(A, 1, out=zeros((3, 4), int)) | add(A, 1, zeros(3))
add(A, 1, out=(zeros((3, 4)),)) | add(A, 1, None) | add(A) | add(A, 1, 2, 3)
add(A, 1, zeros((3, 4)), out=zeros((3, 4))) | add(A, v, nothing=1) | add(I, U, dtype="float32") | add(A, 1, dtype=int)
add(A, 1, dtype=int, casting="unsafe") | add(I, 1, signature="dd->d") | add(I, 1, signature=(None, None, float))
add(A, 1, where=B, out=zeros((3, 4))) | subtract(I, 1, where=B[0], out=zeros((3, 4)))
add(v, w, where=B, out=zeros((3, 4))) | add(A, 1, out=zeros((3, 4), int), casting="unsafe")
add(A, 1, where=I, out=zeros((3, 4))) | add(A, 1, casting="no") | add(I, 1.5, casting="safe")
sqrt(I, dtype="float32") | add(A, 1, where=[[True, False, True, False]], out=zeros((3, 4)))
negative(A, zeros((3, 4))) | sin(U) | exp(A, where=B, out=zeros((3, 4))) | equal(A, F)
isnan(N, out=zeros((3, 4), bool)) | logical_not(A) | invert(B) | greater(C, 1) | less(C, C) | floor(C) | maximum(N, v)
divmod(I, 3) | divmod(A, v) | divmod(I, 3, zeros((3, 4), int), zeros((3, 4), int))
divmod(I, 3, out=(zeros((3, 4)), None)) | modf(A) | modf(A, zeros((3, 4)), zeros((3, 4))) | modf(I) | frexp(A)
frexp([0.0, -0.0, 1e308, np.inf]) | ldexp(A, k) | ldexp(1.5, [-1074, 1023, 3000]) | spacing(A) | spacing(F)
bitwise_count(I) | bitwise_count(U) | rint(A) | rint(I) | fabs(I) | float_power(I, 0.5) | float_power(F, 2)
matmul(A, A.T) | matmul(A, v, out=zeros(3)) | matmul(A, 2) | matmul(stack, stack, axes=[(-1, -2), (-2, -1), (0, 1)])
matmul(stack, v[:3], axes=[(0, 1), 0, 0]) | matmul(v[:3], stack, axes=[0, (1, 2), (0,)]) | matmul(v, w, axes=[0, 0, ()])
matmul(A, v, where=B) | vecdot(A, A) | vecdot(C, A) | vecdot(A, I, axis=0) | vecdot(A, I, keepdims=True)
vecdot(A, v, zeros(3)) | matvec(A, v) | matvec(stack, v[:3]) | vecmat(v, A.T) | vecmat(C[0], A.T)
matvec(A, v, out=zeros(3)) | matmul(A, A.T, keepdims=True) | vecdot(A, I, axes=[0, 0, ()]) | add.reduce(A)
add.reduce(A, 1, float, zeros(3)) | add.reduce(A, (0, 1)) | add.reduce(U, dtype="uint8") | add.reduce(A, where=B)
add.reduce(I, 1, out=zeros(3)) | multiply.reduce(I, None) | maximum.reduce(A[:0]) | maximum.reduce(A, 1, initial=2)
minimum.reduce(A, where=B) | subtract.reduce(A, None) | divide.reduce(I, 1) | sin.reduce(A) | divmod.reduce(A)
matmul.reduce(A) | add.reduce(A, 5) | logical_and.reduce(I, 1) | logical_xor.reduce(A, 1) | add.accumulate(A, 1)
add.accumulate(U) | maximum.accumulate(A, 1) | subtract.accumulate(A, 1) | add.accumulate(A, 0, None, zeros((3, 4)))
add.accumulate(3) | sin.accumulate(A) | add.reduceat(A, [0, 2, 1], 1) | subtract.reduceat(A, [0, 3], 1)
add.reduceat(A, [9]) | add.reduceat(v, []) | add.outer(v, w) | subtract.outer(A, v) | maximum.outer(2, v)
add.outer(v, w, dtype="float32") | sin.outer(v, w) | matmul.outer(A, A)
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)


@pytest.mark.parametrize("name", UFUNCS)
def test_a_ufunc_knows_what_numpy_says_of_it(name: str) -> None:
    ours, theirs = getattr(np, name), getattr(numpy, name)
    for each in ("nin", "nout", "nargs", "types", "ntypes", "identity", "signature", "__name__", "__doc__"):
        assert getattr(ours, each) == getattr(theirs, each)
    assert isinstance(ours, np.ufunc)
    assert COUNTERPARTS[theirs] is ours
    assert repr(ours) == repr(theirs)
    assert pickle.loads(pickle.dumps(ours)) is copy.deepcopy(ours) is ours


def test_dtypes_of_a_loop() -> None:
    assert np.add.resolve_dtypes((ua.int8, float, None)) == numpy.add.resolve_dtypes((numpy.dtype("int8"), float, None))
    assert np.add.resolve_dtypes((None, ua.int8, None), reduction=True)[1] == numpy.int64


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_each_ufunc(backend: str, name: str) -> None:
    # The functions beneath are tested over all dtypes; engines that compile take long for each.
    compiles = backend in ("jax", "tensorflow")
    for dtype in ["float64", "int64"] if compiles else ["float64", "int64", "bool", "float32", "complex128", "uint8"]:
        check_ufunc(name, dtype)


def check_ufunc(name: str, dtype: str) -> None:
    ours, theirs = getattr(np, name), getattr(numpy, name)
    values = numpy.resize(numpy.array([-2.5, -1.0, 0.0, 0.5, 3.0, 1.0]), LENGTH)
    values = (numpy.abs(values) if dtype == "uint8" else values).astype(dtype)
    # A last bit of a subnormal number, which engines flush to zero.
    values = values[values != 0] if name in ("spacing", "nextafter") else values
    operands = [values, values[::-1].copy()][: theirs.nin]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = theirs(*operands)
        except (TypeError, ValueError) as error:
            assert_raises(
                type(error).__mro__[-3 if isinstance(error, TypeError) else 0], ours, *map(ua.asarray, operands)
            )
            return
        found = ours(*map(ua.asarray, operands))
    for one, other in zip(*((x if theirs.nout > 1 else (x,)) for x in (found, wanted)), strict=True):
        wide = other.dtype.itemsize < 4 and other.dtype.kind == "f"
        assert_same(one, other, rtol=2e-3 if wide else None, signed_zeros=False, what=(name, dtype))


@pytest.mark.parametrize("name", sorted(set(FOLDING) - ODD))
def test_each_ufunc_folds(backend: str, name: str) -> None:
    options = "A", "I"
    for x in options:
        for call in (
            f"{name}.reduce({x})",
            f"{name}.reduce({x}, axis=1, initial=2, keepdims=True)",
            f"{name}.reduce({x}, axis=1, where=B, initial=1)",
            f"{name}.accumulate({x}, axis=1)",
            f"{name}.reduceat({x}, [0, 2, 1], axis=1)",
        )[: 5 if backend in ("numpy", "torch") else 2]:
            check_call(call)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum", "divide", "power", "logaddexp", "copysign"])
def test_at_counts_each_time_that_an_index_occurs(backend: str, name: str) -> None:
    start = numpy.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    for key, values in (
        (([0, 1, 0, 0], [1, 2, 1, 1]), numpy.array([2.0, 0.5, 3.0, 1.5])),
        (1, 2.0),
        ((slice(None), [0, 0, 2]), numpy.array([3.0, 1.0, 2.0])),
        (start > 2, 0.5),
    ):
        wanted = start.copy()
        getattr(numpy, name).at(wanted, key, values)
        x = ua.asarray(start.copy())
        ours = tuple(map(ua.asarray, key)) if isinstance(key, tuple) and isinstance(key[0], list) else key
        ours = ua.asarray(ours) if isinstance(ours, numpy.ndarray) else ours
        assert (
            getattr(np, name).at(x, ours, ua.asarray(values) if isinstance(values, numpy.ndarray) else values) is None
        )
        assert_values(as_numpy(x), wanted)


def test_at_of_a_view_and_of_one_operand(backend: str) -> None:
    x = ua.asarray(numpy.arange(6.0))
    np.add.at(x[::2], [0, 0, 2], 10)
    np.negative.at(x, [1, 1, 3])
    assert x.tolist() == [20.0, 1.0, 2.0, -3.0, 14.0, 5.0]
    i = ua.asarray([1, 2, 3])
    np.add.at(i, [0, 0], 1)
    assert i.tolist() == [3, 2, 3]
    assert_raises(IndexError, np.add.at, i, [7], 1)
    assert_raises(ValueError, np.add.at, i, [0])
    assert_raises(TypeError, np.negative.at, i, [0], 1)
    assert_raises(ValueError, np.divmod.at, i, [0], 1)


def test_out_is_returned_and_written(backend: str) -> None:
    x, out = ua.asarray([1.0, 2.0, 3.0]), ua.zeros(3)
    assert np.multiply(x, x, out) is out
    assert np.multiply(x, 2, out=x) is x
    assert (out.tolist(), x.tolist()) == ([1.0, 4.0, 9.0], [2.0, 4.0, 6.0])
    assert np.add.reduce(x, out=(total := ua.zeros(()))) is total
    assert float(total) == 12.0
    assert_raises(TypeError, np.add, x, 1, ua.zeros(3, dtype="int64"))
    assert_raises(ValueError, np.add, x, 1, ua.zeros(2))
