// Tensors of a device lent to a kernel of the CPU: other tensors on the same memory, and the way back of its results.
#pragma once
#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>

#include <unordered_map>

#include "device.h"

namespace sim {

constexpr c10::DispatchKeySet KEYS(c10::DispatchKey::PrivateUse1);

inline bool is_sim(const at::Tensor& x) { return x.defined() && x.device().type() == KIND; }

class Lending {
    // By the storage of a device: that of the CPU in its memory, and the other way.
    std::unordered_map<c10::StorageImpl*, c10::Storage> lent;
    std::unordered_map<c10::StorageImpl*, c10::Storage> owners;
    // By the tensor of a device: its alias, and the other way.
    std::unordered_map<c10::TensorImpl*, at::Tensor> aliases;
    std::unordered_map<c10::TensorImpl*, at::Tensor> originals;
    // Memory in whose place other memory has come: in use until the kernel is done.
    std::vector<c10::DataPtr> replaced;
    Used used;

    static at::Tensor like(const at::Tensor& x, const c10::Storage& storage, c10::DispatchKeySet keys)
    {
        at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(storage), keys, x.dtype());
        made.unsafeGetTensorImpl()->set_sizes_and_strides(x.sizes(), x.strides(), x.storage_offset());
        return as_lazy_as(x, made);
    }
    static at::Tensor as_lazy_as(const at::Tensor& x, at::Tensor made)
    {
        made._set_conj(x.is_conj());
        made._set_neg(x.is_neg());
        return made;
    }
    static at::Tensor moved(const at::Tensor& x, Device device)
    {
        On there(device);
        at::Tensor made = at::detail::empty_strided_generic(x.sizes(), x.strides(), &allocator, KEYS, x.scalar_type());
        // A tensor that stands for zeros has no memory, and new memory is zero.
        if (auto bytes = x._is_zerotensor() ? 0 : made.storage().nbytes()) {
            auto stored = x.storage().nbytes() - x.storage_offset() * x.itemsize();
            allocator.copy_data(made.storage().mutable_data(), x.const_data_ptr(), std::min(bytes, stored));
        }
        return as_lazy_as(x, made);
    }

public:
    at::Tensor lend(const at::Tensor& x)
    {
        if (!is_sim(x)) {
            return x;
        }
        auto known = aliases.find(x.unsafeGetTensorImpl());
        if (known != aliases.end()) {
            return known->second;
        }
        c10::Storage storage = x.storage();
        auto found = lent.find(storage.unsafeGetStorageImpl());
        if (found == lent.end()) {
            used.add(storage.data());
            c10::DataPtr memory(storage.mutable_data(), c10::Device(c10::kCPU));
            c10::Storage host(
                c10::Storage::use_byte_size_t(), storage.nbytes(), std::move(memory), c10::GetCPUAllocator(), true);
            found = lent.emplace(storage.unsafeGetStorageImpl(), host).first;
            owners.emplace(host.unsafeGetStorageImpl(), storage);
        }
        at::Tensor alias = like(x, found->second, c10::DispatchKeySet(c10::DispatchKey::CPU));
        if (x.unsafeGetTensorImpl()->is_wrapped_number()) {
            alias.unsafeGetTensorImpl()->set_wrapped_number(true);
        }
        originals.emplace(alias.unsafeGetTensorImpl(), x);
        aliases.emplace(x.unsafeGetTensorImpl(), alias);
        return alias;
    }

    // Give what a kernel returned its place on a device; tell whether it shares memory with what was lent.
    at::Tensor take_back(const at::Tensor& x, Device device, bool* is_view)
    {
        if (!x.defined() || x.device().type() != c10::kCPU) {
            return x;
        }
        auto same = originals.find(x.unsafeGetTensorImpl());
        if (same != originals.end()) {
            return same->second;
        }
        auto owner = x.has_storage() ? owners.find(x.storage().unsafeGetStorageImpl()) : owners.end();
        if (owner == owners.end()) {
            return moved(x, device);
        }
        *is_view = true;
        return like(x, owner->second, KEYS);
    }

    // A kernel that writes to ``out`` may have resized it: do the same to what it stands for.
    void follow_sizes()
    {
        for (auto& [owner, host] : lent) {
            if (host.data() == owner->data() && host.nbytes() == owner->nbytes()) {
                continue;
            }
            On there(owner->device());
            auto made = allocator.allocate(host.nbytes());
            if (host.nbytes()) {
                allocator.copy_data(made.mutable_get(), host.data(), host.nbytes());
            }
            replaced.push_back(owner->set_data_ptr(std::move(made)));
            owner->set_nbytes(host.nbytes());
        }
        for (auto& [alias, x] : originals) {
            auto known = lent.find(x.storage().unsafeGetStorageImpl());
            if (known == lent.end() || alias->storage().unsafeGetStorageImpl() != known->second.unsafeGetStorageImpl()) {
                continue;
            }
            if (alias->sizes() != x.sizes() || alias->strides() != x.strides()
                || alias->storage_offset() != x.storage_offset()) {
                x.unsafeGetTensorImpl()->set_sizes_and_strides(
                    alias->sizes(), alias->strides(), alias->storage_offset());
            }
        }
    }
};

}  // namespace sim
