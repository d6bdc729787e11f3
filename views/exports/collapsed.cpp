// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/collapsed.h"

#include "views/frame_text.h"
#include "views/model/frames_under.h"

#include <cmath>
#include <map>

namespace auger {

namespace {

// A sample of a wait stands for as many ticks of the clock as it weighs.
double ticks(const Model& model, const SampleSum& sum) {
    double waited = sum.blocked_ns + sum.runnable_ns;
    uint64_t rate_hz = model.ledger().rate_hz;
    if (waited == 0 || rate_hz == 0)
        return sum.samples;
    return sum.weight_ns * static_cast<double>(rate_hz) / 1e9;
}

} // namespace

Result<uint64_t> write_collapsed(const Model& model, const ExportQuery& query, ByteSink& out) {
    std::map<std::string, double> lines; // many addresses lead to the same line
    LabelledSums summed =
        sum_labelled_stacks(model, Classifier(model), query.window, query.by, query.filter);
    FramesUnder frames(model.symbols(), query.under);
    std::vector<FunctionId> path;
    for (const LabelledSums::Entry& entry : summed.entries) {
        double samples = ticks(model, entry.sums.sum());
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
    for (const auto& [line, samples] : lines) {
        if (const long long count = std::llround(samples); count > 0) {
            out.write(line + " " + std::to_string(count) + "\n");
            written++;
        }
    }
    return written;
}

std::string collapsed_stacks(const Model& model, const ExportQuery& query) {
    StringSink sink;
    (void)write_collapsed(model, query, sink);
    return std::move(sink.text);
}

} // namespace auger
