// SPDX-License-Identifier: GPL-3.0-or-later
// Lines against what the source says, against another reader of DWARF, and from damaged files.
#include "loader/process/safe_open.h"
#include "loader/reader/dwarf/line_table.h"
#include "tests/unit/loader_sites_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <random>
#include <unistd.h>

namespace auger {
namespace {

using test::marked_line;
using test::sites_program;

using Table = std::shared_ptr<const LineTable>;

Result<Table> read_table(const std::string& path) {
    auto elf = ElfFile::open(std::move(*open_regular(path)), path);
    WorkProgress progress;
    return elf ? LineTable::read(*elf, {}, progress) : Result<Table>(elf.error());
}

class LineTableForms : public testing::TestWithParam<std::string> {
  protected:
    void SetUp() override {
        auto table = read_table(sites_program(GetParam()));
        ASSERT_TRUE(table.ok()) << table.error().message();
        table_ = *table;
    }
    SourceFileId file(const std::string& name) {
        const auto found = table_->files_named(name);
        EXPECT_EQ(found.size(), 1u) << name;
        return found.empty() ? 0 : found[0];
    }
    Table table_;
};

TEST_P(LineTableForms, EveryCopyOfALineIsFound) {
    const SourceFileId main = file("main.cc");
    const auto one = table_->blocks({main, marked_line("main.cc", "one")});
    ASSERT_FALSE(one.empty());
    EXPECT_TRUE(std::any_of(one.begin(), one.end(),
                            [](const LineBlock& block) { return block.statement.has_value(); }));
    // Two instances of the template.
    EXPECT_GE(table_->blocks({main, marked_line("main.cc", "template")}).size(), 2u);
    // Three inlined copies, in two functions.
    EXPECT_GE(table_->blocks({main, marked_line("main.cc", "inlined")}).size(), 3u);
    // Inlined into three files.
    EXPECT_GE(table_->blocks({file("header.h"), marked_line("header.h", "header")}).size(), 3u);
}

TEST_P(LineTableForms, PathsMatchByTheirLastComponents) {
    EXPECT_EQ(table_->files_named("same.cc").size(), 2u);
    EXPECT_EQ(table_->files_named("first/same.cc").size(), 1u);
    EXPECT_EQ(table_->files_named("sites/./second/../first/same.cc").size(), 1u);
    EXPECT_EQ(table_->files_named(std::string(AUGER_SITES_SOURCE) + "/main.cc").size(), 1u);
    EXPECT_TRUE(table_->files_named("ain.cc").empty());
    EXPECT_TRUE(table_->files_named("/main.cc").empty());
    EXPECT_TRUE(table_->files_named("other/main.cc").empty());
}

TEST_P(LineTableForms, NearestLines) {
    const SourceFileId main = file("main.cc");
    const uint32_t one = marked_line("main.cc", "one");
    const auto [before, after] = table_->nearest({main, one + 3});
    EXPECT_EQ(before, one + 1); // the closing brace begins no statement
    EXPECT_EQ(after, one + 4);
    EXPECT_EQ(table_->nearest({main, 1}).first, 0u);
    EXPECT_EQ(table_->nearest({main, 1'000'000}).second, 0u);
}

// The line of an address as binutils read it; 0 when they know none.
std::vector<uint32_t> reference(const std::string& path, const std::vector<uint64_t>& addresses) {
    std::string command = "addr2line -e '" + path + "'";
    for (const uint64_t address : addresses) {
        std::array<char, 32> text;
        std::snprintf(text.data(), text.size(), " %#lx", address);
        command += text.data();
    }
    std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::array<char, 65536> buffer;
    std::vector<uint32_t> lines;
    while (std::fgets(buffer.data(), buffer.size(), pipe.get())) {
        const std::string text = buffer.data();
        const size_t colon = text.rfind(':');
        lines.push_back(colon == text.npos
                            ? 0
                            : static_cast<uint32_t>(std::strtoul(text.c_str() + colon + 1, 0, 10)));
    }
    return lines;
}

TEST_P(LineTableForms, AddressesAgreeWithAddr2line) {
    if (GetParam() == "sites_stripped.debug")
        GTEST_SKIP() << "addr2line wants the program";
    std::mt19937_64 random(11);
    std::vector<uint64_t> addresses;
    const SourceFileId main = file("main.cc");
    for (uint32_t line = 1; line < 100; ++line)
        for (const LineBlock& block : table_->blocks({main, line}))
            if (block.low < block.high)
                addresses.push_back(block.low + random() % (block.high - block.low));
    ASSERT_GT(addresses.size(), 20u);
    const std::vector<uint32_t> lines = reference(sites_program(GetParam()), addresses);
    ASSERT_EQ(lines.size(), addresses.size());
    for (size_t i = 0; i < lines.size(); ++i) {
        const auto found = table_->line_at(addresses[i]);
        ASSERT_TRUE(found);
        EXPECT_EQ(found->line, lines[i]) << std::hex << addresses[i];
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, LineTableForms,
                         testing::Values("sites_pie", "sites_plain", "sites_static", "sites_dwarf4",
                                         "sites_compressed", "sites_stripped.debug"),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::replace(name.begin(), name.end(), '.', '_');
                             return name;
                         });

TEST(LineTable, AFileWithoutDwarfSaysSo) {
    auto table = read_table(sites_program("sites_bare"));
    ASSERT_FALSE(table.ok());
    EXPECT_THAT(table.error().message(), testing::HasSubstr("no DWARF"));
}

// Bytes of the debug sections are overwritten at random: whatever comes out, it ends.
TEST(LineTable, SurvivesDamage) {
    std::ifstream file(sites_program("sites_plain"), std::ios::binary);
    const std::string original((std::istreambuf_iterator<char>(file)), {});
    std::mt19937_64 random(5);
    size_t read = 0;
    for (int round = 0; round < 150; ++round) {
        std::string damaged = original;
        const int bytes = 1 << (round % 12);
        // The last third holds the debug sections.
        for (int i = 0; i < bytes; ++i)
            damaged[damaged.size() / 3 + random() % (damaged.size() * 2 / 3)] =
                static_cast<char>(random());
        if (round % 5 == 4)
            damaged.resize(random() % damaged.size());
        UniqueFd fd(memfd_create("damaged", MFD_CLOEXEC));
        ASSERT_EQ(write(fd.get(), damaged.data(), damaged.size()),
                  static_cast<ssize_t>(damaged.size()));
        auto elf = ElfFile::open(std::move(fd), "damaged");
        if (!elf)
            continue;
        WorkProgress progress;
        if (auto table = LineTable::read(*elf, {}, progress)) {
            ++read;
            for (SourceFileId id = 0; id < (*table)->files(); ++id)
                for (uint32_t line = 1; line < 50; ++line)
                    for (const LineBlock& block : (*table)->blocks({id, line}))
                        EXPECT_LE(block.low, block.high);
        }
    }
    EXPECT_GT(read, 20u); // or the damage was never where it matters
}

} // namespace
} // namespace auger
