// SPDX-License-Identifier: GPL-3.0-or-later
// Lines and inlined frames against another reader of DWARF, and against damaged files.
#include "loader/process/safe_open.h"
#include "loader/reader/dwarf/dwarf_index.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <random>

namespace auger {
namespace {

const DebugFolders no_folders;

std::string fixture(const std::string& name) {
    return std::string(AUGER_SYMBOLS_DIR) + "/" + name;
}

std::shared_ptr<const ElfFile> open_elf(const std::string& path) {
    auto elf = ElfFile::open(std::move(*open_regular(path)), path);
    return elf ? *elf : nullptr;
}

std::vector<uint64_t> code_addresses(const ElfFile& elf, size_t count) {
    std::mt19937_64 random(7);
    std::vector<uint64_t> addresses;
    for (const ElfSegment& segment : elf.segments())
        for (size_t i = 0; segment.executable && segment.memory_size && i < count; i++)
            addresses.push_back(segment.address + random() % segment.memory_size);
    return addresses;
}

// What `addr2line -f -i -a` prints; file "??" stands for not known.
std::vector<std::vector<SourceFrame>> reference(const std::string& path,
                                                const std::vector<uint64_t>& addresses) {
    std::string command = "addr2line -f -i -a -e '" + path + "'";
    for (const uint64_t address : addresses) {
        std::array<char, 32> text;
        std::snprintf(text.data(), text.size(), " %#lx", address);
        command += text.data();
    }
    std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::vector<std::vector<SourceFrame>> all;
    std::array<char, 65536> buffer;
    const auto line = [&]() -> std::string {
        if (!std::fgets(buffer.data(), buffer.size(), pipe.get()))
            return {};
        std::string text = buffer.data();
        text.pop_back();
        return text;
    };
    for (std::string text = line(); !text.empty(); text = line()) {
        if (text.starts_with("0x")) {
            all.emplace_back();
            continue;
        }
        SourceFrame frame;
        frame.function = text;
        std::string place = line();
        place = place.substr(0, place.find(" (disc"));
        const size_t colon = place.rfind(':');
        frame.file = std::filesystem::path(place.substr(0, colon)).lexically_normal();
        frame.line = static_cast<uint32_t>(std::atoi(place.c_str() + colon + 1));
        all.back().push_back(frame);
    }
    return all;
}

class Dwarf : public testing::TestWithParam<const char*> {};

TEST_P(Dwarf, AgreesWithAddr2line) {
    if (std::system("command -v addr2line >/dev/null") != 0)
        GTEST_SKIP() << "addr2line (binutils) is not installed";
    const std::string path = fixture(GetParam());
    const auto elf = open_elf(path);
    ASSERT_TRUE(elf);
    WorkProgress progress;
    auto index = DwarfIndex::open(elf, no_folders, progress);
    ASSERT_TRUE(index) << index.error().message();
    const auto addresses = code_addresses(*elf, 500);
    const auto expected = reference(path, addresses);
    ASSERT_EQ(expected.size(), addresses.size());
    size_t compared = 0, inlined = 0;
    for (size_t i = 0; i < addresses.size(); i++) {
        // Start-up code has symbols only.
        if (expected[i].empty() || expected[i][0].line == 0)
            continue;
        const auto found = (*index)->frames(addresses[i], progress);
        // Padding between functions has a line and no function; addr2line takes the nearest symbol.
        if (found.size() == 1 && found[0].function.empty())
            continue;
        compared++;
        ASSERT_EQ(found.size(), expected[i].size()) << std::hex << addresses[i];
        for (size_t depth = 0; depth < found.size(); depth++) {
            EXPECT_EQ(found[depth].function, expected[i][depth].function)
                << std::hex << addresses[i];
            EXPECT_EQ(std::filesystem::path(found[depth].file).lexically_normal(),
                      expected[i][depth].file);
            EXPECT_EQ(found[depth].line, expected[i][depth].line) << std::hex << addresses[i];
            EXPECT_EQ(found[depth].inlined, depth + 1 < found.size());
            inlined += found[depth].inlined;
        }
    }
    EXPECT_GT(compared, 300u);
    EXPECT_GT(inlined, 500u);
}

INSTANTIATE_TEST_SUITE_P(Forms, Dwarf,
                         testing::Values("symbols_dwarf5", "symbols_dwarf4", "symbols_compressed",
                                         "symbols_stripped.debug"));

TEST(DwarfIndex, AStrippedFileSaysThatItHasNone) {
    WorkProgress progress;
    const auto index =
        DwarfIndex::open(open_elf(fixture("symbols_stripped")), no_folders, progress);
    ASSERT_FALSE(index);
    EXPECT_EQ(index.error().cause, "no DWARF");
}

TEST(DwarfIndex, StopsWhenToldTo) {
    std::atomic<bool> stop{true};
    WorkProgress progress;
    progress.stop = &stop;
    const auto index = DwarfIndex::open(open_elf(fixture("symbols_dwarf5")), no_folders, progress);
    ASSERT_TRUE(index);
    EXPECT_EQ((*index)->units(), 0u);
}

// Bytes of .debug_* changed at random: any answer will do, a crash or an endless loop will not.
TEST(DwarfIndex, DamagedFilesDoNoHarm) {
    for (const char* name : {"symbols_dwarf5", "symbols_dwarf4"}) {
        auto content = read_file(fixture(name));
        ASSERT_TRUE(content);
        const size_t debug = content->size() / 4; // code comes first, and is short
        std::mt19937 random(3);
        for (int round = 0; round < 60; round++) {
            std::string damaged = *content;
            for (int i = 0; i < 1 << (round % 10); i++)
                damaged[debug + random() % (damaged.size() - debug)] = static_cast<char>(random());
            if (round % 7 == 0)
                damaged.resize(debug + random() % (damaged.size() - debug));
            UniqueFd file(memfd_create("damaged", MFD_CLOEXEC));
            ASSERT_EQ(write(file.get(), damaged.data(), damaged.size()),
                      static_cast<ssize_t>(damaged.size()));
            auto elf = ElfFile::open(std::move(file), "damaged");
            if (!elf)
                continue;
            WorkProgress progress;
            auto index = DwarfIndex::open(*elf, no_folders, progress);
            if (!index)
                continue;
            for (const uint64_t address : code_addresses(**elf, 100))
                (*index)->frames(address, progress);
        }
    }
}

} // namespace
} // namespace auger
