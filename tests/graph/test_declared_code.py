"""The functions that operations declare, ``infer``, ``perform`` and ``grad``; and declarations that nothing reads."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from unifyarr.graph import DestroyHandler, FunctionGraph, Op, Supervisor, Variable, inplace, merge

from .ops import ADD, Vector, vectors


class Twice(Op):
    def infer(self, x: Any) -> Any:
        return x

    def perform(self, node: Any, inputs: Sequence[Any], out: Any = None) -> Any:
        return inputs[0] * 2

    def grad(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        return [cotangents[0] * 2]


def by_arguments() -> Op:
    return Op(
        "twice",
        infer=lambda x: x,
        perform=lambda node, inputs: inputs[0] * 2,
        grad=lambda inputs, outputs, cotangents: [cotangents[0] * 2],
    )


class Assigned(Op):
    infer = staticmethod(lambda x: x)

    def __init__(self) -> None:
        super().__init__("assigned")
        self.perform = lambda node, inputs: inputs[0] * 2


@pytest.mark.parametrize("make", [Twice, by_arguments, Assigned, lambda: copy.copy(by_arguments())])
def test_each_way_to_declare_functions(make: Callable[[], Op]) -> None:
    (x,) = vectors("x")
    y = make()(x)
    assert y.type == Vector(4)
    assert make().bound(y.owner)(np.arange(3)).tolist() == [0, 2, 4]


def test_operations_that_compute_otherwise_are_not_merged() -> None:
    (x,) = vectors("x")

    def double(node: Any, inputs: Any) -> Any:
        return inputs[0] * 2

    ops = [Op("f", perform=double), Op("f", perform=lambda node, inputs: inputs[0]), Op("f", perform=double), Op("f")]
    fgraph = FunctionGraph([x], [op(x) for op in ops])
    assert merge(fgraph) == 1
    assert Op("f", parameters=1, perform=double) != Op("f", parameters=1)


def test_types_of_several_outputs() -> None:
    (x,) = vectors("x")
    both = Op("both", nout=2, infer=lambda x: [x, None])
    assert [each.type for each in both(x)] == [Vector(4), None]
    with pytest.raises(TypeError, match=r"infer of both returns 2 types, one for each output, not 1"):
        Op("both", nout=2, infer=lambda x: x)(x)
    with pytest.raises(TypeError, match=r"infer of f returns types, with a shape and a dtype, or None, not 3"):
        Op("f", infer=lambda x: 3)(x)


def a_class(**body: Any) -> Callable[[], Any]:
    return lambda: type("Made", (Op,), body)


def assigned(name: str, value: Any) -> Callable[[], None]:
    return lambda: setattr(Op("f"), name, value)


@pytest.mark.parametrize(
    ("declare", "says"),
    [
        (lambda: Op("f", perform=3), "perform of f is a function, not 3"),
        (lambda: Op("f", infer=Vector(3)), "infer of f is a function"),
        (
            lambda: Op("f", perform=lambda node, inputs, storage: None),
            "perform of f takes node, inputs and returns the",
        ),
        (lambda: Op("f", perform=lambda x: x), "perform of f takes node, inputs and returns the results"),
        (lambda: Op("f", grad=lambda inputs, cotangents: []), "grad of f takes inputs, outputs, cotangents, but"),
        (a_class(grad=lambda self, inputs, cotangents: []), "grad of Made takes inputs, outputs, cotangents, but"),
        (a_class(perform=lambda self, x: x), "perform of Made takes node, inputs"),
        (a_class(grad=True), "grad of Made is a function, not True"),
        (lambda: Op("f", out=[0], perform=lambda node, inputs: inputs[0]), "out of f isn't read, since its perform"),
        (lambda: Op("f", destroymap={0: [0]}), "destroymap"),
        (a_class(destroymap={0: [0]}), "destroymap of Made is a declaration that nothing reads: declare destroy_map"),
        (a_class(view_maps={0: [0]}), "view_maps of Made is a declaration that nothing reads: declare view_map"),
        (a_class(in_place=[ADD]), "in_place of Made is a declaration that nothing reads: declare inplace"),
        (a_class(itypes=[]), "itypes of Made is a declaration that nothing reads: declare infer"),
        (a_class(L_op=lambda self, *args: []), "L_op of Made is a declaration that nothing reads: declare grad"),
        (
            a_class(destroyhandler_tolerate_same=[(0, 1)]),
            "destroyhandler_tolerate_same of Made is a declaration that nothing reads: declare tolerate_same",
        ),
        (assigned("destory_map", {0: [0]}), "destory_map of Op is a declaration that nothing reads"),
        (
            lambda: type("Made", (Op,), {"output_types": lambda self, inputs: [None], "infer": lambda self, x: x})(),
            "infer of Made isn't read, since its class defines output_types",
        ),
        (
            lambda: type("Made", (Op,), {"__props__": ()})(parameters=(1,)),
            "__props__ of Made isn't read, since parameters is declared",
        ),
    ],
)
def test_what_can_not_be_right_is_refused(declare: Callable[[], Any], says: str) -> None:
    with pytest.raises(TypeError) as caught:
        declare()
    assert says in str(caught.value)


def test_what_only_looks_like_a_declaration_is_an_attribute() -> None:
    made: Any = a_class(names=("a",), params=1, outs=2, input=3, _views_of=4)()
    assert made().names == ("a",)
    op: Any = Op("f")
    op.performance = 1
    op.scratched = 2


def test_functions_are_fixed_by_the_first_use() -> None:
    op = by_arguments()
    op(*vectors("x"))
    with pytest.raises(AttributeError, match="grad of twice is fixed"):
        op.grad = None


def test_an_operation_called_on_arrays_says_what_to_do() -> None:
    with pytest.raises(TypeError, match=r"dot is applied to variables.*not to ndarray: .*call the graph.*@ua\.op"):
        Op("dot")(np.ones(3), np.ones(3))


def test_inputs_are_protected_without_a_supervisor() -> None:
    x, y = vectors("x y")
    fgraph = FunctionGraph([x, y], [ADD(ADD(x, y), y)], [DestroyHandler()])
    assert inplace(fgraph) == 1
    assert [str(node.op) for node in fgraph.toposort()] == ["add", "A"]
    assert any(isinstance(each, Supervisor) for each in fgraph.features)
    # A target is written in the end.
    fgraph = FunctionGraph([x, y], [ADD(ADD(x, y), y)], [DestroyHandler()])
    assert inplace(fgraph, {fgraph.outputs[0]: fgraph.inputs[0]}) == 2
    fgraph = FunctionGraph([x, y], [ADD(x, y)], [DestroyHandler()])
    fgraph.attach(Supervisor())
    assert inplace(fgraph) == 1


def test_a_variable_is_no_buffer() -> None:
    with pytest.raises(TypeError, match="has a shape and a dtype"):
        Variable(3)  # type: ignore[arg-type]
