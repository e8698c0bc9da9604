"""Interrupts at every place where Python may take one: ``python -m tests.core.interrupts BACKEND SECONDS SEED``.

Python looks for signals after calls, where a function begins and where a loop goes back. ``interrupted_at(n, ...)``
raises ``KeyboardInterrupt`` at the n-th such place that a program passes in our code, which finds each window there is.
The command sends real signals at random moments instead; with a fourth argument ``elements``, to a loop that writes
nothing but elements, and with a name of ``KINDS``, to one that adds 1 in that way.
"""

from __future__ import annotations

import dis
import functools
import random
import signal
import sys
import time
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import numpy as np

# After these Python looks for signals.
_LOOKS = ("CALL", "RESUME", "JUMP_BACKWARD")
_places: dict[CodeType, dict[int, bool]] = {}


def _looks(code: CodeType) -> dict[int, bool]:
    """Say of each instruction whether an interrupt may come right before it, as after a call."""
    found: dict[int, bool] = {}
    handlers = [(each.start, each.end, each.target) for each in dis.Bytecode(code).exception_entries]

    def handler(offset: int) -> int | None:
        return next((target for start, end, target in handlers if start <= offset < end), None)

    before: dis.Instruction | None = None
    for each in dis.get_instructions(code):
        if each.opname == "CACHE":
            continue
        # The exception belongs to the call: if the call has another handler than the next instruction, it can't be
        # imitated.
        found[each.offset] = (
            before is not None
            and before.opname.startswith(_LOOKS)
            and "JUMP" not in before.opname
            and handler(before.offset) == handler(each.offset)
        )
        before = each
    return found


def interrupted_at(number: int, program: Callable[[], Any]) -> bool:
    """Run a program with an interrupt at a place; say whether it came to that."""
    left = number

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        if "/unifyarr/" not in frame.f_code.co_filename and "<unifyarr" not in frame.f_code.co_filename:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            places = _places.get(frame.f_code)
            if places is None:
                places = _places[frame.f_code] = _looks(frame.f_code)
            if places.get(frame.f_lasti):
                left -= 1
                if left == 0:
                    raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        program()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


_SIZES = (10, 1000, 100_000)


# TensorFlow ends the process where an interrupt comes while ``tf.constant`` makes a tensor of a number, without us too.
# So there are few numbers, whose tensors are kept.
_VALUES = 50


def _value(number: int) -> float:
    return float(number % _VALUES)


def _round(x: Any, view: Any, step: int, number: int) -> None:
    x[number % 7] = _value(number)
    view[step:] = _value(number)
    x += 1.0


def _until_signal(draw: random.Random, step: Callable[[int], object]) -> tuple[int, bool]:
    """Take steps until a signal comes, at a random moment; return how many, and whether it interrupted them."""
    number = 0
    # Python drops an interrupt that comes in a finalizer: without an end the loop would go on for ever.
    last = time.process_time() + 0.5
    try:
        signal.setitimer(signal.ITIMER_PROF, draw.uniform(0.0005, 0.02))
        while time.process_time() < last:
            step(number)
            number += 1
    except KeyboardInterrupt:
        return number, True
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return number, False


def main(backend: str, seconds: float, seed: int) -> int:
    """Interrupt writes by real signals, and return how many arrays were neither as before nor as after a write."""
    import unifyarr as ua

    ua.set_backend(backend)
    signal.signal(signal.SIGPROF, signal.default_int_handler)
    draw = random.Random(seed)
    interrupts = wrong = 0
    for size in _SIZES:
        # An interrupt while JAX compiles may leave its caches such that it never compiles the same again.
        for step in (1, 2, 3):
            x = ua.zeros(size)
            for _ in range(2):
                _round(x, x[::-1], step, 0)
    for number in range(_VALUES):
        _round(x, x[::-1], 1, number)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        size = draw.choice(_SIZES)
        x, values = ua.zeros(size), np.zeros(size)
        view, step = x[::-1], draw.randrange(1, 4)
        number, was_interrupted = _until_signal(draw, lambda k, x=x, view=view, step=step: _round(x, view, step, k))
        interrupts += was_interrupted
        states = [values.copy()]
        for k in range(max(0, number - 1), number + 1):
            if k == number - 1:
                values[:] = 0.0
                for j in range(number):
                    values[j % 7] = _value(j)
                    values[::-1][step:] = _value(j)
                    values += 1.0
                states = [values.copy()]
            else:
                for change in (_set(k % 7, _value(k)), _set_view(step, _value(k)), _add):
                    change(values)
                    states.append(values.copy())
        try:
            found, seen = np.array(x), np.array(view)
            x[0] = 5.0
            good = any(np.array_equal(found, each) for each in states) and np.array_equal(seen, found[::-1])
            good = good and float(x[0]) == 5.0 == float(view[-1])
        except Exception as error:
            print(type(error).__name__, error)
            good = False
        wrong += not good
    print(f"{backend}: {interrupts} interrupts, {wrong} arrays wrong, seed {seed}")
    return wrong


