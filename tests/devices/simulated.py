"""The simulated devices ``sim:0`` and ``sim:1`` of torch: what torch asks of their module, and what CUDA lacks."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import torch

from .building import module_path

DEVICES = 2
# Operators whose kernel on CUDA takes no integers, by the name that CUDA's error has.
_FLOATING_ONLY = {
    "addmm_cuda": "mm addmm addmm_ _addmm_activation",
    "baddbmm_cuda": "bmm baddbmm baddbmm_",
    "addmv_impl_cuda": "addmv addmv_",
    "dot": "dot",
    "vdot": "vdot",
    "conv_cuda": "convolution_overrideable _convolution",
}
# Keys of a kernel that serves CUDA, too.
_SERVES_CUDA = {
    *("CUDA", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "CompositeExplicitAutogradNonFunctional")
}


@functools.cache
def install() -> Any:
    """Make torch have the devices, and return the extension module."""
    path = str(module_path())
    loader = ExtensionFileLoader("_sim", path)
    spec = spec_from_loader("_sim", loader, origin=path)
    assert spec is not None
    extension = module_from_spec(spec)
    loader.exec_module(extension)
    torch.utils.rename_privateuse1_backend("sim")
    torch._register_device_module("sim", _Module(extension))
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
    floating_only = {f"aten::{name}": kernel for kernel, names in _FLOATING_ONLY.items() for name in names.split()}
    refused, as_one = _of_cuda()
    extension.refuse(refused, floating_only)
    extension.compute_as_one(as_one)
    _have_dlpack()
    return extension


def _have_dlpack() -> None:
    """Make torch tell DLPack's number of the devices: it looks for the name that they had before they got theirs."""
    from torch.utils.dlpack import DLDeviceType

    told = torch.Tensor.__dlpack_device__

    def tell(x: torch.Tensor) -> tuple[Any, int]:
        return (DLDeviceType.kDLExtDev, x.device.index or 0) if x.device.type == "sim" else told(x)

    torch.Tensor.__dlpack_device__ = tell  # type: ignore[method-assign]


def _of_cuda() -> tuple[set[str], list[str]]:
    """Return the operators that have a kernel for the CPU and none for CUDA, by torchgen's own list.

    And those that have one for CUDA, and are made of other operators on devices that torch doesn't know.
    """
    import torchgen

    assert torchgen.__file__ is not None
    path = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
    refused, as_one, composed_by = set(), [], {}
    for entry in path.read_text().split("\n- func: ")[1:]:
        name = entry.partition("(")[0]
        # By key, or several of them, the kernel: lines further in than the names of an entry's parts.
        keys = {key.strip() for several in re.findall(r"^    ([\w, ]+):", entry, re.M) for key in several.split(",")}
        if "CPU" in keys and not keys & _SERVES_CUDA:
            refused.add(f"aten::{name}")
        is_composed = any(key.startswith("Composite") for key in keys)
        if is_composed and "CUDA" in keys:
            as_one.append(name)
        elif is_composed and (delegate := re.search(r"^  structured_delegate: (\S+)", entry, re.M)):
            composed_by[name] = delegate[1]
    return refused, as_one + [name for name, kernel in composed_by.items() if kernel in as_one]


class _Module:
    """The functions that torch looks for in ``torch.sim``."""

    def __init__(self, extension: Any) -> None:
        self.extension = extension

    def is_available(self) -> bool:
        return True

    def is_initialized(self) -> bool:
        return True

    def _is_in_bad_fork(self) -> bool:
        return False

    def _lazy_init(self) -> None:
        pass

    def device_count(self) -> int:
        return DEVICES

    def current_device(self) -> int:
        index: int = self.extension.get_device()
        return index

    def set_device(self, device: Any) -> None:
        self.extension.set_device(self._index(device))

    @contextmanager
    def device(self, device: Any) -> Iterator[None]:
        before = self.current_device()
        self.set_device(device)
        try:
            yield
        finally:
            self.set_device(before)

    def synchronize(self, device: Any = None) -> None:
        torch.accelerator.synchronize()

    def manual_seed(self, seed: int) -> None:
        self.extension.default_generator(-1).manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        for index in range(DEVICES):
            self.extension.default_generator(index).manual_seed(seed)

    def get_rng_state(self, device: Any = "sim") -> torch.Tensor:
        state: torch.Tensor = self.extension.default_generator(self._index(device)).get_state()
        return state

    def set_rng_state(self, state: torch.Tensor, device: Any = "sim") -> None:
        self.extension.default_generator(self._index(device)).set_state(state)

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.float16, torch.bfloat16]

    @staticmethod
    def _index(device: Any) -> int:
        return device if isinstance(device, int) else torch.device(device).index or 0
