// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernel/php_chains.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace auger::test {

std::vector<PhpMode> php_modes() {
    const std::string debian = "/usr/bin/php8.2";
    std::vector<PhpMode> modes = {{"Debian", debian, {}},
                                  {"Opcache", debian, {"-d", "opcache.enable_cli=1"}}};
    const char* const others = std::getenv("AUGER_PHPS");
    std::istringstream paths(others ? others : "");
    for (std::string path; std::getline(paths, path, ':');) {
        std::string name = path.substr(path.rfind('/') + 1);
        for (char& letter : name)
            letter = std::isalnum(letter) ? letter : '_';
        if (!path.empty())
            modes.push_back({name, path, {}});
    }
    return modes;
}

PhpStack look_at_php(Session& session, StackId stack) {
    const SymbolTables& symbols = session.model().symbols();
    PhpStack seen;
    const auto locations = symbols.stack(stack);
    bool after_native = false, after_php = false;
    for (size_t i = locations.size(); i-- > 0;) {
        const auto kind = symbols.module(symbols.location(locations[i]).module).kind;
        const auto frames = symbols.found_frames(locations[i]);
        for (size_t k = frames.size(); k-- > 0;) {
            const std::string name(symbols.name(frames[k].function));
            const std::string file(symbols.text(frames[k].file));
            seen.all.text += fmt::format("  {} {}:{}\n", name, file, frames[k].line);
            seen.all.cut |= name.starts_with("[stack cut") || name.starts_with("[php: ");
            if (kind == ModuleKind::php && !name.starts_with("[php: ")) {
                if (!after_php)
                    seen.entries.push_back(after_native ? name : "(nobody)");
                seen.all.chain.push_back({name, file, frames[k].line});
            }
        }
        after_php = kind == ModuleKind::php;
        // What is further out of a stack that is cut is not known.
        after_native = kind == ModuleKind::file || kind == ModuleKind::cut;
    }
    seen.all.placed = std::ranges::find(seen.entries, "(nobody)") == seen.entries.end();
    return seen;
}

namespace {

bool reads_clock(const std::string& function) {
    return function == "hrtime" || function == "getrusage";
}

// Where C code begins to call a function, or has called it, its native frames are of another one
// than PHP's; a fiber's stack ends where the fiber begins.
bool has_places(const std::string& phase) {
    return phase != "calls from C" && phase != "fiber" && phase != "resumed fiber";
}

} // namespace

Agreement compare_php(const PhpStack& stack, const PythonStretch& truth) {
    const PythonStack& seen = stack.all;
    const auto lacks = seen.cut ? Agreement::lacking : Agreement::wrong;
    const size_t depth = truth.chain.size();
    if ((!seen.placed && has_places(truth.phase)) || seen.chain.size() < depth ||
        !std::equal(truth.chain.begin(), truth.chain.end() - 1, seen.chain.begin()))
        return lacks;
    const PythonFrame &innermost = seen.chain[depth - 1], &known = truth.chain.back();
    if (innermost.function != known.function || innermost.file != known.file ||
        innermost.line < truth.first_line || innermost.line > truth.last_line)
        return lacks;
    // In each phase it looks at clocks.
    const bool in_clock = seen.chain.size() == depth + 1 && reads_clock(seen.chain.back().function);
    for (size_t i = depth; i < seen.chain.size() && !in_clock; i++)
        if (i - depth >= truth.inner.size() || seen.chain[i].function != truth.inner[i - depth])
            return lacks;
    return seen.cut && truth.phase != "fiber" && truth.phase != "resumed fiber" ? Agreement::lacking
                                                                                : Agreement::equal;
}

bool is_innermost_part_of_php(PhpStack seen, const PythonStretch& truth) {
    auto& chain = seen.all.chain;
    if (!chain.empty() && reads_clock(chain.back().function))
        chain.pop_back();
    return is_innermost_part(seen.all, truth);
}

void PhpTest::await_tables(Session& session) {
    ASSERT_TRUE(
        session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
}

void PhpTest::await_samples(Session& session) {
    ASSERT_TRUE(session.pump_until([&, before = size_t{0}]() mutable {
        return session.log.samples.size() == std::exchange(before, session.log.samples.size());
    }));
}

} // namespace auger::test
