// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/overhead_text.h"

#include "views/escape.h"
#include "views/format.h"
#include "views/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace auger {

using Cause = Overhead::Cause;

std::string_view overhead_kind(Cause::Kind kind) {
    switch (kind) {
    case Cause::Kind::samples:
        return "samples";
    case Cause::Kind::waits:
        return "waits";
    case Cause::Kind::probe:
        return "probe";
    case Cause::Kind::lines:
        return "lines";
    case Cause::Kind::clocks:
        break;
    }
    return "clocks";
}

std::string overhead_cause(const Model& model, const Cause& cause) {
    if (cause.kind == Cause::Kind::lines)
        return "lines of split and only";
    if (cause.kind == Cause::Kind::clocks)
        return "sampling clocks at context switches";
    if (cause.kind != Cause::Kind::probe)
        return std::string(overhead_kind(cause.kind));
    const ProbeInfo* probe = model.find_probe(cause.probe);
    return probe ? fmt::format("probe {} ({})", cause.probe.value, escape_untrusted(probe->text))
                 : fmt::format("probe {}", cause.probe.value);
}

uint64_t overhead_cost(const Overhead& overhead) {
    uint64_t sum = 0;
    for (const Cause& cause : overhead.causes)
        sum += cause.cost_ns;
    return sum;
}

double overhead_share(const Overhead& overhead, uint64_t cost_ns) {
    if (!overhead.target_ns)
        return 0;
    return std::min(static_cast<double>(cost_ns) / static_cast<double>(overhead.target_ns), 1.0);
}

double overhead_of_a_cpu(const Overhead& overhead) {
    return overhead.end_ns > overhead.begin_ns
               ? static_cast<double>(overhead_cost(overhead)) /
                     static_cast<double>(overhead.end_ns - overhead.begin_ns)
               : 0;
}

double overhead_rate(const Overhead& overhead, const Cause& cause) {
    const uint64_t span = overhead.end_ns - overhead.begin_ns;
    return span ? static_cast<double>(cause.events) * 1e9 / static_cast<double>(span) : 0;
}

bool is_measured(const Cause& cause) {
    return cause.kind == Cause::Kind::samples || cause.kind == Cause::Kind::waits;
}

std::string overhead_figures(const Overhead& overhead, const Cause& cause) {
    const double each =
        cause.events ? static_cast<double>(cause.cost_ns) / static_cast<double>(cause.events) : 0;
    return fmt::format("{} a second of {}{} each", format_count(overhead_rate(overhead, cause)),
                       is_measured(cause) ? "" : "about ", format_duration(each));
}

const Cause* overhead_of(const Overhead& overhead, ProbeId probe) {
    const auto found = std::ranges::find_if(overhead.causes, [&](const Cause& cause) {
        return cause.kind == Cause::Kind::probe && cause.probe == probe && cause.events > 0;
    });
    return found == overhead.causes.end() ? nullptr : &*found;
}

std::vector<Cause> dearest_causes(const Overhead& overhead) {
    std::vector<Cause> causes = overhead.causes;
    std::ranges::stable_sort(causes, std::greater(), &Cause::cost_ns);
    return causes;
}

} // namespace auger
