// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/v8/script_lines.h"

#include "loader/runtimes/v8/heap.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

namespace auger {
namespace {

// What is read takes less time than a process is waited for.
constexpr uint64_t source_limit = 16 << 20; // bytes
constexpr size_t lines_limit = 4 << 20;
constexpr size_t piece_bytes = 16 << 10; // read at once

// Nothing: it is. The source is where it was, so its text has not moved.
std::optional<FunctionProblem> changed(const ReadMemory& read, const V8Layout& layout,
                                       const V8Script& script) {
    V8Heap heap(read, layout.objects);
    uint64_t source = 0;
    uint32_t length = 0;
    const auto type = heap.type(script.pointer);
    const auto id = heap.integer(script.pointer, layout.objects.script_id);
    if (!heap.get(script.pointer, layout.objects.script_source, source) ||
        !heap.get(script.source, layout.objects.string_length, length))
        return heap.problem();
    if (type != layout.objects.script_type || id != script.id || source != script.source ||
        length != script.length)
        return FunctionProblem::gone;
    return std::nullopt;
}

// Takes one character after the other.
class LineCounter {
  public:
    void take(uint16_t character) {
        // "\r\n" is one end.
        if (before_ == '\r' && character != '\n')
            add(at_ - 1);
        if (character == '\n' || character == 0x2028 || character == 0x2029)
            add(at_);
        before_ = character;
        at_++;
    }
    std::vector<uint32_t> ends() {
        if (before_ == '\r')
            add(at_ - 1);
        return std::move(ends_);
    }
    bool is_full() const { return ends_.size() >= lines_limit; }

  private:
    void add(uint32_t position) { ends_.push_back(position); }

    std::vector<uint32_t> ends_;
    uint32_t at_ = 0;
    uint16_t before_ = 0;
};

} // namespace

std::variant<V8Lines, FunctionProblem> read_v8_lines(const ReadMemory& read, const V8Layout& layout,
                                                     const V8Script& script) {
    if (!script.source)
        return V8Lines();
    if (const auto problem = changed(read, layout, script))
        return *problem;
    V8Heap heap(read, layout.objects);
    const auto characters = heap.characters(script.source);
    if (heap.failed())
        return heap.problem();
    const size_t width = characters && characters->one_byte ? 1 : 2;
    const uint64_t size = characters ? uint64_t{characters->count} * width : 0;
    V8Lines lines;
    lines.known = characters && size <= source_limit;
    LineCounter counter;
    std::array<std::byte, piece_bytes> bytes;
    for (uint64_t at = 0; lines.known && at < size; at += bytes.size()) {
        const size_t piece = std::min<uint64_t>(bytes.size(), size - at);
        const MemoryRead done = read(characters->address + at, bytes.data(), piece);
        if (done != MemoryRead::whole)
            return done == MemoryRead::late ? FunctionProblem::late : FunctionProblem::unreadable;
        for (size_t i = 0; i < piece; i += width) {
            uint16_t character = static_cast<uint8_t>(bytes[i]);
            if (width == 2)
                std::memcpy(&character, &bytes[i], sizeof character);
            counter.take(character);
        }
        lines.known = !counter.is_full();
    }
    if (const auto problem = changed(read, layout, script))
        return *problem;
    if (lines.known)
        lines.ends = counter.ends();
    return lines;
}

V8Place v8_place(const V8Lines& lines, uint32_t position) {
    if (!lines.known)
        return {};
    const auto end = std::ranges::lower_bound(lines.ends, position);
    const uint32_t begin = end == lines.ends.begin() ? 0 : *(end - 1) + 1;
    return {static_cast<uint32_t>(end - lines.ends.begin()) + 1, position - begin + 1};
}

} // namespace auger
