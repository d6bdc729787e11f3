// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/source_place.h"

#include <algorithm>
#include <charconv>

namespace auger {
namespace {

constexpr const char* example = "a call site is written like recv@main.cc:1312";

bool all_digits(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The `@` behind a function's name. Paths may hold one too, of a library before it or of a source
// file behind it.
size_t find_at(std::string_view text, size_t separator) {
    if (separator != text.npos)
        if (const size_t at = text.find('@', separator); at != text.npos)
            return at;
    const size_t at = text.find('@');
    const std::string_view before = text.substr(0, at);
    if (at != text.npos && before.find('/') != before.npos && !before.ends_with("operator/"))
        return text.npos;
    return at;
}

ParsedSourcePlace wrong_place(size_t position, std::string cause, std::string hint = example) {
    return {std::nullopt, SourcePlaceError{position, std::move(cause), std::move(hint)}};
}

} // namespace

ParsedSourcePlace parse_source_place(std::string_view text, size_t separator) {
    SourcePlace place;
    size_t file_at = 0;
    if (const size_t at = find_at(text, separator); at != text.npos) {
        place.at = at;
        file_at = at + 1;
        if (at == 0)
            return wrong_place(0, "no function before the `@`");
        if (file_at == text.size())
            return wrong_place(file_at, "nothing after the `@`");
        if (text.substr(file_at) == "*")
            return {std::move(place), std::nullopt};
    }
    const size_t colon = text.rfind(':');
    const bool has_colon = colon != text.npos && colon >= file_at;
    const std::string_view number = has_colon ? text.substr(colon + 1) : std::string_view();
    if (!place.at) {
        // `ns::f`, `libc:recv` and `libc:0x1234` are none.
        if (!all_digits(number) || colon == 0 || text[colon - 1] == ':')
            return {};
    } else {
        if (!has_colon)
            return wrong_place(text.size(), "no line number after the file");
        if (colon == file_at)
            return wrong_place(file_at, "no file before the `:`");
        if (number.empty())
            return wrong_place(colon + 1, "no line number after the `:`");
        if (!all_digits(number))
            return wrong_place(colon + 1, "not a line number");
    }
    place.file = text.substr(file_at, colon - file_at);
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), place.line);
    if (error != std::errc())
        return wrong_place(colon + 1, "no file has so many lines", {});
    if (place.line == 0)
        return wrong_place(colon + 1, "lines are counted from 1", {});
    if (place.file.back() == '/')
        return wrong_place(colon, "no file name after the `/`");
    return {std::move(place), std::nullopt};
}

} // namespace auger
