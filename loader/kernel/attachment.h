// SPDX-License-Identifier: GPL-3.0-or-later
// Attachment: the probes of some functions of one file, in one process or in all. Made whole or not
// at all; gone with the object. Only descriptors hold it, so that nothing remains after SIGKILL.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"
#include "loader/kernel/programs.h"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace auger {

// The file's probed places, with the cookie that each probe carries.
struct ProbeSites {
    std::vector<uint64_t> offsets; // in the file, bytes
    std::vector<uint64_t> cookies;

    void add(uint64_t offset, uint64_t cookie) {
        offsets.push_back(offset);
        cookies.push_back(cookie);
    }
    bool empty() const { return offsets.empty(); }
};

// How probes are attached: with one link for many places, or with a perf event each (Linux
// before 6.6).
enum class AttachWay { multi, perf };
// How the ends of calls are seen.
enum class ExitWay {
    instructions, // probes on the exit instructions
    return_probe, // entry and return probes (Linux before 6.13)
    session,      // entry and return in one
    none,         // no calls: lines, at `entries`
};

struct AttachmentRequest {
    int file_fd = -1; // of the probed file
    pid_t pid = 0;    // 0: every process that maps it
    AttachWay way = AttachWay::multi;
    ExitWay exit = ExitWay::instructions;
    ProbeSites entries;
    ProbeSites exits;    // used by ExitWay::instructions
    std::string subject; // for messages
};

class Attachment {
  public:
    static Result<Attachment> make(const Programs& programs, const AttachmentRequest& request);
    Attachment(Attachment&&) noexcept = default;
    Attachment& operator=(Attachment&&) noexcept = default;
    // Perf events take about 0.1 s each to detach, so a thread of its own does it.
    ~Attachment();

    std::vector<uint64_t> link_ids() const;
    size_t links() const { return links_.size(); }
    pid_t pid() const { return pid_; }

  private:
    Attachment() = default;

    pid_t pid_ = 0;
    AttachWay way_ = AttachWay::multi;
    std::vector<UniqueFd> links_;
};

} // namespace auger
