// SPDX-License-Identifier: GPL-3.0-or-later
// Programs tell of the code that they generate, as much as they like: the memory for it is bounded,
// and who tells too much loses names of his own.
#include "loader/process/safe_open.h"
#include "loader/reader/names/code_ranges.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/names_maker.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>
#include <unistd.h>

namespace auger {
namespace {

class GeneratedLimit : public testing::Test {
  protected:
    void SetUp() override { std::filesystem::create_directory(folder_.path("tmp")); }

    // Of a process of this user, which has told of so many pieces of code.
    std::shared_ptr<ModuleNames> program(pid_t pid, uid_t user, size_t pieces) {
        std::string text;
        for (size_t i = 0; i < pieces; i++)
            text += fmt::format("{:x} 10 function\n", 0x1000 + 0x10 * i);
        const std::string path = folder_.file(fmt::format("tmp/perf-{}.map", pid), text);
        if (user != geteuid()) {
            EXPECT_EQ(chown(path.c_str(), user, user), 0);
        }
        ModuleSource source;
        source.kind = ModuleKind::jit;
        source.namespace_pid = pid;
        source.uid = user;
        source.root = std::move(*open_folder(folder_.path("")));
        auto names = names_.maker.make(std::move(source));
        names_.maker.limit_generated();
        return names;
    }
    static bool named(const std::shared_ptr<ModuleNames>& names) {
        return names->find(0x1008) == "function";
    }

    static constexpr size_t pieces = 1'000;
    test::TemporaryFolder folder_;
    // Of three programs.
    test::Names names_{{"", "", -1, 3 * pieces*(CodeRanges::range_bytes + 8)}};
};

TEST_F(GeneratedLimit, TheOneAskedForLongestAgoGoes) {
    const auto first = program(1, geteuid(), pieces), second = program(2, geteuid(), pieces),
               third = program(3, geteuid(), pieces);
    EXPECT_TRUE(named(first) && named(second) && named(third));
    EXPECT_TRUE(named(first)); // it is still in use
    const auto fourth = program(4, geteuid(), pieces);
    EXPECT_TRUE(named(first) && named(third) && named(fourth));
    EXPECT_FALSE(named(second));
    EXPECT_EQ(second->note, "names of 1000 pieces of generated code were let go: those of this "
                            "user took too much memory");
    EXPECT_FALSE(second->refresh()); // it is not read again
    EXPECT_FALSE(named(second));
}

TEST_F(GeneratedLimit, WhoTellsTooMuchLosesNamesOfHisOwn) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root to play two users";
    const auto victim = program(1, 0, pieces);
    std::shared_ptr<ModuleNames> hostile;
    for (pid_t pid = 2; pid < 32; pid++)
        hostile = program(pid, 65534, 2 * pieces);
    EXPECT_TRUE(named(victim));
    EXPECT_TRUE(named(hostile));
    // One alone that is too large.
    const auto huge = program(32, 65534, 5 * pieces);
    EXPECT_TRUE(named(victim));
    EXPECT_FALSE(named(huge));
}

} // namespace
} // namespace auger
