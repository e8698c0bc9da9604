"""Random operations whose declarations are wrong in one way, or right.

A wrong one is refused where it's declared, or found by both debug modes; a right one gives what NumPy gives.
``python -m tests.wrong_declarations BACKEND COUNT SEED`` draws many.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import hypothesis
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr.errors import BadDestroyMap, BadInplace, BadThunkOutput, BadViewMap, DebugModeError
from unifyarr.graph import Op, Variable
from unifyarr.testing import has

VALUES = (1.0, 2.0, 3.0, 4.0)


class Case(NamedTuple):
    """An operation of ``arrays`` arrays and ``outputs`` results, with maps, and how its kernel behaves."""

    arrays: int
    outputs: int
    view_map: dict[int, tuple[int, ...]]
    destroy_map: dict[int, tuple[int, ...]]
    scratch: tuple[int, ...]
    tolerate_same: list[tuple[int, int]]


# -- what is declared -------------------------------------------------------------------------------------------------


def places(count: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.lists(st.integers(0, count - 1), min_size=1, max_size=count, unique=True).map(tuple)


def maps(outputs: int, arrays: int) -> st.SearchStrategy[dict[int, tuple[int, ...]]]:
    return st.dictionaries(st.integers(0, outputs - 1), places(arrays))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw what is right."""
    arrays, outputs = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    inputs = st.integers(0, arrays - 1)
    return Case(
        arrays,
        outputs,
        draw(maps(outputs, arrays)),
        draw(maps(outputs, arrays)),
        draw(places(arrays)),
        draw(st.lists(st.tuples(inputs, inputs), max_size=2)),
    )


def wrong_place(count: int) -> st.SearchStrategy[Any]:
    """Return what is no position among so many, and not the beginning of a sequence of them."""
    return st.one_of(
        st.integers(count, count + 1000),
        st.integers(-(2**70), -1),
        st.booleans(),
        st.none(),
        st.floats(0, 2),
        st.sampled_from(["0", "", b"0", np.float64(0), np.zeros(2), object()]),
    )


def wrong_places(count: int) -> st.SearchStrategy[Any]:
    return st.one_of(
        wrong_place(count).map(lambda place: (place,)),
        st.tuples(st.just(0), wrong_place(count)),
        st.sampled_from([0, None, "0", b"\0", 1.5, {0: 0}, [[0]], True, object(), Op("op")]),
    )


def wrong_maps(outputs: int, arrays: int) -> st.SearchStrategy[Any]:
    hashable = wrong_place(outputs).filter(lambda place: type(place) is not np.ndarray)
    return st.one_of(
        hashable.map(lambda output: {output: (0,)}),
        wrong_places(arrays).map(lambda inputs: {0: inputs}),
        st.sampled_from([0, "0", [(0, (0,))], {0}, (0,), 1.5, True, object(), np.zeros(1)]),
    )


def wrong_pairs(arrays: int) -> st.SearchStrategy[Any]:
    return st.one_of(
        wrong_place(arrays).map(lambda place: [(0, place)]),
        wrong_place(arrays).map(lambda place: [(place, 0)]),
        st.sampled_from([[()], [(0,)], [(0, 0, 0)], [0], "00", {0: 0}, 3, True, ["00"]]),
    )


def function_of(case: Case, name: str = "drawn") -> Callable[..., Any]:
    """Return a body without annotations of its own kind: its results are sums of all arrays and their number."""

    def body(*arrays: Any) -> Any:
        results = computed(arrays, case.outputs)
        return results if case.outputs > 1 else results[0]

    parameters = [
        inspect.Parameter(f"x{place}", inspect.Parameter.POSITIONAL_ONLY, annotation="ua.Array")
        for place in range(case.arrays)
    ]
    returns = "ua.Array" if case.outputs == 1 else f"tuple[{', '.join(['ua.Array'] * case.outputs)}]"
    body.__signature__ = inspect.Signature(parameters, return_annotation=returns)  # type: ignore[attr-defined]
    body.__name__ = body.__qualname__ = name
    return body


def computed(arrays: Any, outputs: int) -> tuple[Any, ...]:
    total = arrays[0] * 1
    for each in arrays[1:]:
        total = total + each
    return tuple(total * 1 + number for number in range(outputs))


