// SPDX-License-Identifier: GPL-3.0-or-later
// LinkProcesses: makes and closes links in processes that do nothing else. The kernel looks for the
// pages that it takes breakpoints out of on behalf of the thread that lets go of a link, and gives
// up when that thread is being killed: the breakpoints then stay until the process ends ("uprobe:
// failed to unregister, leaking uprobe"). The same goes for a link that is only half made. So
// neither happens in auger, which may be killed at any time, but in a process that lets go of links
// by its own end: one that is already ending cannot be killed any more.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/kernel/bpf_calls.h"

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace auger {

class LinkProcesses {
  public:
    // To be called before there is anything of the kernel's to hold: all of them are forked from
    // one that is forked here, which has nothing of auger's but its code.
    static Result<std::unique_ptr<LinkProcesses>> start();
    ~LinkProcesses();
    LinkProcesses(const LinkProcesses&) = delete;
    LinkProcesses& operator=(const LinkProcesses&) = delete;

    // What perf events take, which links of other kinds do not (CAP_SYS_ADMIN), is given up.
    void give_up_perf_events();
    // All or none, in their order. From any thread, like the others.
    Result<std::vector<UniqueFd>> make(std::span<const LinkRequest> requests);
    // Returns when the kernel has taken all of them off. It takes some 40 ms for one, most of which
    // it waits for programs that may run; those that are closed at the same time wait together.
    void close(std::vector<UniqueFd> links);
    // Does not wait for it; the destructor does.
    void close_later(std::vector<UniqueFd> links);

  private:
    // One of them, which ends when its socket is closed, or when auger ends.
    struct One {
        UniqueFd socket, process; // a pidfd

        bool take(std::span<const int> links) const;
        void wait() const;
    };

    LinkProcesses(UniqueFd socket, pid_t pid) : socket_(std::move(socket)), pid_(pid) {}
    std::optional<One> start_one();
    // Leaves in `links` what could not be handed over.
    std::vector<One> hand_over(std::vector<UniqueFd>& links);
    static Result<UniqueFd> ask(const One& one, const LinkRequest& request);

    std::mutex mutex_; // of the conversation and of what follows
    std::vector<One> unawaited_;
    UniqueFd socket_;
    pid_t pid_;
};

} // namespace auger
