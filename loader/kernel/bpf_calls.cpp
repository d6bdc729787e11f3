// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/bpf_calls.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace auger {

namespace {

// The part of union bpf_attr that BPF_LINK_CREATE reads for uprobe_multi (Linux 6.6 and later).
struct UprobeMultiAttributes {
    uint32_t program_fd;
    uint32_t target_fd;
    uint32_t attach_type;
    uint32_t flags;
    uint64_t path;
    uint64_t offsets;
    uint64_t reference_counter_offsets;
    uint64_t cookies;
    uint32_t count;
    uint32_t multi_flags; // 1: return probes
    uint32_t pid;
    uint32_t padding;
};

KernelFaults* faults = nullptr;

// Sets errno, as the call would have done.
bool refused() {
    const int error = faults ? faults->refuse() : 0;
    if (error)
        errno = error;
    return error != 0;
}

// In perf_event_attr::config, as /sys/bus/event_source/devices/uprobe/format/ref_ctr_offset has it.
constexpr unsigned semaphore_shift = 32;

// What the kernel means by EINVAL where nothing else is wrong.
constexpr const char* other_semaphore =
    "a probe that is there already has another semaphore, that of a USDT probe, or none";

constexpr const char* more_files = "raise the limit on open files: ulimit -n";

// The type number of the kernel's uprobe PMU, or a negative number.
int uprobe_pmu_type() {
    std::ifstream file("/sys/bus/event_source/devices/uprobe/type");
    int type = -1;
    file >> type;
    return type;
}

} // namespace

void set_kernel_faults(KernelFaults* those) {
    faults = those;
}

int update_element(int map_fd, const void* key, const void* value) {
    return refused() ? -1 : bpf_map_update_elem(map_fd, key, value, BPF_ANY);
}

Result<UniqueFd> create_array(const char* name, uint32_t value_size, uint32_t entries,
                              uint32_t flags) {
    LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = flags);
    int fd = refused() ? -errno
                       : bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t), value_size,
                                        entries, &options);
    if (fd < 0)
        return system_error("create map", name, "", -fd);
    return UniqueFd(fd);
}

Result<UniqueFd> open_raw_tracepoint(int program_fd, const std::string& subject) {
    int link = refused() ? -1 : bpf_raw_tracepoint_open(nullptr, program_fd);
    if (link < 0)
        return system_error("attach to tracepoint", subject, "", errno);
    return UniqueFd(link);
}

Result<void> set_event_program(int event_fd, int program_fd, const std::string& subject) {
    if (refused() || ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, program_fd) < 0)
        return system_error("attach program to perf event", subject);
    return {};
}

Result<UniqueFd> create_uprobe_multi_link(int program_fd, uint32_t attach_type,
                                          const std::string& path,
                                          std::span<const uint64_t> offsets,
                                          std::span<const uint64_t> cookies, pid_t pid,
                                          bool returns, std::span<const uint64_t> semaphores) {
    UprobeMultiAttributes attributes = {};
    attributes.program_fd = static_cast<uint32_t>(program_fd);
    attributes.attach_type = attach_type;
    attributes.path = reinterpret_cast<uintptr_t>(path.c_str());
    attributes.offsets = reinterpret_cast<uintptr_t>(offsets.data());
    attributes.cookies = reinterpret_cast<uintptr_t>(cookies.data());
    if (std::ranges::any_of(semaphores, [](uint64_t offset) { return offset != 0; }))
        attributes.reference_counter_offsets = reinterpret_cast<uintptr_t>(semaphores.data());
    attributes.count = static_cast<uint32_t>(offsets.size());
    attributes.multi_flags = returns ? 1 : 0;
    attributes.pid = static_cast<uint32_t>(pid);
    long fd = refused() ? -1 : syscall(SYS_bpf, BPF_LINK_CREATE, &attributes, sizeof(attributes));
    if (fd < 0)
        return system_error("attach uprobes", fmt::format("{} places of {}", offsets.size(), path),
                            errno == EINVAL ? other_semaphore : "");
    return UniqueFd(static_cast<int>(fd));
}

