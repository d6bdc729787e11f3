// SPDX-License-Identifier: GPL-3.0-or-later
// ObjectReader: CPython's objects as they are in a process while something is looked up in them.
// All that is read may be anything: it is bounded, and whoever reads on after a failure gets
// nothing. What changes meanwhile may be seen half before and half after: who must not be misled
// reads all twice, with another reader.
#pragma once

#include "loader/runtimes/bounded_memory.h"
#include "loader/runtimes/python/layout.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

class ObjectReader {
  public:
    ObjectReader(const ReadMemory& read, const PythonLayout& layout)
        : memory_(read), layout_(layout) {}

    const PythonLayout& layout() const { return layout_; }
    template <typename Number>
    Number number(uint64_t address) {
        Number number;
        memory_.get(address, number);
        return number;
    }
    uint64_t word(uint64_t address) { return number<uint64_t>(address); }

    // The name of its class, as its repr() has it: of those of C modules with the module.
    std::string class_of(uint64_t object);
    // ... or one that it inherits from.
    bool is_a(uint64_t object, std::string_view class_name);
    // Up to a zero, and to so many of them: of a name of C's.
    std::string characters(uint64_t address, size_t limit) { return memory_.text(address, limit); }
    // Of a str; nothing where it is none.
    std::optional<std::string> text(uint64_t object, size_t limit);
    // Of a positive int of at most 60 bits (since 3.12).
    std::optional<uint64_t> integer(uint64_t object);
    // Of a list, a tuple or a set, at most so many; none of anything else.
    std::vector<uint64_t> elements(uint64_t object, size_t limit);
    // 0: there is none of this name.
    uint64_t item(uint64_t dict, std::string_view key);
    uint64_t attribute(uint64_t object, std::string_view name);
    // At most so many, in the order in which they came.
    std::vector<uint64_t> values(uint64_t dict, size_t limit);

    // Something could not be read.
    bool failed() const { return memory_.failed(); }
    // ... since the process lets us wait.
    bool late() const { return memory_.late(); }

  private:
    // A table of names, and where what they stand for is: 0: beside them.
    struct Table {
        uint64_t keys, values;
    };
    struct Entry {
        uint64_t key, value;
    };

    Table table_of(uint64_t dict);
    Table attributes_of(uint64_t object);
    size_t entries(const Table& table);
    Entry entry(const Table& table, size_t index);
    uint64_t find(const Table& table, std::string_view key);
    bool is_text(uint64_t object, std::string_view text);

    BoundedMemory memory_;
    const PythonLayout& layout_;
};

} // namespace auger
