// SPDX-License-Identifier: GPL-3.0-or-later
// libdw is kept from opening files by itself, as their names come from the target and might be
// FIFOs: the dwz file is found here, and functions that look for .dwo files are not called.
#include "loader/reader/dwarf/dwarf_file.h"

#include "loader/reader/names/elf_questions.h"
#include "loader/symbols/dwarf_source.h"

#include <gelf.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

namespace auger {
namespace {

constexpr size_t section_limit = size_t{4} << 30; // bytes of DWARF of one file
constexpr const char* too_large = "sections too large to be true, or larger than 4 GiB";

Error dwarf_error(const ElfFile& file, const char* cause) {
    return {"read line information of", file.name(), cause ? cause : "no DWARF", {}};
}

// Bytes of all .debug_* sections, and of .debug_info alone, once inflated.
struct DebugBytes {
    size_t total = 0;
    size_t info = 0;
};

// Nothing when a section claims what cannot be.
std::optional<DebugBytes> debug_bytes(Elf* elf) {
    size_t names;
    DebugBytes bytes;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return std::nullopt;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
            continue;
        const char* name = elf_strptr(elf, names, header.sh_name);
        const std::string_view text = name ? name : "";
        if (!text.starts_with(".debug_") && !text.starts_with(".zdebug_"))
            continue;
        uint64_t size = header.sh_size;
        if (header.sh_flags & SHF_COMPRESSED) {
            GElf_Chdr compressed;
            // zlib inflates at most about 1,032 times.
            if (!gelf_getchdr(section, &compressed) || compressed.ch_size / 1100 > header.sh_size)
                return std::nullopt;
            size = compressed.ch_size;
        }
        if (size > section_limit - bytes.total)
            return std::nullopt;
        bytes.total += size;
        if (text == ".debug_info")
            bytes.info = size;
    }
    return bytes;
}

std::optional<DebugBytes> debug_bytes(const ElfFile& file) {
    elf_version(EV_CURRENT);
    Elf* headers = elf_begin(file.fd(), ELF_C_READ, nullptr);
    const auto bytes = headers ? debug_bytes(headers) : std::nullopt;
    elf_end(headers);
    return bytes;
}

// libdw takes it that a table of strings ends in a zero, and reads on behind one that does not. The
// tables are libelf's own memory (the file was read, not mapped).
void end_strings(Elf* elf) {
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
            continue;
        const char* name = elf_strptr(elf, names, header.sh_name);
        const std::string_view text = name ? name : "";
        if (!text.ends_with("debug_str") && !text.ends_with("debug_line_str"))
            continue;
        const Elf_Data* data = elf_rawdata(section, nullptr);
        if (data && data->d_buf && data->d_size > 0)
            static_cast<char*>(data->d_buf)[data->d_size - 1] = 0;
    }
}

// Reading (not mapping) keeps a file that shrinks from raising SIGBUS.
Dwarf* open_dwarf(int fd, Elf*& elf) {
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, nullptr);
    Dwarf* dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, nullptr) : nullptr;
    if (dwarf)
        end_strings(elf);
    return dwarf;
}

} // namespace

DwarfFile::~DwarfFile() {
    dwarf_end(dwarf_);
    dwarf_end(alternative_);
    elf_end(elf_);
    elf_end(alternative_elf_);
}

bool has_dwarf(const ElfFile& file) {
    return file.has_section(".debug_info") || file.has_section(".zdebug_info");
}

std::optional<std::string> alternative_build_id(const ElfFile& file) {
    constexpr std::string_view section = ".gnu_debugaltlink";
    if (!file.has_section(section))
        return std::nullopt;
    // A path, its zero, and a build id.
    constexpr size_t limit = 8192, longest_id = 64;
    const std::vector<std::byte> content = file.read_section(section, limit);
    const auto name_end = std::ranges::find(content, std::byte{0});
    const std::span id(name_end == content.end() ? content.end() : name_end + 1, content.end());
    std::string build_id;
    if (id.size() > longest_id)
        return build_id;
    for (const std::byte byte : id) {
        constexpr char digits[] = "0123456789abcdef";
        build_id += digits[static_cast<unsigned>(byte) >> 4];
        build_id += digits[static_cast<unsigned>(byte) & 15];
    }
    return build_id;
}

Result<std::shared_ptr<const ElfFile>> alternative_file(const ElfFile& file,
                                                        const DebugFolders& folders) {
    const auto build_id = alternative_build_id(file);
    if (!build_id)
        return std::shared_ptr<const ElfFile>();
    if (build_id->empty())
        return dwarf_error(file, damaged_alternative);
    ElfQuestions questions;
    const auto found = debug_file_by_build_id(*build_id, file.fd(), folders, questions);
    auto elf = found ? open_elf(*found) : nullptr;
    if (!elf)
        return dwarf_error(file, no_alternative);
    return elf;
}

Result<std::unique_ptr<DwarfFile>> DwarfFile::open(std::shared_ptr<const ElfFile> file,
                                                   const DebugFolders& folders) {
    auto alternative = alternative_file(*file, folders);
    if (!alternative)
        return alternative.error();
    return open(std::move(file), *std::move(alternative));
}

Result<std::unique_ptr<DwarfFile>> DwarfFile::open(std::shared_ptr<const ElfFile> file,
                                                   std::shared_ptr<const ElfFile> alternative) {
    std::unique_ptr<DwarfFile> opened(new DwarfFile(std::move(file)));
    const ElfFile& elf = *opened->file_;
    if (!has_dwarf(elf))
        return dwarf_error(elf, nullptr);
    const auto bytes = debug_bytes(elf);
    if (!bytes)
        return dwarf_error(elf, too_large);
    opened->section_bytes_ = bytes->total;
    opened->info_bytes_ = bytes->info;
    opened->dwarf_ = open_dwarf(elf.fd(), opened->elf_);
    if (!opened->dwarf_)
        return dwarf_error(elf, dwarf_errmsg(-1));
    opened->alternative_file_ = std::move(alternative);
    if (opened->alternative_file_)
        if (auto alternative_opened = opened->open_alternative(); !alternative_opened)
            return alternative_opened.error();
    return opened;
}

Result<void> DwarfFile::open_alternative() {
    const auto bytes = debug_bytes(*alternative_file_);
    if (!bytes)
        return dwarf_error(*alternative_file_, too_large);
    section_bytes_ += bytes->total;
    alternative_ = open_dwarf(alternative_file_->fd(), alternative_elf_);
    if (!alternative_)
        return dwarf_error(*alternative_file_, dwarf_errmsg(-1));
    dwarf_setalt(dwarf_, alternative_);
    return {};
}

} // namespace auger
