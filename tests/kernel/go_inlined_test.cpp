// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that Go's compiler inlined into others, in samples of a program that knows its own
// chains: by its DWARF, and where it is stripped by the tables that Go itself uses.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace auger::test {
namespace {

struct GoFrame {
    std::string function;
    std::string file;
    uint32_t line = 0;
    bool inlined = false;
};

std::string text_of(const std::vector<GoFrame>& chain) {
    std::string text;
    for (const GoFrame& frame : chain)
        text += fmt::format("  {} {}:{}{}\n", frame.function, frame.file, frame.line,
                            frame.inlined ? " inlined" : "");
    return text;
}

// DWARF says which types a generic function is for, the program does not.
std::string without_types(std::string name) {
    const size_t open = name.find('['), close = name.rfind(']');
    if (open != 0 && open != std::string::npos && close != std::string::npos && open < close)
        name.replace(open, close + 1 - open, "[...]");
    return name;
}

// Innermost first. Each location's last frame is a function with code of its own.
std::vector<GoFrame> frames_of(Session& session, StackId stack) {
    const SymbolTables& symbols = session.model().symbols();
    std::vector<GoFrame> chain;
    for (const LocationId location : symbols.stack(stack)) {
        for (const FrameEntry& frame : symbols.frames(location))
            chain.push_back({without_types(std::string(symbols.name(frame.function))),
                             std::string(symbols.text(frame.file)), frame.line, frame.inlined});
        EXPECT_FALSE(chain.back().inlined);
    }
    return chain;
}

class GoInlined : public KernelTest, public testing::WithParamInterface<const char*> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!std::filesystem::exists(program_path(GetParam())))
            GTEST_SKIP() << "go is not installed (package golang-go)";
    }
};

// The program panics on the second line of a loop that begins on the one before; what leads there
// is on the same lines whenever the loop is turned.
bool is_chain(const std::vector<GoFrame>& seen, const std::vector<GoFrame>& known) {
    return seen.size() == known.size() &&
           std::equal(seen.begin(), seen.end(), known.begin(),
                      [&](const GoFrame& a, const GoFrame& b) {
                          const bool innermost = &b == &known.front();
                          return a.function == b.function && a.file == b.file &&
                                 (a.line == b.line || (innermost && a.line + 1 == b.line));
                      });
}

TEST_P(GoInlined, FunctionsStandInTheProgramsOwnChains) {
    Program program(GetParam(), {"--calls", "100", "--wait", "--linger"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    session.sample(997);
    program.go();
    const nlohmann::json account = program.account();
    ASSERT_TRUE(session.pump_until([&, before = size_t{0}]() mutable {
        return session.log.samples.size() == std::exchange(before, session.log.samples.size()) &&
               session.backend().symbol_progress().pending == 0;
    }));
    session.backend().settle_symbols(std::chrono::seconds(60));

    // By the functions that the loop and whoever calls it are in.
    std::vector<std::vector<GoFrame>> known;
    std::set<std::string> loops, outermost;
    for (const auto& chain : account["chains"]) {
        known.emplace_back();
        for (const auto& frame : chain)
            known.back().push_back({frame["function"].get<std::string>(),
                                    frame["file"].get<std::string>(),
                                    frame["line"].get<uint32_t>()});
        ASSERT_GE(known.back().size(), 2u);
        loops.insert(known.back().front().function);
        outermost.insert(known.back().back().function);
    }
    ASSERT_EQ(outermost.size(), 4u);

    std::map<std::string, size_t> counts; // of chains, as text
    std::vector<std::string> wrong;
    size_t deepest = 0;
    for (const SampleEvent& sample : session.log.samples) {
        std::vector<GoFrame> seen = frames_of(session, sample.stack);
        if (seen.empty() || !loops.contains(seen.front().function))
            continue;
        const auto end = std::ranges::find_if(
            seen, [&](const GoFrame& frame) { return outermost.contains(frame.function); });
        ASSERT_NE(end, seen.end()) << text_of(seen);
        seen.erase(std::next(end), seen.end());
        const auto found = std::ranges::find_if(
            known, [&](const std::vector<GoFrame>& chain) { return is_chain(seen, chain); });
        if (found == known.end()) {
            wrong.push_back(text_of(seen));
            continue;
        }
        counts[text_of(*found)]++;
        deepest =
            std::max(deepest, static_cast<size_t>(std::ranges::count_if(seen, &GoFrame::inlined)));
    }
    EXPECT_TRUE(wrong.empty()) << wrong.size() << " samples, such as\n"
                               << wrong.front() << "of\n"
                               << text_of(known.front()) << text_of(known[2]);
    // Each, and of one function both places that it calls the same one from.
    EXPECT_EQ(counts.size(), 5u);
    for (const auto& [chain, count] : counts)
        EXPECT_GE(count, 20u) << chain;
    EXPECT_EQ(deepest, 3u); // spin, through and run, in nested

    // They have no entry, and it is said why.
    const auto refused = session.try_time("main.spin");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), testing::HasSubstr("exists only inlined (4 copies)"));
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

INSTANTIATE_TEST_SUITE_P(Linked, GoInlined, testing::Values("inlined", "inlined_stripped"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace auger::test
