"""Products with derivatives as linear maps: ``linearize``, and ``hvp`` for second derivatives."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from .._core.arrays.array import Array
from .._core.values.called import boundary
from ..container.container import flatten, unflatten
from ..errors import UnknownShapeError
from ..modes.tape.entries import NotInline
from ..modes.tape.handle import TapeHandle
from .gradients import Argnums, Function, alike, grad, jvp, prepared_for
from .run import engine_for, graph_trace


@boundary
def linearize(function: Function, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Call a function, and return its result and its derivative there, as a function of directions.

    The function runs once. What ``jvp`` computes anew for each direction is kept here: only the linear part runs for
    each.

    Parameters
    ----------
    function
        As ``vjp`` has it.
    primals
        Its arguments: floating-point or complex arrays, and nests of them.
    has_aux
        Whether the function returns a pair, of its result and of something else, which is returned in the third place.

    Returns
    -------
    result, pushforward
        The result, and a function that takes a direction for each argument, each like it. It returns the derivative in
        that direction, which is like the result, as often as it's called, whatever is written to the arguments
        meanwhile.

    Raises
    ------
    TraceError
        If the second function is called after the compiled function, or the derivative around, in which it was made.

    Examples
    --------
    >>> import unifyarr as ua
    >>> result, pushforward = ua.linearize(lambda x: x**2, ua.asarray([1.0, 2.0]))
    >>> result
    array([1., 4.])
    >>> pushforward(ua.asarray([1.0, 0.0])), pushforward(ua.asarray([0.0, 1.0]))
    (array([2., 0.]), array([0., 4.]))

    Source: ``jax.linearize``.
    """
    trace = graph_trace()
    if trace is None:
        return _linearize(function, primals, has_aux)
    with contextlib.suppress(NotInline, UnknownShapeError):
        return _linearize(function, primals, has_aux)
    return _recorded(trace, function, primals, has_aux)


def _linearize(function: Function, primals: tuple[Any, ...], has_aux: bool) -> tuple[Any, ...]:
    run = prepared_for(function, primals, {}, range(len(primals)), has_aux=has_aux, keeps=True)
    given, models = [run.native(x) for x in run.arrays()], run.arrays()
    if isinstance(run.handle, TapeHandle):
        results, others, push = run.handle.linearize(run, given)
    else:
        # Inside an engine's own derivative it's that engine's, which keeps nothing.
        results, others = run(*given)
        push = lambda tangents: run.handle.jvp(run, given, tangents)[1]  # noqa: E731
    arrays = run.outside(results)
    aux = run.finish(others)
    _, spec = flatten(primals)

    def pushforward(*tangents: Any) -> Any:
        """Return the derivative of the result in the direction of tangents, one like each argument."""
        along = alike(tangents, spec, models, "the tangent", "the arguments")
        return run.result(run.pulled(push, along, "pushforward"))

    return (run.result(arrays), pushforward, aux) if has_aux else (run.result(arrays), pushforward)


def _recorded(trace: Any, function: Function, primals: tuple[Any, ...], has_aux: bool) -> tuple[Any, ...]:
    """Do the same by operations of the trace: one computes the result, another one a product, from the beginning."""
    engine, recording = engine_for(trace.backend, None), trace.recording(function)
    leaves, spec = flatten(primals)
    # A copy, since the arguments may be written before the product is asked for.
    kept = unflatten(spec, [x.copy() if isinstance(x, Array) else x for x in leaves])

    # The operation outlives the trace, whose arrays it mustn't keep.
    count = len(primals)

    def product(place: slice) -> Callable[[Function], Function]:
        def of(function: Function) -> Function:
            return lambda *both: jvp(function, both[:count], both[count:], has_aux, backend=engine)[place]

        return of

    result, *aux = recording("linearize", product(slice(0, None, 2)), (*primals, *kept), {})

    def pushforward(*tangents: Any) -> Any:
        return recording("pushforward", product(slice(1, 2)), (*kept, *tangents), {})[0]

    return result, pushforward, *aux


@boundary
def hvp(
    function: Function,
    primals: Sequence[Any],
    tangents: Sequence[Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    backend: str | None = None,
) -> Any:
    """Return the product of a function's Hessian with a vector, at about the cost of two gradients.

    It is the derivative of the gradient in the direction of the tangents, forward mode over reverse mode:
    ``jvp(grad(function), primals, tangents)[1]``. No Hessian is made.

    Parameters
    ----------
    function
        As ``grad`` has it: it returns a real 0-d array.
    primals
        A tuple of its arguments: floating-point or complex arrays, and nests of them.
    tangents
        A tuple of directions, each like its argument.
    argnums
        The position of the argument that the gradient is taken by, or several positions.
    has_aux
        Whether the function returns a pair, of its value and of something else: the product is then returned in a pair
        with that.
    backend
        As ``value_and_grad`` has it.

    Returns
    -------
    product
        What is like the argument, in a tuple if ``argnums`` is a sequence: new arrays.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.hvp(lambda x: x[0] ** 2 * x[1], (ua.asarray([1.0, 2.0]),), (ua.asarray([1.0, 0.0]),))
    array([4., 2.])

    Source: ``jax.jvp`` of ``jax.grad``, as its documentation composes them; ``torch.autograd.functional.hvp``.
    """
    gradient = grad(function, argnums, has_aux, backend=backend)
    found = jvp(gradient, primals, tangents, has_aux, backend=backend)
    return found[1:] if has_aux else found[1]
