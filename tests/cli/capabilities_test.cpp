// SPDX-License-Identifier: GPL-3.0-or-later
// Without being root: with the capabilities that `doctor` and the README name, and no others, all
// of a session works on another user's process.
#include "tests/cli/invocation.h"
#include "tests/cli/rights.h"
#include "tests/kernel/program.h"
#include "tests/support/kernel_test.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

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
    for (const char* what : {"privilege", "other users' processes", "names in the kernel",
                             "replaced files", "probes"}) {
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
             "assert lost == 0; assert taken handle_request > 0; assert share handle_request > 0%"},
        {.prepare = prepare});
    EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, HasSubstr("handle_request"));
    EXPECT_THAT(outcome.out, HasSubstr("account="));
    EXPECT_THAT(outcome.out, HasSubstr(";do_syscall_64")); // the kernel has its names
    EXPECT_THAT(outcome.out, HasSubstr("quota.cpp:"));     // and the program its lines
    EXPECT_THAT(outcome.out, HasSubstr("recvfrom("));      // what it waits for
    struct stat status = {};
    EXPECT_EQ(stat(recording.c_str(), &status), 0);
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
    }
}

} // namespace
} // namespace auger::test
