// SPDX-License-Identifier: GPL-3.0-or-later
// From an address in a process to frames, the whole way, without root.
#include "loader/process/confined_process.h"
#include "loader/process/launch.h"
#include "loader/process/safe_open.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/symbols/module_map.h"
#include "loader/symbols/name_process.h"
#include "loader/symbols/symbolizer.h"
#include "tests/support/children.h"
#include "tests/support/wait.h"
#include "tests/unit/mapping_of.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

namespace auger {
namespace {

namespace fs = std::filesystem;

auto soon() {
    return std::chrono::steady_clock::now() + std::chrono::seconds(60);
}

// A fixture program that waits, copied so that its file can be changed under it.
class Running {
  public:
    explicit Running(const std::string& name) {
        std::string pattern = testing::TempDir() + "auger-symbols-XXXXXX";
        folder_ = mkdtemp(pattern.data());
        path_ = folder_ + "/" + name;
        fs::copy_file(std::string(AUGER_SYMBOLS_DIR) + "/" + name, path_);
        int input[2], output[2];
        EXPECT_EQ(pipe2(input, O_CLOEXEC), 0);
        EXPECT_EQ(pipe2(output, O_CLOEXEC), 0);
        UniqueFd program_input(input[0]), program_output(output[1]), result(output[0]);
        input_.reset(input[1]);
        LaunchOptions options{{path_, "wait"}, {}};
        options.stdin_fd = program_input.get();
        options.stdout_fd = program_output.get();
        process_.emplace(std::move(*LaunchedProcess::start(options)));
        EXPECT_TRUE(process_->release());
        std::string line(64, '\0');
        const ssize_t got = read(result.get(), line.data(), line.size());
        EXPECT_GT(got, 2);
        leaf_ = std::strtoull(line.c_str(), nullptr, 16);
    }
    ~Running() {
        finish();
        fs::remove_all(folder_);
    }
    void finish() {
        input_.reset();
        EXPECT_TRUE(*process_->wait_exit(std::chrono::seconds(20)));
    }
    pid_t pid() const { return process_->pid(); }
    const std::string& path() const { return path_; }
    const std::string& folder() const { return folder_; }
    uint64_t leaf() const { return leaf_; } // address of fixture_leaf()

  private:
    std::string folder_, path_;
    UniqueFd input_;
    std::optional<LaunchedProcess> process_;
    uint64_t leaf_ = 0;
};

class Symbols : public testing::Test {
  protected:
    std::vector<Frame> resolve(Symbolizer& symbolizer, const Location& location) {
        symbolizer.request(location);
        EXPECT_TRUE(symbolizer.wait_idle(soon()));
        const Resolution now = symbolizer.request(location);
        EXPECT_TRUE(symbolizer.wait_idle(soon()));
        return *now.frames;
    }
    Location in(const Running& program, uint64_t offset = 0) {
        EXPECT_TRUE(map.scan(program.pid(), 1));
        return map.locate(program.pid(), program.leaf() + offset, 2);
    }
    static void expect_leaf(const std::vector<Frame>& frames) {
        ASSERT_EQ(frames.size(), 3u);
        EXPECT_EQ(frames[0].function, "innermost");
        EXPECT_EQ(frames[1].function, "middle");
        EXPECT_EQ(frames[2].function, "fixture_leaf");
        EXPECT_TRUE(frames[0].inlined && frames[1].inlined && !frames[2].inlined);
        EXPECT_TRUE(frames[2].file.ends_with("loader_symbols_program.cc"));
        EXPECT_EQ(frames[2].line, frames[1].line + 3);
    }

    ModuleTable modules;
    ModuleMap map{modules};
};

TEST_F(Symbols, OffsetsFirstThenNamesAndLines) {
    Running program("symbols_dwarf5");
    const Location leaf = in(program);
    Symbolizer symbolizer(modules);
    const Resolution first = symbolizer.request(leaf);
    EXPECT_EQ(first.detail, Detail::offset);
    ASSERT_EQ(first.frames->size(), 1u);
    EXPECT_EQ(first.frames->front().function, offset_name("symbols_dwarf5", leaf.address));
    ASSERT_TRUE(symbolizer.wait_idle(soon()));
    EXPECT_GT(symbolizer.generation(), 0u);
    const Resolution full = symbolizer.request(leaf);
    EXPECT_EQ(full.detail, Detail::full);
    expect_leaf(*full.frames);
    EXPECT_EQ(symbolizer.waiting(), 0u);
    const auto reports = symbolizer.reports();
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].build_id, modules.info(leaf.module).build_id);
    EXPECT_TRUE(reports[0].lines);
    EXPECT_GT(reports[0].symbols, 10u);
}

