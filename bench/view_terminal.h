// SPDX-License-Identifier: GPL-3.0-or-later
// ViewTerminal: auger at a terminal of its own, of which this process is the other side: keys go
// in, and what is written to the screen is watched for their answer.
#pragma once

#include "loader/base/fd.h"

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace auger::bench {

class ViewTerminal {
  public:
    // 200 columns, 60 rows. Throws std::runtime_error when auger cannot be started.
    explicit ViewTerminal(const std::vector<std::string>& arguments);
    ~ViewTerminal();
    ViewTerminal(const ViewTerminal&) = delete;
    ViewTerminal& operator=(const ViewTerminal&) = delete;

    pid_t pid() const { return pid_; }
    void press(std::string_view keys);
    // Takes in what is written meanwhile; returns how many bytes that was.
    size_t watch(std::chrono::milliseconds time);
    // Until `text` was written (as one piece: what ncurses sends depends on what was there).
    // Throws when it does not come.
    void await(std::string_view text, std::chrono::milliseconds limit = std::chrono::seconds(30));
    // Into the command line that `:` has opened: from the key to the write that shows it, ms.
    double type_and_see();
    // Seconds of CPU time used so far.
    double cpu_seconds() const;

  private:
    // Waits for bytes, and appends them to `seen_`; false when none came until then.
    bool read_some(std::chrono::steady_clock::time_point until);

    UniqueFd terminal_;
    pid_t pid_ = -1;
    std::string seen_;
};

} // namespace auger::bench
