from collections.abc import Callable
from typing import Any

import numpy as np

class Program:
    """A region that is run here: a function of the arrays of its arguments."""

    # Called after ``calls`` calls, and what takes all calls from then on.
    hot: Any
    better: Program | None
    calls: int
    # Returns whether settings of other packages let its loops run.
    asked: Any
    # The estimated nanoseconds of a run, those that are worth a thread, and how many threads may run it.
    cost: int
    grain: int
    threads: Callable[[], int]
    # The argument that a call returns, or a tuple of such.
    returns: int | tuple[int, ...] | None

    def __init__(self, **parts: Any) -> None: ...
    def __call__(self, *arrays: Any) -> Any: ...

def watch(error_settings: Any, flags: Any, /) -> None: ...
def set_nothing(function: Callable[[], None], /) -> None: ...
def set_main_thread(thread: int, /) -> None: ...
def find_loop(ufunc: np.ufunc, number: int, widest: int, /) -> tuple[int, int]: ...
def own_loop(name: str, /) -> int: ...
def dense_ufunc(name: str, dtype: np.dtype[Any], /, *function: Any) -> np.ufunc: ...
def sequence(*parts: Any) -> Any: ...
