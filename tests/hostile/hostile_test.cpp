// SPDX-License-Identifier: GPL-3.0-or-later
// Attackers, as README.md lists them, beside a shop that is timed.
#include "tests/hostile/hostile_session.h"
#include "tests/hostile/process_figures.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>

namespace auger::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> lying_files = {"sections",  "libraries",  "holes",
                                              "functions", "compressed", "debug-link"};

TEST_F(Hostile, FilesThatClaimToHaveGigabytesCostTheirOwnNamesOnly) {
    attack_with(lying_files);
    expect_an_unharmed_shop();
    const std::string refused = refusals();
    EXPECT_THAT(refused, HasSubstr("hole15: no symbols"));
    EXPECT_THAT(refused, HasSubstr("libraries: no symbols"));
}

TEST_F(Hostile, WhatNobodyCanUnwindByCutsTheirOwnStacksOnly) {
    attack_with({"frames", "go-table"});
    expect_an_unharmed_shop();
    // In time for others': that of Go's functions takes its reader longer than it may.
    EXPECT_TRUE(wait_until([&] {
        return refusals().find("go-table: it takes too long") != std::string::npos;
    })) << refusals();
}

TEST_F(Hostile, FilesChangedAtRandomCostTheirOwnNamesOnly) {
    attack_with({"changed"});
    expect_an_unharmed_shop();
}

TEST_F(Hostile, FilesThatAreOthersAtEveryLookHoldUpNobody) {
    attack_with({"resized", "renewed"});
    expect_an_unharmed_shop();
    EXPECT_THAT(refusals(), HasSubstr("it has changed too often"));
}

TEST_F(Hostile, FilesThatAreWrittenAllTheTimeAreNotWaitedFor) {
    attack_with({"fresh"});
    // All files are looked into. Half of what a pause of 20 ms for each of 300 would take.
    EXPECT_LT(answer_time(auger(), "time '" + program_path("spinner") + ":hot'"),
              std::chrono::seconds(3));
    expect_an_unharmed_shop();
}

// Keeps all that read names, lines and tables from going on, those too that come meanwhile.
class Stopper {
  public:
    explicit Stopper(pid_t auger) : thread_([this, auger] { run(auger); }) {}
    ~Stopper() {
        stop_ = true;
        thread_.join();
    }
    int stopped() const { return static_cast<int>(stopped_); }

  private:
    // Not those of code, for which a script waits: hostile_code_test.cpp.
    static bool is_meant(pid_t reader) {
        std::ifstream file("/proc/" + std::to_string(reader) + "/comm");
        std::string comm;
        return std::getline(file, comm) &&
               (comm == "auger-names" || comm == "auger-dwarf" || comm == "auger-tables");
    }
    void run(pid_t auger) {
        std::set<pid_t> held;
        while (!stop_) {
            for (const pid_t reader : readers_of(auger))
                if (is_meant(reader) && kill(reader, SIGSTOP) == 0)
                    held.insert(reader);
            stopped_ = held.size();
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        for (const pid_t reader : held)
            kill(reader, SIGCONT);
    }
    std::atomic<size_t> stopped_{0};
    std::atomic<bool> stop_{false};
    std::thread thread_; // last: it uses the others
};

TEST_F(Hostile, MoreFilesAndMappingsThanAnybodyNeedsTakeNoMoreThanTheirShare) {
    {
        // Else a reader that is quicker than whoever maps them leaves none to wait.
        const Stopper stopper(auger().pid());
        attack_with({"many", "mappings"});
        EXPECT_TRUE(wait_until([&] {
            return refusals().find("too many other files of its owner wait to be read") !=
                   std::string::npos;
        })) << refusals();
    }
    expect_an_unharmed_shop();
    const json lost = auger().ask("status")["lost"];
    EXPECT_GT(lost["mappings: more than 8192 in a process"], 0);
}

TEST_F(Hostile, ThirtyThatExecuteAgainAndAgainWithLargeMapsTakeNoMoreThanTheirShare) {
    attack_by(30, "execs");
    EXPECT_TRUE(wait_until([&] {
        return refusals().find("pieces of generated code were let go") != std::string::npos;
    }));
    expect_an_unharmed_shop();
}

TEST_F(Hostile, MapsThatAreNoFilesAreNotReadNorAreOtherPeoples) {
    const std::string secret = folder_.file("secret", "0 7fffffffffff evil_secret\n");
    ASSERT_EQ(chmod(secret.c_str(), 0600), 0);
    attack_with({"fifo", "link", "dump"});
    // Before they end, and take their files with them.
    for (const char* refusal : {"not a regular file", "Too many levels of symbolic links",
                                "not a jitdump file of this machine, or damaged"})
        EXPECT_TRUE(wait_until([&] { return refusals().find(refusal) != std::string::npos; }))
            << refusal << " is not in: " << refusals();
    expect_an_unharmed_shop();
    const std::string all = auger().ask("flame").dump();
    EXPECT_THAT(all, Not(HasSubstr("evil_secret")));
}

TEST_F(Hostile, NamesOfProcessesActOnNothing) {
    attack_with({"renames"});
    expect_an_unharmed_shop();
}

// Daemons share that user, and one of them may be in others' hands.
TEST_F(Hostile, NobodyStopsThoseThatRead) {
    attack("signals", nobody);
    expect_an_unharmed_shop();
}

TEST_F(Hostile, ReadersThatHangHoldUpNobodyWhoAsks) {
    attack_with({"changed"});
    Shop shop;
    const std::string probe = "'" + program_path("shop") + ":serve'";
    auger().run({"time " + probe});
    // Without tables there would be no stacks to have names.
    EXPECT_TRUE(wait_until([&] { return auger().ask("status")["unwinding"]["pending"] == 0; }));
    {
        const Stopper stopper(auger().pid());
        ASSERT_TRUE(wait_until([&] { return stopper.stopped() > 0; }));
        shop.open();
        expect_answers(auger(), 10);
        shop.close();
        expect_answers(auger(), 5);
    }
    end_attacks();
    auger().run(
        {"wait until entries " + probe + " >= " + std::to_string(shop.served()) + " for 60s",
         "sample off"});
    expect_truth(auger(), shop);
}

// How long the threads of a process and of those that it has started waited for a CPU, up to its
// end, in all: what each of them may have kept the process waiting.
class DelayUntilTheEnd {
  public:
    explicit DelayUntilTheEnd(pid_t pid)
        : begin_(run_delays_of_family(pid)), end_(begin_), thread_([this, pid] { watch(pid); }) {}
    // Once it has ended.
    std::chrono::nanoseconds delay() {
        thread_.join();
        std::chrono::nanoseconds sum{};
        for (const auto& [thread, delay] : end_) {
            const auto before = begin_.find(thread);
            sum += delay - (before == begin_.end() ? std::chrono::nanoseconds{} : before->second);
        }
        return sum;
    }

