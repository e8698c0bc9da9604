"""Variables, constants, applications of operations, and the operations themselves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

# Positions of outputs, and of the inputs that each of them views or destroys.
IOMap = Mapping[int, tuple[int, ...]]


class Type(Protocol):
    """What is known of a value before it's computed; any object with these two will do."""

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The lengths, ``None`` for one that isn't known."""

    @property
    def dtype(self) -> Any:
        """The kind of the elements."""


class Region(Protocol):
    """A part of a buffer, comparable by value."""

    def isdisjoint(self, other: Any, /) -> bool:
        """Return whether no element is in both parts."""


def same_type(x1: Type | None, x2: Type | None) -> bool:
    """Return whether two types don't contradict each other: equal in shape and dtype, or one of them unknown."""
    return x1 is None or x2 is None or x1 is x2 or (x1.shape == x2.shape and x1.dtype == x2.dtype)


class Variable:
    """A value in a graph: a graph's input, or output number ``index`` of ``owner``."""

    __slots__ = ("__weakref__", "indestructible", "index", "name", "owner", "type")

    def __init__(
        self,
        type: Type | None = None,
        name: str | None = None,
        *,
        owner: Apply | None = None,
        index: int = 0,
        indestructible: bool = False,
    ) -> None:
        self.type = type
        self.name = name
        self.owner = owner
        self.index = index
        # Whether nothing may ever overwrite its memory, whoever asks.
        self.indestructible = indestructible

    def copy(self) -> Variable:
        """Return a variable that is like this one, but nobody's output."""
        return Variable(self.type, self.name, indestructible=self.indestructible)

    def __repr__(self) -> str:
        if self.name is not None:
            return self.name
        if self.owner is None:
            return "<variable>"
        return f"{self.owner.op}.{self.index}" if len(self.owner.outputs) > 1 else f"{self.owner.op}.out"


class Constant(Variable):
    """A value that is known: nothing may overwrite it."""

    __slots__ = ("data",)

    def __init__(self, data: Any, type: Type | None = None, name: str | None = None) -> None:
        super().__init__(type, name, indestructible=True)
        self.data = data

    def copy(self) -> Constant:
        """Return the constant itself: nobody owns it, and nothing changes it."""
        return self

    def signature(self) -> Hashable:
        """Return what two constants have equal only if one can stand for the other: bit by bit, zeros' signs too."""
        data = self.data
        if hasattr(data, "tobytes") and hasattr(data, "dtype"):
            # Comparing large arrays costs more than a second copy of one is worth.
            return (str(data.dtype), data.shape, data.tobytes()) if data.nbytes <= 2**16 else id(data)
        if isinstance(data, bool | int | str | bytes | None):
            return (type(data), data)
        return (type(data), repr(data)) if isinstance(data, float | complex) else id(data)

    def __repr__(self) -> str:
        if self.name is not None:
            return self.name
        text = repr(self.data)
        return text if len(text) <= 20 and "\n" not in text else f"<constant {getattr(self.type, 'dtype', '')}>"


class Apply:
    """One application of an operation: a node of the graph."""

    __slots__ = ("__weakref__", "inputs", "op", "outputs")

    def __init__(self, op: Op, inputs: Iterable[Variable], types: Sequence[Type | None]) -> None:
        self.op = op
        self.inputs = list(inputs)
        self.outputs = [Variable(type, owner=self, index=index) for index, type in enumerate(types)]

    def copy(self, inputs: Iterable[Variable]) -> Apply:
        """Return the same application to other inputs, with outputs of its own."""
        node = Apply(self.op, inputs, [output.type for output in self.outputs])
        for mine, new in zip(self.outputs, node.outputs, strict=True):
            new.name, new.indestructible = mine.name, mine.indestructible
        return node

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(map(repr, self.inputs))})"


