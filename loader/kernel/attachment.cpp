// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/attachment.h"

#include "loader/kernel/bpf_calls.h"

#include <fmt/format.h>

#include <memory>
#include <thread>

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

} // namespace

Result<Attachment> Attachment::make(const Programs& programs, const AttachmentRequest& request) {
    Attachment attachment;
    attachment.pid_ = request.pid;
    attachment.way_ = request.way;
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
            attachment.links_.push_back(std::move(*link));
            continue;
        }
        for (size_t i = 0; i < part.sites.offsets.size(); i++) {
            auto probe = create_perf_uprobe(program, path, part.sites.offsets[i],
                                            part.sites.cookies[i], request.pid, part.returns);
            if (!probe)
                return describe(probe.error(), request.subject);
            attachment.links_.push_back(std::move(*probe));
        }
    }
    return attachment;
}

Attachment::~Attachment() {
    if (way_ == AttachWay::perf && !links_.empty())
        std::thread([links = std::move(links_)] {}).detach();
}

std::vector<uint64_t> Attachment::link_ids() const {
    std::vector<uint64_t> ids;
    for (const UniqueFd& link : links_)
        ids.push_back(link_id(link.get()));
    return ids;
}

} // namespace auger
