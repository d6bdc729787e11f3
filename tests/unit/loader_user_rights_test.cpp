// SPDX-License-Identifier: GPL-3.0-or-later
// Rights of the user who called sudo: of one thread, for a while, with that user's groups.
#include "loader/process/user_rights.h"

#include "loader/base/fd.h"
#include "loader/process/capabilities.h"
#include "tests/support/invoking_user.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <future>
#include <thread>

namespace auger {
namespace {

using test::AsCalledBySudo;
using testing::UnorderedElementsAreArray;

std::vector<gid_t> groups() {
    std::vector<gid_t> all(64);
    all.resize(static_cast<size_t>(getgroups(static_cast<int>(all.size()), all.data())));
    return all;
}

bool readable(const std::string& path) {
    return std::ifstream(path).good();
}

class UserRightsTest : public testing::Test {
  protected:
    void SetUp() override {
        if (geteuid() != 0 || !getpwnam("nobody"))
            GTEST_SKIP() << "needs root and the user nobody";
    }
    test::TemporaryFolder folder_;
};

// A file that a group of root's may read is root's alone: of what root is in, nothing is left.
TEST_F(UserRightsTest, RootsGroupsGoAndComeBack) {
    constexpr gid_t adm = 4;
    const std::vector<gid_t> before = groups();
    // In a thread of its own: its groups are not the test's.
    std::thread([&] {
        const gid_t roots[] = {0, adm};
        ASSERT_EQ(syscall(SYS_setgroups, 2, roots), 0);
        const std::string path = folder_.file("group", "adm's");
        ASSERT_EQ(chown(path.c_str(), 0, adm), 0);
        ASSERT_EQ(chmod(path.c_str(), 0640), 0);
        const AsCalledBySudo nobody("nobody");
        const auto user = invoking_user();
        ASSERT_TRUE(user);
        {
            const UserRights rights(user);
            EXPECT_THAT(groups(), UnorderedElementsAreArray(groups_of(*user)));
            EXPECT_FALSE(readable(path));
            EXPECT_EQ(static_cast<uid_t>(setfsuid(static_cast<uid_t>(-1))), nobody.uid);
        }
        EXPECT_THAT(groups(), UnorderedElementsAreArray(roots));
        EXPECT_TRUE(readable(path));
        EXPECT_EQ(setfsuid(static_cast<uid_t>(-1)), 0);
        EXPECT_EQ(setfsgid(static_cast<gid_t>(-1)), 0);
    }).join();
    EXPECT_EQ(groups(), before);
}

TEST_F(UserRightsTest, AreOneThreads) {
    const std::string path = folder_.file("roots", "root's");
    ASSERT_EQ(chmod(path.c_str(), 0600), 0);
    const AsCalledBySudo nobody("nobody");
    // One that begins later would begin with its maker's.
    std::promise<void> begin;
    std::thread other([&, wait = begin.get_future()] {
        wait.wait();
        EXPECT_TRUE(readable(path));
    });
    const UserRights rights(invoking_user());
    EXPECT_FALSE(readable(path));
    begin.set_value();
    other.join();
}

// What root may do everywhere it does only here, once auger has given up the rest.
TEST_F(UserRightsTest, OfRootAreInForceWhileTheyAreAskedFor) {
    ASSERT_EQ(chmod(folder_.path("").c_str(), 0500), 0);
    const passwd* nobody = getpwnam("nobody");
    ASSERT_EQ(chown(folder_.path("").c_str(), nobody->pw_uid, nobody->pw_gid), 0);
    const std::string path = folder_.path("file");
    const auto creates = [&] {
        const bool made =
            UniqueFd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)).get() >= 0;
        unlink(path.c_str());
        return made;
    };
    std::thread([&] {
        ASSERT_TRUE(keep_capabilities(capabilities_to_keep(Work::observing)));
        EXPECT_FALSE(creates());
        {
            const UserRights rights(invoking_user());
            EXPECT_TRUE(creates());
        }
        EXPECT_FALSE(creates());
        ASSERT_TRUE(keep_capabilities(0));
        const UserRights rights(invoking_user());
        EXPECT_FALSE(creates());
    }).join();
    EXPECT_TRUE(creates());
    ASSERT_EQ(chown(folder_.path("").c_str(), 0, 0), 0);
    ASSERT_EQ(chmod(folder_.path("").c_str(), 0700), 0);
}

TEST_F(UserRightsTest, WhoseBusinessItIs) {
    const uid_t uid = getpwnam("nobody")->pw_uid;
    EXPECT_THAT(our_users(), testing::Not(testing::Contains(uid)));
    EXPECT_THAT(our_users(), testing::Contains(0u));
    const AsCalledBySudo nobody("nobody");
    EXPECT_THAT(our_users(), testing::Contains(uid));
}

} // namespace
} // namespace auger
