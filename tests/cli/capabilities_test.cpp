// SPDX-License-Identifier: GPL-3.0-or-later
// Without being root: with the capabilities that `doctor` and the README name, and no others, all
// of a session works on another user's process.
#include "tests/cli/invocation.h"
#include "tests/cli/rights.h"
#include "tests/kernel/program.h"
#include "tests/support/bpf_objects.h"
#include "tests/support/kernel_test.h"
#include "tests/support/process_rights.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace auger::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Capabilities : public KernelTest {
  protected:
    TemporaryFolder folder_;
};

TEST_F(Capabilities, ThatAreDocumentedAreEnoughForAWholeSession) {
    const std::set<std::string> names = documented_capabilities();
    EXPECT_GE(names.size(), 3u);
    Program demo("demo_service", {"--seconds", "300"});
    demo.wait_ready();
    const auto prepare = [&] { return become_nobody_with(names); };
    const Outcome doctor = auger({"--json", "--batch", "-e", "doctor"}, {.prepare = prepare});
    const nlohmann::json lines = json_lines(doctor.out).at(0).at("capabilities");
    for (const char* what : {"privilege", "other users' processes", "other users' files",
                             "names in the kernel", "replaced files", "probes"}) {
        std::string state = "not said";
        for (const auto& one : lines)
            if (one.at("name") == what)
                state = one.at("state");
        EXPECT_EQ(state, "yes") << what;
    }

    const std::string recording = folder_.path("nobody.auger");
    ASSERT_EQ(chmod(folder_.path("").c_str(), 0777), 0);
    const Outcome outcome = auger(
        {"--batch", "-p", std::to_string(demo.pid()), "-e",
         "sample wall 499; time handle_request; split handle_request > p95;"
         "split handle_request at quota.cpp:60; slow fetch_quota > 8ms show account;"
         "record " +
             recording +
             ";"
             "wait until calls handle_request >= 1000 for 50s;"
             "wait until slow fetch_quota >= 1 for 50s;"
             "open; flame --folded; calls fetch_quota -n 1; status;"
             "save " +
             folder_.path("a.html") + "; save " + folder_.path("a.pb.gz") +
             ";"
             "assert lost == 0; assert taken handle_request > 0; assert share handle_request > 0%"},
        {.prepare = prepare});
    EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
    EXPECT_EQ(without_overhead(outcome.err), "");
    EXPECT_THAT(outcome.out, HasSubstr("handle_request"));
    EXPECT_THAT(outcome.out, HasSubstr("account="));
    EXPECT_THAT(outcome.out, HasSubstr(";do_syscall_64")); // the kernel has its names
    EXPECT_THAT(outcome.out, HasSubstr("quota.cpp:"));     // and the program its lines
    EXPECT_THAT(outcome.out, HasSubstr("recvfrom("));      // what it waits for
    struct stat status = {};
    EXPECT_EQ(stat(recording.c_str(), &status), 0);
    for (const char* file : {"a.html", "a.pb.gz"})
        EXPECT_EQ(stat(folder_.path(file).c_str(), &status), 0) << file;
    demo.signal(SIGTERM);
    EXPECT_EQ(demo.wait_exit(), 0);
}

// As with setcap(8), by somebody who has nothing: the kernel gives them to the program. What it
// starts has none of them, and may gain others (sudo).
TEST_F(Capabilities, OfTheFileAreEnough) {
    namespace fs = std::filesystem;
    const fs::path built(AUGER_BINARY);
    const std::string program = folder_.path("auger");
    fs::copy_file(built, program);
    fs::copy_file(built.parent_path() / "auger-reader", folder_.path("auger-reader"));
    ASSERT_EQ(chmod(folder_.path("").c_str(), 0755), 0);
    vfs_cap_data data{};
    data.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
    const uint64_t wanted = bits_of(documented_capabilities());
    for (unsigned half = 0; half < 2; half++)
        data.data[half].permitted = static_cast<uint32_t>(wanted >> 32 * half);
    ASSERT_EQ(setxattr(program.c_str(), "security.capability", &data, sizeof data, 0), 0);
    Program demo("demo_service", {"--seconds", "300"});
    demo.wait_ready();
    const BpfObjects before = BpfObjects::existing();
    const Outcome outcome =
        run({program, "--batch", "-p", std::to_string(demo.pid()), "-e",
             "sample wall 499; time handle_request;"
             "wait until calls handle_request >= 300 for 50s; flame --folded; open;"
             "assert share handle_request > 0%; target -- /bin/cat /proc/self/status; wait 1h"},
            {.prepare = become_nobody});
    EXPECT_TRUE(BpfObjects::wait_nothing_left(before)) << "left behind";
    EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr(";handle_request"));
    EXPECT_THAT(outcome.out, HasSubstr(";do_syscall_64"));
    const ProcessRights command = rights_in(outcome.out.substr(outcome.out.find("Name:\tcat")));
    EXPECT_EQ(command.permitted, 0u);
    EXPECT_EQ(command.bounding, rights_of(getpid()).bounding);
    EXPECT_TRUE(command.may_gain);
    demo.signal(SIGTERM);
    EXPECT_EQ(demo.wait_exit(), 0);
}

TEST_F(Capabilities, OfTheReadmeAreThoseOfDoctor) {
    std::ifstream file(AUGER_SOURCE_DIR "/README.md");
    const std::string readme{std::istreambuf_iterator<char>(file), {}};
    std::set<std::string> of_readme;
    static const std::regex name("CAP_[A-Z_]+");
    for (std::sregex_iterator it(readme.begin(), readme.end(), name), end; it != end; ++it) {
        std::string text = it->str();
        for (char& c : text)
            c = static_cast<char>(std::tolower(c));
        of_readme.insert(text);
    }
    EXPECT_EQ(of_readme, documented_capabilities());
}

// Without one of them, what it is for is missed by name, never silently.
TEST_F(Capabilities, ThatAreMissingAreNamed) {
    Program demo("demo_service", {"--seconds", "300"});
    demo.wait_ready();
    const std::set<std::string> names = documented_capabilities();
    for (const std::string& without : names) {
        SCOPED_TRACE(without);
        std::set<std::string> rest = names;
        rest.erase(without);
        const auto prepare = [&] { return become_nobody_with(rest); };
        const Outcome doctor = auger({"--batch", "-e", "doctor"}, {.prepare = prepare});
        std::string upper;
        for (const char c : without)
            upper += static_cast<char>(std::toupper(c));
        EXPECT_THAT(doctor.out, HasSubstr(upper));
        // What it is for says so, too, where it fails for want of it.
        if (without == "cap_bpf" || without == "cap_perfmon") {
            const Outcome outcome =
                auger({"--batch", "-p", std::to_string(demo.pid()), "-e", "sample wall"},
                      {.prepare = prepare});
            EXPECT_EQ(outcome.code, 3);
            EXPECT_THAT(outcome.err, HasSubstr("for want of " + upper));
        } else if (without == "cap_sys_ptrace") {
            const Outcome outcome =
                auger({"--batch", "-p", std::to_string(demo.pid()), "-e", "time handle_request"},
                      {.prepare = prepare});
            // Where CAP_PERFMON is enough to read mappings (Linux 6.15 or so) it is found.
            if (outcome.code != 0) {
                EXPECT_THAT(outcome.err,
                            HasSubstr(upper + " is missing, for other users' processes"));
            }
        }
    }
}

} // namespace
} // namespace auger::test
