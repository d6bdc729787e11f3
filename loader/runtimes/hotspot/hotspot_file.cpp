// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/hotspot/hotspot_file.h"

#include "loader/base/bytes.h"

namespace auger {

std::string encode_hotspot_file(const HotspotFile& file) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(file.structs);
    out.varint(file.types);
    return bytes;
}

std::optional<HotspotFile> decode_hotspot_file(std::string_view bytes) {
    ByteReader in(bytes);
    HotspotFile file;
    file.structs = in.varint();
    file.types = in.varint();
    if (in.failed() || !in.at_end())
        return std::nullopt;
    return file;
}

} // namespace auger
