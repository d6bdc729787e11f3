// SPDX-License-Identifier: GPL-3.0-or-later
// What auger writes never goes through a link, never replaces somebody else's file, and is whole or
// not there.
#include "loader/process/output_file.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <iterator>

namespace auger {
namespace {

using testing::HasSubstr;

class Output : public testing::Test {
  protected:
    // The error's text; empty when it was written.
    std::string write(const std::string& path, const std::string& text) {
        auto file = OutputFile::create(path);
        if (!file)
            return file.error().message();
        file->write(text);
        auto written = file->commit();
        return written ? "" : written.error().message();
    }
    static std::string content(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    size_t files() const {
        const std::filesystem::directory_iterator all(folder.path(""));
        return static_cast<size_t>(std::distance(begin(all), end(all)));
    }

    test::TemporaryFolder folder;
};

TEST_F(Output, IsForItsOwnerAlone) {
    const std::string path = folder.path("a.folded"), text(3'000'000, 'x');
    EXPECT_EQ(write(path, text), "");
    EXPECT_EQ(content(path), text);
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
    EXPECT_EQ(files(), 1u);
}

TEST_F(Output, TakesItsNameWhenItIsWhole) {
    const std::string path = folder.file("a", "former");
    {
        auto file = OutputFile::create(path);
        ASSERT_TRUE(file);
        file->write(std::string(1'000'000, 'x'));
        EXPECT_EQ(content(path), "former");
    }
    EXPECT_EQ(content(path), "former"); // given up
    EXPECT_EQ(files(), 1u);
    EXPECT_EQ(write(path, "new"), "");
    EXPECT_EQ(content(path), "new");
}

TEST_F(Output, FollowsNoLink) {
    const std::string target = folder.file("target", "precious"), link = folder.path("link");
    ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
    EXPECT_THAT(write(link, "evil"), HasSubstr("symbolic link"));
    EXPECT_EQ(content(target), "precious");
    // Nor one that is put there while it is being written.
    const std::string late = folder.path("late");
    auto file = OutputFile::create(late);
    ASSERT_TRUE(file);
    ASSERT_EQ(symlink(target.c_str(), late.c_str()), 0);
    file->write("evil");
    EXPECT_FALSE(file->commit());
    EXPECT_EQ(content(target), "precious");
}

TEST_F(Output, ReplacesNothingButOwnFiles) {
    ASSERT_EQ(mkfifo(folder.path("fifo").c_str(), 0600), 0);
    EXPECT_THAT(write(folder.path("fifo"), "x"), HasSubstr("not a regular file"));
    EXPECT_THAT(write(folder.path(""), "x"), HasSubstr("name"));
    EXPECT_THAT(write(folder.path("no/such/folder"), "x"), HasSubstr("No such file"));
    if (geteuid() != 0)
        GTEST_SKIP() << "only root can give a file to somebody else";
    const std::string other = folder.file("other", "theirs");
    ASSERT_EQ(chown(other.c_str(), 65534, 65534), 0);
    EXPECT_THAT(write(other, "x"), HasSubstr("somebody else"));
    EXPECT_EQ(content(other), "theirs");
}

} // namespace
} // namespace auger
