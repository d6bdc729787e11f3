// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/programs.h"

#include "loader/base/fd.h"
#include "loader/kernel/bpf_calls.h"
#include "loader/kernel/mapped_array.h"

#include <bpf/bpf.h>
#include <linux/types.h>

#include "auger.skel.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
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

// One more than the last of "0-3,8-11".
Result<uint32_t> read_cpu_ids() {
    constexpr const char* path = "/sys/devices/system/cpu/possible";
    std::ifstream file(path);
    std::string text;
    std::getline(file, text);
    const size_t last = text.find_last_of("-,") == text.npos ? 0 : text.find_last_of("-,") + 1;
    uint32_t id = 0;
    const auto [end, error] = std::from_chars(text.data() + last, text.data() + text.size(), id);
    if (error != std::errc{} || end != text.data() + text.size())
        return Error{"count CPUs", path, "it holds no list of CPUs", "is sysfs mounted?"};
    return id + 1;
}

struct SkeletonDeleter {
    void operator()(auger_bpf* skeleton) const { auger_bpf::destroy(skeleton); }
};

template <typename Value>
void for_each_cpu_value(int map_fd, uint32_t index, uint32_t cpus, auto&& visit) {
    // The kernel rounds each CPU's value up to 8 bytes.
    static_assert(sizeof(Value) % 8 == 0);
    std::vector<Value> values(cpus);
    if (bpf_map_lookup_elem(map_fd, &index, values.data()) == 0) {
        for (const Value& value : values)
            visit(value);
    }
}

// Of bpf/, and what it takes to load it; null: nothing that some kernel lacks.
struct Loadable {
    ProgramKind kind;
    const char* name;
    bool ProgramsOptions::*option = nullptr;
};

constexpr Loadable loadable[] = {
    {ProgramKind::call_entry, "call_entry"},
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
    {ProgramKind::goroutine_call_list, "list_goroutine_calls", &ProgramsOptions::map_iterators},
};

const Loadable& loadable_of(ProgramKind kind) {
    return *std::ranges::find(loadable, kind, &Loadable::kind);
}

constexpr std::string_view tracepoint_program_name = "tracepoint_hit_";

