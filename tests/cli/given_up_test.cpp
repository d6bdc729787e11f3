// SPDX-License-Identifier: GPL-3.0-or-later
// What root gives up: what is left of its capabilities in each thread and process of auger, what
// works without them, and that commands which auger starts have lost nothing.
#include "loader/process/capabilities.h"
#include "tests/cli/invocation.h"
#include "tests/cli/live_auger.h"
#include "tests/support/children.h"
#include "tests/support/http_client.h"
#include "tests/support/process_rights.h"

#include <linux/capability.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

namespace auger::test {
namespace {

using testing::HasSubstr;

constexpr uid_t nobody = 65534;
constexpr uid_t reader_user = 2'147'418'222; // whom no account has

constexpr CapabilitySet always = capability(CAP_BPF) | capability(CAP_PERFMON) |
                                 capability(CAP_SYS_PTRACE) | capability(CAP_DAC_READ_SEARCH) |
                                 capability(CAP_CHECKPOINT_RESTORE) | capability(CAP_SYSLOG) |
                                 capability(CAP_LEASE) | capability(CAP_KILL);

bool as_by_sudo() {
    const std::string user = std::to_string(nobody);
    return setenv("SUDO_UID", user.c_str(), 1) == 0 && setenv("SUDO_GID", user.c_str(), 1) == 0;
}

class GivenUp : public LiveTest {
  protected:
    void SetUp() override {
        LiveTest::SetUp();
        if (!IsSkipped())
            own_ = rights_of(getpid());
        // Where the limit of nice cannot be raised instead.
        if (!(own_.permitted & capability(CAP_SYS_RESOURCE)))
            always_ |= own_.permitted & capability(CAP_SYS_NICE);
    }
    // A folder that only another user may write into.
    std::string folder_of_nobody() {
        EXPECT_EQ(chmod(folder_.path("").c_str(), 0755), 0);
        const std::string path = folder_.path("nobodys");
        std::filesystem::create_directory(path);
        EXPECT_EQ(chown(path.c_str(), nobody, nobody), 0);
        EXPECT_EQ(chmod(path.c_str(), 0700), 0);
        return path;
    }
    // The process of auger that has this name.
    static ProcessRights child(pid_t of, const std::string& name) {
        for (const pid_t pid : children_of(of))
            if (ProcessRights rights = rights_of(pid); rights.name == name)
                return rights;
        ADD_FAILURE() << "there is no " << name;
        return {};
    }
    ProcessRights own_; // of this test: root's
    CapabilitySet always_ = always;
};

TEST_F(GivenUp, EachThreadKeepsWhatTheTableSays) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    auger.run({"time serve", "sample 99", "serve unix:" + folder_.path("a.sock")});
    see_all(auger, shop);
    // What UserRights puts in force is not in force now.
    const CapabilitySet kept = always_ | capability(CAP_DAC_OVERRIDE);
    const std::map<std::string, CapabilitySet> of_thread{
        {"auger", kept},
        {"names", capability(CAP_DAC_READ_SEARCH) | capability(CAP_SYSLOG) | capability(CAP_KILL)},
        {"lines", capability(CAP_KILL)},
        {"tables", capability(CAP_KILL)},
        {"code", capability(CAP_DAC_READ_SEARCH) | capability(CAP_KILL)},
        {"leases", capability(CAP_LEASE)},
        {"memory", capability(CAP_SYS_PTRACE) | capability(CAP_DAC_READ_SEARCH) |
                       capability(CAP_CHECKPOINT_RESTORE)},
        {"closer", 0},
    };
    std::map<std::string, size_t> count;
    for (const auto& [tid, rights] : rights_of_threads(auger.pid())) {
        // The library gives its thread a name, or none.
        const auto expected = of_thread.find(rights.name);
        const bool http = expected == of_thread.end();
        count[http ? "http" : rights.name]++;
        const CapabilitySet permitted = http ? 0 : expected->second;
        EXPECT_EQ(rights.permitted, permitted) << rights.name;
        EXPECT_EQ(rights.effective, permitted & ~capability(CAP_DAC_OVERRIDE)) << rights.name;
        EXPECT_EQ(rights.inheritable, 0u) << rights.name;
        EXPECT_EQ(rights.ambient, 0u) << rights.name;
        EXPECT_EQ(rights.bounding, kept & own_.bounding) << rights.name;
        EXPECT_FALSE(rights.may_gain) << rights.name;
    }
    for (const char* name : {"auger", "names", "lines", "code", "leases", "closer", "http"})
        EXPECT_EQ(count[name], 1u) << name;
    EXPECT_EQ(count["tables"], 2u);
    EXPECT_GE(count["memory"], 1u); // another, where one has been waited for too long
}

TEST_F(GivenUp, EachHelperKeepsWhatItIsFor) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    auger.run({"time serve"});
    const ProcessRights launcher = child(auger.pid(), "auger-readers");
    EXPECT_EQ(launcher.permitted, capability(CAP_SETUID) | capability(CAP_SETGID) |
                                      capability(CAP_SYS_CHROOT) | capability(CAP_KILL));
    EXPECT_FALSE(launcher.may_gain);
    const ProcessRights links = child(auger.pid(), "auger-links");
    EXPECT_EQ(links.permitted, capability(CAP_BPF) | capability(CAP_PERFMON));
    EXPECT_FALSE(links.may_gain);
    // What it starts has all that it would have without auger.
    EXPECT_EQ(child(auger.pid(), "auger-starter").permitted, own_.permitted);
    size_t readers = 0;
    for (const pid_t pid : children_of(auger.pid()))
        for (const pid_t reader : children_of(pid)) {
            const ProcessRights rights = rights_of(reader);
            if (rights.name != "auger-code" && rights.name != "auger-names")
                continue;
            readers++;
            EXPECT_EQ(rights.permitted, 0u);
            EXPECT_EQ(rights.uid, reader_user);
            EXPECT_FALSE(rights.may_gain);
        }
    EXPECT_GT(readers, 0u);
}

