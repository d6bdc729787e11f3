// SPDX-License-Identifier: GPL-3.0-or-later
// NativeFunctions: where the functions of C are that a language has names for, in the processes
// that run it: what is known of it is in their memory.
#pragma once

#include "loader/base/result.h"
#include "loader/kernel/live_names.h"
#include "loader/kernel/live_unwind.h"
#include "loader/kernel/target_view.h"
#include "loader/probes/probe_pattern.h"
#include "loader/runtimes/native_function.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace auger {

class NativeFunctions {
  public:
    // What is known of processes and of what they have mapped, and whether that is all.
    NativeFunctions(LiveNames& names, const LiveUnwind& unwind) : names_(names), unwind_(unwind) {}

    struct Place {
        size_t module;    // of the view
        uint64_t address; // as linked
        friend bool operator==(const Place&, const Place&) = default;
    };
    struct Places {
        std::vector<Place> places{};
        // Of no places: why, and whether there may be some later.
        Error error{};
        bool may_come = false;
    };
    // `pattern` has a language. Asks some processes that are not known to have the function; others
    // the next time.
    Places find(const ProbePattern& pattern, const TargetView& view);

  private:
    // In one process: where its runtime lies; 0: it runs none that is known.
    uint64_t runtime_of(pid_t pid, const ProbePattern& pattern);
    // Nothing: it lets us wait.
    std::optional<NativeFunction> ask(pid_t pid, const ProbePattern& pattern);
    std::optional<Place> place_of(pid_t pid, uint64_t address, const TargetView& view) const;

    static constexpr size_t most_asked = 16;

    LiveNames& names_;
    const LiveUnwind& unwind_;
    size_t next_ = 0; // of the target's processes
};

} // namespace auger
