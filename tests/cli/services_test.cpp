// SPDX-License-Identifier: GPL-3.0-or-later
// auger as a service: what it does while nobody types, on the real kernel, until somebody ends it.
#include "loader/base/fd.h"
#include "tests/cli/invocation.h"
#include "tests/kernel/program.h"
#include "tests/support/asked_by_nobody.h"
#include "tests/support/bpf_objects.h"
#include "tests/support/http_client.h"
#include "tests/support/kernel_test.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <thread>

namespace auger::test {
namespace {

using testing::HasSubstr;

constexpr auto generous = std::chrono::minutes(1);

bool wait_until(const std::function<bool()>& done) {
    const auto limit = std::chrono::steady_clock::now() + generous;
    while (!done()) {
        if (std::chrono::steady_clock::now() > limit)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
}

class ServicesTest : public KernelTest {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!IsSkipped())
            spinner_.wait_ready();
    }
    std::string pid() const { return std::to_string(spinner_.pid()); }
    // The address that auger says it serves at.
    static std::string served_by(Program& auger) {
        constexpr std::string_view said = "serving at ";
        for (;;) {
            const std::string line = auger.read_line();
            if (line.empty())
                return {};
            if (line.starts_with(said))
                return line.substr(said.size());
        }
    }
    static void expect_end(Program& auger, const BpfObjects& before) {
        auger.signal(SIGTERM);
        EXPECT_EQ(auger.wait_exit(), 0);
        EXPECT_TRUE(BpfObjects::wait_nothing_left(before)) << "left behind";
    }

    BpfObjects before_ = BpfObjects::existing();
    Program spinner_{"spinner", {"--threads", "2", "--seconds", "300"}};
};

// As systemd does for Type=notify: by a path, or a name without one.
TEST_F(ServicesTest, TellTheServiceManagerWhenTheyAreReadyAndWhenTheyEnd) {
    const TemporaryFolder folder;
    for (const std::string& name :
         {folder.path("notify"), fmt::format("@auger-notify-{}", getpid())}) {
        SCOPED_TRACE(name);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, name.data(), name.size());
        if (name.front() == '@')
            address.sun_path[0] = '\0';
        const UniqueFd manager(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        ASSERT_EQ(bind(manager.get(), reinterpret_cast<const sockaddr*>(&address),
                       static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())),
                  0);
        const auto told = [&](int flags) {
            char text[64] = {};
            const ssize_t size = recv(manager.get(), text, sizeof(text), flags);
            return std::string(text, size > 0 ? static_cast<size_t>(size) : 0);
        };
        setenv("NOTIFY_SOCKET", name.c_str(), 1);
        const std::string socket = folder.path("auger.sock");
        Program auger(AUGER_BINARY, {"--batch", "--serve", "unix:" + socket, "-p", pid()});
        EXPECT_EQ(told(0), "READY=1");
        // Not before it can be asked.
        HttpClient client("unix:" + socket);
        EXPECT_TRUE(client.connected());
        expect_end(auger, before_);
        EXPECT_EQ(told(0), "STOPPING=1");
        // One that cannot do what it is to do is never ready.
        Program failing(AUGER_BINARY, {"--batch", "-p", pid(), "-e", "time no_such_function"});
        EXPECT_EQ(failing.wait_exit(), 1);
        EXPECT_EQ(told(MSG_DONTWAIT), "");
        unsetenv("NOTIFY_SOCKET");
    }
}

// How often threads of that name have been taken off their CPUs.
std::map<std::string, double> switches_of_threads(const std::string& pid) {
    std::map<std::string, double> switches;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/" + pid + "/task")) {
        std::ifstream status(thread.path() / "status");
        std::string key, name;
        for (double count = 0; status >> key; status.ignore(1 << 12, '\n'))
            if (key == "Name:")
                status >> name;
            else if (key.ends_with("voluntary_ctxt_switches:") && status >> count)
                switches[name] += count;
    }
    return switches;
}

