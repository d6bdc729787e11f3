// SPDX-License-Identifier: GPL-3.0-or-later
// The history file: whose it is, what it keeps, what it refuses.
#include "repl/session/history_file.h"

#include <gmock/gmock.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace auger {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class History : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = testing::TempDir() + "auger_history_XXXXXX";
        ASSERT_NE(mkdtemp(folder_.data()), nullptr);
        ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string path() const { return folder_ + "/state/auger/history"; }

    std::string folder_;
};

TEST_F(History, KeepsLinesBehindThoseOfOtherSessions) {
    const HistoryFile one(path(), {}), other(path(), {});
    EXPECT_THAT(*one.load(), IsEmpty());
    ASSERT_TRUE(one.append({"a", "b"}));
    ASSERT_TRUE(other.append({"c"}));
    EXPECT_THAT(*one.load(), ElementsAre("a", "b", "c"));
    struct stat status {};
    ASSERT_EQ(stat(path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
}

TEST_F(History, DropsTheOldest) {
    const HistoryFile file(path(), {});
    ASSERT_TRUE(file.append(std::vector<std::string>(HistoryFile::max_lines, "old")));
    ASSERT_TRUE(file.append({"new"}));
    const auto lines = *file.load();
    EXPECT_EQ(lines.size(), HistoryFile::max_lines);
    EXPECT_EQ(lines.back(), "new");
}

TEST_F(History, UnderSudoBelongsToTheUser) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root";
    const HistoryFile file(path(), InvokingUser{1234, 1235, "somebody", "/nowhere"});
    ASSERT_TRUE(file.append({"a"}));
    for (const std::string& made : {path(), folder_ + "/state", folder_ + "/state/auger"}) {
        struct stat status {};
        ASSERT_EQ(stat(made.c_str(), &status), 0) << made;
        EXPECT_EQ(status.st_uid, 1234u) << made;
        EXPECT_EQ(status.st_gid, 1235u) << made;
    }
    EXPECT_EQ(geteuid(), 0u);
    // Where the user may not write, neither may root for that user.
    const std::string roots = folder_ + "/root";
    ASSERT_EQ(mkdir(roots.c_str(), 0700), 0);
    const HistoryFile forbidden(roots + "/auger/history", InvokingUser{1234, 1235, "x", "/"});
    EXPECT_FALSE(forbidden.append({"a"}));
    EXPECT_TRUE(std::filesystem::is_empty(roots));
}

TEST_F(History, RefusesWhatIsNoFile) {
    std::filesystem::create_directories(folder_ + "/state/auger");
    ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
    const HistoryFile file(path(), {});
    EXPECT_FALSE(file.load()); // and does not hang
    EXPECT_FALSE(file.append({"a"}));
    std::filesystem::remove(path());
    std::filesystem::create_symlink("/etc/passwd", path());
    EXPECT_FALSE(file.load());
}

} // namespace
} // namespace auger
