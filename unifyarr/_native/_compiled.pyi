from collections.abc import Callable
from typing import Any, TypeVar

R = TypeVar("R")

class Slots:
    """What an array holds."""

class Called:
    """What has calls that go to a function of its own."""

    def __call__(self, *arguments: Any, **options: Any) -> Any: ...

def set_up_signals(main_thread: int, find_handler: Callable[[], object], /) -> None: ...
def take_handler(signal: int, /) -> None: ...
def undisturbed(function: Callable[..., R], /, *arguments: Any) -> R: ...
