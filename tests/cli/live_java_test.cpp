// SPDX-License-Identifier: GPL-3.0-or-later
// A Java program, started without any option, as somebody looks at it who never heard of what its
// virtual machine is made of. By each Java that tests/support/javas.h names.
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"
#include "tests/support/javas.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <utility>

namespace auger::test {
namespace {

const std::string program_source = AUGER_SOURCE_DIR "/tests/programs/JavaChains.java";

// The first line of the source that holds the text; 0: none does.
unsigned line_with(const std::string& text) {
    std::ifstream source(program_source);
    unsigned number = 0;
    for (std::string line; std::getline(source, line);) {
        number++;
        if (line.find(text) != line.npos)
            return number;
    }
    return 0;
}

// The lines that a view has behind a method's name, "JavaChains.burn  JavaChains.java:97-107".
std::pair<unsigned, unsigned> lines_of(const std::string& view, const std::string& method) {
    const std::regex place(method + " +JavaChains\\.java:([0-9]+)(-([0-9]+))?");
    std::smatch found;
    if (!std::regex_search(view, found, place))
        return {0, 0};
    const auto first = static_cast<unsigned>(std::stoul(found[1]));
    return {first, found[3].matched ? static_cast<unsigned>(std::stoul(found[3])) : first};
}

class LiveJava : public LiveTest, public testing::WithParamInterface<std::string> {
  protected:
    void SetUp() override {
        LiveTest::SetUp();
        if (!std::filesystem::exists(GetParam()))
            GTEST_SKIP() << GetParam() << " is not installed";
    }
};

TEST_P(LiveJava, MethodsAreInFlamesWithFileAndLine) {
    const std::string recording = folder_.path("java.auger"), told = folder_.path("stretches");
    Program program(GetParam(), {program_source, told});
    program.wait_ready();
    {
        LiveAuger auger({"-p", std::to_string(program.pid()), "--record", recording});
        // libjvm.so is large.
        ASSERT_TRUE(
            wait_until([&] { return auger.ask("status")["unwinding"]["pending"] == json(0); }));
        auger.run({"sample wall 997"});
        program.go();
        ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(told + ".done"); }));
        auger.run({"sample off"});
        // Of the stretches before anything is compiled seven lie in burn, and two in doze; each is
        // 60 ms. Half of that, since a stack may be cut.
        const json flame = auger.ask("flame");
        EXPECT_GT(ns_in(flame, "JavaChains.burn"), 7 * 60e6 / 2);
        EXPECT_GT(ns_in(flame, "JavaChains.doze"), 2 * 60e6 / 2);
        // Those of Java's own library, in a method of the program's; and a native one.
        EXPECT_GT(ns_in(flame, "java.util.concurrent.locks.LockSupport.parkNanos"), 0);
        EXPECT_GT(ns_in(flame, "jdk.internal.misc.Unsafe.park"), 0);
        // Either kind alone, of the same samples.
        const json language = auger.ask("flame --language"), native = auger.ask("flame --native");
        EXPECT_EQ(ns_in(language, "JavaChains.burn"), ns_in(flame, "JavaChains.burn"));
        EXPECT_EQ(ns_in(native, "JavaChains.burn"), 0);
        EXPECT_EQ(samples_of(language), samples_of(flame));
        EXPECT_EQ(samples_of(native), samples_of(flame));
        auger.run({"record off"});
    }
    // As text, which has places. Each method in a view of its own, where there is room for them.
    const Outcome replayed =
        auger({"--batch", "--replay", recording, "-e", "flame under JavaChains.burn --language",
               "-e", "flame under JavaChains.doze --language"});
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    for (const auto& [method, next] :
         {std::pair{"burn", "static long doze("}, {"doze", "static int leaf("}}) {
        const auto [first, last] = lines_of(replayed.out, std::string("JavaChains.") + method);
        const unsigned begin = line_with(std::string("static long ") + method + "(");
        EXPECT_GT(begin, 0u);
        EXPECT_GT(first, begin) << replayed.out;
        EXPECT_LT(last, line_with(next)) << replayed.out;
    }
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

INSTANTIATE_TEST_SUITE_P(Each, LiveJava, testing::ValuesIn(javas()));

} // namespace
} // namespace auger::test
