// SPDX-License-Identifier: GPL-3.0-or-later
// It is known by what it begins with since Go 1.16: the address of the table of functions, and
// slices (address, length, capacity) of the table's parts.
#include "loader/reader/elf/go_module_data.h"

#include "loader/reader/elf/relocations.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

namespace auger {
namespace {

constexpr size_t module_words = 64;
constexpr size_t module_section_limit = size_t{64} << 20; // bytes
constexpr size_t most_modules = 16;                       // that seem to begin somewhere

// .go.module: since Go 1.26.
constexpr const char* module_sections[] = {".go.module", ".noptrdata", ".data", ".data.rel.ro"};

using ModuleWords = std::array<uint64_t, module_words>;

class ModuleSearch {
  public:
    ModuleSearch(const ElfFile& file, const GoTable& table)
        : file_(file), layout_(table.layout()), address_(file.go_table_address()) {}

    std::vector<uint64_t> search() const {
        for (const char* section : module_sections)
            if (auto words = search_bytes(file_.read_section(section, module_section_limit));
                !words.empty())
                return words;
        return search_relocations();
    }

  private:
    bool is_module(const ModuleWords& words) const {
        const std::pair<size_t, uint64_t> parts[] = {{1, layout_.names_at},
                                                     {4, layout_.units_at},
                                                     {7, layout_.files_at},
                                                     {10, layout_.programs_at},
                                                     {13, layout_.functions_at}};
        return words[0] == address_ &&
               std::ranges::all_of(parts, [&](const std::pair<size_t, uint64_t>& part) {
                   return words[part.first] == address_ + part.second;
               });
    }

    std::vector<uint64_t> search_bytes(std::span<const std::byte> bytes) const {
        for (size_t at = 0; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
            if (number_at<uint64_t>(bytes, at) != address_)
                continue;
            ModuleWords words = {};
            const size_t size = std::min(sizeof words, bytes.size() - at);
            std::memcpy(words.data(), &bytes[at], size / sizeof(uint64_t) * sizeof(uint64_t));
            if (is_module(words))
                return {words.begin(), words.end()};
        }
        return {};
    }

    // Where the dynamic linker writes them.
    std::vector<uint64_t> search_relocations() const {
        const std::vector<RelativeRelocation> relocations = relative_relocations(file_);
        std::vector<uint64_t> begins;
        for (const RelativeRelocation& relocation : relocations)
            if (relocation.value == address_ && begins.size() < most_modules)
                begins.push_back(relocation.address);
        for (const uint64_t begin : begins) {
            ModuleWords words = {};
            for (const RelativeRelocation& relocation : relocations)
                if (const uint64_t into = relocation.address - begin; into < sizeof words)
                    words[into / sizeof(uint64_t)] = relocation.value;
            if (is_module(words))
                return {words.begin(), words.end()};
        }
        return {};
    }

    const ElfFile& file_;
    const GoTableLayout& layout_;
    uint64_t address_;
};

} // namespace

std::vector<uint64_t> read_go_module_data(const ElfFile& file) {
    const GoTable* table = file.go_table();
    return table && table->layout().has_lines() ? ModuleSearch(file, *table).search()
                                                : std::vector<uint64_t>();
}

} // namespace auger
