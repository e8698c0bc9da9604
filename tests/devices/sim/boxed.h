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

inline void take_back_results(const Call& call, Device device, Lending& lending)
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
        note(LAUNCH, call.name);
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
    Lending lending;
    lend_arguments(call, device, lending);
    compute(call);
    lending.follow_sizes();
    take_back_results(call, device, lending);
}

}  // namespace sim
