// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/tables/uncovered_code.h"

#include "loader/arch/arch.h"
#include "loader/reader/code/decoder.h"
#include "loader/reader/tables/code_frames.h"

#include ARCH(code_bytes.h)

#include <algorithm>
#include <cstring>
#include <map>

namespace auger {
namespace {

using Range = std::pair<uint64_t, uint64_t>;

// Less than this share of the code is what fills up between functions.
constexpr uint64_t fewest_uncovered = 256;      // one in
constexpr uint64_t smallest_gap = 16;           // bytes
constexpr uint64_t most_scanned_code = 4 << 20; // bytes; looking at them takes less than a second
constexpr uint64_t most_scanned = 64 << 20;     // bytes in which calls are looked for
constexpr uint64_t smallest_work = 64;          // bytes that the smallest function counts as
constexpr uint64_t largest_function = 1 << 20;
constexpr uint64_t largest_unsized = 64 << 10; // a function of which only the begin is known

// Parts of [begin, end) that lie in none of the ranges, without the smallest.
std::vector<Range> gaps_between(const std::vector<Range>& covered, uint64_t begin, uint64_t end) {
    std::vector<Range> gaps;
    const auto add = [&](uint64_t to) {
        if (to > begin && to - begin >= smallest_gap)
            gaps.emplace_back(begin, to);
    };
    for (const Range& range : covered) {
        if (range.second <= begin)
            continue;
        if (range.first >= end)
            break;
        add(range.first);
        begin = std::max(begin, range.second);
    }
    add(end);
    return gaps;
}

class UncoveredCode {
  public:
    UncoveredCode(const ElfFile& file, TableBuilder& builder, std::vector<Range> gaps)
        : file_(file), builder_(builder), gaps_(std::move(gaps)) {
        for (const ElfFunction& function : file.functions())
            // Cold parts are entered by jumps, with a frame that is another's.
            if (function.name.find(".cold") == function.name.npos)
                add(function.address, function.size);
        add(file.entry(), 0);
    }

    // What is called from functions that are covered. Only those are decoded in which a byte of
    // a call's opcode stands before a distance that leads to a gap.
    void add_called_from(const std::vector<Range>& covered) {
        uint64_t scanned = 0;
        for (const auto& [begin, end] : covered) {
            if (scanned >= most_scanned || code_ >= most_scanned_code)
                return;
            const std::vector<std::byte> bytes =
                file_.read_code(begin, std::min(end - begin, largest_function));
            scanned += bytes.size();
            if (may_call(bytes, begin))
                add_calls(bytes, begin);
        }
    }

    uint64_t run() {
        uint64_t found = 0;
        while (!pending_.empty() && code_ < most_scanned_code) {
            const uint64_t begin = pending_.back();
            pending_.pop_back();
            const std::vector<std::byte> bytes = file_.read_code(begin, limit_of(begin) - begin);
            code_ += std::max<uint64_t>(bytes.size(), smallest_work);
            const CodeFrames frames = frames_of_code(bytes, begin);
            for (const uint64_t other : frames.others)
                add(other, 0);
            if (frames.end > begin && add_rows(begin, frames))
                ++found;
        }
        return found;
    }

  private:
    bool may_call(Bytes bytes, uint64_t address) const {
        constexpr size_t length = 5; // opcode and distance
        for (size_t at = 0; at + length <= bytes.size(); ++at) {
            const void* found = std::memchr(&bytes[at], 0xe8, bytes.size() - length + 1 - at);
            if (!found)
                return false;
            at = static_cast<size_t>(static_cast<const std::byte*>(found) - bytes.data());
            int32_t distance;
            std::memcpy(&distance, &bytes[at + 1], sizeof distance);
            if (gap_of(address + at + length + static_cast<uint64_t>(int64_t{distance})))
                return true;
        }
        return false;
    }
    void add_calls(Bytes bytes, uint64_t address) {
        code_ += bytes.size();
        for (size_t at = 0; at < bytes.size();) {
            const auto instruction = decode(bytes.subspan(at), address + at);
            if (!instruction)
                return;
            if (instruction->flow == Instruction::Flow::call)
                add(instruction->target, 0);
            at += instruction->length;
        }
    }
    const Range* gap_of(uint64_t address) const {
        auto after =
            std::upper_bound(gaps_.begin(), gaps_.end(), address,
                             [](uint64_t place, const Range& gap) { return place < gap.first; });
        return after != gaps_.begin() && address < (after - 1)->second ? &*(after - 1) : nullptr;
    }
    void add(uint64_t address, uint64_t size) {
        if (!gap_of(address) || (size == 0 && lies_within_a_function(address)))
            return;
        const auto [at, added] = sizes_.try_emplace(address, size);
        if (added)
            pending_.push_back(address);
        else
            at->second = std::max(at->second, size);
    }
    // Code may take the address of a place of its own, to be found there by others (V8).
    bool lies_within_a_function(uint64_t address) const {
        const auto behind = sizes_.upper_bound(address);
        if (behind == sizes_.begin())
            return false;
        const auto& [begin, size] = *std::prev(behind);
        return address > begin && address - begin < size;
    }
    // Where the function ends at the latest: where the next one begins, too.
    uint64_t limit_of(uint64_t begin) const {
        const auto at = sizes_.find(begin);
        const uint64_t size =
            at->second != 0 ? std::min(at->second, largest_function) : largest_unsized;
        const uint64_t room = gap_of(begin)->second - begin;
        const auto next = std::next(at);
        const uint64_t distance = next == sizes_.end() ? room : next->first - begin;
        return begin + std::min({size, room, distance});
    }
    bool add_rows(uint64_t begin, const CodeFrames& frames) {
        if (frames.rows[0].rule.cfa != WIRE_CFA_SIGNAL || !is_padding(begin - 1))
            return builder_.add(begin, frames.end, frames.rows, TableBuilder::Source::code);
        // It is returned to, so it is looked for by the address of a call before it.
        const FrameRow row{begin - 1, frames.rows[0].rule};
        return builder_.add(row.address, frames.end, {&row, 1}, TableBuilder::Source::code);
    }
    bool is_padding(uint64_t address) const {
        if (!gap_of(address))
            return false;
        const std::vector<std::byte> byte = file_.read_code(address, 1);
        return byte.size() == 1 && is_padding_byte(byte[0]);
    }

    const ElfFile& file_;
    TableBuilder& builder_;
    std::vector<Range> gaps_;
    std::map<uint64_t, uint64_t> sizes_; // by begin; 0: not known
    std::vector<uint64_t> pending_;
    uint64_t code_ = 0; // bytes that were looked at
};

} // namespace

uint64_t add_uncovered_code(const ElfFile& file, TableBuilder& builder) {
    const auto text = file.section(".text");
    uint64_t end;
    if (!text || __builtin_add_overflow(text->address, text->size, &end) ||
        !builder.holds(text->address, end))
        return 0;
    const std::vector<Range> covered = builder.covered();
    std::vector<Range> gaps = gaps_between(covered, text->address, end);
    uint64_t uncovered = 0;
    for (const Range& gap : gaps)
        uncovered += gap.second - gap.first;
    // A Go program has its runtime's C code linked in, which is little, and is below every thread.
    if ((uncovered < text->size / fewest_uncovered && !file.is_go()) || uncovered == 0)
        return 0;
    UncoveredCode code(file, builder, std::move(gaps));
    uint64_t found = code.run();
    if (!file.has_symbols()) {
        code.add_called_from(covered);
        found += code.run();
    }
    return found;
}

} // namespace auger
