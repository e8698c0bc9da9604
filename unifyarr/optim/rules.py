"""The optimizers: each a formula for one parameter, and the numbers that it takes for all of them."""

from __future__ import annotations

from functools import partial
from typing import Any

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.engines import dtypes
from .._core.values.called import boundary
from .nests import as_number, as_positive, as_share, squared
from .optimizer import Optimizer, Schedule

Rate = float | Array | Schedule


def _as_rate(rate: Any) -> Any:
    return rate if callable(rate) and not isinstance(rate, Array) else as_number(rate, "rate")


@boundary
def sgd(
    rate: Rate,
    *,
    momentum: float = 0.0,
    dampening: float = 0.0,
    nesterov: bool = False,
    weight_decay: float = 0.0,
) -> Optimizer:
    """Return gradient descent: ``x -= rate * g``, with or without momentum.

    Parameters
    ----------
    rate
        The learning rate: a number, a 0-d array, which may change between steps, or a schedule.
    momentum
        What is kept of the velocity in a step: ``v = momentum * v + g``, and ``x -= rate * v``.
    dampening
        ``v = momentum * v + (1 - dampening) * g`` from the second step on.
    nesterov
        Whether the step is ``g + momentum * v``, with the new velocity.
    weight_decay
        ``weight_decay * x`` is added to the gradient.

    Returns
    -------
    Optimizer
        Its state has ``steps``, and with momentum ``velocity``.

    Raises
    ------
    ValueError
        If a number is negative, or ``nesterov`` goes without momentum or with dampening.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x, optimizer = ua.asarray(1.0), ua.optim.sgd(0.1, momentum=0.9)
    >>> state = optimizer.init(x)
    >>> for _ in range(2):
    ...     optimizer.update(x, ua.asarray(1.0), state)
    >>> x, state.velocity
    (array(0.71), array(1.9))

    Source: ``torch.optim.SGD``.
    """
    rate = _as_rate(rate)
    momentum, dampening = as_positive(momentum, "momentum"), as_positive(dampening, "dampening")
    decay = as_positive(weight_decay, "weight_decay")
    if nesterov and (momentum == 0.0 or dampening != 0.0):
        raise ValueError("nesterov needs momentum, and no dampening: pass momentum=0.9")
    if momentum == 0.0:
        return Optimizer("sgd", rate, {}, _rate_alone, partial(_plain_sgd, decay))
    numbers, formula = partial(_sgd_numbers, dampening), partial(_sgd, decay, momentum, dampening, nesterov)
    return Optimizer("sgd", rate, {"velocity": False}, numbers, formula)


# Formulas are functions of the module with their first arguments, so that an optimizer can be pickled.
def _rate_alone(rate: Any, steps: Array) -> tuple[Any, ...]:
    return (rate,)


def _decayed(decay: float, x: Array, g: Array) -> Array:
    return g + decay * x if decay else g


def _plain_sgd(decay: float, x: Array, g: Array, rate: Any) -> tuple[Array, ...]:
    return (x - rate * _decayed(decay, x, g),)


def _sgd_numbers(dampening: float, rate: Any, steps: Array) -> tuple[Any, ...]:
    # The first velocity is the gradient, undampened.
    return rate, (1.0 if dampening == 0.0 else ua.where(steps == 1, 1.0, 1.0 - dampening))


def _sgd(
    decay: float, momentum: float, dampening: float, nesterov: bool,
    x: Array, g: Array, velocity: Array, rate: Any, taken: Any,
) -> tuple[Array, ...]:  # fmt: skip
    g = _decayed(decay, x, g)
    velocity = momentum * velocity + (g if dampening == 0.0 else taken * g)
    return x - rate * (g + momentum * velocity if nesterov else velocity), velocity


@boundary
def adam(
    rate: Rate = 1e-3, *, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, amsgrad: bool = False
) -> Optimizer:
    """Return Adam: each element moves by its mean gradient, divided by the root of its mean square.

    Parameters
    ----------
    rate
        The learning rate: a number, a 0-d array, which may change between steps, or a schedule.
    betas
        What is kept of the mean and of the mean square in a step.
    eps
        What is added to the root.
    amsgrad
        Whether the greatest mean square so far takes the place of the mean square, as torch has it.

    Returns
    -------
    Optimizer
        Its state has ``steps``, ``mean`` and ``square``, and with ``amsgrad`` ``greatest``.

    Raises
    ------
    ValueError
        If a number is negative, or one of ``betas`` is 1 or more.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x, optimizer = ua.asarray([1.0, 1.0]), ua.optim.adam(0.1)
    >>> optimizer.update(x, ua.asarray([3.0, -0.001]), optimizer.init(x))
    >>> ua.round(1000 * x)
    array([ 900., 1100.])

    Source: Kingma and Ba, "Adam: a method for stochastic optimization" (2015); ``torch.optim.Adam``.
    """
    return _adam("adam", rate, betas, eps, 0.0, amsgrad)


