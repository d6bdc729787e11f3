// SPDX-License-Identifier: GPL-3.0-or-later
// NamedRoom: how much is kept of functions that runtimes tell of. Unlike those of files they may be
// any number, and stay as long as auger does: users' programs may not take all memory.
#pragma once

#include "loader/process/proc_info.h"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace auger {

class NamedRoom {
  public:
    static constexpr uint64_t of_user = 64 << 20; // bytes of names and files

    explicit NamedRoom(uint64_t most = of_user) : most_(most) {}

    // Whether the process's user has room for so many more, which are then taken.
    bool take(pid_t pid, uint64_t bytes) {
        uint64_t& taken = taken_[user_of(pid)];
        if (bytes > most_ - taken) {
            refused_++;
            return false;
        }
        taken += bytes;
        return true;
    }
    // How often there was none.
    uint64_t refused() const { return refused_; }

  private:
    static constexpr size_t most_known = 50'000;
    static constexpr uid_t nobody_knows = UINT32_MAX;

    uid_t user_of(pid_t pid) {
        if (users_.size() >= most_known)
            users_.clear();
        const auto [known, is_new] = users_.try_emplace(pid, nobody_knows);
        if (is_new)
            if (const auto user = uid_of(pid))
                known->second = *user;
        return known->second;
    }

    const uint64_t most_;
    std::unordered_map<uid_t, uint64_t> taken_;
    std::unordered_map<pid_t, uid_t> users_;
    uint64_t refused_ = 0;
};

} // namespace auger
