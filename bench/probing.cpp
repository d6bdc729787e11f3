// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/probing.h"

#include "loader/kernel/exit_cookie.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/reader/matching/module_debug.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/types.h>

#include "empty.skel.h"

#include <fmt/format.h>

#include <cerrno>
#include <stdexcept>

namespace auger::bench {

void take(const Result<void>& result) {
    if (!result)
        throw std::runtime_error(result.error().message());
}

Functions Functions::find(const std::string& path, const std::string& pattern) {
    Functions found;
    UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd)
        throw std::runtime_error(path + ": " + std::strerror(errno));
    found.file = take(ElfFile::open(std::move(fd), path));
    ParsedProbe parsed = parse_probe(pattern);
    if (!parsed.pattern)
        throw std::runtime_error(parsed.error->error.message());
    ProbeModule module{std::make_shared<FunctionIndex>(found.file), path, true,
                       std::make_shared<ModuleDebug>(found.file, path, SeparateDebug())};
    found.matches = take(match_probe(*parsed.pattern, {&module, 1})).places;
    return found;
}

Functions Functions::find(const std::string& path, const std::vector<std::string>& names) {
    Functions all;
    for (const std::string& name : names) {
        Functions one = find(path, name);
        all.file = one.file;
        all.matches.insert(all.matches.end(), one.matches.begin(), one.matches.end());
    }
    return all;
}

Tracker::Tracker(const Features& features)
    : programs_(take(Programs::load(
          {features.uprobe_multi, features.uprobe_session, features.context_switches, true,
           features.socket_tracepoints}))),
      specs_(std::make_unique<SpecTable>(*programs_)) {}

void Tracker::observe(pid_t pid) {
    auto key = static_cast<uint32_t>(pid);
    uint32_t value = 1;
    if (bpf_map_update_elem(programs_->map_fd(MapKind::targets), &key, &value, BPF_ANY) < 0)
        throw std::runtime_error("enter target");
    programs_->renew_scope();
}

void Tracker::forget(pid_t pid) {
    auto key = static_cast<uint32_t>(pid);
    bpf_map_delete_elem(programs_->map_fd(MapKind::targets), &key);
    programs_->renew_scope();
}

void Tracker::set_filter(uint64_t filter) {
    programs_->config().filter = filter;
    programs_->renew_scope();
}

AttachmentRequest Tracker::request(const Functions& functions, ExitWay exit, AttachWay way,
                                   std::vector<SpecId>& specs, Exits exits) {
    AttachmentRequest request;
    request.file_fd = functions.file->fd();
    request.way = way;
    request.exit = exit;
    request.subject = functions.file->name();
    take(specs_->reserve(functions.matches.size()));
    for (const PlaceMatch& match : functions.matches) {
        SpecId spec = take(specs_->add({}));
        specs.push_back(spec);
        request.entries.add(match.entry.file_offset, specs_->cookie(spec));
        for (const ExitPlace& place : exits == Exits::cheap ? match.cheap_exits : match.exits)
            request.exits.add(place.file_offset, specs_->cookie(spec) | exit_bits(place.code));
    }
    return request;
}

void Tracker::release(const std::vector<SpecId>& specs) {
    for (SpecId spec : specs)
        specs_->remove(spec);
}

EmptyPrograms::EmptyPrograms(const Features& features) : skeleton_(empty_bpf::open()) {
    if (!skeleton_)
        throw std::runtime_error("open the empty BPF programs");
    bpf_program__set_expected_attach_type(skeleton_->progs.empty_probe,
                                          static_cast<bpf_attach_type>(bpf_trace_uprobe_multi));
    if (features.uprobe_session)
        bpf_program__set_expected_attach_type(
            skeleton_->progs.empty_session, static_cast<bpf_attach_type>(bpf_trace_uprobe_session));
    if (empty_bpf::load(skeleton_)) {
        empty_bpf::destroy(skeleton_);
        throw std::runtime_error("load the empty BPF programs");
    }
}

EmptyPrograms::~EmptyPrograms() {
    empty_bpf::destroy(skeleton_);
}

std::vector<UniqueFd> EmptyPrograms::attach(const AttachmentRequest& request) const {
    int probe = bpf_program__fd(skeleton_->progs.empty_probe);
    int session = bpf_program__fd(skeleton_->progs.empty_session);
    std::string path = fmt::format("/proc/self/fd/{}", request.file_fd);
    std::vector<UniqueFd> links;
    auto add = [&](int program, uint32_t type, const ProbeSites& sites) {
        if (sites.offsets.empty())
            return; // a line has no ends
        links.push_back(
            take(create_uprobe_multi_link(program, type, path, sites.offsets, sites.cookies,
                                          request.pid, false, sites.semaphores)));
    };
    if (request.exit == ExitWay::session) {
        add(session, bpf_trace_uprobe_session, request.entries);
    } else {
        add(probe, bpf_trace_uprobe_multi, request.exits);
        add(probe, bpf_trace_uprobe_multi, request.entries);
    }
    return links;
}

std::vector<UniqueFd> EmptyPrograms::attach_to_switches() const {
    std::vector<UniqueFd> links;
    for (bpf_program* program : {skeleton_->progs.empty_switch, skeleton_->progs.empty_waking}) {
        links.emplace_back(bpf_raw_tracepoint_open(nullptr, bpf_program__fd(program)));
        if (!links.back())
            throw std::runtime_error("attach the empty programs to context switches");
    }
    return links;
}

} // namespace auger::bench