// Before it is loaded.
void set_attach_types(auger_bpf& skeleton, const ProgramsOptions& options) {
    const auto& programs = skeleton.progs;
    if (options.uprobe_multi) {
        for (bpf_program* program :
             {programs.call_entry, programs.call_exit, programs.call_return, programs.line_reached,
              programs.span_point, programs.go_call_entry, programs.go_call_exit,
              programs.goroutine_end, programs.goroutine_switch})
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

struct Programs::State {
    ProgramsOptions options;
    std::unique_ptr<auger_bpf, SkeletonDeleter> skeleton; // its maps, and the process tracepoints
    std::map<std::string, UniqueFd> loaded;               // by name
    uint32_t cpus = 0;
    uint32_t cpu_ids = 0;
    uint32_t last_scope = 0;
    MappedArray<wire_call_counters> counters;
    MappedArray<wire_unwind_table> unwind_tables;
    MappedArray<wire_tick_cost> tick_costs;

    Result<int> program(const std::string& name);
};

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
    skeleton.rodata->stops_preemption = options.stops_preemption;
    bpf_map__set_max_entries(skeleton.maps.call_counters, WIRE_MAX_SPECS * state->cpu_ids);
    bpf_map__set_max_entries(skeleton.maps.tick_costs, state->cpu_ids);
    const bpf_program* const always[] = {skeleton.progs.thread_exit, skeleton.progs.thread_exec,
                                         skeleton.progs.process_fork, skeleton.progs.process_exec,
                                         skeleton.progs.process_exit};
    load_only(skeleton, [&](const bpf_program* program) {
        return std::ranges::find(always, program) != std::end(always);
    });

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

std::array<uint64_t, WIRE_LOSSES> Programs::losses() const {
    std::array<uint64_t, WIRE_LOSSES> sums = {};
    int fd = bpf_map__fd(state_->skeleton->maps.losses);
    for (uint32_t cause = 0; cause < WIRE_LOSSES; cause++)
        for_each_cpu_value<uint64_t>(fd, cause, state_->cpus,
                                     [&](uint64_t count) { sums[cause] += count; });
    return sums;
}

wire_sampler_stats Programs::sampler_stats() const {
    wire_sampler_stats sum = {};
    for_each_cpu_value<wire_sampler_stats>(bpf_map__fd(state_->skeleton->maps.sampler_stats), 0,
                                           state_->cpus, [&](const wire_sampler_stats& one) {
                                               sum.ticks += one.ticks;
                                               sum.samples += one.samples;
                                               sum.filtered += one.filtered;
                                               sum.gated += one.gated;
                                               sum.own_ns += one.own_ns;
                                           });
    return sum;
}

wire_tick_cost* Programs::tick_costs() const {
    return state_->tick_costs.at(0);
}

wire_wait_stats Programs::wait_stats() const {
    wire_wait_stats sum = {};
    for_each_cpu_value<wire_wait_stats>(bpf_map__fd(state_->skeleton->maps.wait_stats), 0,
                                        state_->cpus, [&](const wire_wait_stats& one) {
                                            sum.waits += one.waits;
                                            sum.samples += one.samples;
                                            sum.gated += one.gated;
                                            sum.own_ns += one.own_ns;
                                            sum.waited_ns += one.waited_ns;
                                        });
    return sum;
}

std::array<uint64_t, WIRE_OTHER_HITS> Programs::other_hits() const {
    std::array<uint64_t, WIRE_OTHER_HITS> sums = {};
    const int fd = bpf_map__fd(state_->skeleton->maps.other_hits);
    for (uint32_t index = 0; index < WIRE_OTHER_HITS; index++)
        for_each_cpu_value<uint64_t>(fd, index, state_->cpus,
                                     [&](uint64_t count) { sums[index] += count; });
    return sums;
}

void Programs::visit_spans(const std::function<void(const wire_span&)>& visit) const {
    const int map = bpf_map__fd(state_->skeleton->maps.spans);
    const size_t size = bpf_map__value_size(state_->skeleton->maps.spans);
    constexpr uint32_t at_once = 1024; // more than a bucket holds
    std::vector<wire_span_key> keys(at_once);
    std::vector<std::byte> values(at_once * size);
    uint32_t position = 0; // the kernel's
    for (bool first = true;; first = false) {
        uint32_t count = at_once;
        const int error = bpf_map_lookup_batch(map, first ? nullptr : &position, &position,
                                               keys.data(), values.data(), &count, nullptr);
        for (uint32_t i = 0; i < count && (error == 0 || errno == ENOENT); i++) {
            wire_span span;
            std::memcpy(&span, values.data() + i * size, sizeof span);
            if (span.state & 1)
                visit(span);
        }
        if (error != 0)
            return; // the last ones, or the kernel cannot
    }
}

SpanCounts Programs::span_counts(uint32_t spec) const {
    SpanCounts sum;
    for_each_cpu_value<wire_span_counts>(
        bpf_map__fd(state_->skeleton->maps.span_counts), spec, state_->cpus,
        [&](const wire_span_counts& one) {
            sum += {one.expired,
                    one.stray,
                    one.attached_ns,
                    one.queued_ns,
                    one.parked_ns,
                    one.watched_ns,
                    one.blocked_ns,
                    one.runnable_ns,
                    {one.ambiguous[WIRE_AMBIGUOUS_EARLY], one.ambiguous[WIRE_AMBIGUOUS_UNASKED],
                     one.ambiguous[WIRE_AMBIGUOUS_TLS], one.ambiguous[WIRE_AMBIGUOUS_HTTP2]}};
        });
    return sum;
}

SpanCounts Programs::go_counts(uint32_t spec) const {
    SpanCounts sum;
    for_each_cpu_value<wire_go_counts>(bpf_map__fd(state_->skeleton->maps.go_counts), spec,
                                       state_->cpus, [&](const wire_go_counts& one) {
                                           sum.attached_ns += one.attached_ns;
                                           sum.queued_ns += one.queued_ns;
                                           sum.blocked_ns += one.blocked_ns;
                                           sum.runnable_ns += one.runnable_ns;
                                           for (size_t i = 0; i < park_reasons; i++) {
                                               sum.parked_ns += one.parked_ns[i];
                                               sum.parked_for_ns[i] += one.parked_ns[i];
                                           }
                                       });
    sum.watched_ns = sum.attached_ns;
    return sum;
}

uint64_t Programs::goroutine_switches() const {
    uint64_t sum = 0;
    for_each_cpu_value<uint64_t>(bpf_map__fd(state_->skeleton->maps.go_switches), 0, state_->cpus,
                                 [&](uint64_t count) { sum += count; });
    return sum;
}

uint64_t Programs::gated_slow_calls() const {
    uint64_t sum = 0;
    for_each_cpu_value<uint64_t>(bpf_map__fd(state_->skeleton->maps.gated_slow_calls), 0,
                                 state_->cpus, [&](uint64_t count) { sum += count; });
    return sum;
}

uint64_t Programs::missed_tracepoints() const {
    uint64_t sum = 0;
    for (const auto& [name, fd] : state_->loaded) {
        bpf_prog_info info = {};
        uint32_t size = sizeof(info);
        if (name.starts_with(tracepoint_program_name) &&
            bpf_obj_get_info_by_fd(fd.get(), &info, &size) == 0)
            sum += info.recursion_misses;
    }
    return sum;
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
