// SPDX-License-Identifier: GPL-3.0-or-later
// A process that moves to another control group and then executes its program, as who starts a
// container or a service does: samples from then on are the new group's.
#include "tests/kernel/control_group.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <csignal>
#include <string>

namespace auger::test {
namespace {

class MovedProcess : public KernelTest {};

TEST_F(MovedProcess, IsInTheGroupInWhichItExecutesItsProgram) {
    ControlGroup group;
    if (!group.made())
        GTEST_SKIP() << "no control groups of version 2 can be made here";
    const char* const script =
        "echo ready $$; read line; while [ $((i += 1)) -lt 200000 ]; do :; done; read line; "
        "exec \"$0\" --threads 1 --load 20";
    Program program("/bin/sh", {"-c", script, program_path("spinner")});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    session.sample(999);
    program.go();
    const auto sampled = [&](const std::string& comm, const std::string& cgroup) {
        const SampleStore& samples = session.model().samples();
        for (size_t i = 0; i < samples.size(); i++) {
            const ThreadInfo& thread = session.model().symbols().thread(samples.threads()[i]);
            if (thread.comm == comm && (cgroup.empty() || thread.cgroup == cgroup))
                return true;
        }
        return false;
    };
    ASSERT_TRUE(session.pump_until([&] { return sampled("sh", ""); }));
    group.move_here(program.pid());
    program.go();
    EXPECT_TRUE(session.pump_until([&] { return sampled("spinner", group.name()); }));
    program.signal(SIGTERM);
    session.pump_to_end();
    program.wait_exit();
}

} // namespace
} // namespace auger::test
