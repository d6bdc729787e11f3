// SPDX-License-Identifier: GPL-3.0-or-later
// Root writes a file that a user named: nobody else's file is touched, and it belongs to that user.
#include "loader/process/new_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace auger {
namespace {

using testing::HasSubstr;

class LoaderNewFile : public testing::Test {
  protected:
    LoaderNewFile() {
        std::string name = testing::TempDir() + "auger-output-XXXXXX";
        folder_ = mkdtemp(name.data());
    }
    ~LoaderNewFile() override {
        unsetenv("SUDO_UID");
        unsetenv("SUDO_GID");
        std::filesystem::remove_all(folder_);
    }
    std::string path(const std::string& name = "out") const { return folder_ + "/" + name; }
    void put(const std::string& path, const std::string& bytes) const {
        std::ofstream(path, std::ios::binary) << bytes;
    }
    static std::string content(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    // A file that has taken its name.
    static Result<NewFile> create(const std::string& path) {
        auto file = NewFile::create(path, "MAGIC");
        if (!file)
            return file;
        if (auto named = file->take_name(); !named)
            return named.error();
        return file;
    }
    static std::string refusal(const std::string& path) {
        const auto file = create(path);
        return file ? "" : file.error().message();
    }
    std::string folder_;
};

TEST_F(LoaderNewFile, ANewFileIsPrivate) {
    const auto file = create(path());
    ASSERT_TRUE(file) << file.error().message();
    struct stat status;
    ASSERT_EQ(fstat(file->get(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
    EXPECT_EQ(write(file->get(), "x", 1), 1);
    EXPECT_EQ(content(path()), "x");
}

TEST_F(LoaderNewFile, ItsOwnKindIsReplacedAndReadersKeepTheOldOne) {
    put(path(), "MAGIC and more");
    std::ifstream old(path());
    const auto file = create(path());
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_EQ(content(path()), "");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(old), {}), "MAGIC and more");
    // Nothing else is left in the folder.
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);

    put(path("empty"), "");
    EXPECT_EQ(refusal(path("empty")), "");
}

TEST_F(LoaderNewFile, EverythingElseIsLeftAlone) {
    put(path("source.cc"), "int main() {}");
    EXPECT_THAT(refusal(path("source.cc")), HasSubstr("holds something else"));
    EXPECT_EQ(content(path("source.cc")), "int main() {}");

    put(path("victim"), "MAGIC");
    std::filesystem::create_symlink(path("victim"), path("link"));
    EXPECT_THAT(refusal(path("link")), HasSubstr("symbolic link"));
    std::filesystem::create_symlink(path("nowhere"), path("dangling"));
    EXPECT_THAT(refusal(path("dangling")), HasSubstr("symbolic link"));
    EXPECT_FALSE(std::filesystem::exists(path("nowhere")));

    ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
    EXPECT_THAT(refusal(path("fifo")), HasSubstr("not a regular file"));
    EXPECT_THAT(refusal("/dev/null"), HasSubstr("not a regular file"));
    EXPECT_THAT(refusal(folder_), HasSubstr("folder"));
    EXPECT_THAT(refusal(folder_ + "/"), HasSubstr("not a file name"));
    EXPECT_THAT(refusal(""), HasSubstr("not a file name"));
    EXPECT_THAT(refusal(path("absent/out")), HasSubstr("No such file"));
}

TEST_F(LoaderNewFile, UnderSudoTheRightsAreTheUsers) {
    const passwd* user = getpwnam("nobody");
    if (geteuid() != 0 || !user)
        GTEST_SKIP() << "needs root and the user nobody";
    setenv("SUDO_UID", std::to_string(user->pw_uid).c_str(), 1);
    setenv("SUDO_GID", std::to_string(user->pw_gid).c_str(), 1);

    // Not where the user may not write, though root may.
    EXPECT_THAT(refusal(path()), HasSubstr("Permission denied"));
    EXPECT_THAT(refusal(path()), HasSubstr("nobody"));

    ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
    put(path("roots"), "MAGIC");
    EXPECT_THAT(refusal(path("roots")), HasSubstr("belongs to another user"));
    const auto file = create(path("new"));
    ASSERT_TRUE(file) << file.error().message();
    struct stat status;
    ASSERT_EQ(fstat(file->get(), &status), 0);
    EXPECT_EQ(status.st_uid, user->pw_uid);
    EXPECT_EQ(status.st_gid, user->pw_gid);

    // And root's rights are back afterwards.
    put(path("after"), "");
    ASSERT_EQ(stat(path("after").c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, 0u);
}

} // namespace
} // namespace auger
