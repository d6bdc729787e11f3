// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/session/marked_spans.h"

#include "repl/language/span_arguments.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

namespace auger {
namespace {

// Whoever may start a process could have it name more.
constexpr size_t most_marked_spans = 64;

constexpr std::array<std::string_view, 4> roles{"begin", "end", "park", "resume"};

} // namespace

MarkedSpans marked_spans(const UsdtProbes& probes) {
    std::map<std::string, std::set<std::string_view>> points; // of each name, its roles
    for (const UsdtProbeInfo& probe : probes.probes)
        for (const std::string_view role : roles) {
            const std::string suffix = fmt::format("__{}", role);
            if (probe.provider == "auger" && probe.name.ends_with(suffix))
                points[probe.name.substr(0, probe.name.size() - suffix.size())].insert(role);
        }
    MarkedSpans found;
    for (const auto& [name, has] : points) {
        const auto leave_out = [&](std::string_view why) {
            found.left_out.push_back(fmt::format("{}: {}", name, why));
        };
        const auto point = [&](std::string_view clause, std::string_view role) {
            return fmt::format("{} usdt:auger:{}__{} key arg0", clause, name, role);
        };
        if (!is_span_name(name)) {
            leave_out("this is no name for a span");
        } else if (!has.contains("begin") || !has.contains("end")) {
            leave_out(fmt::format("there is no usdt:auger:{}__{}", name,
                                  has.contains("begin") ? "end" : "begin"));
        } else if (found.spans.size() == most_marked_spans) {
            leave_out(fmt::format("only the first {} spans are made", most_marked_spans));
        } else {
            std::string definition = point("from", "begin") + " " + point("to", "end");
            for (const char* role : {"park", "resume"})
                if (has.contains(role))
                    definition += " " + point(role, role);
            found.spans.push_back({name, std::move(definition)});
        }
    }
    return found;
}

} // namespace auger
