// SPDX-License-Identifier: GPL-3.0-or-later
// Rendering of a Diagnostic: a line of any length and any bytes becomes a short excerpt around the
// place, with the caret under the right character.
#include "repl/language/complaint.h"

#include "views/escape.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {
namespace {

constexpr size_t context_before = 60; // characters kept left of the caret in a long line
constexpr size_t context_after = 60;

bool continuation(unsigned char byte) {
    return (byte & 0xC0) == 0x80;
}

// Characters of printable text.
size_t characters(std::string_view text) {
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return !continuation(static_cast<unsigned char>(c));
    }));
}

// The byte at which character `index` of printable text begins, or its end.
size_t byte_of(std::string_view text, size_t index) {
    size_t at = 0;
    for (; at < text.size(); ++at) {
        if (continuation(static_cast<unsigned char>(text[at])))
            continue;
        if (index-- == 0)
            break;
    }
    return at;
}

} // namespace

size_t utf8_length(std::string_view text, size_t offset) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[offset + i]); };
    if (offset >= text.size())
        return 0;
    const unsigned char first = byte(0);
    if (first < 0x80)
        return 1;
    const size_t length = first >= 0xF0 && first <= 0xF4   ? 4
                          : first >= 0xE0 && first <= 0xEF ? 3
                          : first >= 0xC2 && first <= 0xDF ? 2
                                                           : 0;
    if (length == 0 || offset + length > text.size())
        return 0;
    for (size_t i = 1; i < length; ++i) {
        if (!continuation(byte(i)))
            return 0;
    }
    // Overlong forms, surrogates, and beyond U+10FFFF.
    const unsigned char second = byte(1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90))
        return 0;
    return length;
}

std::string printable(std::string_view text) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
        const size_t length = utf8_length(text, at);
        const auto byte = static_cast<unsigned char>(text[at]);
        // C1 controls are two bytes, C2 80 to C2 9F: terminals obey them too.
        const bool control = byte < 0x20 || byte == 0x7F ||
                             (byte == 0xC2 && static_cast<unsigned char>(text[at + 1]) < 0xA0);
        if (byte == '\t')
            out += ' ';
        else if (length == 0 || control)
            out += '?';
        else
            out += text.substr(at, length);
        at += std::max<size_t>(length, 1);
    }
    return out;
}

size_t Diagnostic::column() const {
    const size_t offset = std::min(complaint.at.offset, line.text.size());
    return characters(printable(std::string_view(line.text).substr(0, offset))) + 1;
}

std::string Diagnostic::render() const {
    const size_t offset = std::min(complaint.at.offset, line.text.size());
    const size_t length = std::min(complaint.at.length, line.text.size() - offset);
    const std::string before = printable(std::string_view(line.text).substr(0, offset));
    const std::string marked = printable(std::string_view(line.text).substr(offset, length));
    const std::string after = printable(std::string_view(line.text).substr(offset + length));

    const size_t hidden =
        characters(before) > context_before ? characters(before) - context_before : 0;
    std::string shown = (hidden ? "..." : "") + before.substr(byte_of(before, hidden));
    const size_t caret = text_width(shown); // columns: wide characters have two
    const size_t most = std::min(characters(marked), context_after);
    const size_t width = text_width(std::string_view(marked).substr(0, byte_of(marked, most)));
    const std::string rest = marked + after;
    const size_t cut = byte_of(rest, std::max(context_after, most));
    shown += rest.substr(0, cut);
    if (cut < rest.size())
        shown += "...";

    std::string out;
    if (!line.name.empty())
        out += fmt::format("{}:{}:{}: ", printable(line.name), line.number, column());
    out += fmt::format("error: {}\n", printable(complaint.message));
    out += fmt::format("    {}\n    {:>{}}{}\n", shown, '^', caret + 1,
                       std::string(width > 1 ? width - 1 : 0, '~'));
    if (!complaint.hint.empty())
        out += fmt::format("  {}\n", printable(complaint.hint));
    return out;
}

} // namespace auger
