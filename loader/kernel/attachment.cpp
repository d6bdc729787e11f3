// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/attachment.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/close_links.h"

#include <fmt/format.h>

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
    case ExitWay::caller:
        return {{ProgramKind::call_return, bpf_trace_uprobe_multi, request.entries, false}};
    case ExitWay::go:
        return {{ProgramKind::goroutine_end, bpf_trace_uprobe_multi, request.ends, false},
                {ProgramKind::go_call_exit, bpf_trace_uprobe_multi, request.exits, false},
                {ProgramKind::go_call_entry, bpf_trace_uprobe_multi, request.entries, false}};
    case ExitWay::instructions:
        return {{ProgramKind::call_exit, bpf_trace_uprobe_multi, request.exits, false},
                {ProgramKind::call_entry, bpf_trace_uprobe_multi, request.entries, false}};
    }
    return {};
}

Error describe(Error error, const std::string& subject) {
    error.operation = "attach probes";
    error.subject = subject;
    if (error.hint.empty())
        error.hint = "needs CAP_BPF and CAP_PERFMON; the file must still be there";
    return error;
}

Result<ProbedFile::Links> make_links(const Programs& programs, const AttachmentRequest& request) {
    ProbedFile::Links links;
    // The kernel opens the path itself, so it gets exactly the file that was analysed.
    std::string path = fmt::format("/proc/self/fd/{}", request.file_fd);
    for (const Part& part : parts_of(request)) {
        if (part.sites.empty())
            continue;
        int program = programs.program_fd(part.program);
        if (request.way == AttachWay::multi) {
            auto link =
                create_uprobe_multi_link(program, part.attach_type, path, part.sites.offsets,
                                         part.sites.cookies, request.pid, part.returns);
            if (!link)
                return describe(link.error(), request.subject);
            links.push_back(std::move(*link));
            continue;
        }
        for (size_t i = 0; i < part.sites.offsets.size(); i++) {
            auto probe = create_perf_uprobe(program, path, part.sites.offsets[i],
                                            part.sites.cookies[i], request.pid, part.returns);
            if (!probe)
                return describe(probe.error(), request.subject);
            links.push_back(std::move(*probe));
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
    auto file = request.file ? request.file : std::make_shared<ProbedFile>();
    auto id = file->attach([&] { return make_links(programs, request); });
    if (!id)
        return id.error();
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
    close_links(file_->begin_detaching(id_));
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
    close_links(std::move(links));
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
    close_links(std::move(links));
    file->detached();
}

} // namespace auger
