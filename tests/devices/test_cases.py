"""Every call of ``unifyarr/testing/cases`` on a device that isn't the default one, beside NumPy's."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

import unifyarr as ua
from unifyarr.container.container import flatten
from unifyarr.errors import TraceError, UnknownShapeError
from unifyarr.testing.calling import FUNCTIONS, assert_numpys, find, leaves, of_numpy
from unifyarr.testing.cases import CASES, RETURNING_SEVERAL, Case

from .. import engines
from ..graph.test_every_function import call_of, refuses
from ..oracle import as_numpy, assert_values

# A device that isn't the default one.
THERE = engines.SECOND
# Arrays that come from the host by DLPack stay there, and DLPack has one number for all CPUs.
NAMES = [name for name in FUNCTIONS if name != "from_dlpack"]
FIRST = [(name, CASES[name][0]) for name in NAMES]
first = pytest.mark.parametrize(("name", "call"), FIRST, ids=NAMES)


def there(x: np.ndarray) -> ua.Array:
    return ua.asarray(x, copy=True, device=THERE[ua.current_backend()])


def options_of(name: str, call: Case) -> dict[str, Any]:
    """Return the device for a call without an array that would say it."""
    takes_device = "device" in inspect.signature(find(name)).parameters
    return {"device": THERE[ua.current_backend()]} if takes_device and not call.arrays else {}


def assert_there(result: Any) -> None:
    for each in leaves(result):
        if isinstance(each, ua.Array):
            assert each.device == THERE[each.backend]


def numpys(function: Callable[..., Any], *arrays: Any) -> Any:
    """Return NumPy's result of a function of arrays, or the error."""
    with ua.use_backend("numpy"), np.errstate(all="ignore"):
        try:
            return function(*(ua.asarray(x, copy=True) for x in arrays))
        except Exception as error:
            return error


def assert_alike(name: str, function: Callable[..., Any], arrays: list[np.ndarray]) -> None:
    """Assert that a function of arrays on the device gives NumPy's results there, or raises an error of its class."""
    expected = numpys(function, *arrays)
    given = [there(x) for x in arrays]
    if isinstance(expected, Exception):
        with pytest.raises(type(expected)):
            function(*given)
        return
    found = flatten(function(*given))[0]
    assert_there(found)
    assert_numpys(name, found, flatten(expected)[0], ua.current_backend())


@pytest.mark.parametrize("name", NAMES)
def test_results_are_numpys_and_stay_there(backend: str, name: str) -> None:
    # JAX compiles each of them for itself.
    is_quick = settings.get_current_profile_name() == "quick"
    for call in CASES[name][:1] if is_quick and backend == "jax" else CASES[name]:
        more = options_of(name, call)
        result = call.call(find(name), [there(x) for x in call.arrays], **more)
        assert_there(result)
        assert_numpys(name, result, of_numpy(name, call), backend)


@first
def test_out_is_written_there(backend: str, name: str, call: Case) -> None:
    if name in RETURNING_SEVERAL or "out" not in inspect.signature(find(name)).parameters:
        return
    expected = of_numpy(name, call)
    out = ua.zeros(expected.shape, dtype=expected.dtype.dtype, device=THERE[backend])
    # The device of ``out`` says where.
    assert call.call(find(name), [there(x) for x in call.arrays], out=out) is out
    assert_there(out)
    assert_numpys(name, out, expected, backend)


@first
def test_a_compiled_call_stays_there(backend: str, name: str, call: Case) -> None:
    if not call.arrays or call.view:
        return
    function, arrays = call_of(name, call)
    compiled = ua.compile(function)
    if refuses(backend, name):
        with pytest.raises((TraceError, UnknownShapeError)):
            compiled(*map(there, arrays))
        return
    assert_alike(name, compiled, arrays)


@first
def test_gradients_stay_there(backend: str, name: str, call: Case) -> None:
    function, arrays = call_of(name, call)
    floating = [place for place, x in enumerate(arrays) if x.dtype.kind == "f"]
    if not floating or call.view:
        return

    def total(*given: ua.Array) -> ua.Array:
        results = [ua.astype(ua.real(x), ua.float64) for x in leaves(function(*given)) if isinstance(x, ua.Array)]
        return sum(ua.sum(x * x) for x in results)

    gradient = ua.grad(total, tuple(floating))
    expected = numpys(gradient, *arrays)
    given = [there(x) for x in arrays]
    if isinstance(expected, Exception):
        with pytest.raises(type(expected)):
            gradient(*given)
        return
    found = gradient(*given)
    assert_there(found)
    for mine, right in zip(found, expected, strict=True):
        assert_values(as_numpy(mine), as_numpy(right), rtol=1e-6, atol=1e-8, what=name)


@first
def test_batches_stay_there(backend: str, name: str, call: Case) -> None:
    function, arrays = call_of(name, call)
    if not arrays or call.view or not all(x.ndim for x in arrays):
        return
    assert_alike(name, ua.vmap(function), [np.stack([x, x]) for x in arrays])
