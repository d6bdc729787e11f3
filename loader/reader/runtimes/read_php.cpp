// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/runtimes/read_php.h"

#include "loader/reader/elf/symbol_address.h"
#include "loader/reader/runtimes/find_loop_code.h"

#include <charconv>
#include <string_view>
#include <system_error>

namespace auger {
namespace {

constexpr std::string_view loop = "execute_ex", globals = "executor_globals",
                           thread_safe_globals = "executor_globals_offset",
                           version_text = "X-Powered-By: PHP/";
constexpr size_t php_exports_limit = 1 << 20; // bytes; PHP's names are 62 kB
constexpr size_t constants_limit = 16 << 20;  // bytes of .rodata

// "8.2.36": 0x080224.
uint32_t version_in(std::string_view constants) {
    size_t at = constants.find(version_text);
    if (at == constants.npos)
        return 0;
    const char* const end = constants.data() + constants.size();
    const char* from = constants.data() + at + version_text.size();
    uint32_t version = 0;
    for (int part = 0; part < 3; part++) {
        uint8_t number = 0;
        const auto [behind, error] = std::from_chars(from, end, number);
        if (error != std::errc() || (part < 2 && (behind == end || *behind != '.')))
            return 0;
        version = version << 8 | number;
        if (part < 2)
            from = behind + 1;
    }
    return version;
}

} // namespace

std::optional<PhpFile> read_php(const ElfFile& file) {
    // Of nearly every file this is all that is read.
    const auto section = file.section(".dynstr");
    if (!section || section->size > php_exports_limit)
        return std::nullopt;
    const auto exported = file.read_section(".dynstr", php_exports_limit);
    const std::string_view names(reinterpret_cast<const char*>(exported.data()), exported.size());
    if (names.find(loop) == names.npos || names.find(globals) == names.npos)
        return std::nullopt;
    const auto loop_at = symbol_address(file, loop), globals_at = symbol_address(file, globals);
    PhpFile php;
    php.thread_safe = !globals_at && symbol_address(file, thread_safe_globals);
    if (!loop_at || (!globals_at && !php.thread_safe))
        return std::nullopt;
    const auto constants = file.read_section(".rodata", constants_limit);
    php.version = version_in({reinterpret_cast<const char*>(constants.data()), constants.size()});
    if (php.thread_safe)
        return php;
    php.globals = *globals_at;
    const FunctionBounds functions(file);
    php.loop = find_loop_code(file, functions, *loop_at, loop);
    return php;
}

} // namespace auger
