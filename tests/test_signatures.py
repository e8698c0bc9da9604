"""The signatures of functions and of the array: the standard's parameters, and extras that may be left out.

A line of a table is the text between the parentheses in the Array API standard 2025.12.
"""

from __future__ import annotations

import doctest
import inspect
import io
import pydoc
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import pytest

import unifyarr as ua
from unifyarr._core.declaring.declare import DECLARATIONS

from .oracle import words

ONE = dict.fromkeys(
    words(
        "abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp "
        "expm1 floor imag isfinite isinf isnan "
        "log log1p log2 log10 logical_not negative positive real reciprocal round sign signbit "
        "sin sinh square sqrt tan "
        "tanh trunc matrix_transpose nonzero unique_all unique_counts unique_inverse unique_values"
    ),
    "x, /",
)
TWO = dict.fromkeys(
    words(
        "add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal "
        "floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum "
        "minimum multiply nextafter not_equal pow remainder subtract matmul"
    ),
    "x1, x2, /",
)
STANDARD: dict[str, str] = {
    **ONE,
    **TWO,
    "__array_namespace_info__": "",
    "all": "x, /, *, axis=None, keepdims=False",
    "any": "x, /, *, axis=None, keepdims=False",
    "arange": "start, /, stop=None, step=1, *, dtype=None, device=None",
    "argmax": "x, /, *, axis=None, keepdims=False",
    "argmin": "x, /, *, axis=None, keepdims=False",
    "argsort": "x, /, *, axis=-1, descending=False, stable=True",
    "asarray": "obj, /, *, dtype=None, device=None, copy=None",
    "astype": "x, dtype, /, *, copy=True, device=None",
    "broadcast_arrays": "*arrays",
    "broadcast_shapes": "*shapes",
    "broadcast_to": "x, /, shape",
    "can_cast": "from_, to, /",
    "clip": "x, /, min=None, max=None",
    "concat": "arrays, /, *, axis=0",
    "count_nonzero": "x, /, *, axis=None, keepdims=False",
    "cumulative_prod": "x, /, *, axis=None, dtype=None, include_initial=False",
    "cumulative_sum": "x, /, *, axis=None, dtype=None, include_initial=False",
    "diff": "x, /, *, axis=-1, n=1, prepend=None, append=None",
    "empty": "shape, *, dtype=None, device=None",
    "empty_like": "x, /, *, dtype=None, device=None",
    "expand_dims": "x, /, axis",
    "eye": "n_rows, n_cols=None, /, *, k=0, dtype=None, device=None",
    "finfo": "type, /",
    "flip": "x, /, *, axis=None",
    "from_dlpack": "x, /, *, device=None, copy=None",
    "full": "shape, fill_value, *, dtype=None, device=None",
    "full_like": "x, /, fill_value, *, dtype=None, device=None",
    "iinfo": "type, /",
    "isdtype": "dtype, kind",
    "isin": "x1, x2, /, *, invert=False",
    "linspace": "start, stop, /, num, *, dtype=None, device=None, endpoint=True",
    "max": "x, /, *, axis=None, keepdims=False",
    "mean": "x, /, *, axis=None, keepdims=False",
    "meshgrid": "*arrays, indexing='xy'",
    "min": "x, /, *, axis=None, keepdims=False",
    "moveaxis": "x, source, destination, /",
    "ones": "shape, *, dtype=None, device=None",
    "ones_like": "x, /, *, dtype=None, device=None",
    "permute_dims": "x, /, axes",
    "prod": "x, /, *, axis=None, dtype=None, keepdims=False",
    "repeat": "x, repeats, /, *, axis=None",
    "reshape": "x, /, shape, *, copy=None",
    "result_type": "*arrays_and_dtypes",
    "roll": "x, /, shift, *, axis=None",
    "searchsorted": "x1, x2, /, *, side='left', sorter=None",
    "sort": "x, /, *, axis=-1, descending=False, stable=True",
    "squeeze": "x, /, axis",
    "stack": "arrays, /, *, axis=0",
    "std": "x, /, *, axis=None, correction=0.0, keepdims=False",
    "sum": "x, /, *, axis=None, dtype=None, keepdims=False",
    "take": "x, indices, /, *, axis=None",
    "take_along_axis": "x, indices, /, *, axis=-1",
    "tensordot": "x1, x2, /, *, axes=2",
    "tile": "x, repetitions, /",
    "tril": "x, /, *, k=0",
    "triu": "x, /, *, k=0",
    "unstack": "x, /, *, axis=0",
    "var": "x, /, *, axis=None, correction=0.0, keepdims=False",
    "vecdot": "x1, x2, /, *, axis=-1",
    "where": "condition, x1, x2, /",
    "zeros": "shape, *, dtype=None, device=None",
    "zeros_like": "x, /, *, dtype=None, device=None",
    "linalg.cholesky": "x, /, *, upper=False",
    "linalg.cross": "x1, x2, /, *, axis=-1",
    "linalg.det": "x, /",
    "linalg.diagonal": "x, /, *, offset=0",
    "linalg.eig": "x, /",
    "linalg.eigh": "x, /",
    "linalg.eigvals": "x, /",
    "linalg.eigvalsh": "x, /",
    "linalg.inv": "x, /",
    "linalg.matmul": "x1, x2, /",
    "linalg.matrix_norm": "x, /, *, keepdims=False, ord='fro'",
    "linalg.matrix_power": "x, n, /",
    "linalg.matrix_rank": "x, /, *, rtol=None",
    "linalg.matrix_transpose": "x, /",
    "linalg.outer": "x1, x2, /",
    "linalg.pinv": "x, /, *, rtol=None",
    "linalg.qr": "x, /, *, mode='reduced'",
    "linalg.slogdet": "x, /",
    "linalg.solve": "x1, x2, /",
    "linalg.svd": "x, /, *, full_matrices=True",
    "linalg.svdvals": "x, /",
    "linalg.tensordot": "x1, x2, /, *, axes=2",
    "linalg.trace": "x, /, *, offset=0, dtype=None",
    "linalg.vecdot": "x1, x2, /, *, axis=-1",
    "linalg.vector_norm": "x, /, *, axis=None, keepdims=False, ord=2",
    "fft.fft": "x, /, *, n=None, axis=-1, norm='backward'",
    "fft.fftfreq": "n, /, *, d=1.0, dtype=None, device=None",
    "fft.fftn": "x, /, *, s=None, axes=None, norm='backward'",
    "fft.fftshift": "x, /, *, axes=None",
    "fft.hfft": "x, /, *, n=None, axis=-1, norm='backward'",
    "fft.ifft": "x, /, *, n=None, axis=-1, norm='backward'",
    "fft.ifftn": "x, /, *, s=None, axes=None, norm='backward'",
    "fft.ifftshift": "x, /, *, axes=None",
    "fft.ihfft": "x, /, *, n=None, axis=-1, norm='backward'",
    "fft.irfft": "x, /, *, n=None, axis=-1, norm='backward'",
    "fft.irfftn": "x, /, *, s=None, axes=None, norm='backward'",
    "fft.rfft": "x, /, *, n=None, axis=-1, norm='backward'",
    "fft.rfftfreq": "n, /, *, d=1.0, dtype=None, device=None",
    "fft.rfftn": "x, /, *, s=None, axes=None, norm='backward'",
}
# Parameters of our own, which the documentation names: never positional, never required.
EXTRAS = {"chunks", "ddof", "out", "backend", "modulus"}
# Parameters that the standard requires and NumPy lets be left out.
OPTIONAL = {("squeeze", "axis"): None}
# Functions whose result is no array.
NO_OUT = {"__array_namespace_info__", "broadcast_shapes", "can_cast", "finfo", "iinfo", "isdtype", "result_type"}