TEST_F(Symbols, WithoutLinesNamesAreAll) {
    Running program("symbols_dwarf5");
    SymbolizerOptions options;
    options.lines = false;
    Symbolizer symbolizer(modules, options);
    const auto frames = resolve(symbolizer, in(program));
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0].function, "fixture_leaf");
}

TEST_F(Symbols, NamesOutliveTheProgramAndItsFile) {
    auto program = std::make_unique<Running>("symbols_dwarf5");
    const Location leaf = in(*program);
    fs::remove(program->path());
    program.reset();
    Symbolizer symbolizer(modules);
    expect_leaf(resolve(symbolizer, leaf));
}

TEST_F(Symbols, AFileDeletedBeforeTheFirstLookIsRead) {
    Running program("symbols_dwarf5");
    fs::remove(program.path());
    std::ofstream(program.path()) << "something else";
    Symbolizer symbolizer(modules);
    expect_leaf(resolve(symbolizer, in(program)));
}

TEST_F(Symbols, TheDebugLinkIsFollowedWhenItsChecksumIsRight) {
    Running program("symbols_stripped");
    const Location leaf = in(program);
    SymbolizerOptions options;
    options.debug_folder = program.folder() + "/nothing";
    const std::string debug = std::string(AUGER_SYMBOLS_DIR) + "/symbols_stripped.debug";
    {
        Symbolizer bare(modules, options);
        const auto frames = resolve(bare, leaf);
        EXPECT_EQ(frames[0].function, offset_name("symbols_stripped", leaf.address));
    }
    fs::create_directory(program.folder() + "/.debug");
    const std::string copy = program.folder() + "/.debug/symbols_stripped.debug";
    fs::copy_file(debug, copy);
    {
        Symbolizer linked(modules, options);
        expect_leaf(resolve(linked, leaf));
        EXPECT_EQ(linked.reports()[0].debug_file, copy);
    }
    std::ofstream(copy, std::ios::app) << "x";
    Symbolizer damaged(modules, options);
    EXPECT_EQ(resolve(damaged, leaf).size(), 1u);
}

// By its call frame information, which stripped files have, too.
TEST_F(Symbols, AFunctionWithoutANameIsWhereItBegins) {
    Running program("symbols_stripped");
    const Location leaf = in(program);
    SymbolizerOptions options;
    options.debug_folder = program.folder() + "/nothing";
    Symbolizer bare(modules, options);
    const std::string name = offset_name("symbols_stripped", leaf.address);
    EXPECT_EQ(resolve(bare, in(program, 3))[0].function, name);
    Location behind_call = in(program, 1);
    behind_call.is_return = true;
    EXPECT_EQ(resolve(bare, behind_call)[0].function, name);
    const auto file = ElfFile::open(std::move(*open_regular(program.path())), "stripped");
    EXPECT_EQ(resolve(bare, {leaf.module, (*file)->entry() + 1})[0].function, "_start");
}

TEST_F(Symbols, TheBuildIdFindsTheDebugFile) {
    Running program("symbols_stripped");
    const Location leaf = in(program);
    const std::string id = modules.info(leaf.module).build_id;
    ASSERT_GT(id.size(), 4u);
    SymbolizerOptions options;
    options.debug_folder = program.folder() + "/debug";
    const std::string folder = options.debug_folder + "/.build-id/" + id.substr(0, 2);
    fs::create_directories(folder);
    const std::string path = folder + "/" + id.substr(2) + ".debug";
    // Another program's file under this name is not believed.
    fs::copy_file(std::string(AUGER_SYMBOLS_DIR) + "/symbols_dwarf4", path);
    {
        Symbolizer deceived(modules, options);
        EXPECT_EQ(resolve(deceived, leaf).size(), 1u);
    }
    fs::remove(path);
    fs::create_symlink(std::string(AUGER_SYMBOLS_DIR) + "/symbols_stripped.debug", path);
    Symbolizer symbolizer(modules, options);
    expect_leaf(resolve(symbolizer, leaf));
}

TEST_F(Symbols, AReturnAddressIsTheCallBeforeIt) {
    Running program("symbols_dwarf5");
    Location start = in(program);
    start.is_return = true; // one byte before fixture_leaf is not fixture_leaf
    Symbolizer symbolizer(modules);
    const auto frames = resolve(symbolizer, start);
    EXPECT_NE(frames.back().function, "fixture_leaf");
}

