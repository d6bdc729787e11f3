// SPDX-License-Identifier: GPL-3.0-or-later
// The command line, turned into what to observe with and lines of the language: an option that has
// a command is that command, so that it means the same and fails the same.
#pragma once

#include "loader/kernel/live_backend.h"
#include "loader/recording/replay_backend.h"
#include "loader/remote/host_command.h"
#include "repl/exit_code.h"
#include "repl/language/complaint.h"
#include "repl/session/store_limit.h"
#include "views/model/sample_store.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace auger {

struct Options {
    std::vector<ScriptLine> setup; // target, exit, record: a failure here ends auger
    struct Script {
        bool file;        // else a text
        std::string text; // path, or commands
    };
    std::vector<Script> scripts;     // -f and -e, in the order given
    std::vector<std::string> replay; // paths; none: live
    ReplayOptions replay_options;
    std::vector<remote::HostCommand> hosts; // to observe by agents; none: this machine
    uint64_t host_bytes = 0;                // a second, that are read of one at most; 0: as ever
    bool agent = false;                     // be one, and nothing else
    LiveOptions live;
    size_t store_samples = SampleStore::default_capacity;
    uint64_t store_bytes = StoreLimit::default_bytes;
    bool batch = false;
    bool json = false;
    bool keep_going = false;
    bool prompt = false; // begin there, not in the live view
};

// Options, or the exit code when there is nothing to run (--help, --version, a mistake); what there
// is to say has been printed.
std::variant<Options, ExitCode> parse_options(int argc, char** argv);

} // namespace auger
