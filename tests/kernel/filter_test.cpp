// SPDX-License-Identifier: GPL-3.0-or-later
// Filters: only what passes them is counted or sampled, and all of that.
#include "tests/kernel/control_group.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <dirent.h>

#include <fstream>
#include <set>

namespace auger::test {
namespace {

class Filters : public KernelTest {
  protected:
    static constexpr const char* threads = "3";

    // Calls of `hot` by the thread of this name.
    static uint64_t hot_calls(const nlohmann::json& account, const std::string& name) {
        for (const auto& thread : account.at("threads")) {
            if (thread["name"] == name)
                return thread["hot"]["calls"];
        }
        throw std::runtime_error("no thread " + name);
    }
    static uint64_t all_hot_calls(const nlohmann::json& account) {
        uint64_t sum = 0;
        for (const auto& thread : account.at("threads"))
            sum += thread["hot"]["calls"].get<uint64_t>();
        return sum;
    }
    static pid_t tid_of(pid_t pid, const std::string& name) {
        std::string folder = "/proc/" + std::to_string(pid) + "/task";
        pid_t tid = 0;
        DIR* tasks = opendir(folder.c_str());
        while (dirent* entry = tasks ? readdir(tasks) : nullptr) {
            std::ifstream comm(folder + "/" + entry->d_name + "/comm");
            std::string found;
            if (comm >> found && found == name)
                tid = std::stoi(entry->d_name);
        }
        closedir(tasks);
        return tid;
    }
    // Names of the threads that were sampled.
    static std::set<std::string> sampled(Session& session) {
        std::set<std::string> names;
        const SampleStore& samples = session.model().samples();
        for (size_t i = 0; i < samples.size(); i++)
            names.insert(session.model().symbols().thread(samples.threads()[i]).comm);
        return names;
    }
};

TEST_F(Filters, ByThreadName) {
    Program program("spinner",
                    {"--threads", threads, "--slice-us", "2000", "--calls", "100", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    session.filter({{}, {}, {"spin-1"}, {}});
    ProbeId probe = session.time("hot");
    session.sample(999);
    program.go();
    session.pump_to_end();
    nlohmann::json truth = program.account();
    EXPECT_EQ(session.calls(probe).returns, hot_calls(truth, "spin-1"));
    EXPECT_EQ(session.calls(probe).entries, hot_calls(truth, "spin-1"));
    EXPECT_EQ(sampled(session), std::set<std::string>{"spin-1"});
    EXPECT_GT(session.model().ledger().filtered, 0u);
    session.expect_samples_add_up();
}

TEST_F(Filters, OfOneKindAreAlternativesAndKindsMustAllMatch) {
    Program program("spinner",
                    {"--threads", threads, "--slice-us", "2000", "--calls", "50", "--wait"});
    Program other("spinner",
                  {"--threads", threads, "--slice-us", "2000", "--calls", "50", "--wait"});
    program.wait_ready();
    other.wait_ready();
    Session session;
    session.observe(std::vector<pid_t>{program.pid(), other.pid()});
    session.filter({{program.pid()}, {}, {"spin-0", "spin-2"}, {}});
    ProbeId probe = session.time("hot");
    program.go();
    other.go();
    session.pump_to_end();
    nlohmann::json truth = program.account();
    EXPECT_EQ(session.calls(probe).returns,
              hot_calls(truth, "spin-0") + hot_calls(truth, "spin-2"));
    EXPECT_EQ(session.calls(probe).entries, session.calls(probe).returns);
}

TEST_F(Filters, ByProcess) {
    Program program("spinner", {"--slice-us", "2000", "--calls", "50", "--wait"});
    Program other("spinner", {"--slice-us", "2000", "--calls", "80", "--wait"});
    program.wait_ready();
    other.wait_ready();
    Session session;
    session.observe(std::vector<pid_t>{program.pid(), other.pid()});
    session.filter({{other.pid()}, {}, {}, {}});
    ProbeId probe = session.time("hot");
    program.go();
    other.go();
    session.pump_to_end();
    EXPECT_EQ(session.calls(probe).returns, all_hot_calls(other.account()));
}

// The thread is known only while it runs, so its own count is read before the probe is there and
// after: what was counted lies between.
TEST_F(Filters, ByThread) {
    Program program("spinner", {"--threads", threads, "--load", "20", "--slice-us", "1000"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    pid_t tid = 0;
    ASSERT_TRUE(session.pump_until([&] { return (tid = tid_of(program.pid(), "spin-2")) > 0; }));
    session.filter({{}, {tid}, {}, {}});
    program.signal(SIGUSR1);
    uint64_t before = hot_calls(program.account(), "spin-2");
    ProbeId probe = session.time("hot");
    program.signal(SIGUSR1);
    uint64_t after = hot_calls(program.account(), "spin-2");
    ASSERT_TRUE(session.pump_until([&] { return session.calls(probe).returns >= 200; }));
    program.signal(SIGTERM);
    session.pump_to_end();
    uint64_t end = hot_calls(program.account(), "spin-2");
    Calls calls = session.calls(probe);
    EXPECT_GE(calls.entries, end - after - 1);
    EXPECT_LE(calls.entries, end - before);
    EXPECT_TRUE(calls.add_up());
}

// An edit takes effect in the middle of calls: each is still counted whole or not at all.
TEST_F(Filters, ChangedWhileCallsRun) {
    Program program("spinner", {"--threads", "2", "--slice-us", "1000"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    ProbeId probe = session.time("hot");
    ASSERT_TRUE(session.pump_until([&] { return session.calls(probe).returns >= 20; }));
    for (int i = 0; i < 20; i++) {
        Calls before = session.calls(probe);
        session.filter({{}, {}, {i % 2 ? "spin-0" : "spin-1"}, {}});
        ASSERT_TRUE(
            session.pump_until([&] { return session.calls(probe).returns >= before.returns + 5; }));
    }
    // A filter by name is asked at every call, one by id once a scope: neither may outlive its
    // edit.
    for (const FilterSpec& nobody :
         {FilterSpec{{}, {}, {"nobody"}, {}}, FilterSpec{{1}, {}, {}, {}}}) {
        session.filter({});
        Calls passing = session.calls(probe);
        ASSERT_TRUE(session.pump_until(
            [&] { return session.calls(probe).returns >= passing.returns + 20; }));
        session.filter(nobody);
        // Calls that were open end; then nothing more is counted, though the program goes on.
        ASSERT_TRUE(session.pump_until([&] { return session.calls(probe).open == 0; }));
        Calls before = session.calls(probe);
        program.signal(SIGUSR1);
        uint64_t truth = all_hot_calls(program.account());
        ASSERT_TRUE(session.pump_until([&] {
            program.signal(SIGUSR1);
            return all_hot_calls(program.account()) > truth + 20;
        }));
        EXPECT_EQ(session.calls(probe).entries, before.entries);
        EXPECT_EQ(before.entries, before.returns);
    }
}

TEST_F(Filters, ByControlGroup) {
    ControlGroup cgroup;
    Program inside("spinner", {"--slice-us", "2000", "--calls", "50", "--wait"});
    Program outside("spinner", {"--slice-us", "2000", "--calls", "80", "--wait"});
    inside.wait_ready();
    outside.wait_ready();
    Session session;
    session.observe(std::vector<pid_t>{inside.pid(), outside.pid()});
    if (!cgroup.made()) {
        // Without control groups of version 2 the filter must be refused, not pass all or nothing.
        EXPECT_FALSE(session.backend().set_filter({{}, {}, {}, {cgroup.name()}}));
        GTEST_SKIP() << "no control groups of version 2 can be made here";
    }
    cgroup.move_here(inside.pid());
    session.filter({{}, {}, {}, {cgroup.name()}});
    ProbeId probe = session.time("hot");
    inside.go();
    outside.go();
    session.pump_to_end();
    EXPECT_EQ(session.calls(probe).returns, all_hot_calls(inside.account()));
    EXPECT_EQ(session.calls(probe).entries, session.calls(probe).returns);
    EXPECT_GT(all_hot_calls(outside.account()), 0u); // there was somebody to exclude
    inside.wait_exit();
    outside.wait_exit();
}

// A container is a group whose name holds its id; processes in groups below it belong to it.
TEST_F(Filters, ByContainer) {
    std::string id = std::to_string(getpid());
    id = "abcdef" + std::string(58 - id.size(), '0') + id;
    ControlGroup container("docker-" + id + ".scope"), part("docker-" + id + ".scope/part");
    Program inside("spinner", {"--slice-us", "2000", "--calls", "50", "--wait"});
    Program below("spinner", {"--slice-us", "2000", "--calls", "60", "--wait"});
    Program outside("spinner", {"--slice-us", "2000", "--calls", "80", "--wait"});
    Session session;
    for (Program* program : {&inside, &below, &outside})
        program->wait_ready();
    session.observe(std::vector<pid_t>{inside.pid(), below.pid(), outside.pid()});
    EXPECT_FALSE(session.backend().set_filter({{}, {}, {}, {"no such container"}}));
    if (!part.made())
        GTEST_SKIP() << "no control groups of version 2 can be made here";
    container.move_here(inside.pid());
    part.move_here(below.pid());
    session.filter({{}, {}, {}, {id.substr(0, 8)}});
    ProbeId probe = session.time("hot");
    for (Program* program : {&inside, &below, &outside})
        program->go();
    session.pump_to_end();
    EXPECT_EQ(session.calls(probe).returns,
              all_hot_calls(inside.account()) + all_hot_calls(below.account()));
    EXPECT_EQ(session.calls(probe).entries, session.calls(probe).returns);
    EXPECT_GT(all_hot_calls(outside.account()), 0u); // there was somebody to exclude
    for (Program* program : {&inside, &below, &outside})
        program->wait_exit();
}

} // namespace
} // namespace auger::test
