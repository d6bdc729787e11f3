// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/v8/code_reader.h"

#include "loader/runtimes/v8/heap.h"
#include "loader/runtimes/v8/source_positions.h"

namespace auger {
namespace {

constexpr int32_t table_limit = 4 << 20; // bytes
constexpr size_t most_inlined = 128;     // in one another

// The same in all versions whose code is read: in an array of code, at these numbers.
constexpr int32_t inlined_count_at = 1, literals_at = 2, shared_at = 6, inlining_at = 7;
constexpr int32_t elements_needed = 8;
constexpr uint32_t element_bytes = 8;
// Where each function is inlined: a source position, and the number of the function.
constexpr uint32_t inlining_bytes = 16, inlined_function_at = 8;

class CodeReader {
  public:
    CodeReader(const ReadMemory& read, const V8Layout& layout)
        : heap_(read, layout.objects), walk_(layout.walk), objects_(layout.objects) {}

    std::optional<uint32_t> cookie(uint64_t code) {
        uint64_t start = code - WIRE_V8_TAG + walk_.code_instructions;
        uint32_t size = 0;
        if ((walk_.code_start && !heap_.get(code, walk_.code_start, start)) ||
            !heap_.get(code, walk_.code_size, size))
            return std::nullopt;
        return wire_v8_code_cookie(start, size);
    }
    std::optional<V8CodePlace> place(uint64_t code, uint32_t offset, uint64_t shared);
    FunctionProblem problem() const { return heap_.problem(); }

  private:
    std::optional<V8SourcePosition> position(uint64_t code, uint32_t offset);
    std::optional<uint64_t> element(uint64_t array, int32_t index) {
        uint64_t word = 0;
        const uint32_t at = objects_.array_data + static_cast<uint32_t>(index) * element_bytes;
        return heap_.get(array, at, word) ? std::optional(word) : std::nullopt;
    }

    V8Heap heap_;
    const wire_v8& walk_;
    const V8Objects& objects_;
};

std::optional<V8SourcePosition> CodeReader::position(uint64_t code, uint32_t offset) {
    const auto table = heap_.pointer(code, objects_.code_positions);
    const auto size = table ? heap_.integer(*table, objects_.array_length) : std::nullopt;
    if (!size || *size < 0 || *size > table_limit)
        return std::nullopt;
    std::vector<std::byte> bytes(static_cast<size_t>(*size));
    if (!heap_.bytes(*table, objects_.array_data, bytes))
        return std::nullopt;
    return v8_source_position(bytes, offset);
}

std::optional<V8CodePlace> CodeReader::place(uint64_t code, uint32_t offset, uint64_t shared) {
    V8CodePlace place;
    auto at = position(code, offset);
    if (!at)
        return heap_.failed() ? std::nullopt : std::optional(place);
    if (!at->inlined) {
        place.position = at->position;
        return place;
    }
    // What it is given up by, which tells of inlined functions.
    const auto data = heap_.pointer(code, objects_.code_data);
    const auto length = data ? heap_.integer(*data, objects_.array_length) : std::nullopt;
    if (!length || *length < elements_needed || element(*data, shared_at) != shared)
        return std::nullopt;
    const auto count = element(*data, inlined_count_at), literals = element(*data, literals_at);
    const auto inlining = element(*data, inlining_at);
    if (!count || !literals || !V8Heap::is_pointer(*literals) || !inlining ||
        !V8Heap::is_pointer(*inlining))
        return std::nullopt;
    const uint64_t functions = *count >> 32;
    const auto literals_length = heap_.integer(*literals, objects_.array_length);
    const auto inlining_length = heap_.integer(*inlining, objects_.array_length);
    if (!literals_length || !inlining_length || functions > UINT32_MAX)
        return std::nullopt;
    while (at->inlined) {
        const uint64_t entry = uint64_t{*at->inlined} * inlining_bytes;
        int64_t raw = 0;
        int32_t function = 0;
        if (place.inlined.size() >= most_inlined || *inlining_length < 0 ||
            entry + inlining_bytes > static_cast<uint64_t>(*inlining_length))
            return std::nullopt;
        const uint32_t from = objects_.array_data + static_cast<uint32_t>(entry);
        if (!heap_.get(*inlining, from, raw) ||
            !heap_.get(*inlining, from + inlined_function_at, function) || function < 0 ||
            static_cast<uint64_t>(function) >= functions || function >= *literals_length)
            return std::nullopt;
        // A weak reference has one bit more.
        const auto literal = element(*literals, function);
        if (!literal || !(*literal & WIRE_V8_TAG))
            return std::nullopt;
        place.inlined.push_back(
            {(*literal & ~uint64_t{WIRE_V8_TAG_MASK}) | WIRE_V8_TAG, at->position});
        at = v8_source_position(raw);
        if (!at)
            return std::nullopt;
    }
    place.position = at->position;
    return place;
}

} // namespace

std::variant<V8CodePlace, FunctionProblem> read_v8_code_place(const ReadMemory& read,
                                                              const V8Layout& layout, uint64_t code,
                                                              uint64_t second, uint64_t shared) {
    const auto offset = static_cast<uint32_t>(second >> 32);
    // As functions are: twice.
    std::optional<V8CodePlace> before;
    for (const bool again : {false, true}) {
        CodeReader reader(read, layout);
        const auto cookie = reader.cookie(code);
        if (!cookie)
            return reader.problem();
        if (*cookie != static_cast<uint32_t>(second))
            return FunctionProblem::gone;
        auto place = reader.place(code, offset, shared);
        if (!place)
            return reader.problem();
        if (again && *place != *before)
            return FunctionProblem::gone;
        before = std::move(place);
    }
    return *before;
}

} // namespace auger
