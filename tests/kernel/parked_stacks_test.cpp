// SPDX-License-Identifier: GPL-3.0-or-later
// Where goroutines are parked in timed calls, as `open` tells it, held against Go's own traceback.
#include "loader/kernel/features.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace auger::test {
namespace {

using testing::HasSubstr;

// As a traceback tells a goroutine; each frame as "FUNCTION FILE:LINE", innermost first.
struct Told {
    std::string reason;
    std::vector<std::string> frames;
};

std::string frame_text(std::string_view function, const std::string& place, bool inlined) {
    return fmt::format("{} {}{}", function, place, inlined ? " (inlined)" : "");
}

// By the function that is timed. Of an inlined function a traceback has no arguments: "f(...)".
std::map<std::string, Told> read_traceback(const std::string& text) {
    std::map<std::string, Told> all;
    Told told;
    std::string line, function, timed;
    bool inlined = false;
    std::istringstream lines(text + "\n\n");
    while (std::getline(lines, line)) {
        if (line.starts_with("goroutine ")) {
            const size_t begin = line.find('[') + 1;
            told = {line.substr(begin, line.find_first_of(",]", begin) - begin), {}};
            timed.clear();
        } else if (line.empty()) {
            if (!timed.empty())
                all.emplace(timed, told);
        } else if (line.starts_with('\t')) {
            const std::string place = line.substr(1, line.find(' ') - 1);
            if (!function.empty())
                told.frames.push_back(frame_text(function, place, inlined));
        } else if (line.starts_with("created by ")) {
            function.clear();
        } else {
            function = line.substr(0, line.rfind('('));
            inlined = line.ends_with("(...)");
            if (function.starts_with("main.stuck"))
                timed = function;
        }
    }
    return all;
}

const std::vector<std::string> stuck = {"main.stuckReceiving", "main.stuckLocking",
                                        "main.stuckSleeping", "main.stuckReading",
                                        "main.stuckDeep"};
constexpr size_t levels = 21; // of main.stuckDeep

class ParkedStacks : public KernelTest, public testing::WithParamInterface<const char*> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!std::filesystem::exists(program_path(GetParam())))
            GTEST_SKIP() << "go is not installed (package golang-go)";
    }
    // Until the program's goroutines are parked; what it says of them.
    void start(const SamplingSettings& sampling) {
        program = std::make_unique<Program>(
            GetParam(), std::vector<std::string>{"--calls", "0", "--wait", "--stuck", "--linger"});
        program->wait_ready();
        session = std::make_unique<Session>();
        session->observe(program->pid());
        must(session->backend().set_sampling(sampling));
        for (const std::string& function : stuck)
            probes[session->time(function)] = function;
        program->go();
        const nlohmann::json account = program->account();
        ASSERT_TRUE(account["ok"].get<bool>()) << account;
        traceback = account["traceback"].get<std::string>();
        told = read_traceback(traceback);
        ASSERT_EQ(told.size(), stuck.size()) << traceback;
    }
    void end() {
        program->go();
        EXPECT_EQ(program->wait_exit(), 0);
    }

    // Without what tracebacks leave out: the runtime, and what the compiler makes of `go f(x)`.
    std::vector<std::string> frames_of(const OpenCall& call) const {
        const SymbolTables& symbols = session->model().symbols();
        std::vector<std::string> frames;
        for (const LocationId location : call.stack)
            for (const FrameEntry& frame : symbols.frames(location)) {
                std::string name(symbols.name(frame.function));
                name = name.substr(0, name.find(".abi0"));
                if (!name.starts_with("runtime.") && !name.starts_with("[parked: ") &&
                    !name.starts_with("main.stick."))
                    frames.push_back(
                        frame_text(name, fmt::format("{}:{}", symbols.text(frame.file), frame.line),
                                   frame.inlined));
            }
        return frames;
    }
    std::string innermost(const OpenCall& call) const {
        const SymbolTables& symbols = session->model().symbols();
        return std::string(symbols.name(symbols.frames(call.stack.front()).front().function));
    }

    std::unique_ptr<Program> program;
    std::unique_ptr<Session> session;
    std::map<ProbeId, std::string> probes;
    std::string traceback;
    std::map<std::string, Told> told;
};

// "..., for 12.5 ms"
double waited_ms(const OpenCall& call) {
    const size_t at = call.wait.find(", for ");
    return at == std::string::npos ? -1 : std::strtod(call.wait.c_str() + at + 6, nullptr);
}

TEST_P(ParkedStacks, AreThoseOfGosTraceback) {
    start({.rate_hz = 997, .wall = true});
    if (!Features::detect().map_iterators)
        return end();
    std::vector<OpenCall> calls;
    ASSERT_TRUE(session->pump_until([&] {
        calls = must(session->backend().open_calls({}));
        return calls.size() == stuck.size() - 1 + levels &&
               std::ranges::none_of(calls, [](const OpenCall& call) { return call.stack.empty(); });
    })) << traceback;
    session->backend().settle_symbols(std::chrono::seconds(60));
    std::map<std::string, const OpenCall*> first; // the outermost of each goroutine
    for (const OpenCall& call : calls) {
        SCOPED_TRACE(call.wait);
        const std::string& function = probes.at(call.probe);
        const Told& truth = told.at(function);
        EXPECT_TRUE(call.no_thread);
        EXPECT_FALSE(call.running);
        EXPECT_THAT(call.wait, HasSubstr("parked: " + truth.reason + ", for "));
        EXPECT_EQ(innermost(call), "[parked: " + truth.reason + "]");
        EXPECT_EQ(frames_of(call), truth.frames);
        if (call.depth == 0)
            first[function] = &call;
    }
    EXPECT_EQ(first.size(), stuck.size());
    // Each has been parked since one moment, within its call. What is said of it is rounded.
    for (const OpenCall& later : must(session->backend().open_calls({}))) {
        if (later.depth > 0)
            continue;
        const OpenCall& call = *first.at(probes.at(later.probe));
        const double rounded = 0.1 + 1e-6;
        EXPECT_NEAR(waited_ms(later) - waited_ms(call),
                    static_cast<double>(later.age_ns - call.age_ns) / 1e6, rounded);
        EXPECT_GE(waited_ms(call), 0);
        EXPECT_LE(waited_ms(call), static_cast<double>(call.age_ns) / 1e6 + rounded);
    }
    end();
}

// What they wait for and since when takes probes in the runtime; where they wait does not.
TEST_P(ParkedStacks, AreToldThoughWaitsAreNotWatched) {
    start({});
    if (!Features::detect().map_iterators)
        return end();
    std::vector<OpenCall> calls;
    ASSERT_TRUE(session->pump_until([&] {
        calls = must(session->backend().open_calls({}));
        return calls.size() == stuck.size() - 1 + levels &&
               std::ranges::none_of(calls, [](const OpenCall& call) { return call.stack.empty(); });
    })) << traceback;
    session->backend().settle_symbols(std::chrono::seconds(60));
    for (const OpenCall& call : calls) {
        SCOPED_TRACE(call.wait);
        EXPECT_TRUE(call.wait.ends_with(": parked or queued"));
        EXPECT_EQ(innermost(call), "runtime.gopark");
        EXPECT_EQ(frames_of(call), told.at(probes.at(call.probe)).frames);
    }
    end();
}

INSTANTIATE_TEST_SUITE_P(Linked, ParkedStacks,
                         testing::Values("parked", "parked_pie", "parked_stripped"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace auger::test
