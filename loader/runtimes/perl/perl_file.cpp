// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/perl/perl_file.h"

#include "loader/base/bytes.h"

namespace auger {
namespace {

// In the order in which it is sent.
template <typename File>
auto codes_of(File& file) {
    return std::array{&file.loop, &file.run, &file.calls[0], &file.calls[1], &file.calls[2]};
}

} // namespace

std::string encode_perl_file(const PerlFile& file) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(file.version);
    out.varint(file.has_threads);
    out.varint(file.key);
    for (const LoopCode* const code : codes_of(file))
        for (const uint64_t value : {code->body, code->body_size, code->cold, code->cold_size})
            out.varint(value);
    return bytes;
}

std::optional<PerlFile> decode_perl_file(std::string_view bytes) {
    ByteReader in(bytes);
    PerlFile file;
    file.version = in.varint32();
    file.has_threads = in.boolean();
    file.key = in.varint();
    for (LoopCode* const code : codes_of(file))
        for (uint64_t* const value : {&code->body, &code->body_size, &code->cold, &code->cold_size})
            *value = in.varint();
    if (in.failed() || !in.at_end())
        return std::nullopt;
    return file;
}

} // namespace auger