Result<UniqueFd> open_perf_event(const perf_event_attr& attributes, pid_t tid, int cpu,
                                 const std::string& subject) {
    long fd = refused()
                  ? -1
                  : syscall(SYS_perf_event_open, &attributes, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return system_error("open perf event", subject, errno == EMFILE ? more_files : "");
    return UniqueFd(static_cast<int>(fd));
}

Result<UniqueFd> create_perf_uprobe(int program_fd, const std::string& path, uint64_t offset,
                                    uint64_t cookie, pid_t pid, bool returns, uint64_t semaphore) {
    int type = uprobe_pmu_type();
    if (type < 0)
        return Error{"attach uprobe", path, "the kernel has no uprobe events",
                     "a kernel with CONFIG_UPROBE_EVENTS is needed", Error::Kind::unsupported};
    if (semaphore > UINT32_MAX)
        return Error{"attach uprobe",
                     fmt::format("{}+{:#x}", path, offset),
                     "its semaphore lies too far into the file for the kernel",
                     {}};
    perf_event_attr attributes = {};
    attributes.size = sizeof(attributes);
    attributes.type = static_cast<uint32_t>(type);
    attributes.config = (returns ? 1 : 0) | semaphore << semaphore_shift;
    attributes.config1 = reinterpret_cast<uintptr_t>(path.c_str());
    attributes.config2 = offset;
    // An event of no process must name a CPU; its probe fires on all of them nevertheless.
    auto event = open_perf_event(attributes, pid ? pid : -1, pid ? -1 : 0,
                                 fmt::format("uprobe {}+{:#x}", path, offset));
    if (!event)
        return event.error();
    LIBBPF_OPTS(bpf_link_create_opts, options);
    options.perf_event.bpf_cookie = cookie;
    int link =
        refused() ? -errno : bpf_link_create(program_fd, event->get(), BPF_PERF_EVENT, &options);
    if (link < 0)
        return system_error("attach uprobe", fmt::format("{}+{:#x}", path, offset),
                            link == -EMFILE ? more_files : "", -link);
    return UniqueFd(link);
}

Result<UniqueFd> create_tracepoint_link(const std::function<Result<int>(size_t)>& program_at,
                                        size_t programs, uint64_t id, uint64_t cookie,
                                        const std::string& subject) {
    perf_event_attr attributes = {};
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_TRACEPOINT;
    attributes.config = id;
    // Its program runs on all CPUs.
    auto event = open_perf_event(attributes, -1, 0, subject);
    if (!event)
        return event.error();
    LIBBPF_OPTS(bpf_link_create_opts, options);
    options.perf_event.bpf_cookie = cookie;
    int link = refused() ? -errno : -EEXIST;
    for (size_t i = 0; link == -EEXIST && i < programs; i++) {
        const auto program = program_at(i);
        if (!program)
            return program.error();
        link = bpf_link_create(*program, event->get(), BPF_PERF_EVENT, &options);
    }
    if (link == -EEXIST)
        return Error{"attach to", subject,
                     fmt::format("it already has {} probes, the most it can have", programs),
                     "`delete` one of them"};
    if (link < 0)
        return system_error("attach to", subject, link == -EMFILE ? more_files : "", -link);
    return UniqueFd(link);
}

Result<UniqueFd> make_link(const LinkRequest& request) {
    // The kernel opens the path itself, so it gets exactly this file.
    const std::string path = fmt::format("/proc/self/fd/{}", request.file_fd);
    return request.perf ? create_perf_uprobe(request.program_fd, path, request.offsets.front(),
                                             request.cookies.front(), request.pid, request.returns,
                                             request.semaphores.front())
                        : create_uprobe_multi_link(request.program_fd, request.attach_type, path,
                                                   request.offsets, request.cookies, request.pid,
                                                   request.returns, request.semaphores);
}

Result<void> may_make(const LinkRequest& request) {
    const int operations = request.perf ? 2 : 1; // a perf event and its link
    for (int i = 0; i < operations; i++) {
        if (refused())
            return system_error("attach uprobes", "");
    }
    return {};
}

uint64_t link_id(int link_fd) {
    bpf_link_info info = {};
    uint32_t size = sizeof(info);
    return bpf_obj_get_info_by_fd(link_fd, &info, &size) == 0 ? info.id : 0;
}

Result<void> enter_maps(int outer_fd, std::span<const uint32_t> indices, std::span<const int> maps,
                        const std::string& name) {
    if (refused())
        return system_error("enter map", name);
    auto count = static_cast<uint32_t>(maps.size());
    LIBBPF_OPTS(bpf_map_batch_opts, options);
    if (bpf_map_update_batch(outer_fd, indices.data(), maps.data(), &count, &options) == 0)
        return {};
    // Before Linux 5.16 such a map took no batch.
    for (size_t i = 0; i < maps.size(); i++) {
        if (bpf_map_update_elem(outer_fd, &indices[i], &maps[i], BPF_ANY) < 0)
            return system_error("enter map", name);
    }
    return {};
}

} // namespace auger
