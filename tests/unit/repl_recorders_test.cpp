// SPDX-License-Identifier: GPL-3.0-or-later
// Continuous recording and triggers, in a fake backend's time: no interval is lost, disk use is
// bounded, and whoever is killed leaves only whole files.
#include "tests/support/temporary_folder.h"
#include "tests/unit/repl_fake_backend.h"

#include "loader/process/file_series.h"
#include "repl/services/services.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

namespace auger {
namespace {

namespace fs = std::filesystem;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using test::TemporaryFolder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> names_in(const std::string& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
        names.insert(entry.path().filename());
    return names;
}

// The sum of collapsed stacks' counts.
uint64_t total(const std::string& collapsed) {
    uint64_t sum = 0;
    for (size_t begin = 0; begin < collapsed.size();) {
        const size_t end = collapsed.find('\n', begin);
        const std::string line = collapsed.substr(begin, end - begin);
        if (!line.starts_with('#'))
            sum += std::stoull(line.substr(line.rfind(' ') + 1));
        begin = end + 1;
    }
    return sum;
}

// Services on a backend whose time passes as tests say.
struct Recording {
    // Samples come evenly, the last one with the end of the time.
    std::vector<std::string> pass(nanoseconds time, uint64_t samples = 4) {
        const auto span = static_cast<uint64_t>(time.count());
        for (uint64_t i = 1; i <= samples; i++)
            stream.sample(backend.clock() + span * i / samples, 1,
                          stream.stack({"main", "f" + std::to_string(i)}));
        (void)backend.poll(time, -1);
        return services.work();
    }
    // Lets writing processes end; next to nothing of the backend's time passes.
    bool settle(uint64_t intervals) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (services.intervals().written() < intervals) {
            if (std::chrono::steady_clock::now() > limit)
                return false;
            (void)backend.poll(nanoseconds(1), services.wake_fd(-1));
            services.wait(std::chrono::milliseconds(100), -1);
            for (const std::string& line : services.work())
                ADD_FAILURE() << line;
        }
        return true;
    }
    static IntervalFiles every(const std::string& folder, seconds span, size_t keep,
                               const std::vector<std::string>& formats = {"collapsed"}) {
        IntervalFiles files{folder, static_cast<uint64_t>(nanoseconds(span).count()), keep, {}};
        for (const std::string& format : formats)
            files.formats.push_back(find_export_format(format));
        return files;
    }

