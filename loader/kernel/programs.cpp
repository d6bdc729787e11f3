// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/programs.h"

#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/cpu_ids.h"
#include "loader/kernel/programs_state.h"
#include "loader/process/capabilities.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace auger {

namespace {

// What libbpf said last, for the error message: it names the program and the kernel's reason.
thread_local std::string libbpf_complaint;

int remember_complaint(enum libbpf_print_level level, const char* format, va_list arguments) {
    if (level != LIBBPF_WARN)
        return 0;
    char line[512];
    vsnprintf(line, sizeof(line), format, arguments);
    std::string text(line);
    // Verifier logs are long; the first line of a complaint says what failed.
    if (auto end = text.find('\n'); end != std::string::npos)
        text.resize(end);
    if (libbpf_complaint.empty() && !text.empty())
        libbpf_complaint = text;
    return 0;
}

Error load_error(int error_number) {
    Error error = system_error("load BPF programs", "", "", error_number);
    error.kind = Error::Kind::unsupported;
    if (!libbpf_complaint.empty())
        error.cause += " [" + libbpf_complaint + "]";
    if (error_number == EPERM || error_number == EACCES)
        error.hint = "run as root, or with CAP_BPF and CAP_PERFMON";
    else
        error.hint = "`auger doctor` says what this kernel lacks";
    return error;
}

Result<uint32_t> read_cpu_ids() {
    constexpr const char* path = "/sys/devices/system/cpu/possible";
    std::ifstream file(path);
    std::string text;
    std::getline(file, text);
    const auto ids = count_cpu_ids(text);
    if (!ids)
        return Error{"count CPUs", path, "it holds no list of CPUs", "is sysfs mounted?"};
    return *ids;
}

// What the kernel itself lacks, of its types and functions, libbpf looks for in its modules. That
// takes CAP_SYS_ADMIN, and without it libbpf 1.1 fails instead of finding nothing. It tries once
// for an object: here, for something that is nowhere.
void pass_over_modules(auger_bpf& skeleton) {
    if (has_capability(CAP_SYS_ADMIN))
        return;
    (void)bpf_program__set_attach_target(skeleton.progs.take_sample, 0, "nowhere");
    libbpf_complaint.clear();
}

// Of bpf/, and what it takes to load it; null: nothing that some kernel lacks.
struct Loadable {
    ProgramKind kind;
    const char* name;
    bool ProgramsOptions::*option = nullptr;
};

constexpr Loadable loadable[] = {
    {ProgramKind::call_entry, "call_entry"},
    {ProgramKind::short_call, "short_call"},
    {ProgramKind::call_exit, "call_exit"},
    {ProgramKind::call_return, "call_return"},
    {ProgramKind::call_session, "call_session", &ProgramsOptions::uprobe_session},
    {ProgramKind::go_call_entry, "go_call_entry"},
    {ProgramKind::go_call_exit, "go_call_exit"},
    {ProgramKind::goroutine_end, "goroutine_end"},
    {ProgramKind::goroutine_switch, "goroutine_switch"},
    {ProgramKind::line_reached, "line_reached"},
    {ProgramKind::span_point, "span_point"},
    {ProgramKind::sweep_spans, "sweep_spans"},
    {ProgramKind::exchange_receive, "exchange_receive", &ProgramsOptions::socket_tracepoints},
    {ProgramKind::exchange_send, "exchange_send", &ProgramsOptions::socket_tracepoints},
    {ProgramKind::exchange_arrival, "exchange_arrival", &ProgramsOptions::socket_tracepoints},
    {ProgramKind::exchange_state, "exchange_state", &ProgramsOptions::socket_tracepoints},
    {ProgramKind::exchange_wait, "exchange_wait", &ProgramsOptions::socket_tracepoints},
    {ProgramKind::sampler, "take_sample"},
    {ProgramKind::off_cpu_switch, "off_cpu_switch", &ProgramsOptions::off_cpu},
    {ProgramKind::off_cpu_waking, "off_cpu_waking", &ProgramsOptions::off_cpu},
    {ProgramKind::open_call_list, "list_open_calls", &ProgramsOptions::task_iterators},
    {ProgramKind::thread_list, "list_threads", &ProgramsOptions::task_iterators},
    {ProgramKind::goroutine_call_list, "list_goroutine_calls", &ProgramsOptions::map_iterators},
};

const Loadable& loadable_of(ProgramKind kind) {
    return *std::ranges::find(loadable, kind, &Loadable::kind);
}

// Before it is loaded.
void set_attach_types(auger_bpf& skeleton, const ProgramsOptions& options) {
    const auto& programs = skeleton.progs;
    if (options.uprobe_multi) {
        for (bpf_program* program :
             {programs.call_entry, programs.short_call, programs.call_exit, programs.call_return,
              programs.line_reached, programs.span_point, programs.go_call_entry,
              programs.go_call_exit, programs.goroutine_end, programs.goroutine_switch})
            bpf_program__set_expected_attach_type(
                program, static_cast<bpf_attach_type>(bpf_trace_uprobe_multi));
    }
    if (options.uprobe_session)
        bpf_program__set_expected_attach_type(
            programs.call_session, static_cast<bpf_attach_type>(bpf_trace_uprobe_session));
}

// Of all programs only these are loaded.
void load_only(auger_bpf& skeleton, auto&& is_wanted) {
    bpf_program* program = nullptr;
    bpf_object__for_each_program(program, skeleton.obj)
        bpf_program__set_autoload(program, is_wanted(program));
}

} // namespace

