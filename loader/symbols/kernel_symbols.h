// SPDX-License-Identifier: GPL-3.0-or-later
// KernelSymbols: the functions of the kernel and its modules, from the text of /proc/kallsyms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auger {

class KernelSymbols {
  public:
    // Lines that do not parse are skipped.
    explicit KernelSymbols(std::string text);

    struct Match {
        std::string_view name;
        std::string_view module; // without brackets; empty for the kernel proper
        uint64_t offset;         // bytes from the symbol
    };
    // The last function symbol at or below the address.
    std::optional<Match> find(uint64_t address) const;
    size_t size() const { return symbols_.size(); }
    // All addresses were hidden (kptr_restrict), so nothing can be named.
    bool restricted() const { return restricted_; }

  private:
    struct Symbol {
        uint64_t address;
        uint32_t name; // offsets into text_
        uint32_t name_size;
        uint32_t module;
        uint32_t module_size;
    };

    std::string text_;
    std::vector<Symbol> symbols_; // by address, one each
    bool restricted_ = false;
};

} // namespace auger
