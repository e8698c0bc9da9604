"""Every declared function on arrays over two devices beside the same on one: equal, and split where JAX's own is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import settings

import unifyarr as ua
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr.testing.cases import CASES, Case

from ...functions.calls import UNSET, find
from .common import HALVES

# Each third of them, for each is compiled three times; all of them in the profile "thorough".
EVERY = 1 if settings.get_current_profile_name() == "thorough" else 3
NAMES = sorted({each.qualified_name for each in DECLARATIONS.values()} & {n for n, c in CASES.items() if c[0].arrays})


def leaves(x: Any) -> Iterator[ua.Array]:
    if isinstance(x, ua.Array):
        yield x
    elif isinstance(x, ua.Container):
        yield from x.leaves()
    elif isinstance(x, tuple | list):
        for each in x:
            yield from leaves(each)


def of_jax(name: str, case: Case, natives: list[Any]) -> Any:
    """Return the result of JAX's own function of that name; ``None`` if it lacks the parameters."""
    function: Any = jnp
    for part in name.split("."):
        function = getattr(function, part, None)
    try:
        return None if function is None else case.call(function, natives)
    except (TypeError, ValueError, NotImplementedError, BufferError):
        return None


@pytest.mark.parametrize("name", NAMES[::EVERY])
def test_functions(backend: str, name: str) -> None:
    case = CASES[name][0]
    with ua.use_backend("jax"):
        function = find(name)
        expected = list(leaves(case.call(function, [ua.asarray(each) for each in case.arrays])))
        arrays = [ua.asarray(each, device=HALVES) for each in case.arrays]
        found = list(leaves(case.call(function, arrays)))
    for one, other in zip(found, expected, strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        if name not in UNSET:
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-10, atol=1e-12)
        assert one.sharding.device_set == HALVES.device_set, one.sharding
    theirs = of_jax(name, case, [x.native for x in arrays])
    for one, native in zip(found, jax.tree.leaves(theirs), strict=False):
        if one.shape == native.shape and not native.sharding.is_fully_replicated:
            assert not one.sharding.is_fully_replicated
