"""Variables, constants, applications of operations, and the operations themselves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from types import CodeType
from typing import Any, Protocol

import numpy as np

from ..._core.values import above
from ..._core.values.maps import IOMap
from ..._core.values.symbols import Symbol
from .declarations import Declarations, victims_of


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

    def isdisjoint(self, other: object, /) -> bool:
        """Return whether the parts have no element in common."""


def same_type(x1: Type | None, x2: Type | None) -> bool:
    """Return whether two types have the same shape and dtype, or one of them is unknown."""
    return x1 is None or x2 is None or x1 is x2 or (x1.shape == x2.shape and x1.dtype == x2.dtype)


class Variable(Symbol):
    """A value in a graph: a graph's input, or output number ``index`` of ``owner``.

    Functions of arrays, operators and indexing take variables of known types, and return variables: the outputs of new
    nodes. ``==`` compares variables themselves; ``ua.equal`` compares their elements.

    Parameters
    ----------
    type
        What is known of the value, such as ``array_type((3,), "float64")``; ``None`` if nothing is.
    name
        What it's called in graphs that are printed or drawn.
    owner, index
        The node that computes it, and which of the outputs it is.
    indestructible
        Whether its memory must never be overwritten.

    Examples
    --------
    >>> import unifyarr as ua
    >>> from unifyarr.graph import FunctionGraph, Variable, array_type
    >>> x = Variable(array_type((3,), "float64"), "x")
    >>> y = ua.sum(x[1:] * 2)
    >>> y.type.shape, y.owner
    ((), sum(multiply.out))
    >>> float(FunctionGraph([x], [y])(ua.asarray([1.0, 2.0, 3.0])))
    10.0
    """

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
        if type is not None and not (hasattr(type, "shape") and hasattr(type, "dtype")):
            raise TypeError(f"the type of a variable has a shape and a dtype, but {type!r} hasn't")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"the name of a variable is a string, not {name!r}")
        self.type = type
        self.name = name
        self.owner = owner
        self.index = index
        # Whether its memory must never be overwritten.
        self.indestructible = indestructible

    def _called(self, declaration: object, call: object) -> object:
        return above.variables.called(self, declaration, call)  # type: ignore[arg-type]

    def __getitem__(self, key: object, /) -> Variable:
        """Return the variable of what an index selects."""
        return above.variables.get_item(self, key)

    def copy(self) -> Variable:
        """Return a copy of this variable that has no owner."""
        return self._copy(None)

    def _copy(self, owner: Apply | None) -> Variable:
        # What the constructor checks is right already.
        new = Variable.__new__(Variable)
        new.type, new.name, new.indestructible = self.type, self.name, self.indestructible
        new.owner, new.index = owner, 0 if owner is None else self.index
        return new

    def __repr__(self) -> str:
        if self.name is not None:
            return self.name
        if self.owner is None:
            return "<variable>"
        return f"{self.owner.op}.{self.index}" if len(self.owner.outputs) > 1 else f"{self.owner.op}.out"


class Constant(Variable):
    """A known value, which nothing may overwrite.

    ``made_of`` is a key that equal values have, where ``data`` is an engine's array of known values.
    """

    __slots__ = ("data", "made_of")

    def __init__(
        self, data: Any, type: Type | None = None, name: str | None = None, *, made_of: Hashable | None = None
    ) -> None:
        super().__init__(type, name, indestructible=True)
        self.data, self.made_of = data, made_of

    def copy(self) -> Constant:
        """Return the constant itself, which has no owner and never changes."""
        return self

    def signature(self) -> Hashable:
        """Return a key that two constants share only if one can replace the other, bit by bit (0.0 isn't -0.0)."""
        data = self.data
        if self.made_of is not None:
            return self.made_of
        # An engine's array may be one of several equal ones on different devices, from which it would have to be read.
        if isinstance(data, np.ndarray | np.generic):
            # Comparing large arrays costs more than keeping one twice.
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

    __slots__ = ("__weakref__", "inputs", "op", "outputs", "place")

    def __init__(self, op: Op, inputs: Iterable[Variable], types: Sequence[Type | None]) -> None:
        if not isinstance(op, Op):
            raise TypeError(f"a node applies an Op, not {op!r}")
        self.op = op
        # The code of the user's that called the function, and the instruction, where that's known.
        self.place: tuple[CodeType, int] | None = None
        self.inputs = list(inputs)
        _check_inputs(op, self.inputs)
        self.outputs = [Variable(type, owner=self, index=index) for index, type in enumerate(types)]
        op.check(self)

    def copy(self, inputs: Iterable[Variable]) -> Apply:
        """Return an application of the same operation to other inputs, with new outputs."""
        node = Apply.__new__(Apply)
        node.op, node.inputs, node.place = self.op, list(inputs), self.place
        _check_inputs(self.op, node.inputs)
        node.outputs = [output._copy(node) for output in self.outputs]
        if len(node.inputs) != len(self.inputs):
            self.op.check(node)
        return node

    def __getstate__(self) -> tuple[None, dict[str, object]]:
        # No pickle has code.
        return None, {"op": self.op, "inputs": self.inputs, "outputs": self.outputs, "place": None}

    def __repr__(self) -> str:
        return f"{self.op}({', '.join(map(repr, self.inputs))})"


class Op(Declarations):
    """An operation, and what it does to memory. Operations are equal by value, so that equal nodes can be merged.

    Declare it with arguments of the constructor, attributes of a subclass, or assignments to attributes. Declarations
    are checked. They can't change any more once the operation was applied or compared.

    Parameters
    ----------
    name
        The name of the operation, by default that of its class.
    view_map
        A map: output -> inputs that it may share memory with, an upper bound. Or a function of the node that returns
        such a map, if it depends on layout, dtype or a static argument.
    destroy_map
        A map: output -> inputs whose memory it's written to, which destroys them. Several outputs may destroy one
        input, and one output several inputs. May be a function of the node, too.
    scratch
        The inputs that are overwritten although no output is in their memory.
    tolerate_same
        Pairs (destroyed input, other input) that may be one variable: each element is read before it's written.
    tolerate_aliased
        Pairs (destroyed input, other input) that may share memory in any way.
    inplace
        The destructive twins: operations that compute the same from the same inputs, the best first.
    out
        The outputs that can be written to a buffer of the caller.
    natives
        The backend whose natives ``perform`` takes and returns. By default they are those of the backend that the graph
        runs on. With ``"numpy"`` arrays of other backends are copied to NumPy's, and results back to their device; an
        engine that compiles calls back. Such a result must have the type that ``infer`` says.
    parameters
        The static arguments, by which operations are compared. The default for a subclass is the attributes that its
        ``__props__`` names, or else all other attributes of the instance.
    nout
        The number of outputs.
    infer
        A function of the inputs' types that returns the type of the output, or a list with the type of each; ``None``
        stands for a type that isn't known. Without it all are unknown.
    perform
        A function ``perform(node, inputs, out=None)`` that computes the outputs; see the method. ``out`` may be left
        out where ``out`` isn't declared.
    grad
        A function ``grad(inputs, outputs, cotangents)`` of lists of arrays. It returns for each input the product of
        the cotangents with the derivative of the outputs, or ``None`` for zero. Derivatives of an operation without it
        raise an error.

    Examples
    --------
    >>> from unifyarr.graph import FunctionGraph, Op, Variable
    >>> double = Op("double", perform=lambda node, inputs: inputs[0] + inputs[0])
    >>> x = Variable(name="x")
    >>> FunctionGraph([x], [double(x)]).toposort()
    [double(x)]
    """

    # The input that is also passed as ``out``, if the operation overwrites it that way.
    written_to: int | None = None
    # Whether ``bound`` takes ``wait=True``, and compiles then what would be compiled later.
    can_wait = False
    # Whether it surely ends, or raises.
    ends = True
    # Whether it's treated like an operation that people made, though its class is the package's own.
    is_hosted = False
    # Whether it may raise because of values, where it isn't known by its kernels.
    raises = False

    def views(self, node: Apply) -> IOMap:
        """Return a map: output that may be a view -> inputs that it may share memory with."""
        return self._map_of("view_map", node) if self._views is None else self._views

    def destroys(self, node: Apply) -> IOMap:
        """Return a map: output -> inputs that are overwritten by it."""
        return self._map_of("destroy_map", node) if self._destroys is None else self._destroys

    def victims(self, node: Apply) -> tuple[int, ...]:
        """Return the positions of the inputs that a node overwrites, as results or as scratch memory."""
        return victims_of(self.scratch, self.destroys(node)) if self._victims is None else self._victims

    def region(self, node: Apply, output: int, input: int, parent: Region | None) -> Region | None:
        """Return the part of the buffer that an output shares with an input; ``None`` if it may be any part.

        Views with disjoint regions don't conflict. An output has a region if it's a view, or if several outputs
        divide the destroyed memory of one input among them. ``parent`` is the input's own region, ``None`` if the
        input is its whole buffer.
        """
        return None

    def tolerates(self, node: Apply, destroyed: int, other: int) -> bool:
        """Return whether an input may be destroyed although another input shares memory with it."""
        pair = (destroyed, other)
        same = node.inputs[destroyed] is node.inputs[other]
        return pair in self.tolerate_aliased or (same and pair in self.tolerate_same)

    def nodes(self) -> Iterable[Apply] | None:
        """Return the nodes of the graphs that this operation runs, ``None`` if it runs none."""
        return None

    def parts(self) -> Iterator[Op]:
        """Yield the operations that this one runs: itself, or those that it's composed of."""
        nodes = self.nodes()
        if nodes is None:
            yield self
        for node in nodes or ():
            yield from node.op.parts()

    def rewritten_by(self, rewriting: Any) -> Op:
        """Return the operation with its own graphs rewritten like the graph that it's in; itself if it has none.

        ``rewriting`` is a ``Rewriter``.
        """
        return self

    def hoisted(self, node: Apply, unused: Sequence[bool]) -> Sequence[Variable | None] | None:
        """Return variables for the outputs of a node whose own graphs do less, ``None`` if they can't.

        Nodes of these graphs that would compute the same at each step are outside then. ``unused`` says which outputs
        nothing reads; for these there may be ``None``.
        """
        return None

    def joined(self, other: Op) -> Op | None:
        """Return the operation that does what this one and another do with the same first input, ``None`` if none can.

        Its other inputs are those of both in turn, and so are its outputs.
        """
        return None

    def decided(
        self, node: Apply, known: Sequence[tuple[Variable, int]], outside: Mapping[Variable, Variable]
    ) -> Sequence[Variable] | None:
        """Return variables for the outputs of a node whose own graphs have fewer branches, ``None`` if they can't.

        ``known`` has numbers of branches, and what each is known to be where the node is; ``outside`` maps inputs of
        the graphs around it to what they stand for.
        """
        return None

    def inlined(self, node: Apply) -> Sequence[Variable] | None:
        """Return the outputs of copies of the nodes that this operation runs, if they take the place of a node."""
        return None

    def called(self, arrays: Sequence[Any]) -> Sequence[Any] | None:
        """Run the operation's graphs on arrays of any backend; return ``None`` if it has none."""
        return None

    def inside(self) -> Iterable[tuple[str, str]]:
        """Return what the graphs that this operation runs are called, and each as text, to be shown below its own."""
        return ()

    def twins(self, node: Apply) -> list[Op]:
        """Return the destructive twins that fit a node: an output in an input's memory must have the input's type."""
        return [twin for twin in self.inplace if _fits(node, twin.destroys(node))]

    def may_reuse(self, output: Variable, buffer: Variable) -> bool:
        """Return whether an output computed in a dead variable's buffer, of its type, is the same as by itself."""
        return True

    def perform(self, node: Apply, inputs: Sequence[Any], out: Any = None) -> Any:
        """Return the value of the output, or a tuple of the values of all outputs, for values of the inputs.

        ``out`` is a buffer for the result, or, if the operation has several outputs, a tuple with a buffer or ``None``
        for each; buffers are passed for outputs that ``self.out`` names. An operation with a ``destroy_map`` writes to
        the inputs' values and returns them.
        """
        raise NotImplementedError(f"{self} can't be computed: define perform() in its class, or pass Op(perform=...)")

    def checked(self, node: Apply, inputs: Sequence[Any], out: Any = None) -> Any:
        """Do as ``perform`` does, for mode ``"debug"``: an operation with a graph of its own checks its nodes."""
        return self.perform(node, inputs) if out is None else self.perform(node, inputs, out)

    def bound(self, node: Apply) -> Callable[..., Any]:
        """Return a function of the inputs' values, and ``out=``, that does as ``perform`` does, with less overhead."""
        perform = self.perform
        return lambda *inputs, out=None: perform(node, inputs) if out is None else perform(node, inputs, out)

    def bound_on(self, backend: Any, node: Apply) -> Callable[..., Any]:
        """Return what ``bound`` does, for natives of a backend."""
        return self.bound(node)

    def make_node(self, *inputs: Variable) -> Apply:
        """Return a new application to these inputs."""
        return Apply(self, inputs, self.output_types(inputs))

    def __call__(self, *inputs: Variable) -> Any:
        """Apply to these inputs and return the output, or the list of them."""
        _check_inputs(self, inputs)
        outputs = self.make_node(*inputs).outputs
        return outputs[0] if len(outputs) == 1 else outputs


def _check_inputs(op: Op, inputs: Iterable[object]) -> None:
    for each in inputs:
        if not isinstance(each, Variable):
            raise TypeError(
                f"{op} is applied to variables, which makes a node of a graph, not to {type(each).__name__}: wrap a "
                "value that stays the same, Constant(value); to compute, call the graph, FunctionGraph(inputs, "
                "outputs), on arrays; declare an operation for arrays with @ua.op"
            )


def _fits(node: Apply, destroys: IOMap) -> bool:
    for output, inputs in destroys.items():
        # Whether an output fits a part of an input, or one of several inputs, only the operation itself knows.
        if len(inputs) == 1 and not same_type(node.outputs[output].type, node.inputs[inputs[0]].type):
            return any(inputs[0] in other for key, other in destroys.items() if key != output)
    return True
