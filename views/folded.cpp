// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/folded.h"

#include "views/escape.h"
#include "views/model/frames_under.h"

#include <cmath>
#include <map>

namespace auger {

std::string folded_frame(std::string_view raw) {
    std::string name = escape_untrusted(raw);
    for (size_t at = 0; (at = name.find("(anonymous namespace)", at)) != name.npos;)
        name.replace(at, sizeof("(anonymous namespace)") - 1, "{anonymous}");
    if (name.starts_with('(')) {
        // "(anonymous class)::f", "(inlined)": whatever is in the first parentheses.
        size_t depth = 0, end = 0;
        do {
            depth += name[end] == '(' ? 1 : 0;
            depth -= name[end] == ')' ? 1 : 0;
            end++;
        } while (depth > 0 && end < name.size());
        name.replace(0, end, "{anonymous}");
    }
    for (char& c : name)
        if (c == ';')
            c = ':';
    // The count stands behind the last space, so spaces inside are fine, but not at the ends.
    size_t first = name.find_first_not_of(' ');
    if (first == name.npos)
        return "[unknown]";
    return name.substr(first, name.find_last_not_of(' ') - first + 1);
}

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

std::string folded_stacks(const Model& model, const Window& window, const ClassFilter& filter,
                          GroupBy by, const std::string& under) {
    std::map<std::string, double> lines; // many addresses lead to the same line
    LabelledSums summed = sum_labelled_stacks(model, Classifier(model), window, by, filter);
    FramesUnder frames(model.symbols(), under);
    std::vector<FunctionId> path;
    for (const LabelledSums::Entry& entry : summed.entries) {
        double samples = ticks(model, entry.sums.sum());
        if (samples == 0)
            continue;
        expand_stack(model.symbols(), entry.stack, path);
        if (!frames.cut(summed.labels[entry.label], path))
            continue;
        std::string line = folded_frame(summed.labels[entry.label]);
        if (line.size() == 1)
            line += '_';
        for (FunctionId function : path)
            line += ";" + folded_frame(model.symbols().name(function));
        lines[line] += samples;
    }
    std::string out;
    for (const auto& [line, samples] : lines)
        if (long long count = std::llround(samples); count > 0)
            out += line + " " + std::to_string(count) + "\n";
    return out;
}

} // namespace auger
