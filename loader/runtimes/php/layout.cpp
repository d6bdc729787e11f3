// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/runtimes/php/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace auger {
namespace {

constexpr uint64_t code_limit = 16 << 20; // of execute_ex(), which has some 60 kB

// Members of struct _zend_op_array (Zend/zend_compile.h): opcodes, last, filename, line_start; and
// execute_data of struct _zend_generator (Zend/zend_generators.h). From the headers of Debian's
// php7.4-dev, php8.2-dev and php8.4-dev, of which programs were looked at too, and of Ubuntu's
// php8.1-dev and php8.3-dev. 8.0 has 8.1's: of its own there was no header at hand; that `filename`
// lies there OpenTelemetry's profiler says as well.
struct Version {
    uint32_t minor; // 0x0802: 8.2
    uint32_t instructions, count, file, line, generator_frame;
};
constexpr std::array<Version, 6> versions = {{
    {0x0704, 64, 60, 136, 144, 64},
    {0x0800, 72, 68, 144, 152, 0},
    {0x0801, 72, 68, 144, 152, 56},
    {0x0802, 88, 80, 152, 160, 56},
    {0x0803, 80, 76, 144, 152, 56},
    {0x0804, 104, 96, 168, 176, 56},
}};

// current_execute_data in struct _zend_executor_globals (Zend/zend_globals.h), in all of these.
constexpr uint32_t globals_frame = 488;

Error unknown_php(const PhpFile& file, std::string cause) {
    return {"show PHP's functions",
            file.version ? fmt::format("of PHP {}.{}.{}", file.version >> 16,
                                       file.version >> 8 & 255, file.version & 255)
                         : "of a PHP that does not say its version",
            std::move(cause), "the interpreter's own functions are shown instead",
            Error::Kind::unsupported};
}

} // namespace

Result<PhpLayout> php_layout(const PhpFile& file) {
    if (file.thread_safe)
        return unknown_php(file, "it is a thread-safe build (ZTS), whose frames are elsewhere");
    const auto version = std::ranges::find(versions, file.version >> 8, &Version::minor);
    if (version == versions.end())
        return unknown_php(file, "auger knows the frames of 7.4 to 8.4");
    if (file.loop.body_size == 0 || file.loop.body_size > code_limit ||
        file.loop.cold_size > code_limit)
        return unknown_php(file, "where its loop begins and ends (execute_ex) is not known");
    PhpLayout layout{};
    layout.loop = loop_from(file.loop, file.globals);
    layout.globals_frame = globals_frame;
    layout.function_instructions = version->instructions;
    layout.function_count = version->count;
    layout.function_file = version->file;
    layout.function_line = version->line;
    layout.generator_frame = version->generator_frame;
    layout.version = version->minor;
    return layout;
}

} // namespace auger
