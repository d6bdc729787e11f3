// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/runtimes/read_python.h"

#include "loader/reader/elf/symbol_address.h"

#include <cstring>
#include <string_view>

namespace auger {

std::optional<PythonFile> read_python(const ElfFile& file) {
    if (!file.has_section(".PyRuntime"))
        return std::nullopt;
    const auto runtime = symbol_address(file, "_PyRuntime");
    if (!runtime)
        return std::nullopt;
    PythonFile python;
    python.runtime = *runtime;
    if (const auto version = symbol_address(file, "Py_Version")) {
        const auto bytes = file.read_code(*version, sizeof python.hex_version);
        if (bytes.size() != sizeof python.hex_version)
            return std::nullopt;
        std::memcpy(&python.hex_version, bytes.data(), sizeof python.hex_version);
    }
    constexpr std::string_view cookie = "xdebugpy"; // since 3.13
    auto begin = file.read_code(*runtime, PythonFile::debug_offsets_limit);
    if (begin.size() >= cookie.size() &&
        std::memcmp(begin.data(), cookie.data(), cookie.size()) == 0)
        python.debug_offsets = std::move(begin);
    return python;
}

std::optional<AsyncioFile> read_asyncio(const ElfFile& file) {
    constexpr const char* section = ".AsyncioDebug";
    constexpr size_t limit = 1024; // bytes
    if (!file.has_section(section))
        return std::nullopt;
    return parse_asyncio_file(file.read_section(section, limit));
}

} // namespace auger
