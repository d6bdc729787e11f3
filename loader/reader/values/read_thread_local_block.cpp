// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/read_thread_local_block.h"
#include "loader/arch/arch.h"

#include ARCH(machine.h)

#include <elf.h>
#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace auger {
namespace {

constexpr size_t section_limit = size_t{256} << 20; // bytes
constexpr size_t header_limit = 4096;
constexpr size_t slot_limit = 16; // that are compared
constexpr uint64_t page = 4096;

std::vector<Elf64_Sym> symbols_of(const ElfFile& file, std::string_view section) {
    const std::vector<std::byte> content = file.read_section(section, section_limit);
    std::vector<Elf64_Sym> symbols(content.size() / sizeof(Elf64_Sym));
    if (!symbols.empty())
        std::memcpy(symbols.data(), content.data(), symbols.size() * sizeof(Elf64_Sym));
    return symbols;
}

bool is_variable(const Elf64_Sym& symbol) {
    return ELF64_ST_TYPE(symbol.st_info) == STT_TLS && symbol.st_shndx != SHN_UNDEF;
}

bool is_named(const Elf64_Sym& symbol, const std::vector<std::byte>& names, std::string_view name) {
    return symbol.st_name < names.size() && names.size() - symbol.st_name > name.size() &&
           std::memcmp(names.data() + symbol.st_name, name.data(), name.size()) == 0 &&
           names[symbol.st_name + name.size()] == std::byte{0};
}

void read_headers(const ElfFile& file, ThreadLocalBlock& block) {
    elf_version(EV_CURRENT);
    Elf* elf = elf_begin(file.fd(), ELF_C_READ, nullptr);
    size_t count = 0;
    if (!elf || elf_getphdrnum(elf, &count) != 0)
        count = 0;
    for (size_t i = 0; i < std::min(count, header_limit); ++i) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, static_cast<int>(i), &header))
            break;
        block.interpreter = block.interpreter || header.p_type == PT_INTERP;
        if (header.p_type != PT_TLS || header.p_memsz > INT32_MAX || header.p_align > page)
            continue;
        const uint64_t align = std::max<uint64_t>(header.p_align, 1);
        block.size = (header.p_memsz + align - 1) / align * align;
    }
    elf_end(elf);
}

} // namespace

uint64_t thread_local_size(const ElfFile& file) {
    ThreadLocalBlock block;
    read_headers(file, block);
    return block.size;
}

ThreadLocalBlock read_thread_local_block(const ElfFile& file) {
    ThreadLocalBlock block;
    block.segments = file.segments();
    read_headers(file, block);
    for (auto [table, strings] :
         {std::pair(".dynsym", ".dynstr"), std::pair(".symtab", ".strtab")}) {
        if (block.error_number)
            break;
        const auto names = file.read_section(strings, section_limit);
        for (const Elf64_Sym& symbol : symbols_of(file, table))
            if (is_variable(symbol) && is_named(symbol, names, "errno"))
                block.error_number = symbol.st_value;
    }
    const std::vector<std::byte> relocations = file.read_section(".rela.dyn", section_limit);
    for (size_t at = 0;
         at + sizeof(Elf64_Rela) <= relocations.size() && block.slots.size() < slot_limit;
         at += sizeof(Elf64_Rela)) {
        Elf64_Rela entry;
        std::memcpy(&entry, relocations.data() + at, sizeof entry);
        if (ELF64_R_TYPE(entry.r_info) != relocation_thread)
            continue;
        // One with a symbol may be bound to another library's variable.
        if (ELF64_R_SYM(entry.r_info) == 0)
            block.slots.push_back({entry.r_offset, static_cast<uint64_t>(entry.r_addend)});
    }
    return block;
}

} // namespace auger
