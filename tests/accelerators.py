"""``python -m tests.accelerators`` prints a line for each engine that sees an accelerator: its backend, the device."""

from __future__ import annotations

import sys

import unifyarr as ua


def accelerators() -> dict[str, str]:
    """Return the first device of an engine that isn't a CPU, by the names of the backends that have one."""
    found = {}
    for backend in sorted({"torch", "jax", "tensorflow"} & {*ua.available_backends()}):
        with ua.use_backend(backend):
            names = ua.__array_namespace_info__().devices()
        found |= {backend: name for name in reversed(names) if name.partition(":")[0] not in ("cpu", "meta")}
    return found


if __name__ == "__main__":
    sys.stdout.writelines(f"{backend} {device}\n" for backend, device in accelerators().items())
