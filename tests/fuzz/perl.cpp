// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "bpf/unwind_table.h"
#include "loader/runtimes/frame_words.h"
#include "loader/runtimes/perl/frame_places.h"
#include "loader/runtimes/perl/frame_reader.h"
#include "loader/runtimes/perl/layout.h"
#include "loader/runtimes/perl/perl_file.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace auger::test {
namespace {

constexpr size_t page_bytes = 4096;

// A memory that has the input again and again, in pages.
class Memory {
  public:
    explicit Memory(std::span<const std::byte> content) : content_(content) {}

    MemoryRead read(uint64_t address, void* bytes, size_t size) {
        // Whole pages, of texts and of a tree, twice.
        if (size != page_bytes || address % page_bytes || ++reads_ > 2 * 2 * 1024)
            std::abort();
        if (address >> 47)
            return address >> 63 ? MemoryRead::late : MemoryRead::unreadable;
        std::memset(bytes, 0, size);
        std::memcpy(bytes, content_.data(), std::min(size, content_.size()));
        return MemoryRead::whole;
    }

  private:
    std::span<const std::byte> content_;
    size_t reads_ = 0;
};

template <typename Number>
Number take(std::span<const std::byte>& bytes) {
    Number number{};
    const size_t size = std::min(bytes.size(), sizeof number);
    std::memcpy(&number, bytes.data(), size);
    bytes = bytes.subspan(size);
    return number;
}

// What the words would be known by.
uint32_t cookie_of(std::span<const std::byte> content, const PerlFrameWords& words) {
    std::array<std::byte, 2 * page_bytes> pages{};
    for (size_t page = 0; page < 2; page++)
        std::memcpy(pages.data() + page * page_bytes, content.data(),
                    std::min(page_bytes, content.size()));
    const auto at = [&](uint64_t address, auto number) {
        std::memcpy(&number, pages.data() + address % page_bytes, sizeof number);
        return number;
    };
    constexpr uint64_t addresses = (uint64_t{1} << WIRE_PERL_FRAME_SHIFT) - 1;
    const auto text_mark = [&](uint64_t address) {
        std::string_view text(reinterpret_cast<const char*>(pages.data()) + address % page_bytes,
                              WIRE_PERL_FILE - 1);
        text = text.substr(0, text.find('\0'));
        uint64_t mark = text.size() + 1;
        for (size_t begin = 0; begin < text.size() + 1; begin += 8) {
            uint64_t word = 0;
            const auto left = text.substr(std::min(begin, text.size()), 8);
            std::memcpy(&word, left.data(), left.size());
            mark = wire_perl_mark(mark, word);
        }
        return mark;
    };
    const auto name = [&](uint64_t word) -> uint64_t {
        const uint64_t address = word & addresses;
        if (address <= WIRE_PERL_NONE)
            return 0;
        return wire_perl_mark(at(address, uint64_t{}),
                              text_mark(address + WIRE_PERL_NAME_CHARACTERS));
    };
    uint64_t file = words.place & addresses;
    uint32_t line = static_cast<uint32_t>(words.place_second >> 32) & WIRE_PERL_MOST_LINE;
    if ((words.place & WIRE_FRAME_KIND) == WIRE_FRAME_PERL_COP) {
        line = wire_perl_line(at(file + WIRE_PERL_COP_LINE, uint32_t{}));
        file = at(file + WIRE_PERL_COP_FILE, uint64_t{});
    }
    uint64_t mark = 0;
    if (file > WIRE_PERL_NONE || (words.place & WIRE_FRAME_KIND) == WIRE_FRAME_PERL_COP) {
        mark = text_mark(file);
    }
    return wire_perl_cookie(name(words.first), name(words.second), file ? mark : 0, line);
}

void check(const PerlFrame& frame) {
    // Of Latin-1 a character takes two bytes.
    constexpr size_t name = 2 * 1024 + 3;
    if (frame.name.size() > 2 * name + 2 || frame.file.size() > WIRE_PERL_FILE + 3 ||
        frame.line > WIRE_PERL_MOST_LINE)
        std::abort();
}

// Whatever a stack has, no word is made up, and native frames stay in their order.
void check_places(std::span<const std::byte> input) {
    std::vector<uint64_t> words;
    while (!input.empty() && words.size() < 1024) {
        const auto kind = take<uint8_t>(input);
        const auto value = take<uint16_t>(input);
        constexpr std::array<uint64_t, 8> kinds = {0,
                                                   0,
                                                   WIRE_FRAME_PERL,
                                                   WIRE_FRAME_PERL_PLACE,
                                                   WIRE_FRAME_PERL_COP,
                                                   WIRE_FRAME_HOTSPOT_CODE,
                                                   WIRE_STACK_CUT,
                                                   WIRE_FRAME_EXACT};
        words.push_back(kinds[kind % kinds.size()] | value);
        if (kind & 0x80)
            words.push_back(uint64_t{kind} << WIRE_PERL_FRAME_SHIFT & ~WIRE_FRAME_RUNTIME);
    }
    const PerlCode code = {
        {0x100, 0x400, 0, 0}, {0x800, 0x100, 0xa00, 0x10}, {{{0x1000, 0x4000, 0, 0}, {}, {}}}};
    for (const bool leaf_is_return : {false, true})
        if (place_perl_frames(words, code, leaf_is_return).size() > words.size())
            std::abort();
    find_pair(words, is_perl_word);
}

} // namespace

// What a file says, the memory of a process, or a stack.
void fuzz_perl(const uint8_t* data, size_t size) {
    std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), size);
    if (const auto file = decode_perl_file({reinterpret_cast<const char*>(data), size})) {
        if (decode_perl_file(encode_perl_file(*file)) != *file)
            std::abort();
        if (const auto layout = perl_layout(*file))
            if (!file->loop.body_size || !file->has_threads ||
                layout->walk.context_bytes < WIRE_PERL_CONTEXT_BYTES)
                std::abort();
    }
    check_places(input);
    PerlFrameWords words;
    words.first = WIRE_FRAME_PERL | take<uint16_t>(input);
    words.second = take<uint16_t>(input);
    words.second |= uint64_t{take<uint8_t>(input)} << WIRE_PERL_FRAME_SHIFT;
    words.place = take<uint8_t>(input) % 2 ? WIRE_FRAME_PERL_COP : WIRE_FRAME_PERL_PLACE;
    words.place |= take<uint16_t>(input);
    words.place_second = uint64_t{take<uint32_t>(input) & WIRE_PERL_MOST_LINE} << 32;
    words.place_second |= cookie_of(input, words);
    Memory memory(input);
    const auto answer =
        read_perl_frame([&](uint64_t address, void* bytes,
                            size_t count) { return memory.read(address, bytes, count); },
                        {195, 200}, words);
    if (const auto* const whole = std::get_if<PerlFrame>(&answer))
        check(*whole);
}

} // namespace auger::test
