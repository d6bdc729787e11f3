// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/call_class.h"

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

bool ClassFilter::excludes(const ClassFilter& other) const {
    return (duration && other.duration && *duration != *other.duration) ||
           (taken && other.taken && *taken != *other.taken) ||
           (label && other.label && *label != *other.label);
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
    if (filter.taken)
        add(*filter.taken ? "taken" : "not-taken");
    if (filter.label)
        add("=" + *filter.label);
    return text;
}

} // namespace auger
