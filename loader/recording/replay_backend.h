// SPDX-License-Identifier: GPL-3.0-or-later
// The backend of `--replay`: a recording in place of a kernel. Needs no privilege. Its time passes
// as fast as it is asked for, or at a speed.
#pragma once

#include "loader/backend.h"
#include "loader/base/result.h"
#include "loader/recording/find_recordings.h"
#include "loader/stream/events.h"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace auger {

class ConfinedProcesses;

// `sink` receives the recording's stream during poll(): `timeout` worth of its own time at once,
// and must outlive the backend. The file's probes are read ahead, so `add_probe` with the text of
// one succeeds from the start and gives the recorded probe the caller's id. Damage is told by
// on_notice at the first poll(); only a file of which nothing can be read is an Error.
//
// Several recordings are one, of several machines (see MergedRecordings); a folder is all those in
// it, and of all of them only what is selected is read.
struct ReplayOptions {
    // poll() waits until that much of the recording's time is due (1: as recorded), and delivers no
    // more.
    std::optional<double> speed{};
    // A folder with files of the recorded machine, for names that the recording lacks; or empty.
    std::string sysroot{};
    // What reads them; null: started when there is such a folder.
    std::shared_ptr<ConfinedProcesses> readers{};
    RecordedSelection selection{};
};
Result<std::unique_ptr<Backend>> open_replay(std::span<const std::string> paths, EventSink& sink,
                                             const ReplayOptions& options = {});

} // namespace auger
