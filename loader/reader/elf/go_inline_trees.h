// SPDX-License-Identifier: GPL-3.0-or-later
// GoInlineTrees: which calls Go's compiler has inlined into a function, of Go 1.16 to 1.26. The
// table of functions (GoTable) says by their numbers whose code is where, and where else in the
// file a function's tree is: its calls, each with the place that it was called from. Hostile like
// all content of files.
#pragma once

#include "loader/reader/elf/elf_file.h"
#include "loader/reader/elf/go_table.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace auger {

class GoInlineTrees {
  public:
    // Bytes of the file by their address as linked; fewer where the file ends.
    using Read = std::function<std::vector<std::byte>(uint64_t address, size_t size)>;

    // Nothing when the file, which must outlive it, is no program of Go's or one of an earlier
    // version.
    static std::optional<GoInlineTrees> of_file(const ElfFile& file);

    // The table must outlive it.
    GoInlineTrees(const GoTable& table, Read read);

    // Since Go 1.18 trees are counted from a place that the table does not tell: the first of these
    // for which they make sense. Otherwise no call is found.
    void locate(std::span<const uint64_t> places);

    struct Call {
        std::string_view function;
        uint64_t from; // an address in the code around it, on the line that it was called from
    };
    // Nothing when there is none with this number.
    std::optional<Call> call(const GoFunction& function, int64_t number) const;
    // A program of values: the number of the call that code is of; -1: it is the function's own.
    std::span<const std::byte> numbers(const GoFunction& function) const;
    // All that code of the function has the number of; a bounded number of them.
    std::vector<Call> calls(const GoFunction& function) const;

  private:
    // That the function's code has; -1: nothing is inlined into it.
    int64_t highest_number(const GoFunction& function) const;
    // From where they count.
    std::optional<uint64_t> offset_of_tree(const GoFunction& function) const;
    std::optional<Call> read_call(const GoFunction& function, std::span<const std::byte> tree,
                                  int64_t number) const;
    bool begins_name(uint32_t offset) const;
    // A function that something is inlined into, where its tree is counted from `place`, and the
    // number of its calls.
    struct Sample {
        const GoFunction* function;
        uint64_t offset;
        int64_t calls;
    };
    std::vector<Sample> samples() const;
    bool make_sense(std::span<const Sample> samples, uint64_t place) const;

    const GoTable& table_;
    Read read_;
    std::optional<uint64_t> place_;
};

} // namespace auger
