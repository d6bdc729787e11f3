// SPDX-License-Identifier: GPL-3.0-or-later
// Arguments and results of Go's functions, which have registers of their own for them, several
// results, and strings that no NUL ends: held against what a program passes.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace auger::test {
namespace {

using testing::HasSubstr;

constexpr size_t calls = 50;
constexpr char no_room[] = "values: more than 4 open calls of a goroutine";

class GoValues : public KernelTest {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!IsSkipped() && !std::filesystem::exists(program_path("go_values")))
            GTEST_SKIP() << "go is not installed (package golang-go)";
    }
    void observe(const std::string& program = "go_values") {
        program_.emplace(program, std::vector<std::string>{});
        program_->wait_ready();
        session_.observe(program_->pid());
    }
    // What is shown of each call, in their order.
    using Shown = std::vector<std::vector<std::string>>;
    Shown shown(const std::string& function, const std::vector<std::string>& show,
                const std::string& only_if = {}) {
        CallConditions conditions;
        conditions.show_default = false;
        conditions.show = show;
        conditions.slow_if = only_if;
        session_.time(function, {Threshold::Kind::fixed, 0, 0}, conditions);
        program_->go();
        session_.pump_to_end();
        Shown all;
        for (const auto& call : session_.log.slow_calls) {
            all.emplace_back();
            for (const std::string& expression : show)
                all.back().push_back(session_.log.value(call, expression));
        }
        return all;
    }
    // Why it cannot be shown.
    std::string refusal(const std::string& function, const std::string& expression) {
        CallConditions conditions;
        conditions.show_default = false;
        conditions.show = {expression};
        const auto added = session_.backend().add_probe(
            {ProbeId{77}, function, {Threshold::Kind::fixed, 0, 0}, conditions, {}});
        return added ? "" : added.error().message();
    }

    std::optional<Program> program_;
    Session session_;
};

std::string quoted(const std::string& text) {
    return "\"" + text + "\"";
}

TEST_F(GoValues, OfArgumentsAndResults) {
    observe();
    const Shown found = shown("main.mixed", {"n", "text", "odd", "at->x", "ret", "ret1.tab"});
    ASSERT_EQ(found.size(), calls);
    for (size_t i = 0; i < calls; i++) {
        SCOPED_TRACE(i);
        EXPECT_EQ(found[i][0], fmt::format("{}", 1000 + i));
        EXPECT_EQ(found[i][1], quoted(std::string(i, 'x')));
        EXPECT_EQ(found[i][2], i % 2 ? "true" : "false");
        EXPECT_EQ(found[i][3], fmt::format("{}", i));
        EXPECT_EQ(found[i][4], fmt::format("{}", i % 2 ? 3 * i : 3 * i + i + 5));
    }
}

TEST_F(GoValues, AreTextAsLongAsItIs) {
    observe();
    const Shown found = shown("main.mixed", {"str(body)", "body.len", "text.len", "str(text)"});
    ASSERT_EQ(found.size(), calls);
    for (size_t i = 0; i < calls; i++)
        EXPECT_EQ(found[i], (std::vector<std::string>{
                                quoted(fmt::format("body {}, ", i).substr(0, 5 + i % 2)),
                                fmt::format("{}", 5 + i % 2), fmt::format("{}", i),
                                quoted(std::string(i, 'x'))}));
}

TEST_F(GoValues, OfResultsByName) {
    observe();
    const Shown found = shown("main.named", {"small", "where", "ret", "text", "ret2", "half"});
    ASSERT_EQ(found.size(), calls);
    for (size_t i = 0; i < calls; i++) {
        const std::string path = fmt::format("/item/{}", i), half = fmt::format("{}", -int(i) / 2);
        EXPECT_EQ(found[i], (std::vector<std::string>{fmt::format("{}", -int(i)), quoted(path),
                                                      fmt::format("{}", path.size()),
                                                      quoted(path + "!"), half, half}));
    }
}

