// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/unwind/table_messages.h"

#include "loader/base/bytes.h"

#include <algorithm>

namespace auger::table_messages {
namespace {

constexpr size_t problem_limit = 1 << 10;
constexpr size_t build_id_limit = 128; // digits
constexpr size_t python_limit = PythonFile::debug_offsets_limit + 128;
constexpr size_t asyncio_limit = 64;
constexpr size_t hotspot_limit = 128;
constexpr size_t v8_limit =
    8 * (4 + V8File::constants_count) + 11 * (1 + V8File::offset_places_limit);
constexpr size_t php_limit = 64;
constexpr size_t ruby_limit = 128;
constexpr size_t perl_limit = 256;
constexpr size_t go_limit = 128;
constexpr size_t tokio_limit = 32;

// It becomes the name of a file.
bool is_build_id(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

} // namespace

std::string opened(const Opened& opened) {
    std::string bytes;
    ByteWriter out(bytes);
    out.string(std::string_view(opened.problem).substr(0, problem_limit));
    out.string(opened.build_id.size() <= build_id_limit ? opened.build_id : "");
    return bytes;
}

std::optional<Opened> opened(std::string_view bytes) {
    ByteReader in(bytes);
    Opened opened;
    opened.problem = in.string(problem_limit);
    opened.build_id = in.string(build_id_limit);
    if (in.failed() || !is_build_id(opened.build_id))
        return std::nullopt;
    return opened;
}

std::string tables(const Tables& tables) {
    std::string bytes;
    ByteWriter out(bytes);
    out.string(std::string_view(tables.problem).substr(0, problem_limit));
    out.string(tables.python ? encode_python_file(*tables.python) : "");
    out.string(tables.asyncio ? encode_asyncio_file(*tables.asyncio) : "");
    out.string(tables.hotspot ? encode_hotspot_file(*tables.hotspot) : "");
    out.string(tables.v8 ? encode_v8_file(*tables.v8) : "");
    out.string(tables.php ? encode_php_file(*tables.php) : "");
    out.string(tables.ruby ? encode_ruby_file(*tables.ruby) : "");
    out.string(tables.perl ? encode_perl_file(*tables.perl) : "");
    out.string(tables.go ? encode_go_file(*tables.go) : "");
    out.string(tables.tokio ? encode_tokio_file(*tables.tokio) : "");
    out.varint(tables.cached);
    bytes.append(reinterpret_cast<const char*>(tables.file.data()), tables.file.size());
    return bytes;
}

std::optional<Tables> tables(std::string_view bytes) {
    ByteReader in(bytes);
    Tables tables;
    tables.problem = in.string(problem_limit);
    const std::string_view python = in.string(python_limit);
    if (!python.empty() && !(tables.python = decode_python_file(python)))
        return std::nullopt;
    const std::string_view asyncio = in.string(asyncio_limit);
    if (!asyncio.empty() && !(tables.asyncio = decode_asyncio_file(asyncio)))
        return std::nullopt;
    const std::string_view hotspot = in.string(hotspot_limit);
    if (!hotspot.empty() && !(tables.hotspot = decode_hotspot_file(hotspot)))
        return std::nullopt;
    const std::string_view v8 = in.string(v8_limit);
    if (!v8.empty() && !(tables.v8 = decode_v8_file(v8)))
        return std::nullopt;
    const std::string_view php = in.string(php_limit);
    if (!php.empty() && !(tables.php = decode_php_file(php)))
        return std::nullopt;
    const std::string_view ruby = in.string(ruby_limit);
    if (!ruby.empty() && !(tables.ruby = decode_ruby_file(ruby)))
        return std::nullopt;
    const std::string_view perl = in.string(perl_limit);
    if (!perl.empty() && !(tables.perl = decode_perl_file(perl)))
        return std::nullopt;
    const std::string_view go = in.string(go_limit);
    if (!go.empty() && !(tables.go = decode_go_file(go)))
        return std::nullopt;
    const std::string_view tokio = in.string(tokio_limit);
    if (!tokio.empty() && !(tables.tokio = decode_tokio_file(tokio)))
        return std::nullopt;
    tables.cached = in.boolean();
    if (in.failed())
        return std::nullopt;
    tables.file = std::as_bytes(std::span(bytes.substr(in.position())));
    return tables;
}

} // namespace auger::table_messages
