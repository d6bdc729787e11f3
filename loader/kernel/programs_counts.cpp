// SPDX-License-Identifier: GPL-3.0-or-later
// What BPF programs count and keep in maps, read for user space.
#include "loader/kernel/programs_state.h"

#include "bpf/go_runtime.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace auger {

namespace {

// Of each CPU; zeros when they cannot be read.
template <typename Value>
std::vector<Value> cpu_values(int map_fd, uint32_t index, uint32_t cpus) {
    // The kernel rounds each CPU's value up to 8 bytes.
    static_assert(sizeof(Value) % 8 == 0);
    std::vector<Value> values(cpus);
    if (bpf_map_lookup_elem(map_fd, &index, values.data()) != 0)
        values.assign(cpus, Value{});
    return values;
}

template <typename Value>
void for_each_cpu_value(int map_fd, uint32_t index, uint32_t cpus, auto&& visit) {
    for (const Value& value : cpu_values<Value>(map_fd, index, cpus))
        visit(value);
}

// Of the programs whose names begin so.
uint64_t missed_runs(const auto& loaded, std::initializer_list<std::string_view> names) {
    uint64_t sum = 0;
    for (const auto& [program, fd] : loaded) {
        const std::string_view name = program;
        bpf_prog_info info = {};
        uint32_t size = sizeof(info);
        if (std::ranges::any_of(names, [&](auto begin) { return name.starts_with(begin); }) &&
            bpf_obj_get_info_by_fd(fd.get(), &info, &size) == 0)
            sum += info.recursion_misses;
    }
    return sum;
}

} // namespace

std::array<uint64_t, WIRE_LOSSES> Programs::losses() const {
    std::array<uint64_t, WIRE_LOSSES> sums = {};
    int fd = bpf_map__fd(state_->skeleton->maps.losses);
    for (uint32_t cause = 0; cause < WIRE_LOSSES; cause++)
        for_each_cpu_value<uint64_t>(fd, cause, state_->cpus,
                                     [&](uint64_t count) { sums[cause] += count; });
    return sums;
}

// A tick is counted when it begins, and what became of it when it ends. A CPU whose counts do not
// add up is at one, and is read again.
SamplerCounts Programs::sampler_counts() const {
    constexpr int looks = 1'000; // a tick takes some tens of looks at the most
    const int stats = bpf_map__fd(state_->skeleton->maps.sampler_stats);
    const int losses = bpf_map__fd(state_->skeleton->maps.losses);
    std::vector<SamplerCounts> counts(state_->cpus);
    std::vector<bool> settled(state_->cpus);
    for (int look = 0; look < looks && std::ranges::find(settled, false) != settled.end(); look++) {
        const auto ended = cpu_values<wire_sampler_stats>(stats, 0, state_->cpus);
        const auto lost = cpu_values<uint64_t>(losses, WIRE_LOSS_RING_SAMPLE, state_->cpus);
        for (size_t cpu = 0; cpu < counts.size(); cpu++) {
            if (settled[cpu])
                continue;
            const wire_sampler_stats& of = ended[cpu];
            counts[cpu] = {of.ticks, of.samples, of.filtered, of.gated, lost[cpu], of.own_ns};
            const SamplerCounts& one = counts[cpu];
            settled[cpu] = one.ticks == one.samples + one.filtered + one.gated + one.lost;
        }
    }
    SamplerCounts sum;
    for (const SamplerCounts& one : counts) {
        sum.ticks += one.ticks;
        sum.samples += one.samples;
        sum.filtered += one.filtered;
        sum.gated += one.gated;
        sum.own_ns += one.own_ns;
        sum.lost += one.lost;
    }
    return sum;
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

std::shared_ptr<const OpenSpans> Programs::open_spans() const {
    return std::make_shared<const OpenSpans>(own_map_fd(MapKind::spans),
                                             bpf_map__value_size(state_->skeleton->maps.spans));
}

UniqueFd Programs::own_map_fd(MapKind kind) const {
    return UniqueFd(fcntl(map_fd(kind), F_DUPFD_CLOEXEC, 0));
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

Programs::GoroutineSwitches Programs::goroutine_switches() const {
    const int fd = bpf_map__fd(state_->skeleton->maps.go_switches);
    GoroutineSwitches sums;
    for_each_cpu_value<uint64_t>(fd, WIRE_GO_SWITCHES_OF_TARGET, state_->cpus,
                                 [&](uint64_t count) { sums.of_target += count; });
    for_each_cpu_value<uint64_t>(fd, WIRE_GO_SWITCHES_OF_OTHERS, state_->cpus,
                                 [&](uint64_t count) { sums.of_others += count; });
    return sums;
}

uint64_t Programs::gated_slow_calls() const {
    uint64_t sum = 0;
    for_each_cpu_value<uint64_t>(bpf_map__fd(state_->skeleton->maps.gated_slow_calls), 0,
                                 state_->cpus, [&](uint64_t count) { sum += count; });
    return sum;
}

uint64_t Programs::missed_tracepoints() const {
    return missed_runs(state_->loaded, {tracepoint_program_name});
}

uint64_t Programs::missed_socket_calls() const {
    return missed_runs(state_->loaded, {"exchange_receive", "exchange_send"});
}

} // namespace auger
