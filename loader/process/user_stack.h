// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks of threads that wait, read from their memory: by the call frame information of the files
// that are mapped (.eh_frame), which is right in code without frame pointers too, and by frame
// pointers where there is none. The files are read by libdw.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace auger {

// A thread's registers when it entered the kernel.
struct UserRegisters {
    uint64_t ip = 0;
    uint64_t sp = 0;
    uint64_t bp = 0;
};

// Return addresses by where they lie, in place of what stands there: return probes put their own.
using ReturnAddresses = std::map<uint64_t, uint64_t>;

class UserStacks {
  public:
    // Of one process, with its mappings as they are now.
    explicit UserStacks(pid_t pid);
    ~UserStacks();
    UserStacks(UserStacks&&) noexcept;
    UserStacks& operator=(UserStacks&&) noexcept;

    // Addresses, leaf first: the instruction pointer, then return addresses. Ends where the way up
    // cannot be told or read, and after `most` of them: memory and files are the target's, and may
    // hold anything.
    std::vector<uint64_t> read(const UserRegisters& registers, const ReturnAddresses& replaced,
                               size_t most);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace auger
