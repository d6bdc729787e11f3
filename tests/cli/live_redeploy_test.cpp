// SPDX-License-Identifier: GPL-3.0-or-later
// A program's file is written in place while auger, which has probes on it, is stopped.
#include "loader/process/proc_info.h"
#include "tests/cli/live_auger.h"
#include "tests/support/run.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>

namespace auger::test {
namespace {

class LiveRedeploy : public LiveTest {};

// Nobody but auger can take its probes off, and the kernel waits for that for 45 s only.
TEST_F(LiveRedeploy, WhoIsStoppedGoesOnForWhoWrites) {
    TemporaryFolder folder;
    const std::string name = "aug" + std::to_string(getpid()), app = folder.path(name);
    const auto deploy = [&](const char* version) {
        ASSERT_EQ(run({"/bin/cp", program_path(version), app}).code, 0);
    };
    const auto is_stopped = [](pid_t pid) {
        const auto now = read_stat(pid);
        return now && now->state == 'T';
    };
    deploy("redeployed_old");
    Program first(app, {"--wait"});
    first.wait_ready();
    LiveAuger auger({"-n", name});
    auger.run({"time step_*"});
    first.go();
    EXPECT_TRUE(first.account()["ok"].get<bool>());
    EXPECT_EQ(first.wait_exit(), 0);

    ASSERT_EQ(kill(auger.pid(), SIGSTOP), 0);
    ASSERT_TRUE(wait_until([&] { return is_stopped(auger.pid()); }));
    deploy("redeployed_new");
    Program second(app, {"--calls", "20"});
    const json truth = second.account();
    EXPECT_TRUE(truth["ok"].get<bool>()) << truth;
    EXPECT_EQ(second.wait_exit(), 0);
    EXPECT_FALSE(is_stopped(auger.pid()));
    EXPECT_TRUE(wait_until([&] {
        auger.run({"wait 100ms"});
        return std::ranges::any_of(auger.notices, [](const std::string& notice) {
            return notice.find("was opened for writing") != notice.npos;
        });
    }));
}

} // namespace
} // namespace auger::test
