// SPDX-License-Identifier: GPL-3.0-or-later
// NamePool: every distinct string of frames (functions, modules, files) once, known by a small id.
// Append-only, so a string_view of it lives as long as the pool. Safe for several threads.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace auger {

enum class NameId : uint32_t {}; // NameId{0} is the empty string

class NamePool {
  public:
    NamePool();
    NamePool(const NamePool&) = delete;
    NamePool& operator=(const NamePool&) = delete;

    NameId intern(std::string_view text);
    // Empty for an id that this pool never gave.
    std::string_view text(NameId id) const;
    size_t size() const;
    size_t bytes() const; // of the strings themselves

  private:
    mutable std::mutex mutex_;
    std::deque<std::string> strings_; // a deque never moves its elements
    std::unordered_map<std::string_view, NameId> ids_;
    size_t bytes_ = 0;
};

} // namespace auger
