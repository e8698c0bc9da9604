"""Derivatives of functions of arrays, by the rules of the package or by the engine's own transformations."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.arrays.convert import backend_of
from .._core.arrays.structures import advice
from .._core.engines import dtypes
from .._core.engines.tracing import capture, mode
from .._core.values.arguments import as_integers, shown
from .._core.values.called import boundary
from ..container.container import flatten, unflatten
from ..errors import DtypeError, ShapeError, StructureError, UnknownShapeError
from ..modes.tape.entries import NotInline
from .plain_gradients import gradients_at_once
from .run import TransformedCall, engine_for, graph_trace, recorded

Function = Callable[..., Any]
Argnums = int | Sequence[int]
Check = Callable[[list["Array"]], None]
running_mode = mode.get


def check_floating(arrays: list[Array]) -> None:
    """Raise if a result has no derivatives because of its dtype."""
    for x in arrays:
        if dtypes.rank(x.dtype) < 2:
            raise DtypeError(
                f"a result has dtype {x.dtype}, which has no derivatives: return it beside the result, with has_aux"
            )


def _check_value(arrays: list[Array]) -> None:
    if len(arrays) != 1 or (shape := arrays[0].shape):
        found = f"{len(arrays)} arrays" if len(arrays) != 1 else f"one of shape {shape}"
        raise ShapeError(
            f"a gradient needs a function that returns one 0-d array, not {found}: sum it, or use jacobian()"
        )
    dtype = arrays[0].dtype
    if dtypes.rank(dtype) != 2:
        raise DtypeError(f"a gradient needs a function that returns a real floating-point number, not {dtype}: cast it")


@recorded
def value_and_grad(
    function: Function, argnums: Argnums = 0, has_aux: bool = False, *, backend: str | None = None
) -> Function:
    """Return a function that gives a function's value and its gradient.

    Parameters
    ----------
    function
        A function of arrays, containers and other nests of arrays that returns a real 0-d array. It runs once. It may
        write to its arguments and to arrays from outside; they have their new values when the call returns. The
        gradient is taken at the arguments' old values.
    argnums
        The position of the argument to differentiate by, or several positions.
    has_aux
        Whether the function returns a pair: its value, and anything else, which is returned too.
    backend
        The engine whose own derivatives are taken: that of the arrays, or, for NumPy's, ``"torch"`` or ``"jax"``. If
        not given, derivatives are by the rules of the package, which every backend has.

    Returns
    -------
    Callable
        A function of the same arguments that returns the value, or the value and what else, and the gradient: in the
        structure of the argument, of its dtypes, in a tuple if ``argnums`` is a sequence. They are new arrays. Of a
        complex argument ``x + iy`` it's the derivative by ``x`` minus ``i`` times that by ``y``.

    Raises
    ------
    DtypeError
        If an argument is of integers or bools, or the value isn't real.
    ShapeError
        If the value isn't 0-d.
    LostDerivativeError
        If a function without a derivative is called, or a value that has one would leave the package's functions.

    Examples
    --------
    >>> import unifyarr as ua
    >>> def loss(x, factor):
    ...     y = ua.zeros(3)
    ...     y[1:] = x
    ...     y *= factor
    ...     return ua.sum(y**2)
    >>> value, gradient = ua.value_and_grad(loss)(ua.asarray([1.0, 2.0]), 3)
    >>> value, gradient
    (array(45.), array([18., 36.]))

    Source: ``jax.value_and_grad``.
    """
    return _gradient(function, argnums, has_aux, backend, with_value=True)


@recorded
def grad(function: Function, argnums: Argnums = 0, has_aux: bool = False, *, backend: str | None = None) -> Function:
    """Return a function that gives a function's gradient.

    Parameters
    ----------
    function, argnums, backend
        As ``value_and_grad`` has them.
    has_aux
        Whether the function returns a pair, of its value and of something else: the gradient is then returned in a
        pair with that.

    Examples
    --------
    >>> import unifyarr as ua
    >>> gradient = ua.grad(lambda c: ua.sum(c.weight**2) + 3 * c.bias)
    >>> gradient(ua.Container(bias=ua.asarray(5.0), weight=ua.asarray([1.0, 2.0])))
    Container
    ├── bias: array(3.)
    └── weight: array([2., 4.])

    Source: ``jax.grad``.
    """
    return _gradient(function, argnums, has_aux, backend, with_value=False)


def _known_numbers(argnums: Argnums) -> tuple[int, ...] | None:
    """Return positions that rise, ``None`` for others: those counted from the end, and wrong ones."""
    numbers = (argnums,) if type(argnums) is int else argnums
    if type(numbers) is not tuple or not numbers or any(type(number) is not int for number in numbers):
        return None
    return numbers if all(first < second for first, second in pairwise((-1, *numbers))) else None


def _gradient(
    function: Function, argnums: Argnums, has_aux: bool, backend: str | None, *, with_value: bool
) -> Function:
    """Return a function that gives the gradient, with the value before it and what else was returned, if asked for."""
    known = _known_numbers(argnums) if backend is None and callable(function) else None

    @functools.wraps(function)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        found = None
        if known is not None and not kwargs and running_mode() is None:
            found = gradients_at_once(function, args, known, has_aux, with_value, _check_value)
        if found is not None:
            value, aux, gradients = found
            gradient = gradients[0] if known is not argnums else tuple(gradients)
        else:
            numbers, run = prepare(function, args, kwargs, argnums, has_aux, backend, _check_value)
            results, others, pullback = run.handle.vjp(run, run.natives(), True)
            natives = pullback([run.one(results[0])])
            arrays = run.outside([*results, *natives] if with_value else natives)
            value = arrays.pop(0) if with_value else None
            aux, gradient = run.finish(others), by_argument(run, argnums, numbers, arrays)
        if with_value:
            return (value, aux) if has_aux else value, gradient
        return (gradient, aux) if has_aux else gradient

    return transformed


@boundary
def vjp(function: Function, *primals: Any, has_aux: bool = False, backend: str | None = None) -> tuple[Any, ...]:
    """Call a function, and return its result and a function that computes vector-Jacobian products.

    Parameters
    ----------
    function
        A function of arrays, containers and other nests of arrays that returns such a nest, of floating-point or
        complex arrays. It runs once; see ``value_and_grad`` for what it may write.
    primals
        Its arguments: floating-point or complex arrays, and nests of them.
    has_aux
        Whether the function returns a pair, of its result and of something else, which is returned in the third place.
    backend
        As ``value_and_grad`` has it.

    Returns
    -------
    result, pullback
        The result, and a function that takes a cotangent: what is like the result. It returns a tuple with what is like
        each argument, as often as it's called, whatever is written to the arguments meanwhile.

    Examples
    --------
    >>> import unifyarr as ua
    >>> result, pullback = ua.vjp(ua.multiply, ua.asarray([1.0, 2.0]), ua.asarray([3.0, 4.0]))
    >>> result
    array([3., 8.])
    >>> pullback(ua.asarray([1.0, 10.0]))
    (array([ 3., 40.]), array([ 1., 20.]))

    Source: ``jax.vjp``.
    """
    trace = graph_trace()
    if trace is None:
        return _vjp(function, primals, has_aux, backend)
    if backend is None:
        with contextlib.suppress(NotInline, UnknownShapeError):
            return _vjp(function, primals, has_aux, backend)
    engine = engine_for(trace.backend, backend)
    return _recorded_vjp(trace.recording(function), primals, has_aux=has_aux, backend=engine)


def _vjp(function: Function, primals: tuple[Any, ...], has_aux: bool, backend: str | None) -> tuple[Any, ...]:
    numbers = range(len(primals))
    run = prepared_for(function, primals, {}, numbers, has_aux=has_aux, backend=backend, keeps=True)
    results, others, gradients = run.handle.vjp(run, run.natives(), False)
    arrays = run.outside(results)
    aux = run.finish(others)

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        """Return the product of a cotangent, which has the result's structure, with the Jacobian, for each argument."""
        given = alike(cotangent, run.spec, arrays, "the cotangent", "the result")
        found = run.pulled(gradients, given)
        return tuple(run.like_argument(number, found) for number in numbers)

    return (run.result(arrays), pullback, aux) if has_aux else (run.result(arrays), pullback)