Programs::Programs(std::unique_ptr<State> state) : state_(std::move(state)) {}
Programs::~Programs() = default;

Result<std::unique_ptr<Programs>> Programs::load(const ProgramsOptions& options) {
    libbpf_set_print(remember_complaint);
    libbpf_complaint.clear();
    auto state = std::make_unique<State>();
    state->options = options;
    int cpus = libbpf_num_possible_cpus();
    if (cpus <= 0)
        return system_error("count CPUs", "/sys/devices/system/cpu/possible", "", -cpus);
    state->cpus = static_cast<uint32_t>(cpus);
    auto cpu_ids = read_cpu_ids();
    if (!cpu_ids)
        return cpu_ids.error();
    state->cpu_ids = *cpu_ids;

    state->skeleton.reset(auger_bpf::open());
    if (!state->skeleton)
        return load_error(errno);
    auger_bpf& skeleton = *state->skeleton;
    skeleton.rodata->cpu_ids = state->cpu_ids;
    skeleton.rodata->own_pid = static_cast<uint32_t>(getpid());
    skeleton.rodata->disables_preemption = options.disables_preemption;
    skeleton.rodata->late_walk_jiffies = options.late_walk_jiffies;
    bpf_map__set_max_entries(skeleton.maps.call_counters, WIRE_MAX_SPECS * state->cpu_ids);
    bpf_map__set_max_entries(skeleton.maps.tick_costs, state->cpu_ids);
    const bpf_program* const always[] = {skeleton.progs.thread_exit, skeleton.progs.thread_exec,
                                         skeleton.progs.process_fork, skeleton.progs.process_exec,
                                         skeleton.progs.process_exit};
    load_only(skeleton, [&](const bpf_program* program) {
        return std::ranges::find(always, program) != std::end(always);
    });

    pass_over_modules(skeleton);
    if (int error = auger_bpf::load(&skeleton))
        return load_error(-error);
    auto counters = MappedArray<wire_call_counters>::make(bpf_map__fd(skeleton.maps.call_counters),
                                                          size_t{WIRE_MAX_SPECS} * state->cpu_ids,
                                                          "call_counters");
    if (!counters)
        return counters.error();
    state->counters = std::move(*counters);
    auto tables = MappedArray<wire_unwind_table>::make(bpf_map__fd(skeleton.maps.unwind_tables),
                                                       WIRE_UNWIND_TABLES, "unwind_tables");
    if (!tables)
        return tables.error();
    state->unwind_tables = std::move(*tables);
    auto costs = MappedArray<wire_tick_cost>::make(bpf_map__fd(skeleton.maps.tick_costs),
                                                   state->cpu_ids, "tick_costs");
    if (!costs)
        return costs.error();
    state->tick_costs = std::move(*costs);

    for (bpf_program* program :
         {skeleton.progs.thread_exit, skeleton.progs.thread_exec, skeleton.progs.process_fork,
          skeleton.progs.process_exec, skeleton.progs.process_exit}) {
        bpf_link* link = bpf_program__attach(program);
        if (!link) {
            Error error = system_error("attach tracepoint", bpf_program__section_name(program),
                                       "a kernel with CONFIG_TRACEPOINTS is needed");
            error.kind = Error::Kind::unsupported;
            return error;
        }
        // The skeleton's destructor ends the links that stand in it.
        if (program == skeleton.progs.thread_exit)
            skeleton.links.thread_exit = link;
        else if (program == skeleton.progs.thread_exec)
            skeleton.links.thread_exec = link;
        else if (program == skeleton.progs.process_fork)
            skeleton.links.process_fork = link;
        else if (program == skeleton.progs.process_exec)
            skeleton.links.process_exec = link;
        else
            skeleton.links.process_exit = link;
    }
    return std::unique_ptr<Programs>(new Programs(std::move(state)));
}

bool Programs::can_load(ProgramKind kind) const {
    const auto option = loadable_of(kind).option;
    return !option || state_->options.*option;
}

Result<int> Programs::program(ProgramKind kind) const {
    const char* const name = loadable_of(kind).name;
    if (!can_load(kind))
        return Error{"load BPF program", name, "this kernel cannot",
                     "`auger doctor` says what it lacks", Error::Kind::unsupported};
    return state_->program(name);
}

Result<int> Programs::tracepoint_program(size_t index) const {
    return state_->program(fmt::format("{}{}", tracepoint_program_name, index + 1));
}

