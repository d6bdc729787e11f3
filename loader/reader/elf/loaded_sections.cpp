// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/elf/loaded_sections.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace auger {
namespace {

constexpr size_t dynamic_limit = 64 << 10; // bytes; some hundred are usual
constexpr size_t table_limit = 64 << 20; // of a hash table's buckets or of unwinders' table, bytes

// The linked memory of a file.
class Memory {
  public:
    Memory(int fd, std::span<const ElfSegment> segments) : fd_(fd), segments_(segments) {}

    std::vector<std::byte> read(uint64_t address, size_t size) const {
        return read_loaded(fd_, segments_, address, size);
    }
    template <typename T>
    std::vector<T> values(uint64_t address, size_t count) const {
        const std::vector<std::byte> bytes = read(address, count * sizeof(T));
        std::vector<T> result(bytes.size() / sizeof(T));
        if (!result.empty())
            std::memcpy(result.data(), bytes.data(), result.size() * sizeof(T));
        return result;
    }
    // Null when it lies in no segment.
    const ElfSegment* segment(uint64_t address) const {
        const auto found = std::ranges::find_if(segments_, [&](const ElfSegment& segment) {
            return address >= segment.address && address - segment.address < segment.file_size;
        });
        return found == segments_.end() ? nullptr : &*found;
    }
    // As a section; empty when it does not lie in one segment.
    ElfSection section(uint64_t address, uint64_t size) const {
        const ElfSegment* at = segment(address);
        if (!at || size > at->file_size - (address - at->address))
            return {};
        return {address, at->offset + (address - at->address), size};
    }

  private:
    int fd_;
    std::span<const ElfSegment> segments_;
};

// How many symbols there are stands nowhere but in the hash tables.
uint64_t symbols_in_gnu_hash(const Memory& memory, uint64_t address) {
    const auto header = memory.values<uint32_t>(address, 4);
    if (header.size() < 4)
        return 0;
    const uint64_t buckets = header[0], first = header[1], bloom = header[2];
    if (buckets > table_limit / sizeof(uint32_t))
        return 0;
    const uint64_t buckets_at = address + 16 + bloom * 8;
    const auto heads = memory.values<uint32_t>(buckets_at, buckets);
    if (heads.empty())
        return 0;
    uint64_t last = *std::ranges::max_element(heads);
    if (last < first)
        return first; // nothing is exported
    // The chain that begins last ends with the last symbol, which has the lowest bit set.
    constexpr size_t step = 1024;
    for (uint64_t at = buckets_at + buckets * 4 + (last - first) * 4;; at += step * 4) {
        const auto chain = memory.values<uint32_t>(at, step);
        for (const uint32_t hash : chain) {
            last++;
            if (hash & 1)
                return last;
        }
        if (chain.size() < step)
            return last;
    }
}

uint64_t symbols_in_hash(const Memory& memory, uint64_t address) {
    const auto header = memory.values<uint32_t>(address, 2);
    return header.size() < 2 ? 0 : header[1];
}

// Where the last entry ends that the unwinders' table tells of; 0 when there is no such table.
uint64_t end_of_frames(const Memory& memory, uint64_t header, uint32_t count) {
    if (count > table_limit / 8)
        return 0;
    const auto table = memory.values<int32_t>(header + 12, size_t{count} * 2);
    uint64_t last = 0;
    for (size_t i = 1; i < table.size(); i += 2)
        last = std::max(last, header + static_cast<uint64_t>(int64_t{table[i]}));
    const auto length = memory.values<uint32_t>(last, 1);
    return last == 0 || length.empty() ? 0 : last + 4 + length[0];
}

ElfSection eh_frame(const Memory& memory, uint64_t header) {
    // In the one form that linkers write: relative pointers of four bytes (DW_EH_PE_pcrel and
    // _datarel | _sdata4), and a number of four bytes.
    struct Header {
        uint8_t version, pointer_form, count_form, table_form;
        int32_t pointer;
        uint32_t count;
    };
    const auto read = memory.values<Header>(header, 1);
    if (read.empty() || read[0].version != 1 || read[0].pointer_form != 0x1b)
        return {};
    const uint64_t begin = header + 4 + static_cast<uint64_t>(int64_t{read[0].pointer});
    const ElfSegment* segment = memory.segment(begin);
    if (!segment)
        return {};
    const bool has_table = read[0].count_form == 0x03 && read[0].table_form == 0x3b;
    const uint64_t end = has_table ? end_of_frames(memory, header, read[0].count) : 0;
    const uint64_t segment_end = segment->address + segment->file_size;
    return memory.section(begin, (end > begin ? std::min(end, segment_end) : segment_end) - begin);
}

} // namespace

std::vector<std::byte> read_loaded(int fd, std::span<const ElfSegment> segments, uint64_t address,
                                   size_t size) {
    for (const ElfSegment& segment : segments) {
        if (address < segment.address || address - segment.address >= segment.file_size)
            continue;
        const uint64_t into = address - segment.address;
        std::vector<std::byte> bytes;
        // Grows with what is really there, so that a lying size costs nothing.
        constexpr size_t step = size_t{1} << 20;
        const uint64_t wanted = std::min<uint64_t>(size, segment.file_size - into);
        while (bytes.size() < wanted) {
            const size_t before = bytes.size();
            bytes.resize(before + std::min<uint64_t>(step, wanted - before));
            const ssize_t got = pread(fd, bytes.data() + before, bytes.size() - before,
                                      static_cast<off_t>(segment.offset + into + before));
            bytes.resize(before + (got > 0 ? static_cast<size_t>(got) : 0));
            if (got == 0 || (got < 0 && errno != EINTR))
                break;
        }
        return bytes;
    }
    return {};
}

std::vector<std::pair<std::string, ElfSection>>
sections_of(int fd, std::span<const ElfSegment> segments, const LoadedParts& parts) {
    const Memory memory(fd, segments);
    std::vector<std::pair<std::string, ElfSection>> sections;
    const auto add = [&](const char* name, const ElfSection& section) {
        if (section.size)
            sections.emplace_back(name, section);
    };
    if (parts.eh_frame_header)
        add(".eh_frame", eh_frame(memory, parts.eh_frame_header));
    uint64_t symbols = 0, strings = 0, strings_size = 0, count = 0;
    const auto entries =
        parts.dynamic ? memory.values<Elf64_Dyn>(parts.dynamic, dynamic_limit / sizeof(Elf64_Dyn))
                      : std::vector<Elf64_Dyn>();
    for (const Elf64_Dyn& entry : entries) {
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_SYMTAB)
            symbols = entry.d_un.d_ptr;
        else if (entry.d_tag == DT_STRTAB)
            strings = entry.d_un.d_ptr;
        else if (entry.d_tag == DT_STRSZ)
            strings_size = entry.d_un.d_val;
        else if (entry.d_tag == DT_GNU_HASH)
            count = symbols_in_gnu_hash(memory, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_HASH && count == 0)
            count = symbols_in_hash(memory, entry.d_un.d_ptr);
    }
    if (symbols && strings && count) {
        add(".dynsym", memory.section(symbols, count * sizeof(Elf64_Sym)));
        add(".dynstr", memory.section(strings, strings_size));
    }
    return sections;
}

} // namespace auger
