// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/screen/scope_steps.h"

#include "loader/base/read_clock.h"
#include "views/spell.h"

#include <algorithm>
#include <array>

namespace auger {

namespace {

constexpr std::array<uint64_t, 10> spans = {1, 2, 5, 10, 20, 60, 120, 300, 600, 1800};
constexpr uint64_t usual = 10 * second_ns;

ClassFilter filter_of(std::optional<CallClass> duration, std::optional<bool> taken) {
    ClassFilter filter;
    filter.duration = duration;
    filter.taken = taken;
    return filter;
}

} // namespace

// Everything is the longest of all.
Window step_window(const Window& window, bool longer) {
    const auto kind = window.kind;
    if (kind == Window::Kind::all)
        return longer ? window
                      : Window{Window::Kind::last, spans.back() * second_ns, window.end_ns};
    if (longer) {
        for (uint64_t span : spans) {
            if (span * second_ns > window.span_ns)
                return {kind, span * second_ns, window.end_ns};
        }
        return {Window::Kind::all, 0, window.end_ns};
    }
    uint64_t best = spans.front();
    for (uint64_t span : spans) {
        if (span * second_ns < window.span_ns)
            best = span;
    }
    return {kind, best * second_ns, window.end_ns};
}

Window other_window(const Window& window) {
    switch (window.kind) {
    case Window::Kind::ewma:
        return {Window::Kind::last, window.span_ns, window.end_ns};
    case Window::Kind::last:
        return {Window::Kind::all, 0, window.end_ns};
    default:
        return {Window::Kind::ewma, usual, window.end_ns};
    }
}

std::string window_command(const Window& window, uint64_t first_ns) {
    std::string text = "window all";
    if (window.kind == Window::Kind::ewma)
        text = "ewma " + spell_duration(window.span_ns);
    else if (window.kind == Window::Kind::last)
        text = "window " + spell_duration(window.span_ns);
    if (window.end_ns > first_ns)
        text += " until " + spell_duration(window.end_ns - first_ns);
    return text;
}

ClassFilter next_filter(const Model& model, const ClassFilter& now) {
    const SplitInfo& split = model.split();
    const bool durations = split.threshold.kind != Threshold::Kind::none;
    std::vector<ClassFilter> all{{}};
    if (durations) {
        all.push_back(CallClass::slow);
        all.push_back(CallClass::fast);
    }
    if (!split.branch.empty()) {
        if (durations) {
            all.push_back(filter_of(CallClass::slow, true));
            all.push_back(filter_of(CallClass::slow, false));
        }
        all.push_back(filter_of({}, true));
        all.push_back(filter_of({}, false));
    }
    all.push_back(CallClass::open);
    all.push_back(CallClass::outside);
    const auto here = std::find(all.begin(), all.end(), now);
    if (here == all.end())
        return {};
    return here + 1 == all.end() ? ClassFilter{} : *(here + 1);
}

} // namespace auger
