// SPDX-License-Identifier: GPL-3.0-or-later
// Machine: carries out a wire_call_program as its description in bpf/wire.h says, on registers and
// memory that a test makes up or that are this process's own.
#pragma once

#include "bpf/wire.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace auger::test {

struct Machine {
    std::array<uint64_t, 17> at_entry{}; // registers as DWARF counts
    std::array<uint64_t, 17> at_end{};
    uint64_t frame_address = 0;     // canonical
    uint64_t thread = 0;            // control block
    std::optional<uint64_t> task{}; // that CPython runs; nothing: it is not known
    // What the thread works for.
    enum class Context { unreadable, none, present } context = Context::none;
    std::string trace{}; // digits
    uint64_t span = 0;
    // Of the goroutine that it works for, by key; nothing: they cannot be read.
    std::optional<std::map<std::string, std::string>> go_labels{};
    // False: that memory cannot be read.
    std::function<bool(uint64_t address, void* to, size_t size)> read =
        [](uint64_t, void*, size_t) { return false; };

    wire_values run(const wire_call_program& program) const;
    // Nothing when the predicate does not exist.
    static std::optional<bool> holds(const wire_call_program& program, const wire_values& values,
                                     wire_predicate_use use);

  private:
    bool fetch(const wire_fetch& fetch, const wire_values& known, uint64_t& value) const;
    bool fetch_trace(const wire_fetch& fetch, wire_values& values, uint64_t& value) const;
    bool fetch_go_label(const wire_fetch& fetch, wire_values& values, uint64_t& value) const;
};

// Made-up memory: pages of bytes at an address.
class Memory {
  public:
    template <typename T>
    void put(uint64_t address, const T& value) {
        const auto* bytes = reinterpret_cast<const char*>(&value);
        parts_.push_back({address, std::string(bytes, sizeof value)});
    }
    void put_string(uint64_t address, const std::string& text) {
        parts_.push_back({address, text + '\0'});
    }
    bool read(uint64_t address, void* to, size_t size) const;

  private:
    struct Part {
        uint64_t address;
        std::string bytes;
    };
    std::vector<Part> parts_;
};

// This process's own memory; an address that is not mapped is not readable.
bool read_own_memory(uint64_t address, void* to, size_t size);

} // namespace auger::test
