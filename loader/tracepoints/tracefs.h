// SPDX-License-Identifier: GPL-3.0-or-later
// Tracefs: the kernel's file system that tells of tracepoints. Where nobody has mounted it, it is
// mounted for this process alone, where nobody sees it, and goes with the descriptor.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/tracepoints/event_format.h"

#include <map>
#include <string>
#include <vector>

namespace auger {

inline constexpr const char* tracefs_remedy =
    "as root: mount -t tracefs nodev /sys/kernel/tracing; the kernel needs CONFIG_TRACING";

class Tracefs {
  public:
    // One that is not there says so later: fault().
    static Tracefs open();
    // `folder` is its folder `events`, or one like it.
    static Tracefs at(const std::string& folder);

    bool available() const { return static_cast<bool>(events_); }
    // Why it is not; with a hint.
    const Error& fault() const { return fault_; }

    // Sorted. What cannot be read has none.
    const std::vector<std::string>& categories() const;
    const std::vector<std::string>& names(const std::string& category) const;
    Result<EventFormat> format(const std::string& category, const std::string& name) const;
    // The file itself, without how it is printed.
    Result<std::string> format_text(const std::string& category, const std::string& name) const;

    // Those of the kernel's modules come and go: lists are read anew when they are asked for next.
    void forget() const;

  private:
    UniqueFd events_;
    Error fault_;
    mutable std::vector<std::string> categories_;
    mutable std::map<std::string, std::vector<std::string>> names_;
};

// Why what begins with "kernel:" is no probe, as far as that is the kernel's doing: the options
// that it lacks; empty: it has them.
std::string missing_kernel_probes();

} // namespace auger
