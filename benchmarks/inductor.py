"""Compiled functions that torch's own compiler fuses, beside functions of tensors by hand under ``torch.compile``.

python benchmarks/inductor.py [PROGRAM ...] [--size 512] [--rounds 15] [--threads 1] [--device cpu]

A row has the median microseconds of a call, of the processor (of the clock on an accelerator, or with more threads than
one), the median ratio to the function by hand under ``torch.compile`` within a round, the seconds of the first call,
which compiles, and the largest error of a first call, arguments included: in units of the last place of the largest
element, beside torch eager in double precision. The contenders take turns.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

sys.path.insert(0, str(Path(__file__).parents[1]))
import unifyarr as ua

BATCH, HEADS, LENGTH, DEPTH = 4, 4, 64, 16
WIDTH = HEADS * DEPTH
# Programs with a loop.
STEPS = 10
BY_HAND = "by hand, torch.compile"


class Program(NamedTuple):
    """A function of arrays, the same of tensors, and the tensors that it's called on."""

    function: Callable[..., Any]
    by_hand: Callable[..., Any]
    arguments: tuple[torch.Tensor, ...]


def adam(w: Any, g: Any, m: Any, v: Any) -> None:
    """Make a step of Adam in place."""
    m *= 0.9
    m += 0.1 * g
    v *= 0.999
    v += 0.001 * g * g
    w -= 1e-3 * (m / 0.1) / ((v / 0.01) ** 0.5 + 1e-8)


def wave(u: Any, v: Any) -> None:
    """Make a step of the wave equation in place."""
    lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    v[1:-1, 1:-1] += 0.1 * lap
    u += 0.1 * v


def recurrent(h: ua.Array, x: ua.Array, w: ua.Array) -> ua.Array:
    """Return the states of a recurrent network, in a scan of one node."""

    def step(h: ua.Array, row: ua.Array) -> Any:
        a = h @ w + row
        h = ua.tanh(a) * ua.nn.sigmoid(a) + 0.5 * h
        return h, h

    return ua.scan(step, h, x)[1]


