// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernel/interpreted_chains.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace auger::test {

std::vector<InterpreterMode> modes_of_variable(const char* variable) {
    std::vector<InterpreterMode> modes;
    const char* const others = std::getenv(variable);
    std::istringstream paths(others ? others : "");
    for (std::string path; std::getline(paths, path, ':');) {
        std::string name = path.substr(path.rfind('/') + 1);
        for (char& letter : name)
            letter = std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
        if (!path.empty())
            modes.push_back({name, path, {}});
    }
    return modes;
}

InterpretedStack look_at_chain(Session& session, StackId stack, const ChainRules& rules) {
    const SymbolTables& symbols = session.model().symbols();
    const std::string unnamed = fmt::format("[{}: ", rules.label);
    InterpretedStack seen;
    const auto locations = symbols.stack(stack);
    bool after_native = false, after_language = false;
    for (size_t i = locations.size(); i-- > 0;) {
        const auto kind = symbols.module(symbols.location(locations[i]).module).kind;
        const auto frames = symbols.found_frames(locations[i]);
        for (size_t k = frames.size(); k-- > 0;) {
            const std::string name(symbols.name(frames[k].function));
            const std::string file(symbols.text(frames[k].file));
            seen.all.text += fmt::format("  {} {}:{}\n", name, file, frames[k].line);
            seen.all.cut |= name.starts_with("[stack cut") || name.starts_with(unnamed);
            if (kind == rules.kind && !name.starts_with(unnamed)) {
                if (!after_language)
                    seen.entries.push_back(after_native ? name : "(nobody)");
                seen.all.chain.push_back({name, file, frames[k].line});
            }
        }
        after_language = kind == rules.kind;
        // What is further out of a stack that is cut is not known.
        after_native = kind == ModuleKind::file || kind == ModuleKind::cut;
    }
    seen.all.placed = std::ranges::find(seen.entries, "(nobody)") == seen.entries.end();
    return seen;
}

Agreement compare_chain(const InterpretedStack& stack, const PythonStretch& truth,
                        const ChainRules& rules) {
    const PythonStack& seen = stack.all;
    const auto lacks = seen.cut ? Agreement::lacking : Agreement::wrong;
    const size_t depth = truth.chain.size();
    if ((!seen.placed && rules.has_places(truth.phase)) || seen.chain.size() < depth ||
        !std::equal(truth.chain.begin(), truth.chain.end() - 1, seen.chain.begin()))
        return lacks;
    const PythonFrame &innermost = seen.chain[depth - 1], &known = truth.chain.back();
    if (innermost.function != known.function || innermost.file != known.file ||
        innermost.line < truth.first_line || innermost.line > truth.last_line)
        return lacks;
    // In each phase it looks at clocks.
    const bool in_clock =
        seen.chain.size() == depth + 1 && rules.reads_clock(seen.chain.back().function);
    for (size_t i = depth; i < seen.chain.size() && !in_clock; i++)
        if (i - depth >= truth.inner.size() || seen.chain[i].function != truth.inner[i - depth])
            return lacks;
    return seen.cut && !rules.ends_early(truth.phase) ? Agreement::lacking : Agreement::equal;
}

bool is_innermost_part_of_chain(InterpretedStack seen, const PythonStretch& truth,
                                const ChainRules& rules) {
    auto& chain = seen.all.chain;
    if (!chain.empty() && rules.reads_clock(chain.back().function))
        chain.pop_back();
    return is_innermost_part(seen.all, truth);
}

std::string difference_from(const InterpretedStack& seen, const PythonStretch& truth,
                            const SampleEvent& sample, Agreement agreement) {
    std::string chain;
    for (const PythonFrame& frame : truth.chain)
        chain += fmt::format("  {} {}:{}\n", frame.function, frame.file, frame.line);
    return fmt::format("{}{}: {} ms after its begin, kind {}:\n{}but the chain was\n{}",
                       truth.phase, agreement == Agreement::wrong ? "" : " (lacking)",
                       (sample.time_ns - truth.begin_ns) / 1e6, static_cast<int>(sample.kind),
                       seen.all.text, chain);
}

const PythonStretch* stretch_of(Session& session, const std::vector<PythonStretch>& stretches,
                                const SampleEvent& sample) {
    const ThreadInfo& thread = session.model().symbols().thread(sample.thread);
    const auto stretch = std::ranges::find_if(stretches, [&](const PythonStretch& one) {
        return one.tid == thread.tid && one.begin_ns <= sample.time_ns &&
               sample.time_ns <= one.end_ns;
    });
    return stretch != stretches.end() ? &*stretch : nullptr;
}

void InterpreterTest::await_tables(Session& session) {
    ASSERT_TRUE(
        session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
}

void InterpreterTest::await_samples(Session& session) {
    ASSERT_TRUE(session.pump_until([&, before = size_t{0}]() mutable {
        return session.log.samples.size() == std::exchange(before, session.log.samples.size());
    }));
}

} // namespace auger::test
