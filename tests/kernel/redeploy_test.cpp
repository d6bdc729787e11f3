// SPDX-License-Identifier: GPL-3.0-or-later
// Files that get other content in place (`cp new old`) while they are probed: the probes are gone
// before the first byte is written, and the new content gets its own.
#include "loader/base/fd.h"
#include "loader/process/capabilities.h"
#include "loader/process/proc_maps.h"
#include "tests/kernel/program.h"
#include "tests/kernel/ways.h"
#include "tests/support/wait.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace auger::test {
namespace {

namespace fs = std::filesystem;

// A folder of its own, gone with the test.
class Folder {
  public:
    Folder() {
        std::string path = (fs::temp_directory_path() / "auger-test-XXXXXX").string();
        if (!mkdtemp(path.data()))
            throw std::runtime_error("no temporary folder");
        path_ = path;
    }
    ~Folder() { fs::remove_all(path_); }
    fs::path path() const { return path_; }

  private:
    fs::path path_;
};

// As a user does it: the same file, truncated and written.
void copy_over(const fs::path& from, const fs::path& to) {
    const pid_t child = fork();
    if (child == 0) {
        execlp("cp", "cp", from.c_str(), to.c_str(), nullptr);
        _exit(127);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

class Redeployed : public WaysTest<std::tuple<LiveOptions::Attach, WayOut>> {
  protected:
    // A name that fits into a process's.
    const std::string name_ = "aug" + std::to_string(getpid());
    Folder folder_;
    const fs::path app_ = folder_.path() / name_;

    // A copy in a file of its own, then `app_` is written in place.
    void deploy(const std::string& version) { copy_over(program_path(version), app_); }
};

// The probes stand on the file, though no process of it runs.
TEST_P(Redeployed, ComputesWhatItComputesWithoutProbes) {
    const auto& [attach, way_out] = GetParam();
    deploy("redeployed_old");
    auto first = std::make_unique<Program>(app_, std::vector<std::string>{"--wait"});
    first->wait_ready();
    Session session({attach});
    TargetSpec target;
    target.kind = TargetSpec::Kind::name;
    target.name = name_;
    session.observe(target);
    must(session.backend().set_way_out(way_out));
    const ProbeId probe = session.time("step_*");
    const size_t functions = session.report.places.size();
    ASSERT_EQ(functions, 6u);
    first->go();
    uint64_t expected = first->account()["calls"].get<uint64_t>();
    EXPECT_EQ(first->wait_exit(), 0);
    ASSERT_TRUE(session.pump_until([&] { return session.calls(probe).returns >= expected; }));

    for (int round = 0; round < 10; round++) {
        SCOPED_TRACE(round);
        deploy(round % 2 ? "redeployed_old" : "redeployed_new");
        // At once, without giving the observer time to do anything.
        Program app(app_, {"--calls", "20"});
        const nlohmann::json truth = app.account();
        EXPECT_TRUE(truth["ok"].get<bool>()) << truth;
        EXPECT_EQ(app.wait_exit(), 0);
        // One that runs for longer is timed, with the places that its functions have now.
        Program timed(app_, {"--wait"});
        timed.wait_ready();
        const size_t specs = functions * static_cast<size_t>(round + 2);
        ASSERT_TRUE(session.pump_until(
            [&] { return session.model().find_probe(probe)->specs.size() >= specs; }));
        const Calls before = session.calls(probe);
        timed.go();
        const nlohmann::json account = timed.account();
        EXPECT_TRUE(account["ok"].get<bool>()) << account;
        EXPECT_EQ(timed.wait_exit(), 0);
        const uint64_t calls = account["calls"].get<uint64_t>();
        ASSERT_TRUE(session.pump_until(
            [&] { return session.calls(probe).returns >= before.returns + calls; }));
        EXPECT_EQ(session.calls(probe).entries, before.entries + calls);
        EXPECT_TRUE(session.calls(probe).add_up());
    }
    EXPECT_TRUE(session.noticed(app_.string() + ": was opened for writing"));
}

INSTANTIATE_TEST_SUITE_P(Ways, Redeployed,
                         testing::Values(std::tuple{LiveOptions::Attach::multi, WayOut::ret},
                                         std::tuple{LiveOptions::Attach::multi, WayOut::cheap},
                                         std::tuple{LiveOptions::Attach::multi, WayOut::trampoline},
                                         std::tuple{LiveOptions::Attach::perf, WayOut::ret}),
                         ways_name);

// A library of the test's own, mapped by a program that waits to call it.
class RewrittenLibrary : public KernelTest {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (IsSkipped())
            return;
        for (const char* name : {"late_library", "liblate_work.so"})
            fs::copy_file(program_path(name), folder_.path() / name);
        program_ =
            std::make_unique<Program>((folder_.path() / "late_library").string(),
                                      std::vector<std::string>{"--calls", "1", "--step", "--wait"});
        program_->wait_ready();
        program_->go();
        ASSERT_TRUE(program_->read_line().starts_with("loaded "));
    }
    int open_for_writing() { return open(library_.c_str(), O_RDWR | O_CLOEXEC); }
    // Lets it make its calls, which must all be right.
    void finish() {
        program_->go();
        const nlohmann::json truth = program_->account();
        EXPECT_TRUE(truth["ok"].get<bool>()) << truth;
        EXPECT_EQ(program_->wait_exit(), 0);
    }

    Folder folder_;
    const fs::path library_ = folder_.path() / "liblate_work.so";
    std::unique_ptr<Program> program_;
};

TEST_F(RewrittenLibrary, IsNotProbedWhileSomebodyHasItOpenForWriting) {
    Session session;
    session.observe(program_->pid());
    const int writer = open_for_writing();
    ASSERT_GE(writer, 0);
    const auto refused = session.try_time("liblate_work:late_work");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("open for writing"), std::string::npos);
    close(writer);
    const ProbeId probe = session.time("liblate_work:late_work");
    finish();
    session.pump_to_end();
    EXPECT_EQ(session.calls(probe).returns, 100u);
}

// Opening alone takes the probes off; when nothing was written, they come back.
TEST_F(RewrittenLibrary, IsProbedAgainWhenNothingWasWritten) {
    Session session;
    session.observe(program_->pid());
    const ProbeId probe = session.time("liblate_work:late_work");
    const int writer = open_for_writing();
    ASSERT_GE(writer, 0);
    ASSERT_TRUE(session.pump_until([&] { return session.noticed("was opened for writing"); }));
    close(writer);
    ASSERT_TRUE(
        session.pump_until([&] { return session.model().find_probe(probe)->specs.size() == 2; }));
    finish();
    session.pump_to_end();
    EXPECT_EQ(session.calls(probe).returns, 100u);
    EXPECT_EQ(session.calls(probe).entries, 100u);
}

// Another user's file, without the right to lease it: nobody who writes waits, so the probes are
// off some time after he has begun, and the report says so beforehand.
class UnleasedLibrary : public RewrittenLibrary {
  protected:
    void SetUp() override {
        RewrittenLibrary::SetUp();
        if (IsSkipped())
            return;
        constexpr uid_t somebody = 65533;
        ASSERT_EQ(chown(library_.c_str(), somebody, somebody), 0);
        before_ = effective_capabilities();
        ASSERT_TRUE(set_effective_capabilities(before_ & ~capability(CAP_LEASE)));
    }
    void TearDown() override {
        if (before_) {
            EXPECT_TRUE(set_effective_capabilities(before_));
        }
    }
    // How many breakpoints stand where the process has the probed functions mapped.
    size_t breakpoints(const Session& session) const {
        size_t found = 0;
        const UniqueFd memory(
            open(fmt::format("/proc/{}/mem", program_->pid()).c_str(), O_RDONLY | O_CLOEXEC)),
            file(open(library_.c_str(), O_RDONLY | O_CLOEXEC));
        for (const Mapping& mapping : must(read_maps(program_->pid()))) {
            if (!mapping.executable || mapping.path != library_)
                continue;
            for (const ProbePlace& place : session.report.places) {
                char in_memory = 0, in_file = 0;
                const uint64_t address = mapping.start + place.offset - mapping.offset;
                EXPECT_EQ(pread(memory.get(), &in_memory, 1, static_cast<off_t>(address)), 1);
                EXPECT_EQ(pread(file.get(), &in_file, 1, static_cast<off_t>(place.offset)), 1);
                found += in_memory != in_file;
            }
        }
        return found;
    }

