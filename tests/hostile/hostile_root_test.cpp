// SPDX-License-Identifier: GPL-3.0-or-later
// A user has a root of his own, as anybody may in a user namespace, maps there what another user
// runs, and brings along a debug file with its build id.
#include "loader/reader/elf/elf_file.h"
#include "loader/process/safe_open.h"
#include "tests/hostile/hostile_session.h"
#include "tests/support/run.h"

#include <fmt/format.h>

#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace auger::test {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::Not;

std::shared_ptr<const ElfFile> open_elf(const std::string& path) {
    auto fd = open_regular(path);
    auto file = fd ? ElfFile::open(*std::move(fd), path) : fd.error();
    if (!file)
        throw std::runtime_error(file.error().message());
    return *file;
}

class HostileRoot : public Hostile {
  protected:
    static constexpr const char* service = "demo_service_stripped";

    // One file by two names; its debug file beside it.
    void SetUp() override {
        Hostile::SetUp();
        if (IsSkipped())
            return;
        fs::copy_file(program_path(service), victim_);
        fs::create_hard_link(victim_, folder_.path("evil"));
        fs::copy_file(program_path(service) + ".debug",
                      folder_.path(std::string(service) + ".debug"));
        fs::create_directory(root_);
        make_debug_file();
        own(root_);
    }
    std::string script() const {
        return fmt::format("set -e; cd {0}; mkdir usr proc dev; for d in lib lib64 bin; do "
                           "[ -L /$d ] && cp -P /$d $d || {{ mkdir $d; mount --bind /$d $d; }}; "
                           "done; mount --bind /usr usr; : > evil-root; "
                           "mount --bind {1} evil-root; "
                           "exec chroot . /evil-root --seconds 300 --wait",
                           root_, folder_.path("evil"));
    }
    std::vector<std::string> in_his_root() const {
        const std::string user = std::to_string(nobody_in_particular);
        return {"--reuid=" + user,
                "--regid=" + user,
                "--clear-groups",
                "--",
                "unshare",
                "-Urm",
                "sh",
                "-c",
                script()};
    }

    const std::string victim_ = folder_.path("victim"), root_ = folder_.path("root");

  private:
    static void own(const std::string& path) {
        for (const auto& entry : fs::recursive_directory_iterator(path))
            if (chown(entry.path().c_str(), nobody_in_particular, nobody_in_particular) != 0)
                throw std::runtime_error("chown");
        if (chown(path.c_str(), nobody_in_particular, nobody_in_particular) != 0)
            throw std::runtime_error("chown");
    }
    // Of the genuine names, another one for where handle_request begins, and one for the middle of
    // its first instruction.
    void make_debug_file() {
        const std::string genuine = program_path(service) + ".debug";
        uint64_t first = 0;
        for (const ElfFunction& symbol : open_elf(genuine)->functions())
            if (symbol.name.find("handle_request") != symbol.name.npos)
                first = symbol.address;
        ASSERT_NE(first, 0u);
        const auto program = open_elf(program_path(service));
        const uint64_t text = program->section(".text")->address;
        const std::string store = root_ + "/.build-id/" + program->build_id().substr(0, 2);
        fs::create_directories(store);
        const Outcome made =
            run({"/usr/bin/objcopy", "--strip-debug", "--add-symbol",
                 fmt::format("evil_place=.text:{:#x},function,global", first + 1 - text),
                 "--add-symbol", fmt::format("evil=.text:{:#x},function,global", first - text),
                 genuine, store + "/" + program->build_id().substr(2) + ".debug"});
        ASSERT_EQ(made.code, 0) << made.err;
    }
};

TEST_F(HostileRoot, ItsDebugFileMovesNoProbeAndNamesNothingOfOthers) {
    Program attacker("/usr/bin/setpriv", in_his_root());
    attacker.wait_ready();
    Program victim(victim_, {"--calls", "300", "--wait"});
    victim.wait_ready();
    const Outcome refused = run({AUGER_BINARY, "--batch", "--keep-going", "-a", "-e", "time evil",
                                 "-e", "time evil_place"});
    EXPECT_EQ(refused.code, 1);
    for (const char* name : {"evil", "evil_place"})
        EXPECT_THAT(refused.err, HasSubstr(std::string("time ") + name + "\n"));
    EXPECT_THAT(refused.out, Not(HasSubstr("timing")));
    auger().run({"time handle_request"});
    victim.go();
    expect_answers(auger(), 5);
    const json account = victim.account();
    EXPECT_EQ(account["ok"], true) << account;
    EXPECT_EQ(victim.wait_exit(), 0);
    const uint64_t calls = account["calls"];
    auger().run({"wait until entries handle_request >= " + std::to_string(calls) + " for 60s"});
    const json status = auger().ask("status");
    EXPECT_EQ(status["calls"]["entries"], calls);
    EXPECT_EQ(status["calls"]["returns"], calls);
    // Now that the victim's names are known, what they are to the attacker is his own affair.
    attacker.go();
    EXPECT_TRUE(wait_until([&] { return labels_of(auger().ask("flame")).contains("evil-root"); }));
    const std::set<std::string> functions = functions_of(auger().ask("flame"), {"victim"});
    EXPECT_THAT(functions, testing::Contains(HasSubstr("handle_request")));
    EXPECT_THAT(functions, testing::Each(Not(HasSubstr("evil"))));
    attacker.signal(SIGTERM);
    EXPECT_EQ(attacker.wait_exit(), 0);
}

} // namespace
} // namespace auger::test
