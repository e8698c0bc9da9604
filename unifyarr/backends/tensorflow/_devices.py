"""Where tensors are, by names that are the same for users of every engine, and operations that run there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache, wraps
from itertools import chain
from typing import Any

from ...errors import DeviceError
from ..kernels import Applied, state
from ._engine import is_alone, tf
from ._private import current_device

# "/job:localhost/replica:0/task:0/device:CPU:0", "/GPU:1", "CPU:0", "cpu"; in a graph "/device:CPU:*" is any of them.
_DEVICE = re.compile(r"(?:.*/)?(?:device:)?([a-z]+)(?::(\d+|\*))?", re.IGNORECASE)


@lru_cache(maxsize=1)
def device_names() -> list[str]:
    names = [_name_of(device.name) for device in tf.config.list_logical_devices()]
    return sorted(names, key=lambda name: not name.startswith("gpu"))


def device_name(device: str) -> str:
    """Return "cpu" or "gpu:0" for any of TensorFlow's spellings; a node of a graph may have none yet."""
    return _name_of(device or current_device())


@lru_cache(maxsize=256)
def _name_of(device: str) -> str:
    if not device:
        return device_names()[0]
    if (match := _DEVICE.fullmatch(device)) is None:
        raise DeviceError(f"device {device!r} is not one of TensorFlow's, which are {list(device_names())}")
    kind, index = match[1].lower(), 0 if match[2] in (None, "*") else int(match[2])
    return kind if (kind, index) == ("cpu", 0) else f"{kind}:{index}"


def is_default(device: str) -> bool:
    """Return whether operations run on a device unless told otherwise: that of ``tf.device``, else the first."""
    return device_name(device) == device_name("")


def placed(kernel: Callable[..., Any], elementwise: bool) -> Callable[..., Any]:
    """Run a kernel where its first array lives: TensorFlow runs ops on the default device, and moves their inputs.

    Operands that meet elementwise have to live on one device; other arrays, of indices for example, are moved.
    """

    @wraps(kernel)
    def run(*arrays: Any, **arguments: Any) -> Any:
        if not arrays or is_alone():
            return kernel(*arrays, **arguments)
        device = arrays[0].device
        if elementwise and len(arrays) == 2 and (other := arrays[1].device) != device and device and other:
            # In a graph one device has several names.
            one, two = device_name(device), device_name(other)
            if one != two:
                raise DeviceError(f"arrays of two devices meet in one call: {one}, {two}")
        # A node of a graph has no device, or the one that the user asked for.
        if is_default(device):
            return kernel(*arrays, **arguments)
        with tf.device(device):
            return kernel(*arrays, **arguments)

    state(run, unplaced=kernel)
    # Its replacements in some calls run there too.
    for name in _STANDING:
        if hasattr(kernel, name):
            setattr(run, name, placed(getattr(kernel, name), elementwise))
    for name in _MAKING:
        if hasattr(kernel, name):
            setattr(run, name, _making_placed(getattr(kernel, name), elementwise))
    return run


# Attributes of kernels, as ``backends/kernels.py`` has them.
_STANDING, _MAKING = ("native", "outside_gaps"), ("bind", "known")


def _making_placed(make: Callable[..., Any], elementwise: bool) -> Callable[..., Any]:
    def made(*natives: Any, **static: Any) -> Any:
        kernel = make(*natives, **static)
        if isinstance(kernel, Applied):
            # Without the function that shortcuts would call instead of it.
            return placed(kernel.__call__, elementwise)
        return None if kernel is None else placed(kernel, elementwise)

    return made


def on(device: Any) -> AbstractContextManager[Any]:
    """Run the operations of a block on a device; ``None`` leaves them where they are, and ends no block of a user's."""
    return nullcontext() if device is None else tf.device(device)


def beside(natives: Iterable[Any]) -> AbstractContextManager[Any]:
    """Run the operations of a block where the first of some arrays is, as ``placed`` does those of a kernel."""
    device = "" if is_alone() else next((x.device for x in natives if hasattr(x, "device")), "")
    return nullcontext() if not device or is_default(device) else tf.device(device)


def runs_beside(*places: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Run a function where the first of the arrays is that it takes, by the places of its sequences of arrays."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def run(*given: Any) -> Any:
            with beside(chain.from_iterable(given[place] for place in places)):
                return function(*given)

        return run

    return decorate
