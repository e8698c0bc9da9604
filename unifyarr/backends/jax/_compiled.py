"""Compiled kernels: one dispatch an eager call, whatever a kernel is composed of.

An eager call of a ``jax.numpy`` function costs 5 to 50 microseconds for each operation in it; a compiled function costs
about 5, and branches on dtypes and shapes cost nothing once they are traced. Inside the user's own trace a compiled
kernel is inlined.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax

from ..kernels import bound_by, facts_of, known_by
from ._devices import jit
from ._donating import Donating
from ._operands import at_place, number_at
from ._private import ARRAYS

Kernel = Callable[..., Any]

# Older versions of JAX have no mutable references.
REFERENCES: tuple[type, ...] = (jax.Ref,) if hasattr(jax, "Ref") else ()

HALF = frozenset(map(np.dtype, ("float16", "bfloat16")))
COMPLEX = frozenset(map(np.dtype, ("complex64", "complex128")))
INEXACT_REAL = HALF | frozenset(map(np.dtype, ("float32", "float64")))
# The dtype of indices: int64, unless JAX is kept to 32 bits, where asking for more would warn.
INDEX = np.dtype(jax.dtypes.canonicalize_dtype(np.int64))
INTEGER = frozenset(np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64))


def strong(native: Any) -> Any:
    """Return the array without JAX's weak type, which would give way to other dtypes in the next operation."""
    return lax.convert_element_type(native, native.dtype)


def cast(x: jax.Array, dtype: np.dtype[Any]) -> jax.Array:
    """Return the array in a dtype that holds each of its values, or as truth values."""
    if dtype.kind == "b":
        return x != 0
    exact = lax.convert_element_type(x, dtype)
    # XLA selects where it sees a product with truth values, but 0 * inf is NaN.
    return lax.optimization_barrier(exact) if x.dtype.kind == "b" and dtype not in INTEGER else exact


def compiled(function: Kernel, *, destructive: bool = False) -> Kernel:
    """Compile a kernel of the signature ``(*natives, /, *, static)``; its results are never weakly typed.

    A destructive one uses up the first array: the result takes its memory, and goes to the list ``results`` as well.
    """
    parameters = inspect.signature(function).parameters.values()
    static = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]

    @functools.wraps(function)
    def kernel(*arrays: Any, **arguments: Any) -> Any:
        # By default products of matrices have few bits on accelerators.
        with jax.default_matmul_precision("highest"):
            return jax.tree.map(strong, function(*arrays, **arguments))

    if destructive:
        return Donating(kernel, (0,), static=static)
    if not static:
        return jit(kernel, inline=True)

    # One function of all combinations of static arguments would compare them at each call, which takes an eighth of it.
    def bind(**arguments: Any) -> Kernel:
        def bound(*arrays: Any) -> Any:
            return kernel(*arrays, **arguments)

        bound.__name__ = bound.__qualname__ = kernel.__name__
        return jit(bound, inline=True)

    return bindable(bind, function)


def bindable(bind: Callable[..., Kernel], function: Kernel) -> Kernel:
    """Return a kernel, by the name of a function, that keeps what ``bind`` makes for each combination of arguments."""
    bind = functools.lru_cache(maxsize=4096, typed=True)(bind)

    @bound_by(bind)
    @functools.wraps(function)
    def kernel(*arrays: Any, **arguments: Any) -> Any:
        return bind(**arguments)(*arrays)

    return kernel


def with_operands(kernel: Kernel) -> Callable[[Callable[..., Any]], Kernel]:
    """Pass numbers as operands, so that new ones don't recompile: the decorated function returns them.

    It gets the natives and the static arguments, and returns the numbers, each with its dtype, and the static arguments
    that are left; or ``None`` if the kernel declines.
    """

    def decorate(prepare: Callable[..., Any]) -> Kernel:
        def know(*natives: Any, **static: Any) -> Kernel | None:
            prepared = prepare(*natives, **static)
            if prepared is None:
                return None
            numbers, rest = prepared
            bound: Kernel = facts_of(kernel)["bind"](**rest) if rest else kernel

            def beside(place: Any) -> Kernel:
                return functools.partial(bound, *[number_at(value, dtype, place) for value, dtype in numbers])

            return at_place(beside)

        @known_by(know)
        @functools.wraps(prepare)
        def call(*natives: Any, **static: Any) -> Any:
            known = know(*natives, **static)
            return NotImplemented if known is None else known(*natives)

        return call

    return decorate


def casting(kernel: Kernel, inputs: Callable[..., Sequence[np.dtype[Any]]]) -> Kernel:
    """Compile an elementwise kernel with the casts of its operands to the dtypes that ``inputs`` returns for these."""
    function: Kernel = vars(kernel)["__wrapped__"]

    @functools.wraps(function)
    def casts(*arrays: Any) -> Any:
        wanted = inputs(*arrays)
        return function(*(x if x.dtype == dtype else cast(x, dtype) for x, dtype in zip(arrays, wanted, strict=True)))

    found = jit(casts, inline=True)
    found.__dict__.update(vars(kernel))
    return found


def engine(function: Kernel) -> Kernel:
    """Compile an engine's own function of arrays alone."""

    def kernel(*arrays: Any) -> Any:
        return function(*arrays)

    kernel.__name__ = kernel.__qualname__ = getattr(function, "__name__", "kernel")
    return compiled(kernel)


def is_concrete(native: Any) -> bool:
    """Return whether the values of a native array are known, that is, whether no trace computes it."""
    return not isinstance(native, jax.core.Tracer)


def is_reference(native: Any) -> bool:
    """Return whether a native is a mutable reference, which writes change in place."""
    return type(native) not in ARRAYS and isinstance(native, REFERENCES)


def in_single(function: Kernel) -> Kernel:
    """Compute in float32 what would otherwise be rounded to half precision, that of the last array, at each step."""

    @functools.wraps(function)
    def kernel(*arrays: Any, **arguments: Any) -> Any:
        dtype = arrays[-1].dtype
        if dtype not in HALF:
            return function(*arrays, **arguments)
        return function(*(x.astype(np.float32) for x in arrays), **arguments).astype(dtype)

    return kernel
