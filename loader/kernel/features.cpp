// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/features.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/uprobe_trial.h"
#include "loader/process/capabilities.h"
#include "loader/tracepoints/tracefs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace auger {

namespace {

// The smallest tracing program: return 0.
UniqueFd load_empty_program(uint32_t attach_type) {
    bpf_insn instructions[2] = {};
    instructions[0].code = BPF_ALU64 | BPF_MOV | BPF_K; // r0 = 0
    instructions[1].code = BPF_JMP | BPF_EXIT;
    LIBBPF_OPTS(bpf_prog_load_opts, options,
                .expected_attach_type = static_cast<bpf_attach_type>(attach_type));
    int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "auger_try", "GPL", instructions, 2, &options);
    return UniqueFd(fd >= 0 ? fd : -1);
}

// Attaching to a file without places fails everywhere, but the error tells whether the kernel knows
// this kind of link: unknown kinds are EINVAL before the path is even looked at, and the path of a
// folder is EBADF where it is (Linux's own selftests and libbpf tell them apart in the same way).
bool knows_uprobe_multi(uint32_t attach_type) {
    UniqueFd program = load_empty_program(attach_type);
    if (!program)
        return false;
    const std::array<uint64_t, 1> offsets = {0}, cookies = {0};
    auto link =
        create_uprobe_multi_link(program.get(), attach_type, "/", offsets, cookies, 0, false);
    return !link && errno == EBADF;
}

// A program with types that does nothing, at what the kernel's types name so; none where it is
// refused.
UniqueFd load_typed_program(const char* name, bpf_attach_type attach_type) {
    int type = libbpf_find_vmlinux_btf_id(name, attach_type);
    if (type <= 0) {
        errno = type ? -type : ENOENT;
        return {};
    }
    bpf_insn instructions[2] = {};
    instructions[0].code = BPF_ALU64 | BPF_MOV | BPF_K; // r0 = 0
    instructions[1].code = BPF_JMP | BPF_EXIT;
    LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = attach_type,
                .attach_btf_id = static_cast<uint32_t>(type));
    return UniqueFd(
        bpf_prog_load(BPF_PROG_TYPE_TRACING, "auger_try", "GPL", instructions, 2, &options));
}

// At the tracepoint of context switches.
bool may_watch_context_switches() {
    UniqueFd program = load_typed_program("sched_switch", BPF_TRACE_RAW_TP);
    if (!program)
        return false;
    UniqueFd link(bpf_raw_tracepoint_open(nullptr, program.get()));
    return static_cast<bool>(link);
}

// A program that visits all threads; it is not run here.
bool may_visit_tasks() {
    UniqueFd program = load_typed_program("task", BPF_TRACE_ITER);
    if (!program)
        return false;
    UniqueFd link(bpf_link_create(program.get(), 0, BPF_TRACE_ITER, nullptr));
    return link && UniqueFd(bpf_iter_create(link.get()));
}

// Some kernels that let programs visit threads refuse this. Empty: this one does not.
std::string fault_of_map_iterators() {
    const bool loaded = static_cast<bool>(load_typed_program("bpf_map_elem", BPF_TRACE_ITER));
    return loaded ? "" : std::strerror(errno);
}

// While it lives, libbpf does not say on standard error what it has not found.
class QuietLibbpf {
  public:
    QuietLibbpf() : before_(libbpf_set_print(nullptr)) {}
    ~QuietLibbpf() { libbpf_set_print(before_); }
    QuietLibbpf(const QuietLibbpf&) = delete;
    QuietLibbpf& operator=(const QuietLibbpf&) = delete;

  private:
    libbpf_print_fn_t before_;
};

// What is missing of what exchanges are seen by; empty: nothing.
std::string missing_socket_tracepoints() {
    std::string missing;
    const QuietLibbpf quiet;
    for (const char* name :
         {"sock_recv_length", "sock_send_length", "sk_data_ready", "inet_sock_set_state"})
        if (!load_typed_program(name, BPF_TRACE_RAW_TP))
            missing += (missing.empty() ? "" : ", ") + std::string(name);
    return missing;
}

// Programs may disable preemption (Linux 6.10), and need to: a kernel that preempts its own code
// says so in its version ("#1 SMP PREEMPT_DYNAMIC").
bool may_disable_preemption() {
    utsname name{};
    if (uname(&name) != 0 || !std::strstr(name.version, "PREEMPT"))
        return false;
    const QuietLibbpf quiet;
    return libbpf_find_vmlinux_btf_id("bpf_preempt_disable", BPF_TRACE_FENTRY) > 0;
}

bool has_hardware_cycles() {
    perf_event_attr attributes = {};
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = PERF_COUNT_HW_CPU_CYCLES;
    attributes.sample_period = 1'000'000;
    attributes.disabled = 1;
    return open_perf_event(attributes, 0, -1, "cycles").ok();
}

