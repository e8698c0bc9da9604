"""The destroy handler on changing graphs: accepted graphs, before and after, must compute right numbers."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from unifyarr.errors import InconsistencyError
from unifyarr.graph import DestroyHandler, FunctionGraph, Supervisor, Variable

from ..ops import A2, A3, ADD, DOT, M_BOTH, M_FIRST, M_SECOND, A, M, S, T, constant, graph_of, vectors
from .stories import is_sound, names, substituted

# A graph of x, y and z, what of it is replaced by what, and whether it's sound before and after.
Story = Callable[[Variable, Variable, Variable], tuple[list[Variable], list[tuple[Variable, Variable]], list[bool]]]


def an_aliased_input_gets_a_copy_and_back(x: Variable, y: Variable, z: Variable):
    view, twice, copied = T(x), T(T(x)), S(x)
    changes = [(view, copied), (copied, view), (view, twice), (twice, copied)]
    return [A(x, view)], changes, [False, True, False, False, True]


def a_view_becomes_the_variable_itself(x: Variable, y: Variable, z: Variable):
    view = T(x)
    return [A(x, view)], [(view, x)], [False, False]


def views_of_a_copy_become_views_of_the_destroyed(x: Variable, y: Variable, z: Variable):
    far = T(T(S(x)))
    return [DOT(A(x, y), T(far))], [(far, x)], [True, False]


def a_destroyer_becomes_pure_and_back(x: Variable, y: Variable, z: Variable):
    destroyed, pure = A(x, y), ADD(x, y)
    return [DOT(S(destroyed), T(x))], [(destroyed, pure), (pure, A(x, y))], [False, True, False]


def a_view_that_is_read_late_is_read_early(x: Variable, y: Variable, z: Variable):
    view = T(x)
    late = S(A(x, y))
    return [DOT(late, view)], [(late, S(ADD(view, y)))], [False, True]


def a_destroyer_of_what_is_read_becomes_another_addition(x: Variable, y: Variable, z: Variable):
    destroyed = A(x, y)
    return [DOT(destroyed, T(x))], [(destroyed, ADD(x, z))], [False, True]


def one_of_two_destroyers_sees_a_nearer_view(x: Variable, y: Variable, z: Variable):
    near = T(T(x))
    far = T(T(near))
    return [A(far, y), A(near, z)], [(far, T(x))], [False, False]


def an_argument_becomes_a_constant(x: Variable, y: Variable, z: Variable):
    copied, known = S(y), constant(3, 1, 4, 1)
    return [A(x, copied)], [(copied, known)], [True, True]


def an_argument_becomes_a_view_of_a_constant(x: Variable, y: Variable, z: Variable):
    copied = S(y)
    return [A(x, copied)], [(copied, T(constant(3, 1, 4, 1)))], [True, True]


STORIES: list[Story] = [
    an_aliased_input_gets_a_copy_and_back,
    a_view_becomes_the_variable_itself,
    views_of_a_copy_become_views_of_the_destroyed,
    a_destroyer_becomes_pure_and_back,
    a_view_that_is_read_late_is_read_early,
    a_destroyer_of_what_is_read_becomes_another_addition,
    one_of_two_destroyers_sees_a_nearer_view,
    an_argument_becomes_a_constant,
    an_argument_becomes_a_view_of_a_constant,
]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_changes(story: Story) -> None:
    x, y, z = vectors("x y z")
    outputs, changes, expected = story(x, y, z)
    # New variables may need any of the inputs.
    fgraph = FunctionGraph([x, y, z], outputs, clone=False)
    found = [is_sound(fgraph)]
    for old, new in changes:
        fgraph.replace(old, new)
        found.append(is_sound(fgraph))
    assert found == expected


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_changes_that_are_watched(story: Story) -> None:
    """A handler gives the same verdict when it watches the changes; a refused graph is unchanged."""
    x, y, z = vectors("x y z")
    outputs, changes, expected = story(x, y, z)
    fgraph = FunctionGraph([x, y, z], outputs, clone=False)
    if expected[0]:
        fgraph.attach(DestroyHandler())
    for (old, new), is_right in zip(changes, expected[1:], strict=True):
        if not is_right and fgraph.features:
            before = names(fgraph)
            with pytest.raises(InconsistencyError):
                fgraph.replace_all_validate([(old, new)])
            assert names(fgraph) == before
            return
        fgraph.replace(old, new)
        if is_right and not fgraph.features:
            fgraph.attach(DestroyHandler())
        assert is_sound(fgraph) is is_right


VERDICTS = {
    "one variable twice": (lambda x: A(x, x), False),
    "a variable and its view": (lambda x: A(x, T(x)), False),
    "one variable twice, tolerated": (lambda x: A2(x, x), True),
    "a view where only the same is tolerated": (lambda x: A2(x, T(x)), False),
    "one variable twice, all aliases tolerated": (lambda x: A3(x, x), True),
    "a view, all aliases tolerated": (lambda x: A3(x, T(x)), True),
}


@pytest.mark.parametrize("case", VERDICTS)
def test_aliased_arguments(case: str) -> None:
    build, expected = VERDICTS[case]
    (x,) = vectors("x")
    assert is_sound(graph_of(build(x))) is expected


def test_views_of_views_go_and_a_destroyer_comes() -> None:
    x, y = vectors("x y")
    fgraph = FunctionGraph([x, y], [T(T(T(T(x))))], [DestroyHandler()], clone=False)
    fgraph.replace_all_validate([(fgraph.outputs[0], x)])
    assert fgraph.outputs == [x]
    total = ADD(x, y)
    fgraph.replace_all_validate([(x, total)])
    assert names(fgraph) == ["add"]
    fgraph.replace(total, DOT(A(x, y), T(x)))
    with pytest.raises(InconsistencyError):
        fgraph.validate()
    assert not is_sound(fgraph)


def test_what_is_indestructible_is_so_in_a_copy() -> None:
    (y,) = vectors("y")
    (x,) = vectors("x", indestructible=True)
    other = copy.copy(x)
    for variable in (x, other, x.copy()):
        assert variable.indestructible
        result = A(variable, y)
        fgraph = graph_of(result)
        assert not is_sound(fgraph)
        fgraph.replace(result, ADD(variable, y))
        assert is_sound(fgraph)


def test_what_is_indestructible_is_so_through_a_view() -> None:
    (y,) = vectors("y")
    (x,) = vectors("x", indestructible=True)
    view = T(x)
    fgraph = graph_of(A(view, y))
    assert not is_sound(fgraph)
    fgraph.replace(view, S(x))
    assert is_sound(fgraph)


@pytest.mark.parametrize("first", [0, 1])
def test_two_results_that_would_overwrite_each_others_argument(first: int) -> None:
    x, y = vectors("x y")
    fgraph = FunctionGraph([x, y], [ADD(x, y), ADD(y, x)], [DestroyHandler()], clone=False)
    both = [(fgraph.outputs[0], A(x, y)), (fgraph.outputs[1], A(y, x))]
    fgraph.replace_all_validate([both[first]])
    with pytest.raises(InconsistencyError):
        fgraph.replace_all_validate([both[1 - first]])
    assert sorted(names(fgraph)) == ["A", "add"]
    assert is_sound(fgraph)


def test_a_ring_of_destroyers_stays_open() -> None:
    x, y, z = vectors("x y z")
    fgraph = FunctionGraph([x, y, z], [DOT(DOT(A(x, y), A(y, z)), ADD(z, x))], [DestroyHandler()], clone=False)
    assert substituted(fgraph, ADD, A) == 1
    assert sorted(names(fgraph)) == ["A", "A", "Dot", "Dot", "add"]
    assert is_sound(fgraph)
    assert not is_sound(graph_of(DOT(DOT(A(x, y), A(y, z)), A(z, x))))


def test_several_destroyers_of_one_variable() -> None:
    x, y, z = vectors("x y z")
    assert not is_sound(graph_of(ADD(A(x, y), A(x, y))))
    fgraph = FunctionGraph([x, y, z], [DOT(ADD(T(z), y), ADD(z, x))], [DestroyHandler()], clone=False)
    assert substituted(fgraph, ADD, A) == 1
    assert is_sound(fgraph)


def test_a_reader_of_what_was_destroyed() -> None:
    x, z = vectors("x z")
    fgraph = graph_of(DOT(A(x, z), x))
    assert not is_sound(fgraph)
    (node,) = [each for each in fgraph.apply_nodes if each.op == A]
    fgraph.substitute(node, ADD)
    assert is_sound(fgraph)


def test_one_copy_of_a_chain_has_to_stay() -> None:
    x, y, z = vectors("x y z")
    far = x
    for _ in range(5):
        far = S(far)
    fgraph = FunctionGraph([x, y, z], [DOT(A(x, ADD(y, z)), far)], [DestroyHandler()], clone=False)
    assert substituted(fgraph, S, T) == 1
    assert is_sound(fgraph)


def test_of_two_outputs_the_one_that_may_be_in_place() -> None:
    x, y = vectors("x y")
    # Only x is read after it, so that the second output may be in the memory of y.
    fgraph = FunctionGraph([x, y], [DOT(M(x, y)[0], x), DOT(y, y)], [DestroyHandler()], clone=False)
    assert [substituted(fgraph, M, each) for each in (M_BOTH, M_FIRST, M_SECOND)] == [1, 1, 0]
    assert is_sound(fgraph)
    assert substituted(fgraph, M_SECOND, M_BOTH) == 1
    assert is_sound(fgraph)
    fgraph.attach(Supervisor([x]))
    with pytest.raises(InconsistencyError):
        fgraph.attach(Supervisor([y]))
