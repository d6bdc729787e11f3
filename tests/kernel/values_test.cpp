// SPDX-License-Identifier: GPL-3.0-or-later
// Arguments, results and predicates on them, against what the program passed and got.
#include "tests/kernel/program.h"
#include "tests/kernel/source_lines.h"
#include "tests/kernel/ways.h"

#include <gmock/gmock.h>

#include <fstream>
#include <map>

namespace auger::test {
namespace {

constexpr Threshold every_call = {Threshold::Kind::fixed, 1, 0};

class Values : public KernelTest, public testing::WithParamInterface<WayOut> {
  protected:
    Values() : log_path_("/tmp/auger-test-log-" + std::to_string(getpid())) {}
    ~Values() override { unlink(log_path_.c_str()); }

    void start(const std::string& calls) {
        program_ = std::make_unique<Program>(
            "drilldown", std::vector<std::string>{"--calls", calls, "--log", log_path_, "--wait"});
        program_->wait_ready();
        session_ = std::make_unique<Session>();
        session_->observe(program_->pid());
        must(session_->backend().set_way_out(GetParam()));
    }
    void finish() {
        program_->go();
        session_->pump_to_end();
        account_ = program_->account();
        EXPECT_TRUE(account_["ok"].get<bool>()) << account_;
        std::ifstream file(log_path_);
        for (std::string line; std::getline(file, line);) {
            nlohmann::json call = nlohmann::json::parse(line);
            truth_[call["function"].get<std::string>()].push_back(call);
        }
    }
    // The program's record of a call, which spans it.
    const nlohmann::json& truth_of(const std::string& function, const StreamLog::SlowCall& call) {
        const ThreadInfo& thread = session_->model().symbols().thread(call.end.thread);
        for (const nlohmann::json& one : truth_[function]) {
            if (one["tid"] == thread.tid && one["start"] <= call.end.call.start_ns &&
                one["end"] >= call.end.time_ns)
                return one;
        }
        throw std::runtime_error("the program knows of no such call");
    }
    uint64_t count(const std::string& function, auto&& holds) {
        return static_cast<uint64_t>(std::ranges::count_if(truth_[function], holds));
    }

