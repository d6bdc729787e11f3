// SPDX-License-Identifier: GPL-3.0-or-later
// Probes that are attached to processes one by one: where there come to be too many, and how they
// are detached.
#include "loader/base/quantile.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/kernel/ways.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <vector>

namespace auger::test {
namespace {

constexpr size_t few = 60, many = 70; // one by one are probed up to 64
constexpr uint64_t calls_of_each = 100;

class OneByOne : public WaysTest<LiveOptions::Attach> {
  protected:
    // Processes that have mapped the library and wait to call it.
    void SetUp() override {
        WaysTest::SetUp();
        if (IsSkipped())
            return;
        for (size_t i = 0; i < many; i++) {
            programs_.push_back(std::make_unique<Program>(
                "late_library", std::vector<std::string>{"--calls", "1", "--step", "--wait"}));
            pids_.push_back(programs_.back()->pid());
        }
        for (const auto& program : programs_) {
            program->wait_ready();
            program->go();
            ASSERT_TRUE(program->read_line().starts_with("loaded "));
        }
    }
    std::vector<pid_t> first(size_t count) const {
        return {pids_.begin(), pids_.begin() + static_cast<ptrdiff_t>(count)};
    }

    std::vector<std::unique_ptr<Program>> programs_;
    std::vector<pid_t> pids_;
};

TEST_P(OneByOne, AreProbedAllAtOnceWhenThereAreTooMany) {
    Session session({GetParam()});
    session.observe(first(few));
    const size_t others = session.backend().links().size();
    const ProbeId probe = session.time("liblate_work:late_work");
    const size_t links = session.backend().links().size() - others;
    ASSERT_GE(links, few); // as there are processes that map it and are not observed
    EXPECT_EQ(session.notice_with("probed in all processes"), "");
    session.observe(first(many));
    ASSERT_TRUE(session.pump_until([&] { return session.noticed("probed in all processes"); }));
    EXPECT_TRUE(session.noticed(fmt::format("{} processes of the target map it", many)));
    // As many as one process took.
    EXPECT_EQ(session.backend().links().size() - others, links / few);
    for (const auto& program : programs_)
        program->go();
    for (const auto& program : programs_) {
        EXPECT_TRUE(program->account()["ok"].get<bool>());
        EXPECT_EQ(program->wait_exit(), 0);
    }
    session.pump_to_end();
    EXPECT_EQ(session.calls(probe).entries, many * calls_of_each);
    EXPECT_EQ(session.calls(probe).returns, many * calls_of_each);
}

INSTANTIATE_TEST_SUITE_P(Ways, OneByOne,
                         testing::Values(LiveOptions::Attach::multi, LiveOptions::Attach::perf),
                         [](const auto& info) {
                             return info.param == LiveOptions::Attach::multi ? "multi" : "perf";
                         });

// The kernel lets a link go only when what may run of it is over, which is most of the time that it
// takes, so they wait together.
class SideBySide : public OneByOne {
  protected:
    // Takes the probe off so many processes, and how long that takes.
    double detach(Session& session, size_t processes) {
        session.observe(first(processes));
        const ProbeId probe = session.time("liblate_work:late_work");
        const auto begin = std::chrono::steady_clock::now();
        must(session.backend().remove_probe(probe));
        const std::chrono::duration<double, std::milli> time =
            std::chrono::steady_clock::now() - begin;
        return time.count();
    }
};

TEST_P(SideBySide, AreLinksClosed) {
    Session session({GetParam()});
    std::vector<double> one, all;
    for (int time = 0; time < 5; time++) {
        one.push_back(detach(session, 1));
        all.push_back(detach(session, few));
    }
    fmt::print("one link: {:.1f} ms, {} links: {:.1f} ms\n", median(one), few, median(all));
    EXPECT_LE(median(all), median(one) * few / 4);
}

INSTANTIATE_TEST_SUITE_P(Ways, SideBySide, testing::Values(LiveOptions::Attach::multi),
                         [](const auto&) { return "multi"; });

} // namespace
} // namespace auger::test
