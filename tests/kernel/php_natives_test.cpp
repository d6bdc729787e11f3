// SPDX-License-Identifier: GPL-3.0-or-later
// Functions of C by the names that PHP has for them, held against a program that counts its own
// calls.
#include "tests/kernel/php_chains.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <string>

namespace auger::test {
namespace {

using testing::HasSubstr;

class PhpNatives : public PhpTest {
  protected:
    void SetUp() override {
        PhpTest::SetUp();
        if (IsSkipped())
            return;
        program_.emplace(GetParam().program,
                         arguments({AUGER_SOURCE_DIR "/tests/programs/php_natives.php"}));
        program_->wait_ready();
        session_.observe(program_->pid());
        ASSERT_TRUE(session_.pump_until(
            [&] { return session_.backend().unwind_status().pending.empty(); }));
    }
    std::string why_not(const std::string& name) {
        const auto timed = session_.try_time(name);
        return timed ? "it is timed" : timed.error().message();
    }

    std::optional<Program> program_;
    Session session_;
};

TEST_P(PhpNatives, AreTimedByTheirNames) {
    std::map<std::string, ProbeId> probes;
    for (const std::string name : {"preg_match", "md5", "usleep", "ArrayObject::getArrayCopy"})
        probes[name] = session_.time("php:" + name);
    // In upper or lower case, as PHP has it.
    const ProbeId again = session_.time("php:\\MD5");
    program_->go();
    const nlohmann::json truth = program_->account();
    session_.pump_to_end();
    for (const auto& [name, probe] : probes) {
        SCOPED_TRACE(name);
        const Calls calls = session_.calls(probe);
        EXPECT_GT(calls.entries, 0u);
        EXPECT_EQ(calls.entries, truth["calls"][name].get<uint64_t>());
        EXPECT_EQ(calls.returns, calls.entries);
    }
    EXPECT_EQ(session_.calls(again).returns, truth["calls"]["md5"].get<uint64_t>());
    EXPECT_GE(session_.model().probe_statistics(probes.at("usleep")).min_ns, 100'000u);
}

TEST_P(PhpNatives, OthersAreRefused) {
    EXPECT_THAT(why_not("php:Own::total"), HasSubstr("it is written in PHP"));
    EXPECT_THAT(why_not("php:no_such"), HasSubstr("PHP has no such function"));
    EXPECT_THAT(why_not("php:Own::none"), HasSubstr("PHP has no such function"));
    EXPECT_THAT(why_not("php:md5*"), HasSubstr("no character of a name in this language"));
    EXPECT_THAT(why_not("py:zlib.compress"),
                HasSubstr("no process of the target is known to run Python"));
    program_->go();
    program_->account();
}

INSTANTIATE_TEST_SUITE_P(Modes, PhpNatives, testing::ValuesIn(php_modes()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace auger::test
