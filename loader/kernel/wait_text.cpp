// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/wait_text.h"

#include "bpf/go_runtime.h"
#include "loader/stream/park_reason.h"
#include "loader/symbols/syscall_names.h"

#include <fmt/format.h>

#include <sys/syscall.h>

namespace auger {
namespace {

// "parked: chan receive"; "parked" where the runtime has no name for it that is known here.
std::string park_text(uint32_t reason) {
    return reason == WIRE_GO_OTHER ? "parked"
                                   : fmt::format("parked: {}", park_reason_names[reason]);
}

} // namespace

std::string wait_text(FdTargets* descriptors, pid_t pid, uint64_t now_ns, int32_t syscall,
                      uint64_t argument) {
    if (syscall == WIRE_SYSCALL_STOPPED)
        return "stopped";
    const int64_t reason = int64_t{syscall} - WIRE_SYSCALL_PARKED;
    if (reason >= 0 && reason < WIRE_GO_REASONS)
        return park_text(static_cast<uint32_t>(reason));
    if (syscall < 0)
        return "page fault";
    auto number = static_cast<uint64_t>(syscall);
    std::string what = syscall_name(number);
    if (waits_for_descriptor(number)) {
        what += fmt::format("({})", argument);
        if (!descriptors)
            return what;
        if (std::string target = descriptors->find(pid, argument, now_ns); !target.empty())
            what += " " + target;
    } else if (number == SYS_futex) {
        what += fmt::format("({:#x})", argument);
    }
    return what;
}

} // namespace auger