METHODS: dict[str, str] = {
    **dict.fromkeys(
        words("__abs__ __bool__ __complex__ __dlpack_device__ __float__ __index__ __int__ __invert__ __neg__ __pos__"),
        "self, /",
    ),
    **dict.fromkeys(
        words(
            "__add__ __and__ __eq__ __floordiv__ __ge__ __gt__ __le__ __lshift__ __lt__ "
            "__matmul__ __mod__ __mul__ __ne__ "
            "__or__ __pow__ __rshift__ __sub__ __truediv__ __xor__ __radd__ __rand__ "
            "__rfloordiv__ __rlshift__ __rmatmul__ "
            "__rmod__ __rmul__ __ror__ __rpow__ __rrshift__ __rsub__ __rtruediv__ __rxor__ "
            "__iadd__ __iand__ __ifloordiv__ "
            "__ilshift__ __imatmul__ __imod__ __imul__ __ior__ __ipow__ __irshift__ __isub__ __itruediv__ __ixor__"
        ),
        "self, other, /",
    ),
    "__array_namespace__": "self, /, *, api_version=None",
    "__dlpack__": "self, /, *, stream=None, max_version=None, dl_device=None, copy=None",
    "__getitem__": "self, key, /",
    "__setitem__": "self, key, value, /",
    "to_device": "self, device, /, *, stream=None",
}
PROPERTIES = ["dtype", "device", "mT", "ndim", "shape", "size", "T"]


