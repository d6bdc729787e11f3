// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/names/jit_dump.h"
#include "loader/arch/arch.h"

#include ARCH(machine.h)

#include <algorithm>
#include <cstring>

namespace auger {
namespace {

// As perf's documentation has it (jitdump-specification.txt), little-endian.
constexpr uint32_t magic = 0x4a695444;
constexpr size_t header_size = 40;
constexpr size_t prefix_size = 16; // of every record: kind, size with the prefix, time
enum class RecordKind : uint32_t { load = 0, move = 1 };
constexpr size_t load_name = 56; // where the name begins in a record of loading
constexpr size_t move_size = 64;

template <typename T>
T value_at(std::string_view bytes, size_t offset) {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(value));
    return value;
}

} // namespace

uint64_t JitDump::take(std::string_view bytes, bool) {
    uint64_t taken = 0;
    while (!damaged_ && taken < bytes.size()) {
        const std::string_view rest = bytes.substr(taken);
        const uint64_t size = begun_ ? take_record(rest) : take_header(rest);
        if (size == 0)
            break;
        taken += size;
    }
    return taken;
}

uint64_t JitDump::take_header(std::string_view bytes) {
    if (bytes.size() < header_size)
        return 0;
    const auto size = value_at<uint32_t>(bytes, 8);
    damaged_ = value_at<uint32_t>(bytes, 0) != magic || size < header_size ||
               value_at<uint32_t>(bytes, 12) != elf_machine;
    begun_ = !damaged_;
    return damaged_ ? 0 : size;
}

uint64_t JitDump::take_record(std::string_view bytes) {
    if (bytes.size() < prefix_size)
        return 0;
    const auto kind = RecordKind{value_at<uint32_t>(bytes, 0)};
    const auto size = value_at<uint32_t>(bytes, 4);
    if (size < prefix_size) {
        damaged_ = true; // where the next one begins is not known
        return 0;
    }
    if (kind == RecordKind::load) {
        // All of it that is of interest: the code behind the name is not.
        const size_t wanted = std::min<size_t>(size, load_name + CodeRanges::name_limit + 1);
        const std::string_view text =
            bytes.substr(0, wanted).substr(std::min({load_name, wanted, bytes.size()}));
        if (bytes.size() < wanted && text.find('\0') == text.npos)
            return 0;
        const std::string_view name = text.substr(0, std::min(text.find('\0'), text.size()));
        const bool added =
            wanted > load_name && !name.empty() &&
            ranges_.add(value_at<uint64_t>(bytes, 32), value_at<uint64_t>(bytes, 40), name);
        skipped_ += !added;
    } else if (kind == RecordKind::move) {
        if (bytes.size() < std::min<size_t>(size, move_size))
            return 0;
        const bool moved = size >= move_size && ranges_.move(value_at<uint64_t>(bytes, 32),
                                                             value_at<uint64_t>(bytes, 40),
                                                             value_at<uint64_t>(bytes, 48));
        skipped_ += !moved;
    }
    return size;
}

} // namespace auger
