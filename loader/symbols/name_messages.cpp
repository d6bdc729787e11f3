// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/name_messages.h"

#include "loader/base/bytes.h"

#include <algorithm>

namespace auger::name_messages {
namespace {

constexpr size_t id_limit = 128;   // hexadecimal digits of a build id
constexpr size_t link_limit = 255; // bytes of a file's name, in every file system

std::string_view cut(std::string_view text) {
    return text.substr(0, text_limit);
}

// Files are looked for by it.
bool is_build_id(std::string_view text) {
    return text.size() % 2 == 0 &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_file_name(std::string_view text) {
    return !text.empty() && text.size() <= link_limit && text != "." && text != ".." &&
           text.find('/') == std::string_view::npos && text.find('\0') == std::string_view::npos;
}

// One that no linker writes is none.
void put_build_id(ByteWriter& out, std::string_view text) {
    out.string(text.size() <= id_limit ? text : "");
}

std::string take_build_id(ByteReader& in) {
    const std::string_view text = in.string(id_limit);
    if (!is_build_id(text))
        in.fail();
    return std::string(text);
}

template <typename T>
std::optional<T> whole(const ByteReader& in, T value) {
    return in.failed() || !in.at_end() ? std::nullopt : std::optional<T>(std::move(value));
}

} // namespace

std::string request(const Request& request) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(static_cast<uint64_t>(request.kind));
    out.varint(request.number);
    out.string(cut(request.name));
    out.varint(request.has_map);
    out.varint(request.has_dump);
    out.varint(request.queries.size());
    for (const AddressQuery& query : request.queries) {
        out.fixed64(query.address);
        out.fixed64(query.place);
    }
    return bytes;
}

std::optional<Request> request(std::string_view bytes) {
    ByteReader in(bytes);
    Request request;
    request.kind = static_cast<Kind>(in.varint_up_to(static_cast<uint64_t>(Kind::close)));
    request.number = in.varint32();
    request.name = in.string(text_limit);
    request.has_map = in.boolean();
    request.has_dump = in.boolean();
    request.queries.resize(in.varint_up_to(in.left() / (2 * sizeof(uint64_t))));
    for (AddressQuery& query : request.queries) {
        query.address = in.fixed64();
        query.place = in.fixed64();
    }
    return whole(in, std::move(request));
}

std::string opened(const Opened& opened) {
    std::string bytes;
    ByteWriter out(bytes);
    out.string(cut(opened.problem));
    put_build_id(out, opened.build_id);
    const bool has_link = opened.link && is_file_name(opened.link->file_name);
    out.varint(has_link);
    if (has_link) {
        out.string(opened.link->file_name);
        out.fixed32(opened.link->crc);
    }
    out.varint(opened.symbols);
    out.varint(opened.dwarf);
    return bytes;
}

std::optional<Opened> opened(std::string_view bytes) {
    ByteReader in(bytes);
    Opened opened;
    opened.problem = in.string(text_limit);
    opened.build_id = take_build_id(in);
    if (in.boolean()) {
        opened.link.emplace();
        opened.link->file_name = in.string(link_limit);
        opened.link->crc = in.fixed32();
        if (!is_file_name(opened.link->file_name))
            in.fail();
    }
    opened.symbols = in.boolean();
    opened.dwarf = in.boolean();
    return whole(in, std::move(opened));
}

std::string build_id(const BuildId& build_id) {
    std::string bytes;
    ByteWriter out(bytes);
    put_build_id(out, build_id.text);
    return bytes;
}

std::optional<BuildId> build_id(std::string_view bytes) {
    ByteReader in(bytes);
    BuildId id{take_build_id(in)};
    return whole(in, std::move(id));
}

std::string checksum(const Checksum& checksum) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(checksum.crc.has_value());
    out.fixed32(checksum.crc.value_or(0));
    return bytes;
}

std::optional<Checksum> checksum(std::string_view bytes) {
    ByteReader in(bytes);
    const bool has_one = in.boolean();
    const uint32_t crc = in.fixed32();
    return whole(in, Checksum{has_one ? std::optional(crc) : std::nullopt});
}

std::string read_symbols(const ReadSymbols& symbols) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(symbols.functions);
    out.varint(static_cast<uint64_t>(symbols.dwarf));
    out.varint(symbols.alternative.has_value());
    put_build_id(out, symbols.alternative.value_or(""));
    return bytes;
}

std::optional<ReadSymbols> read_symbols(std::string_view bytes) {
    ByteReader in(bytes);
    ReadSymbols symbols;
    symbols.functions = in.varint();
    symbols.dwarf = static_cast<ReadSymbols::Dwarf>(
        in.varint_up_to(static_cast<uint64_t>(ReadSymbols::Dwarf::apart)));
    const bool has_alternative = in.boolean();
    std::string alternative = take_build_id(in);
    if (has_alternative)
        symbols.alternative = std::move(alternative);
    return whole(in, std::move(symbols));
}

std::string refreshed(const Refreshed& refreshed) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(refreshed.news);
    out.varint(refreshed.more);
    out.varint(refreshed.damaged);
    out.varint(refreshed.pieces);
    out.varint(refreshed.memory);
    out.varint(refreshed.skipped);
    return bytes;
}

std::optional<Refreshed> refreshed(std::string_view bytes) {
    ByteReader in(bytes);
    Refreshed refreshed;
    refreshed.news = in.boolean();
    refreshed.more = in.boolean();
    refreshed.damaged = in.boolean();
    refreshed.pieces = in.varint();
    refreshed.memory = in.varint();
    refreshed.skipped = in.varint();
    return whole(in, refreshed);
}

std::string names(std::span<const AddressName> names) {
    std::string bytes;
    ByteWriter out(bytes);
    for (const AddressName& name : names) {
        out.string(cut(name.text));
        out.varint(name.named);
    }
    return bytes;
}

std::optional<std::vector<AddressName>> names(std::string_view bytes, size_t count) {
    ByteReader in(bytes);
    std::vector<AddressName> all(count);
    for (AddressName& name : all) {
        name.text = in.string(text_limit);
        name.named = in.boolean();
        // What is shown is never nothing.
        if (name.text.empty())
            in.fail();
        if (in.failed())
            return std::nullopt;
    }
    return whole(in, std::move(all));
}

} // namespace auger::name_messages
