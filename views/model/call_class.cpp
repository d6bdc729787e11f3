// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/call_class.h"

#include "views/spell.h"

namespace auger {

std::string_view to_string(CallClass call_class) {
    switch (call_class) {
    case CallClass::slow:
        return "slow";
    case CallClass::fast:
        return "fast";
    case CallClass::open:
        return "open";
    case CallClass::outside:
        break;
    }
    return "outside";
}

std::string to_string(const DurationRange& range) {
    return (range.from_ns ? spell_duration(range.from_ns) : "") + ".." +
           (range.open_ended() ? "" : spell_duration(range.to_ns));
}

namespace {

bool excludes_host(const HostChoice& one, const HostChoice& other) {
    const bool same = one.name == other.name;
    return one.others || other.others ? same && one.others != other.others : !same;
}

// A stack holds several functions.
bool excludes_stack(const StackChoice& one, const StackChoice& other) {
    return one.function == other.function && one.others != other.others;
}

} // namespace

bool ClassFilter::excludes(const ClassFilter& other) const {
    return (duration && other.duration && *duration != *other.duration) ||
           (range && other.range &&
            (range->to_ns <= other.range->from_ns || other.range->to_ns <= range->from_ns)) ||
           (taken && other.taken && *taken != *other.taken) ||
           (label && other.label && *label != *other.label) ||
           (host && other.host && excludes_host(*host, *other.host)) ||
           (process && other.process && *process != *other.process) ||
           (in && other.in && excludes_stack(*in, *other.in));
}

std::string to_string(const ClassFilter& filter) {
    if (filter.all())
        return "all";
    std::string text;
    auto add = [&](std::string_view part) {
        text += text.empty() ? "" : "+";
        text += part;
    };
    if (filter.duration)
        add(to_string(*filter.duration));
    if (filter.range)
        add(to_string(*filter.range));
    if (filter.taken)
        add(*filter.taken ? "taken" : "not-taken");
    if (filter.host)
        add((filter.host->others ? "host!=" : "host=") + filter.host->name);
    if (filter.process)
        add("pid=" + std::to_string(*filter.process));
    if (filter.in)
        add((filter.in->others ? "in!=" : "in=") + filter.in->function);
    if (filter.label)
        add("=" + *filter.label);
    return text;
}

} // namespace auger
