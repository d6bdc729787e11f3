// SPDX-License-Identifier: GPL-3.0-or-later
// libelf reads headers and section tables; every number that it hands on is checked here before
// use.
#include "loader/reader/elf/elf_file.h"

#include "loader/arch/arch.h"
#include "loader/elf/bounded_reading.h"
#include "loader/reader/elf/elf_sections.h"
#include "loader/reader/elf/elf_symbols.h"
#include "loader/reader/elf/loaded_sections.h"
#include "loader/reader/elf/relocations.h"

#include ARCH(machine.h)

#include <elf.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_set>
#include <utility>

namespace auger {
namespace {

// Larger tables than these do not occur in honest files (22 million symbols); they bound what a
// lying file, which may be sparse, can cost.
constexpr size_t symbol_section_limit = size_t{512} << 20;
constexpr size_t note_section_limit = size_t{1} << 20;
constexpr size_t all_notes_limit = size_t{16} << 20;
constexpr size_t needed_limit = 1024; // libraries

constexpr const char* go_table_sections[] = {".gopclntab", ".data.rel.ro.gopclntab"};
// Where linkers other than Go's own put the table, with other data.
constexpr const char* joined_data_section = ".data.rel.ro";
constexpr const char* go_table_places[] = {go_table_sections[0], go_table_sections[1],
                                           joined_data_section};
constexpr size_t go_table_limit = size_t{256} << 20;

// Sections that are loaded are not compressed: they have no more than they take in the file.
size_t go_table_size(const ElfSection& section) {
    return std::min<uint64_t>(section.size, go_table_limit);
}

struct GoFunctions {
    std::vector<std::byte> content; // what the table points into
    std::optional<GoTable> table;
    uint64_t address = 0; // of the table, as linked
};

} // namespace

struct ElfFile::State {
    UniqueFd fd;
    std::string name;
    uint64_t device = 0;
    uint64_t inode = 0;
    std::string build_id;
    std::optional<DebugLink> debug_link;
    std::vector<ElfSegment> segments;
    std::vector<std::string> needed;
    std::vector<std::pair<std::string, ElfSection>> sections; // by name
    std::vector<std::pair<uint64_t, uint64_t>> code_sections; // [begin, end) as linked
    uint64_t entry = 0;
    bool position_independent = false;
    bool dynamic = false;
    bool has_symbols = false;
    bool has_section_headers = false;
    LoadedParts loaded;

    mutable std::once_flag symbols_once;
    mutable ElfSymbols symbols;
    mutable std::once_flag go_once;
    mutable GoFunctions go;

    void read_segments();
    void read_sections(Elf* elf);
    void read_symbols(Elf* elf, const ElfFile& file) const;
    void read_symbol_section(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) const;
    std::optional<ElfSection> section(std::string_view wanted) const;
    std::vector<std::byte> loaded_section(std::string_view wanted, size_t limit) const;
    const ElfSymbols& loaded_symbols(const ElfFile& file) const {
        std::call_once(symbols_once, [&] {
            if (ElfHandle elf = open_elf(fd.get()))
                read_symbols(elf.get(), file);
        });
        return symbols;
    }
    void read_go_table(const ElfFile& file) const;
};

void ElfFile::State::read_segments() {
    auto headers = read_program_headers(fd.get());
    if (!headers)
        return;
    segments = std::move(headers->segments);
    build_id = std::move(headers->build_id);
    dynamic = headers->dynamic.has_value();
    loaded = {headers->dynamic.value_or(0), headers->eh_frame_header.value_or(0)};
}

void ElfFile::State::read_sections(Elf* elf) {
    SectionNames names(fd.get(), elf);
    size_t notes_read = 0;
    bool dynamic_read = false;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section));) {
        has_section_headers = true;
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        std::string section_name(names.of(header));
        if (header.sh_type == SHT_SYMTAB)
            has_symbols = true;
        uint64_t end;
        if ((header.sh_flags & SHF_EXECINSTR) &&
            !__builtin_add_overflow(header.sh_addr, header.sh_size, &end))
            code_sections.emplace_back(header.sh_addr, end);
        if (header.sh_type == SHT_NOTE && build_id.empty() &&
            header.sh_size <= all_notes_limit - notes_read) {
            notes_read += header.sh_size;
            build_id = build_id_in_notes(section_content(fd.get(), section, note_section_limit));
        }
        if (section_name == ".gnu_debuglink") {
            std::vector<std::byte> content = section_content(fd.get(), section, note_section_limit);
            std::string_view file = StringTable(content).at(0, section_name_limit);
            size_t crc_at = (file.size() + 4) & ~size_t{3};
            // Only a plain file name: a path would lead out of the folders we search.
            if (!file.empty() && file.find('/') == file.npos && crc_at + 4 <= content.size()) {
                uint32_t crc;
                std::memcpy(&crc, content.data() + crc_at, sizeof crc);
                debug_link = DebugLink{std::string(file), crc};
            }
        }
        if (header.sh_type == SHT_DYNAMIC && !dynamic_read) {
            dynamic_read = true;
            std::vector<std::byte> entries = section_content(fd.get(), section, note_section_limit);
            Elf_Scn* text = elf_getscn(elf, header.sh_link);
            std::vector<std::byte> table =
                text ? section_content(fd.get(), text, symbol_section_limit)
                     : std::vector<std::byte>();
            StringTable libraries(table);
            for (size_t at = 0;
                 at + sizeof(Elf64_Dyn) <= entries.size() && needed.size() < needed_limit;
                 at += sizeof(Elf64_Dyn)) {
                Elf64_Dyn entry;
                std::memcpy(&entry, entries.data() + at, sizeof entry);
                if (entry.d_tag == DT_NULL)
                    break;
                if (entry.d_tag != DT_NEEDED)
                    continue;
                const std::string_view library = libraries.at(entry.d_un.d_val, section_name_limit);
                if (!library.empty())
                    needed.emplace_back(library);
            }
        }
        sections.emplace_back(std::move(section_name),
                              ElfSection{header.sh_addr, header.sh_offset, header.sh_size});
    }
}