def _set(place: int, value: float) -> Callable[[np.ndarray], None]:
    return lambda x: x.__setitem__(place, value)


def _set_view(step: int, value: float) -> Callable[[np.ndarray], None]:
    return lambda x: x[::-1].__setitem__(slice(step, None), value)


def _add(x: np.ndarray) -> None:
    x += 1.0


def elements(backend: str, seconds: float, seed: int) -> int:
    """Interrupt a loop that writes elements, and return how many arrays lack one of the values written."""
    import unifyarr as ua

    ua.set_backend(backend)
    signal.signal(signal.SIGPROF, signal.default_int_handler)
    draw = random.Random(seed)
    interrupts = wrong = 0
    # JAX compiles the writes before the first interrupt.
    for size in _SIZES:
        for x in (ua.zeros(size), ua.zeros(size)):
            for place in (0, 1, 2):
                x[place] = place
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        x = ua.zeros(draw.choice(_SIZES))
        number, was_interrupted = _until_signal(draw, lambda k, x=x: x.__setitem__(k % 7, k))
        interrupts += was_interrupted
        try:
            found = x[:7].tolist()
            wrong += found not in [_last_of(count) for count in (number, number + 1)]
        except Exception as error:
            print(type(error).__name__, error)
            wrong += 1
    print(f"{backend}: {interrupts} interrupts, {wrong} arrays wrong, seed {seed}")
    return wrong


def _last_of(count: int) -> list[float]:
    """Return the seven elements after so many writes."""
    return [float(max((k for k in range(count) if k % 7 == place), default=0)) for place in range(7)]


# Ways to add 1 to the array in a list.
KINDS: dict[str, Callable[[list[Any]], object]] = {
    "update": lambda held: held[0].__iadd__(1.0),
    "into": lambda held: _package().add(held[0], 1.0, out=held[0]),
    "slices": lambda held: held[0][:].__iadd__(1.0),
    "pure": lambda held: held.__setitem__(0, held[0] + 1.0),
    "container": lambda held: held[0].__iadd__(1.0),
    "compiled": lambda held: _compiled()(held[0]),
}


def _package() -> Any:
    import unifyarr

    return unifyarr


@functools.cache
def _compiled() -> Any:
    def step(x: Any) -> None:
        x += 1.0

    return _package().compile(step)


def kind(backend: str, seconds: float, seed: int, name: str) -> int:
    """Interrupt one way to add 1, and return how often a step was lost, taken twice or taken in part."""
    ua, step = _package(), KINDS[name]
    ua.set_backend(backend)
    signal.signal(signal.SIGPROF, signal.default_int_handler)
    draw = random.Random(seed)

    def made(size: int) -> list[Any]:
        x = ua.zeros(size)
        return [ua.Container(a=x, b=ua.zeros((2, 3)), c=[ua.zeros(())]) if name == "container" else x]

    for size in _SIZES * 4:
        step(made(size))
    interrupts = lost = wrong = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        held = made(draw.choice(_SIZES))
        number, was_interrupted = _until_signal(draw, lambda _, held=held: step(held))
        interrupts, lost = interrupts + was_interrupted, lost + (not was_interrupted)
        try:
            found = {float(value) for x in ua.Container(held).leaves() for value in np.unique(np.asarray(x))}
            wrong += len(found) != 1 or not found <= {number, number + 1}
        except Exception as error:
            print(type(error).__name__, error)
            wrong += 1
    print(f"{backend} {name}: {interrupts} interrupts, {wrong} arrays wrong, {lost} lost, seed {seed}")
    return wrong


if __name__ == "__main__":
    backend, seconds, seed, *others = sys.argv[1:]
    if others and others[0] in KINDS:
        sys.exit(bool(kind(backend, float(seconds), int(seed), others[0])))
    program = elements if others == ["elements"] else main
    sys.exit(bool(program(backend, float(seconds), int(seed))))
