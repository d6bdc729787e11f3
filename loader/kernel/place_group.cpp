// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/place_group.h"

#include "loader/kernel/emulated_processes.h"
#include "loader/kernel/mapped_code.h"
#include "loader/process/proc_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace auger {

namespace {

// With more, 1,000 links of one place took 20 s to detach however many were detached at once: the
// kernel asks all of them about each process.
constexpr size_t many_processes = 64;

// `pids`: of the target that map the file.
std::string why_not_one_by_one(const std::set<pid_t>& pids, const TargetView& view) {
    if (view.births_often)
        return "the target starts processes faster than they can be probed one by one";
    if (pids.size() > many_processes)
        return fmt::format("{} processes of the target map it", pids.size());
    for (pid_t pid : pids) {
        if (living_thread(pid) != pid)
            return fmt::format("the first thread of process {} has ended", pid);
    }
    return {};
}

} // namespace

PlaceGroup::PlaceGroup(const TargetModule& module, const TargetView& view,
                       AttachmentRequest request)
    : file_(module.identity()), mapped_(module.mapped), code_(module.file),
      content_(module.content), path_(module.path), request_(std::move(request)),
      per_process_(is_per_process(module, view)) {}

bool PlaceGroup::is_per_process(const TargetModule& module, const TargetView& view) {
    return !view.everything && !module.main_program &&
           why_not_one_by_one(module.pids, view).empty() && view.mapped_elsewhere(module);
}

PlaceGroup::PlaceGroup(const PlaceGroup& other, AttachmentRequest request)
    : file_(other.file_), mapped_(other.mapped_), code_(other.code_), content_(other.content_),
      path_(other.path_), probed_(other.probed_), request_(std::move(request)),
      per_process_(other.per_process_), left_(other.left_) {}

PlaceGroup& PlaceGroup::operator=(PlaceGroup&& other) noexcept {
    Attachment::detach(std::exchange(attachments_, std::move(other.attachments_)));
    file_ = other.file_;
    mapped_ = other.mapped_;
    code_ = std::move(other.code_);
    content_ = other.content_;
    path_ = std::move(other.path_);
    probed_ = std::move(other.probed_);
    request_ = std::move(other.request_);
    per_process_ = other.per_process_;
    left_ = other.left_;
    return *this;
}

PlaceGroup::~PlaceGroup() {
    Attachment::detach(std::move(attachments_));
}

Result<void> PlaceGroup::attach_in(const Programs& programs, pid_t pid) {
    if (!probed_ && request_.guard) {
        auto probed = request_.guard->guard(code_->fd(), content_, path_);
        if (!probed)
            return probed.error();
        if (request_.guard->rewritten(content_)) {
            if (auto checked = check_memory(pid); !checked)
                return checked;
        }
        probed_ = *std::move(probed);
    }
    request_.file = probed_;
    request_.file_fd = code_->fd();
    request_.pid = pid;
    auto attachment = Attachment::make(programs, request_);
    if (!attachment)
        return attachment.error();
    attachments_.push_back(std::move(*attachment));
    return {};
}

Result<void> PlaceGroup::check_memory(pid_t pid) const {
    std::vector<uint64_t> offsets = request_.entries.offsets;
    offsets.insert(offsets.end(), request_.exits.offsets.begin(), request_.exits.offsets.end());
    auto other = find_other_code(pid, mapped_, code_->fd(), offsets);
    if (!other)
        return {};
    return Error{
        "attach probes", path_,
        fmt::format("process {} still runs what the file held before it was written to", *other),
        "it is probed again when that process has ended"};
}

Result<void> PlaceGroup::attach(const Programs& programs, const TargetView& view) {
    if (withdrawn())
        return {};
    if (!per_process_) {
        if (!attachments_.empty())
            return {};
        const auto module = std::ranges::find(view.modules, file_, &TargetModule::identity);
        if (left_ && module == view.modules.end())
            return {};
        left_ = false;
        if (module != view.modules.end())
            if (auto refused = refuse_emulators_of(*module, request_.subject); !refused)
                return refused;
        return attach_in(programs, 0);
    }
    for (const TargetModule& module : view.modules) {
        if (module.identity() != file_)
            continue;
        for (pid_t pid : module.pids) {
            if (std::ranges::any_of(attachments_,
                                    [&](const Attachment& made) { return made.pid() == pid; }))
                continue;
            // One that has ended meanwhile is no reason to go without the others.
            if (auto attached = attach_in(programs, pid); !attached && !has_ended(pid))
                return attached;
        }
    }
    return {};
}

std::string PlaceGroup::reason_to_widen(const TargetView& view) const {
    if (!per_process_ || withdrawn())
        return {};
    const auto module = std::ranges::find(view.modules, file_, &TargetModule::identity);
    if (module != view.modules.end())
        return why_not_one_by_one(module->pids, view);
    // Those that mapped it have ended. Others will come, unless it was another target's.
    return left_ ? std::string() : why_not_one_by_one({}, view);
}

Result<void> PlaceGroup::widen_in_place(const Programs& programs, const TargetView& view) {
    std::vector<Attachment> former = std::exchange(attachments_, {});
    per_process_ = false;
    if (auto attached = attach(programs, view); !attached) {
        attachments_ = std::move(former);
        per_process_ = true;
        return attached;
    }
    Attachment::detach(std::move(former));
    return {};
}

void PlaceGroup::leave_others(const TargetView& view) {
    const auto module = std::ranges::find(view.modules, file_, &TargetModule::identity);
    left_ = module == view.modules.end();
    std::vector<Attachment> others;
    std::erase_if(attachments_, [&](Attachment& attachment) {
        if (!left_ && (!per_process_ ||
                       std::ranges::find(module->pids, attachment.pid()) != module->pids.end()))
            return false;
        others.push_back(std::move(attachment));
        return true;
    });
    Attachment::detach(std::move(others));
}

void PlaceGroup::forget_process(pid_t pid) {
    if (!per_process_)
        return;
    std::erase_if(attachments_, [&](Attachment& attachment) {
        if (attachment.pid() != pid)
            return false;
        attachment.detach_later();
        return true;
    });
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
