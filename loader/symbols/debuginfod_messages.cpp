// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/debuginfod_messages.h"

#include "loader/base/bytes.h"
#include "loader/symbols/elf_messages.h"

namespace auger::debuginfod_messages {
namespace {

using elf_messages::whole;

constexpr size_t most_variables = 64;
constexpr size_t text_limit = 64 << 10;

} // namespace

std::string begin(const Begin& begin) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(begin.bytes);
    out.varint(begin.variables.size());
    for (const std::string& variable : begin.variables)
        out.string(variable);
    return bytes;
}

std::optional<Begin> begin(std::string_view bytes) {
    ByteReader in(bytes);
    Begin begin;
    begin.bytes = in.varint();
    const size_t count = in.count(most_variables);
    for (size_t i = 0; i < count && !in.failed(); i++)
        begin.variables.emplace_back(in.string(text_limit));
    return whole(in, std::move(begin));
}

std::string fetched(const Fetched& fetched) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(fetched.ended);
    out.varint(fetched.done);
    out.varint(fetched.total);
    out.string(std::string_view(fetched.problem).substr(0, text_limit));
    return bytes;
}

std::optional<Fetched> fetched(std::string_view bytes) {
    ByteReader in(bytes);
    Fetched fetched;
    fetched.ended = in.boolean();
    fetched.done = in.varint();
    fetched.total = in.varint();
    fetched.problem = in.string(text_limit);
    return whole(in, std::move(fetched));
}

} // namespace auger::debuginfod_messages
