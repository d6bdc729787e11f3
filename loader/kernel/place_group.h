// SPDX-License-Identifier: GPL-3.0-or-later
// PlaceGroup: probed places of one file that are attached together: once for every process, or, of
// a library that others map too, in each process of the target by itself, since a probe costs
// whoever runs into it. A program of the target's own is probed as a file, so that even a child's
// first instructions are covered.
#pragma once

#include "loader/kernel/attachment.h"
#include "loader/kernel/target_view.h"

#include <memory>
#include <vector>

namespace auger {

class PlaceGroup {
  public:
    // `request` without places, file_fd and pid.
    PlaceGroup(const TargetModule& module, const TargetView& view, AttachmentRequest request);
    // The same places of the same file in another way: `request` as above.
    PlaceGroup(const PlaceGroup& other, AttachmentRequest request);
    PlaceGroup(PlaceGroup&&) noexcept = default;
    PlaceGroup& operator=(PlaceGroup&&) noexcept = default;

    // Before it is attached for the first time.
    AttachmentRequest& request() { return request_; }
    const AttachmentRequest& request() const { return request_; }
    FileIdentity file() const { return file_; }

    // Attaches what is missing; what is attached stays.
    Result<void> attach(const Programs& programs, const TargetView& view);
    // A process that ended needs no attachment of its own any more.
    void forget_process(pid_t pid);

    size_t links() const;
    void add_link_ids(std::vector<uint64_t>& ids) const;

  private:
    Result<void> attach_in(const Programs& programs, pid_t pid);

    FileIdentity file_;
    std::shared_ptr<const ElfFile> elf_; // keeps the file open
    AttachmentRequest request_;
    bool per_process_ = false;
    std::vector<Attachment> attachments_;
};

} // namespace auger
