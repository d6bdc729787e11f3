// SPDX-License-Identifier: GPL-3.0-or-later
// Attachment: the probes of some functions of one file, in one process or in all. Made whole or not
// at all; gone with the object, or before, when somebody is about to write to the file. Only
// descriptors hold it, so that nothing remains after SIGKILL; they are made and closed by processes
// that it does not hit (LinkProcesses).
#pragma once

#include "loader/base/result.h"
#include "loader/kernel/file_guard.h"
#include "loader/kernel/programs.h"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace auger {

// auger's own program, as a file to try probes on.
inline constexpr const char* own_program = "/proc/self/exe";

// The file's probed places, with the cookie that each probe carries.
struct ProbeSites {
    std::vector<uint64_t> offsets; // in the file, bytes
    std::vector<uint64_t> cookies;
    // Of each, where in the file two bytes lie that the kernel counts its probes in, in the memory
    // of each process that has them (a USDT probe's semaphore); 0: nowhere.
    std::vector<uint64_t> semaphores;

    void add(uint64_t offset, uint64_t cookie, uint64_t semaphore = 0) {
        offsets.push_back(offset);
        cookies.push_back(cookie);
        semaphores.push_back(semaphore);
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
    point,        // likewise places that are counted, and points of spans
    go,           // likewise exit instructions, of functions that goroutines call
    go_switches,  // no calls: where goroutines leave threads and come back, at `entries`
    caller,       // at `entries`: where functions that end by a jump come back to
};

inline bool is_trampoline(ExitWay exit) {
    return exit == ExitWay::return_probe || exit == ExitWay::session;
}

struct AttachmentRequest {
    int file_fd = -1; // of the probed file
    // The same file; null: nobody watches whether it is written to.
    std::shared_ptr<ProbedFile> file{};
    FileGuard* guard = nullptr; // null: detaching is always waited for
    pid_t pid = 0;              // 0: every process that maps it
    AttachWay way = AttachWay::multi;
    ExitWay exit = ExitWay::instructions;
    ProbeSites entries;
    ProbeSites exits;       // used by ExitWay::instructions and go
    ProbeSites short_calls; // entries that may be exits: used by ExitWay::instructions
    ProbeSites ends;        // where goroutines end: used by ExitWay::go
    std::string subject;    // for messages
};

class Attachment {
  public:
    static Result<Attachment> make(const Programs& programs, const AttachmentRequest& request);
    Attachment(Attachment&&) noexcept = default;
    Attachment& operator=(Attachment&&) noexcept;
    // Waits until it is off; but perf events take about 0.1 s each, so others do it.
    ~Attachment();
    // Waits once for all of them.
    static void detach(std::vector<Attachment> attachments);
    // Leaves the waiting to others.
    void detach_later();

    std::vector<uint64_t> link_ids() const { return file_->link_ids(id_); }
    size_t links() const { return file_->links(id_); }
    pid_t pid() const { return pid_; }

  private:
    Attachment() = default;

    pid_t pid_ = 0;
    AttachWay way_ = AttachWay::multi;
    FileGuard* guard_ = nullptr;
    std::shared_ptr<ProbedFile> file_; // has the links; null: moved from, or detached
    uint64_t id_ = 0;
};

} // namespace auger
