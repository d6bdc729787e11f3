// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/hotspot/hotspot_file.h"

#include "loader/base/bytes.h"

namespace auger {

std::string encode_hotspot_file(const HotspotFile& file) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(file.structs);
    out.varint(file.types);
    out.varint(file.thread.has_value());
    if (file.thread)
        put_thread_variable(out, *file.thread);
    return bytes;
}

std::optional<HotspotFile> decode_hotspot_file(std::string_view bytes) {
    ByteReader in(bytes);
    HotspotFile file;
    file.structs = in.varint();
    file.types = in.varint();
    if (in.varint_up_to(1))
        file.thread = take_thread_variable(in);
    if (in.failed() || !in.at_end())
        return std::nullopt;
    return file;
}

} // namespace auger
