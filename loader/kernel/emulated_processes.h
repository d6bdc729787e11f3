// SPDX-License-Identifier: GPL-3.0-or-later
// Probes keep away from processes that translate the code they are in (loader/process/emulator.h).
#pragma once

#include "loader/base/result.h"
#include "loader/kernel/target_view.h"
#include "loader/process/proc_maps.h"

#include <span>
#include <string>

namespace auger {

// Fails when a process of the target is an emulator. `operation` and `subject` are the error's. (Of
// the whole machine the processes are nobody's choice: see below.)
Result<void> refuse_emulators(const TargetView& view, const std::string& operation,
                              const std::string& subject);

// Whether one of the mappings is of the file.
bool is_mapped(std::span<const Mapping> maps, FileIdentity file);

// Fails when an emulator, whosoever, has the file mapped: a probe for every process would reach it.
Result<void> refuse_emulators_of(const TargetModule& module, const std::string& subject);

} // namespace auger