    std::string log_path_;
    std::unique_ptr<Program> program_;
    std::unique_ptr<Session> session_;
    nlohmann::json account_;
    std::map<std::string, std::vector<nlohmann::json>> truth_;
};

TEST_P(Values, OfEachCallAreThoseThatWerePassed) {
    start("200");
    CallConditions conditions;
    conditions.show_default = false;
    conditions.show = {"arg0", "arg1", "arg2", "str(arg3)", "arg4", "ret", "errno"};
    const ProbeId probe = session_->time("describe", every_call, conditions);
    finish();
    const StreamLog& log = session_->log;
    ASSERT_EQ(log.slow_calls.size(), truth_["describe"].size());
    EXPECT_EQ(session_->calls(probe).returns, truth_["describe"].size());
    for (const StreamLog::SlowCall& call : log.slow_calls) {
        const nlohmann::json& truth = truth_of("describe", call);
        SCOPED_TRACE(truth.dump());
        for (const auto& [name, value] : call.values)
            EXPECT_TRUE(value.readable) << name << " " << value.text;
        // By position alone a register is 64 bits wide, and of an int the upper half is anything.
        auto low = [&](const char* name) {
            return static_cast<int32_t>(std::stoull(log.value(call, name), nullptr, 0));
        };
        EXPECT_EQ(static_cast<int32_t>(std::stoll(log.value(call, "arg0"), nullptr, 0)),
                  truth["count"].get<int32_t>());
        EXPECT_EQ(static_cast<uint32_t>(std::stoll(log.value(call, "arg1"), nullptr, 0)),
                  truth["mask"].get<uint32_t>());
        EXPECT_EQ(std::stoull(log.value(call, "arg2"), nullptr, 0), truth["where"].get<uint64_t>());
        EXPECT_EQ(low("arg4"), truth["type"].get<int32_t>());
        EXPECT_EQ(std::stoll(log.value(call, "ret"), nullptr, 0), truth["ret"].get<int64_t>());
        const std::string text = truth["text"];
        const std::string shown = log.value(call, "str(arg3)");
        EXPECT_EQ(shown.substr(1, std::min<size_t>(text.size(), 63)),
                  text.substr(0, std::min<size_t>(text.size(), 63)));
    }
}

TEST_P(Values, APredicateKeepsExactlyTheCallsForWhichItHolds) {
    start("400");
    CallConditions conditions;
    conditions.show_default = false;
    conditions.only_if = "arg4 == 1 and not (ret == -1)";
    const ProbeId both = session_->time("describe", {}, conditions);
    conditions.only_if = "str(arg3) == 'index.html' or str(arg3) == \"a\"";
    const ProbeId strings = session_->time("describ*", {}, conditions);
    conditions.only_if = "arg2 & 0xffffffffffffffff";
    const ProbeId pointers = session_->time("*escribe", {}, conditions);
    finish();
    const uint64_t all = truth_["describe"].size();
    auto expect = [&](ProbeId probe, uint64_t wanted) {
        const Calls calls = session_->calls(probe);
        EXPECT_EQ(calls.entries, all);
        EXPECT_EQ(calls.returns, wanted);
        EXPECT_EQ(calls.unwound, 0u);
    };
    expect(both, count("describe", [](auto& c) { return c["type"] == 1 && c["ret"] != -1; }));
    expect(strings, count("describe",
                          [](auto& c) { return c["text"] == "a" || c["text"] == "index.html"; }));
    expect(pointers, count("describe", [](auto& c) { return c["where"] != 0; }));
    EXPECT_EQ(session_->log.filtered, 3 * all - session_->calls(both).returns -
                                          session_->calls(strings).returns -
                                          session_->calls(pointers).returns);
}

TEST_P(Values, SplitByValueAndByPredicate) {
    start("300");
    const ProbeId probe = session_->time("describe");
    session_->sample(0);
    SplitInfo split{true, probe, {}, false};
    split.branch = "if ret < 0";
    split.label = "arg4";
    must(session_->backend().set_split(split));
    must(session_->backend().set_slow(probe, every_call));
    finish();
    const StreamLog::Marked counted = session_->log.marked[session_->log.split.branch_bit];
    const uint64_t failed = account_["described_failed"];
    EXPECT_EQ(counted.taken, failed);
    EXPECT_EQ(counted.not_taken, truth_["describe"].size() - failed);
}

// Neither the calls of before nor those of after the edit are lost.
TEST_P(Values, EditsWhileCallsRunLoseNothing) {
    start("3000");
    const ProbeId probe = session_->time("describe");
    program_->go();
    for (int i = 0; i < 30; i++) {
        CallConditions conditions;
        conditions.show_default = false;
        if (i % 3)
            conditions.only_if = i % 3 == 1 ? "arg0 < 0" : "ret >= 0";
        must(session_->backend().set_slow(probe, i % 2 ? every_call : Threshold{}, conditions));
        const uint64_t before = session_->calls(probe).entries;
        ASSERT_TRUE(
            session_->pump_until([&] { return session_->calls(probe).entries > before + 20; }));
    }
    session_->pump_to_end();
    account_ = program_->account();
    const Calls calls = session_->calls(probe);
    EXPECT_EQ(calls.entries, account_["described"].get<uint64_t>());
    EXPECT_EQ(calls.entries,
              calls.returns + calls.unwound + session_->log.filtered + calls.dropped);
    EXPECT_GT(session_->log.filtered, 0u);
}

INSTANTIATE_TEST_SUITE_P(Ways, Values, testing::Values(WayOut::ret, WayOut::trampoline),
                         [](const auto& info) {
                             return std::string(info.param == WayOut::ret ? "ret" : "trampoline");
                         });

class CallSiteValues : public KernelTest {};

// At the call instruction and where it comes back to, every one of the three recv by itself.
TEST_F(CallSiteValues, AreThoseOfTheCall) {
    Program program("drilldown", {"--calls", "100", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    CallConditions conditions;
    conditions.show_default = false;
    conditions.show = {"arg0", "arg2", "ret", "errno"};
    const ProbeId found =
        session.time("recv@" + marked_line("drilldown.c", "RECV found"), every_call, conditions);
    const ProbeId extra =
        session.time("recv@" + marked_line("drilldown.c", "RECV extra"), every_call, conditions);
    program.go();
    session.pump_to_end();
    const nlohmann::json account = program.account();
    EXPECT_EQ(session.calls(found).returns, account["recv_found"].get<uint64_t>());
    EXPECT_EQ(session.calls(extra).returns, account["recv_extra"].get<uint64_t>());
    uint64_t failed = 0, received = 0;
    for (const StreamLog::SlowCall& call : session.log.slow_calls) {
        const bool is_extra = session.model().specs()[call.end.call.spec.index()].probe == extra;
        const std::string result = session.log.value(call, "ret");
        EXPECT_EQ(result, is_extra ? "-1" : "16");
        if (is_extra)
            EXPECT_THAT(session.log.value(call, "errno"), testing::HasSubstr("EAGAIN"));
        else
            EXPECT_EQ(session.log.value(call, "arg2"), "16");
        (is_extra ? failed : received)++;
    }
    EXPECT_EQ(failed, account["recv_extra"].get<uint64_t>());
    EXPECT_EQ(received, account["recv_found"].get<uint64_t>());
}

} // namespace
} // namespace auger::test