// Half of each thread's time is spent in `hot`, `warm` and `cold`, 70 to 20 to 10, half asleep.
TEST_F(ServicesTest, SamplesAreWhereTheTimeIs) {
    Program auger(AUGER_BINARY, {"--batch", "--serve", "127.0.0.1:0", "-p", pid()});
    HttpClient client(served_by(auger));
    ASSERT_TRUE(client.connected());
    const auto before = switches_of_threads(pid());
    client.post("/sample", R"({"numberOfSamples":2000,"timeInterval":"1 ms"})");
    ASSERT_TRUE(wait_until([&] { return client.closed(); }));
    ASSERT_EQ(client.status(), 200) << client.answer();
    auto switches = switches_of_threads(pid());
    const std::string text = client.body();
    EXPECT_THAT(text, testing::StartsWith("# auger: 2.00 s of wall-clock time (waits when they "
                                          "end), a sample of each thread every 1.00 ms\n"));
    const std::regex header(R"((spin-\d) (\d+)/\d+ \[\d+\] [\d.]+: +1000000 (\w+):)");
    std::map<std::string, int> threads, functions; // of samples on the CPU
    bool on_cpu = false;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (std::regex_match(line, match, header)) {
            EXPECT_EQ(match[2], pid());
            threads[match[1]]++;
            on_cpu = match[3] == "cpu";
        }
        for (const char* function : {"hot", "warm", "cold"})
            functions[function] += on_cpu && line.find(fmt::format(" {} (", function)) != line.npos;
    }
    // A wait, or a time without a CPU, that has not ended is missing: on a busy machine those of
    // some tens of milliseconds. Running and waiting, and both ends of the window: a period each
    // may be too much. Where the threads' own clocks cost too much, as on a busy machine, those of
    // the CPUs tick, and have one more beginning. Each time that a thread runs they tick as often
    // as periods begin meanwhile, by which a period is missing or too much, with a variance of at
    // most 1/4: five standard deviations.
    for (const char* thread : {"spin-0", "spin-1"}) {
        const double runs = switches[thread] - before.at(thread) + 1;
        EXPECT_GE(threads[thread], 1800) << text.substr(0, 2000);
        EXPECT_LE(threads[thread], 2005 + 5 * std::sqrt(runs / 4)) << runs;
    }
    // A share of n samples has a standard deviation of sqrt(share (1 - share) / n): five of them
    // are 0.1 of the thousands that two threads leave which have a CPU half of the time, and 0.23
    // of the hundred that are left where many others want it. None of the functions may be missing.
    const double cpu = functions["hot"] + functions["warm"] + functions["cold"];
    EXPECT_GE(cpu, 100);
    for (const auto& [function, share] :
         {std::pair{"hot", 0.7}, std::pair{"warm", 0.2}, std::pair{"cold", 0.1}}) {
        EXPECT_NEAR(functions[function] / cpu, share, 5 * std::sqrt(share * (1 - share) / cpu))
            << function;
        EXPECT_GT(functions[function], 0) << function;
    }
    expect_end(auger, before_);
}

TEST_F(ServicesTest, TheEnvironmentSaysWhereAndTheSocketGoes) {
    const TemporaryFolder folder;
    setenv("AUGER_SERVE", ("unix:" + folder.path("a-{PID}.sock")).c_str(), 1);
    Program auger(AUGER_BINARY, {"--batch", "-p", pid()});
    unsetenv("AUGER_SERVE");
    const std::string path = folder.path("a-" + pid() + ".sock");
    EXPECT_EQ(served_by(auger), "unix:" + path);
    EXPECT_TRUE(std::filesystem::is_socket(path));
    expect_end(auger, before_);
    EXPECT_FALSE(std::filesystem::exists(path));
}

