// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernel/python_chains.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace auger::test {

std::vector<PythonStretch> read_python_stretches(const std::string& path) {
    std::vector<PythonStretch> stretches;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const auto told = nlohmann::json::parse(line);
        PythonStretch stretch;
        stretch.phase = told["phase"];
        stretch.pid = told["pid"];
        stretch.tid = told["tid"];
        stretch.begin_ns = told["begin"];
        stretch.end_ns = told["end"];
        for (const auto& frame : told["chain"])
            stretch.chain.push_back({frame[0], frame[1], frame[2]});
        stretch.first_line = told["lines"][0];
        stretch.last_line = told["lines"][1];
        stretch.inner = told["inner"];
        stretches.push_back(std::move(stretch));
    }
    return stretches;
}

PythonStack look_at_python(Session& session, StackId stack) {
    const SymbolTables& symbols = session.model().symbols();
    PythonStack seen;
    bool native_further_in = false, outermost = true;
    const auto locations = symbols.stack(stack);
    for (const LocationId location : locations) {
        const auto kind = symbols.module(symbols.location(location).module).kind;
        if (kind == ModuleKind::file)
            native_further_in = true;
        if (kind != ModuleKind::python)
            continue;
        seen.placed &= native_further_in;
    }
    for (size_t i = locations.size(); i-- > 0;) {
        const auto kind = symbols.module(symbols.location(locations[i]).module).kind;
        const auto frames = symbols.found_frames(locations[i]);
        for (size_t k = frames.size(); k-- > 0;) {
            const std::string name(symbols.name(frames[k].function));
            const std::string file(symbols.text(frames[k].file));
            seen.text += fmt::format("  {} {}:{}\n", name, file, frames[k].line);
            seen.cut |= name.starts_with("[stack cut") || name.starts_with("[python: ");
            if (kind != ModuleKind::python)
                continue;
            seen.placed &= !outermost;
            seen.chain.push_back({name, file, frames[k].line});
        }
        outermost = false;
    }
    return seen;
}

bool is_innermost_part(const PythonStack& seen, const PythonStretch& truth) {
    if (!seen.placed || seen.chain.empty() || seen.chain.size() > truth.chain.size())
        return false;
    PythonFrame innermost = seen.chain.back();
    innermost.line = truth.chain.back().line;
    return innermost == truth.chain.back() &&
           std::equal(seen.chain.begin(), seen.chain.end() - 1,
                      truth.chain.end() - static_cast<std::ptrdiff_t>(seen.chain.size()));
}

Agreement compare(const PythonStack& seen, const PythonStretch& truth) {
    const auto lacks = seen.cut ? Agreement::lacking : Agreement::wrong;
    const size_t depth = truth.chain.size();
    if (!seen.placed || seen.chain.size() < depth ||
        seen.chain.size() > depth + truth.inner.size() ||
        !std::equal(truth.chain.begin(), truth.chain.end() - 1, seen.chain.begin()))
        return lacks;
    const PythonFrame &innermost = seen.chain[depth - 1], &known = truth.chain.back();
    if (innermost.function != known.function || innermost.file != known.file ||
        innermost.line < truth.first_line || innermost.line > truth.last_line)
        return lacks;
    for (size_t i = depth; i < seen.chain.size(); i++)
        if (seen.chain[i].function != truth.inner[i - depth] || seen.chain[i].file != known.file)
            return lacks;
    return seen.cut ? Agreement::lacking : Agreement::equal;
}

static std::string cause_of_cut(const std::string& text) {
    const size_t begin = text.find("cut: "), end = text.find(']', begin);
    return begin == text.npos ? text : text.substr(begin, end - begin);
}

std::map<std::string, PhaseCounts> count_phases(Session& session,
                                                const std::vector<PythonStretch>& stretches,
                                                std::vector<std::string>& wrong) {
    std::map<std::string, PhaseCounts> phases;
    std::multimap<uint32_t, const PythonStretch*> by_thread;
    for (const PythonStretch& stretch : stretches) {
        phases[stretch.phase];
        by_thread.emplace(stretch.tid, &stretch);
    }
    for (const SampleEvent& sample : session.log.samples) {
        const ThreadInfo& thread = session.model().symbols().thread(sample.thread);
        const auto [first, last] = by_thread.equal_range(thread.tid);
        for (auto one = first; one != last; ++one) {
            const PythonStretch& stretch = *one->second;
            if (sample.time_ns < stretch.begin_ns || sample.time_ns > stretch.end_ns ||
                thread.pid != stretch.pid)
                continue;
            PhaseCounts& counts = phases[stretch.phase];
            const PythonStack seen = look_at_python(session, sample.stack);
            switch (compare(seen, stretch)) {
            case Agreement::equal:
                counts.equal++;
                break;
            case Agreement::lacking:
                counts.lacking++;
                counts.causes[cause_of_cut(seen.text)]++;
                break;
            case Agreement::wrong:
                counts.wrong++;
                if (wrong.size() < 5) {
                    std::string chain;
                    for (const PythonFrame& frame : stretch.chain)
                        chain +=
                            fmt::format("  {} {}:{}\n", frame.function, frame.file, frame.line);
                    wrong.push_back(fmt::format("{}: kind {}, {} ms after its begin:\n{}but the "
                                                "chain was\n{}",
                                                stretch.phase, static_cast<int>(sample.kind),
                                                (sample.time_ns - stretch.begin_ns) / 1e6,
                                                seen.text, chain));
                }
                break;
            }
        }
    }
    return phases;
}

std::vector<std::string> pythons() {
    std::vector<std::string> all = {"/usr/bin/python3"};
    const char* const others = std::getenv("AUGER_PYTHONS");
    std::istringstream paths(others ? others : "");
    for (std::string path; std::getline(paths, path, ':');)
        if (!path.empty())
            all.push_back(path);
    return all;
}

} // namespace auger::test