void ElfFile::State::read_symbol_section(Elf* elf, Elf_Scn* section,
                                         const GElf_Shdr& header) const {
    Elf_Scn* string_section = elf_getscn(elf, header.sh_link);
    GElf_Shdr strings;
    // No linker compresses them.
    if (!string_section || !gelf_getshdr(string_section, &strings) ||
        ((header.sh_flags | strings.sh_flags) & SHF_COMPRESSED))
        return;
    symbols.read(section_content(fd.get(), section, symbol_section_limit),
                 section_content(fd.get(), string_section, symbol_section_limit),
                 header.sh_type == SHT_DYNSYM);
}

std::optional<ElfSection> ElfFile::State::section(std::string_view wanted) const {
    for (const auto& [section_name, section] : sections)
        if (section_name == wanted)
            return section;
    return std::nullopt;
}

std::vector<std::byte> ElfFile::State::loaded_section(std::string_view wanted, size_t limit) const {
    const auto found = section(wanted);
    return found && found->size <= limit
               ? read_loaded(fd.get(), segments, found->address, found->size)
               : std::vector<std::byte>();
}

void ElfFile::State::read_symbols(Elf* elf, const ElfFile& file) const {
    // There is one of each kind at most.
    bool read[2] = {};
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) &&
            (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) &&
            !std::exchange(read[header.sh_type == SHT_DYNSYM], true))
            read_symbol_section(elf, section, header);
    }
    if (!has_section_headers)
        symbols.read(loaded_section(".dynsym", symbol_section_limit),
                     loaded_section(".dynstr", symbol_section_limit), true);
    if (const GoTable* table = has_symbols ? nullptr : file.go_table())
        for (const GoFunction& function : table->functions())
            symbols.functions.push_back(
                {function.begin, function.end - function.begin, function.name, false, true});
    symbols.put_in_order();
}

void ElfFile::State::read_go_table(const ElfFile& file) const {
    const auto text = file.section(".text");
    for (const char* name : go_table_places) {
        const auto section = file.section(name);
        if (!file.is_go() || !section || !text)
            continue;
        go.content = file.read_section(name, go_table_size(*section));
        const size_t offset = name == joined_data_section ? GoTable::find(go.content) : 0;
        go.address = section->address + offset;
        // Where the linker has left the address of the code to the dynamic linker.
        const auto start = relative_relocation(file, go.address + GoTable::text_offset);
        go.table = GoTable::read(std::span<const std::byte>(go.content).subspan(offset),
                                 start.value_or(text->address));
        if (go.table)
            return;
    }
}

Result<std::shared_ptr<const ElfFile>> ElfFile::open(UniqueFd fd, std::string name) {
    struct stat status;
    if (fstat(fd.get(), &status) != 0)
        return system_error("open ELF file", name);
    // Reading a FIFO or a device could block for ever.
    if (!S_ISREG(status.st_mode))
        return Error{"open ELF file", name, "not a regular file", {}};
    ElfHandle elf = open_elf(fd.get());
    if (!elf)
        return Error{"open ELF file", name, elf_cause(), {}};
    GElf_Ehdr header;
    if (elf_kind(elf.get()) != ELF_K_ELF || !gelf_getehdr(elf.get(), &header))
        return Error{"open ELF file", name, "not an ELF file", {}};
    if (gelf_getclass(elf.get()) != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != elf_machine)
        return Error{"open ELF file", name, fmt::format("not a 64-bit {} file", machine_name),
                     fmt::format("auger observes {} programs only", machine_name),
                     Error::Kind::unsupported};

    auto state = std::make_unique<State>();
    state->fd = std::move(fd);
    state->name = std::move(name);
    state->device = status.st_dev;
    state->inode = status.st_ino;
    state->entry = header.e_entry;
    state->position_independent = header.e_type == ET_DYN;
    state->read_segments();
    state->read_sections(elf.get());
    if (!state->has_section_headers)
        state->sections = sections_of(state->fd.get(), state->segments, state->loaded);
    return std::shared_ptr<const ElfFile>(new ElfFile(std::move(state)));
}

