// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/collapsed.h"

#include "views/frame_text.h"
#include "views/model/frames_under.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace auger {

namespace {

// What one stands for, ns: a sample of running threads on average. Samples weigh differently where
// the rate was raised, or changed, and where hosts or relays fold some into one; and waits do.
double period_ns(const std::vector<LabelledSums::Entry>& entries) {
    constexpr double of_waits_alone = 1e6;
    SampleSum running;
    for (const LabelledSums::Entry& entry : entries)
        if (const SampleSum sum = entry.sums.sum(); sum.blocked_ns + sum.runnable_ns == 0)
            running += sum;
    return running.samples > 0 && running.weight_ns > 0 ? running.weight_ns / running.samples
                                                        : of_waits_alone;
}

using CountedLine = std::pair<const std::string*, uint64_t>;

// The lines that have a whole sample, in their order. Those of all of them together are those of
// the whole: what rounding down leaves is for the lines that it took most of (largest remainder).
std::vector<CountedLine> whole_numbers(const std::map<std::string, double>& lines) {
    std::vector<CountedLine> counted;
    std::vector<std::pair<double, size_t>> lost; // of the line at this place
    double all = 0;
    uint64_t given = 0;
    for (const auto& [line, samples] : lines) {
        counted.emplace_back(&line, static_cast<uint64_t>(samples));
        lost.emplace_back(static_cast<double>(counted.back().second) - samples, lost.size());
        all += samples;
        given += counted.back().second;
    }
    std::ranges::sort(lost);
    const auto whole = static_cast<uint64_t>(std::llround(all));
    for (size_t i = 0; i < lost.size() && given < whole; i++, given++)
        counted[lost[i].second].second++;
    std::erase_if(counted, [](const CountedLine& line) { return line.second == 0; });
    return counted;
}

} // namespace

Result<uint64_t> write_collapsed(const Model& model, const ExportQuery& query, ByteSink& out) {
    std::map<std::string, double> lines; // many addresses lead to the same line
    LabelledSums summed =
        sum_labelled_stacks(model, Classifier(model), query.window, query.by, query.filter);
    const double period = period_ns(summed.entries);
    FramesUnder frames(model.symbols(), query.under);
    std::vector<FunctionId> path;
    for (const LabelledSums::Entry& entry : summed.entries) {
        const double samples = entry.sums.sum().weight_ns / period;
        if (samples == 0)
            continue;
        expand_stack(model.symbols(), entry.stack, path, query.frames);
        if (!frames.cut(summed.labels[entry.label], path))
            continue;
        std::string line = label_text(summed.labels[entry.label]);
        for (FunctionId function : path)
            line += ";" + frame_text(model.symbols().name(function));
        lines[line] += samples;
    }
    // Importers leave out lines that do not end in a number.
    for (const std::string& note : export_notes(model, query))
        out.write("# " + note + ".\n");
    uint64_t written = 0;
    for (const auto& [line, count] : whole_numbers(lines)) {
        out.write(*line + " " + std::to_string(count) + "\n");
        written++;
    }
    return written;
}

std::string collapsed_stacks(const Model& model, const ExportQuery& query) {
    StringSink sink;
    (void)write_collapsed(model, query, sink);
    return std::move(sink.text);
}

} // namespace auger
