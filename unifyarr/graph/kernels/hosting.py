"""Running operations that people made, on natives of a backend: results are checked, and derivatives are declared ones.

Engines don't look into such an operation: where a derivative is taken, it's the one that ``grad`` of the operation
gives, and an error if there's none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ... import functions
from ..._core.arrays.array import Array, wrap
from ..._core.arrays.ownership import read
from ..._core.calling.applications import as_native
from ..._core.engines.handle import Handle
from ..._core.engines.registry import load
from ..._core.engines.tracing import running
from ..._core.values.native import Native
from ...errors import BackendFeatureError, InvalidValueError
from ...modes.scope import Scope
from ...modes.tape.entries import NotInline
from ...modes.tape.function_calls import where_natives_are
from ..core.basic import Apply, Op, Type, Variable

PACKAGE = __name__.partition(".")[0] + "."
Run = Callable[..., Any]


def is_users(op: Op) -> bool:
    """Return whether an operation was made by people, and isn't one of the package's own."""
    return op.is_hosted or type(op) is Op or not type(op).__module__.startswith(PACKAGE)


def bound_on(backend: Handle) -> Callable[[Apply], Run]:
    """Return a function that returns for a node what computes it on natives of a backend."""
    return lambda node: run_of(backend, node)


def run_of(backend: Handle, node: Apply) -> Run:
    """Return a function of natives of a backend, and of ``out=``, that computes a node."""
    run = performed_on(backend, node)
    if not is_users(node.op):
        return run
    several = len(node.outputs) > 1

    def compute(*natives: Native, out: object = None) -> Any:
        if backend.around is not backend:
            results: Sequence[object] = _inside(backend, node, natives)
        elif backend.can_transform and (not backend.mutable or any(map(backend.carries_derivative, natives))):
            results = _differentiable(backend, node)(*natives)
        else:
            results = _checked(backend, node, run(*natives, out=out))
        return tuple(results) if several else results[0]

    return compute


def performed_on(backend: Handle, node: Apply) -> Run:
    """Return what ``perform`` gives for natives of a backend, by way of NumPy's arrays if it declares these."""
    run, numpy = node.op.bound_on(backend, node), node.op.natives
    if numpy is None:
        return run
    on_host, several = load(numpy), len(node.outputs) > 1

    def compute(*arrays: object) -> list[Any]:
        found = _checked(on_host, node, run(*arrays))
        for x, variable in zip(found, node.outputs, strict=True):
            _check_type(node, x, variable.type)
        return found

    def types() -> list[object]:
        return [_known_type(node, each.type) for each in node.outputs]

    def perform(*natives: Any, out: object = None) -> object:
        found = compute(*natives) if backend.name == numpy else backend.on_host(compute, natives, types)
        return tuple(found) if several else found[0]

    return perform


def _check_type(node: Apply, x: Any, wanted: Any) -> None:
    if wanted is None:
        return
    if not fits(x.shape, wanted.shape) or x.dtype != wanted.dtype:
        raise InvalidValueError(
            f"perform of {node.op} returned shape {x.shape} and dtype {x.dtype}, but infer says "
            f"{tuple(wanted.shape)} and {wanted.dtype}: correct infer, or the result"
        )


def fits(shape: Sequence[int], wanted: Sequence[int | None]) -> bool:
    """Return whether a shape is one of which some lengths may not be known."""
    return len(shape) == len(wanted) and all(w is None or w == n for n, w in zip(shape, wanted, strict=True))


def _known_type(node: Apply, type: Any) -> object:
    if type is None or None in type.shape:
        raise BackendFeatureError(
            f"{node.op} is computed on the host, and the engine has to know the shape and dtype of its results before: "
            "declare infer, or compile for numpy or torch"
        )
    return type


def _checked(backend: Handle, node: Apply, found: object) -> list[Native]:
    """Return what ``perform`` returned as a list of natives."""
    what = f"perform of {node.op}"
    if found is None:
        raise TypeError(f"{what} returned None: return the result, or a tuple with each")
    results = list(found) if len(node.outputs) > 1 and isinstance(found, Sequence) else [found]
    if len(results) != len(node.outputs):
        raise TypeError(f"{what} returned {len(results)} results, but {node} has {len(node.outputs)} outputs")
    natives = [as_native(what, each, backend) for each in results]
    # NumPy's own scalars count as natives, but an array holds none.
    return [x if type(x) is backend.native_type else backend.as_native(x) for x in natives]


def _differentiable(backend: Handle, node: Apply) -> Callable[..., Sequence[object]]:
    """Return a function of natives that computes a node, and whose derivative is ``grad`` of its operation."""
    scope = running()
    # Functions of NumPy's arrays are differentiated by another engine, whose natives ``perform`` doesn't take.
    home = scope.backend if isinstance(scope, Scope) and scope.backend.name != backend.name else None
    victims = frozenset(node.op.victims(node))

    def forward(*natives: Native) -> list[Native]:
        given = natives if home is None else [home.from_numpy(backend.to_numpy(x), copy=True) for x in natives]
        owner = home or backend
        # What belongs to the engine, or is needed for the derivative, must not change. Inside a transformation no
        # engine counts as mutable.
        given = [owner.copy(x) if place in victims else x for place, x in enumerate(given)]
        found = _checked(owner, node, performed_on(owner, node)(*given))
        if home is not None:
            return [backend.from_numpy(home.to_numpy(x), copy=True) for x in found]
        # An engine may take a result that is one of the arguments for something else.
        return [backend.copy(x) if any(x is each for each in natives) else x for x in found]

    return backend.with_pullback(forward, partial(_pulled, backend, node.op))


