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

void write_received(FILE* out, const char* key, const Received& received) {
    fprintf(out,
            ",\"%s\":{\"calls\":%" PRIu32 ",\"longest_ns\":%" PRIu64 ",\"requested\":%" PRIu64
            ",\"returned\":%" PRId64 ",\"waits\":%" PRIu64 "}",
            key, received.calls, received.longest_ns, received.requested, received.returned,
            received.waits);
}

} // namespace

void Received::add(const Start& start, size_t wanted, ssize_t got) {
    calls++;
    longest_ns = std::max(longest_ns, truth_now() - start.ns);
    waits += waits_now() - start.waits;
    requested += wanted;
    returned += got;
}

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
    uint64_t slow_cpu = 0, slow_wait = 0, branch_taken = 0, recv_found = 0, recv_amount = 0,
             recv_amount_late = 0, audited = 0, lock_waits = 0;
    for (const Call& call : calls) {
        outside.push_back(call.outside.duration());
        inside.push_back(call.inside.duration());
        slow_cpu += call.kind == Kind::cpu;
        slow_wait += call.kind == Kind::wait;
        branch_taken += call.metered;
        recv_found += call.found.calls;
        recv_amount += call.amount.calls;
        recv_amount_late += call.amount_late;
        audited += call.audited;
        lock_waits += call.lock_wait_ns > 0;
    }
    fprintf(out, ",\"calls\":%zu,\"slow_cpu\":%" PRIu64 ",\"slow_wait\":%" PRIu64, calls.size(),
            slow_cpu, slow_wait);
    fprintf(out,
            ",\"branch_taken\":%" PRIu64 ",\"recv_found\":%" PRIu64 ",\"recv_amount\":%" PRIu64
            ",\"recv_amount_late\":%" PRIu64 ",\"audited\":%" PRIu64 ",\"lock_waits\":%" PRIu64,
            branch_taken, recv_found, recv_amount, recv_amount_late, audited, lock_waits);
    report_durations(out, "outside_ns", std::move(outside));
    report_durations(out, "inside_ns", std::move(inside));
}

std::vector<Call> CallLog::in_order_of_start() const {
    std::vector<Call> calls = snapshot();
    std::sort(calls.begin(), calls.end(), [](const Call& left, const Call& right) {
        return left.outside.start < right.outside.start;
    });
    return calls;
}

bool CallLog::write(const std::string& path) const {
    FILE* out = fopen(path.c_str(), "we");
    if (!out)
        return false;
    for (const Call& call : in_order_of_start())
        fprintf(out, "%" PRIu64 " %" PRIu64 " %d %s %" PRIu64 " %" PRIu64 "\n", call.outside.start,
                call.outside.end, call.tid, kind_name(call.kind), call.inside.start,
                call.inside.end);
    return fclose(out) == 0;
}

bool CallLog::write_details(const std::string& path) const {
    FILE* out = fopen(path.c_str(), "we");
    if (!out)
        return false;
    for (const Call& call : in_order_of_start()) {
        fprintf(out, "{\"start\":%" PRIu64 ",\"end\":%" PRIu64 ",\"tid\":%d,\"kind\":\"%s\"",
                call.outside.start, call.outside.end, call.tid, kind_name(call.kind));
        fprintf(out, ",\"account\":%" PRIu32 ",\"rows\":%" PRIu32 ",\"asked\":\"%.*s\"",
                call.account, call.rows, static_cast<int>(call.asked.size()), call.asked.data());
        fprintf(out, ",\"branch\":%s", call.metered ? "true" : "false");
        write_received(out, "found", call.found);
        write_received(out, "amount", call.amount);
        fprintf(out, ",\"late\":%s,\"audited\":%s,\"lock_wait_ns\":%" PRIu64 "}\n",
                call.amount_late ? "true" : "false", call.audited ? "true" : "false",
                call.lock_wait_ns);
    }
    return fclose(out) == 0;
}
