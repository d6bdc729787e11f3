// SPDX-License-Identifier: GPL-3.0-or-later
// Where the threads of a process keep a variable of their own, by what a file of the process says
// of it, and what the dynamic linker has noted in the process. Changes when threads' variables are
// to be found in another way.
#pragma once

#include "bpf/wire.h"
#include "loader/base/result.h"
#include "loader/values/thread_variable.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace auger {

// OpenTelemetry's thread context (OTEP 4947): a pointer to a record of what the thread works for.
inline constexpr std::string_view thread_context_variable = "otel_thread_ctx_v1";

// A word of the process's memory; nothing: it cannot be read.
using ReadWord = std::function<std::optional<uint64_t>(uint64_t address)>;

// `is_program`: the file is what the process executes. `bias`: how far from where it is linked it
// lies. `with_vectors`: the C library keeps vectors of blocks as glibc does. Nothing: the dynamic
// linker has not been there yet, or its note cannot be read. Errors have a cause.
Result<std::optional<wire_thread_place>> thread_place(const ThreadVariable& variable,
                                                      bool is_program, bool with_vectors,
                                                      uint64_t bias, const ReadWord& read);

} // namespace auger
