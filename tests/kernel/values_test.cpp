// SPDX-License-Identifier: GPL-3.0-or-later
// Arguments, results and predicates on them, against what the program passed and got.
#include "tests/kernel/program.h"
#include "tests/kernel/source_lines.h"
#include "tests/kernel/ways.h"

#include <gmock/gmock.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>

namespace auger::test {
namespace {

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

// As the program's enum names them.
std::string type_name(int type) {
    constexpr std::array names = {"REQUEST_PLAIN", "REQUEST_METERED", "REQUEST_BULK"};
    return std::string(names.at(static_cast<size_t>(type))) + " (" + std::to_string(type) + ")";
}

uint64_t pointer(const std::string& shown) {
    return shown == "null" ? 0 : std::stoull(shown, nullptr, 0);
}

// As the C library names it: `ERANGE (34)`, and 0 for none.
std::string error_text(int number) {
    return number ? std::string(strerrorname_np(number)) + " (" + std::to_string(number) + ")"
                  : "0";
}

TEST_P(Values, OfEachCallAreThoseThatWerePassed) {
    start("60"); // within the rate of slow calls
    CallConditions conditions;
    conditions.show_default = false;
    conditions.show = {"arg0", "mask", "arg2", "str(arg3)", "type", "req->id", "ret", "errno"};
    const ProbeId probe = session_->time("describe", every_call, conditions);
    finish();
    const StreamLog& log = session_->log;
    ASSERT_EQ(log.slow_calls.size(), truth_["describe"].size());
    EXPECT_EQ(session_->calls(probe).returns, truth_["describe"].size());
    size_t failed = 0;
    for (const StreamLog::SlowCall& call : log.slow_calls) {
        const nlohmann::json& truth = truth_of("describe", call);
        SCOPED_TRACE(truth.dump());
        for (const auto& [name, value] : call.values)
            EXPECT_TRUE(value.readable) << name << " " << value.text;
        EXPECT_EQ(log.value(call, "arg0"), std::to_string(truth["count"].get<int>()));
        EXPECT_EQ(log.value(call, "mask"), std::to_string(truth["mask"].get<unsigned>()));
        EXPECT_EQ(pointer(log.value(call, "arg2")), truth["where"].get<uint64_t>());
        EXPECT_EQ(log.value(call, "type"), type_name(truth["type"]));
        EXPECT_EQ(log.value(call, "req->id"), std::to_string(truth["id"].get<uint64_t>()));
        EXPECT_EQ(log.value(call, "ret"), std::to_string(truth["ret"].get<int64_t>()));
        const std::string text = truth["text"], shown = log.value(call, "str(arg3)");
        EXPECT_EQ(shown.substr(1, std::min<size_t>(text.size(), 63)), text.substr(0, 63));
        EXPECT_EQ(log.value(call, "errno"), error_text(truth["errno"]));
        failed += truth["errno"] != 0;
    }
    // Both are there: by the program's account, some calls fail and others do not.
    EXPECT_EQ(failed, account_["described_failed"].get<size_t>());
    EXPECT_GT(failed, 0u);
    EXPECT_LT(failed, log.slow_calls.size());
}

TEST_P(Values, MembersAndBitFieldsOfWhatIsPointedTo) {
    start("60");
    CallConditions conditions;
    conditions.show_default = false;
    conditions.show = {"req->len",     "req->urgent", "req->weight",
                       "req->balance", "req->type",   "str(req->name)"};
    session_->time("describe", every_call, conditions);
    finish();
    const StreamLog& log = session_->log;
    ASSERT_EQ(log.slow_calls.size(), truth_["describe"].size());
    for (const StreamLog::SlowCall& call : log.slow_calls) {
        const nlohmann::json& truth = truth_of("describe", call);
        SCOPED_TRACE(truth.dump());
        EXPECT_EQ(log.value(call, "req->len"), std::to_string(truth["len"].get<unsigned>()));
        EXPECT_EQ(log.value(call, "req->urgent"), std::to_string(truth["urgent"].get<unsigned>()));
        EXPECT_EQ(log.value(call, "req->weight"), std::to_string(truth["weight"].get<unsigned>()));
        EXPECT_EQ(log.value(call, "req->balance"), std::to_string(truth["balance"].get<int>()));
        EXPECT_EQ(log.value(call, "req->type"), type_name(truth["type"]));
        EXPECT_EQ(log.value(call, "str(req->name)").substr(1, 10),
                  (truth["text"].get<std::string>() + "\"").substr(0, 10));
    }
}

TEST_P(Values, Quotients) {
    start("60");
    CallConditions conditions;
    conditions.only_if = "req->id % 3 == 1";
    conditions.show_default = false;
    conditions.show = {"req->id / 7", "req->balance / 3", "req->balance % 3"};
    const ProbeId probe = session_->time("describe", every_call, conditions);
    finish();
    const uint64_t kept = count(
        "describe", [](const nlohmann::json& call) { return call["id"].get<uint64_t>() % 3 == 1; });
    EXPECT_GT(kept, 0u);
    EXPECT_LT(kept, truth_["describe"].size());
    EXPECT_EQ(session_->calls(probe).returns, kept);
    EXPECT_EQ(session_->calls(probe).filtered, truth_["describe"].size() - kept);
    const StreamLog& log = session_->log;
    ASSERT_EQ(log.slow_calls.size(), kept);
    bool negative = false;
    for (const StreamLog::SlowCall& call : log.slow_calls) {
        const nlohmann::json& truth = truth_of("describe", call);
        SCOPED_TRACE(truth.dump());
        const auto balance = truth["balance"].get<int64_t>();
        negative |= balance < 0;
        EXPECT_EQ(log.value(call, "req->id / 7"), std::to_string(truth["id"].get<uint64_t>() / 7));
        EXPECT_EQ(log.value(call, "req->balance / 3"), std::to_string(balance / 3));
        EXPECT_EQ(log.value(call, "req->balance % 3"), std::to_string(balance % 3));
    }
    EXPECT_TRUE(negative);
}

// The C library has no parameters' names here, but its functions are well known.
TEST_P(Values, OfAWellKnownFunctionWithoutBeingAskedFor) {
    start("30");
    session_->time("libc:recv", every_call);
    finish();
    ASSERT_FALSE(session_->log.slow_calls.empty());
    size_t compared = 0;
    for (const StreamLog::SlowCall& call : session_->log.slow_calls) {
        const ThreadInfo& thread = session_->model().symbols().thread(call.end.thread);
        if (!thread.comm.starts_with("worker"))
            continue; // the servers' are not in the log
        const nlohmann::json& truth = truth_of("recv", call);
        SCOPED_TRACE(truth.dump());
        EXPECT_THAT(session_->log.value(call, "fd"),
                    testing::StartsWith(std::to_string(truth["fd"].get<int>())));
        EXPECT_EQ(session_->log.value(call, "len"),
                  std::to_string(truth["requested"].get<uint64_t>()));
        EXPECT_EQ(session_->log.value(call, "ret"),
                  std::to_string(truth["returned"].get<int64_t>()));
        compared++;
    }
    EXPECT_GT(compared, 30u);
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
    split.branch = Branch::on_condition("ret < 0");
    split.label = "arg4";
    must(session_->backend().set_split(split));
    must(session_->backend().set_slow(probe, every_call));
    finish();
    const StreamLog::Marked counted = session_->log.marked[session_->log.split.branch_bit];
    const uint64_t failed = account_["described_failed"];
    EXPECT_EQ(counted.taken, failed);
    EXPECT_EQ(counted.not_taken, truth_["describe"].size() - failed);
    // Each slow call has the label of its own value, samples or not.
    ASSERT_GT(session_->log.slow_calls.size(), 50u);
    for (const StreamLog::SlowCall& call : session_->log.slow_calls) {
        ASSERT_TRUE(call.end.label);
        EXPECT_EQ(session_->log.labels.at(call.end.label->index()),
                  type_name(truth_of("describe", call)["type"]));
    }
}

TEST_P(Values, SplitByAString) {
    start("100");
    const ProbeId probe = session_->time("describe");
    SplitInfo split{true, probe, {}, false};
    split.label = "str(arg3)";
    must(session_->backend().set_split(split));
    must(session_->backend().set_slow(probe, every_call));
    finish();
    ASSERT_GT(session_->log.slow_calls.size(), 50u);
    for (const StreamLog::SlowCall& call : session_->log.slow_calls) {
        ASSERT_TRUE(call.end.label);
        const std::string text = truth_of("describe", call)["text"];
        EXPECT_EQ(session_->log.labels.at(call.end.label->index()),
                  text.empty() ? "\"\"" : text.substr(0, 63));
    }
}

// Neither the calls of before nor those of after the edit are lost.
TEST_P(Values, EditsWhileCallsRunLoseNothing) {
    start("1000000"); // more than there is time for
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
    program_->signal(SIGTERM);
    session_->pump_to_end();
    account_ = program_->account();
    const Calls calls = session_->calls(probe);
    EXPECT_EQ(calls.entries, account_["described"].get<uint64_t>());
    EXPECT_EQ(calls.entries,
              calls.returns + calls.unwound + session_->log.filtered + calls.dropped);
    EXPECT_GT(session_->log.filtered, 0u);
}

INSTANTIATE_TEST_SUITE_P(Ways, Values,
                         testing::Values(WayOut::cheap, WayOut::ret, WayOut::trampoline),
                         way_out_name);

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
        EXPECT_EQ(session.log.value(call, is_extra ? "errno" : "arg2"),
                  is_extra ? error_text(EAGAIN) : "16");
        (is_extra ? failed : received)++;
    }
    EXPECT_EQ(failed, account["recv_extra"].get<uint64_t>());
    EXPECT_EQ(received, account["recv_found"].get<uint64_t>());
}

} // namespace
} // namespace auger::test
