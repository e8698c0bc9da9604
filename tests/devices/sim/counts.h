// Counts of a program's requests to the devices, by kind.
#pragma once
#include <torch/csrc/utils/pybind.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace sim {

enum Kind { LAUNCH, SYNC, TO_DEVICE, TO_HOST, BETWEEN, OUT_OF_BOUNDS, HOST_READ, KINDS };
constexpr std::array<const char*, KINDS> NAMES = {
    "launch", "sync", "to_device", "to_host", "between", "out_of_bounds", "host_read"};

inline std::array<std::atomic<int64_t>, KINDS> counts{};
// A function of Python that is told the kind and the operator of each event, or null.
inline PyObject* listener = nullptr;
// The kernels of the CPU do the work of a launch: what they ask for is part of it.
inline thread_local bool in_kernel = false;

struct InKernel {
    bool before = in_kernel;
    InKernel() { in_kernel = true; }
    ~InKernel() { in_kernel = before; }
};

inline void note(Kind kind, const std::string& what)
{
    if (in_kernel) {
        return;
    }
    counts[kind]++;
    if (listener) {
        pybind11::gil_scoped_acquire lock;
        pybind11::handle function = listener;
        function(NAMES[kind], what);
    }
}

}  // namespace sim
