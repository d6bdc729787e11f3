// SPDX-License-Identifier: GPL-3.0-or-later
// A recording: the event stream in a file.
//
//   header  16 bytes: magic, format version (fixed 32), crc32 of what precedes it
//   blocks  each: crc32 of the rest of the block, stored size, raw size (fixed 32 each), content of
//           `stored size` bytes: zlib's when stored size < raw size, else the records themselves
//   record  kind (varint), then its fields; the last record of the last block is the end mark
//   index   a block that says where blocks are and what times they are of, and what the recording
//           is of (recording_index.h), behind the end mark; then the index's offset (fixed 64), the
//           crc32 of that, and a magic: a footer of 20 bytes that is found from the file's end
//
// Definitions and events are in blocks of their own, so that events can be passed over: a block of
// definitions precedes that of the events which need them. (Before format 8 they are mixed, and
// there is no index.)
//
// Fixed-width numbers are little-endian, all others varints (bytes.h). An event's time is the
// difference to the time before it in the block, so every block can be decoded by itself once the
// definitions are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace auger::recording {

// The first byte is not text, and the line ends show a copy that translated them.
inline constexpr std::string_view magic = "\x89"
                                          "auger\r\n";
inline constexpr uint32_t version = 11;
// The oldest that can be read: without marks, gates and values; 3 is without the machine, 4 without
// the ends of calls that `only` leaves out, probes that are off, and what observing costs; 5 is
// without spans, 6 without exchanges that are ambiguous, explained calls, and what goroutines wait
// for; 7 is without the session, blocks of definitions, and an index, 8 without names of
// containers, 9 without the time that calls spent in other timed ones, 10 without which threads are
// the kernel's own.
inline constexpr uint32_t oldest_version = 2;
inline constexpr uint32_t first_indexed_version = 8;
inline constexpr size_t header_size = 16;
inline constexpr size_t block_header_size = 12;
inline constexpr std::string_view index_magic = "augerind";
inline constexpr size_t footer_size = 20;

enum class RecordKind : uint8_t {
    end = 0, // events before it, as a check
    module = 1,
    location = 2,
    frames = 3,
    stack = 4,
    thread = 5,
    spec = 6,
    probe = 7,
    split = 8,
    only = 9,
    label = 10,
    machine = 11, // the first record, but of old formats
    series = 12,  // the session, and which file of it this is
    // From here on records begin with a time.
    sample = 16,
    call_end = 17,
    slow_call = 18,
    stats = 19,
    ledger = 20,
    notice = 21,
    time = 22,
    call_parts = 23,
};
inline constexpr auto first_timed_kind = RecordKind::sample;

// A block is written when it holds this much, or this much of the stream's time.
inline constexpr size_t block_bytes = 256 << 10;
inline constexpr uint64_t block_ns = 1'000'000'000;

// What a reader accepts. A writer cuts strings and lists to the same limits.
inline constexpr size_t max_block = 64 << 20;
inline constexpr size_t max_string = 64 << 10; // bytes of a name or path
inline constexpr size_t max_frames = 256;      // functions inlined into one location
inline constexpr size_t max_stack = 1024;      // locations of one stack
inline constexpr size_t max_calls = 256;       // open calls of one sample
inline constexpr size_t max_probe_specs = 1 << 16;
inline constexpr size_t max_causes = 256;
inline constexpr size_t max_overhead_causes = 1 << 13; // probes, samples and waits
inline constexpr size_t max_expressions = 64; // shown of one probe's calls, or values of one call
inline constexpr size_t max_terms = 64;       // of a gate; and its clauses
inline constexpr size_t max_probes = 1 << 20;
inline constexpr size_t max_ids = 1 << 28; // of each kind

// Times are counted from a machine's start: three hundred years are too many.
inline constexpr uint64_t max_time_ns = INT64_MAX;

// Samples of a second: more than any clock ticks, and sums of it stay finite.
inline constexpr double max_rate_hz = 1e12;

// zlib makes at most about this many bytes out of one.
inline constexpr size_t max_ratio = 1032;

} // namespace auger::recording
