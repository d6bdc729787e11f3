// SPDX-License-Identifier: GPL-3.0-or-later
// Objects of a Ruby process: texts, arrays, symbols, and what classes are called. All of it may be
// anything. What fails leaves nothing, and whoever asked looks at what the memory says of it.
#pragma once

#include "loader/runtimes/bounded_memory.h"
#include "loader/runtimes/ruby/layout.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

// A process that runs Ruby: what names are read by.
struct RubyProcess {
    RubyLayout layout{};
    uint64_t symbols = 0; // ruby_global_symbols
    LoopCode loop;        // rb_vm_exec()
};

class RubyMemory {
  public:
    // Both live longer.
    RubyMemory(const ReadMemory& read, const RubyProcess& process)
        : memory_(read), process_(process) {}

    BoundedMemory& memory() { return memory_; }
    const RubyObjects& objects() const { return process_.layout.objects; }

    // Of a String; nothing: it is none. Of a long one the beginning, with three dots.
    std::optional<std::string> text(uint64_t object);
    // Of an Array; nothing: it is none, or has fewer.
    std::optional<uint64_t> element(uint64_t object, uint64_t index);
    // What an ID stands for.
    std::optional<std::string> symbol(uint64_t id);
    // What stands before the name of a method of the class or module: "Orders#", of one that a
    // class or module itself has "Orders."; empty: it has no name.
    std::string qualifier(uint64_t owner);

  private:
    uint32_t flags_of(uint64_t object);
    std::optional<uint64_t> variable(uint64_t klass, std::string_view name);
    std::string class_name(uint64_t klass);
    uint64_t object_of_singleton(uint64_t klass);

    BoundedMemory memory_;
    const RubyProcess& process_;
};

} // namespace auger