def parsed(line: str) -> inspect.Signature:
    return inspect.signature(eval(f"lambda {line}: None"))


def find(name: str) -> Callable[..., Any]:
    found: Any = ua
    for part in name.split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", STANDARD)
def test_parameters_are_the_standards(name: str) -> None:
    wanted = parsed(STANDARD[name]).parameters
    given = inspect.signature(find(name)).parameters
    assert set(wanted) <= set(given)
    positional = [each for each in wanted.values() if each.kind is not each.KEYWORD_ONLY]
    assert list(given)[: len(positional)] == [each.name for each in positional]
    for each in wanted.values():
        assert given[each.name].kind is each.kind, each.name
        default = OPTIONAL.get((name, each.name), each.default)
        # True and 1, 2 and 2.0 are equal, but not the same default.
        assert given[each.name].default == default, each.name
        assert isinstance(given[each.name].default, type(default)), each.name
    extras = {key: each for key, each in given.items() if key not in wanted}
    assert set(extras) <= EXTRAS
    assert all(each.kind is each.KEYWORD_ONLY and each.default is not each.empty for each in extras.values())


@pytest.mark.parametrize("name", STANDARD)
def test_what_returns_arrays_takes_out(name: str) -> None:
    assert ("out" in inspect.signature(find(name)).parameters) is (name not in NO_OUT)


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_the_standards(name: str) -> None:
    wanted = list(parsed(METHODS[name]).parameters.values())
    given = list(inspect.signature(getattr(ua.Array, name)).parameters.values())
    assert len(given) >= len(wanted)
    for mine, standard in zip(given, wanted, strict=False):
        assert mine.default == standard.default
        assert (mine.kind is mine.KEYWORD_ONLY) is (standard.kind is standard.KEYWORD_ONLY)
        if standard.kind is standard.KEYWORD_ONLY:
            assert mine.name == standard.name
    assert all(each.default is not each.empty for each in given[len(wanted) :])


@pytest.mark.parametrize("name", PROPERTIES)
def test_attributes_are_properties(name: str) -> None:
    assert isinstance(inspect.getattr_static(ua.Array, name), property)


@pytest.mark.parametrize("name", list(DECLARATIONS))
def test_a_function_looks_the_same_before_and_after_its_first_call(name: str) -> None:
    declaration = DECLARATIONS[name]
    fresh = declaration.function()

    def look() -> tuple[Any, ...]:
        text = io.StringIO()
        with redirect_stdout(text):
            pydoc.doc(fresh)
        signature = inspect.signature(fresh)
        return signature, text.getvalue(), fresh.__name__, fresh.__qualname__, fresh.__module__, fresh.__doc__

    before = look()
    with pytest.raises(TypeError):
        # The first call compiles the dispatcher, whatever becomes of the call.
        fresh(no_such_parameter=1)
    assert look() == before
    signature, text, called, *_ = before
    assert called == declaration.name
    assert f"{declaration.name}(" in text
    assert str(signature) == str(inspect.signature(declaration.body))


@pytest.mark.parametrize("name", sorted({*STANDARD, *DECLARATIONS} - {"__array_namespace_info__"}))
def test_the_docstring_says_what_to_pass_and_shows_it(name: str) -> None:
    function = find(name)
    text = inspect.getdoc(function) or ""
    first = text.splitlines()[0]
    assert first.endswith("."), first
    assert doctest.DocTestParser().get_examples(text), "no example"
    assert "Source: " in text
    described = text.split("Parameters\n----------\n", 1)[1].split("\n\n")[0]
    named = set(described.replace(",", " ").replace("*", " ").split())
    assert set(inspect.signature(function).parameters) <= named


@pytest.mark.parametrize("name", list(DECLARATIONS))
def test_the_docstring_names_the_standard_if_the_function_is_in_it(name: str) -> None:
    source = (inspect.getdoc(find(name)) or "").split("Source: ", 1)[1]
    named = f"Array API standard 2025.12, ``{name}``" in source
    assert named <= (name in STANDARD), "declare it with @elementwise(..., standard=False), or name another source"


def test_annotations_resolve_to_types() -> None:
    for name, declaration in DECLARATIONS.items():
        signature = inspect.signature(declaration.body)
        assert signature.return_annotation is not signature.empty, name
        assert all(each.annotation is not each.empty for each in signature.parameters.values()), name
