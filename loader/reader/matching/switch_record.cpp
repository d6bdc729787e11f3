// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/switch_record.h"

#include "loader/reader/tables/section_hash.h"

#include <cstring>
#include <type_traits>

namespace auger {
namespace {

// To be raised whenever find_switches() finds other things in the same file.
constexpr uint32_t version = 1;
constexpr uint64_t magic = 0x63747773; // "swtc"

struct Content {
    uint64_t magic;
    uint32_t version;
    uint16_t verdict; // ModuleSwitches::Verdict
    uint16_t cause;   // StackSwitch::Cause
    uint64_t address;
    uint64_t seed; // of the hash; nobody but the owner of the file knows it
    uint64_t hash; // of the ELF file and of the above
};
static_assert(std::is_trivially_copyable_v<Content> &&
              std::has_unique_object_representations_v<Content>);

// Of all that find_switches() looks at.
uint64_t hash_of(const ElfFile& file, Content content) {
    SeededHash hash(content.seed);
    content.seed = content.hash = 0; // of the hash's own seed as input it would forget all before
    hash.add(std::as_bytes(std::span(&content, 1)));
    hash.add(file.entry(), file.position_independent());
    for (const ElfSegment& segment : file.segments()) {
        hash.add(segment.offset, segment.address);
        hash.add(segment.file_size, segment.executable);
    }
    for (const auto& [begin, end] : file.code_ranges()) {
        hash.add(begin, end);
        hash.add(file.read_code(begin, end - begin));
    }
    for (const char* name : {".eh_frame", ".debug_frame", ".got", ".symtab", ".dynsym"}) {
        const auto section = file.section(name);
        hash.add(section.has_value(), section ? section->address : 0);
        if (section)
            add_content(hash, file, *section);
    }
    return hash.value();
}

} // namespace

std::vector<std::byte> encode_switches(const ModuleSwitches& switches, const ElfFile& file) {
    Content content{magic,
                    version,
                    static_cast<uint16_t>(switches.verdict),
                    static_cast<uint16_t>(switches.at.cause),
                    switches.at.address,
                    SeededHash::random_seed(),
                    0};
    content.hash = hash_of(file, content);
    const auto bytes = std::as_bytes(std::span(&content, 1));
    return {bytes.begin(), bytes.end()};
}

std::optional<ModuleSwitches> decode_switches(std::span<const std::byte> bytes,
                                              const ElfFile& file) {
    Content content;
    if (bytes.size() != sizeof content)
        return std::nullopt;
    std::memcpy(&content, bytes.data(), sizeof content);
    if (content.magic != magic || content.version != version ||
        content.verdict > static_cast<uint16_t>(ModuleSwitches::Verdict::unreadable) ||
        content.cause > static_cast<uint16_t>(StackSwitch::Cause::no_code) ||
        content.hash != hash_of(file, content))
        return std::nullopt;
    return ModuleSwitches{static_cast<ModuleSwitches::Verdict>(content.verdict),
                          {static_cast<StackSwitch::Cause>(content.cause), content.address}};
}

SwitchesRead read_switches(const ElfFile& file, std::span<const std::byte> record) {
    if (const auto known = decode_switches(record, file))
        return {text_of(*known, file), {}};
    const ModuleSwitches found = find_switches(file);
    return {text_of(found, file), encode_switches(found, file)};
}

} // namespace auger
