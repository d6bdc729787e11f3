// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/ruby/line_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <span>

namespace auger {
namespace {

constexpr uint32_t size_limit = 1 << 20, entry_limit = 1 << 17;

// The index tells of each position how many entries begin up to it. It begins with words of nine
// positions, in seven bits each; behind them come blocks of 512 positions, with their bits.
constexpr uint32_t first_positions = 54, positions_of_word = 9, rank_bits = 7, rank_mask = 0x7f;
constexpr uint32_t positions_of_block = 512, words_of_block = positions_of_block / 64;
struct Block {
    uint32_t rank; // before it
    uint32_t padding;
    uint64_t ranks; // of its words; they follow from the bits
    std::array<uint64_t, words_of_block> bits;
};

class LineReader {
  public:
    LineReader(RubyMemory& ruby, uint64_t entries, uint32_t count)
        : ruby_(ruby), entries_(entries), count_(count) {}

    // `rank` entries begin up to the position.
    void take(uint32_t position, uint32_t rank) {
        if (rank == rank_ || rank == 0 || rank > count_)
            return;
        rank_ = rank;
        int32_t line = 0;
        ruby_.memory().get(entries_ + uint64_t{rank - 1} * ruby_.objects().line_bytes, line);
        const uint32_t known = line > 0 && static_cast<uint32_t>(line) <= most_ruby_line
                                   ? static_cast<uint32_t>(line)
                                   : 0;
        if (lines_.empty() || lines_.back().line != known)
            lines_.push_back({position, known});
    }
    RubyLines lines() && { return std::move(lines_); }

  private:
    RubyMemory& ruby_;
    const uint64_t entries_;
    const uint32_t count_;
    uint32_t rank_ = 0;
    RubyLines lines_;
};

} // namespace

RubyLines read_ruby_lines(RubyMemory& ruby, uint64_t body, uint32_t size) {
    BoundedMemory& memory = ruby.memory();
    const RubyObjects& objects = ruby.objects();
    uint64_t entries = 0, index = 0;
    uint32_t count = 0;
    if (!memory.get(body + objects.body_lines, entries) ||
        !memory.get(body + objects.body_line_count, count) ||
        !memory.get(body + objects.body_line_index, index) || count == 0 || count > entry_limit ||
        size > size_limit)
        return {};
    LineReader reader(ruby, entries, count);
    if (count == 1) {
        reader.take(0, 1);
        return std::move(reader).lines();
    }
    for (uint32_t first = 0; first < std::min(size, first_positions); first += positions_of_word) {
        uint64_t word = 0;
        if (!memory.get(index + first / positions_of_word * sizeof word, word))
            return {};
        for (uint32_t i = 0; i < positions_of_word; i++)
            reader.take(first + i, word >> (rank_bits * i) & rank_mask);
    }
    uint64_t at = index + first_positions / positions_of_word * sizeof(uint64_t);
    for (uint32_t first = first_positions; first < size; first += positions_of_block) {
        Block block{};
        if (!memory.get(at, block))
            return {};
        at += sizeof block;
        uint32_t rank = block.rank;
        for (uint32_t word = 0; word < words_of_block; word++)
            for (uint64_t bits = block.bits[word]; bits; bits &= bits - 1)
                reader.take(first + word * 64 + static_cast<uint32_t>(std::countr_zero(bits)),
                            ++rank);
    }
    return std::move(reader).lines();
}

uint32_t ruby_line(const RubyLines& lines, uint32_t position) {
    const auto behind =
        std::ranges::upper_bound(lines, position ? position - 1 : 0, {}, &RubyLine::position);
    return behind == lines.begin() ? 0 : std::prev(behind)->line;
}

} // namespace auger