  private:
    void watch(pid_t pid) {
        while (memory_of(pid, "VmRSS") > 0) {
            for (const auto& [thread, delay] : run_delays_of_family(pid))
                end_[thread] = std::max(end_[thread], delay);
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
    }
    const std::map<pid_t, std::chrono::nanoseconds> begin_;
    std::map<pid_t, std::chrono::nanoseconds> end_;
    std::jthread thread_; // last: it uses the others
};

TEST_F(Hostile, ItEndsWithinASecondWhateverItReads) {
    attack_with(lying_files);
    attack_with({"frames", "go-table", "changed"});
    Program other(AUGER_BINARY, {"--batch", "-a", "-f", "-"});
    other.say("sample 999");
    other.say("echo begun");
    for (std::string line; (line = other.read_line()) != "begun";)
        ASSERT_NE(line, "") << "it has ended";
    ASSERT_TRUE(wait_until([&] { return !readers_of(other.pid()).empty(); }));
    const BpfObjects held = BpfObjects::held_by(other.pid());
    DelayUntilTheEnd waited(other.pid());
    const std::chrono::nanoseconds own = own_run_delay();
    const auto begin = std::chrono::steady_clock::now();
    other.signal(SIGTERM);
    const int code = other.wait_exit();
    const auto took = std::chrono::steady_clock::now() - begin - (own_run_delay() - own);
    EXPECT_LT(took - waited.delay(), std::chrono::seconds(1));
    EXPECT_EQ(code, 0);
    EXPECT_TRUE(held.wait_gone());
    end_attacks();
}

TEST_F(Hostile, AllAtOnceLeaveAnotherSessionsFiguresExact) {
    folder_.file("secret", "0 7fffffffffff evil_secret\n");
    attack_with(lying_files);
    attack_with({"frames", "go-table", "changed", "resized", "renewed", "fresh", "many", "mappings",
                 "fifo", "link", "dump", "renames"});
    attack_by(5, "execs");
    Shop shop;
    LiveAuger other({"-p", shop.pid()});
    other.run({"time serve", "sample 999"});
    shop.open();
    expect_answers(other, 5);
    expect_answers(auger(), 5);
    shop.close();
    end_attacks();
    other.run({"wait until entries serve >= " + std::to_string(shop.served()) + " for 60s",
               "sample off"});
    expect_truth(other, shop);
}

} // namespace
} // namespace auger::test
