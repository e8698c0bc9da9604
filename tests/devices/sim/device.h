// The two devices as torch sees them: the current one, streams that do all at once, and generators of random numbers.
#pragma once
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "memory.h"

namespace sim {

inline c10::Stream the_stream(Device device) { return c10::Stream(c10::Stream::DEFAULT, device); }

struct Guard final : c10::impl::DeviceGuardImplInterface {
    c10::DeviceType type() const override { return KIND; }
    Device exchangeDevice(Device device) const override
    {
        Device before = getDevice();
        setDevice(device);
        return before;
    }
    Device getDevice() const override { return {KIND, current}; }
    void setDevice(Device device) const override
    {
        TORCH_CHECK(device.index() >= 0 && device.index() < DEVICES, "SIM error: invalid device ordinal");
        current = device.index();
    }
    void uncheckedSetDevice(Device device) const noexcept override { current = device.index(); }
    c10::Stream getStream(Device device) const override { return the_stream(device); }
    c10::Stream getNewStream(Device device, int) const override { return the_stream(device); }
    c10::Stream getDefaultStream(Device device) const override { return the_stream(device); }
    c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
    DeviceIndex deviceCount() const noexcept override { return DEVICES; }
    void record(void**, const c10::Stream&, const DeviceIndex, const c10::EventFlag) const override {}
    void block(void*, const c10::Stream&) const override {}
    bool queryEvent(void*) const override { return true; }
    void destroyEvent(void*, const DeviceIndex) const noexcept override {}
    bool queryStream(const c10::Stream&) const override { return true; }
    void synchronizeStream(const c10::Stream&) const override { note(SYNC, "stream"); }
    void synchronizeDevice(const DeviceIndex) const override { note(SYNC, "device"); }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

// Draws what a generator of the CPU does.
struct GeneratorImpl final : c10::GeneratorImpl {
    at::Generator drawn = at::detail::createCPUGenerator();
    explicit GeneratorImpl(DeviceIndex index)
        : c10::GeneratorImpl(Device(KIND, index), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1))
    {
    }
    static c10::DeviceType device_type() { return KIND; }
    void set_current_seed(uint64_t seed) override { drawn.set_current_seed(seed); }
    void set_offset(uint64_t) override {}
    uint64_t get_offset() const override { return 0; }
    uint64_t current_seed() const override { return drawn.current_seed(); }
    uint64_t seed() override { return drawn.seed(); }
    void set_state(const c10::TensorImpl& state) override { drawn.unsafeGetGeneratorImpl()->set_state(state); }
    c10::intrusive_ptr<c10::TensorImpl> get_state() const override
    {
        return drawn.unsafeGetGeneratorImpl()->get_state();
    }
    GeneratorImpl* clone_impl() const override
    {
        auto* made = new GeneratorImpl(device().index());
        made->drawn = drawn.clone();
        return made;
    }
};

inline at::Generator& default_generator(DeviceIndex index)
{
    static std::vector<at::Generator> all = [] {
        std::vector<at::Generator> made;
        for (DeviceIndex each = 0; each < DEVICES; each++) {
            made.push_back(at::make_generator<GeneratorImpl>(each));
        }
        return made;
    }();
    return all.at(index < 0 ? current : index);
}

inline at::Generator& drawn_by(const at::Generator& generator)
{
    return static_cast<GeneratorImpl*>(generator.unsafeGetGeneratorImpl())->drawn;
}

struct Hooks final : at::PrivateUse1HooksInterface {
    bool isBuilt() const override { return true; }
    bool isAvailable() const override { return true; }
    void init() const override {}
    bool hasPrimaryContext(DeviceIndex) const override { return true; }
    DeviceIndex deviceCount() const override { return DEVICES; }
    DeviceIndex getCurrentDevice() const override { return current; }
    void setCurrentDevice(DeviceIndex index) const override { current = index; }
    DeviceIndex exchangeDevice(DeviceIndex index) const override { return std::exchange(current, index); }
    DeviceIndex maybeExchangeDevice(DeviceIndex index) const override { return std::exchange(current, index); }
    const at::Generator& getDefaultGenerator(DeviceIndex index) const override { return default_generator(index); }
    at::Generator getNewGenerator(DeviceIndex index) const override
    {
        return at::make_generator<GeneratorImpl>(index < 0 ? current : index);
    }
    Device getDeviceFromPtr(void* address) const override
    {
        Block* block = block_of(address);
        TORCH_CHECK(block, "this address isn't one of sim");
        return {KIND, block->device};
    }
    bool isPinnedPtr(const void*) const override { return false; }
    c10::Allocator* getPinnedMemoryAllocator() const override { return c10::GetCPUAllocator(); }
    void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override
    {
        On device(storage.device());
        auto made = allocator.allocate(bytes);
        if (auto kept = std::min(bytes, storage.nbytes())) {
            allocator.copy_data(made.mutable_get(), storage.data(), kept);
        }
        storage.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(made));
        storage.unsafeGetStorageImpl()->set_nbytes(bytes);
    }
};

struct Registered {
    Registered()
    {
        c10::SetAllocator(KIND, &allocator, 255);
        at::RegisterPrivateUse1HooksInterface(new Hooks);
    }
};
inline Registered registered;

}  // namespace sim
