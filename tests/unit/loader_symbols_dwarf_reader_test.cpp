// SPDX-License-Identifier: GPL-3.0-or-later
// Debug information read in a process of its own: the same answers, and no harm when that process
// dies of a file, hangs, or has been taken over by it.
#include "loader/process/safe_open.h"
#include "loader/reader/dwarf/dwarf_index.h"
#include "loader/reader/names/demangle.h"
#include "loader/symbols/dwarf_reader.h"
#include "loader/symbols/module_table.h"
#include "loader/symbols/symbolizer.h"
#include "tests/support/wait.h"
#include "tests/unit/mapping_of.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

namespace auger {
namespace {

const DebugFolders no_folders;
const std::string good = AUGER_SYMBOLS_DIR "/symbols_dwarf5";
const std::string bad = AUGER_SYMBOLS_DIR "/symbols_dwarf4"; // for the processes below

std::shared_ptr<const ElfFile> open_elf(const std::string& path) {
    return *ElfFile::open(std::move(*open_regular(path)), path);
}

class Readers : public testing::Test {
  protected:
    Result<std::unique_ptr<DwarfReader>> open(const ConfinedProgram& program,
                                              std::chrono::seconds patience) {
        auto started = ConfinedProcesses::start(program);
        EXPECT_TRUE(started);
        processes = *std::move(started);
        DwarfSource source;
        source.file = std::make_shared<const UniqueFd>(duplicate(file->fd()));
        source.name = good;
        return DwarfReader::open(*processes, source, progress, died, patience);
    }
    std::string cause_of(const std::string& behaviour,
                         std::chrono::seconds patience = std::chrono::seconds(60)) {
        const auto reader = open({AUGER_FIXTURES_DIR "/fixture_confined", {behaviour}}, patience);
        return reader ? "" : reader.error().cause;
    }

