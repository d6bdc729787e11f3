// SPDX-License-Identifier: GPL-3.0-or-later
// ElfNames: address -> function name in one ELF file, with its debug file's symbols, or those that
// it carries packed. No DWARF. Used by one thread of a confined process.
#pragma once

#include "loader/reader/elf/function_index.h"
#include "loader/reader/tables/function_bounds.h"
#include "loader/symbols/address_name.h"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace auger {

class ElfNames {
  public:
    // Nothing of it is read yet.
    explicit ElfNames(std::shared_ptr<const ElfFile> file);

    const ElfFile& file() const { return *file_; }
    // The file that has the module's DWARF, or null.
    const ElfFile* dwarf() const { return dwarf_.get(); }
    bool dwarf_is_apart() const { return dwarf_ && dwarf_ != file_; }
    size_t symbols() const { return symbols_; }

    // Reads its symbols, if they were not read; with them those of the debug file, or else those
    // that it carries packed, unpacked into `memory` (unpack_memory.h).
    void read(const std::shared_ptr<const ElfFile>& apart, int memory);
    AddressName find(const AddressQuery& query);

  private:
    void add_index(const std::shared_ptr<const ElfFile>& file);
    std::string unnamed(const AddressQuery& query);

    std::shared_ptr<const ElfFile> file_;
    std::shared_ptr<const ElfFile> dwarf_;
    bool was_read_ = false;
    size_t symbols_ = 0;
    std::vector<std::unique_ptr<FunctionIndex>> indices_; // those with most names first
    std::unordered_map<const FunctionIndex::Function*, std::string> demangled_;
    std::optional<FunctionBounds> bounds_; // read when they are asked for
};

} // namespace auger
