// SPDX-License-Identifier: GPL-3.0-or-later
// Names that do not come from ELF files: the kernel's, and those of generated code.
#include "loader/process/safe_open.h"
#include "loader/reader/names/appended_file.h"
#include "loader/reader/names/perf_map.h"
#include "loader/symbols/generated_files.h"
#include "loader/symbols/kernel_symbols.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace auger {
namespace {

TEST(KernelSymbols, FindsFunctionsAndTheirModules) {
    const KernelSymbols symbols("ffffffff81000000 T __pfx_start\n"
                                "ffffffff81000000 t start\n"
                                "ffffffff81000100 D some_data\n"
                                "ffffffff81000200 W weak\n"
                                "not a line\n\n"
                                "ffffffffc0000000 t hook\t[nf_tables]\n");
    EXPECT_EQ(symbols.size(), 3u);
    EXPECT_FALSE(symbols.restricted());
    EXPECT_FALSE(symbols.find(0xffffffff80ffffff));
    const auto start = symbols.find(0xffffffff810001ff);
    ASSERT_TRUE(start);
    EXPECT_EQ(start->name, "start"); // the plainer of two names; data is not a function
    EXPECT_EQ(start->offset, 0x1ffu);
    EXPECT_TRUE(start->module.empty());
    const auto hook = symbols.find(0xffffffffc0000010);
    ASSERT_TRUE(hook);
    EXPECT_EQ(hook->name, "hook");
    EXPECT_EQ(hook->module, "nf_tables");
}

TEST(KernelSymbols, SaysWhenAddressesAreHidden) {
    const KernelSymbols hidden("0000000000000000 T start\n0000000000000000 t other\n");
    EXPECT_TRUE(hidden.restricted());
    EXPECT_FALSE(hidden.find(0x1000));
    EXPECT_FALSE(KernelSymbols("").restricted());
}

TEST(PerfMap, FindsNamesWithSpaces) {
    PerfMap map;
    map.add("1000 10 LazyCompile:~f /a b.js:1\n0x2000 0x20 g\n");
    EXPECT_EQ(map.find(0x1000), "LazyCompile:~f /a b.js:1");
    EXPECT_EQ(map.find(0x100f), "LazyCompile:~f /a b.js:1");
    EXPECT_EQ(map.find(0x1010), std::nullopt);
    EXPECT_EQ(map.find(0x201f), "g");
    EXPECT_EQ(map.find(0xfff), std::nullopt);
}

TEST(PerfMap, LaterCodeTakesThePlaceOfEarlier) {
    PerfMap map;
    map.add("1000 100 old\n1040 20 inner\n");
    EXPECT_EQ(map.find(0x103f), "old");
    EXPECT_EQ(map.find(0x1040), "inner");
    EXPECT_EQ(map.find(0x1060), "old");
    map.add("1030 1000 over\n");
    EXPECT_EQ(map.find(0x102f), "old");
    EXPECT_EQ(map.find(0x1040), "over");
    EXPECT_EQ(map.find(0x10ff), "over");
    EXPECT_EQ(map.size(), 2u);
}

TEST(PerfMap, SkipsAndCountsWhatDoesNotParse) {
    PerfMap map;
    map.add("\n1000\n1000 10\n1000 10 \nzz 10 f\n1000 0 empty\nffffffffffffffff 10 wraps\n"
            "11111111111111111 1 long\n2000 10 good");
    EXPECT_EQ(map.size(), 1u);
    EXPECT_EQ(map.skipped(), 8u);
    EXPECT_EQ(map.find(0x2000), "good");
}

// Ranges within ranges multiply: each line below splits one with a long name in two.
TEST(PerfMap, MemoryIsBounded) {
    PerfMap map;
    map.add("0 7fffffffffffffff " + std::string(4000, 'x') + "\n");
    std::string text;
    for (size_t i = 1; i <= CodeRanges::most_ranges; i++)
        text += fmt::format("{:x} 1 f\n", i * 2);
    map.add(text);
    EXPECT_LE(map.size(), CodeRanges::most_ranges + 1);
    EXPECT_EQ(map.find(2), "f");
    EXPECT_EQ(map.find(3), std::string(4000, 'x'));
    EXPECT_GE(map.skipped(), CodeRanges::most_ranges / 2 - 1);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    EXPECT_LT(usage.ru_maxrss, 2 << 20); // KB; a name for each range would take more
}

// A JIT that compiles the same code again for days.
TEST(PerfMap, NamesThatWereReplacedTakeNoRoom) {
    PerfMap map;
    const std::string line = "1000 10 " + std::string(4000, 'x') + "\n2000 10 y\n";
    for (size_t i = 0; i < CodeRanges::most_name_bytes / 2000; i++)
        map.add(line);
    EXPECT_EQ(map.skipped(), 0u);
    EXPECT_LT(map.memory(), 10'000u);
}

class PerfMapFiles : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "auger-map-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        std::filesystem::create_directory(folder_ + "/tmp");
        path_ = folder_ + "/tmp/perf-7.map";
        root_ = std::move(*open_folder(folder_));
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    void write(const std::string& text, std::ios::openmode mode = std::ios::app) {
        std::ofstream(path_, mode) << text;
    }
    // Whether there was something new; fails when there is nothing to be read.
    Result<bool> read(uid_t uid = getuid()) {
        const auto file = open_perf_map(root_.get(), 7, uid);
        if (!file)
            return file.error();
        return appended_.read(file->get(), map_).any;
    }

    std::string folder_, path_;
    UniqueFd root_;
    PerfMap map_;
    AppendedFile appended_{PerfMap::size_limit};
};

TEST_F(PerfMapFiles, IsReadAgainWhenItHasGrown) {
    EXPECT_FALSE(read()); // not written yet
    write("1000 10 first\n2000 10 unfin");
    EXPECT_TRUE(*read());
    EXPECT_EQ(map_.find(0x1000), "first");
    EXPECT_EQ(map_.find(0x2000), std::nullopt); // the line is not whole
    write("ished\n3000 10 third\n");
    EXPECT_TRUE(*read());
    EXPECT_EQ(map_.find(0x2000), "unfinished");
    EXPECT_EQ(map_.find(0x3000), "third");
    EXPECT_FALSE(*read());
}

TEST_F(PerfMapFiles, AReplacedFileStartsAnew) {
    write("1000 10 first\n");
    ASSERT_TRUE(*read());
    write("", std::ios::trunc);
    write("2000 8 b\n");
    ASSERT_TRUE(*read());
    EXPECT_EQ(map_.find(0x1000), std::nullopt);
    EXPECT_EQ(map_.find(0x2000), "b");
}

TEST_F(PerfMapFiles, MoreThanOneChunkAndALineWithoutEnd) {
    std::string text;
    for (int i = 0; i < 100000; i++)
        text += "1" + std::to_string(100000 + i) + "0 8 name" + std::to_string(i) + "\n";
    text += std::string(3 << 20, 'x') + "\n9000000 1 last\n";
    write(text);
    ASSERT_TRUE(*read());
    EXPECT_EQ(map_.size(), 100001u);
    EXPECT_EQ(map_.find(0x9000000), "last");
    EXPECT_EQ(map_.find(0x11999990), "name99999");
}

TEST_F(PerfMapFiles, FifosLinksAndFoldersAreRefused) {
    ASSERT_EQ(mkfifo(path_.c_str(), 0666), 0);
    EXPECT_FALSE(read()); // and does not wait for a writer
    std::filesystem::remove(path_);
    std::ofstream(folder_ + "/other") << "1000 10 stolen\n";
    std::filesystem::create_symlink("../other", path_);
    EXPECT_FALSE(read());
    std::filesystem::remove(path_);
    std::filesystem::create_directory(path_);
    EXPECT_FALSE(read());
    EXPECT_EQ(map_.size(), 0u);
}

TEST_F(PerfMapFiles, AnotherUsersFileIsRefused) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root to give a file away";
    write("1000 10 forged\n");
    ASSERT_EQ(chown(path_.c_str(), 1, 1), 0);
    ASSERT_FALSE(read(2));
    EXPECT_TRUE(*read(1));
}

} // namespace
} // namespace auger
