"""Regions with generated loops: the same bits and warnings, compiled in the background, from a safe cache."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import unifyarr as ua
from tests.graph.fusion.random_regions import compare, make, run, values
from tests.graph.fusion.test_machine import F8, chain, ufunc, whole
from unifyarr.graph.fusion import cache, machine
from unifyarr.graph.fusion.emit import SHORT, SHORT_ALIKE, can_emit
from unifyarr.graph.fusion.finite import LINE
from unifyarr.graph.fusion.known import STEPS
from unifyarr.graph.fusion.region import Axis, FusedRegion, FusedStep, Operand

pytestmark = pytest.mark.skipif(
    not machine.is_compiled() or cache.find_compiler() is None,
    reason="the package was installed without its compiled part, or there is no C compiler",
)


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    """A cache for these tests alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNIFYARR_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield Path(os.environ["UNIFYARR_CACHE_DIR"]) / "unifyarr" / "kernels"


def generated(region: FusedRegion):
    function = machine.bind(region)
    assert machine.compile_now(function)
    return function


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u4", "i8", "u8", "f4", "f8"])
def test_every_operation(dtype):
    """Each writes its own result; what's above a dtype's limits wraps."""
    dtype, n = np.dtype(dtype), 403
    written = {"f": "floats", "i": "integers", "u": "integers", "b": "bools"}[dtype.kind]
    names = [name for name, known in STEPS.items() if getattr(known, written) is not None]
    # Its bounds are constants: see below.
    names = [each for each in names if each != "clip"]
    steps = []
    for name in names:
        for types in getattr(np, name).types:
            given, result = types.split("->")
            if given and set(map(np.dtype, given)) == {dtype}:
                steps.append(FusedStep(name, tuple(range(len(given))), (dtype,) * len(given) + (np.dtype(result),)))
                break
    targets = [np.dtype(each) for each in ("?", "i1", "u2", "i4", "u8", "f4", "f8")]
    steps += [FusedStep("cast", (0,), (dtype, each)) for each in targets]
    steps = [each for each in steps if can_emit(each)]
    mask = 2 + next(i for i, step in enumerate(steps) if step.dtypes[-1] == np.dtype("?"))
    steps.append(FusedStep("where", (mask, 0, 1), (np.dtype("?"), dtype, dtype, dtype)))
    assert len(steps) > 7
    rng = np.random.default_rng(0)
    # Few at a time: a loop has a limited number of operands.
    for some in (steps[i : i + 25] for i in range(0, len(steps), 25)):
        some = [step for step in some if max(step.inputs) < 2] or some
        arguments = [((n,), dtype), ((n,), dtype), *(((n,), step.dtypes[-1]) for step in some)]
        writes = tuple((i + 2, whole(i + 2)) for i in range(len(some)))
        region = FusedRegion((n,), tuple(arguments), (whole(0), whole(1)), (), tuple(some), writes)
        arrays = [values(rng, (n,), dtype), values(rng, (n,), dtype)]
        compare(region, [*arrays, *(np.zeros(n, step.dtypes[-1]) for step in some)], generated(region))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u8", "f2", "f4", "f8"])
@pytest.mark.parametrize("bounds", [(0, 2), (-0.0, 2.0), (-2.0, 0.0), (-2.0, -0.0), (1, 5), (5, 1)])
@pytest.mark.parametrize("wait", [False, True])
def test_clip(dtype, bounds, wait):
    """NaN and zeros of either sign stay, as in NumPy; no comparison of NaN warns."""
    kind = np.dtype(dtype).kind
    if kind != "f":
        bounds = tuple(int(abs(each)) for each in bounds)
    given = [-0.0, 0.0, np.nan, -np.nan, 1, -1, 3, -3, 7, np.inf, -np.inf] if kind == "f" else [0, 1, 2, 4, 7, 100]
    x = np.array(given * 20, dtype)
    function = ua.compile(lambda x: ua.clip(ua.positive(x), *bounds) * 1, wait=wait)
    with ua.use_backend("numpy"), np.errstate(all="raise"):
        array = ua.asarray(x)
        for _ in range(3):
            assert np.asarray(function(array)).tobytes() == (np.clip(x, *bounds) * 1).tobytes()
        assert len(function.graph(array).apply_nodes) == 1


