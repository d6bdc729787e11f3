// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/runtimes/read_python.h"

#include "loader/reader/elf/symbol_address.h"
#include "loader/reader/runtimes/find_loop_code.h"

#include <cstring>
#include <string_view>

namespace auger {
namespace {

constexpr std::string_view python_loop = "_PyEval_EvalFrameDefault";
constexpr size_t python_exports_limit = 1 << 20;    // bytes; CPython's names are 40 kB
constexpr size_t python_constants_limit = 16 << 20; // bytes of .rodata

// Of nearly every file this is all that is read.
bool may_hold_python(const ElfFile& file) {
    if (file.has_section(".PyRuntime")) // since 3.10
        return true;
    const auto section = file.section(".dynstr");
    if (!section || section->size > python_exports_limit)
        return false;
    const auto exported = file.read_section(".dynstr", python_exports_limit);
    const std::string_view names(reinterpret_cast<const char*>(exported.data()), exported.size());
    return names.find(python_loop) != names.npos;
}

} // namespace

std::optional<PythonFile> read_python(const ElfFile& file) {
    if (!may_hold_python(file))
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
    } else {
        const auto constants = file.read_section(".rodata", python_constants_limit);
        python.hex_version =
            python_version_in({reinterpret_cast<const char*>(constants.data()), constants.size()});
        if (const auto address = symbol_address(file, python_loop))
            python.loop = find_loop_code(file, FunctionBounds(file), *address, python_loop);
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
