// SPDX-License-Identifier: GPL-3.0-or-later
// ProcessEvent: what happened to a process, decoded from the kernel's perf records (MMAP2, COMM,
// FORK, EXIT, LOST). The decoder is pure and trusts no length, so tests feed it bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace auger {

struct ProcessEvent {
    enum class Kind : uint8_t {
        mmap, // an executable mapping came: address, length, offset, device, inode, text = path
        comm, // thread `tid` has a new name: text
        exec, // the process has a new image: text = its name; all older mappings are gone
        fork, // thread `tid` of process `pid` was born of `parent_tid` of `parent_pid`
        exit, // thread `tid` ended; the process too, when no thread is left
        lost, // the kernel dropped `lost` records: rescan /proc
    };
    Kind kind{};
    uint32_t pid = 0;
    uint32_t tid = 0;
    uint32_t parent_pid = 0;
    uint32_t parent_tid = 0;
    uint64_t time = 0; // CLOCK_MONOTONIC, ns
    uint64_t address = 0;
    uint64_t length = 0; // bytes
    uint64_t offset = 0; // of `address` in the file, bytes
    uint64_t device = 0; // makedev()
    uint64_t inode = 0;
    uint64_t lost = 0;
    std::string text;

    bool new_process() const { return kind == Kind::fork && pid != parent_pid; }
};

enum class Decoded { event, ignored, malformed };

// One whole record (header included), as of events with sample_id_all and
// PERF_SAMPLE_TID | PERF_SAMPLE_TIME. `ignored`: a type we do not use.
Decoded decode_perf_record(std::span<const std::byte> record, ProcessEvent& event);

} // namespace auger
