// SPDX-License-Identifier: GPL-3.0-or-later
// ProgramHeaders: what a file says of how it is loaded. The whole of it is some hundred bytes with
// fixed places, read here by pread without any library, so that auger itself can do it for every
// file that is mapped. All of it is hostile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace auger {

// A loadable segment (PT_LOAD).
struct ElfSegment {
    uint64_t offset;      // in the file, bytes
    uint64_t address;     // virtual address as linked
    uint64_t file_size;   // bytes
    uint64_t memory_size; // bytes
    bool executable;
};

struct ProgramHeaders {
    std::vector<ElfSegment> segments;        // by address
    std::string build_id;                    // lower-case hexadecimal; empty: its notes have none
    std::optional<uint64_t> dynamic;         // address as linked of what PT_DYNAMIC, if any, is for
    std::optional<uint64_t> eh_frame_header; // likewise PT_GNU_EH_FRAME
};

// Nothing when it is no 64-bit ELF file of this machine. A file that lies has fewer of them.
std::optional<ProgramHeaders> read_program_headers(int fd);

// File offset <-> address as linked; nothing when outside of all segments' part of the file.
std::optional<uint64_t> address_of_offset(std::span<const ElfSegment> segments, uint64_t offset);
std::optional<uint64_t> offset_of_address(std::span<const ElfSegment> segments, uint64_t address);

// The description of the first GNU build-id note in a run of notes, in hexadecimal; empty when
// there is none.
std::string build_id_in_notes(std::span<const std::byte> notes);

} // namespace auger
