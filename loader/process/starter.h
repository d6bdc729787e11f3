// SPDX-License-Identifier: GPL-3.0-or-later
// Starter: a process that is forked before auger gives up what it does not need, and starts the
// commands that auger observes, which are to have all rights that they would have without auger:
// root's commands are root, and `sudo` among them may gain rights. Under sudo it becomes the
// invoking user at once, and has no more rights than that user. Without sudo it is what auger was:
// whoever can make a root auger start commands can do what root can, which SECURITY.md says.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/process/proc_info.h"

#include <sys/types.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace auger {

class Starter {
  public:
    // A command that waits on `go` until a byte comes, then is executed: a child of this process,
    // not of the starter.
    struct Command {
        std::vector<std::string> paths; // to try in order
        std::vector<std::string> arguments, environment;
        bool own_group = false;
        int go = -1, error = -1; // descriptors; `error` gets an ExecFailure (launch.cpp)
        int stdio[3] = {-1, -1, -1};
    };
    struct Started {
        pid_t pid;
        UniqueFd process; // a pidfd
    };

    static Result<std::unique_ptr<Starter>> start(const std::optional<InvokingUser>& user);
    ~Starter(); // ends it; commands go on
    Starter(const Starter&) = delete;
    Starter& operator=(const Starter&) = delete;

    Result<Started> run(const Command& command);
    pid_t pid() const { return pid_; }

  private:
    Starter(UniqueFd socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}

    UniqueFd socket_;
    pid_t pid_;
};

// Between fork and exec: becomes the command, or says why not, and ends. Defined beside the fork
// that does without a starter (launch.cpp).
struct WaitingCommand {
    std::vector<std::string> paths;
    std::vector<char*> arguments, environment; // each ends with null
    const InvokingUser* user = nullptr;        // to become; null: stay
    std::vector<gid_t> groups;
    bool own_group = false;
    int stdio[3] = {-1, -1, -1};
    int go = -1, error = -1;
};
[[noreturn]] void become_command(const WaitingCommand& command);

} // namespace auger