def _recorded_vjp(recording: Function, primals: tuple[Any, ...], **options: Any) -> tuple[Any, ...]:
    """Do the same in the trace of a graph: one operation computes the result, another one the pullback."""

    def forward(function: Function) -> Function:
        return lambda *args: vjp(function, *args, **options)[::2]

    def backward(function: Function) -> Function:
        return lambda *args: vjp(function, *args[:-1], **options)[1](args[-1])

    leaves, spec = flatten(primals)
    # A copy, since the arguments may be written before the pullback is called.
    kept = unflatten(spec, [x.copy() if isinstance(x, Array) else x for x in leaves])
    result, *aux = recording("vjp", forward, primals, {})

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        found: tuple[Any, ...] = recording("pullback", backward, (*kept, cotangent), {})
        return found

    return result, pullback, *aux


@boundary
def jvp(
    function: Function,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
    *,
    backend: str | None = None,
) -> tuple[Any, ...]:
    """Call a function, and return its result and the product of its Jacobian with a vector.

    Parameters
    ----------
    function
        As ``vjp`` has it.
    primals
        A tuple of its arguments: floating-point or complex arrays, and nests of them.
    tangents
        A tuple of directions, each like its argument.
    has_aux
        Whether the function returns a pair, of its result and of something else, which is returned in the third place.
    backend
        As ``value_and_grad`` has it.

    Returns
    -------
    result, tangent
        The result, and its derivative in the direction of the tangents, which is like it.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.jvp(lambda x: x**2, (ua.asarray([1.0, 2.0]),), (ua.asarray([1.0, 10.0]),))
    (array([1., 4.]), array([ 2., 40.]))

    Source: ``jax.jvp``.
    """
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise TypeError(f"{name} is a tuple, with one for each argument, not {shown(given)}")
    found: tuple[Any, ...] = _pushed(function, has_aux, backend=backend)(tuple(primals), tuple(tangents))
    return found