def _inside(handle: Any, node: Apply, natives: Sequence[object]) -> Sequence[object]:
    """Return what a node gives for natives of a batch, whose elements it takes, or of a record, where it's a call."""
    if handle.records:
        raise NotInline
    base, op, run = handle.around, node.op, run_of(handle.around, node)
    victims = frozenset(op.victims(node))

    def of_values(*values: object) -> list[Native]:
        found = run(*[base.copy(x) if place in victims else x for place, x in enumerate(values)])
        return list(found) if len(node.outputs) > 1 else [found]

    def rule(k: Any, needs: Sequence[bool], g: object, out: Any, *operands: Native) -> Sequence[Native | None]:
        cotangents = k.whole(g, out)
        with where_natives_are(k.handle) as there:
            return _pulled(there, op, operands, out, cotangents)

    found: Sequence[Any] = handle.performed(of_values, rule, natives)
    return found


def _pulled(
    backend: Handle, op: Op, natives: Sequence[Any], results: Sequence[Any], cotangents: Sequence[Any]
) -> list[Any]:
    """Return the natives of what ``grad`` of an operation gives."""
    if op.grad is None:
        raise BackendFeatureError(
            f"{op} has no derivative, and one is taken through it: declare grad of the operation, or call "
            "ua.stop_gradient() on its result"
        )
    inputs, outputs, upstream = ([wrap(x, backend) for x in each] for each in (natives, results, cotangents))
    return _gradients(backend, op, inputs, op.grad(inputs, outputs, upstream))


def _gradients(backend: Handle, op: Op, inputs: Sequence[Array], found: object) -> list[object]:
    """Return the natives of what ``grad`` returned; raise if it can't be right."""
    if not isinstance(found, Sequence) or len(found) != len(inputs):
        came = len(found) if isinstance(found, Sequence) else type(found).__name__
        raise TypeError(f"grad of {op} returns a list of {len(inputs)}, one for each input, not {came}")
    natives: list[object] = []
    for x, gradient in zip(inputs, found, strict=True):
        if gradient is None:
            natives.append(None)
            continue
        array = gradient if isinstance(gradient, Array) else functions.asarray(gradient, backend=backend.name)
        if array.shape != x.shape:
            raise TypeError(f"grad of {op} returned shape {array.shape} for an input of shape {x.shape}")
        natives.append(read(functions.astype(array, x.dtype, copy=False)))
    return natives


class Hosted(Op):
    """An operation that people made, as a node of what an engine transforms: its derivative is the declared one."""

    def __init__(self, backend: Handle, op: Op, nout: int) -> None:
        self.backend, self.op = backend, op
        super().__init__(op.name, parameters=(backend.name, op), nout=nout)

    def bound(self, node: Apply) -> Run:
        """Return a function of natives."""
        return run_of(self.backend, Apply(self.op, node.inputs, [each.type for each in node.outputs]))

    def perform(self, node: Apply, inputs: Sequence[object], out: object = None) -> object:
        """Return the result for natives, or the tuple of results."""
        return self.bound(node)(*inputs)


class OnCopies(Op):
    """An operation that overwrites inputs, computed on copies of these; its destructive twin is that operation."""

    def __init__(self, backend: Handle, op: Op, node: Apply) -> None:
        self.backend, self.op = backend, op
        victims = frozenset(op.victims(node))
        views, destroys = op.views(node), op.destroys(node)
        # The outputs that share memory with an earlier one, where they're in one input's.
        self.copied: list[int] = []
        taken: set[int] = set()
        for key in range(len(node.outputs)):
            memory = victims.intersection((*views.get(key, ()), *destroys.get(key, ())))
            if memory & taken:
                self.copied.append(key)
            taken |= memory
        super().__init__(
            f"{op.name}[copies]",
            view_map={key: left for key, places in views.items() if (left := tuple({*places} - victims))},
            # Ours know more of what they may overwrite than their maps say.
            inplace=[op] if backend.mutable and is_users(op) else [],
            parameters=(backend.name, op, tuple(self.copied)),
            nout=len(node.outputs),
        )

    def parts(self) -> Iterator[Op]:
        """Yield the operations that the other one runs."""
        return self.op.parts()

    def output_types(self, inputs: Sequence[Variable]) -> Sequence[Type | None]:
        """Return the types that the other operation has."""
        return self.op.output_types(inputs)

    def bound(self, node: Apply) -> Run:
        """Return a function of natives."""
        inner = Apply(self.op, node.inputs, [each.type for each in node.outputs])
        run, victims, copy = run_of(self.backend, inner), set(self.op.victims(inner)), self.backend.copy

        def compute(*natives: Native, out: object = None) -> Any:
            found = run(*(copy(x) if place in victims else x for place, x in enumerate(natives)))
            if not self.copied:
                return found
            return tuple([copy(x) if key in self.copied else x for key, x in enumerate(found)])

        return compute

    def perform(self, node: Apply, inputs: Sequence[object], out: object = None) -> object:
        """Return the result for natives, or the tuple of results."""
        return self.bound(node)(*inputs)
