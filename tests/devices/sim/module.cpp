// A simulated accelerator for torch: two devices of the key PrivateUse1, whose memory is the host's, so that the kernels
// of the CPU compute the values. They refuse, count and wait as devices of CUDA do.
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/view_native.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/library.h>

#include "boxed.h"

namespace sim {

using Lengths = at::IntArrayRef;
template <typename T>
using Maybe = std::optional<T>;

at::Tensor empty(
    Lengths size,
    Maybe<at::ScalarType> dtype,
    Maybe<at::Layout>,
    Maybe<Device> device,
    Maybe<bool> pin,
    Maybe<at::MemoryFormat> format)
{
    TORCH_CHECK(!pin.value_or(false), "Only dense CPU tensors can be pinned");
    On there(device.value_or(Device(KIND)));
    return at::detail::empty_generic(size, &allocator, KEYS, c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided(
    Lengths size,
    Lengths stride,
    Maybe<at::ScalarType> dtype,
    Maybe<at::Layout>,
    Maybe<Device> device,
    Maybe<bool> pin)
{
    TORCH_CHECK(!pin.value_or(false), "Only dense CPU tensors can be pinned");
    On there(device.value_or(Device(KIND)));
    return at::detail::empty_strided_generic(size, stride, &allocator, KEYS, c10::dtype_or_default(dtype));
}

at::Tensor& set_storage(at::Tensor& self, at::Storage storage, int64_t offset, Lengths size, Lengths stride)
{
    return at::native::set_storage_cpu_(self, storage, offset, size, stride);
}

at::Tensor& set_whole_storage(at::Tensor& self, at::Storage storage)
{
    auto length = static_cast<int64_t>(storage.nbytes() / self.itemsize());
    return at::native::set_storage_cpu_(self, storage, 0, {length}, {1});
}

at::Tensor& set_tensor(at::Tensor& self, const at::Tensor& source)
{
    return at::native::set_storage_cpu_(
        self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& to, bool)
{
    if (!self.numel()) {
        return to;
    }
    const auto what = "aten::copy_ of " + std::to_string(self.numel() * self.itemsize()) + " bytes";
    if (is_sim(self) && is_sim(to)) {
        note(self.device() == to.device() ? LAUNCH : BETWEEN, what);
    } else {
        note(is_sim(to) ? TO_DEVICE : TO_HOST, what);
    }
    Lending lending;
    auto from = lending.lend(self);
    c10::impl::ExcludeDispatchKeyGuard below(c10::autograd_dispatch_keyset);
    InKernel inside;
    lending.lend(to).copy_(from);
    return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& to)
{
    if (to.sizes() != self.sizes()) {
        to.resize_(self.sizes());
    }
    return copy_from(self, to, false);
}

at::Scalar local_scalar(const at::Tensor& self)
{
    note(SYNC, "aten::item");
    Lending lending;
    return lending.lend(self).item();
}

// Attention is computed by its formula.
int64_t choose_attention(
    const at::Tensor&,
    const at::Tensor&,
    const at::Tensor&,
    const Maybe<at::Tensor>&,
    double,
    bool,
    Maybe<double>,
    bool)
{
    return 0;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m)
{
    m.impl("empty.memory_format", empty);
    m.impl("empty_strided", empty_strided);
    m.impl("as_strided", at::native::as_strided_tensorimpl);
    m.impl("view", at::native::view);
    m.impl("_reshape_alias", at::native::_reshape_alias);
    m.impl("resize_", at::native::resize_);
    m.impl("set_.source_Storage_storage_offset", set_storage);
    m.impl("set_.source_Storage", set_whole_storage);
    m.impl("set_.source_Tensor", set_tensor);
    m.impl("_copy_from", copy_from);
    m.impl("_copy_from_and_resize", copy_from_and_resize);
    m.impl("_local_scalar_dense", local_scalar);
    m.impl("_fused_sdp_choice", choose_attention);
    m.impl("convolution_overrideable", torch::CppFunction::makeFromBoxedFunction<&boxed>());
    m.impl("convolution_backward_overrideable", torch::CppFunction::makeFromBoxedFunction<&boxed>());
}

// To compute a lazy conjugate the engine copies it: the copy must not ask for its computation again.
TORCH_LIBRARY_IMPL(aten, Conjugate, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(aten, Negative, m) { m.impl("_copy_from", torch::CppFunction::makeFallthrough()); }
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&boxed>()); }

}  // namespace sim

PYBIND11_MODULE(_sim, m)
{
    m.def("watch_the_host", sim::watch_the_host);
    m.def("counts", [] {
        pybind11::dict found;
        for (int kind = 0; kind < sim::KINDS; kind++) {
            found[sim::NAMES[kind]] = sim::counts[kind].load();
        }
        return found;
    });
    m.def("listen", [](const pybind11::object& listener) {
        Py_XSETREF(sim::listener, listener.is_none() ? nullptr : pybind11::object(listener).release().ptr());
    });
    m.def("get_device", [] { return static_cast<int>(sim::current); });
    m.def("set_device", [](int index) { sim::Guard().setDevice(sim::Device(sim::KIND, index)); });
    m.def("default_generator", [](int index) { return sim::default_generator(index); });
    // Take operators as a whole that torch composes for devices of others.
    m.def("compute_as_one", [](const std::vector<std::string>& names) {
        static torch::Library library(torch::Library::IMPL, "aten", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__);
        for (const auto& name : names) {
            library.impl(name.c_str(), torch::CppFunction::makeFromBoxedFunction<&sim::boxed>());
        }
    });
    m.def("refuse", [](std::unordered_set<std::string> missing, std::unordered_map<std::string, std::string> floats) {
        sim::missing = std::move(missing);
        sim::floating_only = std::move(floats);
    });
}
