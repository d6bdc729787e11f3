// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/probed_file.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/links.h"

#include <fcntl.h>

#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <utility>

namespace auger {

namespace {

Error changed(const std::string& path) {
    return {"attach probes", path, "it has been written to since it was read",
            "it is read again when a process maps it"};
}

} // namespace

Result<std::unique_ptr<ProbedFile>> ProbedFile::lease(int fd, const FileContent& analysed,
                                                      std::string path, pid_t told_tid,
                                                      std::shared_ptr<LinkProcesses> processes) {
    auto probed = std::make_unique<ProbedFile>();
    probed->processes_ = std::move(processes);
    probed->path_ = std::move(path);
    probed->file_.reset(
        open(fmt::format("/proc/self/fd/{}", fd).c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!probed->file_)
        return system_error("attach probes", probed->path_);
    const int file = probed->file_.get();
    // Without an owner the signal would go to the whole process, and end it.
    const f_owner_ex owner = {F_OWNER_TID, told_tid};
    if (fcntl(file, F_SETOWN_EX, &owner) != 0)
        return system_error("attach probes", probed->path_);
    probed->leased_ = fcntl(file, F_SETLEASE, F_RDLCK) == 0;
    if (!probed->leased_ && errno == EAGAIN)
        return Error{"attach probes", probed->path_, "the file is open for writing",
                     "probes would be at the wrong offsets in other content; `fuser -v FILE` shows "
                     "who has it open"};
    // Only now is it certain that nothing was written after the look.
    auto content = FileContent::of(file);
    if (!content)
        return content.error();
    if (*content != analysed)
        return changed(probed->path_);
    probed->content_ = *content;
    return probed;
}

ProbedFile::~ProbedFile() {
    // Before the lease ends.
    for (auto& [id, links] : links_)
        close_links(processes(), std::move(links));
}

Result<uint64_t> ProbedFile::attach(std::span<const LinkRequest> requests) {
    std::lock_guard lock(mutex_);
    if (withdrawn_)
        return changed(path_);
    auto links = make_links(processes(), requests);
    if (!links)
        return links.error();
    links_[next_id_] = *std::move(links);
    return next_id_++;
}

ProbedFile::Links ProbedFile::begin_detaching(uint64_t id) {
    std::lock_guard lock(mutex_);
    detaching_++;
    auto found = links_.extract(id);
    return found ? std::move(found.mapped()) : Links();
}

void ProbedFile::detached() {
    std::lock_guard lock(mutex_);
    if (--detaching_ == 0)
        none_detaching_.notify_all();
}

std::vector<uint64_t> ProbedFile::link_ids(uint64_t id) const {
    std::lock_guard lock(mutex_);
    std::vector<uint64_t> ids;
    if (auto found = links_.find(id); found != links_.end()) {
        for (const UniqueFd& link : found->second)
            ids.push_back(link_id(link.get()));
    }
    return ids;
}

size_t ProbedFile::links(uint64_t id) const {
    std::lock_guard lock(mutex_);
    auto found = links_.find(id);
    return found == links_.end() ? 0 : found->second.size();
}

bool ProbedFile::is_written_to() const {
    if (!file_)
        return false;
    if (leased_)
        return fcntl(file_.get(), F_GETLEASE) != F_RDLCK;
    auto now = FileContent::of(file_.get());
    return !now || now->size != content_.size || now->modified_ns != content_.modified_ns;
}

void ProbedFile::withdraw() {
    std::unique_lock lock(mutex_);
    withdrawn_ = true;
    Links all;
    for (auto& [id, links] : links_)
        std::move(links.begin(), links.end(), std::back_inserter(all));
    links_.clear();
    close_links(processes(), std::move(all));
    none_detaching_.wait(lock, [&] { return detaching_ == 0; });
    if (leased_)
        fcntl(file_.get(), F_SETLEASE, F_UNLCK);
}

bool ProbedFile::withdrawn() const {
    std::lock_guard lock(mutex_);
    return withdrawn_;
}

} // namespace auger
