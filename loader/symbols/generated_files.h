// SPDX-License-Identifier: GPL-3.0-or-later
// The files in which programs tell of the code that they generate: found and opened, with
// suspicion, and not read. A perf map is opened beneath the target's root, no symbolic link; both
// kinds are regular files, of the target's user or root.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"

#include <sys/types.h>

#include <string>
#include <string_view>

namespace auger {

// Whether a mapping of this file is the sign by which a JIT makes its jitdump known.
bool is_jit_dump(std::string_view path);
// Fails when the open file is not to be trusted: what a program of `uid`'s wrote is `uid`'s or
// root's.
Result<void> check_generated_file(int fd, const std::string& path, uid_t uid);
// `root` is a folder's descriptor, `namespace_pid` the number in the name. Fails also when there is
// none; it may come later.
Result<UniqueFd> open_perf_map(int root, pid_t namespace_pid, uid_t uid);

} // namespace auger