@st.composite
def refused(draw: st.DrawFn, case: Case) -> tuple[str, Callable[[], Any]]:
    """Draw a declaration that is wrong, and what declares it."""
    what = draw(st.sampled_from(["view_map", "destroy_map", "scratch", "tolerate_same", "tolerate_aliased"]))
    if what.endswith("map"):
        wrong = draw(wrong_maps(case.outputs, case.arrays))
    else:
        wrong = draw(wrong_places(case.arrays) if what == "scratch" else wrong_pairs(case.arrays))

    def op() -> Any:
        if what == "view_map":
            return ua.op(view_map=wrong)(function_of(case))
        made = ua.op(function_of(case))
        made.kernel("numpy")(lambda *arrays: arrays[0])
        return made.inplace("numpy", **{"destroy_map": {0: (0,)}, what: wrong})(lambda *arrays: arrays[0])

    def applied(op: Op) -> Any:
        # Of how many inputs it is only a node knows.
        return op(*(Variable(name=f"x{place}") for place in range(case.arrays)))

    def constructed() -> Any:
        return applied(Op("drawn", nout=case.outputs, **{what: wrong}))

    def assigned() -> Any:
        made = Op("drawn", nout=case.outputs)
        setattr(made, what, wrong)
        return applied(made)

    def class_attribute() -> Any:
        return applied(type("Drawn", (Op,), {"nout": case.outputs, what: wrong})())

    def attribute() -> Any:
        setattr(ua.op(function_of(case)), what, wrong)

    where = draw(st.sampled_from([op, op, constructed, assigned, class_attribute, attribute]))
    return f"{what}={wrong!r}", where


# -- what kernels do --------------------------------------------------------------------------------------------------

Behaviour = Callable[[Any, Case, int], Any]


def other_values(arrays: Any, case: Case, place: int) -> Any:
    results = list(computed(arrays, case.outputs))
    results[place % case.outputs] = results[place % case.outputs] + 0.5
    return results


def other_shape(arrays: Any, case: Case, place: int) -> Any:
    results = list(computed(arrays, case.outputs))
    results[place % case.outputs] = results[place % case.outputs][1:]
    return results


def an_argument(arrays: Any, case: Case, place: int) -> Any:
    results = list(computed(arrays, case.outputs))
    results[place % case.outputs] = arrays[place % case.arrays]
    return results


def a_view(arrays: Any, case: Case, place: int) -> Any:
    return [each[1:] if each is arrays[place % case.arrays] else each for each in an_argument(arrays, case, place)]


def writes(arrays: Any, case: Case, place: int) -> Any:
    results = computed(arrays, case.outputs)
    arrays[place % case.arrays][...] = 7.0
    return results


def shares(arrays: Any, case: Case, place: int) -> Any:
    results = list(computed(arrays, case.outputs))
    results[-1] = results[0][place % 2 :]
    return results


def right(arrays: Any, case: Case, place: int) -> Any:
    return computed(arrays, case.outputs)


# Each with the errors that say so, and whether only engines that write in place can do it.
WRONG: dict[Behaviour, tuple[tuple[type[DebugModeError], ...], bool]] = {
    other_values: ((BadThunkOutput,), False),
    other_shape: ((BadThunkOutput,), False),
    an_argument: ((BadViewMap, BadThunkOutput), True),
    a_view: ((BadViewMap, BadThunkOutput), True),
    writes: ((BadDestroyMap,), True),
    shares: ((BadViewMap,), True),
}


def kernel_of(case: Case, behaviour: Behaviour, place: int) -> Callable[..., Any]:
    def kernel(*arrays: Any) -> Any:
        results = tuple(behaviour(arrays, case, place))
        return results if case.outputs > 1 else results[0]

    return kernel


def wrong_twin(case: Case, how: str) -> Callable[..., Any]:
    """Return a destructive twin, of one result in the first array, that isn't right."""

    def twin(*arrays: Any) -> Any:
        (result,) = computed(arrays, 1)
        arrays[0][...] = result + (0.5 if how == "values" else 0.0)
        if how == "more":
            arrays[-1][...] = 7.0
        return arrays[0]

    return twin