@boundary
def adamw(
    rate: Rate = 1e-3,
    *,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
    amsgrad: bool = False,
) -> Optimizer:
    """Return Adam with decoupled weight decay: parameters shrink by ``rate * weight_decay * x`` in each step.

    Parameters
    ----------
    rate, betas, eps, amsgrad
        As ``adam`` has them.
    weight_decay
        How much parameters shrink.

    Returns
    -------
    Optimizer
        Its state is that of ``adam``.

    Raises
    ------
    ValueError
        If a number is negative, or one of ``betas`` is 1 or more.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x, optimizer = ua.asarray([1.0]), ua.optim.adamw(0.1, weight_decay=0.5)
    >>> optimizer.update(x, ua.asarray([0.0]), optimizer.init(x))
    >>> x
    array([0.95])

    Source: Loshchilov and Hutter, "Decoupled weight decay regularization" (2019); ``torch.optim.AdamW``.
    """
    return _adam("adamw", rate, betas, eps, as_positive(weight_decay, "weight_decay"), amsgrad)


def _adam(name: str, rate: Any, betas: Any, eps: Any, decay: float, amsgrad: bool) -> Optimizer:
    rate, eps = _as_rate(rate), as_positive(eps, "eps")
    try:
        first, second = betas
    except (TypeError, ValueError):
        raise TypeError(f"betas is a pair of numbers, not {betas!r:.80}") from None
    first, second = as_share(first, "betas[0]"), as_share(second, "betas[1]")
    slots = {"mean": False, "square": True, **({"greatest": True} if amsgrad else {})}
    numbers, formula = partial(_adam_numbers, first, second, decay), partial(_adam_step, first, second, eps, amsgrad)
    return Optimizer(name, rate, slots, numbers, formula)


def _adam_numbers(first: float, second: float, decay: float, rate: Any, steps: Array) -> tuple[Any, ...]:
    steps = ua.astype(steps, dtypes.float64)
    # The means began at 0, and are corrected for that bias.
    scale = rate / (1.0 - first**steps)
    return scale, ua.sqrt(1.0 - second**steps), *((1.0 - rate * decay,) if decay else ())


def _adam_step(
    first: float, second: float, eps: float, amsgrad: bool, x: Array, g: Array, mean: Array, square: Array, *others: Any
) -> tuple[Array, ...]:
    greatest, (scale, root, *shrunk) = others[:amsgrad], others[amsgrad:]
    mean = first * mean + (1.0 - first) * g
    square = second * square + (1.0 - second) * squared(g)
    kept = [ua.maximum(each, square) for each in greatest]
    kept_of_x = shrunk[0] * x if shrunk else x
    deviation = ua.sqrt(kept[0] if kept else square) / root + eps
    return kept_of_x - scale * mean / deviation, mean, square, *kept


@boundary
def rmsprop(
    rate: Rate = 1e-2, *, decay: float = 0.99, eps: float = 1e-8, momentum: float = 0.0, centered: bool = False
) -> Optimizer:
    """Return RMSProp: each element moves by its gradient, divided by the root of its mean square.

    Parameters
    ----------
    rate
        The learning rate: a number, a 0-d array, which may change between steps, or a schedule.
    decay
        What is kept of the mean square in a step.
    eps
        What is added to the root.
    momentum
        What is kept of the velocity in a step: ``v = momentum * v + g / (root + eps)``, and ``x -= rate * v``.
    centered
        Whether the variance takes the place of the mean square.

    Returns
    -------
    Optimizer
        Its state has ``steps`` and ``square``, with momentum ``velocity``, and ``mean`` if it's centered.

    Raises
    ------
    ValueError
        If a number is negative, or ``decay`` is 1 or more.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x, optimizer = ua.asarray([1.0, 1.0]), ua.optim.rmsprop(0.1, decay=0.0)
    >>> optimizer.update(x, ua.asarray([3.0, -0.5]), optimizer.init(x))
    >>> ua.round(1000 * x)
    array([ 900., 1100.])

    Source: Tieleman and Hinton, lecture 6.5 of "Neural networks for machine learning" (2012); ``torch.optim.RMSprop``.
    """
    rate, decay, eps = _as_rate(rate), as_share(decay, "decay"), as_positive(eps, "eps")
    momentum = as_positive(momentum, "momentum")
    slots = {
        "square": True,
        **({"mean": False} if centered else {}),
        **({"velocity": False} if momentum else {}),
    }
    return Optimizer("rmsprop", rate, slots, _rate_alone, partial(_rmsprop, decay, eps, momentum, centered))


def _rmsprop(
    decay: float, eps: float, momentum: float, centered: bool, x: Array, g: Array, square: Array, *others: Any
) -> tuple[Array, ...]:
    *kept, rate = others
    square = decay * square + (1.0 - decay) * squared(g)
    new, variance = [square], square
    if centered:
        mean = decay * kept.pop(0) + (1.0 - decay) * g
        new.append(mean)
        # Rounding may leave less than nothing.
        variance = ua.maximum(square - squared(mean), 0.0)
    step = g / (ua.sqrt(variance) + eps)
    if momentum:
        step = momentum * kept.pop(0) + step
        new.append(step)
    return x - rate * step, *new