@functools.partial(recorded, name="jvp")
def _pushed(function: Function, has_aux: bool, *, backend: str | None) -> Function:
    def push(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, ...]:
        run = prepared_for(function, primals, {}, range(len(primals)), has_aux=has_aux, backend=backend)
        _, spec = flatten(primals)
        leaves = alike(tangents, spec, run.arrays(), "the tangent", "the arguments")
        results, pushed, others = run.handle.jvp(
            run, [run.native(x) for x in run.arrays()], [run.native(x) for x in leaves]
        )
        arrays = run.outside([*results, *pushed], *leaves)
        aux = run.finish(others)
        pair = run.result(arrays[: len(results)]), run.result(arrays[len(results) :])
        return (*pair, aux) if has_aux else pair

    return push


def prepared_for(
    function: Function,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    numbers: Sequence[int],
    check: Check = check_floating,
    **options: Any,
) -> TransformedCall:
    """Return a function with its arguments, of which some are differentiated by."""
    run = TransformedCall(function, args, kwargs, numbers, check=check, **options)
    for number in numbers:
        for place in run.of_argument[number]:
            x = run.leaves[place]
            if x is None or (isinstance(x, Array) and x.dtype.rank > 1):
                continue
            what = f"argument {number} of {getattr(function, '__name__', 'the function')}() is differentiated"
            if not isinstance(x, Array):
                raise TypeError(f"{what}: it must be an array or a nest of arrays, not {x!r:.80}: {advice(x)}")
            raise DtypeError(f"{what}: cast it from {x.dtype} to a floating-point dtype")
    if not run.places:
        raise TypeError("the arguments to differentiate by contain no array: pass one, or other argnums")
    return run


def prepare(
    function: Function,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    argnums: Argnums,
    has_aux: bool,
    backend: str | None,
    check: Check,
) -> tuple[list[int], TransformedCall]:
    """Return the positions of the differentiated arguments, and the function with its arguments."""
    count = len(args)
    if type(argnums) is int and 0 <= argnums < count:
        return [argnums], prepared_for(function, args, kwargs, (argnums,), check, has_aux=has_aux, backend=backend)
    numbers = list(as_integers(argnums, "argnums"))
    if any(not -count <= number < count for number in numbers) or len({n % count for n in numbers}) < len(numbers):
        raise ValueError(f"argnums has positions of the {count} positional arguments, not {argnums!r}")
    numbers = [number % count for number in numbers]
    return numbers, prepared_for(function, args, kwargs, numbers, has_aux=has_aux, backend=backend, check=check)


def by_argument(run: TransformedCall, argnums: Argnums, numbers: Sequence[int], arrays: Sequence[Any]) -> Any:
    """Return arrays in the structure of the differentiated argument, or a tuple of these if there are several."""
    if isinstance(argnums, int):
        return run.like_argument(numbers[0], arrays)
    return tuple([run.like_argument(number, arrays) for number in numbers])


def alike(tree: Any, spec: Any, like: Sequence[Array], what: str, model: str) -> list[Array]:
    """Return the arrays of a nest with the structure of another one; ``None`` where that has no array."""
    leaves, found = flatten(tree)
    if found != spec:
        raise StructureError(f"{what} has the structure of {model}, {spec}, not {found}")
    given = [x for x in leaves if x is not None]
    if len(given) != len(like):
        raise StructureError(f"{what} has {len(given)} arrays, but {model} {len(like)}")
    arrays = []
    for x, model_array in zip(given, like, strict=True):
        array = x if isinstance(x, Array) else ua.asarray(x, backend=None if backend_of(x) else model_array.backend)
        if array.shape != model_array.shape:
            raise ShapeError(f"{what} has shape {array.shape} where {model} has {model_array.shape}")
        dtypes.check_cast(array.dtype, model_array.dtype, what)
        # What is from outside of a running trace has a stand-in there.
        arrays.append(capture(ua.astype(array, model_array.dtype, copy=False)))
    return arrays
