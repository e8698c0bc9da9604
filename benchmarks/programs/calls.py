"""Calls of compiled functions on small arrays: their cost over the engine's own kernels, and beside eager calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import unifyarr as ua

MANY, CALLS = 20, 300
Run = Callable[[], Any]


def identity(x: Any) -> Any:
    return x


def plus(x: Any) -> Any:
    return x + 1


def three(x: Any, y: Any) -> Any:
    return (x * y + 1) * x


def ends(*arrays: Any) -> Any:
    return arrays[0] + arrays[-1]


def four(a: Any, b: Any, c: Any, d: Any) -> Any:
    return a * 2, b * 2, c * 2, d * 2


def double(p: Any) -> Any:
    return p * 2


def scale(x: Any, rate: Any) -> Any:
    return x * rate


def add(x: Any, y: Any) -> None:
    x += y


def rows(engine: str) -> Iterator[tuple[str, dict[str, Run]]]:
    """Yield the title of each row with its contenders: ours, eager, and the same on natives by hand."""
    many = [ua.asarray(np.arange(4.0) + number, backend=engine) for number in range(MANY)]
    container = ua.Container(a=many[0], b=many[1], c={"d": many[2], "e": many[3]})
    x, y = many[:2]
    calls: dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = {
        "identity": (identity, (x,), {}),
        "x + 1": (plus, (x,), {}),
        "x + 1, by keyword": (plus, (), {"x": x}),
        "x * rate, a float": (scale, (x, 0.5), {}),
        "three operations": (three, (x, y), {}),
        f"{MANY} arrays": (ends, tuple(many), {}),
        "four arrays, doubled": (four, tuple(many[:4]), {}),
        "a container of four, doubled": (double, (container,), {}),
        "x += y": (add, (x, y), {}),
    }
    for title, (function, args, kwargs) in calls.items():
        compiled: Any = ua.compile(function)
        runs: dict[str, Run] = {
            "compiled": lambda compiled=compiled, args=args, kwargs=kwargs: compiled(*args, **kwargs),
            "eager": lambda function=function, args=args, kwargs=kwargs: function(*args, **kwargs),
        }
        if not title.startswith(("a container", "x +=")):
            natives = [each.native if isinstance(each, ua.Array) else each for each in (*args, *kwargs.values())]
            by_hand: Any = function
            if engine == "jax":
                import jax

                by_hand = jax.jit(function)
            runs["by hand"] = lambda by_hand=by_hand, natives=natives: by_hand(*natives)
        yield title, runs


def report(engines: list[str], rounds: int) -> list[str]:
    """Print the microseconds of each row, the least of rounds in which all take turns; return the aims."""
    aims: list[str] = []
    for engine in (each for each in engines if each in ua.available_backends()):
        print(f"\ncalls on {engine}, 4 elements, us\n  {'':30} {'compiled':>9} {'eager':>9} {'by hand':>9} {'over':>9}")
        least: dict[tuple[str, str], float] = {}
        table = list(rows(engine))
        for _, runs in table:
            for run in runs.values():
                for _ in range(5):
                    run()
        for _ in range(rounds):
            for title, runs in table:
                for name, run in runs.items():
                    start = time.perf_counter()
                    for _ in range(CALLS):
                        run()
                    taken = 1e6 * (time.perf_counter() - start) / CALLS
                    least[title, name] = min(taken, least.get((title, name), taken))
        for title, _ in table:
            ours, hand = least[title, "compiled"], least.get((title, "by hand"))
            shown = f"{hand:9.2f} {ours - hand:9.2f}" if hand is not None else ""
            print(f"  {title:30} {ours:9.2f} {least[title, 'eager']:9.2f} {shown}")
        aims += wanted(engine, least)
    return aims


def wanted(engine: str, least: dict[tuple[str, str], float]) -> Iterator[str]:
    """Yield the aims of calls, and the results."""

    def over(title: str) -> float:
        return least[title, "compiled"] - least[title, "by hand"]

    three_ratio = least["three operations", "compiled"] / least["three operations", "eager"]
    yield f"calls on {engine}: three operations take {three_ratio:.2f} of the eager time (at most 1)"
    nest = least["a container of four, doubled", "compiled"] / least["four arrays, doubled", "compiled"]
    yield f"calls on {engine}: a container takes {nest:.2f} of the time of its arrays (at most 1.5)"
    if engine == "numpy":
        each = (over(f"{MANY} arrays") - over("three operations")) / (MANY - 2)
        yield f"calls on numpy: {over('x + 1'):.2f} us over the kernel (at most 2.5), {each:.2f} an array more (0.3)"
    if engine == "jax":
        ratio = least["x + 1", "compiled"] / least["x + 1", "by hand"]
        yield f"calls on jax: {ratio:.2f} of jax.jit's own call (at most 1.3)"