// Where probes are perf events the kernel asks for more.
TEST_F(GivenUp, PerfEventsTakeOneMore) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid(), "--attach", "perf"});
    auger.run({"time serve"});
    EXPECT_EQ(rights_of(auger.pid()).permitted,
              always_ | capability(CAP_DAC_OVERRIDE) | capability(CAP_SYS_ADMIN));
    EXPECT_EQ(child(auger.pid(), "auger-links").permitted,
              capability(CAP_BPF) | capability(CAP_PERFMON) | capability(CAP_SYS_ADMIN));
    see_all(auger, shop);
    EXPECT_EQ(auger.ask("hist serve")["count"], shop.served());
}

// A launcher that was killed has what is left then: its readers are root without any power.
TEST_F(GivenUp, ReadersOfALaterLauncherHaveNothingEither) {
    Shop shop;
    LiveAuger auger({"-p", shop.pid()});
    for (const pid_t pid : children_of(auger.pid()))
        if (rights_of(pid).name == "auger-readers") {
            ASSERT_EQ(kill(pid, SIGKILL), 0);
        }
    auger.run({"time serve"});
    EXPECT_EQ(child(auger.pid(), "auger-readers").permitted, capability(CAP_KILL));
    size_t readers = 0;
    for (const pid_t pid : children_of(auger.pid()))
        for (const pid_t reader : children_of(pid)) {
            const ProcessRights rights = rights_of(reader);
            readers += rights.name == "auger-code";
            if (rights.name.starts_with("auger-") && rights.name != "auger-links") {
                EXPECT_EQ(rights.permitted, 0u) << rights.name;
            }
        }
    EXPECT_GT(readers, 0u);
    see_all(auger, shop);
    EXPECT_EQ(auger.ask("hist serve")["count"], shop.served());
}

TEST_F(GivenUp, ReplayKeepsWhatFilesTake) {
    const std::string recording = folder_.path("a.auger");
    {
        Shop shop;
        LiveAuger auger({"-p", shop.pid(), "--record", recording});
        auger.run({"time serve"});
        see_all(auger, shop);
    }
    LiveAuger auger({"--replay", recording});
    const ProcessRights rights = rights_of(auger.pid());
    EXPECT_EQ(rights.permitted, capability(CAP_DAC_READ_SEARCH) | capability(CAP_DAC_OVERRIDE) |
                                    capability(CAP_KILL));
    EXPECT_TRUE(children_of(auger.pid()).empty());
}

// "the target is never harmed": root's commands are root, at the beginning and later on.
TEST_F(GivenUp, CommandsHaveAllThatTheyWouldHave) {
    const std::string status = folder_.path("status");
    const std::string show = "cp /proc/self/status " + status;
    const auto expect_all = [&] {
        const ProcessRights rights = rights_in(text_of(status));
        EXPECT_EQ(rights.permitted, own_.permitted);
        EXPECT_EQ(rights.effective, own_.effective);
        EXPECT_EQ(rights.inheritable, own_.inheritable);
        EXPECT_EQ(rights.bounding, own_.bounding);
        EXPECT_EQ(rights.uid, 0u);
        EXPECT_EQ(rights.may_gain, own_.may_gain);
    };
    EXPECT_EQ(auger({"--batch", "-e", "sample 99", "--", "/bin/sh", "-c", show}).code, 0);
    expect_all();
    std::filesystem::remove(status);
    const std::string script = folder_.file("show", "#!/bin/sh\n" + show + "\n");
    ASSERT_EQ(chmod(script.c_str(), 0755), 0);
    EXPECT_EQ(auger({"--batch", "-e",
                     "target -- /bin/true; wait 10ms; target -- " + script +
                         "; wait until exited for 60s"})
                  .code,
              0);
    expect_all();
}