// Any user of the machine, who finds the port and a socket that its owner has opened by mistake.
TEST_F(ServicesTest, OtherUsersGetNothing) {
    const TemporaryFolder folder;
    const std::string path = folder.path("s"), token = folder.path("token");
    Program auger(AUGER_BINARY, {"--batch", "--serve", "unix:" + path, "--serve",
                                 "127.0.0.1:0 token " + token, "-p", pid()});
    EXPECT_EQ(served_by(auger), "unix:" + path);
    const std::string url = served_by(auger);
    ASSERT_EQ(chmod(path.c_str(), 0666), 0);
    EXPECT_EQ(asked_by_nobody({"unix:" + path, url.substr(0, url.rfind('/'))}),
              (std::vector<int>{0, 401}));
    // What the user knows from the file.
    std::ifstream file(token);
    HttpClient client(url);
    file >> client.token;
    client.get("/status");
    ASSERT_TRUE(wait_until([&] { return client.closed(); }));
    ASSERT_EQ(client.status(), 200) << client.answer();
    const auto status = nlohmann::json::parse(client.body());
    EXPECT_EQ(status["clients"]["refused"].value("other user", 0), 1);
    EXPECT_EQ(status["clients"]["refused"].value("no token", 0), 1);
    EXPECT_EQ(status["clients"]["sampled"], 0);
    EXPECT_EQ(status["rate"], 0);
    expect_end(auger, before_);
}

// Nobody has a program sampled faster than its profile needs.
TEST_F(ServicesTest, ClientsHaveTheirMost) {
    Program auger(AUGER_BINARY, {"--batch", "--serve", "127.0.0.1:0", "-p", pid()});
    const std::string url = served_by(auger);
    HttpClient fast(url), long_one(url), good(url);
    fast.post("/sample", R"({"numberOfSamples":100,"timeInterval":"21 us"})");
    ASSERT_TRUE(wait_until([&] { return fast.closed(); }));
    EXPECT_EQ(fast.status(), 400);
    EXPECT_THAT(fast.body(), HasSubstr("999 Hz at most"));
    long_one.get("/debug/pprof/profile?seconds=601");
    ASSERT_TRUE(wait_until([&] { return long_one.closed(); }));
    EXPECT_EQ(long_one.status(), 400);
    EXPECT_THAT(long_one.body(), HasSubstr("up to 600"));
    good.post("/sample", R"({"numberOfSamples":200,"timeInterval":"1 ms"})");
    ASSERT_TRUE(wait_until([&] { return good.closed(); }));
    EXPECT_EQ(good.status(), 200);
    HttpClient after(url);
    after.get("/status");
    ASSERT_TRUE(wait_until([&] { return after.closed(); }));
    const auto status = nlohmann::json::parse(after.body());
    EXPECT_EQ(status["clients"]["answered"], 1);
    EXPECT_EQ(status["clients"]["refused"].value("wrong request", 0), 2);
    EXPECT_GE(status["clients"]["sampled"], 200'000'000);
    EXPECT_GT(status["clients"]["cpu"], 0);
    expect_end(auger, before_);
}

TEST_F(ServicesTest, GoToolPprofAsksForAProfile) {
    if (access("/usr/bin/go", X_OK) != 0)
        GTEST_SKIP() << "go is not installed (package golang-go)";
    Program auger(AUGER_BINARY, {"--batch", "--serve", "127.0.0.1:0", "-p", pid()});
    std::string url = served_by(auger); // .../?token=TOKEN
    url.replace(url.rfind("/?") + 1, 1, "debug/pprof/profile?seconds=1&");
    const TemporaryFolder folder;
    setenv("PPROF_TMPDIR", folder.path("").c_str(), 1);
    const Outcome top = run({"/usr/bin/go", "tool", "pprof", "-top", url});
    EXPECT_EQ(top.code, 0) << top.err;
    EXPECT_THAT(top.out, HasSubstr("Type: cpu"));
    EXPECT_THAT(top.out, HasSubstr(" hot\n"));
    expect_end(auger, before_);
}

