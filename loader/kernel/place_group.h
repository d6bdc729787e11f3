// SPDX-License-Identifier: GPL-3.0-or-later
// PlaceGroup: probed places of one file that are attached together: once for every process, or, of
// a library that others map too, in each process of the target by itself, since a probe costs
// whoever runs into it. A program of the target's own is probed as a file, so that even a child's
// first instructions are covered. So is a library when its processes cannot be probed one by one:
// too many (each takes 40 ms to detach, and all the others' longer), born too fast, or such whose
// first thread has ended, by which alone the kernel knows them.
#pragma once

#include "loader/kernel/attachment.h"
#include "loader/kernel/target_view.h"

#include <memory>
#include <vector>

namespace auger {

class PlaceGroup {
  public:
    // `request` without places, file_fd and pid.
    // Whether a module's probes are for the target's processes, one by one, instead of for all that
    // map it, of which the kernel side counts the target's.
    static bool is_per_process(const TargetModule& module, const TargetView& view);
    PlaceGroup(const TargetModule& module, const TargetView& view, AttachmentRequest request);
    // The same places of the same file in another way: `request` as above.
    PlaceGroup(const PlaceGroup& other, AttachmentRequest request);
    PlaceGroup(PlaceGroup&&) noexcept = default;
    PlaceGroup& operator=(PlaceGroup&&) noexcept;
    ~PlaceGroup();

    // Before it is attached for the first time.
    AttachmentRequest& request() { return request_; }
    const AttachmentRequest& request() const { return request_; }
    FileIdentity file() const { return file_; }

    // Attaches what is missing; what is attached stays.
    Result<void> attach(const Programs& programs, const TargetView& view);
    // Why it has to be attached for every process from now on; empty: it need not, or is already.
    std::string reason_to_widen(const TargetView& view) const;
    // What is attached next is for every process, or (when that failed) no longer.
    void widen(bool wide) { per_process_ = !wide; }
    // Attaches for every process beside what is there, and detaches that: for probes that may fire
    // twice.
    Result<void> widen_in_place(const Programs& programs, const TargetView& view);
    bool per_process() const { return per_process_; }
    // Detaches from what the view, that of another target, does not have.
    void leave_others(const TargetView& view);
    // A process that ended needs no attachment of its own any more.
    void forget_process(pid_t pid);
    // The file was about to be written to, so nothing is attached any more.
    bool withdrawn() const { return probed_ && probed_->withdrawn(); }

    // Who writes to the file waits until its probes are off; else they go when it has begun.
    bool leased() const { return !probed_ || probed_->leased(); }
    const std::string& path() const { return path_; }

    size_t links() const;
    void add_link_ids(std::vector<uint64_t>& ids) const;

  private:
    Result<void> attach_in(const Programs& programs, pid_t pid);
    // Of a file that was written to: whether the processes run what it holds now.
    Result<void> check_memory(pid_t pid) const;

    FileIdentity file_;
    FileIdentity mapped_;                  // as /proc/PID/maps has it
    std::shared_ptr<const CodeFile> code_; // keeps the file open
    FileContent content_;
    std::string path_;
    std::shared_ptr<ProbedFile> probed_; // since something is attached
    AttachmentRequest request_;
    bool per_process_ = false;
    bool left_ = false; // the file was no part of the target, when that was set
    std::vector<Attachment> attachments_;
};

} // namespace auger
