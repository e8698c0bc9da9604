"""Recurrent layers: loops over the steps of sequences, whose state goes from step to step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .._core.arrays.array import Array
from .._core.arrays.convert import as_array, check_real, device_of
from .._core.arrays.nest import Nest
from .._core.declaring.declare import compositional
from .._core.engines import dtypes
from .._core.values import above
from .._core.values.arguments import shown
from .._core.values.shapes import as_axis
from ..errors import AxisError, ShapeError
from ..typing import Shape
from .activations import sigmoid
from .creation import zeros_like
from .elementwise import add, multiply, subtract, tanh
from .layers import linear
from .manipulation import broadcast_to, concat, moveaxis, split, stack

State = tuple[Array, ...]
# Takes the products of a step's input, the products of the hidden state, and the state; returns the new state.
Cell = Callable[[Array, Array, State], State]
WEIGHTS, BIASES = ("weight_ih", "weight_hh"), ("bias_ih", "bias_hh")


class LSTMResult(NamedTuple):
    """The result of ``nn.lstm``."""

    outputs: Array
    hidden: Array
    cell: Array


class GRUResult(NamedTuple):
    """The result of ``nn.gru``."""

    outputs: Array
    hidden: Array


@compositional(namespace="nn")
def lstm(
    x: Array,
    parameters: Mapping[str, Array] | Nest,
    hidden: Array | None = None,
    cell: Array | None = None,
    *,
    axis: int = -2,
    reverse: bool = False,
    out: tuple[Array, ...] | None = None,
) -> LSTMResult:
    """Run a recurrent layer with gates and a memory cell over sequences: long short-term memory.

    A step computes, with ``*`` for products of elements and ``@`` for products of matrices::

        i, f, g, o = split(weight_ih @ x + bias_ih + weight_hh @ hidden + bias_hh, 4)
        cell = sigmoid(f) * cell + sigmoid(i) * tanh(g)
        hidden = sigmoid(o) * tanh(cell)

    Parameters
    ----------
    x
        An array of shape (..., L, I) with L steps, whose axis may be another one: the last axis is that of features.
        Bools and integers are taken as float64.
    parameters
        A container or a mapping with the names that ``torch.nn.LSTM`` gives its parameters: ``weight_ih_l0`` of shape
        (4H, I), ``weight_hh_l0`` of shape (4H, H), and ``bias_ih_l0`` and ``bias_hh_l0`` of shape (4H,), both or none.
        The rows belong to the gates i, f, g, o, in this order. A second layer has ``l1`` in its names, and takes the
        outputs of the first. Where there's ``weight_ih_l0_reverse`` and the like, each layer runs in both directions,
        and its outputs are joined.
    hidden, cell
        The states to begin with: arrays that broadcast to shape (layers * directions, ..., H), with the directions of a
        layer side by side. Zeros by default.
    axis
        The axis of the steps. It isn't the last one.
    reverse
        Whether to begin with the last step. Its output has the place of that step all the same.
    out
        Three arrays of the results' shapes for the results.

    Returns
    -------
    LSTMResult
        A named tuple of new arrays, or ``out``: the ``outputs`` of the last layer, of the shape of ``x`` with
        directions * H features, and ``hidden`` and ``cell`` after the last step, of shape
        (layers * directions, ..., H). Their dtype is the one that all arguments promote to.

    Raises
    ------
    ValueError
        If a parameter is missing, or has a name that isn't known.
    ShapeError
        If the shapes don't fit together.
    DtypeError
        If an array is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> parameters = {"weight_ih_l0": ua.ones((4, 1)), "weight_hh_l0": ua.zeros((4, 1))}
    >>> outputs, hidden, cell = ua.nn.lstm(ua.asarray([[0.0], [900.0], [900.0]]), parameters)
    >>> cell
    array([[2.]])

    Source: Hochreiter and Schmidhuber, "Long short-term memory" (1997); the formulas are those of ``torch.nn.LSTM``.
    """
    return LSTMResult(*_layers("lstm", 4, _memory, x, parameters, (hidden, cell), axis, reverse))


@compositional(namespace="nn")
def gru(
    x: Array,
    parameters: Mapping[str, Array] | Nest,
    hidden: Array | None = None,
    *,
    axis: int = -2,
    reverse: bool = False,
    out: tuple[Array, ...] | None = None,
) -> GRUResult:
    """Run a recurrent layer with gates over sequences: gated recurrent units.

    A step computes, with ``*`` for products of elements and ``@`` for products of matrices::

        r, z = split(sigmoid(weight_ih @ x + bias_ih + weight_hh @ hidden + bias_hh), 2), in the first two thirds
        n = tanh(weight_ih @ x + bias_ih + r * (weight_hh @ hidden + bias_hh)), in the last third
        hidden = (1 - z) * n + z * hidden

    Parameters
    ----------
    x
        An array of shape (..., L, I) with L steps, whose axis may be another one: the last axis is that of features.
        Bools and integers are taken as float64.
    parameters
        A container or a mapping with the names that ``torch.nn.GRU`` gives its parameters, as ``lstm`` takes them. The
        shapes have 3H in the place of 4H, and the rows belong to r, z and n, in this order.
    hidden
        The state to begin with: an array that broadcasts to shape (layers * directions, ..., H). Zeros by default.
    axis
        The axis of the steps. It isn't the last one.
    reverse
        Whether to begin with the last step. Its output has the place of that step all the same.
    out
        Two arrays of the results' shapes for the results.

    Returns
    -------
    GRUResult
        A named tuple of new arrays, or ``out``: the ``outputs`` of the last layer, of the shape of ``x`` with
        directions * H features, and ``hidden`` after the last step, of shape (layers * directions, ..., H). Their dtype
        is the one that all arguments promote to.

    Raises
    ------
    ValueError
        If a parameter is missing, or has a name that isn't known.
    ShapeError
        If the shapes don't fit together.
    DtypeError
        If an array is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> parameters = {"weight_ih_l0": ua.asarray([[0.0], [0.0], [900.0]]), "weight_hh_l0": ua.zeros((3, 1))}
    >>> ua.nn.gru(ua.ones((3, 1)), parameters).outputs
    array([[0.5  ],
           [0.75 ],
           [0.875]])

    Source: Cho et al., "Learning phrase representations using RNN encoder-decoder" (2014); the formulas are those of
    ``torch.nn.GRU``.
    """
    return GRUResult(*_layers("gru", 3, _gated, x, parameters, (hidden,), axis, reverse))


def _memory(given: Array, recurrent: Array, state: State) -> State:
    gates, size = add(given, recurrent), state[1].shape[-1]
    # One call for all gates costs less than three, though a quarter of its result is unused.
    i, f, _, o = split(sigmoid(gates), 4, axis=-1)
    cell = add(multiply(f, state[1]), multiply(i, tanh(gates[..., 2 * size : 3 * size])))
    return multiply(o, tanh(cell)), cell


def _gated(given: Array, recurrent: Array, state: State) -> State:
    size = state[0].shape[-1]
    gates = sigmoid(add(given[..., : 2 * size], recurrent[..., : 2 * size]))
    reset, kept = gates[..., :size], gates[..., size:]
    new = tanh(add(given[..., 2 * size :], multiply(reset, recurrent[..., 2 * size :])))
    return (add(new, multiply(kept, subtract(state[0], new))),)


def _layers(
    name: str,
    gates: int,
    cell: Cell,
    x: Array,
    parameters: Any,
    initial: tuple[Array | None, ...],
    axis: int,
    reverse: bool,
) -> list[Array]:
    """Return the outputs of the last layer, and the states of all."""
    if x.ndim < 2 or (axis := as_axis(axis, x.ndim)) == x.ndim - 1:
        raise AxisError(f"{name}() takes the steps along an axis before the last, not along axis {axis} of {x.shape}")
    given = _named(name, parameters, x)
    sets, directions = _sets(name, given)
    arrays = [x, *given.values(), *(each for each in initial if each is not None)]
    for each in arrays:
        check_real(each, name)
    dtype = dtypes.promote(*(each.dtype for each in arrays))
    dtype = dtype if dtypes.rank(dtype) > 1 else dtypes.float64
    wide = dtypes.float32 if dtype in dtypes.HALVES else dtype
    rows, steps_at = x.astype(wide, copy=False), axis
    size = given["weight_hh_l0"].shape[-1]
    shape = (len(sets), *(n for place, n in enumerate(x.shape[:-1]) if place != axis), size)
    begin = [_begin(name, each, shape, wide) for each in initial]
    ends: list[State] = []
    for first in range(0, len(sets), directions):
        outputs = []
        for place in range(first, first + directions):
            weights = [each.astype(wide, copy=False) for each in sets[place]]
            backwards = bool(reverse) != (place > first)
            state = [each if each is None else each[place, ...] for each in begin]
            end, output = _run(name, gates, cell, rows, steps_at, weights, state, size, backwards)
            ends.append(end)
            outputs.append(output)
        rows, steps_at = concat(outputs, axis=-1) if directions > 1 else outputs[0], 0
    after = [stack(list(each)) for each in zip(*ends, strict=True)]
    return [each.astype(dtype, copy=False) for each in (moveaxis(rows, 0, axis), *after)]


def _run(
    name: str,
    gates: int,
    cell: Cell,
    rows: Array,
    axis: int,
    weights: list[Array],
    state: list[Array | None],
    size: int,
    backwards: bool,
) -> tuple[State, Array]:
    """Return the state after the last step of one layer in one direction, and the outputs of all steps."""
    features, wanted = rows.shape[-1], gates * size
    shapes = [(wanted, features), (wanted, size), (wanted,), (wanted,)]
    for each, shape in zip(weights, shapes, strict=False):
        if each.shape != shape:
            raise ShapeError(
                f"{name}() takes weights of shapes {shapes[0]} and {shapes[1]} and biases of shape {shapes[2]} for "
                f"{features} features and {size} hidden ones, not {', '.join(str(each.shape) for each in weights)}"
            )
    into, onto, *biases = weights
    # The products of all inputs at once; a step has those of the hidden state.
    given = moveaxis(linear(rows, into, *biases[:1]), axis, 0)

    def step(state: State, given: Array) -> tuple[State, Array]:
        state = cell(given, linear(state[0], onto, *biases[1:]), state)
        return state, state[0]

    # On the common backend of inputs and parameters.
    nothing = zeros_like((given[0] if given.shape[0] else given[:1].sum(axis=0))[..., :size])
    begin = tuple(nothing if each is None else add(each, nothing) for each in state)
    vars(step)["is_pure"] = True
    found: tuple[State, Array] = above.package.scan(step, begin, given, reverse=backwards)
    return found


def _begin(name: str, given: Array | None, shape: Shape, dtype: Any) -> Array | None:
    if given is None:
        return None
    if given.ndim > len(shape) or any(n not in (1, m) for n, m in zip(given.shape[::-1], shape[::-1], strict=False)):
        raise ShapeError(f"a state of {name}() broadcasts to shape {shape}, unlike shape {given.shape}")
    return broadcast_to(given.astype(dtype, copy=False), shape)


def _named(name: str, parameters: Any, x: Array) -> dict[str, Array]:
    if not isinstance(parameters, (Mapping, Nest)):
        raise TypeError(f"parameters of {name}() are a container or a mapping of names, not {shown(parameters)}")
    # A container iterates over its names as a mapping does.
    named: Any = parameters
    items = {str(key): named[key] for key in named}
    device = device_of([x], x._backend)
    return {key: each if isinstance(each, Array) else as_array(each, x._backend, device) for key, each in items.items()}


def _sets(name: str, given: dict[str, Array]) -> tuple[list[list[Array]], int]:
    """Return the parameters of each layer and direction, and the number of directions."""
    kinds = (*WEIGHTS, *BIASES) if "bias_ih_l0" in given or "bias_hh_l0" in given else WEIGHTS
    endings = ("", "_reverse") if "weight_ih_l0_reverse" in given else ("",)
    count = 1
    while f"weight_ih_l{count}" in given:
        count += 1
    names = [[f"{kind}_l{layer}{ending}" for kind in kinds] for layer in range(count) for ending in endings]
    wanted = {each for several in names for each in several}
    if wanted != given.keys():
        missing, unknown = sorted(wanted - given.keys()), sorted(given.keys() - wanted)
        raise ValueError(
            f"parameters of {name}() are named as torch's: {', '.join(missing) or 'none'} missing, "
            f"{', '.join(unknown) or 'none'} unknown"
        )
    return [[given[each] for each in several] for several in names], len(endings)
