// SPDX-License-Identifier: GPL-3.0-or-later
// What the first level of a flame tells apart: `flame by KEY`, and all that exports and shows
// flames. A new key is a row in group_by.cpp.
#pragma once

#include "views/model/model.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

class GroupBy {
  public:
    // Threads that do the same work belong together, so it is their process unless the user asks
    // for more.
    constexpr GroupBy() = default;

    static const GroupBy process;
    // Of what is told apart by the sample, not by the thread: samples of one thread have several
    // labels.
    static const GroupBy cpu;
    static const GroupBy task;      // of an event loop, see ModuleKind::task
    static const GroupBy coroutine; // ... by what they run
    static const GroupBy go_label;  // of a goroutine, see ModuleKind::go_label
    bool is_by_thread() const {
        return *this != cpu && *this != task && *this != coroutine && *this != go_label;
    }

    static std::optional<GroupBy> named(std::string_view key);
    static std::vector<std::string_view> names();

    std::string_view name() const;
    // What comes next when one goes through all of them.
    GroupBy next() const;
    // For groups by the thread.
    std::string label(const Model& model, ThreadId thread) const;
    // For all: of a sample.
    std::string label(const Model& model, ThreadId thread, StackId stack, uint16_t cpu) const;

    friend bool operator==(GroupBy, GroupBy) = default;

  private:
    constexpr explicit GroupBy(uint8_t row) : row_(row) {}

    uint8_t row_ = 0; // of the table
};

} // namespace auger
