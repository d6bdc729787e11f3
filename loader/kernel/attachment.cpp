// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/attachment.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/links.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace auger {

namespace {

struct Part {
    ProgramKind program;
    uint32_t attach_type;
    const ProbeSites& sites;
    bool returns;
};

std::vector<Part> parts_of(const AttachmentRequest& request) {
    switch (request.exit) {
    case ExitWay::session:
        return {{ProgramKind::call_session, bpf_trace_uprobe_session, request.entries, false}};
    case ExitWay::return_probe:
        // The ends first: a call that begins in between is then seen whole or not at all.
        return {{ProgramKind::call_return, bpf_trace_uprobe_multi, request.entries, true},
                {ProgramKind::call_entry, bpf_trace_uprobe_multi, request.entries, false}};
    case ExitWay::none:
        return {{ProgramKind::line_reached, bpf_trace_uprobe_multi, request.entries, false}};
    case ExitWay::go_switches:
        return {{ProgramKind::goroutine_switch, bpf_trace_uprobe_multi, request.entries, false}};
    case ExitWay::point:
        return {{ProgramKind::span_point, bpf_trace_uprobe_multi, request.entries, false}};
    case ExitWay::caller:
        return {{ProgramKind::call_return, bpf_trace_uprobe_multi, request.entries, false}};
    case ExitWay::go:
        return {{ProgramKind::goroutine_end, bpf_trace_uprobe_multi, request.ends, false},
                {ProgramKind::go_call_exit, bpf_trace_uprobe_multi, request.exits, false},
                {ProgramKind::go_call_entry, bpf_trace_uprobe_multi, request.entries, false}};
    case ExitWay::instructions:
        return {{ProgramKind::call_exit, bpf_trace_uprobe_multi, request.exits, false},
                {ProgramKind::short_call, bpf_trace_uprobe_multi, request.short_calls, false},
                {ProgramKind::call_entry, bpf_trace_uprobe_multi, request.entries, false}};
    }
    return {};
}

// What the file refuses says so itself.
Error describe(Error error, const std::string& subject) {
    if (error.operation == "attach probes")
        return error;
    error.operation = "attach probes";
    error.subject = subject;
    if (error.hint.empty())
        error.hint = "needs CAP_BPF and CAP_PERFMON; the file must still be there";
    return error;
}

Result<std::vector<LinkRequest>> links_of(const Programs& programs,
                                          const AttachmentRequest& request) {
    std::vector<LinkRequest> links;
    for (const Part& part : parts_of(request)) {
        const auto program = programs.program(part.program);
        if (!program)
            return program.error();
        LinkRequest link{.perf = request.way == AttachWay::perf,
                         .attach_type = part.attach_type,
                         .program_fd = *program,
                         .file_fd = request.file_fd,
                         .offsets = part.sites.offsets,
                         .cookies = part.sites.cookies,
                         .semaphores = part.sites.semaphores,
                         .pid = request.pid,
                         .returns = part.returns};
        // A link for all of them, or for each.
        const size_t places = part.sites.offsets.size();
        const size_t step = link.perf ? 1 : std::max<size_t>(places, 1);
        for (size_t at = 0; at < places; at += step) {
            link.offsets = std::span(part.sites.offsets).subspan(at, step);
            link.cookies = std::span(part.sites.cookies).subspan(at, step);
            link.semaphores = std::span(part.sites.semaphores).subspan(at, step);
            links.push_back(link);
        }
    }
    return links;
}

} // namespace

Result<Attachment> Attachment::make(const Programs& programs, const AttachmentRequest& request) {
    Attachment attachment;
    attachment.pid_ = request.pid;
    attachment.way_ = request.way;
    attachment.guard_ = request.guard;
    const auto links = links_of(programs, request);
    if (!links)
        return links.error();
    auto file = request.file ? request.file : std::make_shared<ProbedFile>();
    auto id = file->attach(*links);
    if (!id)
        return describe(id.error(), request.subject);
    attachment.id_ = *id;
    attachment.file_ = std::move(file);
    return attachment;
}

Attachment& Attachment::operator=(Attachment&& other) noexcept {
    Attachment former(std::move(*this));
    pid_ = other.pid_;
    way_ = other.way_;
    guard_ = other.guard_;
    file_ = std::exchange(other.file_, nullptr);
    id_ = other.id_;
    return *this;
}

Attachment::~Attachment() {
    if (!file_)
        return;
    if (way_ == AttachWay::perf) {
        detach_later();
        return;
    }
    close_links(file_->processes(), file_->begin_detaching(id_));
    file_->detached();
}

void Attachment::detach(std::vector<Attachment> attachments) {
    ProbedFile::Links links;
    std::vector<std::shared_ptr<ProbedFile>> files;
    for (Attachment& attachment : attachments) {
        if (!attachment.file_ || attachment.way_ == AttachWay::perf)
            continue;
        std::ranges::move(attachment.file_->begin_detaching(attachment.id_),
                          std::back_inserter(links));
        files.push_back(std::exchange(attachment.file_, nullptr));
    }
    // Files of one backend have the same.
    close_links(files.empty() ? nullptr : files.front()->processes(), std::move(links));
    for (const auto& file : files)
        file->detached();
}

void Attachment::detach_later() {
    auto file = std::exchange(file_, nullptr);
    if (!file)
        return;
    auto links = file->begin_detaching(id_);
    if (guard_) {
        guard_->close_later(std::move(file), std::move(links));
        return;
    }
    close_links(file->processes(), std::move(links));
    file->detached();
}

} // namespace auger
