// SPDX-License-Identifier: GPL-3.0-or-later
// From what is asked of a function's calls to the program that the kernel runs.
#pragma once

#include "loader/base/result.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/reader/matching/module_debug.h"
#include "loader/values/call_program.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace auger {

// Whose values they are.
struct ValueScope {
    std::string function; // as in messages, and for parameters of well-known functions: "recv"
    // The module that holds the function (of a call site: the function that is called); null: not
    // known, and there is only the calling convention.
    std::shared_ptr<const ElfFile> file{};
    std::shared_ptr<ModuleDebug> debug{};
    // Of the function, as linked. At a call instruction everything is where it is when the function
    // begins.
    uint64_t address = 0;
    // errno_offset() of the processes.
    Result<int32_t> error_number = Error{{}, {}, "its location is not known", {}};
    // Of a site of a USDT probe, which is at the address, as its note has them: its only values.
    std::optional<std::string> usdt_arguments{};
    // Of a tracepoint, the text of its format file: it has these fields and no other values.
    std::optional<std::string> tracepoint{};
};

// Values that are read when a call begins are those at the function's first byte: its entry probe
// must not sit behind an instruction that writes a register that an argument may be in.
//
// Nothing when nothing is asked. Fails with a Range within the text concerned (which is the
// error's subject): a syntax error, an unknown parameter or member (with near ones), what is too
// deep or of a type that is not a number, pointer or string, a comparison that does not type-check,
// too many values.
Result<std::optional<CallProgram>> compile_program(const ProgramRequest& request,
                                                   const ValueScope& scope);

} // namespace auger
