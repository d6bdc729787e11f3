// SPDX-License-Identifier: GPL-3.0-or-later
// What auger's exit code says to the script that called it.
#pragma once

#include "loader/base/result.h"

namespace auger {

enum class ExitCode : int {
    ok = 0,
    failed = 1,      // a command or an assert failed
    usage = 2,       // options or commands that make no sense
    unsupported = 3, // a missing privilege or kernel feature
};

inline ExitCode exit_code(Error::Kind kind) {
    switch (kind) {
    case Error::Kind::usage:
        return ExitCode::usage;
    case Error::Kind::unsupported:
        return ExitCode::unsupported;
    case Error::Kind::failed:
        break;
    }
    return ExitCode::failed;
}

} // namespace auger