// kill -9 at any moment, the real thing: files are whole or not there, nothing stays attached.
TEST_F(ServicesTest, ContinuousRecordingSurvivesAKill) {
    const TemporaryFolder folder;
    const std::string path = folder.path("profiles");
    Program auger(AUGER_BINARY,
                  {"--batch", "-p", pid(), "-e", "record " + path + " every 1s keep 3 html"});
    ASSERT_TRUE(wait_until([&] { return std::filesystem::exists(path + "/last_profile.html"); }));
    auger.signal(SIGKILL);
    EXPECT_EQ(auger.wait_exit(), 128 + SIGKILL);
    EXPECT_TRUE(BpfObjects::wait_nothing_left(before_)) << "left behind";
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
        std::ifstream file(entry.path());
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        EXPECT_TRUE(text.ends_with("</html>\n")) << entry.path();
        EXPECT_THAT(text, HasSubstr("\"hot\""));
        files++;
    }
    EXPECT_GE(files, 2u);
}

TEST_F(ServicesTest, TriggersWriteRecordingsThatCanBeRead) {
    const TemporaryFolder folder;
    Program auger(AUGER_BINARY,
                  {"--batch", "-p", pid(), "-e",
                   "sample 999; on slow hot > 1ms record last 2s in " + folder.path("f")});
    std::string path;
    ASSERT_TRUE(wait_until([&] {
        std::error_code none;
        for (const auto& entry : std::filesystem::directory_iterator(folder.path("f"), none))
            if (entry.path().extension() == ".auger")
                path = entry.path();
        return !path.empty();
    }));
    expect_end(auger, before_);
    const Outcome replayed =
        test::auger({"--batch", "--replay", path, "-e", "calls -n 1; flame; status"});
    EXPECT_EQ(replayed.code, 0) << replayed.err;
    EXPECT_THAT(replayed.out, HasSubstr("  hot  spin-"));
    EXPECT_THAT(replayed.out, HasSubstr("spin_slice"));
}

// What could not be written is told by the exit code, too.
TEST_F(ServicesTest, AFullDiskIsAFailure) {
    const TemporaryFolder folder;
    Surroundings full;
    full.prepare = [path = folder.path("")] {
        return unshare(CLONE_NEWNS) == 0 &&
               mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
               mount("none", path.c_str(), "tmpfs", 0, "size=4k") == 0 &&
               bool(std::ofstream(path + "everything") << std::string(4096, '.') << std::flush);
    };
    const Outcome intervals =
        test::auger({"--batch", "-p", pid(), "-e",
                     "sample 199; record " + folder.path("p") + " every 1s html; wait 1200ms"},
                    full);
    EXPECT_EQ(intervals.code, 1) << intervals.out << intervals.err;
    EXPECT_THAT(intervals.err, HasSubstr(" is not recorded: "));
    EXPECT_THAT(intervals.err, HasSubstr("were not recorded (the first: "));
    EXPECT_THAT(intervals.err, HasSubstr("No space left on device"));

    const Outcome trigger =
        test::auger({"--batch", "-p", pid(), "-e",
                     "sample 999; on slow hot > 1ms record last 2s in " + folder.path("f") +
                         "; wait until slow hot > 0; wait 100ms"},
                    full);
    EXPECT_EQ(trigger.code, 1) << trigger.out << trigger.err;
    EXPECT_THAT(trigger.err, HasSubstr("were not recorded (the first: "));
    EXPECT_THAT(trigger.err, HasSubstr("No space left on device"));
}

TEST_F(ServicesTest, QuitQuitsWhileServing) {
    const Outcome outcome = test::auger(
        {"--batch", "--serve", "127.0.0.1:0", "-p", pid(), "-e", "echo on; quit; echo not"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, testing::EndsWith("\non\n"));
}

} // namespace
} // namespace auger::test
