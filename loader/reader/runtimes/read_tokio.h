// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "loader/reader/code/function_code.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/runtimes/tokio/tokio_file.h"

#include <optional>

namespace auger {

// Nothing when the file has no function of tokio's that notes which task a thread polls: it holds
// no tokio, or is stripped, or all of that function was inlined.
std::optional<TokioFile> read_tokio(const ElfFile& file);

// Where a function of tokio's stores the number of a task: its argument, an Id, or an Option<Id>
// (one word, or two in versions in which 0 is an Id). id 0: it is not understood.
wire_tokio_task tokio_task_of(const CodePart& setter);

} // namespace auger