bool opens_perf_events() {
    perf_event_attr attributes = {};
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.disabled = 1;
    return open_perf_event(attributes, -1, 0, "dummy").ok();
}

// Whether they want CAP_SYS_ADMIN, tried without it.
bool want_admin_for_perf_events() {
    const CapabilitySet before = effective_capabilities();
    if (!(before & capability(CAP_SYS_ADMIN)))
        return false;
    if (!set_effective_capabilities(before & ~capability(CAP_SYS_ADMIN)))
        return true;
    const bool opened = opens_perf_events();
    (void)set_effective_capabilities(before);
    return !opened;
}

// Why tracing programs may not be loaded.
std::string privilege_fault_of() {
    std::string missing;
    for (const unsigned needed : {CAP_BPF, CAP_PERFMON})
        if (!has_capability(CAP_SYS_ADMIN) && !has_capability(needed))
            missing += (missing.empty() ? "" : " and ") + std::string(capability_name(needed));
    return missing.empty()
               ? "though the capabilities are there: a container's rules or the kernel's "
                 "lockdown forbid it"
               : "for want of " + missing;
}

// Whoever may not see them is shown zeros.
bool shows_kernel_addresses() {
    std::ifstream symbols("/proc/kallsyms");
    constexpr int enough = 1'000; // the first ones may really be zero
    std::string line;
    for (int i = 0; i < enough && std::getline(symbols, line); i++)
        if (line.find_first_not_of('0') < line.find(' '))
            return true;
    return false;
}

// Empty: none.
std::string fault_of(const Result<UprobeFindings>& tried) {
    if (!tried)
        return tried.error().cause;
    return tried->fires_in_every_thread
               ? ""
               : "a probe for one process does not fire in all of its threads";
}

// Of Linux 6.11 and later; from 6.14 on, and in later releases of 6.12 and 6.13, which are not told
// apart here, filters do not see it.
bool returns_by_system_call() {
    utsname name;
    int major = 0, minor = 0;
    return uname(&name) == 0 && std::sscanf(name.release, "%d.%d", &major, &minor) == 2 &&
           major == 6 && minor >= 11 && minor < 14;
}

void detect_uprobes(Features& features, LinkProcesses* processes) {
    bool known = knows_uprobe_multi(bpf_trace_uprobe_multi);
    auto tried = try_uprobes(known ? AttachWay::multi : AttachWay::perf, processes);
    features.uprobe_multi_fault = known ? fault_of(tried) : "this kernel has none";
    features.uprobe_multi = features.uprobe_multi_fault.empty();
    features.uprobe_session = features.uprobe_multi && knows_uprobe_multi(bpf_trace_uprobe_session);
    if (known && !features.uprobe_multi)
        tried = try_uprobes(AttachWay::perf, processes);
    features.uprobes_fault = fault_of(tried);
    features.uprobes = features.uprobes_fault.empty();
    features.stacks_under_return = tried && tried->stack_shows_caller;
    features.returns_by_system_call = returns_by_system_call();
}

Capability line(std::string name, bool available, std::string yes, std::string no,
                std::string remedy, Capability::State otherwise) {
    return {std::move(name), available ? Capability::State::available : otherwise,
            available ? std::move(yes) : std::move(no), available ? "" : std::move(remedy)};
}

// What a capability by itself is for.
Capability line(std::string name, unsigned number, bool available, std::string yes) {
    return line(std::move(name), available, std::move(yes), lack_of_capability(number),
                std::string("run as root, or with ") + capability_name(number),
                Capability::State::degraded);
}

} // namespace

Features Features::detect(LinkProcesses* processes) {
    Features features;
    features.btf = access("/sys/kernel/btf/vmlinux", R_OK) == 0;
    features.privileged = static_cast<bool>(load_empty_program(0));
    if (features.privileged) {
        detect_uprobes(features, processes);
        features.context_switches = may_watch_context_switches();
        features.task_iterators = may_visit_tasks();
        features.map_iterators_fault = fault_of_map_iterators();
        features.map_iterators = features.map_iterators_fault.empty();
        features.disables_preemption = may_disable_preemption();
        const std::string missing = missing_socket_tracepoints();
        features.socket_tracepoints = missing.empty();
        if (!missing.empty())
            features.socket_tracepoints_fault =
                "this kernel lacks tracepoints by which they are seen: " + missing;
    }
    if (!features.privileged)
        features.privilege_fault = privilege_fault_of();
    features.perf_events = opens_perf_events();
    features.perf_events_take_admin = features.perf_events && want_admin_for_perf_events();
    features.hardware_cycles = has_hardware_cycles();
    features.kernel_names = shows_kernel_addresses();
    const Tracefs tracefs = Tracefs::open();
    features.tracepoints = tracefs.available();
    if (!features.tracepoints)
        features.tracepoints_fault = tracefs.fault().cause;
    features.no_kernel_probes = missing_kernel_probes();
    features.other_users = has_capability(CAP_SYS_PTRACE);
    features.other_files = has_capability(CAP_DAC_READ_SEARCH);
    features.replaced_files =
        has_capability(CAP_CHECKPOINT_RESTORE) || has_capability(CAP_SYS_ADMIN);
    return features;
}

