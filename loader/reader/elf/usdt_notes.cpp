// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/elf/usdt_notes.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace auger {
namespace {

constexpr const char* notes_section = ".note.stapsdt";
constexpr const char* base_section = ".stapsdt.base";
constexpr size_t notes_section_limit = size_t{16} << 20;
constexpr std::string_view note_owner{"stapsdt", 8}; // with its zero
constexpr uint32_t probe_note = 3;
constexpr size_t longest_usdt_text = 256, longest_usdt_arguments = 4096; // bytes

uint64_t to_four(uint64_t size) {
    return (size + 3) & ~uint64_t{3};
}

// The text up to its zero, and what is behind it; false: there is no zero.
bool take_string(std::string_view& from, std::string_view& text) {
    const size_t end = from.find('\0');
    if (end == from.npos)
        return false;
    text = from.substr(0, end);
    from.remove_prefix(end + 1);
    return true;
}

bool is_printable(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
}

std::optional<UsdtNote> read_note(std::span<const std::byte> description,
                                  std::optional<uint64_t> base) {
    std::array<uint64_t, 3> words{}; // the site, .stapsdt.base when that was linked, the semaphore
    if (description.size() < sizeof words)
        return std::nullopt;
    std::memcpy(words.data(), description.data(), sizeof words);
    std::string_view texts(reinterpret_cast<const char*>(description.data()) + sizeof words,
                           description.size() - sizeof words);
    UsdtNote note{};
    if (!take_string(texts, note.provider) || !take_string(texts, note.name) ||
        !take_string(texts, note.arguments))
        return std::nullopt;
    if (note.provider.empty() || note.name.empty() || note.provider.size() > longest_usdt_text ||
        note.name.size() > longest_usdt_text || note.arguments.size() > longest_usdt_arguments ||
        !is_printable(note.provider) || !is_printable(note.name) || !is_printable(note.arguments))
        return std::nullopt;
    // Who moves a file (prelink) does not know of notes: all of it has gone as far as that section.
    const uint64_t moved = base && words[1] ? *base - words[1] : 0;
    // Code that the linker has left out keeps its note.
    if (words[0] == 0)
        return std::nullopt;
    note.address = words[0] + moved;
    if (words[2] != 0)
        note.semaphore = words[2] + moved;
    return note;
}

} // namespace

std::vector<UsdtNote> parse_usdt_notes(std::span<const std::byte> section,
                                       std::optional<uint64_t> base) {
    std::vector<UsdtNote> notes;
    while (section.size() >= sizeof(Elf64_Nhdr) && notes.size() < most_usdt_notes) {
        Elf64_Nhdr header;
        std::memcpy(&header, section.data(), sizeof header);
        const uint64_t at = sizeof header + to_four(header.n_namesz);
        const uint64_t end = at + header.n_descsz;
        if (end > section.size())
            break;
        if (header.n_type == probe_note && header.n_namesz == note_owner.size() &&
            std::memcmp(section.data() + sizeof header, note_owner.data(), note_owner.size()) == 0)
            if (auto note = read_note(section.subspan(at, header.n_descsz), base))
                notes.push_back(*note);
        section =
            section.subspan(std::min<uint64_t>(at + to_four(header.n_descsz), section.size()));
    }
    return notes;
}

UsdtNotes::UsdtNotes(const ElfFile& file) {
    if (!file.has_section(notes_section))
        return;
    section_ = file.read_section(notes_section, notes_section_limit);
    const auto base = file.section(base_section);
    notes_ = parse_usdt_notes(section_, base ? std::optional(base->address) : std::nullopt);
}

} // namespace auger