    Model model{10'000, 100};
    FakeBackend backend{model};
    SyntheticStream stream{model};
    Services services{backend, model, {[] { return StatusContext{}; }, [] { return Window{}; }}};
};

// The backend writes auger's own recordings, others are written beside them.
TEST(IntervalRecorder, RecordingsAreTheBackends) {
    const TemporaryFolder folder;
    Recording test;
    IntervalFiles files = test.every(folder.path("p"), seconds(10), 9, {});
    files.recordings = true;
    ASSERT_TRUE(test.services.record_intervals(files));
    EXPECT_TRUE(test.services.active());
    EXPECT_FALSE(test.services.intervals().active());
    EXPECT_THAT(test.backend.log, ElementsAre("intervals " + folder.path("p") + " 10 9"));
    files.formats = {find_export_format("collapsed")};
    ASSERT_TRUE(test.services.record_intervals(files));
    EXPECT_TRUE(test.services.intervals().active());
    // One that cannot be begun leaves the rest as it is.
    test.backend.failing = {"intervals"};
    files.folder = folder.path("q");
    EXPECT_FALSE(test.services.record_intervals(files));
    test.backend.failing.clear();
    test.backend.log.clear();
    EXPECT_THAT(test.services.finish(), IsEmpty());
    EXPECT_THAT(test.backend.log, ElementsAre("intervals off"));
    EXPECT_FALSE(test.services.active());
    EXPECT_TRUE(test.services.outcome());
    test.backend.recorded_intervals = {3, 1, "20261121T232000.000Z", "write: no space"};
    EXPECT_EQ(test.services.outcome().error().message(),
              "record intervals: 1 of 4 were not recorded (the first: write: no space)");
}

// Each sample of a day is in one interval's files, and only the latest stay.
TEST(IntervalRecorder, ADayIsBoundedAndWhole) {
    constexpr size_t intervals = 24 * 60, keep = 5;
    const TemporaryFolder folder;
    const std::string path = folder.path("profiles");
    Recording test;
    ASSERT_TRUE(test.services.record_intervals(test.every(path, seconds(60), keep)));
    uint64_t recorded = 0;
    std::string before;
    size_t memory = 0;
    for (size_t i = 1; i <= intervals; i++) {
        test.pass(seconds(60), 40);
        ASSERT_TRUE(test.settle(i)) << i;
        const std::string name = fs::read_symlink(path + "/last_profile.folded");
        ASSERT_GT(name, before) << "names do not follow each other";
        before = name;
        recorded += total(content(path + "/" + name));
        ASSERT_LE(names_in(path).size(), keep + 1);
        if (i == intervals / 2)
            memory = test.model.memory_bytes();
    }
    EXPECT_THAT(test.services.finish(), IsEmpty());
    recorded += total(content(path + "/last_profile.folded"));
    EXPECT_EQ(recorded, test.model.samples_received());
    EXPECT_EQ(recorded, intervals * 40);
    EXPECT_GT(test.model.samples_evicted(), 0u) << "nothing was bounded";
    EXPECT_EQ(test.model.memory_bytes(), memory);
}

// A console that is busy for long: what was over meanwhile is written as it would have been.
TEST(IntervalRecorder, LateIntervalsAreWrittenOneByOne) {
    const TemporaryFolder folder;
    Recording test;
    ASSERT_TRUE(test.services.record_intervals(test.every(folder.path("p"), seconds(10), 100)));
    test.pass(seconds(95), 95);
    ASSERT_TRUE(test.settle(9));
    const auto names = names_in(folder.path("p"));
    EXPECT_EQ(names.size(), 10u); // and the link
    for (const std::string& name : names)
        EXPECT_EQ(total(content(folder.path("p/" + name))), 10u) << name;
    // The end of recording writes what there is of the last one.
    EXPECT_THAT(test.services.finish(), IsEmpty());
    EXPECT_EQ(names_in(folder.path("p")).size(), 11u);
    EXPECT_EQ(total(content(folder.path("p/last_profile.folded"))), 5u);
}

TEST(IntervalRecorder, EndsAndBeginsByCommand) {
    const TemporaryFolder folder;
    const std::string path = folder.path("p");
    Recording test;
    ASSERT_TRUE(test.services.record_intervals(test.every(path, seconds(10), 9)));
    test.pass(seconds(5), 5);
    ASSERT_TRUE(test.services.record_intervals({}));
    ASSERT_TRUE(test.settle(1));
    EXPECT_EQ(total(content(path + "/last_profile.folded")), 5u);
    test.pass(seconds(60), 6);
    EXPECT_FALSE(test.services.intervals().active());
    ASSERT_TRUE(
        test.services.record_intervals(test.every(path, seconds(10), 9, {"collapsed", "html"})));
    test.pass(seconds(10), 2);
    ASSERT_TRUE(test.settle(2));
    EXPECT_EQ(total(content(path + "/last_profile.folded")), 2u);
    EXPECT_THAT(content(path + "/last_profile.html"), HasSubstr("</html>"));
}

TEST(IntervalRecorder, LossesAreThoseOfTheInterval) {
    const TemporaryFolder folder;
    Recording test;
    const auto lose = [&](uint64_t events) {
        LedgerEvent ledger;
        ledger.time_ns = test.backend.clock();
        ledger.lost[lost_samples] = events;
        test.model.on_ledger(ledger);
    };
    lose(7);
    ASSERT_TRUE(test.services.record_intervals(test.every(folder.path("p"), seconds(10), 9)));
    test.pass(seconds(10));
    ASSERT_TRUE(test.settle(1));
    EXPECT_THAT(content(folder.path("p/last_profile.folded")), Not(HasSubstr("lost")));
    lose(10);
    test.pass(seconds(10));
    ASSERT_TRUE(test.settle(2));
    EXPECT_THAT(content(folder.path("p/last_profile.folded")),
                StartsWith("# lost: 3 (samples: event ring full)"));
}

TEST(IntervalRecorder, FilesOfOthersAreLeftAlone) {
    const TemporaryFolder folder;
    const std::string path = folder.path("p");
    fs::create_directory(path);
    const std::set<std::string> others = {
        "profile_20200101T000000.000Z.txt", "profile_20200101T000000.000Z.folded.bak",
        "profile_2020.folded", "other_20200101T000000.000Z.folded", "profile_.folded"};
    for (const std::string& name : others)
        std::ofstream(path + "/" + name) << "mine";
    fs::create_directory(path + "/profile_20200101T000000.000Z.folded");
    std::ofstream(path + "/profile_20200102T000000.000Z.folded") << "ours, old";
    Recording test;
    ASSERT_TRUE(test.services.record_intervals(test.every(path, seconds(10), 1)));
    test.pass(seconds(10));
    ASSERT_TRUE(test.settle(1));
    for (const std::string& name : others)
        EXPECT_TRUE(fs::exists(path + "/" + name)) << name;
    EXPECT_TRUE(fs::is_directory(path + "/profile_20200101T000000.000Z.folded"));
    EXPECT_FALSE(fs::exists(path + "/profile_20200102T000000.000Z.folded"));
}

TEST(IntervalRecorder, SaysOnceWhatFails) {
    const TemporaryFolder folder;
    const std::string path = folder.path("p");
    Recording test;
    EXPECT_FALSE(
        test.services.record_intervals(test.every(folder.file("file", "mine"), seconds(10), 1)));
    ASSERT_TRUE(test.services.record_intervals(test.every(path, seconds(10), 1)));
    std::ofstream(path + "/last_profile.folded") << "mine";
    std::vector<std::string> said;
    for (int i = 0; i < 3; i++) {
        test.pass(seconds(10));
        for (int j = 0; j < 1000 && said.empty(); j++) {
            (void)test.backend.poll(nanoseconds(1), -1);
            test.services.wait(std::chrono::milliseconds(60), -1);
            for (std::string& line : test.services.work())
                said.push_back(std::move(line));
        }
    }
    for (std::string& line : test.services.finish())
        said.push_back(std::move(line));
    ASSERT_EQ(said.size(), 1u);
    EXPECT_THAT(said[0], HasSubstr("last_profile.folded: it exists and is not a symbolic link"));
    EXPECT_EQ(content(path + "/last_profile.folded"), "mine");
}

// kill -9 at any moment: whatever has a name is whole.
TEST(IntervalRecorder, KilledLeavesOnlyWholeFiles) {
    const TemporaryFolder folder;
    const std::string path = folder.path("p");
    unsigned seed = 1;
    size_t files = 0;
    for (int round = 0; round < 15; round++) {
        const pid_t pid = fork();
        ASSERT_GE(pid, 0);
        if (pid == 0) {
            Recording test;
            if (!test.services.record_intervals(
                    test.every(path, seconds(1), 3, {"collapsed", "html"})))
                _exit(1);
            for (uint64_t i = 1;; i++) {
                test.pass(seconds(1), 200);
                test.settle(i);
            }
        }
        const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (!fs::exists(path + "/last_profile.html") && std::chrono::steady_clock::now() < limit)
            usleep(1'000);
        usleep(static_cast<unsigned>(rand_r(&seed)) % 40'000);
        kill(pid, SIGKILL);
        ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
        for (const std::string& name : names_in(path)) {
            if (name.starts_with('.'))
                continue;
            const std::string text = content(path + "/" + name);
            // The writing process may still be on its way out, and remove old ones.
            if (text.empty() && !fs::exists(path + "/" + name))
                continue;
            files++;
            EXPECT_TRUE(text.ends_with(name.ends_with(".html") ? "</html>\n" : "\n")) << name;
            // One sample's time is that of the end, give or take a nanosecond.
            if (name.ends_with(".folded")) {
                EXPECT_GE(total(text), 199u) << name;
            }
        }
    }
    EXPECT_GT(files, 15u) << "nothing was there to be broken";
}

class TriggerTest : public testing::Test {
  protected:
    std::string run(const std::string& line) { return test_.run(line); }
    // `time` of the session's, in steps.
    void pass(seconds time) {
        for (int64_t i = 0; i < time.count() * 10; i++)
            (void)test_.session.pump(std::chrono::milliseconds(100), -1);
    }
    bool wait_until(const std::function<bool()>& holds) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (!holds()) {
            if (std::chrono::steady_clock::now() > limit)
                return false;
            (void)test_.session.pump(nanoseconds(1), -1);
        }
        return true;
    }
    bool wait_for(const std::string& text) {
        return wait_until([&] { return test_.output.notices.find(text) != std::string::npos; });
    }
    size_t recordings() {
        size_t count = 0;
        for (const std::string& name : names_in(folder_.path("f")))
            count += name.starts_with("slow-ns--f_") && name.ends_with("Z.auger");
        return count;
    }

    TemporaryFolder folder_;
    TestSession test_;
};

TEST_F(TriggerTest, KeepsWhatLedToASlowCallAndNotTooOften) {
    run("target 4711");
    const std::string said =
        run("on slow ns::f > 5ms record last 10s in " + folder_.path("f") + " every 20s keep 2");
    EXPECT_THAT(said, HasSubstr("on slow calls of ns::f > 5ms recording the last 10s to "));
    // Slow calls are traced, and somewhat more than was asked for is kept.
    EXPECT_THAT(test_.backend.log, ElementsAre("target 1", "add 1 ns::f", "keep 13000"));
    pass(seconds(1)); // 50 slow calls
    ASSERT_TRUE(wait_for("a call of 10.0 ms recorded to " + folder_.path("f/slow-ns--f_")));
    EXPECT_EQ(recordings(), 1u);
    EXPECT_EQ(content(folder_.path("f/" + *names_in(folder_.path("f")).begin())), "kept");
    pass(seconds(18));
    EXPECT_EQ(recordings(), 1u) << "sooner than it may";
    for (int i = 0; i < 3; i++) {
        test_.output.notices.clear();
        pass(seconds(21));
        ASSERT_TRUE(wait_for("slow calls since the one before were too early for another"));
    }
    // The last one may be being written: then an older one has not gone yet.
    EXPECT_TRUE(wait_until([&] { return recordings() == 2; })) << "older ones stay";
}

TEST_F(TriggerTest, IsASettingOfItsProbe) {
    run("target 4711");
    EXPECT_THAT(run("on"), HasSubstr("slow calls trigger nothing"));
    const std::string line =
        "on slow handle > p99 record last 10s in " + folder_.path("f") + " every 60s keep 60";
    run("on slow handle > p99 record last 10s in " + folder_.path("f"));
    EXPECT_THAT(run("on"), HasSubstr("on slow calls of handle > p99 recording the last 10s"));
    run("save " + folder_.path("s.aug"));
    EXPECT_THAT(content(folder_.path("s.aug")),
                HasSubstr("\non slow handle > p99 record last 10s in \"" + folder_.path("f") +
                          "\" every 60s keep 60\n"));
    EXPECT_THAT(run("delete handle"), HasSubstr("what it triggered has ended"));
    EXPECT_THAT(run("on"), HasSubstr("slow calls trigger nothing"));
    EXPECT_THAT(test_.backend.log, Contains("keep 0")) << "memory is still kept";
    run("undo");
    EXPECT_THAT(run("on"), HasSubstr("on slow calls of handle > p99"));
    EXPECT_THAT(run("on slow handle off; on"), HasSubstr("slow calls trigger nothing"));
    EXPECT_THAT(run("on fast handle"),
                HasSubstr("test.aug:1:4: error: only slow calls and traced probes trigger"));
    EXPECT_THAT(run("on slow handle > 1ms record last 1h"), HasSubstr("between 1s and 600s"));
    EXPECT_THAT(run("on slow handle > 1ms"), HasSubstr("\"record last\""));
}

TEST(FileSeries, TimesAreInUtc) {
    EXPECT_EQ(time_stamp(0), "19700101T000000.000Z");
    EXPECT_EQ(time_stamp(1'795'303'203'456'789'000), "20261121T232003.456Z");
}

} // namespace
} // namespace auger
