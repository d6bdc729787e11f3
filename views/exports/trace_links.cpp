// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/trace_links.h"

#include <algorithm>
#include <charconv>

namespace auger {

namespace {

constexpr size_t trace_digits = 32, span_digits = 16;

// What is no id, or all zeros, is none. (A parameter may be called `trace`, too.)
bool is_id(const std::string& text, size_t digits) {
    return text.size() == digits && text.find_first_not_of("0123456789abcdef") == text.npos &&
           text.find_first_not_of('0') != text.npos;
}

TraceLink link_of(const SlowCall& call) {
    TraceLink link;
    for (const CallValue& value : call.values) {
        if (value.name == "trace" && value.readable && is_id(value.text, trace_digits))
            link.trace = value.text;
        if (value.name == "span_id" && value.readable && is_id(value.text, span_digits))
            link.span = value.text;
    }
    return link;
}

} // namespace

TraceLinks::TraceLinks(const Model& model) : model_(model) {
    for (const SlowCall& call : model.slow_calls()) {
        if (call.call == no_call)
            continue;
        TraceLink link = link_of(call);
        if (!link.trace.empty())
            of_calls_.emplace(call.call.index(), enter(std::move(link)));
    }
    if (!model.split().active || model.split().label != "trace")
        return;
    for (const std::string& label : model.labels())
        of_labels_.push_back(is_id(label, trace_digits) ? enter({label, {}}) : 0);
}

uint32_t TraceLinks::enter(TraceLink link) {
    const auto [known, is_new] =
        numbers_.try_emplace(link.trace + link.span, static_cast<uint32_t>(links_.size()) + 1);
    if (is_new)
        links_.push_back(std::move(link));
    return known->second;
}

// Labels of calls that began before the split are another split's.
uint32_t TraceLinks::of_label(const CallRecord& call) const {
    const SplitInfo& split = model_.split();
    if (call.state == CallRecord::State::open || call.label == no_label ||
        call.label.index() >= of_labels_.size() || call.start_ns < split.label_since_ns ||
        call.start_ns + call.duration_ns > split.label_until_ns)
        return 0;
    return of_labels_[call.label.index()];
}

uint32_t TraceLinks::of(CallIndex call) const {
    if (links_.empty())
        return 0;
    for (CallIndex at = call; at != no_call; at = model_.calls()[at].parent) {
        if (const auto told = of_calls_.find(at.index()); told != of_calls_.end())
            return told->second;
        if (const uint32_t label = of_label(model_.calls()[at]))
            return label;
    }
    return 0;
}

std::string id_bytes(const std::string& digits) {
    std::string bytes;
    for (size_t i = 0; i + 1 < digits.size(); i += 2) {
        unsigned byte = 0;
        std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
        bytes += static_cast<char>(byte);
    }
    return bytes;
}

} // namespace auger