ElfFile::ElfFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
ElfFile::~ElfFile() = default;

int ElfFile::fd() const {
    return state_->fd.get();
}
const std::string& ElfFile::name() const {
    return state_->name;
}
uint64_t ElfFile::device() const {
    return state_->device;
}
uint64_t ElfFile::inode() const {
    return state_->inode;
}
const std::string& ElfFile::build_id() const {
    return state_->build_id;
}
const std::optional<DebugLink>& ElfFile::debug_link() const {
    return state_->debug_link;
}
const std::vector<ElfSegment>& ElfFile::segments() const {
    return state_->segments;
}
uint64_t ElfFile::entry() const {
    return state_->entry;
}
bool ElfFile::position_independent() const {
    return state_->position_independent;
}
bool ElfFile::dynamic() const {
    return state_->dynamic;
}
bool ElfFile::has_symbols() const {
    return state_->has_symbols;
}

bool ElfFile::is_go() const {
    return std::ranges::any_of(go_table_sections,
                               [this](const char* name) { return has_section(name); }) ||
           has_section(".note.go.buildid") || has_section(".go.buildinfo");
}

std::optional<ElfSection> ElfFile::section(std::string_view name) const {
    return state_->section(name);
}

std::optional<uint64_t> ElfFile::address_of_offset(uint64_t offset) const {
    return auger::address_of_offset(state_->segments, offset);
}

std::optional<uint64_t> ElfFile::offset_of_address(uint64_t address) const {
    return auger::offset_of_address(state_->segments, address);
}

bool ElfFile::is_executable(uint64_t address) const {
    return std::ranges::any_of(state_->segments, [&](const ElfSegment& segment) {
        return segment.executable && address >= segment.address &&
               address - segment.address < segment.file_size;
    });
}

uint64_t ElfFile::code_end(uint64_t address) const {
    for (const ElfSegment& segment : state_->segments) {
        // Not file_size: a separate debug file has the symbols, and none of the segment's bytes.
        if (address < segment.address || address - segment.address >= segment.memory_size)
            continue;
        uint64_t end = segment.address + segment.memory_size;
        for (auto [first, last] : state_->code_sections)
            if (address >= first && address < last)
                return std::min(end, last);
        return end;
    }
    return address;
}

std::vector<std::pair<uint64_t, uint64_t>> ElfFile::code_ranges() const {
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (const ElfSegment& segment : state_->segments) {
        if (!segment.executable)
            continue;
        const uint64_t end = segment.address + segment.file_size;
        if (state_->code_sections.empty())
            ranges.emplace_back(segment.address, end);
        for (const auto& [first, last] : state_->code_sections)
            if (first < end && last > segment.address)
                ranges.emplace_back(std::max(first, segment.address), std::min(last, end));
    }
    std::sort(ranges.begin(), ranges.end());
    for (size_t i = 1; i < ranges.size(); ++i)
        ranges[i].first = std::max(ranges[i].first, ranges[i - 1].second);
    std::erase_if(ranges, [](const auto& range) { return range.first >= range.second; });
    return ranges;
}

const std::vector<ElfFunction>& ElfFile::functions() const {
    return state_->loaded_symbols(*this).functions;
}
const GoTable* ElfFile::go_table() const {
    std::call_once(state_->go_once, [this] { state_->read_go_table(*this); });
    return state_->go.table ? &*state_->go.table : nullptr;
}
uint64_t ElfFile::go_table_address() const {
    return go_table() ? state_->go.address : 0;
}
size_t ElfFile::go_table_bytes() const {
    uint64_t bytes = 0;
    for (const char* name : go_table_places)
        if (const auto section = is_go() ? this->section(name) : std::nullopt)
            bytes = std::max<uint64_t>(bytes, go_table_size(*section));
    return bytes;
}
const std::vector<std::string_view>& ElfFile::imports() const {
    return state_->loaded_symbols(*this).imports;
}
const std::vector<std::string>& ElfFile::needed() const {
    return state_->needed;
}

std::vector<std::byte> ElfFile::read_code(uint64_t address, size_t size) const {
    return read_loaded(fd(), state_->segments, address, size);
}

std::vector<std::byte> ElfFile::read_section(std::string_view name, size_t limit) const {
    if (!state_->has_section_headers)
        return state_->loaded_section(name, limit);
    ElfHandle elf = open_elf(fd());
    Elf_Scn* section = elf ? find_section(fd(), elf.get(), name) : nullptr;
    return section ? section_content(fd(), section, limit) : std::vector<std::byte>();
}

} // namespace auger