    CapabilitySet before_ = 0;
};

TEST_F(UnleasedLibrary, IsWatchedForWhatIsWrittenIntoIt) {
    Session session;
    session.observe(program_->pid());
    const ProbeId probe = session.time("liblate_work:late_work");
    const auto& notes = session.report.notes;
    EXPECT_TRUE(std::ranges::any_of(notes, [&](const std::string& note) {
        return note.starts_with(library_.string() + " cannot be leased (CAP_LEASE");
    })) << testing::PrintToString(notes);
    EXPECT_EQ(breakpoints(session), 1u);

    // To open it is no reason; nobody waits for anybody.
    const UniqueFd writer(open_for_writing());
    ASSERT_TRUE(writer);
    // What is in it already: the program computes what it did.
    char byte = 0;
    const auto offset = static_cast<off_t>(session.report.places.at(0).offset);
    ASSERT_EQ(pread(writer.get(), &byte, 1, offset), 1);
    ASSERT_EQ(pwrite(writer.get(), &byte, 1, offset), 1);
    EXPECT_TRUE(wait_until([&] { return breakpoints(session) == 0; }));
    ASSERT_TRUE(session.pump_until(
        [&] { return session.noticed(library_.string() + ": was opened for writing"); }));
    // The file is mapped as it is now, so it is probed again.
    ASSERT_TRUE(
        session.pump_until([&] { return session.model().find_probe(probe)->specs.size() == 2; }));
    finish();
    session.pump_to_end();
    EXPECT_EQ(session.calls(probe).entries, 100u);
    EXPECT_EQ(session.calls(probe).returns, 100u);
}

// A page that the process has to itself keeps what was in the file before.
TEST_F(RewrittenLibrary, IsNotProbedWhereAProcessStillRunsWhatItHeld) {
    Session session;
    session.observe(program_->pid());
    const ProbeId probe = session.time("liblate_work:late_work");
    const auto offset = static_cast<off_t>(session.report.places.at(0).offset);
    const int writer = open_for_writing();
    ASSERT_GE(writer, 0);

    const auto maps = must(read_maps(program_->pid()));
    uint64_t address = 0;
    for (const Mapping& mapping : maps) {
        if (mapping.executable && mapping.path == library_)
            address = mapping.start + static_cast<uint64_t>(offset) - mapping.offset;
    }
    ASSERT_NE(address, 0u);
    const int memory =
        open(("/proc/" + std::to_string(program_->pid()) + "/mem").c_str(), O_RDWR | O_CLOEXEC);
    char byte = 0;
    ASSERT_EQ(pread(memory, &byte, 1, static_cast<off_t>(address)), 1);
    char in_file = 0;
    ASSERT_EQ(pread(writer, &in_file, 1, offset), 1);
    EXPECT_EQ(byte, in_file) << "a probe is still there";
    ASSERT_EQ(pwrite(memory, &byte, 1, static_cast<off_t>(address)), 1); // a page of its own
    close(memory);
    byte = '\x90';
    ASSERT_EQ(pwrite(writer, &byte, 1, offset), 1);
    close(writer);
    EXPECT_TRUE(
        session.pump_until([&] { return session.noticed("still runs what the file held"); }));
    EXPECT_EQ(session.model().find_probe(probe)->specs.size(), 1u);
    finish();
    session.pump_to_end();
    EXPECT_EQ(session.calls(probe).returns, 0u);
}

} // namespace
} // namespace auger::test