TEST_F(GivenUp, LimitsOfCommandsAreAsTheyWere) {
    const std::string limits = folder_.path("limits");
    EXPECT_EQ(
        auger({"--batch", "-e", "sample 99", "--", "/bin/cp", "/proc/self/limits", limits}).code,
        0);
    EXPECT_EQ(text_of(limits), text_of("/proc/self/limits"));
}

TEST_F(GivenUp, UnderSudoCommandsAndTheirStarterAreTheUsers) {
    const std::string status = folder_.path("status");
    ASSERT_EQ(chmod(folder_.path("").c_str(), 0777), 0);
    const Outcome outcome =
        auger({"--batch", "-e", "sample 99", "--", "/bin/sh", "-c",
               "cp /proc/self/status " + status +
                   "; cat /proc/$PPID/status; for one in $(cat "
                   "/proc/$PPID/task/$PPID/children); do cat /proc/$one/status; done"},
              {.prepare = as_by_sudo});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const ProcessRights command = rights_in(text_of(status));
    EXPECT_EQ(command.uid, nobody);
    EXPECT_EQ(command.permitted, 0u);
    EXPECT_EQ(command.bounding, own_.bounding); // for sudo, among others
    EXPECT_EQ(command.may_gain, own_.may_gain);
    // Of auger, then of its children, as they say to everybody.
    const std::vector<std::string> each = [&] {
        std::vector<std::string> parts;
        for (size_t at = outcome.out.find("Name:"), next; at != outcome.out.npos; at = next) {
            next = outcome.out.find("\nName:", at + 1);
            next += next != outcome.out.npos;
            parts.push_back(outcome.out.substr(at, next - at));
        }
        return parts;
    }();
    ASSERT_GE(each.size(), 2u) << outcome.out;
    EXPECT_EQ(rights_in(each[0]).permitted,
              always_ | capability(CAP_SETUID) | capability(CAP_SETGID));
    EXPECT_EQ(rights_in(each[0]).effective, always_);
    size_t starters = 0;
    for (const std::string& one : each) {
        const ProcessRights rights = rights_in(one);
        if (rights.name != "auger-starter")
            continue;
        starters++;
        EXPECT_EQ(rights.uid, nobody);
        EXPECT_EQ(rights.permitted, 0u);
    }
    EXPECT_EQ(starters, 1u);
}

// Root writes where it likes, though auger is without that power while it does anything else.
TEST_F(GivenUp, RootStillWritesIntoAnybodysFolders) {
    const std::string folder = folder_of_nobody();
    Shop shop;
    LiveAuger auger({"-p", shop.pid(), "--record", folder + "/a.auger"});
    auger.run({"time serve", "sample 4999", "serve unix:" + folder + "/a.sock",
               "record " + folder + " every 1s keep 2 collapsed"});
    EXPECT_TRUE(HttpClient("unix:" + folder + "/a.sock").connected());
    see_all(auger, shop);
    auger.run({"save " + folder + "/a.html", "serve off"});
    EXPECT_THAT(text_of(folder + "/a.html"), HasSubstr("\"search\""));
    EXPECT_FALSE(std::filesystem::exists(folder + "/a.sock"));
    EXPECT_TRUE(wait_until([&] {
        auger.run({"wait 100ms"});
        const auto files = std::filesystem::directory_iterator(folder);
        return std::any_of(begin(files), end(files),
                           [](const auto& file) { return file.path().extension() == ".folded"; });
    })) << auger.ask("record").dump();
}

// One list, for who reads it and for the program.
TEST_F(GivenUp, IsWhatTheSecurityPageSays) {
    const std::string page = text_of(AUGER_SOURCE_DIR "/SECURITY.md");
    const size_t begin = page.find("## What auger keeps");
    ASSERT_NE(begin, page.npos);
    const std::string section = page.substr(begin, page.find("\n## ", begin + 1) - begin);
    std::set<std::string> of_page, of_table;
    static const std::regex row("\\n\\| `(CAP_[A-Z_]+)`( and `(CAP_[A-Z_]+)`)? \\|");
    for (std::sregex_iterator it(section.begin(), section.end(), row), end; it != end; ++it)
        for (const size_t group : {1, 3})
            if ((*it)[group].matched)
                of_page.insert((*it)[group]);
    for (const CapabilityUse& use : capability_uses())
        of_table.insert(use.name);
    EXPECT_EQ(of_page, of_table);
}

} // namespace
} // namespace auger::test
