"""How the engines run under test: which of them there are, and how cheaply JAX's compiler works."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
import threading
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

# Most of the suite's time is JAX compiling programs of a few elements, once for each shape and dtype. With these
# options LLVM optimises little, and XLA emits loops in its older way, which sets up no second compiler for each
# kernel. Users have neither, and rounding and special values may depend on them: ``test_optimised.py`` runs such cases
# without. Loops of the older way need level 1: at level 0 some are wrong (a gradient of ``batch_norm``; a convolution
# without fusion).
XLA_FLAGS = ("--xla_backend_optimization_level=1", "--xla_cpu_use_fusion_emitters=false")
# Set in the processes that are to run without them.
OPTIMISED = "UNIFYARR_TEST_OPTIMISED"


def compile_cheaply() -> None:
    """Set the options of XLA that make compiling cheap, before JAX is imported; those that are set already stay."""
    if OPTIMISED in os.environ:
        return
    given = os.environ.get("XLA_FLAGS", "").split()
    names = {flag.partition("=")[0] for flag in given}
    os.environ["XLA_FLAGS"] = " ".join([*given, *(flag for flag in XLA_FLAGS if flag.partition("=")[0] not in names)])


def have_two_cpus(backends: list[str]) -> None:
    """Make JAX and TensorFlow have a second CPU, before they are started."""
    count = "--xla_force_host_platform_device_count"
    flags = os.environ.get("XLA_FLAGS", "")
    if "jax" in backends and count not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {count}=2"
    if "tensorflow" in backends:
        import tensorflow as tf

        (cpu,) = tf.config.list_physical_devices("CPU")
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


# The default devices that ``--device`` has chosen, by backend.
_chosen: dict[str, str] = {}

# The devices of tests that need two, beside the default one: ``--there`` names an accelerator.
SECOND = {"torch": "sim:1", "jax": "cpu:1", "tensorflow": "cpu:1"}


def default_device(backend: str | None) -> str:
    """Return the name of the device where the arrays under test are made, of a test of no backend for any that is."""
    return next(iter(_chosen.values()), "cpu") if backend is None else _chosen.get(backend, "cpu")


def mixes_threads(backend: str) -> bool:
    """Return whether an engine computes wrong values where threads compute at a time.

    TensorFlow does on the second of two logical CPUs, with its own operations alone: ``tf.raw_ops.Reshape`` to a shape
    of its own in each thread raises for the shape of another one, some times in 10,000.
    """
    return backend == "tensorflow" and default_device(backend).startswith("cpu:")


def make_arrays_on(backend: str, device: str) -> None:
    """Make a device the default of an engine, by the engine's own setting."""
    import unifyarr as ua
    from unifyarr._core.engines.registry import load

    if backend == "torch":
        import torch

        if device.partition(":")[0] == "sim":
            from .devices import simulated

            simulated.install()
        torch.set_default_device(load(backend).as_device(device))
    elif backend == "jax":
        import jax

        jax.config.update("jax_default_device", load(backend).as_device(device))
    elif backend == "tensorflow":
        _enter_in_each_thread(load(backend).as_device(device))
    else:
        raise ValueError(f"--device chooses a device of an engine, and {backend} is under test: pass --backends")
    _chosen[backend] = ua.asarray(0.0, backend=backend, device=device).device
    # Expected texts of tests and examples are those of the first CPU.
    shown = ua.Array.__repr__
    text = f", device={_chosen[backend]!r}"
    ua.Array.__repr__ = lambda x: shown(x).replace(text, "") if x.backend == backend else shown(x)  # type: ignore[method-assign]


def _enter_in_each_thread(device: str) -> None:
    # TensorFlow has no other default device than that of a block of ``tf.device``, which other threads don't see.
    import tensorflow as tf

    tf.device(device).__enter__()
    run = threading.Thread.run

    def run_there(thread: threading.Thread) -> None:
        with tf.device(device):
            run(thread)

    threading.Thread.run = run_there  # type: ignore[method-assign]


def reuse_contexts() -> None:
    """Let programs that JAX lowers share a context of MLIR in each thread: a new one is a quarter of a compilation."""
    try:
        from jax._src.interpreters import mlir

        make = mlir.make_ir_context
    except (ImportError, AttributeError):
        # JAX's own business: another version may have no such function, and compiles as slowly as it does.
        return
    known = threading.local()

    def context() -> Any:
        if not hasattr(known, "context"):
            known.context = make()
        return known.context

    mlir.make_ir_context = context


def forget_compilations() -> None:
    """Clear JAX's compilation caches, which would otherwise take gigabytes."""
    gc.unfreeze()
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
    spare_the_collector()


def collect_seldom() -> None:
    """Have the collector run after more allocations: a quarter of the time in which tests are collected is its own."""
    gc.set_threshold(20_000, 20, 20)


def spare_the_collector() -> None:
    """Freeze live objects for the collector: engines, tests and compiled programs are millions of objects."""
    gc.collect()
    gc.freeze()


class SharedCompilations:
    """JAX's compilations, shared by all workers, also after their caches were cleared.

    The directory belongs to one run: nothing is taken from an earlier one.
    """

    def __init__(self) -> None:
        self.directory = tempfile.mkdtemp(prefix="unifyarr-jax-")
        # Workers and other processes that tests start inherit them.
        os.environ["JAX_COMPILATION_CACHE_DIR"] = self.directory
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"

    def remove(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)


class _LeftOut(PathFinder):
    """Finds modules as Python does, but for those of engines that are not under test."""

    engines: frozenset[str] = frozenset()

    @classmethod
    def find_spec(cls, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return None if fullname.partition(".")[0] in cls.engines else super().find_spec(fullname, path, target)


def leave_out(engines: set[str]) -> None:
    """Make engines look as if they weren't installed."""
    loaded = engines & sys.modules.keys()
    if loaded:
        raise RuntimeError(f"{', '.join(sorted(loaded))} can't be left out: imported already")
    _LeftOut.engines |= engines
    sys.meta_path[sys.meta_path.index(PathFinder)] = _LeftOut
