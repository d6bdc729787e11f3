// SPDX-License-Identifier: GPL-3.0-or-later
// UnnamedFrames: of a runtime, what stands in place of frames without a name, and how many there
// were.
#pragma once

#include "loader/runtimes/function_problem.h"
#include "loader/stream/events.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace auger {

struct FunctionName {
    std::string file;     // the module's path; "[python]" where `frame` says what is missing
    uint64_t address = 0; // in it: another one for each other function and line
    Frame frame;
};

class UnnamedFrames {
  public:
    static constexpr size_t causes = 3;

    explicit UnnamedFrames(std::string_view label)
        : names_{make(label, 1, "unreadable"), make(label, 2, "gone before its name was read"),
                 make(label, 3, "its memory could not be read in time")} {}

    // Counts one more.
    const FunctionName& one(FunctionProblem problem) {
        counts_[static_cast<size_t>(problem)]++;
        return names_[static_cast<size_t>(problem)];
    }
    // By FunctionProblem.
    const std::array<uint64_t, causes>& counts() const { return counts_; }

  private:
    static FunctionName make(std::string_view label, uint64_t address, std::string_view why) {
        FunctionName name;
        name.file = fmt::format("[{}]", label);
        name.address = address;
        name.frame.function = fmt::format("[{}: {}]", label, why);
        return name;
    }

    const std::array<FunctionName, causes> names_;
    std::array<uint64_t, causes> counts_{};
};

} // namespace auger
