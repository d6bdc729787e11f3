// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of one slow call, for the list of them and the screen.
#include "views/format.h"
#include "views/model/slow_call_query.h"
#include "views/text/draw.h"

#include <fmt/format.h>

#include <algorithm>

namespace auger {

namespace {

// "fd=17 (tcp 127.0.0.1:80 -> 127.0.0.1:4711) len=4096 ret=-1 errno=EAGAIN (11)"
std::string values_text(const std::vector<CallValue>& values) {
    std::string text;
    for (const CallValue& value : values)
        text +=
            fmt::format("{}{}={}", text.empty() ? "" : " ", value.name,
                        value.readable ? value.text : fmt::format("(unreadable: {})", value.text));
    return text;
}

// For how long no thread ran the call; empty when one did all the time, or nothing is known of it.
std::string parked_text(const Model& model, const SlowCall& call) {
    const CallEndEvent& end = call.end;
    const std::string queued = format_duration(static_cast<double>(end.queued_ns));
    if (is_park_known(model, call))
        return end.parked_ns || end.queued_ns
                   ? fmt::format("parked {}, queued {}",
                                 format_duration(static_cast<double>(end.parked_ns)), queued)
                   : "";
    if (!is_span(model, call))
        return {};
    // As `hist` says it.
    const uint64_t rest = end.duration_ns - std::min(end.duration_ns, end.queued_ns);
    return fmt::format("served or parked {}, queued {}", format_duration(static_cast<double>(rest)),
                       queued);
}

// "longest wait 20.3 ms in futex(0x7f00)", "longest wait 20.3 ms, parked: chan receive"
std::string longest_wait_text(const Wait& wait) {
    return fmt::format("longest wait {}{}{}", format_duration(static_cast<double>(wait.blocked_ns)),
                       wait.what.starts_with("parked") ? ", " : " in ", wait.what);
}

} // namespace

void add_call_facts(Canvas& canvas, const Model& model, const SlowCall& call, size_t indent) {
    if (!call.values.empty())
        canvas.add_line(values_text(call.values), Style::plain, indent);
    if (const auto& waits = call.end.waits)
        canvas.add_line(fmt::format("running {}, blocked {}, runnable {}",
                                    format_duration(static_cast<double>(cpu_ns(call.end))),
                                    format_duration(static_cast<double>(waits->blocked_ns)),
                                    format_duration(static_cast<double>(waits->runnable_ns))),
                        Style::plain, indent);
    if (std::string parked = parked_text(model, call); !parked.empty())
        canvas.add_line(std::move(parked), Style::plain, indent);
    if (call.longest_wait.blocked_ns)
        canvas.add_line(longest_wait_text(call.longest_wait), Style::plain, indent);
}

} // namespace auger
