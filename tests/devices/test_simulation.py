"""The simulated devices: their counts, and their errors as in CUDA."""

from __future__ import annotations

import ctypes

import pytest
import torch

import unifyarr as ua

from .counting import counting

HERE, THERE = "sim:0", "sim:1"


def test_launches_syncs_and_copies_are_counted() -> None:
    with counting() as events:
        x = torch.arange(6.0, device=THERE)
        y = x[1:] * 2
        assert float(y[0]) == 2
        y.cpu()
        torch.ones(3, device="cpu").to(THERE)
        x.to(HERE)
        x[x > 2]
        torch.accelerator.synchronize()
    # The item, the mask and the last line wait; the mask takes two launches.
    assert events.counts == {"launch": 5, "sync": 3, "to_host": 1, "to_device": 1, "between": 1}


def test_events_show_the_lines_of_the_package(backend: str) -> None:
    x = ua.ones(3, device=THERE)
    with counting(places=True) as events:
        float(x[0])
    (event,) = (each for each in events.places if each[0] == "sync")
    assert event[1] == "aten::item"
    assert "backends/torch" in event[2]
    assert events.of("sync") == ": ".join(event[:2]) + f", {event[2]}"


def test_devices_that_mix_raise() -> None:
    x = torch.ones(3, device=HERE)
    for other in (torch.ones(3, device=THERE), torch.ones(3, device="cpu"), torch.ones((), device=THERE)):
        with pytest.raises(RuntimeError, match="same device"):
            x + other
    with pytest.raises(RuntimeError, match="same device"):
        torch.cat([x, torch.ones(1, device="cpu")])
    # A number on the CPU is passed to the kernel.
    assert (x + torch.ones((), device="cpu")).tolist() == [2, 2, 2]


def test_numpy_and_the_host_dont_read_the_memory() -> None:
    x = torch.arange(3, device=THERE)
    with pytest.raises(TypeError, match="can't convert"):
        x.numpy()
    with counting() as events:
        ctypes.string_at(x.data_ptr(), 8)
    assert events["host_read"] == 1
    # Nobody is to blame for the rest of this test.
    counting_is_over = torch.arange(3, device=THERE)
    assert counting_is_over.tolist() == [0, 1, 2]


def test_kernels_that_cuda_lacks_raise() -> None:
    x = torch.ones((3, 3), dtype=torch.int64, device=HERE)
    for product in (torch.matmul, torch.mm):
        with pytest.raises(NotImplementedError, match="addmm_cuda"):
            product(x, x)
    with pytest.raises(NotImplementedError, match="CUDA"):
        torch.histogram(torch.ones(3, device=HERE), 2)


def test_indices_out_of_bounds_are_noted() -> None:
    x = torch.ones(3, device=HERE)
    with counting() as events, pytest.raises(IndexError):
        x[torch.tensor([3], device=HERE)]
    assert events["out_of_bounds"] == 1


def test_generators_draw_what_those_of_the_cpu_do() -> None:
    drawn = [
        torch.rand(3, device=device, generator=torch.Generator(device).manual_seed(7)).tolist()
        for device in ("cpu", HERE, THERE)
    ]
    assert drawn[0] == drawn[1] == drawn[2]


def test_gradients_are_taken_there() -> None:
    x = torch.arange(3.0, device=THERE).requires_grad_()
    (x * x).sum().backward()
    assert x.grad is not None
    assert x.grad.device == torch.device(THERE)
    assert x.grad.tolist() == [0, 2, 4]


def test_out_is_resized_and_written() -> None:
    x, out = torch.ones(5, device=HERE), torch.empty(0, device=HERE)
    torch.add(x, 1, out=out)
    assert out.tolist() == [2] * 5


def test_what_cuda_has_a_kernel_for_is_one_launch() -> None:
    few, many = ([torch.ones(3, device=THERE) for _ in range(count)] for count in (5, 250))
    other, whole = torch.ones(3, dtype=torch.float64, device=THERE), torch.ones(5000, 5000, device=THERE)
    for run, wanted in (
        (lambda: torch.any(few[0][None], (0, 1)), 1),
        (lambda: torch._foreach_add(few, few), 1),
        # One launch takes at most 110 tensors of a list, and 320 blocks.
        (lambda: torch._foreach_add_(many, 1.0), 3),
        (lambda: torch._foreach_add_([whole], 1.0), 2),
        # Tensors of several dtypes are taken one by one.
        (lambda: torch._foreach_add_([few[0], other], 1.0), 2),
    ):
        with counting() as events:
            run()
        assert events["launch"] == wanted
    assert few[0].tolist() == [2, 2, 2]


def test_numbers_arent_copied_from_the_host(backend: str) -> None:
    with counting(places=True) as events:
        x = ua.full((2, 3), 0.5, device=THERE)
        y = ua.float_power(x, 2.5) + ua.where(x > 0, x, 3.0) + ua.asarray(7, device=THERE)
        z = ua.clip(ua.ldexp(y, 3), 0, 1e3)
    assert z.device == THERE
    assert not events["to_device"], events.of("to_device")


# torch.func warns of a module that it imports itself.
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
def test_zeros_without_memory_become_memory() -> None:
    x = torch.ones(2, device=HERE)
    value, tangent = torch.func.jvp(lambda y: y[0] * y[1] * torch.ones((), device=HERE), (x,), (x,))
    assert (value.item(), tangent.item()) == (1, 2)


def test_wait_synchronises_any_accelerator(backend: str) -> None:
    x = ua.ones(3, device=THERE)
    with counting() as events:
        ua.compute(x)
        x._backend.wait(x.native)
    assert events["sync"] >= 1


def test_places_are_told_in_threads_of_autograd_too(backend: str) -> None:
    x = torch.ones(3, device="sim:1", requires_grad=True)
    with counting(places=True) as events:
        torch.autograd.grad((x * x).sum(), x)
    assert events["launch"] == len(events.places) > 2