TEST_F(Symbols, TheVdsoHasNames) {
    const uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
    if (!vdso)
        GTEST_SKIP() << "the kernel provides no vdso";
    ASSERT_TRUE(map.scan(getpid(), 1));
    Symbolizer symbolizer(modules);
    std::string names;
    for (uint64_t offset = 0x200; offset < 0x2000; offset += 16) {
        const Location at = map.locate(getpid(), vdso + offset, 2);
        EXPECT_EQ(at.module, vdso_module);
        symbolizer.request(at);
    }
    ASSERT_TRUE(symbolizer.wait_idle(soon()));
    for (uint64_t offset = 0x200; offset < 0x2000; offset += 16)
        names +=
            symbolizer.request(map.locate(getpid(), vdso + offset, 2)).frames->front().function;
    EXPECT_NE(names.find("clock_gettime"), std::string::npos);
}

TEST_F(Symbols, TheKernelsNamesAndTheirAbsence) {
    const std::string path = testing::TempDir() + "auger-kallsyms";
    std::ofstream(path) << "ffffffff81000000 T start\nffffffffc0000000 t hook\t[nf_tables]\n";
    SymbolizerOptions options;
    options.kallsyms = path;
    Symbolizer symbolizer(modules, options);
    EXPECT_EQ(resolve(symbolizer, {kernel_module, 0xffffffff81000010})[0].function, "start");
    EXPECT_EQ(resolve(symbolizer, {kernel_module, 0xffffffffc0000010})[0].function,
              "hook [nf_tables]");
    std::ofstream(path) << "0000000000000000 T start\n";
    Symbolizer hidden(modules, options);
    EXPECT_EQ(resolve(hidden, {kernel_module, 0xffffffff81000010})[0].function, "[unknown]");
    EXPECT_NE(hidden.reports()[0].note.find("kptr_restrict"), std::string::npos);
    fs::remove(path);
}

TEST_F(Symbols, WhatIsMappedNowhereIsUnknownAtOnce) {
    Symbolizer symbolizer(modules);
    const Resolution nothing = symbolizer.request({unknown_module, 0x1234});
    EXPECT_EQ(nothing.detail, Detail::full);
    EXPECT_EQ(nothing.frames->front().function, "[unknown]");
}

TEST_F(Symbols, AFileThatIsNoElfHasOffsets) {
    const std::string path = testing::TempDir() + "auger-no-elf";
    std::ofstream(path) << "not an ELF file";
    const ModuleId id = modules.file_module(getpid(), test::mapping_of(path));
    Symbolizer symbolizer(modules);
    EXPECT_EQ(resolve(symbolizer, {id, 0x10})[0].function, "auger-no-elf+0x10");
    EXPECT_FALSE(symbolizer.reports()[0].note.empty());
    fs::remove(path);
}

size_t grandchildren() {
    size_t count = 0;
    for (const pid_t child : test::children_of(getpid()))
        count += test::children_of(child).size();
    return count;
}

TEST_F(Symbols, DestroyingItDoesNotWaitForTheWork) {
    Running program("symbols_compressed");
    const Location leaf = in(program);
    // Names do not come, or names do and lines do not.
    for (const auto& [behaviour, processes] :
         {std::pair{"names-never-answer", 1u}, std::pair{"never-answer", 2u}}) {
        SymbolizerOptions options;
        auto readers =
            ConfinedProcesses::start({AUGER_FIXTURES_DIR "/fixture_confined", {behaviour}});
        ASSERT_TRUE(readers) << readers.error().message();
        options.readers = *std::move(readers);
        std::optional<Symbolizer> symbolizer(std::in_place, modules, options);
        for (uint64_t offset = 0; offset < 2000; offset++)
            symbolizer->request({leaf.module, leaf.address + offset});
        // Until it waits for the reader.
        ASSERT_TRUE(test::wait_until([&] { return grandchildren() >= processes; }));
        const auto begin = std::chrono::steady_clock::now();
        symbolizer.reset();
        options.readers.reset();
        // Its threads let go of the readers. One that never answers is given so long at least.
        ASSERT_TRUE(test::wait_until([] { return grandchildren() == 0; }));
        EXPECT_LT(std::chrono::steady_clock::now() - begin, name_patience);
    }
}

} // namespace
} // namespace auger
