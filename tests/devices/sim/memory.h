// The memory of the devices: pages of the host's that only kernels may read and write.
#pragma once
#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/util/Exception.h>
#include <signal.h>
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "counts.h"

namespace sim {

using c10::Device;
using c10::DeviceIndex;
constexpr auto KIND = c10::DeviceType::PrivateUse1;
constexpr DeviceIndex DEVICES = 2;
constexpr size_t PAGE = 4096;

inline thread_local DeviceIndex current = 0;

// The current device of this thread is another one for a while.
struct On {
    DeviceIndex before = current;
    explicit On(Device device)
    {
        if (device.has_index()) {
            TORCH_CHECK(device.index() < DEVICES, "SIM error: invalid device ordinal");
            current = device.index();
        }
    }
    ~On() { current = before; }
};

struct Block {
    void* data;
    size_t size;
    DeviceIndex device;
    // How many kernels that run use it.
    std::atomic<int> users{0};
};

inline std::recursive_mutex lock;
inline std::map<char*, Block*> blocks;

inline Block* block_of(const void* address)
{
    std::lock_guard<std::recursive_mutex> held(lock);
    auto after = blocks.upper_bound(static_cast<char*>(const_cast<void*>(address)));
    if (after == blocks.begin()) {
        return nullptr;
    }
    auto [start, block] = *std::prev(after);
    return static_cast<const char*>(address) < start + block->size ? block : nullptr;
}

// Blocks that a kernel uses, until it is done.
class Used {
    std::vector<Block*> held;

public:
    void add(const void* address)
    {
        Block* block = address ? block_of(address) : nullptr;
        if (!block) {
            return;
        }
        std::lock_guard<std::recursive_mutex> one_at_a_time(lock);
        if (block->users++ == 0) {
            mprotect(block->data, block->size, PROT_READ | PROT_WRITE);
        }
        held.push_back(block);
    }
    ~Used()
    {
        std::lock_guard<std::recursive_mutex> one_at_a_time(lock);
        for (Block* block : held) {
            if (--block->users == 0) {
                mprotect(block->data, block->size, PROT_NONE);
            }
        }
    }
};

struct Allocator final : c10::Allocator {
    static void release(void* context)
    {
        auto* block = static_cast<Block*>(context);
        {
            std::lock_guard<std::recursive_mutex> held(lock);
            blocks.erase(static_cast<char*>(block->data));
        }
        munmap(block->data, block->size);
        delete block;
    }
    c10::DataPtr allocate(size_t bytes) override
    {
        Device device(KIND, current);
        if (!bytes) {
            return {nullptr, device};
        }
        size_t size = (bytes + PAGE - 1) / PAGE * PAGE;
        // Linux refuses too much of what may be written, and takes any size of what may not.
        int flags = MAP_PRIVATE | MAP_ANONYMOUS;
        void* data = size < bytes ? MAP_FAILED : mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, -1, 0);
        TORCH_CHECK_WITH(
            OutOfMemoryError, data != MAP_FAILED, "SIM out of memory. Tried to allocate ", bytes, " bytes");
        mprotect(data, size, PROT_NONE);
        auto* block = new Block{data, size, current};
        std::lock_guard<std::recursive_mutex> held(lock);
        blocks[static_cast<char*>(data)] = block;
        return {data, block, &Allocator::release, device};
    }
    c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
    void copy_data(void* to, const void* from, size_t bytes) const override
    {
        Used used;
        used.add(to);
        used.add(from);
        std::memcpy(to, from, bytes);
    }
};

inline Allocator allocator;

// The host reads or writes memory of a device: a crash on CUDA. Here it is counted, and the block stays readable.
inline struct sigaction handler_before;

inline void on_fault(int, siginfo_t* info, void*)
{
    // A thread that faults isn't inside of the allocator.
    Block* block = block_of(info->si_addr);
    if (block && mprotect(block->data, block->size, PROT_READ | PROT_WRITE) == 0) {
        counts[HOST_READ]++;
        return;
    }
    sigaction(SIGSEGV, &handler_before, nullptr);
}

inline void watch_the_host()
{
    struct sigaction action = {};
    sigaction(SIGSEGV, nullptr, &action);
    if (action.sa_sigaction == on_fault) {
        return;
    }
    action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, &handler_before);
}

}  // namespace sim
