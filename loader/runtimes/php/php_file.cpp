// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/php/php_file.h"

#include "loader/base/bytes.h"

namespace auger {

std::string encode_php_file(const PhpFile& file) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(file.version);
    out.varint(file.thread_safe);
    for (const uint64_t value :
         {file.globals, file.loop.body, file.loop.body_size, file.loop.cold, file.loop.cold_size})
        out.varint(value);
    return bytes;
}

std::optional<PhpFile> decode_php_file(std::string_view bytes) {
    ByteReader in(bytes);
    PhpFile file;
    file.version = in.varint32();
    file.thread_safe = in.boolean();
    for (uint64_t* value : {&file.globals, &file.loop.body, &file.loop.body_size, &file.loop.cold,
                            &file.loop.cold_size})
        *value = in.varint();
    if (in.failed() || !in.at_end())
        return std::nullopt;
    return file;
}

} // namespace auger
