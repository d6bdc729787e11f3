// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/remote/record_hosts.h"

#include <utility>

namespace auger::remote {

Result<void> record_hosts(Hosts& hosts, const std::string& path) {
    hosts.recording().path = path;
    Result<void> result;
    for (const auto& host : hosts.all()) {
        const auto done =
            path.empty() ? host->recording().finish() : host->recording().record(path);
        if (result && !done)
            result = done;
    }
    if (result || path.empty())
        return result;
    hosts.recording().path.clear();
    for (const auto& host : hosts.all())
        (void)host->recording().finish();
    return result;
}

Result<void> record_intervals_of_hosts(Hosts& hosts, const IntervalRecording& wanted) {
    const IntervalRecording former = std::exchange(hosts.recording().intervals, wanted);
    Result<void> result;
    for (const auto& host : hosts.all()) {
        const auto done = host->record_intervals(wanted, hosts.now_ns());
        if (result && !done)
            result = done;
    }
    // What ends has ended, whether or not all of it could be written.
    if (result || wanted.folder.empty())
        return result;
    hosts.recording().intervals = former;
    for (const auto& host : hosts.all())
        (void)host->record_intervals(former, hosts.now_ns());
    return result;
}

IntervalRecordings intervals_of_hosts(const Hosts& hosts) {
    IntervalRecordings all;
    for (const auto& host : hosts.all())
        all += host->recording().intervals();
    return all;
}

void keep_last_of_hosts(Hosts& hosts, std::chrono::nanoseconds span) {
    hosts.recording().keep = span;
    for (const auto& host : hosts.all())
        host->recording().keep_last(span);
}

Result<void> write_last_of_hosts(const Hosts& hosts, const std::string& path) {
    for (const auto& host : hosts.all())
        if (auto written = host->recording().write_last(path); !written)
            return written;
    return {};
}

} // namespace auger::remote
