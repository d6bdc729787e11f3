// SPDX-License-Identifier: GPL-3.0-or-later
// A process in a root of its own runs the same file as others do, and has brought along a debug
// file with the right build id that says what is not so. Anybody may do that in a user namespace.
#include "loader/process/safe_open.h"
#include "loader/reader/elf/elf_file.h"
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"
#include "tests/support/run.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <memory>
#include <set>

namespace auger::test {
namespace {

std::shared_ptr<const ElfFile> open_elf(const std::string& path) {
    return must(ElfFile::open(must(open_regular(path)), path));
}

class OtherRoot : public KernelTest {
  protected:
    static constexpr const char* service = "demo_service_stripped";
    static constexpr const char* function =
        "handle_request(Worker&, Socket const&, Call&)"; // as names are shown

    void SetUp() override {
        KernelTest::SetUp();
        if (IsSkipped())
            return;
        const std::string genuine = program_path(service) + ".debug";
        for (const ElfFunction& symbol : open_elf(genuine)->functions())
            if (symbol.name.find("handle_request") != symbol.name.npos)
                first_ = symbol.address;
        ASSERT_NE(first_, 0u);
        offset_ = *open_elf(program_path(service))->offset_of_address(first_);
        const std::string id = open_elf(program_path(service))->build_id();
        const std::string store = root_.path(".build-id/" + id.substr(0, 2));
        std::filesystem::create_directories(store);
        const uint64_t text = open_elf(program_path(service))->section(".text")->address;
        const Outcome made =
            run({"/usr/bin/objcopy", "--strip-debug", "--add-symbol",
                 fmt::format("evil_place=.text:{:#x},function,global", first_ + 1 - text),
                 // The shorter of two names is shown.
                 "--add-symbol", fmt::format("evil=.text:{:#x},function,global", first_ - text),
                 genuine, store + "/" + id.substr(2) + ".debug"});
        ASSERT_EQ(made.code, 0) << made.err;
    }
    std::vector<std::string> in_other_root() {
        const std::string root = root_.path("");
        return {"-c", fmt::format("exec unshare -m sh -c 'set -e; mount --make-rprivate /; cd {0}; "
                                  "mkdir usr proc dev; for d in lib lib64 bin; do "
                                  "[ -L /$d ] && cp -P /$d $d || {{ mkdir $d; mount --bind /$d $d; "
                                  "}}; done; mount --bind /usr usr; : > service; "
                                  "mount --bind {1} service; "
                                  "exec chroot . /service --seconds 300'",
                                  root, program_path(service))};
    }
    // Names of the functions in which samples of the process were taken.
    static std::set<std::string> names_of(Session& session, pid_t pid) {
        std::set<std::string> names;
        const Model& model = session.model();
        for (size_t i = 0; i < model.samples().size(); i++) {
            if (model.symbols().thread(model.samples().threads()[i]).pid !=
                static_cast<uint32_t>(pid))
                continue;
            for (const std::string& name : session.stack_names(model.samples().stacks()[i]))
                names.insert(name);
        }
        return names;
    }

    TemporaryFolder root_;
    uint64_t first_ = 0, offset_ = 0; // of handle_request: as linked, in the file
};

TEST_F(OtherRoot, SaysNothingOfWhatOthersRun) {
    Program other("/bin/sh", in_other_root());
    other.wait_ready();
    Program service_here(service, {"--seconds", "300"});
    service_here.wait_ready();
    Session session;
    session.observe(std::vector<pid_t>{other.pid(), service_here.pid()});
    for (const char* name : {"evil", "evil_place"})
        EXPECT_FALSE(session.try_time(name)) << name;
    const ProbeId probe = session.time("handle_request");
    ASSERT_EQ(session.report.places.size(), 1u);
    EXPECT_EQ(session.report.places[0].offset, offset_);
    session.sample(999);
    ASSERT_TRUE(session.pump_until([&] {
        return session.calls(probe).returns > 100 &&
               names_of(session, service_here.pid()).contains(function);
    }));
    EXPECT_THAT(names_of(session, service_here.pid()), testing::Not(testing::Contains("evil")));
    for (Program* program : {&other, &service_here}) {
        program->signal(SIGTERM);
        EXPECT_EQ(program->wait_exit(), 0);
    }
}

// Its own names are its own affair; where a breakpoint goes is not.
TEST_F(OtherRoot, NamesWhatItRunsItself) {
    Program other("/bin/sh", in_other_root());
    other.wait_ready();
    Session session;
    session.observe(other.pid());
    session.time("evil");
    EXPECT_EQ(session.report.places[0].offset, offset_);
    const auto refused = session.try_time("evil_place");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), testing::HasSubstr("separate debug file only"));
    other.signal(SIGTERM);
    EXPECT_EQ(other.wait_exit(), 0);
}

} // namespace
} // namespace auger::test