def recurrent_by_hand(h: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Return the same of tensors."""
    states = []
    for row in x:
        a = h @ w + row
        h = torch.tanh(a) * torch.sigmoid(a) + 0.5 * h
        states.append(h)
    return torch.stack(states)


def nbody(p: Any, v: Any, m: Any) -> None:
    """Make a step of bodies that attract each other in place."""
    d = p[None] - p[:, None]
    r = (d * d).sum(-1) + 1e-2
    v += 0.01 * (d * (m * r**-1.5)[..., None]).sum(1)
    p += 0.01 * v


def mlp(x: ua.Array, w1: ua.Array, w2: ua.Array) -> ua.Array:
    """Return the probabilities of a network of two layers."""
    return ua.nn.softmax(ua.nn.gelu(ua.nn.layer_norm(x @ w1)) @ w2)


def mlp_by_hand(x: torch.Tensor, w1: torch.Tensor, w2: torch.Tensor) -> torch.Tensor:
    """Return the same of tensors."""
    functional = torch.nn.functional
    return torch.softmax(functional.gelu(functional.layer_norm(x @ w1, (w1.shape[1],))) @ w2, -1)


def attention(x: ua.Array, wq: ua.Array, wk: ua.Array, wv: ua.Array, wo: ua.Array) -> ua.Array:
    """Return self-attention with several heads."""

    def heads(y: ua.Array) -> ua.Array:
        return ua.permute_dims(ua.reshape(y, (BATCH, LENGTH, HEADS, DEPTH)), (0, 2, 1, 3))

    q, k, v = heads(x @ wq), heads(x @ wk), heads(x @ wv)
    p = ua.nn.softmax(q @ ua.matrix_transpose(k) / DEPTH**0.5, axis=-1)
    return x + ua.reshape(ua.permute_dims(p @ v, (0, 2, 1, 3)), (BATCH, LENGTH, WIDTH)) @ wo


def attention_by_hand(x: Any, wq: Any, wk: Any, wv: Any, wo: Any) -> torch.Tensor:
    """Return the same of tensors."""

    def heads(y: torch.Tensor) -> torch.Tensor:
        return y.reshape(BATCH, LENGTH, HEADS, DEPTH).permute(0, 2, 1, 3)

    q, k, v = heads(x @ wq), heads(x @ wk), heads(x @ wv)
    p = torch.softmax(q @ k.mT / DEPTH**0.5, -1)
    result: torch.Tensor = x + (p @ v).permute(0, 2, 1, 3).reshape(BATCH, LENGTH, WIDTH) @ wo
    return result


def programs(n: int) -> dict[str, Program]:
    """Return the programs by their names."""
    generator = torch.Generator().manual_seed(0)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator)

    weights = [drawn(WIDTH, WIDTH) * 0.1 for _ in range(4)]
    return {
        "Adam": Program(adam, adam, (*(drawn(n, n) for _ in range(3)), drawn(n, n).abs())),
        "wave": Program(wave, wave, (drawn(n, n), drawn(n, n))),
        "n-body": Program(nbody, nbody, (drawn(n // 2, 3), drawn(n // 2, 3), drawn(n // 2).abs())),
        "tanh, a scan": Program(
            recurrent, recurrent_by_hand, (drawn(32, 64), drawn(STEPS, 32, 64), drawn(64, 64) * 0.1)
        ),
        "MLP": Program(mlp, mlp_by_hand, (drawn(n, 64), drawn(64, 128), drawn(128, 32))),
        "attention": Program(attention, attention_by_hand, (drawn(BATCH, LENGTH, WIDTH), *weights)),
    }


def contenders(program: Program) -> dict[str, Callable[..., Any]]:
    """Return functions of tensors by their titles."""

    def of_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *natives: function(*map(ua.asarray, natives))

    torch.compiler.reset()
    return {
        "unifyarr": of_tensors(program.function),
        "ua.compile": of_tensors(ua.compile(program.function, fuse=False)),
        'fuse="inductor"': of_tensors(ua.compile(program.function, fuse="inductor")),
        "torch": program.by_hand,
        BY_HAND: torch.compile(program.by_hand, dynamic=False, fullgraph=True),
    }


def after(run: Callable[..., Any], arguments: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return copies of the arguments as a call leaves them, and its result, in double precision."""
    given = [each.clone() for each in arguments]
    result = run(*given)
    found = [] if result is None else [result.native if isinstance(result, ua.Array) else result]
    return [each.double() for each in (*given, *found)]


def error(found: Sequence[torch.Tensor], exact: Sequence[torch.Tensor]) -> float:
    """Return the largest error in units of the last place of the largest element, in single precision."""
    epsilon = torch.finfo(torch.float32).eps
    return max(float((x - y).abs().max() / y.abs().max()) / epsilon for x, y in zip(found, exact, strict=True))


def measure(program: Program, rounds: int, clock: Callable[[], float], wait: Callable[[], object]) -> None:
    exact = after(program.by_hand, [each.double() for each in program.arguments])
    firsts, errors, took = {}, {}, {}
    runs = contenders(program)
    given = {title: [each.clone() for each in program.arguments] for title in runs}
    for title, run in runs.items():
        begin = time.perf_counter()
        errors[title] = error(after(run, program.arguments), exact)
        firsts[title] = time.perf_counter() - begin
        took[title] = [0.0] * rounds
        for _ in range(3):
            run(*given[title])
    for number in range(rounds):
        for title, run in runs.items():
            wait()
            begin = clock()
            for _ in range(10):
                run(*given[title])
            wait()
            took[title][number] = (clock() - begin) / 10 * 1e6
    for title, each in took.items():
        ratio = statistics.median(x / y for x, y in zip(each, took[BY_HAND], strict=True))
        cells = f"{statistics.median(each):9.0f} µs {ratio:7.2f}   first {firsts[title]:6.2f} s"
        print(f"    {title:24}{cells}   error {errors[title]:6.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    is_alone = options.device == "cpu" and options.threads == 1
    wait = torch.accelerator.synchronize if options.device != "cpu" else lambda: None
    ua.set_backend("torch")
    for title, program in programs(options.size).items():
        if title in (options.programs or [title]):
            print(title)
            arguments = tuple(each.to(options.device) for each in program.arguments)
            measure(
                program._replace(arguments=arguments),
                options.rounds,
                time.process_time if is_alone else time.perf_counter,
                wait,
            )


if __name__ == "__main__":
    main()
