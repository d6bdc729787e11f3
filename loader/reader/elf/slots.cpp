// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/elf/slots.h"
#include "loader/arch/arch.h"

#include ARCH(machine.h)

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace auger {
namespace {

constexpr size_t slot_section_limit = size_t{512} << 20; // bytes

} // namespace

Slots::Slots(std::shared_ptr<const ElfFile> file) : file_(std::move(file)) {
    symbols_ = file_->read_section(".dynsym", slot_section_limit);
    strings_ = file_->read_section(".dynstr", slot_section_limit);
    for (const char* section : {".rela.dyn", ".rela.plt", ".rela.iplt"})
        read(section);
    std::sort(relocations_.begin(), relocations_.end(),
              [](const Relocation& a, const Relocation& b) { return a.slot < b.slot; });
}

void Slots::read(std::string_view section) {
    const std::vector<std::byte> content = file_->read_section(section, slot_section_limit);
    for (size_t at = 0; at + sizeof(Elf64_Rela) <= content.size(); at += sizeof(Elf64_Rela)) {
        Elf64_Rela entry;
        std::memcpy(&entry, content.data() + at, sizeof entry);
        const auto addend = static_cast<uint64_t>(entry.r_addend);
        const auto symbol = static_cast<uint32_t>(ELF64_R_SYM(entry.r_info));
        switch (ELF64_R_TYPE(entry.r_info)) {
        case relocation_call_slot:
        case relocation_slot:
            relocations_.push_back({entry.r_offset, 0, symbol, false, true});
            break;
        case relocation_address:
            // With an addend it is a place inside something, which nobody calls.
            if (addend == 0)
                relocations_.push_back({entry.r_offset, 0, symbol, false, false});
            break;
        case relocation_relative:
            relocations_.push_back({entry.r_offset, addend, 0, false, false});
            break;
        case relocation_resolved:
            relocations_.push_back({entry.r_offset, addend, 0, true, true});
            break;
        }
    }
}

std::string_view Slots::symbol_name(uint32_t symbol) const {
    const uint64_t at = uint64_t{symbol} * sizeof(Elf64_Sym);
    if (symbol == 0 || at + sizeof(Elf64_Sym) > symbols_.size())
        return {};
    Elf64_Sym entry;
    std::memcpy(&entry, symbols_.data() + at, sizeof entry);
    if (entry.st_name >= strings_.size())
        return {};
    const char* text = reinterpret_cast<const char*>(strings_.data()) + entry.st_name;
    const size_t room = strings_.size() - entry.st_name;
    const void* end = std::memchr(text, 0, room);
    return end ? std::string_view(text, static_cast<const char*>(end) - text) : std::string_view();
}

std::vector<Slots::Stub> Slots::stubs() const {
    std::vector<Stub> found;
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols_.size(); at += sizeof(Elf64_Sym)) {
        Elf64_Sym entry;
        std::memcpy(&entry, symbols_.data() + at, sizeof entry);
        if (entry.st_shndx != SHN_UNDEF || !entry.st_value ||
            ELF64_ST_TYPE(entry.st_info) != STT_FUNC)
            continue;
        const auto name = symbol_name(static_cast<uint32_t>(at / sizeof entry));
        if (!name.empty())
            found.push_back({name, entry.st_value});
    }
    return found;
}

Slots::Value Slots::at(uint64_t slot) const {
    const auto found = std::lower_bound(
        relocations_.begin(), relocations_.end(), slot,
        [](const Relocation& relocation, uint64_t value) { return relocation.slot < value; });
    if (found != relocations_.end() && found->slot == slot)
        return {symbol_name(found->symbol), found->address, found->ifunc, found->for_calls};
    const std::vector<std::byte> content = file_->read_code(slot, sizeof(uint64_t));
    Value value;
    if (content.size() == sizeof(uint64_t))
        std::memcpy(&value.address, content.data(), sizeof value.address);
    return value;
}

} // namespace auger
