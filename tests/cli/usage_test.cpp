// SPDX-License-Identifier: GPL-3.0-or-later
// Options and commands that make no sense: exit code 2 (1 when they do but fail), what is wrong,
// where, and what would be right.
#include "tests/cli/invocation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace auger::test {
namespace {

using testing::HasSubstr;

struct Wrong {
    const char* name;
    std::vector<std::string> arguments;
    int code;
    std::vector<std::string> said; // parts of standard error
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
    *out << wrong.name;
}

class Usage : public testing::TestWithParam<Wrong> {};

TEST_P(Usage, IsExplained) {
    const Outcome outcome = auger(GetParam().arguments);
    EXPECT_EQ(outcome.code, GetParam().code);
    EXPECT_EQ(outcome.out, "");
    for (const std::string& part : GetParam().said)
        EXPECT_THAT(outcome.err, HasSubstr(part));
}

std::string name_of(const testing::TestParamInfo<Wrong>& info) {
    return info.param.name;
}

const std::vector<Wrong> options{
    {"Unknown", {"--nope"}, 2, {"--nope", "auger --help"}},
    {"WithoutValue", {"-f"}, 2, {"FILE missing"}},
    {"TwoTargets", {"-p", "1", "-n", "x"}, 2, {"only one of -p, -n, -a and -- COMMAND"}},
    {"TargetAndCommand", {"-a", "--", "true"}, 2, {"only one of"}},
    {"NoCommand", {"--"}, 2, {"a command is missing after --"}},
    {"ReplayWithTarget", {"--replay", "x", "-p", "1"}, 2, {"a recording has its own target"}},
    {"ReplayWithRecord", {"--replay", "x", "--record", "y"}, 2, {"--record makes no sense"}},
    {"ReplayWithDebuginfod", {"--replay", "x", "--debuginfod"}, 2, {"--debuginfod makes no sense"}},
    {"ReplayOfNothing", {"--replay", ""}, 2, {"--replay needs a file"}},
    {"UnknownAttach", {"--attach", "somehow"}, 2, {"somehow", "multi"}},
    {"UnknownExit",
     {"--batch", "--exit", "bogus"},
     2,
     {"\"bogus\" is not", "auto, cheap, ret, tramp"}},
    {"StoreTooSmall", {"--store-samples", "3"}, 2, {"--store-samples", "1000"}},
    {"StoreNoNumber", {"--store-samples", "many"}, 2, {"--store-samples", "many"}},
    {"MemoryTooSmall", {"--store-memory", "3k"}, 2, {"--store-memory", "1048576"}},
    {"MemoryNoNumber", {"--store-memory", "much"}, 2, {"--store-memory", "much"}},
    {"RelayOfNothing", {"--agent", "--via", "x {}"}, 2, {"--via is how hosts are reached"}},
    {"RelayWithATarget", {"--agent", "-H", "a", "-n", "x"}, 2, {"takes no other option"}},
    {"LimitOfNothing", {"--bwlimit", "1M"}, 2, {"it needs -H or --hosts"}},
    {"LimitTooSmall", {"-H", "a", "--bwlimit", "1k"}, 2, {"--bwlimit", "10240"}},
    {"PidNoNumber", {"--batch", "-p", "1,abc"}, 2, {"\"abc\" is no pid", "from 1 to 4194304"}},
    {"PidZero", {"--batch", "-p", "0"}, 2, {"\"0\" is no pid"}},
    {"PidTooLarge", {"--batch", "-p", "99999999999999"}, 2, {"is no pid", "from 1 to 4194304"}},
    {"EmptyName", {"--batch", "-n", ""}, 2, {"a name that is not empty"}},
    {"NoSuchFile", {"--batch", "-f", "/nonexistent"}, 2, {"/nonexistent: No such file"}},
    {"NoRecording", {"--batch", "--replay", "/etc/passwd"}, 1, {"is not an auger recording"}},
    {"RangeOfNothing", {"--from", "-15m"}, 2, {"it needs --replay"}},
    {"ProbeOfNothing", {"--probe", "f"}, 2, {"it needs --replay"}},
    {"NoTime", {"--replay", "x", "--to", "25:10"}, 2, {"    25:10\n    ^~~~~\n", "23:20, -15m"}},
    {"NoSpan", {"--replay", "x", "--from", "-15x"}, 2, {"    -15x\n     ^~~\n", "no duration"}},
    {"NoRecordings", {"--batch", "--replay", "/proc/self/fdinfo"}, 1, {"there is no recording"}},
    {"NoSuchRecording", {"--batch", "--replay", "/nonexistent"}, 1, {"No such file"}},
};
INSTANTIATE_TEST_SUITE_P(Option, Usage, testing::ValuesIn(options), name_of);

Wrong command(const char* name, const char* text, int code, const char* diagnostic) {
    return {name, {"--batch", "-e", text}, code, {diagnostic}};
}

const std::vector<Wrong> commands{
    command("Unknown", "spltt f > p95", 2,
            "-e:1:1: error: there is no command \"spltt\"\n"
            "    spltt f > p95\n"
            "    ^~~~~\n"
            "  did you mean \"split\"?\n"),
    command("InTheMiddle", "echo a; hlep", 2,
            "-e:1:9: error: there is no command \"hlep\"\n"
            "    echo a; hlep\n"
            "            ^~~~\n"
            "  did you mean \"help\"?\n"),
    command("RateTooHigh", "sample 50000", 2,
            "    sample 50000\n"
            "           ^~~~~\n"
            "  samples a second, from 1 to 49,999\n"),
    command("RateZero", "sample 0", 2, "-e:1:8: error: \"0\" is not a rate"),
    command("NegativeTime", "wait -1s", 2, "-e:1:6: error: \"-1s\" is not a duration"),
    command("MissingProbe", "time", 2, "-e:1:5: error: a probe is missing here"),
    command("NoUnit", "split f > 5", 2, "write 5ms for a duration or p5 for a percentile"),
    command("NoTarget", "time main", 1, "there is no target yet"),
    command("NoSuchProbe", "delete 7", 1, "there is no probe 7"),
    command("NoSuchScript", "source /nonexistent", 1, "No such file"),
};
// What was said before the mistake stays said.
class Command : public testing::TestWithParam<Wrong> {};

TEST_P(Command, IsExplainedWithItsPlace) {
    const Outcome outcome = auger(GetParam().arguments);
    EXPECT_EQ(outcome.code, GetParam().code);
    EXPECT_THAT(outcome.err, HasSubstr(GetParam().said.front()));
}
INSTANTIATE_TEST_SUITE_P(Wrong, Command, testing::ValuesIn(commands), name_of);

// The same mistakes for a program that reads: objects on standard output, nothing else anywhere.
class Json : public testing::TestWithParam<Wrong> {};

TEST_P(Json, ErrorsAreObjects) {
    std::vector<std::string> arguments = GetParam().arguments;
    arguments.insert(arguments.begin(), "--json");
    const Outcome outcome = auger(arguments);
    EXPECT_EQ(outcome.code, GetParam().code);
    EXPECT_EQ(outcome.err, "");
    const auto lines = json_lines(outcome.out);
    ASSERT_FALSE(lines.empty());
    for (const auto& line : lines) {
        EXPECT_EQ(line.at("schema"), 1);
        EXPECT_TRUE(line.contains("command"));
    }
    const auto& error = lines.back().at("error");
    EXPECT_NE(error.at("message"), "");
    EXPECT_TRUE(error.contains("hint"));
}
INSTANTIATE_TEST_SUITE_P(Wrong, Json, testing::ValuesIn(commands), name_of);
const Wrong& option(std::string_view name) {
    return *std::ranges::find_if(options, [&](const Wrong& one) { return one.name == name; });
}
INSTANTIATE_TEST_SUITE_P(Targets, Json,
                         testing::Values(option("PidZero"), option("PidTooLarge"),
                                         option("EmptyName")),
                         name_of);

TEST(Help, IsNoError) {
    const Outcome help = auger({"--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, HasSubstr("Exit codes: 0 all well; 1"));
    const Outcome version = auger({"--version"});
    EXPECT_EQ(version.code, 0);
    EXPECT_THAT(version.out, testing::StartsWith("auger "));
    for (const char* line :
         {"\nrecordings: format ", "\nJSON: schema 1\n", "\nbuilt with: libbpf "})
        EXPECT_THAT(version.out, HasSubstr(line));
}

} // namespace
} // namespace auger::test