std::vector<Capability> Features::describe() const {
    using State = Capability::State;
    std::vector<Capability> lines = {
        line("privilege", privileged, "may load tracing programs",
             "may not load tracing programs, " + privilege_fault,
             "run as root (sudo; a container: --privileged), or allow it for good: setcap " +
                 asked_capabilities() + "=ep AUGER",
             State::missing),
        line("kernel types (BTF)", btf, "/sys/kernel/btf/vmlinux", "no /sys/kernel/btf/vmlinux",
             "use a kernel with CONFIG_DEBUG_INFO_BTF, as Debian's are; in a container or chroot, "
             "mount /sys",
             State::missing),
        line("other users' processes", CAP_SYS_PTRACE, other_users, "can be observed"),
        line("other users' files", CAP_DAC_READ_SEARCH, other_files, "can be read"),
        line("names in the kernel", kernel_names, "/proc/kallsyms",
             "the kernel's functions are [unknown]: /proc/kallsyms hides addresses",
             "run as root, or with CAP_SYSLOG; as root, sysctl kernel.kptr_restrict=1 if it is 2",
             State::degraded),
        line("replaced files", CAP_CHECKPOINT_RESTORE, replaced_files,
             "names come from what is really mapped"),
    };
    // Nothing else can be tried.
    if (!privileged)
        return lines;
    lines.insert(
        lines.end(),
        {
            line("perf events", perf_events,
                 perf_events_take_admin ? "may be opened, which needs CAP_SYS_ADMIN here"
                                        : "may be opened",
                 "without them there are no timers, and no notice of new mappings",
                 perf_events_remedy, State::missing),
            line("probes", uprobes, "a probe was attached, and fired", uprobes_fault,
                 "a kernel with CONFIG_UPROBE_EVENTS is needed, and no lockdown that forbids them "
                 "(/sys/kernel/security/lockdown); before Linux 6.6 root, or CAP_SYS_ADMIN",
                 State::missing),
            line("uprobe_multi links", uprobe_multi, "thousands of probes attach in milliseconds",
                 uprobe_multi_fault +
                     ", so each probe is a perf event: detaching takes about 0.1 s each, in the "
                     "background",
                 "Linux 6.6 or later has them", State::degraded),
            line("session links", uprobe_session,
                 "return probes cost calls outside the filter nothing",
                 "return probes are set for every call", "Linux 6.13 or later has them",
                 State::degraded),
            line("stacks under return probes", stacks_under_return,
                 "return addresses are repaired; `exit auto` may choose the trampoline",
                 "they lack the caller, so `exit auto` always probes the exit instructions",
                 "Linux 6.11 or later repairs them", State::degraded),
            line("tracepoints", tracepoints, "can be counted, and used as points of spans",
                 "`tracepoint:...` and `syscall:...` are no probes here, because " +
                     tracepoints_fault,
                 tracefs_remedy, State::degraded),
            // Not built: a kernel that has them is no better off.
            {"functions of the kernel", State::degraded,
             "are not timed" + (no_kernel_probes.empty()
                                    ? std::string()
                                    : ", and could not be: the kernel lacks " + no_kernel_probes),
             "use its tracepoints: `probes tracepoint` lists them, `time syscall:read` times a "
             "system call"},
            line("hardware cycles", hardware_cycles, "sampling counts cycles",
                 "no hardware counters here: sampling uses the cpu-clock timer",
                 "nothing, for most uses; a virtual machine has them if its host passes them on "
                 "(KVM: -cpu host,pmu=on)",
                 State::degraded),
            line("context switches", context_switches, "`sample wall` sees threads that wait",
                 "no BPF program may attach to them, so only running threads are sampled",
                 "use a kernel with BTF and CONFIG_TRACEPOINTS, as Debian's are", State::degraded),
            line("task iterators", task_iterators,
                 "`open` lists the calls that are running, `stacks` all threads",
                 "BPF iterators may not be used, so open calls are counted but not listed, and "
                 "`stacks` is refused",
                 "use a kernel with BTF, of Linux 5.8 or later", State::degraded),
            line("map iterators", map_iterators, "`open` lists goroutines' calls, too",
                 "BPF iterators over maps may not be used (" + map_iterators_fault +
                     "), so goroutines' open calls are counted but not listed",
                 "use a kernel with BTF, of Linux 5.9 or later, that does not forbid them",
                 State::degraded),
            line("socket tracepoints", socket_tracepoints,
                 "`span NAME exchanges` sees what is asked and answered",
                 "no `span NAME exchanges`: " + socket_tracepoints_fault,
                 "Linux has them from 6.3 on", State::degraded),
        });
    return lines;
}

} // namespace auger
