// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/python/python_file.h"

#include "loader/base/bytes.h"

#include <algorithm>
#include <span>

namespace auger {

std::string encode_python_file(const PythonFile& file) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(file.runtime);
    out.varint(file.hex_version);
    const size_t size = std::min(file.debug_offsets.size(), PythonFile::debug_offsets_limit);
    out.string({reinterpret_cast<const char*>(file.debug_offsets.data()), size});
    return bytes;
}

std::optional<PythonFile> decode_python_file(std::string_view bytes) {
    ByteReader in(bytes);
    PythonFile file;
    file.runtime = in.varint();
    file.hex_version = in.varint32();
    const auto offsets = std::as_bytes(std::span(in.string(PythonFile::debug_offsets_limit)));
    if (in.failed() || !in.at_end())
        return std::nullopt;
    file.debug_offsets.assign(offsets.begin(), offsets.end());
    return file;
}

} // namespace auger
