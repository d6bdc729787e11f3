// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/proc_maps.h"
#include "loader/process/safe_open.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace auger {
namespace {

TEST(ProcMaps, ParsesEveryField) {
    const auto maps = parse_maps("55d0c0a00000-55d0c0a21000 r-xp 0001f000 fe:01 1835 "
                                 "                     /usr/bin/with space (deleted)\n"
                                 "7ffc1000-7ffc2000 rw-p 00000000 00:00 0\n"
                                 "7ffd1000-7ffd2000 r-xp 00000000 00:00 0        [vdso]\n");
    ASSERT_EQ(maps.size(), 3u);
    EXPECT_EQ(maps[0].start, 0x55d0c0a00000u);
    EXPECT_EQ(maps[0].end, 0x55d0c0a21000u);
    EXPECT_EQ(maps[0].offset, 0x1f000u);
    EXPECT_EQ(maps[0].device, makedev(0xfe, 1));
    EXPECT_EQ(maps[0].inode, 1835u);
    EXPECT_TRUE(maps[0].executable);
    EXPECT_TRUE(maps[0].deleted);
    EXPECT_EQ(maps[0].path, "/usr/bin/with space");
    EXPECT_FALSE(maps[1].executable);
    EXPECT_TRUE(maps[1].path.empty());
    EXPECT_EQ(maps[2].path, "[vdso]");
}

TEST(ProcMaps, UndoesTheEscapeOfNewlinesOnly) {
    const auto maps = parse_maps("1000-2000 r--p 0 0:0 5 /a\\012b\\n\n");
    ASSERT_EQ(maps.size(), 1u);
    EXPECT_EQ(maps[0].path, "/a\nb\\n");
}

TEST(ProcMaps, SkipsLinesThatDoNotParse) {
    for (const char* bad :
         {"", "\n\n", "1000", "1000-", "1000-2000", "1000-2000 r-xp", "zz-2000 r-xp 0 0:0 0 x",
          "2000-1000 r-xp 0 0:0 0 x", "1000-2000 r-xp 0 0 0 x", "1000-2000 r-x 0 0:0 0 x",
          "11111111111111111-2 r-xp 0 0:0 0 x", "1000-2000 r-xp 0 0:0 999999999999999999999 x"})
        EXPECT_TRUE(parse_maps(bad).empty()) << bad;
    EXPECT_EQ(parse_maps("garbage\n1000-2000 r-xp 0 0:0 0").size(), 1u);
}

TEST(ProcMaps, FindsOwnCodeAndOpensItsFile) {
    const auto maps = read_maps(getpid());
    ASSERT_TRUE(maps) << maps.error().message();
    const auto here = reinterpret_cast<uint64_t>(&parse_maps);
    bool found = false;
    for (const Mapping& mapping : *maps) {
        if (here < mapping.start || here >= mapping.end)
            continue;
        found = true;
        EXPECT_TRUE(mapping.executable);
        const auto file = open_mapped_file(getpid(), mapping);
        ASSERT_TRUE(file) << file.error().message();
        struct stat opened, self;
        ASSERT_EQ(fstat(file->get(), &opened), 0);
        ASSERT_EQ(stat("/proc/self/exe", &self), 0);
        EXPECT_EQ(opened.st_ino, self.st_ino);
    }
    EXPECT_TRUE(found);
}

// The process has mapped another file there since its mappings were read: that must not pass for
// the one that was read.
TEST(ProcMaps, AnotherFileAtTheSameAddressIsNotTaken) {
    test::TemporaryFolder folder;
    const std::string said = folder.file("said", std::string(4096, 's')),
                      mapped = folder.file("mapped", std::string(4096, 'm'));
    const int fd = open(mapped.c_str(), O_RDONLY);
    void* const at = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    ASSERT_NE(at, MAP_FAILED);
    const auto maps = read_maps(getpid());
    ASSERT_TRUE(maps);
    const auto found = std::ranges::find(*maps, reinterpret_cast<uint64_t>(at), &Mapping::start);
    ASSERT_NE(found, maps->end());
    Mapping claimed = *found;
    EXPECT_TRUE(open_mapped_file(getpid(), claimed));
    struct stat other;
    ASSERT_EQ(stat(said.c_str(), &other), 0);
    claimed.inode = other.st_ino;
    EXPECT_FALSE(open_mapped_file(getpid(), claimed));
    claimed.path = said;
    const auto opened = open_mapped_file(getpid(), claimed);
    ASSERT_TRUE(opened) << opened.error().message();
    EXPECT_EQ(*read_all(opened->get(), 1), "s");
    munmap(at, 4096);
    close(fd);
}

TEST(ProcMaps, AProcessThatIsGoneIsSaidToBe) {
    const auto maps = read_maps(0x7fffffff);
    ASSERT_FALSE(maps);
    EXPECT_EQ(maps.error().cause, "No such process");
}

class SafeOpen : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "auger-open-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        std::ofstream(folder_ + "/file") << "content";
        ASSERT_EQ(mkfifo((folder_ + "/fifo").c_str(), 0600), 0);
        std::filesystem::create_symlink("file", folder_ + "/link");
        std::filesystem::create_symlink("/etc/passwd", folder_ + "/outside");
        std::filesystem::create_symlink("../../../../etc/passwd", folder_ + "/upwards");
        root_ = std::move(*open_folder(folder_));
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string folder_;
    UniqueFd root_;
};

TEST_F(SafeOpen, ReadsARegularFile) {
    const auto file = open_regular_beneath(root_.get(), "/file", Symlinks::refuse);
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_EQ(*read_all(file->get(), 100), "content");
    EXPECT_EQ(*read_all(file->get(), 3), "con");
}

TEST_F(SafeOpen, RefusesAFifoWithoutWaiting) {
    EXPECT_FALSE(open_regular_beneath(root_.get(), "fifo", Symlinks::refuse));
    EXPECT_FALSE(open_regular(folder_ + "/fifo"));
}

TEST_F(SafeOpen, FollowsLinksOnlyWhenAskedAndNeverOutOfTheRoot) {
    EXPECT_FALSE(open_regular_beneath(root_.get(), "link", Symlinks::refuse));
    EXPECT_TRUE(open_regular_beneath(root_.get(), "link", Symlinks::follow));
    EXPECT_FALSE(open_regular_beneath(root_.get(), "outside", Symlinks::follow));
    EXPECT_FALSE(open_regular_beneath(root_.get(), "upwards", Symlinks::follow));
    EXPECT_FALSE(open_regular_beneath(root_.get(), "../../../../etc/passwd", Symlinks::follow));
}

} // namespace
} // namespace auger
