// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of one slow call, for the list of them and the screen.
#include "views/format.h"
#include "views/text/draw.h"

#include <fmt/format.h>

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

// "longest wait 20.3 ms in futex(0x7f00)", "longest wait 20.3 ms, parked: chan receive"
std::string longest_wait_text(const Wait& wait) {
    return fmt::format("longest wait {}{}{}", format_duration(static_cast<double>(wait.blocked_ns)),
                       wait.what.starts_with("parked") ? ", " : " in ", wait.what);
}

} // namespace

void add_call_facts(Canvas& canvas, const SlowCall& call, size_t indent) {
    if (!call.values.empty())
        canvas.add_line(values_text(call.values), Style::plain, indent);
    if (const auto& waits = call.end.waits)
        canvas.add_line(fmt::format("running {}, blocked {}, runnable {}",
                                    format_duration(static_cast<double>(cpu_ns(call.end))),
                                    format_duration(static_cast<double>(waits->blocked_ns)),
                                    format_duration(static_cast<double>(waits->runnable_ns))),
                        Style::plain, indent);
    if (call.end.parked_ns || call.end.queued_ns)
        canvas.add_line(fmt::format("parked {}, queued {}",
                                    format_duration(static_cast<double>(call.end.parked_ns)),
                                    format_duration(static_cast<double>(call.end.queued_ns))),
                        Style::plain, indent);
    if (call.longest_wait.blocked_ns)
        canvas.add_line(longest_wait_text(call.longest_wait), Style::plain, indent);
}

} // namespace auger
