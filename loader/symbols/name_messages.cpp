// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/name_messages.h"

#include "loader/base/bytes.h"

namespace auger::name_messages {
namespace {

using elf_messages::cut;
using elf_messages::put_build_id;
using elf_messages::take_build_id;
using elf_messages::whole;

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

std::string read_symbols(const ReadSymbols& symbols) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(symbols.functions);
    out.varint(static_cast<uint64_t>(symbols.dwarf));
    out.varint(symbols.go);
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
    symbols.go = in.boolean();
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