def play(data: st.DataObject, backend: str) -> None:
    """Draw an operation, and see that it's refused or found, or that it's right."""
    case = data.draw(cases())
    kind = data.draw(st.sampled_from(["declaration", "kernel", "twin", "right"]))
    arrays = [ua.asarray(np.array(VALUES) * (place + 1), copy=True) for place in range(case.arrays)]
    if kind == "declaration":
        what, declare = data.draw(refused(case))
        hypothesis.note(what)
        with pytest.raises((TypeError, ValueError, AttributeError), match=r"."):
            declare()
    elif kind == "right":
        check_right(case, backend, arrays)
    elif kind == "kernel":
        behaviour = data.draw(st.sampled_from([*WRONG]))
        errors, in_place = WRONG[behaviour]
        hypothesis.assume(not in_place or has(backend, "writes"))
        hypothesis.assume(behaviour is not shares or case.outputs > 1)
        op = ua.op(function_of(case))
        op.kernel(backend)(kernel_of(case, behaviour, data.draw(st.integers(0, 5))))
        check_found(op, errors, arrays)
    elif has(backend, "writes"):
        how = data.draw(st.sampled_from(["values", "more"]))
        case = case._replace(outputs=1, arrays=max(case.arrays, 2))
        arrays = [ua.asarray(np.array(VALUES) * (place + 1), copy=True) for place in range(case.arrays)]
        op = ua.op(function_of(case))
        op.kernel(backend)(kernel_of(case, right, 0))
        op.inplace(backend, destroy_map={0: (0,)})(wrong_twin(case, how))
        # What type the result has the first call tells.
        op(*arrays, out=ua.zeros(len(VALUES)))
        check_found(op, (BadInplace,) if how == "values" else (BadDestroyMap,), arrays, out=arrays[0])


def check_found(op: Any, errors: tuple[type[DebugModeError], ...], arrays: list[Any], **out: Any) -> None:
    """Assert that both debug modes find what is wrong, and that the arguments stay as they were in a graph."""
    before = [x.tolist() for x in arrays]

    def function(*arrays: Any) -> Any:
        # A product with one would be left out.
        return op(*(x + 0 for x in arrays))

    with pytest.raises(errors, match=op.__name__):
        ua.compile(function, mode="debug")(*arrays)
    assert [x.tolist() for x in arrays] == before
    with ua.debug(), pytest.raises(errors, match=op.__name__):
        op(*arrays, **out)


def check_right(case: Case, backend: str, arrays: list[Any]) -> None:
    """Assert that what is declared may be so, and that all ways to call the operation give what NumPy gives."""
    op = ua.op(view_map=case.view_map)(function_of(case))
    op.kernel(backend)(kernel_of(case, right, 0))
    first: dict[int, int] = {}
    for output, inputs in case.destroy_map.items():
        if inputs[0] not in first.values():
            first[output] = inputs[0]

    @op.inplace(
        backend, destroy_map={key: (place,) for key, place in first.items()}, scratch=case.scratch, tolerate_same=[]
    )
    def _(*arrays: Any) -> Any:
        results = list(computed(arrays, case.outputs))
        for x in arrays:
            if any(x is arrays[place] for place in (*case.scratch, *first.values())):
                x[...] = 7.0
        for output, place in first.items():
            arrays[place][...] = results[output]
            results[output] = arrays[place]
        return tuple(results) if case.outputs > 1 else results[0]

    values = [np.array(x.tolist()) for x in arrays]
    expected = [each * 2 for each in computed(values, case.outputs)]

    def function(*arrays: Any) -> Any:
        results = op(*(x * 1 for x in arrays))
        return [each * 2 for each in (results if isinstance(results, tuple) else (results,))]

    for run in (function, ua.debug()(function), ua.compile(function), ua.compile(function, mode="debug")):
        for found, wanted in zip(run(*arrays), expected, strict=True):
            np.testing.assert_allclose(found.tolist(), wanted)
    for x, before in zip(arrays, values, strict=True):
        np.testing.assert_array_equal(x.tolist(), before)
    Op(
        "drawn",
        nout=case.outputs,
        view_map=case.view_map,
        destroy_map=case.destroy_map,
        scratch=list(case.scratch),
        tolerate_same=case.tolerate_same,
    )(*(Variable() for _ in arrays))


def run(backend: str, count: int, seed: int) -> None:
    """Draw and check so many."""

    @hypothesis.seed(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def drawn(data: st.DataObject) -> None:
        play(data, backend)

    with ua.use_backend(backend):
        drawn()


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    print(f"{sys.argv[1]}: {sys.argv[2]} declarations, seed {sys.argv[3]}: all refused, found, or right")
