// SPDX-License-Identifier: GPL-3.0-or-later
// Targets: commands that auger starts, names, processes that end or become other programs, and
// libraries that come late. What was collected stays, with names, when the target is gone.
#include "tests/kernel/control_group.h"
#include "tests/kernel/program.h"
#include "tests/kernel/ways.h"
#include "tests/support/temporary_folder.h"
#include "views/model/fold.h"

#include <algorithm>
#include <fcntl.h>
#include <gmock/gmock.h>

#include <filesystem>

namespace auger::test {
namespace {

namespace fs = std::filesystem;

using std::chrono::seconds;

class Targets : public KernelTest {
  protected:
    static TargetSpec command(std::vector<std::string> words) {
        TargetSpec spec;
        spec.kind = TargetSpec::Kind::command;
        spec.command = std::move(words);
        return spec;
    }
    static TargetSpec named(const std::string& name) {
        TargetSpec spec;
        spec.kind = TargetSpec::Kind::name;
        spec.name = name;
        return spec;
    }
    // The command writes its account to our own standard output: take it from there.
    class Output {
      public:
        Output() : saved_(fcntl(1, F_DUPFD_CLOEXEC, 3)) {
            char path[] = "/tmp/auger-test-output-XXXXXX";
            file_ = mkostemp(path, O_CLOEXEC);
            unlink(path);
            fflush(stdout);
            dup2(file_, 1);
        }
        ~Output() {
            restore();
            close(file_);
        }
        nlohmann::json account() {
            restore();
            std::string text(100'000, '\0');
            ssize_t size = pread(file_, text.data(), text.size(), 0);
            text.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
            size_t at = text.find('{');
            return nlohmann::json::parse(text.substr(at, text.find('\n', at) - at));
        }

      private:
        void restore() {
            if (saved_ >= 0) {
                dup2(saved_, 1);
                close(std::exchange(saved_, -1));
            }
        }
        int saved_;
        int file_;
    };
};

// From the first call on, though no process of it ran when the probes were set.
TEST_F(Targets, ACommandIsCountedFromItsFirstCall) {
    for (WayOut way_out : {WayOut::automatic, WayOut::ret}) {
        Output output;
        Session session;
        session.observe(command({program_path("many_functions"), "--calls", "3"}));
        must(session.backend().set_way_out(way_out));
        ProbeId probe = session.time("main");
        must(session.backend().start_command());
        session.pump_to_end();
        EXPECT_EQ(session.calls(probe).entries, 1u);
        EXPECT_EQ(session.calls(probe).returns, 1u);
        EXPECT_TRUE(output.account()["ok"].get<bool>());
    }
    Output output;
    Session session;
    session.observe(command({program_path("recursion"), "--calls", "20"}));
    ProbeId probe = session.time("descend");
    must(session.backend().start_command());
    session.pump_to_end();
    nlohmann::json truth = output.account();
    EXPECT_EQ(session.calls(probe).entries,
              truth["functions"]["descend"]["entries"].get<uint64_t>());
    EXPECT_EQ(session.calls(probe).returns, session.calls(probe).entries);
    TargetStatus status = session.backend().target_status();
    ASSERT_EQ(status.processes.size(), 1u);
    EXPECT_FALSE(status.processes[0].running);
    EXPECT_EQ(status.processes[0].exit, "exit code 0");
}

TEST_F(Targets, ACommandsEndIsReported) {
    const std::pair<const char*, const char*> ends[] = {
        {"exit 7", "exit code 7"}, {"kill -9 $$", "killed by signal 9 (Killed)"}};
    for (const auto& [script, expected] : ends) {
        Session session;
        session.observe(command({"sh", "-c", script}));
        must(session.backend().start_command());
        session.pump_to_end();
        EXPECT_EQ(session.backend().target_status().processes.at(0).exit, expected);
        EXPECT_TRUE(session.noticed(expected));
    }
    Session session;
    auto absent = session.backend().set_target(command({"/no/such/program"}));
    if (absent)
        absent = session.backend().start_command();
    EXPECT_FALSE(absent);
}

TEST_F(Targets, WhatHasEndedIsRefused) {
    Program program("churn", {"--calls", "1"});
    program.account();
    while (!program.read_line().empty()) { // its output ends with it
    }
    Session session;
    TargetSpec spec;
    spec.kind = TargetSpec::Kind::pids;
    spec.pids = {program.pid()};
    // Nobody has waited for it yet, so it may still have an entry in /proc.
    while (session.backend().set_target(spec)) {
        if (!must(session.backend().poll(std::chrono::milliseconds(10), -1)))
            return; // it was caught in its last moment, and that was noticed
    }
    program.wait_exit();
    EXPECT_FALSE(session.backend().set_target(spec));
    spec.pids = {getpid()};
    EXPECT_FALSE(session.backend().set_target(spec));
}

// A library that the whole machine maps is probed in the target's processes alone, old and new
// ones.
TEST_F(Targets, ASharedLibraryIsTimedInTheTargetOnly) {
    std::vector<std::string> arguments = {"--calls", "30", "--pause-us", "0", "--wait"};
    Program first("recursion", arguments), second("recursion", arguments),
        stranger("recursion", arguments);
    for (Program* program : {&first, &second, &stranger})
        program->wait_ready();
    Session session;
    session.observe(first.pid());
    ProbeId sleeps = session.time("libc:clock_nanosleep");
    size_t links = session.backend().links().size();
    // Another target: the probe follows.
    session.observe({first.pid(), second.pid()});
    EXPECT_GT(session.backend().links().size(), links);
    ProbeId descend = session.time("descend");
    for (Program* program : {&first, &second, &stranger})
        program->go();
    session.pump_to_end();
    uint64_t expected = 0;
    for (Program* program : {&first, &second})
        expected += program->account()["functions"]["descend"]["entries"].get<uint64_t>();
    EXPECT_EQ(session.calls(descend).returns, expected);
    EXPECT_EQ(session.calls(sleeps).returns, expected);
    EXPECT_EQ(session.calls(sleeps).entries, expected);
    EXPECT_TRUE(stranger.account()["ok"].get<bool>());
}

// Whom nobody observes any more pays for no probe; when it is observed again it is timed again.
TEST_F(Targets, AnotherTargetLeavesNoProbeBehind) {
    std::vector<std::string> arguments = {"--calls", "30", "--pause-us", "0", "--wait"};
    Program program("recursion", arguments), other("churn", {"--calls", "1", "--wait"});
    program.wait_ready();
    other.wait_ready();
    Session session;
    const std::vector<uint64_t> none = session.backend().links();
    session.observe(program.pid());
    const ProbeId descend = session.time("descend"), sleeps = session.time("libc:clock_nanosleep");
    const size_t both = session.backend().links().size();
    EXPECT_GT(both, none.size());
    session.observe(TargetSpec{});
    EXPECT_EQ(session.backend().links(), none);
    session.observe(other.pid());
    EXPECT_LT(session.backend().links().size(), both); // libc's alone
    session.observe(program.pid());
    EXPECT_EQ(session.backend().links().size(), both);
    program.go();
    session.pump_to_end();
    const auto expected = program.account()["functions"]["descend"]["entries"].get<uint64_t>();
    EXPECT_EQ(session.calls(descend).returns, expected);
    EXPECT_EQ(session.calls(sleeps).returns, expected);
}

// Two that run already, and one that is started afterwards.
TEST_F(Targets, ANameMeansThoseThatRunAndThoseThatCome) {
    Program first("forks", {"--calls", "1", "--wait", "--linger"});
    Program second("forks", {"--calls", "1", "--wait", "--linger"});
    first.wait_ready();
    second.wait_ready();
    Session session;
    session.observe(named("forks"));
    using Process = TargetStatus::Process;
    for (Program* program : {&first, &second})
        EXPECT_THAT(session.backend().target_status().processes,
                    testing::Contains(testing::Field(&Process::pid, program->pid())));
    must(session.backend().set_way_out(WayOut::ret));
    ProbeId probe = session.time("parent_work");
    Program third("forks", {"--calls", "1", "--wait", "--linger"});
    third.wait_ready();
    Program stranger("churn", {"--calls", "1", "--wait"});
    stranger.wait_ready();
    uint64_t expected = 0;
    for (Program* program : {&first, &second, &third}) {
        program->go();
        expected += program->account()["functions"]["parent_work"]["returns"].get<uint64_t>();
    }
    EXPECT_EQ(expected, 15u);
    ASSERT_TRUE(session.pump_until([&] { return session.calls(probe).returns >= expected; }));
    EXPECT_EQ(session.calls(probe).entries, expected);
    EXPECT_THAT(session.backend().target_status().processes,
                testing::Contains(testing::Field(&Process::pid, third.pid())));
    EXPECT_THAT(session.backend().target_status().processes,
                testing::Not(testing::Contains(
                    testing::Field(&TargetStatus::Process::pid, stranger.pid()))));
    for (Program* program : {&first, &second, &third})
        program->go();
}

// Anybody may give a process any name.
TEST_F(Targets, ANameOfOneUserIsNobodyElses) {
    const TemporaryFolder folder; // that others may look into
    fs::permissions(folder.path(""), fs::perms(0755));
    const std::string path = folder.path("forks");
    fs::copy_file(program_path("forks"), path);
    const std::vector<std::string> arguments{"--calls", "1", "--wait", "--linger"};
    const auto as_nobody = [&] {
        std::vector<std::string> words{"--reuid", "65534", "--clear-groups", path};
        words.insert(words.end(), arguments.begin(), arguments.end());
        return std::make_unique<Program>("/usr/bin/setpriv", words);
    };
    const auto there = as_nobody();
    Program ours(path, arguments);
    there->wait_ready();
    ours.wait_ready();
    Session session;
    TargetSpec target = named("forks");
    target.user = "no such user";
    EXPECT_FALSE(session.backend().set_target(target));
    target.user = "nobody";
    session.observe(target);
    must(session.backend().set_way_out(WayOut::ret));
    const ProbeId probe = session.time("parent_work");
    const auto later = as_nobody();
    Program ours_later(path, arguments);
    later->wait_ready();
    ours_later.wait_ready();
    uint64_t expected = 0;
    for (Program* program : {&ours, &ours_later, there.get(), later.get()}) {
        program->go();
        const uint64_t returns =
            program->account()["functions"]["parent_work"]["returns"].get<uint64_t>();
        expected += program == there.get() || program == later.get() ? returns : 0;
    }
    ASSERT_TRUE(session.pump_until([&] { return session.calls(probe).returns >= expected; }));
    std::vector<pid_t> pids;
    for (const TargetStatus::Process& process : session.backend().target_status().processes) {
        // Children may have been gone before anybody could ask whose they were.
        EXPECT_THAT(process.user, testing::AnyOf("nobody", ""));
        if (process.user == "nobody")
            pids.push_back(process.pid);
    }
    EXPECT_THAT(pids, testing::IsSupersetOf({there->pid(), later->pid()}));
    for (Program* program : {&ours, &ours_later, there.get(), later.get()})
        program->go();
    session.pump_until([&] { return session.calls(probe).open == 0; });
    EXPECT_EQ(session.calls(probe).entries, expected);
}

// Those of the group and of the groups below it, whenever they come.
TEST_F(Targets, ANameInOneControlGroupIsNobodyElses) {
    const ControlGroup group;
    if (!group.made())
        GTEST_SKIP() << "no control group can be made here";
    const ControlGroup below(group.name().substr(1) + "/below");
    ASSERT_TRUE(below.made());
    const std::vector<std::string> arguments{"--calls", "1", "--wait", "--linger"};
    const auto start = [&](const ControlGroup* in) {
        std::vector<std::string> words{"-c", "echo $$ >\"$0\"; exec \"$@\"",
                                       in ? in->processes() : "/dev/null", program_path("forks")};
        words.insert(words.end(), arguments.begin(), arguments.end());
        return std::make_unique<Program>("/bin/sh", words);
    };
    std::vector<std::unique_ptr<Program>> inside, outside;
    const auto start_all = [&] {
        inside.push_back(start(&group));
        inside.push_back(start(&below));
        outside.push_back(start(nullptr));
        for (const auto* programs : {&inside, &outside})
            programs->back()->wait_ready();
        inside[inside.size() - 2]->wait_ready();
    };
    start_all();
    Session session;
    TargetSpec target = named("forks");
    target.cgroup = "/no such group";
    EXPECT_FALSE(session.backend().set_target(target));
    target.cgroup = group.name();
    session.observe(target);
    must(session.backend().set_way_out(WayOut::ret));
    const ProbeId probe = session.time("parent_work");
    start_all();
    uint64_t expected = 0;
    for (const auto* programs : {&inside, &outside})
        for (const auto& program : *programs) {
            program->go();
            const uint64_t returns =
                program->account()["functions"]["parent_work"]["returns"].get<uint64_t>();
            expected += programs == &inside ? returns : 0;
        }
    EXPECT_GT(expected, 0u);
    ASSERT_TRUE(session.pump_until([&] { return session.calls(probe).returns >= expected; }));
    std::vector<pid_t> pids;
    for (const TargetStatus::Process& process : session.backend().target_status().processes)
        pids.push_back(process.pid);
    for (const auto& program : inside)
        EXPECT_THAT(pids, testing::Contains(program->pid()));
    for (const auto& program : outside)
        EXPECT_THAT(pids, testing::Not(testing::Contains(program->pid())));
    for (const auto* programs : {&inside, &outside})
        for (const auto& program : *programs)
            program->go();
    session.pump_until([&] { return session.calls(probe).open == 0; });
    EXPECT_EQ(session.calls(probe).entries, expected);
    inside.clear(); // a group with processes cannot go
}

// Of a process that becomes a target by its name, what it mapped before that is known too.
TEST_F(Targets, OneThatComesByItsNameHasNames) {
    Session session;
    session.observe(named("spinner"));
    must(session.backend().set_sampling({999, false}));
    Program program("spinner", {"--seconds", "30"});
    program.wait_ready();
    EXPECT_TRUE(session.pump_until([&] {
        session.backend().settle_symbols(seconds(5));
        for (uint32_t stack = 0; stack < session.model().symbols().stacks(); stack++) {
            auto names = session.stack_names(StackId{stack});
            if (std::find(names.begin(), names.end(), "hot") != names.end())
                return true;
        }
        return false;
    }));
}

// A probe in a library that is not there yet waits for it, and counts from when it is attached.
class LateLibrary : public WaysTest<std::tuple<LiveOptions::Attach, WayOut>> {};

TEST_P(LateLibrary, ResolvesWhatWaitedForIt) {
    const auto& [attach, way_out] = GetParam();
    Program program("late_library", {"--calls", "3", "--step", "--copy", "--wait"});
    program.wait_ready();
    Session session({attach});
    session.observe(program.pid());
    must(session.backend().set_way_out(way_out));
    ProbeId probe = session.time("liblate_work*:late_work");
    EXPECT_TRUE(session.report.pending);
    EXPECT_TRUE(session.report.places.empty());
    program.go();
    // Each round loads another file.
    for (size_t round = 1; round <= 3; round++) {
        ASSERT_TRUE(program.read_line().starts_with("loaded "));
        ASSERT_TRUE(session.pump_until(
            [&] { return session.model().find_probe(probe)->specs.size() >= round; }));
        program.go();
        ASSERT_TRUE(
            session.pump_until([&] { return session.calls(probe).returns >= 100 * round; }));
    }
    session.pump_to_end();
    nlohmann::json truth = program.account();
    EXPECT_TRUE(truth["ok"].get<bool>());
    EXPECT_EQ(session.calls(probe).entries, truth["calls"].get<uint64_t>());
    EXPECT_EQ(session.calls(probe).returns, 300u);
    EXPECT_TRUE(session.noticed("now timed in"));
}

INSTANTIATE_TEST_SUITE_P(Ways, LateLibrary,
                         testing::Values(std::tuple{LiveOptions::Attach::multi, WayOut::ret},
                                         std::tuple{LiveOptions::Attach::multi, WayOut::automatic},
                                         std::tuple{LiveOptions::Attach::perf, WayOut::ret}),
                         ways_name);

// The target becomes another program in the middle of a call: the probe on its new functions works.
TEST_F(Targets, ATargetThatExecsIsStillOne) {
    Program shell("/bin/sh", {"-c", "echo ready $$; read line; exec " + program_path("recursion") +
                                        " --calls 20 --pause-us 0 --wait"});
    shell.wait_ready();
    Session session;
    session.observe(shell.pid());
    ProbeId probe = session.time("recursion:descend");
    EXPECT_TRUE(session.report.pending);
    session.sample(999);
    shell.go();
    shell.wait_ready();
    ASSERT_TRUE(
        session.pump_until([&] { return !session.model().find_probe(probe)->specs.empty(); }));
    shell.go();
    session.pump_to_end();
    nlohmann::json truth = shell.account();
    EXPECT_EQ(session.calls(probe).returns,
              truth["functions"]["descend"]["returns"].get<uint64_t>());
    EXPECT_EQ(session.calls(probe).entries, session.calls(probe).returns);
}

// It ends at once, while it is sampled at a high rate: all samples and their names are there.
TEST_F(Targets, OfATargetThatIsGoneEverythingIsKept) {
    Program program("spinner", {"--threads", "2", "--seconds", "1", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    ProbeId probe = session.time("hot");
    session.sample(9'999);
    program.go();
    session.pump_to_end();
    nlohmann::json truth = program.account();
    EXPECT_EQ(program.wait_exit(), 0);
    session.expect_samples_add_up();
    session.backend().settle_symbols(seconds(60));
    EXPECT_TRUE(session.noticed("exited"));
    EXPECT_EQ(session.backend().symbol_progress().pending, 0u);
    double named = 0, all = fold(session.model(), {}).total().samples;
    const SymbolTables& symbols = session.model().symbols();
    for (const FunctionSums& sums : sum_functions(session.model(), {})) {
        if (symbols.name(sums.function) == "spin_slice")
            named += sums.total.sum().samples;
    }
    // Of a thread's CPU time there is one every 0.1 ms; the program's threads measured theirs. Both
    // began after the first probe stood, so none is missing but where the work ends: a tick's worth
    // a thread, and what the ledger says was lost.
    double on_cpu_ns = 0;
    for (const auto& thread : truth["threads"])
        for (const char* kind : {"hot", "warm", "cold"})
            on_cpu_ns += thread[kind]["cpu_ns"].get<double>();
    EXPECT_GT(on_cpu_ns, 1e8);
    EXPECT_GT(all + static_cast<double>(session.lost("samples: event ring full")),
              0.95 * 9'999 * on_cpu_ns / 1e9);
    EXPECT_GT(named, 0.9 * all);
    uint64_t hot = 0;
    for (const auto& thread : truth["threads"])
        hot += thread["hot"]["calls"].get<uint64_t>();
    EXPECT_EQ(session.calls(probe).returns, hot);
    // Nothing can be done to it any more, and trying does no harm.
    session.sample(99);
    EXPECT_FALSE(session.backend().add_probe({ProbeId{77}, "warm", {}}));
    session.pump_to_end();
}

} // namespace
} // namespace auger::test
