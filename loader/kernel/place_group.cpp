// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/place_group.h"

#include <algorithm>
#include <utility>

namespace auger {

PlaceGroup::PlaceGroup(const TargetModule& module, const TargetView& view,
                       AttachmentRequest request)
    : file_(module.identity()), elf_(module.file), request_(std::move(request)),
      per_process_(!view.everything && !module.pids.empty() && !module.main_program &&
                   ModuleCatalogue::mapped_elsewhere(module, view.pids)) {}

PlaceGroup::PlaceGroup(const PlaceGroup& other, AttachmentRequest request)
    : file_(other.file_), elf_(other.elf_), request_(std::move(request)),
      per_process_(other.per_process_) {}

Result<void> PlaceGroup::attach_in(const Programs& programs, pid_t pid) {
    request_.file_fd = elf_->fd();
    request_.pid = pid;
    auto attachment = Attachment::make(programs, request_);
    if (!attachment)
        return attachment.error();
    attachments_.push_back(std::move(*attachment));
    return {};
}

Result<void> PlaceGroup::attach(const Programs& programs, const TargetView& view) {
    if (!per_process_)
        return attachments_.empty() ? attach_in(programs, 0) : Result<void>();
    for (const TargetModule& module : view.modules) {
        if (module.identity() != file_)
            continue;
        for (pid_t pid : module.pids) {
            if (std::ranges::any_of(attachments_,
                                    [&](const Attachment& made) { return made.pid() == pid; }))
                continue;
            if (auto attached = attach_in(programs, pid); !attached)
                return attached;
        }
    }
    return {};
}

void PlaceGroup::forget_process(pid_t pid) {
    if (per_process_)
        std::erase_if(attachments_,
                      [&](const Attachment& attachment) { return attachment.pid() == pid; });
}

size_t PlaceGroup::links() const {
    size_t count = 0;
    for (const Attachment& attachment : attachments_)
        count += attachment.links();
    return count;
}

void PlaceGroup::add_link_ids(std::vector<uint64_t>& ids) const {
    for (const Attachment& attachment : attachments_) {
        auto some = attachment.link_ids();
        ids.insert(ids.end(), some.begin(), some.end());
    }
}

} // namespace auger