// An array is on the stack, and takes no register from what comes behind it.
TEST_F(GoValues, BehindWhatIsInNoRegister) {
    observe();
    const Shown found = shown("main.onStack", {"n", "arg0", "ret2"});
    ASSERT_EQ(found.size(), calls);
    for (size_t i = 0; i < calls; i++)
        EXPECT_EQ(found[i], (std::vector<std::string>{fmt::format("{}", 70'000 + i),
                                                      fmt::format("{}", 70'000 + i),
                                                      fmt::format("{}", 70'000 + i - 65'536)}));
}

TEST_F(GoValues, ThatThereAreNotAreRefused) {
    observe();
    EXPECT_THAT(refusal("main.nothing", "ret"), HasSubstr("main.nothing returns nothing"));
    EXPECT_THAT(refusal("main.onStack", "ret"), HasSubstr("is not returned in registers"));
    EXPECT_THAT(refusal("main.onStack", "ret1"), HasSubstr("floating-point"));
    EXPECT_THAT(refusal("main.mixed", "arg9"), HasSubstr("is in none of the registers"));
    EXPECT_THAT(refusal("main.mixed", "retry"), HasSubstr("no parameter \"retry\""));
    program_->go();
    session_.pump_to_end();
}

TEST_F(GoValues, JudgeCallsByTheirText) {
    observe("go_values_pie");
    const Shown found = shown("main.named", {"half"}, "str(text) == \"/item/7!\"");
    EXPECT_EQ(found, (Shown{{"-3"}}));
}

// The goroutines are asleep in their calls, and most go on on another thread.
TEST_F(GoValues, GoWithTheirGoroutines) {
    constexpr size_t moves = 400;
    observe();
    const Shown found = shown("main.moving", {"n", "text"});
    // So many slow calls at once are more than are told of.
    ASSERT_EQ(found.size() + session_.lost("slow calls: rate limit") +
                  session_.lost("slow calls: event ring full"),
              moves);
    EXPECT_GE(found.size(), 100u);
    std::set<std::string> seen;
    for (const auto& call : found) {
        EXPECT_EQ(call[1], quoted("text " + call[0]));
        seen.insert(call[0]);
    }
    EXPECT_EQ(seen.size(), found.size());
    EXPECT_EQ(session_.lost(no_room), 0u);
}

// The outer ones of a goroutine's calls keep theirs, of which there is room for four.
TEST_F(GoValues, OfMoreCallsThanThereIsRoomForAreUnread) {
    observe();
    const Shown found = shown("main.deep", {"n", "ret"});
    ASSERT_EQ(found.size(), 7u);
    for (size_t i = 0; i < found.size(); i++)
        EXPECT_EQ(found[i], i < 3
                                ? (std::vector<std::string>{"none", "none"})
                                : (std::vector<std::string>{std::to_string(i), std::to_string(i)}))
            << i;
    EXPECT_EQ(session_.lost(no_room), 3u);
}

TEST_F(GoValues, JudgeCallsThatGoOnElsewhere) {
    observe();
    CallConditions conditions;
    conditions.only_if = "n % 4 == 1 and str(text) != \"text 41\" and ret != 0";
    const ProbeId probe = session_.time("main.moving", {}, conditions);
    program_->go();
    session_.pump_to_end();
    EXPECT_EQ(session_.calls(probe).returns, 99u);
    EXPECT_EQ(session_.calls(probe).filtered, 301u);
}

// Words in registers: those of strings, too.
TEST_F(GoValues, OfStrippedProgramsAreKnownByTheirRegisters) {
    observe("go_values_stripped");
    const Shown found = shown("main.mixed", {"arg0", "arg2", "ret"});
    ASSERT_EQ(found.size(), calls);
    for (size_t i = 0; i < calls; i++) {
        EXPECT_EQ(std::stoull(found[i][0], nullptr, 0), 1000 + i);
        EXPECT_EQ(std::stoull(found[i][1], nullptr, 0), i); // the text's length
        EXPECT_EQ(std::stoull(found[i][2], nullptr, 0), i % 2 ? 3 * i : 3 * i + i + 5);
    }
}

} // namespace
} // namespace auger::test
