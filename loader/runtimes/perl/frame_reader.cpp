// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/perl/frame_reader.h"

#include "bpf/unwind_table.h"
#include "loader/runtimes/bounded_memory.h"
#include "loader/runtimes/utf8.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace auger {
namespace {

constexpr uint32_t name_limit = 1024; // bytes

// A name or a file, and what it is known by.
struct Text {
    uint64_t mark = 0;
    std::string text;
    friend bool operator==(const Text&, const Text&) = default;
};
struct Texts {
    Text name, package, file;
    friend bool operator==(const Texts&, const Texts&) = default;
};

// Where a frame's words lead to; 0: to nothing.
uint64_t address_in(uint64_t word) {
    constexpr uint64_t addresses = (uint64_t{1} << WIRE_PERL_FRAME_SHIFT) - 1;
    return (word & addresses) == WIRE_PERL_NONE ? 0 : word & addresses;
}

wire_perl_frame kind_of(const PerlFrameWords& words) {
    return static_cast<wire_perl_frame>(words.second >> WIRE_PERL_FRAME_SHIFT);
}

Text read_name(BoundedMemory& memory, uint64_t address) {
    Text name;
    uint32_t length = 0;
    if (!address || !memory.get(address, name.mark) ||
        !memory.get(address + WIRE_PERL_NAME_LENGTH, length))
        return name;
    std::array<std::byte, name_limit> bytes;
    const uint32_t size = std::min(length, name_limit);
    uint8_t flags = 0;
    // A zero stands between them.
    if (!memory.bytes(address + WIRE_PERL_NAME_CHARACTERS, bytes.data(), size) ||
        !memory.get(address + WIRE_PERL_NAME_CHARACTERS + length + 1, flags))
        return name;
    for (uint32_t i = 0; i < size; i++) {
        const auto byte = static_cast<uint8_t>(bytes[i]);
        if (flags & WIRE_PERL_UTF8)
            name.text.push_back(static_cast<char>(byte));
        else
            append_utf8(name.text, byte);
    }
    if (size < length)
        name.text += "...";
    return name;
}

uint64_t mark_of(std::string_view text) {
    const size_t bytes = text.size() + 1; // with its zero
    uint64_t mark = bytes;
    for (size_t at = 0; at < bytes; at += sizeof mark) {
        uint64_t word = 0;
        const std::string_view left = text.substr(std::min(at, text.size()), sizeof word);
        std::memcpy(&word, left.data(), left.size());
        mark = wire_perl_mark(mark, word);
    }
    return mark;
}

// "(eval 12)", "(re_eval 3)": each text that is compiled has a number of its own.
void drop_number(std::string& file) {
    const size_t blank = file.find(' ');
    if (file.starts_with('(') && file.ends_with(')') && blank != file.npos && blank > 1 &&
        blank + 2 < file.size() &&
        file.find_first_not_of("0123456789", blank + 1) == file.size() - 1)
        file.erase(blank, file.size() - 1 - blank);
}

Text read_file_name(BoundedMemory& memory, uint64_t address) {
    Text file;
    if (!address)
        return file;
    constexpr size_t limit = WIRE_PERL_FILE - 1;
    file.text = memory.text(address, limit);
    file.mark = mark_of(file.text);
    if (file.text.size() == limit)
        file.text += "...";
    drop_number(file.text);
    return file;
}

// The memory is read anew.
std::optional<Texts> read_texts(const ReadMemory& read, const PerlFrameWords& words, bool& late) {
    BoundedMemory memory(read);
    Texts texts;
    texts.name = read_name(memory, address_in(words.first));
    texts.package = read_name(memory, address_in(words.second));
    texts.file = read_file_name(memory, address_in(words.place));
    late = memory.late();
    return memory.failed() ? std::nullopt : std::optional(std::move(texts));
}

uint32_t cookie_of(const Texts& texts) {
    return wire_perl_cookie(texts.name.mark, texts.package.mark, texts.file.mark);
}

std::string shown_name(wire_perl_frame kind, const Texts& texts) {
    switch (kind) {
    case WIRE_PERL_FRAME_EVAL:
        return "(eval)";
    case WIRE_PERL_FRAME_REQUIRE:
        return "(require)";
    case WIRE_PERL_FRAME_MAIN:
        return "(main)";
    default:
        break;
    }
    if (texts.name.text.empty())
        return "(unknown)";
    return texts.package.text.empty() ? texts.name.text
                                      : texts.package.text + "::" + texts.name.text;
}

} // namespace

std::variant<PerlFrame, FunctionProblem> read_perl_frame(const ReadMemory& read,
                                                         const PerlFrameWords& words) {
    if (kind_of(words) >= WIRE_PERL_FRAME_UNREAD)
        return FunctionProblem::unreadable;
    const auto cookie = static_cast<uint32_t>(words.place_second);
    bool late = false;
    const auto texts = read_texts(read, words, late);
    // What died in the meantime may have had texts that were read, and others that were not.
    const auto again = texts && cookie_of(*texts) == cookie ? read_texts(read, words, late) : texts;
    if (!texts || !again)
        return late ? FunctionProblem::late : FunctionProblem::unreadable;
    if (cookie_of(*texts) != cookie || *again != *texts)
        return FunctionProblem::gone;
    return PerlFrame{shown_name(kind_of(words), *texts), texts->file.text,
                     static_cast<uint32_t>(words.place_second >> 32) & WIRE_PERL_MOST_LINE};
}

} // namespace auger
