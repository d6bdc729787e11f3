// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/span_sweep.h"

#include <bpf/bpf.h>

#include <array>

namespace auger {

namespace {

constexpr uint64_t interval_ns = 1'000'000'000;
constexpr uint64_t interval_of_exchanges_ns = 100'000'000;

} // namespace

void SpanSweep::update(uint64_t now_ns) {
    if (now_ns < next_ns_)
        return;
    next_ns_ = now_ns + (probes_.has_exchanges() ? interval_of_exchanges_ns : interval_ns);
    const bool has_spans = probes_.has_spans();
    // Once more for those of a span that was deleted.
    if (has_spans || had_spans_)
        run(0, 0);
    had_spans_ = has_spans;
}

void SpanSweep::end_process(pid_t pid, uint64_t time_ns) const {
    if (probes_.has_spans())
        run(static_cast<uint32_t>(pid), time_ns);
}

void SpanSweep::run(uint32_t tgid, uint64_t before_ns) const {
    const std::array<uint64_t, 2> arguments = {tgid, before_ns};
    LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = arguments.data(),
                .ctx_size_in = sizeof arguments);
    if (const auto program = programs_.program(ProgramKind::sweep_spans))
        (void)bpf_prog_test_run_opts(*program, &options);
}

} // namespace auger
