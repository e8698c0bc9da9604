"""Compiled functions of torch's arrays whose operations torch's own compiler fuses, ``compile(fuse="inductor")``.

Its compilation takes seconds. So most tests run the captured graphs operation by operation, and some of them by torch's
``aot_eager``, which treats writes and views as the compiler does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr.container.container import flatten
from unifyarr.errors import BackendFeatureError, CompileWarning, UnifyarrError
from unifyarr.graph.fusion.lowering import LoweredOp
from unifyarr.testing.cases import CASES

from ..core.test_threads import in_threads
from ..engines import default_device
from ..functions.calls import UNSET
from ..natives import skip_unless
from ..oracle import as_numpy, assert_same, assert_values
from .compiled_programs import compare
from .test_every_function import OF_LENGTHS, READING, UNTOLD, WITHOUT_VALUES, call_of

# torch's own, of modules that its compiler imports.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
Compile = Callable[..., Any]


@pytest.fixture(autouse=True)
def on_torch() -> Iterator[None]:
    """Make torch the current backend."""
    skip_unless("torch", *ua.available_backends(), why="torch")
    with ua.use_backend("torch"):
        yield


class Compilations(list[Any]):
    """The graphs that were compiled. ``how`` compiles them."""

    how: Compile

    def __call__(self, module: Any, natives: Sequence[Any]) -> Any:
        self.append(module)
        return self.how(module, natives)


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> Compilations:
    """Have graphs run operation by operation, and return those that the compiler would have compiled."""
    from unifyarr.backends.torch import inductor

    found = Compilations()
    found.how = lambda module, natives: module
    monkeypatch.setattr(inductor, "compile_graph", found)
    return found


@pytest.fixture
def aot_eager(compilations: Compilations) -> Compilations:
    """Have graphs run by torch's functions for writes and views, and return them."""
    import torch

    compilations.how = lambda module, natives: torch.compile(module, backend="aot_eager", dynamic=False)
    return compilations


