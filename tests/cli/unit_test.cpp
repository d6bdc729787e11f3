// SPDX-License-Identifier: GPL-3.0-or-later
// The systemd unit: what it runs works with the capabilities, system calls and sockets that it
// allows, on this kernel. (systemd itself runs it in tests/qemu/run_unit.)
#include "tests/cli/invocation.h"
#include "tests/cli/rights.h"
#include "tests/kernel/program.h"
#include "tests/support/kernel_test.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <set>
#include <sstream>

namespace auger::test {
namespace {

using testing::HasSubstr;

constexpr const char* analyze = "/usr/bin/systemd-analyze";

class Unit : public KernelTest {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        std::ifstream file(AUGER_SOURCE_DIR "/packaging/auger-record@.service");
        std::string line, whole;
        while (std::getline(file, line)) {
            whole += line.substr(0, line.find_last_not_of('\\') + 1);
            if (line.ends_with('\\'))
                continue;
            const size_t equals = whole.find('=');
            if (!whole.starts_with('#') && equals != whole.npos)
                settings_.emplace(whole.substr(0, equals), whole.substr(equals + 1));
            whole.clear();
        }
    }
    // The words of all lines of the name.
    std::vector<std::string> words(const std::string& name) const {
        std::vector<std::string> all;
        for (auto [at, end] = settings_.equal_range(name); at != end; ++at) {
            std::istringstream text(at->second);
            for (std::string word; text >> word;)
                all.push_back(word);
        }
        return all;
    }
    // System calls of a group, as systemd knows it.
    static std::set<std::string> calls_of(const std::string& group) {
        std::set<std::string> calls;
        const Outcome outcome = run({analyze, "syscall-filter", "--no-pager", group});
        std::istringstream text(outcome.out);
        for (std::string line; std::getline(text, line);) {
            line.erase(0, line.find_first_not_of(' '));
            if (line.empty() || line.starts_with('#') || line == group)
                continue;
            if (line.starts_with('@'))
                calls.merge(calls_of(line));
            else
                calls.insert(line);
        }
        return calls;
    }
    std::set<std::string> allowed_calls() const {
        std::set<std::string> calls = calls_of("@default");
        for (const std::string& word : words("SystemCallFilter"))
            if (word.starts_with('@'))
                calls.merge(calls_of(word));
            else
                calls.insert(word);
        return calls;
    }
    // ExecStart, with its folders below `folder`.
    std::vector<std::string> command(const std::string& name, const std::string& folder) const {
        std::string text = settings_.find("ExecStart")->second;
        const auto replace = [&](const std::string& from, const std::string& to) {
            for (size_t at; (at = text.find(from)) != text.npos;)
                text.replace(at, from.size(), to);
        };
        replace("/var/lib/auger", folder + "/state");
        replace("/run/auger", folder + "/run");
        replace("every 60s", "every 1s");
        replace("%i", name);
        std::vector<std::string> arguments;
        std::istringstream words(text);
        for (std::string word; words >> std::quoted(word);)
            arguments.push_back(word);
        arguments.erase(arguments.begin()); // the program
        return arguments;
    }

    std::multimap<std::string, std::string> settings_;
    TemporaryFolder folder_;
};

bool allow_only(const std::set<std::string>& calls) {
    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    bool made = filter != nullptr;
    for (const std::string& name : calls) {
        const int call = seccomp_syscall_resolve_name(name.c_str());
        if (call < 0)
            continue;
        // RestrictAddressFamilies=AF_UNIX; MemoryDenyWriteExecute=yes.
        if (call == SCMP_SYS(socket))
            made = made && seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
                                            SCMP_A0(SCMP_CMP_EQ, AF_UNIX)) == 0;
        else if (call == SCMP_SYS(mprotect))
            made = made && seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1,
                                            SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)) == 0;
        else
            made = made && seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0) == 0;
    }
    made = made && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return made;
}

TEST_F(Unit, AllowsWhatItRuns) {
    if (access(analyze, X_OK) != 0)
        GTEST_SKIP() << "systemd-analyze is not installed";
    Program demo("demo_service", {"--seconds", "300"});
    demo.wait_ready();
    ASSERT_EQ(chmod(folder_.path("").c_str(), 0777), 0);
    for (const char* folder : {"state", "run"}) {
        std::filesystem::create_directory(folder_.path(folder));
        ASSERT_EQ(chmod(folder_.path(folder).c_str(), 0777), 0);
    }
    std::set<std::string> capabilities;
    for (std::string name : words("AmbientCapabilities")) {
        for (char& c : name)
            c = static_cast<char>(std::tolower(c));
        capabilities.insert(name);
    }
    EXPECT_EQ(capabilities, documented_capabilities());
    const std::set<std::string> calls = allowed_calls();
    EXPECT_GT(calls.size(), 100u);
    EXPECT_EQ(words("RestrictAddressFamilies"), std::vector<std::string>{"AF_UNIX"});

    std::vector<std::string> arguments = command("demo_service", folder_.path(""));
    for (const char* more : {"-e", "time handle_request", "-e", "sample wall 99", "-e",
                             "wait until calls handle_request >= 300 for 50s", "-e", "wait 3s",
                             "-e", "status", "-e", "flame --folded", "-e", "quit"})
        arguments.emplace_back(more);
    const Outcome outcome =
        auger(arguments,
              {.prepare = [&] { return become_nobody_with(capabilities) && allow_only(calls); }});
    EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
    EXPECT_EQ(without_overhead(outcome.err), "");
    EXPECT_THAT(outcome.out, HasSubstr(";handle_request"));
    EXPECT_THAT(outcome.out, HasSubstr(";do_syscall_64")); // the kernel's names
    size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path("state")))
        files += entry.is_regular_file();
    EXPECT_GE(files, 3u); // one a format
    demo.signal(SIGTERM);
    EXPECT_EQ(demo.wait_exit(), 0);
}

} // namespace
} // namespace auger::test
