// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/elf_messages.h"

namespace auger::elf_messages {
namespace {

constexpr size_t id_limit = 128;   // hexadecimal digits of a build id
constexpr size_t link_limit = 255; // bytes of a file's name, in every file system

// Files are looked for by it.
bool is_build_id(std::string_view text) {
    return text.size() % 2 == 0 &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_file_name(std::string_view text) {
    return !text.empty() && text.size() <= link_limit && text != "." && text != ".." &&
           text.find('/') == std::string_view::npos && text.find('\0') == std::string_view::npos;
}

} // namespace

void put_build_id(ByteWriter& out, std::string_view text) {
    out.string(text.size() <= id_limit ? text : "");
}

std::string take_build_id(ByteReader& in) {
    const std::string_view text = in.string(id_limit);
    if (!is_build_id(text))
        in.fail();
    return std::string(text);
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

} // namespace auger::elf_messages
