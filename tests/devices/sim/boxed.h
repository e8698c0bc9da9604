// The kernel of all operators that have no own one: that of the CPU, on the same memory.
#pragma once
#include "checks.h"

namespace sim {

inline void lend_arguments(const Call& call, Device device, Lending& lending)
{
    for (size_t place = 0; place < call.count; place++) {
        auto& value = call.argument(place);
        if (value.isTensor()) {
            value = lending.lend(value.toTensor());
        } else if (value.isTensorList()) {
            c10::List<at::Tensor> list;
            for (const at::Tensor& x : value.toTensorList()) {
                list.push_back(lending.lend(x));
            }
            value = list;
        } else if (value.isOptionalTensorList()) {
            c10::List<std::optional<at::Tensor>> list;
            for (std::optional<at::Tensor> x : value.toOptionalTensorList()) {
                list.push_back(x ? std::optional<at::Tensor>(lending.lend(*x)) : x);
            }
            value = list;
        } else if (value.isDevice() && value.toDevice().type() == KIND) {
            value = Device(c10::kCPU);
        } else if (value.isGenerator()) {
            auto generator = value.toGenerator();
            auto kind = generator.device().type();
            TORCH_CHECK(kind == KIND, "Expected a 'sim' device type for generator but found '", kind, "'");
            value = drawn_by(generator);
        } else if (value.isNone() && call.schema.arguments()[place].name() == "generator") {
            value = drawn_by(default_generator(device.index()));
        }
    }
}

// Convolutions have operators for devices of others, which on the CPU do nothing.
inline c10::OperatorHandle counterpart(const Call& call)
{
    auto& dispatcher = c10::Dispatcher::singleton();
    if (call.name == "aten::convolution_overrideable") {
        return dispatcher.findSchemaOrThrow("aten::convolution", "");
    }
    if (call.name == "aten::convolution_backward_overrideable") {
        auto gradient = call.argument(0).toTensor();
        std::vector<int64_t> bias = {gradient.dim() > 1 ? gradient.size(1) : 0};
        call.stack->insert(call.stack->begin() + call.begin + 3, c10::IValue(bias));
        return dispatcher.findSchemaOrThrow("aten::convolution_backward", "");
    }
    return call.op;
}

// Whether an error says that an index in memory is out of bounds, which kernels of CUDA assert. What the host knows it
// raises itself: numbers of axes, and the places of views.
inline bool is_of_values(const Call& call, const std::string& message)
{
    if (message.rfind("Dimension out of range", 0) == 0) {
        return false;
    }
    for (const auto& result : call.schema.returns()) {
        if (result.alias_info() && !result.alias_info()->isWrite()) {
            return false;
        }
    }
    return message.find("out of bounds") != std::string::npos || message.find("out of range") != std::string::npos;
}

inline void compute(const Call& call)
{
    auto target = counterpart(call);
    c10::impl::ExcludeDispatchKeyGuard below(c10::autograd_dispatch_keyset);
    try {
        InKernel inside;
        target.callBoxed(call.stack);
    } catch (const std::exception& error) {
        if (is_of_values(call, error.what())) {
            note(OUT_OF_BOUNDS, call.name);
        }
        throw;
    }
}

// How often CUDA launches a kernel for a call: once, but for operators of lists in parts, of as many tensors as the
// arguments of a kernel have room for, and of as many blocks. Lists that don't fit are taken tensor by tensor.
inline int64_t launches(const Call& call)
{
    constexpr std::array<int64_t, 5> MOST_TENSORS = {110, 64, 48, 36, 30};
    constexpr int64_t MOST_BLOCKS = 320, BLOCK = 65536;
    if (call.schema.name().rfind("aten::_foreach_", 0) != 0) {
        return 1;
    }
    std::vector<std::vector<at::Tensor>> lists;
    for (size_t place = 0; place < call.count; place++) {
        if (call.argument(place).isTensorList()) {
            lists.push_back(call.argument(place).toTensorVector());
        }
    }
    const auto& first = lists.at(0);
    bool fits = true;
    for (size_t i = 0; i < first.size(); i++) {
        for (const auto& list : lists) {
            fits &= list[i].scalar_type() == first[0].scalar_type() && list[i].sizes() == first[i].sizes()
                && list[i].strides() == first[i].strides();
        }
        fits &= first[i].is_non_overlapping_and_dense();
    }
    if (!fits) {
        return static_cast<int64_t>(first.size());
    }
    // Those that return something make a list more.
    const auto depth = lists.size() + (call.schema.returns().empty() ? 0 : 1);
    int64_t found = 0, tensors = 0, blocks = 0;
    for (const auto& x : first) {
        const auto parts = (x.numel() + BLOCK - 1) / BLOCK;
        tensors += parts > 0;
        for (int64_t part = 0; part < parts; part++) {
            const bool is_last = part + 1 == parts;
            if (++blocks == MOST_BLOCKS || (is_last && tensors == MOST_TENSORS.at(depth - 1))) {
                found++;
                blocks = 0;
                tensors = is_last ? 0 : 1;
            }
        }
    }
    return found + (blocks > 0);
}

inline void take_back_results(const Call& call, Device device, Lending& lending, int64_t times)
{
    const auto results = call.schema.returns().size();
    const auto first = call.stack->size() - results;
    bool only_views = results > 0, has_elements = false;
    auto take_back = [&](const at::Tensor& x) {
        bool is_view = false;
        auto made = lending.take_back(x, device, &is_view);
        only_views &= is_view;
        has_elements |= made.defined() && made.numel() > 0;
        return made;
    };
    for (size_t place = 0; place < results; place++) {
        auto& value = (*call.stack)[first + place];
        if (value.isTensor()) {
            value = take_back(value.toTensor());
        } else if (value.isTensorList()) {
            c10::List<at::Tensor> list;
            for (const at::Tensor& x : value.toTensorList()) {
                list.push_back(take_back(x));
            }
            value = list;
        } else {
            only_views = false;
        }
    }
    if (!only_views && (has_elements || !results)) {
        for (int64_t time = 0; time < times; time++) {
            note(LAUNCH, call.name);
        }
    }
}

inline void boxed(const c10::OperatorHandle& op, c10::DispatchKeySet, torch::jit::Stack* stack)
{
    Call call{op, stack};
    const Device device = device_of(call);
    check_host_operands(call, device);
    check_has_kernel(call);
    if (waits(call)) {
        note(SYNC, call.name);
    }
    const auto times = launches(call);
    Lending lending;
    lend_arguments(call, device, lending);
    compute(call);
    lending.follow_sizes();
    take_back_results(call, device, lending, times);
}

}  // namespace sim
