// SPDX-License-Identifier: GPL-3.0-or-later
// What auger says, and with which exit code, where rights or parts of the kernel are missing.
#include "tests/support/kernel_test.h"
#include "tests/cli/invocation.h"
#include "tests/kernel/program.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>

#include <sstream>

namespace auger::test {
namespace {

using testing::HasSubstr;

class Missing : public KernelTest {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!IsSkipped())
            demo_.wait_ready();
    }
    std::string pid() const { return std::to_string(demo_.pid()); }

    // The one that a command gave.
    static nlohmann::json answer(const std::string& out, const std::string& command) {
        std::istringstream lines(out);
        for (std::string line; std::getline(lines, line);) {
            const auto value = nlohmann::json::parse(line, nullptr, false);
            if (value.is_object() && value.value("command", "") == command)
                return value;
        }
        throw std::runtime_error("no answer of " + command + " in: " + out);
    }

    Program demo_{"demo_service", {"--seconds", "300"}};
};

TEST_F(Missing, RightsAreExplained) {
    const Outcome outcome =
        auger({"--batch", "-p", pid(), "-e", "sample 99"}, {.prepare = become_nobody});
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("tracing programs may not be loaded"));
    EXPECT_THAT(outcome.err, HasSubstr("run as root, or with CAP_BPF and CAP_PERFMON"));
}

TEST_F(Missing, RightsAreExplainedInJson) {
    const Outcome outcome = auger({"--json", "--batch", "-p", pid()}, {.prepare = become_nobody});
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(outcome.err, "");
    const auto error = json_lines(outcome.out).at(0).at("error");
    EXPECT_THAT(std::string(error.at("hint")), HasSubstr("CAP_BPF"));
}

TEST_F(Missing, DoctorAnswersWithoutRights) {
    const Outcome outcome = auger({"--batch", "-e", "doctor"}, {.prepare = become_nobody});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, HasSubstr("may not load tracing programs, for want of CAP_BPF and "
                                       "CAP_PERFMON"));
    EXPECT_THAT(outcome.out, HasSubstr("CAP_SYSLOG")); // for names in the kernel
}

TEST_F(Missing, DoctorSaysWhatToDoAboutEveryLack) {
    for (const auto& prepare : {become_nobody, +[] { return true; }}) {
        const Outcome outcome = auger({"--json", "--batch", "-e", "doctor"}, {.prepare = prepare});
        const auto capabilities = json_lines(outcome.out).at(0).at("capabilities");
        EXPECT_GE(capabilities.size(), 5u);
        for (const auto& one : capabilities)
            EXPECT_EQ(one.at("remedy").get<std::string>().empty(), one.at("state") == "yes") << one;
    }
}

// What root recorded, anybody can look at, with the same answers.
TEST_F(Missing, ReplayNeedsNoRights) {
    TemporaryFolder folder;
    const std::string recording = folder.path("demo.rec");
    const std::string look = "hist handle_request";
    const Outcome live =
        auger({"--json", "--batch", "--record", recording, "-e",
               "sample 999; time handle_request; wait until calls handle_request >= 200; " + look,
               "--", program_path("demo_service"), "--calls", "200"});
    ASSERT_EQ(live.code, 0) << live.out << live.err;
    ASSERT_EQ(chmod(recording.c_str(), 0644), 0);
    const Outcome replayed =
        auger({"--json", "--batch", "--replay", recording, "-e", look}, {.prepare = become_nobody});
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    // The service may have ended before the end of recording, or not; then its end is told, too.
    const nlohmann::json histogram = answer(replayed.out, "hist");
    EXPECT_EQ(histogram.at("count"), 200);
    EXPECT_EQ(histogram, answer(live.out, "hist"));
}

TEST_F(Missing, TypesOfTheKernelAreNamed) {
    const Outcome outcome = auger({"--batch", "-p", pid(), "-e", "sample 99"},
                                  {.prepare = [] { return hide("/sys/kernel/btf"); }});
    EXPECT_EQ(outcome.code, 3);
    EXPECT_THAT(outcome.err, HasSubstr("BTF"));
    EXPECT_THAT(outcome.err, HasSubstr("CONFIG_DEBUG_INFO_BTF"));
}

TEST_F(Missing, TracepointsAreNamed) {
    const Outcome outcome =
        auger({"--batch", "-p", pid(), "-e", "sample 99"}, {.prepare = without_tracepoints});
    EXPECT_EQ(outcome.code, 3);
    EXPECT_THAT(outcome.err, HasSubstr("attach tracepoint raw_tp/sched_process"));
    EXPECT_THAT(outcome.err, HasSubstr("CONFIG_TRACEPOINTS"));
}

// Nothing that auger does goes through tracefs, which containers often do not have.
TEST_F(Missing, TracefsIsNotNeeded) {
    const Outcome outcome =
        auger({"--batch", "-p", pid(), "-e",
               "sample 999; time handle_request; "
               "wait until calls handle_request >= 10"},
              {.prepare = [] { return hide("/sys/kernel/tracing") && hide("/sys/kernel/debug"); }});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
}

} // namespace
} // namespace auger::test