@pytest.mark.parametrize("dtype", ["u1", "f4", "f8"])
def test_rows_begin_anywhere_in_a_line_of_the_cache(dtype):
    """Longer ones go through whole lines, after what comes before the first of them."""
    dtype, rng = np.dtype(dtype), np.random.default_rng(1)
    types = (dtype,) * 3
    steps = FusedStep("multiply", (0, 1), types), FusedStep("add", (2, 0), types), FusedStep("subtract", (3, 1), types)
    for n in (SHORT_ALIKE - 1, SHORT_ALIKE, SHORT - 1, SHORT, SHORT + 77):
        function = generated(FusedRegion((n,), (((n,), dtype),) * 2, (whole(0), whole(1)), (), steps, ((4, whole(1)),)))
        for first in range(LINE // dtype.itemsize + 1):
            x, y = (values(rng, (n + LINE,), dtype)[each : each + n] for each in (first, 3))
            compare(function=function, region=function.hot.region, arrays=[x, y])


@pytest.mark.parametrize("width", [2 * SHORT, 2 * SHORT - 3])
def test_rows_above_each_other_begin_alike_or_not(width):
    rng, dtype = np.random.default_rng(1), np.dtype("f8")
    steps = FusedStep("multiply", (0, 1), (dtype,) * 3), FusedStep("add", (2, 0), (dtype,) * 3)
    for n in (SHORT_ALIKE - 1, SHORT_ALIKE, SHORT - 1, SHORT + 5):
        both = tuple(Operand(each, (0, 0), (Axis(0), Axis(1))) for each in (0, 1))
        function = generated(FusedRegion((5, n), (((5, n), dtype),) * 2, both, (), steps, ((3, both[1]),)))
        for first in range(3):
            x, y = (values(rng, (5, width), dtype)[:, each : each + n] for each in (first, 1))
            compare(function=function, region=function.hot.region, arrays=[x, y])


def test_random_regions():
    for seed in range(300, 312):
        region, arrays = make(seed)
        function = machine.bind(region)
        machine.compile_now(function)
        compare(region, arrays, function)


@pytest.mark.parametrize("n", [1, 10, 100_003])
@pytest.mark.parametrize("in_place", [False, True])
def test_chains(n, in_place):
    region = chain(n)
    if in_place:
        region = region._replace(writes=((6, whole(1)),))
    rng = np.random.default_rng(1)
    compare(region, [rng.random(n), rng.random(n), np.zeros(n)], generated(region))
    # In other layouts, too.
    compare(region, [rng.random(2 * n)[::2], rng.random(n)[::-1], np.zeros(n)], generated(region))


@pytest.mark.parametrize("step", [-1, 2, -3])
@pytest.mark.parametrize("n", [1, 50, 9_001])
def test_windows_with_gaps_are_read_from_buffers(n, step):
    """Results stay where they are, also in the memory of an input; and flags come from the same steps."""
    region = chain(n)
    rng = np.random.default_rng(1)
    for writes in (region.writes, ((6, whole(1)),)):
        function = generated(region._replace(writes=writes))
        x, y, out = (rng.random(3 * n + 3)[::step][:n] for _ in range(3))
        compare(region._replace(writes=writes), [x, y, out], function)
        y[n // 2], y[-1] = 0.0, np.nan
        compare(region._replace(writes=writes), [x, y, out], function)
        compare(region._replace(writes=writes), [rng.random(n), y, out], function)


@pytest.mark.parametrize("width", [30, 126, 127, 510, 512])
def test_windows_that_are_overwritten(width):
    """A loop saves rows like those of the window, with gaps between them or without."""
    shape, region = (37, 512), chain(0)
    axes = (Axis(0), Axis(1))
    reads = (Operand(0, (2, 0), axes), Operand(1, (1, 0), axes))
    region = region._replace(shape=(33, width), arguments=((shape, F8),) * 2, reads=reads)
    region = region._replace(writes=((6, reads[1]),))
    rng = np.random.default_rng(1)
    x, y = rng.random(shape) + 1, rng.random(shape) + 1
    compare(region, [x, y], generated(region))
    # Some step raises a flag, for which the steps run again.
    y[20, width - 1], y[3, 0] = 0.0, np.nan
    compare(region, [x, y], generated(region))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="asks for instructions of x86")
def test_long_groups_are_vectorised(monkeypatch, tmp_path):
    """A compiler takes a loop behind many tests to be rare, and makes it small instead of fast."""
    sources = []
    monkeypatch.setattr(cache, "functions", lambda source, count: sources.append(source))
    n = 1000
    steps = tuple(ufunc("sqrt", i) for i in range(10))
    windows = tuple(map(whole, range(20)))
    writes = tuple((10 + i, whole(10 + i)) for i in range(10))
    machine.compile_now(machine.bind(FusedRegion((n,), (((n,), F8),) * 20, windows[:10], (), steps, writes)))
    (tmp_path / "kernel.c").write_text(sources[0])
    flags = [each for each in cache.FLAGS if each != "-shared"]
    compiler = cache.find_compiler()
    made = subprocess.run([compiler, *flags, "-S", "-o-", "kernel.c"], cwd=tmp_path, capture_output=True, text=True)
    assert "sqrtpd" in made.stdout


def test_threads():
    before, n = ua.get_num_threads(), 1_000_000
    rng = np.random.default_rng(1)
    ua.set_num_threads(4)
    try:
        compare(chain(n), [rng.random(n), rng.random(n), np.zeros(n)], generated(chain(n)))
    finally:
        ua.set_num_threads(before)


def test_warnings_are_of_the_steps_that_raise():
    """Also where a result is only chosen elsewhere, and where the loop overwrites its input."""
    bools = (F8, F8, np.dtype("?"))
    steps = (
        ufunc("divide", 0, 1),
        FusedStep("greater", (1, 2), bools),
        FusedStep("where", (4, 3, 2), (bools[-1], F8, F8, F8)),
    )
    steps += (ufunc("multiply", 5, 5), ufunc("sqrt", 0))
    n = 1003
    region = FusedRegion(
        (n,), (((n,), F8),) * 3, (whole(0), whole(1)), (np.array(0.0),), steps, ((6, whole(0)), (7, whole(2)))
    )
    x, y = np.ones(n), np.ones(n)
    function = generated(region)
    assert run(function, [x, y, np.zeros(n)])[1] == []
    y[7] = 0
    x[1000] = 1e300
    x[500] = -1
    expected = [
        "divide by zero encountered in divide",
        "invalid value encountered in sqrt",
        "overflow encountered in multiply",
    ]
    assert run(function, [x, y, np.zeros(n)])[1] == expected
    compare(region, [x, y, np.zeros(n)], function)
    with np.errstate(all="ignore"):
        assert run(function, [x, y, np.zeros(n)])[1] == []
    y[3] = np.nan
    compare(region, [x, y, np.zeros(n)], function)


@pytest.mark.parametrize("n", [3, 8, 19, 100])
def test_what_is_not_chosen_warns(n):
    """A compiler may skip elements that a mask doesn't choose, but eager calls compute all, and warn."""
    bools = (F8, F8, np.dtype("?"))
    steps = (
        FusedStep("greater", (0, 1), bools),
        ufunc("divide", 0, 1),
        FusedStep("where", (2, 1, 3), (bools[-1], F8, F8, F8)),
    )
    region = FusedRegion((n,), (((n,), F8),) * 3, (whole(0), whole(1)), (), steps, ((4, whole(2)),))
    function = generated(region)
    for place in range(n):
        x, y = np.full(n, 2.0), np.full(n, 3.0)
        y[place] = 0
        compare(region, [x, y, np.zeros(n)], function)


@pytest.mark.parametrize(
    "same",
    [
        lambda root: root < root,
        lambda root: ua.logical_xor(root < 1, root < 1),
        lambda root: ua.where(root < 1, 1.0, 1.0),
        lambda root: (root < 1).astype(ua.int64) - (root < 1).astype(ua.int64),
    ],
)
def test_what_is_compared_with_itself_warns(same):
    """A compiler knows the result, and needs no value for it."""
    with ua.use_backend("numpy"):
        x = ua.asarray(np.linspace(-1, 1, 300))
        function = ua.compile(lambda x: same(ua.sqrt(x * 2.0)), wait=True)
        with np.errstate(all="ignore"):
            expected, _ = same(ua.sqrt(x * 2.0)).tolist(), function(x)
        for _ in range(3):
            with pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt"):
                found = function(x)
            assert found.tolist() == expected


@pytest.mark.parametrize(
    "zero",
    [
        lambda n: n - n,
        lambda n: n ^ n,
        lambda n: n & ~n,
        lambda n: n + -n,
        lambda n: n < n,
        lambda n: n.astype(ua.float64) > n.astype(ua.float64),
        lambda n: ua.maximum(n, n) - n,
        lambda n: ua.logical_xor(ua.where(n > 3, n, n), n),
    ],
)
def test_quotients_by_what_a_compiler_knows_warn(zero):
    with ua.use_backend("numpy"):
        compiled = ua.compile(lambda n: ua.reciprocal(zero(n).astype(ua.float32)) * 2.0, wait=True)
        n = ua.arange(3000)
        for _ in range(3):
            with pytest.warns(RuntimeWarning, match="divide by zero encountered in reciprocal"):
                compiled(n)


def test_what_is_called_often_is_compiled_meanwhile(monkeypatch):
    monkeypatch.setattr(machine, "HOT", 0)
    region = chain(17)
    function = machine.bind(region)
    rng = np.random.default_rng(1)
    arrays = [rng.random(17), rng.random(17), np.zeros(17)]
    deadline = time.monotonic() + 60
    while function.better is None:
        compare(region, arrays, function)
        assert time.monotonic() < deadline, "it wasn't compiled"
    compare(region, arrays, function)


def test_nothing_to_generate():
    region = FusedRegion((5,), (((5,), F8),) * 2, (whole(0),), (), (ufunc("exp", 0),), ((1, whole(1)),))
    assert not machine.compile_now(machine.bind(region))
    assert not machine.compile_now(lambda: None)


def text(number: int) -> str:
    return f"void kernel_0(char **args) {{ args[0] = (char *){number}; }}"


def test_without_a_compiler(monkeypatch, tmp_path):
    for name in ("", "no-such-compiler"):
        monkeypatch.setenv("UNIFYARR_CC", name)
        assert cache.functions(text(0), 1) is None
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o700)
    monkeypatch.setenv("UNIFYARR_CC", str(broken))
    function = machine.bind(chain(5))
    assert not machine.compile_now(function)
    out = np.zeros(5)
    function(np.ones(5), np.ones(5), out)
    assert out.tolist() == [np.sqrt(3)] * 5


def test_nothing_waits_for_a_compiler(tmp_path):
    """Neither the exit of the interpreter, nor a process that is forked meanwhile."""
    slow = tmp_path / "slow"
    slow.write_text('#!/bin/sh\n[ "$1" = --version ] || sleep 20\n')
    slow.chmod(0o700)
    code = """
import os, numpy as np
from tests.graph.fusion.test_machine import chain
from unifyarr.graph.fusion import machine
machine.HOT = 0
function = machine.bind(chain(5))
for _ in range(3):
    function(*np.ones((3, 5)))
child = os.fork()
if not child:
    function(*np.ones((3, 5)))
    os.environ["UNIFYARR_CC"] = ""
    machine.compile_now(machine.bind(chain(5)))
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert function.better is None
"""
    begin = time.monotonic()
    environment = {**os.environ, "UNIFYARR_CC": str(slow), "UNIFYARR_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60, env=environment)
    assert time.monotonic() - begin < 19
