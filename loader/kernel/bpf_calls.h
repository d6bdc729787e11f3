// SPDX-License-Identifier: GPL-3.0-or-later
// The bpf(2) and perf_event_open(2) calls by which edits change what is in force in the kernel;
// what the packaged libbpf has no wrapper for among them. The kernel may refuse each of them.
#pragma once

#include "loader/base/fd.h"
#include "loader/base/result.h"

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace auger {

// Attach types and flags newer than the packaged kernel headers; values are the kernel's ABI.
inline constexpr uint32_t bpf_trace_uprobe_multi = 48;
inline constexpr uint32_t bpf_trace_uprobe_session = 57;

// Stands in for a kernel that refuses: is asked before each of the operations below.
class KernelFaults {
  public:
    virtual ~KernelFaults() = default;
    // The errno of the refusal; 0: it is carried out.
    virtual int refuse() = 0;
};
// For tests, of edits above all; null, as at the beginning: none.
void set_kernel_faults(KernelFaults* faults);

// bpf_map_update_elem with BPF_ANY: negative, with errno set, when it fails.
int update_element(int map_fd, const void* key, const void* value);

Result<UniqueFd> create_array(const char* name, uint32_t value_size, uint32_t entries,
                              uint32_t flags);

// A link of a raw tracepoint's program.
Result<UniqueFd> open_raw_tracepoint(int program_fd, const std::string& subject);

// Makes the program run at the event's ticks.
Result<void> set_event_program(int event_fd, int program_fd, const std::string& subject);

// One BPF_LINK_CREATE for many places of one file. `path` is opened by the kernel during the call
// (/proc/self/fd/N is fine). `pid` 0: every process; else only that one. `returns`: return probes.
// `semaphores`: as in ProbeSites; empty: there are none.
Result<UniqueFd> create_uprobe_multi_link(int program_fd, uint32_t attach_type,
                                          const std::string& path,
                                          std::span<const uint64_t> offsets,
                                          std::span<const uint64_t> cookies, pid_t pid,
                                          bool returns, std::span<const uint64_t> semaphores = {});

// One perf event for one place, and its BPF link, which alone holds it: the way of kernels before
// 6.6.
Result<UniqueFd> create_perf_uprobe(int program_fd, const std::string& path, uint64_t offset,
                                    uint64_t cookie, pid_t pid, bool returns,
                                    uint64_t semaphore = 0);

// One at a tracepoint of the kernel's, of all threads; `id`: as tracefs has it. Of the first of
// so many programs that is not attached there yet.
Result<UniqueFd> create_tracepoint_link(const std::function<Result<int>(size_t)>& program_at,
                                        size_t programs, uint64_t id, uint64_t cookie,
                                        const std::string& subject);

// What a link is made of, by either of the two above.
struct LinkRequest {
    bool perf = false;        // for one place
    uint32_t attach_type = 0; // of a uprobe_multi link
    int program_fd = -1;
    int file_fd = -1;
    std::span<const uint64_t> offsets, cookies, semaphores;
    pid_t pid = 0;
    bool returns = false;
};
Result<UniqueFd> make_link(const LinkRequest& request);
// For a request that another process carries out: whether the kernel's stand-in refuses it.
Result<void> may_make(const LinkRequest& request);

// perf_event_open with PERF_FLAG_FD_CLOEXEC.
Result<UniqueFd> open_perf_event(const perf_event_attr& attributes, pid_t tid, int cpu,
                                 const std::string& subject);

// Enters maps as elements of a map of maps: in one call where the kernel can, since each call waits
// for programs that run. As many indices as maps.
Result<void> enter_maps(int outer_fd, std::span<const uint32_t> indices, std::span<const int> maps,
                        const std::string& name);

// The id that `bpftool link` shows.
uint64_t link_id(int link_fd);

} // namespace auger