@pytest.fixture
def inductor(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have torch compile in this process, and keep its cache for the tests only."""
    import torch._inductor.config as config

    _skip_simulated("inductor makes no code for it")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "inductor"))
    with config.patch(compile_threads=1):
        yield


def _skip_simulated(why: str) -> None:
    if default_device("torch").startswith("sim"):
        pytest.skip(f"a simulated device: {why}")


def regions(compiled: Any, *arguments: Any) -> list[LoweredOp]:
    """Return the operations for which the compiler is called."""
    nodes = compiled.graph(*arguments).toposort()
    return [node.op for node in nodes if isinstance(node.op, LoweredOp)]


def singles(dtype: str = "float32", *shapes: tuple[int, ...]) -> list[ua.Array]:
    """Return random arrays."""
    rng = np.random.default_rng(0)
    return [ua.asarray(rng.normal(size=shape).astype(dtype)) for shape in shapes]


def adam(w: Any, g: Any, m: Any, v: Any, rate: float) -> None:
    """Make a step of Adam in place."""
    m *= 0.9
    m += 0.1 * g
    v *= 0.999
    v += 0.001 * g * g
    w -= rate * (m / 0.1) / ((v / 0.01) ** 0.5 + 1e-8)


def wave(u: Any, v: Any) -> None:
    """Make a step of the wave equation in place."""
    v[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
    u += 0.1 * v


def network(x: Any, w: Any) -> Any:
    """Return the probabilities of a layer that is normalised."""
    return ua.nn.softmax(ua.nn.gelu(ua.nn.layer_norm(x)) @ w)


# -- what it compiles -------------------------------------------------------------------------------------------------


def test_inductor_compiles_a_step_that_writes_its_arguments(inductor: None) -> None:
    compiled = ua.compile(adam, fuse="inductor")
    mine, theirs = (singles("float32", *[(40, 30)] * 4) for _ in range(2))
    for x in (mine[3], theirs[3]):
        ua.abs(x, out=x)
    memory = [x.native.data_ptr() for x in mine]
    for rate in (1e-3, 1e-2, 1e-3):
        assert compiled(*mine, rate) is None
        adam(*theirs, rate)
    assert [x.native.data_ptr() for x in mine] == memory
    for x, y in zip(mine, theirs, strict=True):
        assert_values(as_numpy(x), as_numpy(y), rtol=1e-6, atol=1e-7)
    (region,) = regions(compiled, *mine, 1e-3)
    assert len(region.host) == 3


def test_inductor_compiles_windows_and_a_derivative(inductor: None) -> None:
    def step(w: Any, x: Any, u: Any, v: Any) -> Any:
        wave(u, v)
        loss, slope = ua.value_and_grad(lambda w: ua.mean(network(x, w) ** 2))(w)
        w -= 0.1 * slope
        return loss, ua.where(x > 0, 1, 0), x[::-1, 1:]

    compiled = ua.compile(step, fuse="inductor")
    mine, theirs = (singles("float32", (20, 5), (30, 20), (12, 12), (12, 12)) for _ in range(2))
    for _ in range(2):
        found, expected = compiled(*mine), step(*theirs)
        for x, y in zip((*found, *mine), (*expected, *theirs), strict=True):
            assert (x.dtype, x.native.stride()) == (y.dtype, y.native.stride())
            assert_values(as_numpy(x), as_numpy(y), rtol=1e-5, atol=1e-6)
    assert len(regions(compiled, *mine)) == 1


def test_functions_are_nodes_of_torchs_own(compilations: Compilations) -> None:
    _skip_simulated("torch has no kernel of attention for it, and traces products")
    x, w = singles("float32", (2, 3, 8, 4), (4, 4))
    attention = ua.nn.scaled_dot_product_attention
    ua.compile(lambda x, w: network(attention(x, x, x), w), fuse="inductor")(x, w)
    (graph,) = compilations
    names = {str(node.target) for node in graph.graph.nodes if node.op == "call_function"}
    assert {"aten.gelu.default", "aten._softmax.default"} <= names
    assert any("attention" in name for name in names)
    assert "aten.erfc.default" not in names


def test_numbers_are_known_to_the_compiler(compilations: Compilations) -> None:
    (x,) = singles("float32", (3,))
    table = ua.asarray([1.0, 2.0, 3.0], dtype="float32")
    compiled = ua.compile(lambda x, rate: (x * 0.5 + rate) ** 2.0 * table, fuse="inductor")
    for rate in (1.0, 2.0, float("nan")):
        assert_values(as_numpy(compiled(x, rate)), as_numpy((x * 0.5 + rate) ** 2.0 * table), rtol=1e-6)
    (graph,) = compilations
    assert all(node.op != "get_attr" for node in graph.graph.nodes)


def test_loops_random_numbers_and_what_may_raise_stay_between_regions(
    compilations: Compilations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unifyarr.graph.fusion.lowering.FEWEST", 2)

    def function(x: Any, places: Any, generator: Any) -> Any:
        y = ua.fori_loop(0, 3, lambda i, y: y * 1.5 - i, ua.exp(x) + 1.0)
        y = ua.sqrt(ua.abs(y)) * 2.0 + generator.normal(size=y.shape)
        z = ua.take(y, places) * 2.0 - 1.0
        return y[y > 0] * 2.0, z, ua.linalg.solve(y[:3, None] * ua.eye(3) + ua.eye(3), ua.cos(z) * 0.5)

    compiled = ua.compile(function, fuse="inductor")
    (x,) = singles("float64", (7,))
    places = ua.asarray([2, 0, 1])
    mine, theirs = ua.random.Generator(3, engine="native"), ua.random.Generator(3, engine="native")
    for _ in range(2):
        for found, expected in zip(compiled(x, places, mine), function(x, places, theirs), strict=True):
            assert_values(as_numpy(found), as_numpy(expected), rtol=1e-12, atol=1e-12)
    assert len(regions(compiled, x, places, mine)) == 3
    with pytest.raises(IndexError):
        compiled(x, ua.asarray([2, 0, 9]), mine)


# -- the same as eager calls ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seeds", [range(first, first + 20) for first in (0, 20, 40)], ids=str)
def test_random_programs_give_the_same(seeds: range, compilations: Compilations) -> None:
    for seed in seeds:
        compare(seed, fuse="inductor")
    assert len(compilations) > len(seeds) // 2


def test_random_programs_give_the_same_after_torchs_own_rewrites(aot_eager: Compilations) -> None:
    for seed in range(60, 68):
        compare(seed, fuse="inductor")


NAMES = sorted({*CASES} - WITHOUT_VALUES - UNTOLD - READING - OF_LENGTHS)


@pytest.mark.parametrize("first", range(8))
def test_every_function_gives_the_same(first: int, compilations: Compilations, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each kernel that the compiler may have, not only those beside others.
    monkeypatch.setattr("unifyarr.graph.fusion.lowering.FEWEST", 1)
    for name in NAMES[first::8]:
        function, arrays = call_of(name, CASES[name][0])
        expected = flatten(function(*[ua.asarray(x, copy=True) for x in arrays]))[0]
        found = flatten(ua.compile(function, fuse="inductor")(*[ua.asarray(x, copy=True) for x in arrays]))[0]
        for one, other in zip(found, expected, strict=True):
            if isinstance(one, ua.Array):
                assert (one.shape, one.dtype, one.native.stride()) == (other.shape, other.dtype, other.native.stride())
                if name not in UNSET:
                    assert_values(as_numpy(one), as_numpy(other), rtol=1e-6, atol=1e-9)


OPERATIONS: list[Callable[[Any, Any], Any]] = [
    *(lambda x, y: x + y, lambda x, y: x * y - x, lambda x, y: ua.maximum(x, y), lambda x, y: ua.where(x > y, x, y)),
    *(lambda x, y: x > y, lambda x, y: ua.sum(x, axis=-1, keepdims=True) + y, lambda x, y: ua.abs(x)),
    *(lambda x, y: x[..., ::-1], lambda x, y: ua.astype(x, "int16"), lambda x, y: ua.sqrt(ua.abs(y))),
    *(lambda x, y: x @ ua.matrix_transpose(x) if x.ndim > 1 else x * 2, lambda x, y: ua.concat([x, x], axis=-1)),
]
DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint16", "float16", "float32", "float64", "complex64"]
SHAPES = [(3, 4), (4,), (1, 4), (0, 4), (), (2, 3, 4)]
LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C": lambda x: x,
    "F": np.asfortranarray,
    "gaps": lambda x: np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x,
    "transposed": lambda x: np.array(x.T).T,
}


@given(
    types=st.tuples(st.sampled_from(DTYPES), st.sampled_from(DTYPES)),
    shapes=st.tuples(st.sampled_from(SHAPES), st.sampled_from(SHAPES)),
    layout=st.sampled_from(sorted(LAYOUTS)),
    chosen=st.lists(st.sampled_from(range(len(OPERATIONS))), min_size=2, max_size=6),
    seed=st.integers(0, 9),
)
def test_types_shapes_and_layouts_are_those_of_eager_calls(
    types: tuple[str, str], shapes: tuple[Any, Any], layout: str, chosen: list[int], seed: int
) -> None:
    from unifyarr.backends.torch import inductor

    rng = np.random.default_rng(seed)
    values = [
        LAYOUTS[layout](np.asarray(rng.choice([0, 1, 2, 3, 5, 7], shape)).astype(dtype))
        for shape, dtype in zip(shapes, types, strict=True)
    ]
    if values[0].dtype.kind == "f" and values[0].size:
        values[0][(0,) * values[0].ndim] = np.nan

    def function(x: Any, y: Any) -> list[Any]:
        found = [x, y]
        for number in chosen:
            try:
                found.append(OPERATIONS[number](found[-1], y))
            # Shapes and dtypes that don't go together.
            except (UnifyarrError, TypeError, ValueError, IndexError):
                continue
        return found[2:]

    with pytest.MonkeyPatch.context() as patch, ua.use_backend("torch"), np.errstate(all="ignore"):
        patch.setattr(inductor, "compile_graph", lambda module, natives: module)
        given = [ua.asarray(each, copy=None) for each in values]
        expected = function(*given)
        for found, wanted in zip(ua.compile(function, fuse="inductor")(*given), expected, strict=True):
            assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
            # Layouts of arrays of one element along an axis are all the same.
            assert_same(found, as_numpy(wanted), rtol=1e-6)


def test_results_have_memory_of_their_own(aot_eager: Compilations) -> None:
    def function(x: Any, y: Any) -> Any:
        a, b = x * 2.0 + y, x * 2.0 + y
        return a, b, a[1:], x[1:], x.copy(), ua.broadcast_to(y[:1] + 1.0, (4,)), y

    x, y = singles("float64", (4,), (4,))
    found = ua.compile(function, fuse="inductor")(x, y)
    for each, expected in zip(found, function(x, y), strict=True):
        assert_same(each, as_numpy(expected))
    assert found[3].base is x
    assert found[6] is y
    own = [*found[:3], *found[4:6], x, y]
    for number, each in enumerate(own):
        assert not any(ua.shares_memory(each, other) for other in own[:number])
    for each in own[:5]:
        each[...] = 0.0


def test_captured_arrays_and_views_are_written_where_they_are(aot_eager: Compilations) -> None:
    total, memory = ua.zeros(3, dtype="float64"), ua.arange(8, dtype="float64")
    view = memory[1:7:2]

    @ua.compile(fuse="inductor")
    def add(x: Any) -> Any:
        total[...] += x * 2.0 + 1.0
        x *= total
        return ua.sum(total)

    for expected in (27.0, 417.0):
        assert float(add(view)) == pytest.approx(expected, rel=1)
    assert memory.tolist()[::2] == [0.0, 2.0, 4.0, 6.0]
    assert view.tolist() == memory.tolist()[1:7:2]
    assert float(ua.sum(total)) > 27


def test_arguments_may_be_exchanged(aot_eager: Compilations) -> None:
    @ua.compile(fuse="inductor")
    def swap(x: Any, y: Any) -> None:
        old = x * 2.0 - x
        x[...] = y + 0.0
        y[...] = old + 0.0

    x, y = ua.asarray([1.0, 2.0]), ua.asarray([3.0, 4.0])
    swap(x, y)
    assert (x.tolist(), y.tolist()) == ([3.0, 4.0], [1.0, 2.0])
    # Writes to overlapping arrays happen in the order of the function.
    z = ua.asarray([1.0, 2.0, 3.0])
    swap(z[:2], z[1:])
    assert z.tolist() == [2.0, 1.0, 2.0]


def test_arrays_of_another_engine_pass_through_torch(aot_eager: Compilations) -> None:
    mine, theirs = (np.arange(12.0).reshape(3, 4) for _ in range(2))
    x, y = ua.asarray(mine[::-1], backend="numpy", copy=False), ua.asarray(theirs[::-1], backend="numpy", copy=False)

    def function(x: Any) -> Any:
        x[1:, ::2] = ua.exp(x[1:, ::2] / 4.0) + 1.0
        return ua.sum(x * 2.0, axis=0)

    compiled = ua.compile(function, backend="torch", fuse="inductor")
    for _ in range(3):
        assert_values(np.asarray(compiled(x)), np.asarray(function(y)), rtol=1e-12)
    assert_values(mine, theirs, rtol=1e-12)
    assert len(aot_eager) == 1


def test_where_torch_takes_derivatives_the_function_runs(compilations: Compilations) -> None:
    import torch

    compiled = ua.compile(adam, fuse="inductor")
    mine = [torch.rand(3, requires_grad=number == 0) for number in range(4)]
    theirs = [x.detach().clone() for x in mine]
    with torch.no_grad():
        for _ in range(3):
            compiled(*map(ua.asarray, mine), 0.1)
            adam(*theirs, 0.1)
    for x, y in zip(mine, theirs, strict=True):
        torch.testing.assert_close(x.detach(), y)
    square = ua.compile(lambda x: ua.sum(ua.exp(x) * 2.0), fuse="inductor")
    square(ua.asarray(mine[0])).native.backward()
    torch.testing.assert_close(mine[0].grad, torch.exp(mine[0].detach()) * 2.0)
    count = len(compilations)
    assert count == 1
    batch = torch.func.vmap(lambda x: square(ua.asarray(x)).native)(torch.ones(2, 3))
    torch.testing.assert_close(batch, torch.full((2,), 6 * float(np.exp(1.0))))


# -- when it compiles, and what it says -------------------------------------------------------------------------------


def test_it_compiles_once_for_each_type_and_layout(compilations: Compilations) -> None:
    compiled = ua.compile(lambda x: ua.exp(x) * 2.0 + 1.0, fuse="inductor")
    (x,) = singles("float64", (3, 4))
    for _ in range(3):
        compiled(x)
        compiled(x.T)
    assert len(compilations) == 2
    compiled(x[:2])
    assert len(compilations) == 3


def test_threads_compile_once(compilations: Compilations) -> None:
    compiled = ua.compile(lambda x: ua.exp(x) * 2.0 + 1.0, fuse="inductor")
    (x,) = singles("float64", (3, 4))
    expected, found = as_numpy(ua.exp(x) * 2.0 + 1.0), []
    in_threads(*[lambda: found.append(as_numpy(compiled(x)))] * 4)
    assert len(compilations) == 1
    for each in found:
        assert_values(each, expected, rtol=1e-12)


def test_without_a_compiler_it_runs_step_by_step_and_says_so(inductor: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch._inductor.config as config

    compiled = ua.compile(wave, fuse="inductor")
    mine, theirs = (singles("float32", (9, 9), (9, 9)) for _ in range(2))
    with (
        config.patch({"cpp.cxx": ("/nowhere/c++",)}),
        pytest.warns(CompileWarning, match=r"wave\(\): .*operation by operation"),
    ):
        compiled(*mine)
    wave(*theirs)
    # Said once, and not tried again.
    compiled(*mine)
    wave(*theirs)
    for x, y in zip(mine, theirs, strict=True):
        assert_same(x, as_numpy(y), rtol=1e-6)


def test_an_interrupt_of_the_compilation_leaves_everything_as_it_was(compilations: Compilations) -> None:
    def interrupt(module: Any, natives: Any) -> Any:
        raise KeyboardInterrupt

    compiled, (u, v) = ua.compile(wave, fuse="inductor"), singles("float32", (9, 9), (9, 9))
    before = [as_numpy(u).copy(), as_numpy(v).copy()]
    works, compilations.how = compilations.how, interrupt
    with pytest.raises(KeyboardInterrupt):
        compiled(u, v)
    assert_same(u, before[0])
    assert_same(v, before[1])
    compilations.how = works
    compiled(u, v)
    expected = [ua.asarray(each) for each in before]
    wave(*expected)
    assert_same(v, as_numpy(expected[1]), rtol=1e-6)


def test_the_log_says_how_long_it_took(compilations: Compilations, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "unifyarr.compile"):
        ua.compile(wave, fuse="inductor")(*singles("float32", (9, 9), (9, 9)))
    assert any("inductor" in each.message and "seconds" in each.message for each in caplog.records)


def test_reports_show_the_single_operations(compilations: Compilations) -> None:
    compiled, arguments = ua.compile(wave, fuse="inductor"), singles("float32", (9, 9), (9, 9))
    assert "set_window" in str(compiled.profile(*arguments))
    assert "inductor" in str(compiled.memory(*arguments))


def test_modes_run_what_they_say(compilations: Compilations) -> None:
    for options in ({"mode": "pure"}, {"mode": "debug"}, {"exclude": "fuse"}):
        compiled = ua.compile(wave, fuse="inductor", **options)
        compiled(*singles("float32", (9, 9), (9, 9)))
        assert not regions(compiled, *singles("float32", (9, 9), (9, 9)))
    assert not compilations


def test_fuse_takes_names_of_compilers() -> None:
    for wrong in ("triton", True, 3, ["inductor"]):
        with pytest.raises(ValueError, match="fuse is 'inductor', False, or None"):
            ua.compile(wave, fuse=wrong)  # type: ignore[call-overload]
    compiled = ua.compile(wave, fuse="inductor")
    x = ua.zeros((4, 4), backend="numpy")
    with pytest.raises(BackendFeatureError, match="numpy"):
        compiled(x, x + 1)
    single = ua.compile(wave, fuse=False)
    names = [node.op.name for node in single.graph(*singles("float32", (9, 9), (9, 9))).toposort()]
    assert not any("[" in name and name.startswith(("fused", "inductor")) for name in names)


@pytest.mark.parametrize(("shape", "count"), [((8, 8), 0), ((256, 256), 1)])
def test_two_operations_are_compiled_on_many_elements(
    compilations: Compilations, shape: tuple[int, ...], count: int
) -> None:
    (x,) = singles("float32", shape)
    assert len(regions(ua.compile(lambda x: x * 2.0 + 1.0, fuse="inductor"), x)) == count
    assert len(regions(ua.compile(lambda x: ua.sqrt(x * x + 1.0), fuse="inductor"), x)) == 1
    assert not regions(ua.compile(lambda x: x + 1.0, fuse="inductor"), x)


def test_operations_of_users_stay_as_they_are(compilations: Compilations, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unifyarr.graph.fusion.lowering.FEWEST", 2)
    calls = []

    @ua.op
    def noted(x: ua.Array, /) -> ua.Array:
        return x * 1.0

    @noted.kernel("torch")
    def _(x: Any) -> Any:
        calls.append(x)
        return x + 1

    (x,) = singles("float64", (3,))
    compiled = ua.compile(lambda x: noted(x * 2.0 - 1.0) * 3.0 + 1.0, fuse="inductor")
    for _ in range(2):
        assert_values(as_numpy(compiled(x)), as_numpy(x) * 6.0 + 1.0, rtol=1e-12)
    assert len(calls) == 2
    assert len(regions(compiled, x)) == 2
