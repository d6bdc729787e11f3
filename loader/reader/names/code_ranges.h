// SPDX-License-Identifier: GPL-3.0-or-later
// CodeRanges: what a program has told of the code that it generates: address -> name. Memory is
// bounded, as all of it comes from the target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

class CodeRanges {
  public:
    static constexpr size_t most_ranges = 1 << 19;       // the largest programs have some 100,000
    static constexpr size_t most_name_bytes = 128 << 20; // of all names that there are
    static constexpr size_t name_limit = 4096;           // longer ones are cut
    static constexpr size_t range_bytes = 192; // of memory, besides the name: two pieces of it

    // Takes the place of what was there, as code is freed and its memory used again. False when it
    // is empty, wraps around, or there is no more room.
    bool add(uint64_t start, uint64_t size, std::string_view name);
    // What lies at `from` goes to `to`. False as above, or when nothing lies there.
    bool move(uint64_t from, uint64_t to, uint64_t size);
    std::optional<std::string_view> find(uint64_t address) const;
    size_t size() const { return ranges_.size(); }
    // Of memory, bytes; an estimate that is not too small.
    size_t memory() const { return ranges_.size() * range_bytes + name_bytes_; }

  private:
    struct Range {
        uint64_t end;
        std::shared_ptr<const std::string> name; // of several ranges when others lie within it
    };
    using Ranges = std::map<uint64_t, Range>; // by start, never overlapping

    bool has_room(uint64_t start, uint64_t size) const;
    const Range* range_at(uint64_t address) const;
    void clear(uint64_t start, uint64_t end);

    Ranges ranges_;
    size_t name_bytes_ = 0;
};

} // namespace auger
