// SPDX-License-Identifier: GPL-3.0-or-later
// Spool: a folder in which intervals wait for a receiver.
#include "tests/support/temporary_folder.h"

#include "loader/process/safe_open.h"
#include "repl/services/spool.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace auger {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::SizeIs;

class SpoolTest : public testing::Test {
  protected:
    Spool open(const char* protocol = "otlp") { return std::move(*Spool::open(path, protocol)); }
    static Spool::Entry entry(const Spool& spool, uint64_t written_ms) {
        Spool::Entry made;
        made.number = spool.next_number();
        made.written_ms = written_ms;
        made.begin_ms = 7;
        made.length_ms = 8;
        made.samples = 9;
        made.service = "a b/c_d.e";
        return made;
    }
    static void add(Spool& spool, uint64_t written_ms, size_t bytes) {
        const Spool::Entry one = entry(spool, written_ms);
        std::ofstream(spool.path_of(one)) << std::string(bytes, 'x');
        ASSERT_TRUE(spool.add(spool.name_of(one)));
    }
    static std::vector<uint64_t> numbers(const auto& entries) {
        std::vector<uint64_t> all;
        for (const Spool::Entry& one : entries)
            all.push_back(one.number);
        return all;
    }
    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& file : std::filesystem::directory_iterator(path))
            names.push_back(file.path().filename());
        return names;
    }

    TemporaryFolder folder;
    const std::string path = folder.path("a/b/spool");
};

TEST_F(SpoolTest, IsBoundedInSizeAndAge) {
    Spool spool = open();
    for (uint64_t i = 1; i <= 10; i++)
        add(spool, 1'000 * i, 100);
    EXPECT_EQ(spool.bytes(), 1'000u);
    const Spool::Limits limits{450, 5'500};
    EXPECT_THAT(numbers(spool.trim({1'000, 20'000}, 10'000, {})), IsEmpty());
    // The first one is being sent.
    EXPECT_THAT(numbers(spool.trim(limits, 10'000, 1)), ElementsAre(2, 3, 4, 5, 6, 7));
    EXPECT_THAT(numbers(spool.entries()), ElementsAre(1, 8, 9, 10));
    EXPECT_THAT(numbers(spool.trim(limits, 14'000, {})), ElementsAre(1, 8));
    EXPECT_EQ(spool.bytes(), 200u);
    EXPECT_THAT(files(), SizeIs(2));
    EXPECT_THAT(numbers(spool.trim(limits, 0, {})), IsEmpty()) << "a clock that was put back";
}

TEST_F(SpoolTest, OutlivesItsProcessAndIsOneOfThem) {
    {
        Spool spool = open();
        EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
        add(spool, 5, 10);
        add(spool, 6, 11);
        EXPECT_THAT(Spool::open(path, "otlp").error().message(), HasSubstr("another auger"));
    }
    const std::vector<std::string> others = {"interval_1_2_3_4_5_s", "interval_1_2_3_4_s.otlp",
                                             "interval_9_99999999999999999999_3_4_5_s.otlp",
                                             "interval_9_2_3_4_5_a b.otlp", "notes"};
    for (const std::string& name : others)
        folder.file("a/b/spool/" + name, "mine");
    std::filesystem::create_symlink("/etc/passwd", path + "/interval_8_2_3_4_5_s.otlp");
    EXPECT_THAT(Spool::open(path, "parca").error().message(),
                HasSubstr("it holds intervals for otlp"));
    Spool spool = open();
    EXPECT_THAT(numbers(spool.entries()), ElementsAre(1, 2));
    const Spool::Entry& first = spool.entries().front();
    EXPECT_EQ(first.written_ms, 5u);
    EXPECT_EQ(first.begin_ms, 7u);
    EXPECT_EQ(first.length_ms, 8u);
    EXPECT_EQ(first.samples, 9u);
    EXPECT_EQ(first.bytes, 10u);
    EXPECT_EQ(first.service, "a-b-c_d.e");
    EXPECT_EQ(spool.next_number(), 3u);
    EXPECT_EQ(*read_all(spool.read(first)->get(), 100), "xxxxxxxxxx");
    ASSERT_TRUE(spool.remove(1));
    ASSERT_TRUE(spool.remove(2));
    EXPECT_THAT(files(), SizeIs(others.size() + 1)) << "others' are nobody's business";
    EXPECT_FALSE(spool.add("interval_7_1_1_1_1_s.otlp")) << "there is no such file";
}

} // namespace
} // namespace auger