    const std::shared_ptr<const ElfFile> file = open_elf(good);
    std::unique_ptr<ConfinedProcesses> processes;
    WorkProgress progress;
    bool died = false;
};

TEST_F(Readers, TheAnswersAreThoseOfTheIndex) {
    const auto reader = open(reader_program(), std::chrono::seconds(60));
    ASSERT_TRUE(reader) << reader.error().message();
    WorkProgress own;
    const auto index = DwarfIndex::open(file, no_folders, own);
    ASSERT_TRUE(index);
    EXPECT_EQ((*reader)->section_bytes(), (*index)->section_bytes());
    std::vector<uint64_t> addresses;
    for (const ElfFunction& function : file->functions())
        for (uint64_t offset = 0; offset < function.size; offset += 3)
            addresses.push_back(function.address + offset);
    ASSERT_GT(addresses.size(), 100u);
    const auto found = (*reader)->frames(addresses, progress);
    ASSERT_TRUE(found);
    size_t inlined = 0;
    for (size_t i = 0; i < addresses.size(); i++) {
        const auto expected = (*index)->frames(addresses[i], own);
        ASSERT_EQ((*found)[i].size(), expected.size());
        for (size_t depth = 0; depth < expected.size(); depth++) {
            EXPECT_EQ((*found)[i][depth].function, demangle(expected[depth].function));
            EXPECT_EQ((*found)[i][depth].file, expected[depth].file);
            EXPECT_EQ((*found)[i][depth].line, expected[depth].line);
            EXPECT_EQ((*found)[i][depth].inlined, expected[depth].inlined);
            inlined += expected[depth].inlined;
        }
    }
    EXPECT_GT(inlined, 50u);
}

TEST_F(Readers, WhatBecomesOfBadOnesIsTold) {
    EXPECT_EQ(cause_of("die"), "its reader crashed or was killed");
    EXPECT_EQ(cause_of("never-answer", std::chrono::seconds(0)), "it takes too long");
    EXPECT_EQ(cause_of("talk-nonsense"), "its reader sent an invalid answer");
    EXPECT_EQ(cause_of("promise"), "its reader crashed or was killed");
    EXPECT_EQ(cause_of("drip", std::chrono::seconds(1)), "it takes too long");
}

TEST_F(Readers, OneThatDiedIsReplacedOnce) {
    EXPECT_EQ(cause_of("die-once"), "");
}

TEST_F(Readers, OneThatDiesLaterIsReplacedToo) {
    ModuleTable modules;
    const auto functions = file->functions();
    const auto leaf = std::ranges::find(functions, "fixture_leaf", &ElfFunction::name);
    ASSERT_NE(leaf, functions.end());
    SymbolizerOptions options;
    auto readers =
        ConfinedProcesses::start({AUGER_FIXTURES_DIR "/fixture_confined", {"die-once-when-asked"}});
    ASSERT_TRUE(readers) << readers.error().message();
    options.readers = *std::move(readers);
    Symbolizer symbolizer(modules, options);
    const Location location{modules.file_module(getpid(), test::mapping_of(good)), leaf->address};
    symbolizer.request(location);
    ASSERT_TRUE(symbolizer.wait_idle(std::chrono::steady_clock::now() + std::chrono::seconds(60)));
    EXPECT_EQ(symbolizer.known(location).frames->size(), 3u);
    EXPECT_TRUE(symbolizer.reports()[0].lines) << symbolizer.reports()[0].note;
}

// Two that die of it are an attempt; that they do is not for ever.
TEST_F(Readers, LinesComeWhenTheirReadersNoLongerDie) {
    ModuleTable modules;
    const auto functions = file->functions();
    const auto leaf = std::ranges::find(functions, "fixture_leaf", &ElfFunction::name);
    ASSERT_NE(leaf, functions.end());
    SymbolizerOptions options;
    auto readers =
        ConfinedProcesses::start({AUGER_FIXTURES_DIR "/fixture_confined", {"die-often", "4"}});
    ASSERT_TRUE(readers) << readers.error().message();
    options.readers = *std::move(readers);
    Symbolizer symbolizer(modules, options);
    const Location location{modules.file_module(getpid(), test::mapping_of(good)), leaf->address};
    symbolizer.request(location);
    EXPECT_TRUE(test::wait_until([&] {
        const auto reports = symbolizer.reports();
        return !reports.empty() && reports[0].note.find("its reader") != std::string::npos;
    }));
    ASSERT_TRUE(symbolizer.wait_idle(std::chrono::steady_clock::now() + std::chrono::seconds(60)));
    EXPECT_EQ(symbolizer.known(location).frames->size(), 3u);
    EXPECT_TRUE(symbolizer.reports()[0].lines);
    EXPECT_EQ(symbolizer.reports()[0].note, "");
}

TEST_F(Readers, StopsWaitingWhenToldTo) {
    std::atomic<bool> stop{true};
    progress.stop = &stop;
    EXPECT_NE(cause_of("never-answer"), "");
}

TEST_F(Readers, AModuleThatKillsItsReaderKeepsItsNamesAndHarmsNoOther) {
    ModuleTable modules;
    const auto leaf = [&](const std::string& path) {
        const auto elf = open_elf(path);
        const auto& functions = elf->functions();
        const auto found = std::ranges::find(functions, "fixture_leaf", &ElfFunction::name);
        return Location{modules.file_module(getpid(), test::mapping_of(path)), found->address};
    };
    SymbolizerOptions options;
    auto readers = ConfinedProcesses::start({AUGER_FIXTURES_DIR "/fixture_confined",
                                             {"die-of", std::to_string(open_elf(bad)->inode())}});
    ASSERT_TRUE(readers) << readers.error().message();
    options.readers = *std::move(readers);
    Symbolizer symbolizer(modules, options);
    const Location first = leaf(bad), second = leaf(good);
    symbolizer.request(first);
    symbolizer.request(second);
    ASSERT_TRUE(symbolizer.wait_idle(std::chrono::steady_clock::now() + std::chrono::seconds(60)));
    const auto named = symbolizer.known(first).frames;
    ASSERT_EQ(named->size(), 1u);
    EXPECT_EQ(named->front().function, "fixture_leaf");
    EXPECT_EQ(symbolizer.known(second).frames->size(), 3u);
    for (const ModuleReport& report : symbolizer.reports()) {
        EXPECT_EQ(report.lines, report.module == second.module);
        EXPECT_EQ(report.note.find("crashed or was killed") != report.note.npos,
                  report.module == first.module);
    }
}

} // namespace
} // namespace auger
