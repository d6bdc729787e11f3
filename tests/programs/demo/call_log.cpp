// SPDX-License-Identifier: GPL-3.0-or-later
//
// See call_log.h. Percentiles are exact, by nearest rank: the smallest duration that at least the
// given share of all calls does not exceed.
#include "demo/call_log.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>

namespace {

uint64_t nearest_rank(const std::vector<uint64_t>& sorted, double share) {
    if (sorted.empty())
        return 0;
    const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::clamp<size_t>(rank, 1, sorted.size()) - 1];
}

void report_durations(FILE* out, const char* key, std::vector<uint64_t> durations) {
    std::sort(durations.begin(), durations.end());
    fprintf(out, ",\"%s\":{\"min\":%" PRIu64 ",\"max\":%" PRIu64, key,
            durations.empty() ? 0 : durations.front(), durations.empty() ? 0 : durations.back());
    const struct {
        const char* name;
        double share;
    } percentiles[] = {{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}, {"p999", 0.999}};
    for (const auto& percentile : percentiles)
        fprintf(out, ",\"%s\":%" PRIu64, percentile.name,
                nearest_rank(durations, percentile.share));
    fprintf(out, "}");
}

} // namespace

const char* kind_name(Kind kind) {
    switch (kind) {
    case Kind::fast:
        return "fast";
    case Kind::cpu:
        return "cpu";
    case Kind::wait:
        return "wait";
    }
    return "unknown";
}

void CallLog::add(const Call& call) {
    const std::lock_guard guard(lock_);
    calls_.push_back(call);
}

std::vector<Call> CallLog::snapshot() const {
    const std::lock_guard guard(lock_);
    return calls_;
}

void CallLog::report(FILE* out) const {
    const std::vector<Call> calls = snapshot();
    std::vector<uint64_t> outside, inside;
    uint64_t slow_cpu = 0, slow_wait = 0;
    for (const Call& call : calls) {
        outside.push_back(call.outside.duration());
        inside.push_back(call.inside.duration());
        slow_cpu += call.kind == Kind::cpu;
        slow_wait += call.kind == Kind::wait;
    }
    fprintf(out, ",\"calls\":%zu,\"slow_cpu\":%" PRIu64 ",\"slow_wait\":%" PRIu64, calls.size(),
            slow_cpu, slow_wait);
    report_durations(out, "outside_ns", std::move(outside));
    report_durations(out, "inside_ns", std::move(inside));
}

bool CallLog::write(const std::string& path) const {
    std::vector<Call> calls = snapshot();
    std::sort(calls.begin(), calls.end(), [](const Call& left, const Call& right) {
        return left.outside.start < right.outside.start;
    });
    FILE* out = fopen(path.c_str(), "we");
    if (!out)
        return false;
    for (const Call& call : calls)
        fprintf(out, "%" PRIu64 " %" PRIu64 " %d %s %" PRIu64 " %" PRIu64 "\n", call.outside.start,
                call.outside.end, call.tid, kind_name(call.kind), call.inside.start,
                call.inside.end);
    return fclose(out) == 0;
}
