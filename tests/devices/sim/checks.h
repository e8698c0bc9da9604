// The calls that CUDA refuses: devices that mix, operators and dtypes without a kernel. And those that it waits for.
#pragma once
#include <ATen/core/dispatch/Dispatcher.h>

#include <functional>
#include <optional>
#include <unordered_set>

#include "lending.h"

namespace sim {

// Operators without a kernel for CUDA, and those whose kernel takes no integers, with the name that the error has.
inline std::unordered_set<std::string> missing;
inline std::unordered_map<std::string, std::string> floating_only;

// One call of an operator: its schema, and its arguments on the stack.
struct Call {
    const c10::OperatorHandle& op;
    torch::jit::Stack* stack;
    const c10::FunctionSchema& schema = op.schema();
    size_t count = schema.arguments().size();
    size_t begin = stack->size() - count;
    std::string name =
        schema.name() + (schema.overload_name().empty() ? "" : "." + schema.overload_name());

    c10::IValue& argument(size_t place) const { return (*stack)[begin + place]; }
    bool writes_to(const at::Tensor& x) const
    {
        for (size_t place = 0; place < count; place++) {
            const auto* alias = schema.arguments()[place].alias_info();
            if (alias && alias->isWrite() && argument(place).isTensor() && argument(place).toTensor().is_same(x)) {
                return true;
            }
        }
        return false;
    }
};

inline void each_tensor(const c10::IValue& value, const std::function<void(const at::Tensor&)>& function)
{
    auto visit = [&](const at::Tensor& x) {
        if (x.defined()) {
            function(x);
        }
    };
    if (value.isTensor()) {
        visit(value.toTensor());
    } else if (value.isTensorList()) {
        for (const at::Tensor& x : value.toTensorList()) {
            visit(x);
        }
    } else if (value.isOptionalTensorList()) {
        for (std::optional<at::Tensor> x : value.toOptionalTensorList()) {
            if (x) {
                visit(*x);
            }
        }
    }
}

[[noreturn]] inline void refuse_mixed(Device first, Device second)
{
    TORCH_CHECK(
        false,
        "Expected all tensors to be on the same device, but found at least two devices, ",
        first.str(),
        " and ",
        second.str(),
        "!");
}

// The device of a call: that of its tensors, which is one, else the one that is named.
inline Device device_of(const Call& call)
{
    std::optional<Device> found;
    for (size_t place = 0; place < call.count; place++) {
        const auto& value = call.argument(place);
        each_tensor(value, [&](const at::Tensor& x) {
            if (is_sim(x)) {
                if (found && found->has_index() && *found != x.device()) {
                    refuse_mixed(*found, x.device());
                }
                found = x.device();
            }
        });
        if (value.isDevice() && value.toDevice().type() == KIND && !found) {
            found = value.toDevice();
        }
    }
    return found && found->has_index() ? *found : Device(KIND, current);
}

// Raise for tensors of the CPU, but for numbers without axes where CUDA takes them, and for indices, which it moves.
inline void check_host_operands(const Call& call, Device device)
{
    static const std::unordered_set<std::string> take_numbers = {
        "aten::index_put_", "aten::_index_put_impl_", "aten::masked_fill_", "aten::copy_", "aten::fill_", "aten::where"};
    const auto& operation = call.schema.name();
    const bool indexes = operation == "aten::index" || operation == "aten::_index_put_impl_";
    const bool joins = operation == "aten::cat" || operation == "aten::stack";
    const bool takes_numbers = call.op.hasTag(at::Tag::pointwise) || take_numbers.count(operation);
    for (size_t place = 0; place < call.count; place++) {
        const auto& value = call.argument(place);
        const bool is_index = indexes && !value.isTensor();
        each_tensor(value, [&](const at::Tensor& x) {
            if (is_sim(x)) {
                return;
            }
            if (is_index) {
                // With ``out``, a meta function has moved the index.
                if (call.name != "aten::index.Tensor_out") {
                    note(TO_DEVICE, call.name + " index");
                }
                return;
            }
            const bool is_number = takes_numbers || x.unsafeGetTensorImpl()->is_wrapped_number();
            if (x.dim() || joins || !is_number || call.writes_to(x)) {
                refuse_mixed(device, x.device());
            }
        });
    }
}

inline void check_has_kernel(const Call& call)
{
    if (missing.count(call.name)) {
        TORCH_CHECK_NOT_IMPLEMENTED(
            false, "Could not run '", call.name, "' with arguments from the 'CUDA' backend (simulated).");
    }
    auto kernel = floating_only.find(call.schema.name());
    for (size_t place = 0; kernel != floating_only.end() && place < call.count; place++) {
        each_tensor(call.argument(place), [&](const at::Tensor& x) {
            if (is_sim(x) && c10::isIntegralType(x.scalar_type(), true)) {
                auto dtype = c10::toString(x.scalar_type());
                TORCH_CHECK_NOT_IMPLEMENTED(
                    false, "\"", kernel->second, "\" not implemented for '", dtype, "' (simulated)");
            }
        });
    }
}

// Whether a call of an index with masks counts what they select.
inline bool counts_masks(const Call& call)
{
    if (call.schema.name().find("index") == std::string::npos) {
        return false;
    }
    for (size_t place = 0; place < call.count; place++) {
        const auto& value = call.argument(place);
        const bool are_indices = call.schema.arguments()[place].name() == "indices" && !value.isTensor();
        int masks = 0, others = 0;
        each_tensor(are_indices ? value : c10::IValue(), [&](const at::Tensor& x) {
            (x.scalar_type() == at::kBool || x.scalar_type() == at::kByte ? masks : others)++;
        });
        if (masks) {
            const bool puts = call.schema.name().find("put") != std::string::npos;
            const bool fills = puts && masks == 1 && !others && call.argument(2).toTensor().numel() == 1
                && !call.argument(3).toBool();
            return !fills;
        }
    }
    return false;
}

// Whether CUDA waits for values, since the shape of the result or the result itself depends on them.
inline bool waits(const Call& call)
{
    if (call.name == "aten::index.Tensor_out") {
        // Its meta function has called ``nonzero`` on the device.
        return false;
    }
    if (call.name == "aten::repeat_interleave.Tensor" && !call.argument(1).isNone()) {
        return false;
    }
    return call.op.hasTag(at::Tag::dynamic_output_shape) || call.op.hasTag(at::Tag::data_dependent_output)
        || counts_masks(call);
}

}  // namespace sim
