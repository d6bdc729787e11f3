// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/python/python_file.h"

#include "loader/base/bytes.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <system_error>

namespace auger {
namespace {

// Minor versions that have _PyRuntime, and do not export Py_Version.
constexpr uint8_t oldest_runtime = 7, newest_without_version = 10;

} // namespace

// PY_VERSION, of which Py_GetVersion() makes its text, is a text by itself.
uint32_t python_version_in(std::string_view constants) {
    constexpr std::string_view begin("\0003.", 3);
    constexpr uint32_t final_release = 0xf0;
    uint32_t found = 0;
    for (size_t at = constants.find(begin); at != constants.npos;
         at = constants.find(begin, at + 1)) {
        const std::string_view text = constants.substr(at + begin.size());
        const char* const end = text.data() + text.size();
        uint8_t minor = 0, micro = 0;
        const auto behind_minor = std::from_chars(text.data(), end, minor);
        if (behind_minor.ec != std::errc() || behind_minor.ptr == end || *behind_minor.ptr != '.' ||
            minor < oldest_runtime || minor > newest_without_version)
            continue;
        auto [behind, error] = std::from_chars(behind_minor.ptr + 1, end, micro);
        if (error == std::errc() && behind != end && *behind == '+') // of its branch, not released
            ++behind;
        if (error != std::errc() || behind == end || *behind != '\0')
            continue;
        const uint32_t version =
            uint32_t{3} << 24 | uint32_t{minor} << 16 | uint32_t{micro} << 8 | final_release;
        // Other libraries in it have versions, too.
        if (found && found != version)
            return 0;
        found = version;
    }
    return found;
}

std::string encode_python_file(const PythonFile& file) {
    std::string bytes;
    ByteWriter out(bytes);
    out.varint(file.runtime);
    out.varint(file.hex_version);
    for (const uint64_t value :
         {file.loop.body, file.loop.body_size, file.loop.cold, file.loop.cold_size})
        out.varint(value);
    const size_t size = std::min(file.debug_offsets.size(), PythonFile::debug_offsets_limit);
    out.string({reinterpret_cast<const char*>(file.debug_offsets.data()), size});
    return bytes;
}

std::optional<PythonFile> decode_python_file(std::string_view bytes) {
    ByteReader in(bytes);
    PythonFile file;
    file.runtime = in.varint();
    file.hex_version = in.varint32();
    for (uint64_t* value :
         {&file.loop.body, &file.loop.body_size, &file.loop.cold, &file.loop.cold_size})
        *value = in.varint();
    const auto offsets = std::as_bytes(std::span(in.string(PythonFile::debug_offsets_limit)));
    if (in.failed() || !in.at_end())
        return std::nullopt;
    file.debug_offsets.assign(offsets.begin(), offsets.end());
    return file;
}

} // namespace auger