class Op:
    """An operation, and what it does to memory. Operations are equal by value, so that equal nodes can be merged.

    Parameters
    ----------
    name
        What it's called.
    view_map
        For an output the inputs that it may share memory with: an upper bound. Or a function of the node that returns
        such a mapping, where it depends on layout, dtype or a static argument.
    destroy_map
        For an output the inputs whose memory it's written to, so that they are destroyed. Several outputs may destroy
        one input, and one output several. May be a function of the node, too.
    scratch
        The inputs that are overwritten though no output is kept in them.
    tolerate_same
        Pairs (destroyed input, other input) that may be one variable: each element is read before it's written.
    tolerate_aliased
        Pairs (destroyed input, other input) that may share memory in any way.
    inplace
        The destructive twins: operations that compute the same from the same inputs, the best first.
    out
        The outputs that can be written to a buffer which the caller gives.
    parameters
        The static arguments: equal operations have equal ones.
    nout
        How many outputs there are.
    """

    # The input that is given as ``out`` too, where an operation overwrites one by that.
    written_to: int | None = None

    def __init__(
        self,
        name: str,
        *,
        view_map: IOMap | Callable[[Apply], IOMap] | None = None,
        destroy_map: IOMap | Callable[[Apply], IOMap] | None = None,
        scratch: Iterable[int] = (),
        tolerate_same: Iterable[tuple[int, int]] = (),
        tolerate_aliased: Iterable[tuple[int, int]] = (),
        inplace: Iterable[Op] = (),
        out: Iterable[int] = (),
        parameters: Hashable = (),
        nout: int = 1,
    ) -> None:
        self.name = name
        self.view_map = {} if view_map is None else view_map
        self.destroy_map = {} if destroy_map is None else destroy_map
        self.scratch = tuple(scratch)
        self.tolerate_same = frozenset(tolerate_same)
        self.tolerate_aliased = frozenset(tolerate_aliased)
        self.inplace = tuple(inplace)
        self.out = frozenset(out)
        self.parameters = parameters
        self.nout = nout
        # Known once and for all, unless a map depends on the node.
        self._victims = None if callable(self.destroy_map) else self._destroyed(self.destroy_map)
        maps = (_frozen(self.view_map), _frozen(self.destroy_map))
        tolerance = (self.tolerate_same, self.tolerate_aliased)
        self._key = (type(self), name, parameters, nout, maps, self.scratch, tolerance, self.out)
        self._hash = hash(self._key)

    def views(self, node: Apply) -> IOMap:
        """Return for each output of a node that may be a view the inputs that it may share memory with."""
        return self.view_map(node) if callable(self.view_map) else self.view_map

    def destroys(self, node: Apply) -> IOMap:
        """Return for each output of a node that overwrites inputs which ones."""
        return self.destroy_map(node) if callable(self.destroy_map) else self.destroy_map

    def victims(self, node: Apply) -> tuple[int, ...]:
        """Return the positions of the inputs that a node overwrites, kept in an output or not."""
        return self._destroyed(self.destroys(node)) if self._victims is None else self._victims

    def _destroyed(self, destroys: IOMap) -> tuple[int, ...]:
        return tuple(sorted({*self.scratch, *(index for inputs in destroys.values() for index in inputs)}))

    def region(self, node: Apply, output: int, input: int, parent: Region | None) -> Region | None:
        """Return the part of the buffer that an output shares with an input; ``None``, if it may be any part of it.

        Views whose regions are disjoint don't disturb each other. The region is that of a view, or of an output that
        shares the destroyed memory of one input with other outputs. ``parent`` is the input's own region, and ``None``
        if the input is the whole of its buffer.
        """
        return None

    def tolerates(self, node: Apply, destroyed: int, other: int) -> bool:
        """Return whether an input may be destroyed though another one shares memory with it."""
        pair = (destroyed, other)
        same = node.inputs[destroyed] is node.inputs[other]
        return pair in self.tolerate_aliased or (same and pair in self.tolerate_same)

    def parts(self) -> Iterator[Op]:
        """Yield the operations that are run: this one, if it doesn't run others."""
        yield self

    def twins(self, node: Apply) -> list[Op]:
        """Return the destructive twins that fit a node: what is kept in an input's place has to be of its type."""
        return [twin for twin in self.inplace if _fits(node, twin.destroys(node))]

    def output_types(self, inputs: Sequence[Variable]) -> Sequence[Type | None]:
        """Return the types of the outputs for these inputs: unknown, if a subclass doesn't know better."""
        return [None] * self.nout

    def perform(self, node: Apply, inputs: Sequence[Any], out: Any = None) -> Any:
        """Return the value of a node's output for values of its inputs, or the tuple of its outputs' values.

        ``out`` is a buffer for an only output that ``self.out`` names. An operation with a ``destroy_map`` writes to
        the values themselves, and returns them.
        """
        raise NotImplementedError(f"{self} says nothing about how it's computed")

    def bound(self, node: Apply) -> Callable[..., Any]:
        """Return a function of the inputs' values, and ``out=``, that does what ``perform`` does, deciding less."""
        return lambda *inputs, out=None: self.perform(node, inputs, out)

    def make_node(self, *inputs: Variable) -> Apply:
        """Return a new application to these inputs."""
        return Apply(self, inputs, self.output_types(inputs))

    def __call__(self, *inputs: Variable) -> Any:
        """Apply to these inputs and return the output, or the list of them."""
        outputs = self.make_node(*inputs).outputs
        return outputs[0] if len(outputs) == 1 else outputs

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Op) and self._hash == other._hash and self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return self.name


def _frozen(io_map: IOMap | Callable[[Apply], IOMap]) -> Hashable:
    return io_map if callable(io_map) else frozenset((key, tuple(value)) for key, value in io_map.items())


def _fits(node: Apply, destroys: IOMap) -> bool:
    for output, inputs in destroys.items():
        # An output in a part of an input, or in either of two, is for the op to judge.
        if len(inputs) == 1 and not same_type(node.outputs[output].type, node.inputs[inputs[0]].type):
            return any(inputs[0] in other for key, other in destroys.items() if key != output)
    return True