// With the maps that there are.
Result<int> Programs::State::program(const std::string& name) {
    if (const auto found = loaded.find(name); found != loaded.end())
        return found->second.get();
    libbpf_complaint.clear();
    const std::unique_ptr<auger_bpf, SkeletonDeleter> other(auger_bpf::open());
    if (!other)
        return load_error(errno);
    set_attach_types(*other, options);
    pass_over_modules(*other);
    load_only(*other,
              [&](const bpf_program* program) { return bpf_program__name(program) == name; });
    bpf_map* map = nullptr;
    bpf_object__for_each_map(map, other->obj) {
        const bpf_map* const made = bpf_object__find_map_by_name(skeleton->obj, bpf_map__name(map));
        if (const int error = bpf_map__reuse_fd(map, bpf_map__fd(made)))
            return load_error(-error);
    }
    if (const int error = bpf_object__load(other->obj))
        return load_error(-error);
    const int kept =
        fcntl(bpf_program__fd(bpf_object__find_program_by_name(other->obj, name.c_str())),
              F_DUPFD_CLOEXEC, 0);
    if (kept < 0)
        return load_error(errno);
    return loaded.emplace(name, kept).first->second.get();
}

int Programs::map_fd(MapKind kind) const {
    const auto& maps = state_->skeleton->maps;
    switch (kind) {
    case MapKind::specs:
        return bpf_map__fd(maps.specs);
    case MapKind::histogram_blocks:
        return bpf_map__fd(maps.histogram_blocks);
    case MapKind::events:
        return bpf_map__fd(maps.events);
    case MapKind::targets:
        return bpf_map__fd(maps.targets);
    case MapKind::target_comms:
        return bpf_map__fd(maps.target_comms);
    case MapKind::filter_pids:
        return bpf_map__fd(maps.filter_pids);
    case MapKind::filter_tids:
        return bpf_map__fd(maps.filter_tids);
    case MapKind::filter_cgroups:
        return bpf_map__fd(maps.filter_cgroups);
    case MapKind::filter_comms:
        return bpf_map__fd(maps.filter_comms);
    case MapKind::call_programs:
        return bpf_map__fd(maps.call_programs);
    case MapKind::mark_counts:
        return bpf_map__fd(maps.mark_counts);
    case MapKind::gates:
        return bpf_map__fd(maps.gates);
    case MapKind::call_operands:
        return bpf_map__fd(maps.call_operands);
    case MapKind::call_targets:
        return bpf_map__fd(maps.call_targets);
    case MapKind::go_runtimes:
        return bpf_map__fd(maps.go_runtimes);
    case MapKind::go_counts:
        return bpf_map__fd(maps.go_counts);
    case MapKind::goroutine_calls:
        return bpf_map__fd(maps.goroutine_calls);
    case MapKind::go_processes:
        return bpf_map__fd(maps.go_processes);
    case MapKind::spans:
        return bpf_map__fd(maps.spans);
    case MapKind::exchange_spans:
        return bpf_map__fd(maps.exchange_spans);
    case MapKind::unwind_cells:
        return bpf_map__fd(maps.unwind_cells);
    case MapKind::unwind_processes:
        return bpf_map__fd(maps.unwind_processes);
    case MapKind::python_layouts:
        return bpf_map__fd(maps.python_layouts);
    case MapKind::waiting_tasks:
        return bpf_map__fd(maps.waiting_tasks);
    case MapKind::thread_contexts:
        return bpf_map__fd(maps.thread_contexts);
    case MapKind::hotspot_processes:
        return bpf_map__fd(maps.hotspot_processes);
    case MapKind::v8_layouts:
        return bpf_map__fd(maps.v8_layouts);
    case MapKind::php_layouts:
        return bpf_map__fd(maps.php_layouts);
    case MapKind::ruby_layouts:
        return bpf_map__fd(maps.ruby_layouts);
    case MapKind::perl_layouts:
        return bpf_map__fd(maps.perl_layouts);
    }
    return -1;
}

volatile wire_config& Programs::config() {
    return state_->skeleton->bss->config;
}

void Programs::renew_scope() {
    uint32_t& last = state_->last_scope;
    last = last == UINT32_MAX ? 1 : last + 1;
    bool may_cease = config().filter & (WIRE_FILTER_COMM | WIRE_FILTER_CGROUP);
    config().scope = may_cease ? 0 : last;
}

wire_call_counters* Programs::call_counters(uint32_t spec) const {
    return state_->counters.at(size_t{spec} * state_->cpu_ids);
}

wire_unwind_table* Programs::unwind_tables() const {
    return state_->unwind_tables.at(0);
}

wire_tick_cost* Programs::tick_costs() const {
    return state_->tick_costs.at(0);
}

uint32_t Programs::possible_cpus() const {
    return state_->cpus;
}

uint32_t Programs::cpu_ids() const {
    return state_->cpu_ids;
}

std::vector<uint64_t> Programs::link_ids() const {
    const auto& links = state_->skeleton->links;
    std::vector<uint64_t> ids;
    for (bpf_link* link : {links.thread_exit, links.thread_exec, links.process_fork,
                           links.process_exec, links.process_exit})
        ids.push_back(link_id(bpf_link__fd(link)));
    return ids;
}

} // namespace auger
