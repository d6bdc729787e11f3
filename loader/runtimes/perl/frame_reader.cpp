// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/perl/frame_reader.h"

#include "bpf/unwind_table.h"
#include "loader/runtimes/bounded_memory.h"
#include "loader/runtimes/frame_words.h"
#include "loader/runtimes/perl/statement.h"
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
// What is read of a frame. `line`: of the statement that the walk has seen; `own_line`: of the one
// that the op is part of.
struct FrameParts {
    Text name, package, file;
    uint32_t line = 0, own_line = 0;
    friend bool operator==(const FrameParts&, const FrameParts&) = default;
};

// Where a frame's words lead to; 0: to nothing.
uint64_t address_in(uint64_t word) {
    constexpr uint64_t addresses = (uint64_t{1} << WIRE_PERL_FRAME_SHIFT) - 1;
    return (word & addresses) == WIRE_PERL_NONE ? 0 : word & addresses;
}

wire_perl_frame kind_of(const PerlFrameWords& words) {
    return static_cast<wire_perl_frame>(words.second >> WIRE_PERL_FRAME_SHIFT);
}

// Of what is longer, so much is looked at.
constexpr size_t mark_limit = WIRE_PERL_FILE - 1;

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

Text read_name(BoundedMemory& memory, uint64_t address) {
    Text name;
    uint32_t length = 0;
    uint64_t hash_and_length = 0;
    if (!address || !memory.get(address, hash_and_length) ||
        !memory.get(address + WIRE_PERL_NAME_LENGTH, length))
        return name;
    std::array<std::byte, name_limit> bytes;
    const uint32_t size = std::min(length, name_limit);
    uint8_t flags = 0;
    // A zero stands between them.
    if (!memory.bytes(address + WIRE_PERL_NAME_CHARACTERS, bytes.data(), size) ||
        !memory.get(address + WIRE_PERL_NAME_CHARACTERS + length + 1, flags))
        return name;
    name.mark = wire_perl_mark(
        hash_and_length, mark_of(memory.text(address + WIRE_PERL_NAME_CHARACTERS, mark_limit)));
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
    file.text = memory.text(address, mark_limit);
    file.mark = mark_of(file.text);
    if (file.text.size() == mark_limit)
        file.text += "...";
    drop_number(file.text);
    return file;
}

uint32_t read_line(BoundedMemory& memory, uint64_t cop) {
    uint32_t line = 0;
    memory.get(cop + WIRE_PERL_COP_LINE, line);
    return wire_perl_line(line);
}

void read_statement(BoundedMemory& memory, uint64_t cop, FrameParts& parts) {
    uint64_t file = 0;
    memory.get(cop + WIRE_PERL_COP_FILE, file);
    parts.file = read_file_name(memory, file);
    parts.line = read_line(memory, cop);
}

// The memory is read anew. Nothing: something of it cannot be read.
std::optional<FrameParts> read_parts(const ReadMemory& read, const PerlOps& ops,
                                     const PerlFrameWords& words, bool& late) {
    BoundedMemory memory(read), tree(read);
    const uint64_t place = address_in(words.place);
    const auto upper = static_cast<uint32_t>(words.place_second >> 32);
    FrameParts parts;
    parts.name = read_name(memory, address_in(words.first));
    parts.package = read_name(memory, address_in(words.second));
    if ((words.place & WIRE_FRAME_KIND) != WIRE_FRAME_PERL_COP) {
        parts.file = read_file_name(memory, place);
        parts.line = parts.own_line = upper & WIRE_PERL_MOST_LINE;
    } else {
        read_statement(memory, place, parts);
        parts.own_line = parts.line;
        // What cannot be read of the tree leaves the line as it is.
        if (const uint64_t op = wire_perl_op(place, upper); op && !memory.failed()) {
            const uint64_t own =
                closest_statement(tree, ops, place, op, upper & WIRE_PERL_WAY_NEXT);
            if (own != place && !tree.failed())
                parts.own_line = read_line(tree, own);
        }
    }
    late = memory.late() || tree.late();
    return memory.failed() || late ? std::nullopt : std::optional(std::move(parts));
}

uint32_t cookie_of(const FrameParts& parts) {
    return wire_perl_cookie(parts.name.mark, parts.package.mark, parts.file.mark, parts.line);
}

std::string shown_name(wire_perl_frame kind, const FrameParts& parts) {
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
    if (parts.name.text.empty())
        return "(unknown)";
    return parts.package.text.empty() ? parts.name.text
                                      : parts.package.text + "::" + parts.name.text;
}

} // namespace

size_t PerlFrameWordsHash::operator()(const PerlFrameWords& words) const noexcept {
    return hash_of_pairs(words.first, words.second, words.place, words.place_second);
}

std::variant<PerlFrame, FunctionProblem> read_perl_frame(const ReadMemory& read, const PerlOps& ops,
                                                         const PerlFrameWords& words) {
    if (kind_of(words) >= WIRE_PERL_FRAME_UNREAD)
        return FunctionProblem::unreadable;
    const auto cookie = static_cast<uint32_t>(words.place_second);
    bool late = false;
    const auto parts = read_parts(read, ops, words, late);
    // What died in the meantime may have had texts that were read, and others that were not.
    const auto again =
        parts && cookie_of(*parts) == cookie ? read_parts(read, ops, words, late) : parts;
    if (late)
        return FunctionProblem::late;
    const bool is_read = parts && again;
    if (is_read && cookie_of(*parts) == cookie && *again == *parts)
        return PerlFrame{shown_name(kind_of(words), *parts), parts->file.text, parts->own_line};
    return is_read ? FunctionProblem::gone : FunctionProblem::unreadable;
}

std::optional<PerlFrame> perl_frame_without_place(const PerlFrameWords& words) {
    if (kind_of(words) == WIRE_PERL_FRAME_SUB || kind_of(words) >= WIRE_PERL_FRAME_UNREAD)
        return std::nullopt;
    return PerlFrame{shown_name(kind_of(words), {}), {}, 0};
}

} // namespace auger
