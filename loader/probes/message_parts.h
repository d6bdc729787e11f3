// SPDX-License-Identifier: GPL-3.0-or-later
// What messages about code are made of: code_messages.h, in several files.
#pragma once

#include "loader/base/bytes.h"
#include "loader/base/result.h"
#include "loader/probes/code_messages.h"
#include "loader/symbols/elf_messages.h"

#include <cstring>
#include <type_traits>
#include <vector>

namespace auger::code_messages {

using elf_messages::whole;

// Of lists; what is honest has far fewer.
inline constexpr size_t most_texts = 1 << 14;

inline void put(ByteWriter& out, std::string_view text) {
    out.string(text.substr(0, text_limit));
}

inline std::string take_text(ByteReader& in) {
    return std::string(in.string(text_limit));
}

template <typename Enum>
Enum take_enum(ByteReader& in, Enum last) {
    return static_cast<Enum>(in.varint_up_to(static_cast<uint64_t>(last)));
}

inline void put_texts(ByteWriter& out, const std::vector<std::string>& texts) {
    out.varint(texts.size());
    for (const std::string& text : texts)
        put(out, text);
}

// Grows with what was read only: what an answer claims costs nothing.
template <typename Take>
auto take_list(ByteReader& in, size_t most, const Take& take) {
    std::vector<decltype(take())> list;
    for (size_t left = in.varint_up_to(most); left > 0 && !in.failed(); left--)
        list.push_back(take());
    return list;
}

inline std::vector<std::string> take_texts(ByteReader& in, size_t most) {
    return take_list(in, most, [&] { return take_text(in); });
}

// Structs of the kernel's side, whose bytes are what they are.
template <typename T>
void put_plain(ByteWriter& out, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    out.string({reinterpret_cast<const char*>(&value), sizeof value});
}

template <typename T>
T take_plain(ByteReader& in) {
    T value{};
    const std::string_view bytes = in.string(sizeof value);
    if (bytes.size() == sizeof value)
        std::memcpy(&value, bytes.data(), sizeof value);
    else
        in.fail();
    return value;
}

inline void put_error(ByteWriter& out, const Error& error) {
    for (const std::string* text : {&error.operation, &error.subject, &error.cause, &error.hint})
        put(out, *text);
    out.varint(static_cast<uint64_t>(error.kind));
    out.varint(error.at.has_value());
    const Error::Range range = error.at.value_or(Error::Range{});
    out.varint(range.offset);
    out.varint(range.length);
}

inline Error take_error(ByteReader& in) {
    Error error;
    for (std::string* text : {&error.operation, &error.subject, &error.cause, &error.hint})
        *text = take_text(in);
    error.kind = take_enum(in, Error::Kind::unsupported);
    const bool has_range = in.boolean();
    // It is shown below the text.
    const Error::Range range{in.varint_up_to(text_limit), in.varint_up_to(text_limit)};
    if (has_range)
        error.at = range;
    return error;
}

} // namespace auger::code_messages
