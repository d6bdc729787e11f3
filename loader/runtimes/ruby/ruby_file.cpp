// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/ruby/ruby_file.h"

#include "loader/base/bytes.h"

namespace auger {

std::string encode_ruby_file(const RubyFile& file) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(file.version);
    out.varint(file.context.has_value());
    if (file.context)
        put_thread_variable(out, *file.context);
    for (const uint64_t value :
         {file.loop.body, file.loop.body_size, file.loop.cold, file.loop.cold_size, file.symbols})
        out.varint(value);
    return bytes;
}

std::optional<RubyFile> decode_ruby_file(std::string_view bytes) {
    ByteReader in(bytes);
    RubyFile file;
    file.version = in.varint32();
    if (in.boolean())
        file.context = take_thread_variable(in);
    for (uint64_t* value : {&file.loop.body, &file.loop.body_size, &file.loop.cold,
                            &file.loop.cold_size, &file.symbols})
        *value = in.varint();
    if (in.failed() || !in.at_end())
        return std::nullopt;
    return file;
}

} // namespace auger
