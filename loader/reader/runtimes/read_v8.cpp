// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/runtimes/read_v8.h"

#include "loader/reader/runtimes/v8_handlers.h"

#include <elf.h>

#include <algorithm>
#include <bitset>
#include <cstring>
#include <string_view>
#include <utility>

namespace auger {
namespace {

// What node exports for its modules. Of other files with V8 (Chromium) nothing is known.
constexpr std::string_view exported = "_ZN2v87Isolate10GetCurrentEv";
constexpr size_t texts_limit = 64 << 20, symbols_limit = 64 << 20; // bytes; node's are 6 MB
constexpr size_t name_limit = 128;                                 // of what is asked for
constexpr size_t claims_limit = 4096;                              // variables that are read

std::string_view text_of(const std::vector<std::byte>& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view name_at(std::string_view texts, size_t at) {
    texts = at < texts.size() ? texts.substr(at, name_limit) : std::string_view();
    const size_t end = texts.find('\0');
    return end == texts.npos ? std::string_view() : texts.substr(0, end);
}

std::optional<int32_t> value_at(const ElfFile& file, uint64_t address) {
    int32_t value;
    const auto bytes = file.read_code(address, sizeof value);
    if (bytes.size() != sizeof value)
        return std::nullopt;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

// What the symbols of a table say. A constant that several claim otherwise is none.
class Claims {
  public:
    Claims(const ElfFile& file, V8File& v8) : file_(file), v8_(v8) {}

    void take(std::string_view name, uint64_t address) {
        const auto part = v8_version_part_named(name);
        const auto constant = v8_constant_named(name);
        if ((!part && !constant) || ++claims_ > claims_limit)
            return;
        const auto value = value_at(file_, address);
        if (part)
            v8_.version[*part] = value.value_or(0);
        if (!constant)
            return;
        const auto index = static_cast<size_t>(*constant);
        std::optional<int32_t>& known = v8_.constants[index];
        if (value && !refused_[index] && (!known || *known == *value)) {
            known = value;
        } else {
            known.reset();
            refused_[index] = true;
        }
    }

  private:
    const ElfFile& file_;
    V8File& v8_;
    std::bitset<V8File::constants_count> refused_;
    size_t claims_ = 0;
};

} // namespace

std::optional<V8File> read_v8(const ElfFile& file) {
    // Of nearly every file this is all that is read.
    const auto section = file.section(".dynstr");
    if (!section || section->size > texts_limit)
        return std::nullopt;
    if (text_of(file.read_section(".dynstr", texts_limit)).find(exported) == std::string_view::npos)
        return std::nullopt;
    V8File v8;
    Claims claims(file, v8);
    for (const auto& [table, strings] :
         {std::pair{".dynsym", ".dynstr"}, std::pair{".symtab", ".strtab"}}) {
        const auto bytes = file.read_section(table, symbols_limit);
        const auto string_bytes = file.read_section(strings, texts_limit);
        const std::string_view texts = text_of(string_bytes);
        for (size_t at = 0; at + sizeof(Elf64_Sym) <= bytes.size(); at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            std::memcpy(&symbol, &bytes[at], sizeof symbol);
            if (symbol.st_shndx == SHN_UNDEF || symbol.st_size != sizeof(int32_t) ||
                ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT)
                continue;
            claims.take(name_at(texts, symbol.st_name), symbol.st_value);
        }
        const bool has_some =
            std::ranges::any_of(v8.constants, [](const auto& one) { return one.has_value(); });
        if (has_some)
            break;
    }
    v8.offset_places = v8_offset_places(file, v8);
    return v8;
}

} // namespace auger
