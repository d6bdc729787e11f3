// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/dwarf_messages.h"

#include "loader/base/bytes.h"

#include <algorithm>

namespace auger::dwarf_messages {
namespace {

enum Kind : uint32_t { kind_open = 0, kind_addresses = 1 };
constexpr size_t text_limit = 64 << 10; // of a name or path
constexpr size_t chain_limit = 1024;    // of functions at one address
// More than any file's sections are: by them others' readers are ended to have room.
constexpr size_t section_bytes_limit = size_t{16} << 30;

} // namespace

std::string open(const Files& files) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(kind_open);
    out.string(std::string_view(files.name).substr(0, text_limit));
    out.varint(files.dwarf);
    out.varint(files.alternative);
    out.varint(files.go_program);
    return bytes;
}

std::string addresses(std::span<const uint64_t> addresses) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(kind_addresses);
    out.varint(addresses.size());
    for (const uint64_t address : addresses)
        out.fixed64(address);
    return bytes;
}

std::optional<Request> request(std::string_view bytes) {
    ByteReader in(bytes);
    Request request;
    if (in.varint_up_to(kind_addresses) == kind_open) {
        Files& files = request.files.emplace();
        files.name = in.string(text_limit);
        files.dwarf = in.boolean();
        files.alternative = in.boolean();
        files.go_program = in.boolean();
    } else {
        request.addresses.resize(in.varint_up_to(in.left() / sizeof(uint64_t)));
        for (uint64_t& address : request.addresses)
            address = in.fixed64();
    }
    return in.failed() ? std::nullopt : std::optional(std::move(request));
}

std::string opened(const Opened& opened) {
    std::string bytes;
    ByteWriter out(bytes);
    out.string(std::string_view(opened.problem).substr(0, text_limit));
    out.varint(opened.section_bytes);
    return bytes;
}

std::optional<Opened> opened(std::string_view bytes) {
    ByteReader in(bytes);
    Opened opened;
    opened.problem = in.string(text_limit);
    opened.section_bytes = in.varint_up_to(section_bytes_limit);
    return in.failed() ? std::nullopt : std::optional(std::move(opened));
}

std::string frames(std::span<const Frames> all) {
    std::string bytes;
    ByteWriter out(bytes);
    for (const Frames& chain : all) {
        const size_t before = bytes.size();
        const size_t depth = std::min(chain.size(), chain_limit);
        out.varint(depth);
        for (size_t i = 0; i < depth; i++) {
            out.string(std::string_view(chain[i].function).substr(0, text_limit));
            out.string(std::string_view(chain[i].file).substr(0, text_limit));
            out.varint(chain[i].line);
            out.varint(chain[i].inlined);
        }
        // What is too long to be sent is not known.
        if (bytes.size() > answer_limit - all.size()) {
            bytes.resize(before);
            out.varint(0);
        }
    }
    return bytes;
}

std::optional<std::vector<Frames>> frames(std::string_view bytes, size_t count) {
    ByteReader in(bytes);
    std::vector<Frames> all(count);
    for (Frames& chain : all) {
        // Each takes four bytes at least.
        chain.resize(in.varint_up_to(std::min(chain_limit, in.left() / 4)));
        for (SourceFrame& frame : chain) {
            frame.function = in.string(text_limit);
            frame.file = in.string(text_limit);
            frame.line = in.varint32();
            frame.inlined = in.boolean();
        }
        if (in.failed())
            return std::nullopt;
    }
    return all;
}

} // namespace auger::dwarf_messages
