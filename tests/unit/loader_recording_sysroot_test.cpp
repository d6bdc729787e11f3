// SPDX-License-Identifier: GPL-3.0-or-later
// A recording that was made elsewhere gets its names from files of a folder: the right ones, and
// nothing from outside of it.
#include "loader/process/safe_open.h"
#include "loader/reader/elf/function_index.h"
#include "loader/recording/recording_writer.h"
#include "loader/recording/replay_backend.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/loader_recording_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace auger {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string fixtures = std::string(AUGER_SYMBOLS_DIR) + "/";

// The build id of a fixture program, and where fixture_leaf is in it.
struct Program {
    explicit Program(const std::string& name) {
        const auto file = ElfFile::open(std::move(*open_regular(fixtures + name)), name);
        build_id = (*file)->build_id();
        const FunctionIndex index(*file);
        for (const FunctionIndex::Function& function : index.functions())
            if (index.best_name(function) == "fixture_leaf")
                leaf = function.address;
    }
    std::string build_id;
    uint64_t leaf = 0;
};

class Sysroot : public testing::Test {
  protected:
    // One location in /srv/bin/prog, with frames as it was recorded.
    void record(const Program& program, const std::vector<Frame>& frames = {}) {
        path = folder.path("a.auger");
        fs::remove(path);
        auto writer = RecordingWriter::create(path);
        ASSERT_TRUE(writer);
        EventSink& sink = **writer;
        sink.on_module(ModuleId{0}, {ModuleKind::file, "/srv/bin/prog", program.build_id});
        sink.on_location(LocationId{0}, {ModuleId{0}, program.leaf, false});
        sink.on_frames(LocationId{0}, std::vector<Frame>{{"prog+0x12", "", 0, false}});
        sink.on_stack(StackId{0}, std::vector{LocationId{0}});
        sink.on_thread(ThreadId{0}, {70, 71, "worker"});
        SampleEvent sample;
        sample.time_ns = 1'000'000'000;
        sink.on_sample(sample);
        if (!frames.empty())
            sink.on_frames(LocationId{0}, frames);
        sink.on_time(2'000'000'000);
        ASSERT_TRUE((*writer)->finish());
    }
    void put(const std::string& fixture, const std::string& at) {
        const fs::path to = root() + at;
        fs::create_directories(to.parent_path());
        fs::copy_file(fixtures + fixture, to);
    }
    std::string root() const { return folder.path("root"); }
    static std::string store_path(const Program& program) {
        return "/.build-id/" + program.build_id.substr(0, 2) + "/" + program.build_id.substr(2) +
               ".debug";
    }
    // What a replay tells of the location in the end, and its notices.
    std::string replay() {
        fs::create_directories(root());
        Transcript seen;
        auto backend = open_replay(std::vector{path}, seen, {{}, root()});
        EXPECT_TRUE(backend) << backend.error().message();
        while (*(*backend)->poll(std::chrono::hours(1), -1))
            ;
        EXPECT_TRUE((*backend)->refresh());
        (*backend)->settle_symbols(std::chrono::seconds(60));
        EXPECT_EQ((*backend)->symbol_progress().pending, 0u);
        std::string frames;
        notices.clear();
        for (const std::string& line : seen.lines) {
            if (line.starts_with("frames 0 "))
                frames = line;
            if (line.starts_with("notice "))
                notices += line + "\n";
        }
        return frames;
    }

    test::TemporaryFolder folder;
    std::string path, notices;
    const Program complete{"symbols_dwarf5"};
    const Program stripped = [] {
        Program program("symbols_stripped.debug");
        return program;
    }();
};

TEST_F(Sysroot, NamesAndLinesComeFromTheFileOfThePath) {
    record(complete);
    put("symbols_dwarf5", "/srv/bin/prog");
    const std::string frames = replay();
    EXPECT_THAT(frames, HasSubstr("innermost"));
    EXPECT_THAT(frames, HasSubstr("fixture_leaf"));
    EXPECT_THAT(frames, HasSubstr("loader_symbols_program.cc"));
    EXPECT_EQ(notices, "");
}

TEST_F(Sysroot, AFileOfAnotherBuildIsNotUsed) {
    record(complete);
    put("symbols_dwarf4", "/srv/bin/prog");
    EXPECT_THAT(replay(), HasSubstr("prog+0x12"));
    EXPECT_THAT(notices, HasSubstr(complete.build_id));
    EXPECT_THAT(notices, HasSubstr(Program("symbols_dwarf4").build_id));
    Program unknown = complete;
    unknown.build_id.clear(); // nothing to check by
    record(unknown);
    EXPECT_THAT(replay(), HasSubstr("prog+0x12"));
    EXPECT_THAT(notices, HasSubstr("no build id"));
}

TEST_F(Sysroot, DebugFilesAreFoundByBuildId) {
    record(stripped);
    put("symbols_stripped", "/srv/bin/prog");
    put("symbols_stripped.debug", "/usr/lib/debug" + store_path(stripped));
    EXPECT_THAT(replay(), HasSubstr("loader_symbols_program.cc"));
    // The folder may be nothing but a store.
    fs::remove_all(root());
    put("symbols_stripped.debug", store_path(stripped));
    EXPECT_THAT(replay(), HasSubstr("loader_symbols_program.cc"));
    // Both: the program by its path, its names from the store.
    put("symbols_stripped", "/srv/bin/prog");
    EXPECT_THAT(replay(), HasSubstr("loader_symbols_program.cc"));
    EXPECT_EQ(notices, "");
}

TEST_F(Sysroot, NothingLeadsOutOfTheFolder) {
    record(complete);
    fs::create_directories(root() + "/srv/bin");
    fs::create_symlink(fixtures + "symbols_dwarf5", root() + "/srv/bin/prog");
    EXPECT_THAT(replay(), HasSubstr("prog+0x12"));
    EXPECT_THAT(notices, HasSubstr("prog: no file below"));
    fs::remove_all(root());
    fs::create_directories(root() + "/srv");
    fs::create_symlink("../../../../../../../../../../" + fixtures, root() + "/srv/bin");
    EXPECT_THAT(replay(), HasSubstr("prog+0x12"));
    // Within it links lead on, from its own top.
    fs::remove_all(root());
    put("symbols_dwarf5", "/opt/prog-1.2");
    fs::create_directories(root() + "/srv/bin");
    fs::create_symlink("/opt/prog-1.2", root() + "/srv/bin/prog");
    EXPECT_THAT(replay(), HasSubstr("fixture_leaf"));
}

TEST_F(Sysroot, WhatWasRecordedIsOnlyBettered) {
    put("symbols_dwarf5", "/srv/bin/prog");
    record(complete, {{"as_recorded", "a.cc", 7, false}});
    EXPECT_THAT(replay(), HasSubstr("as_recorded"));
    record(complete, {{"fixture_leaf", "", 0, false}}); // lines were not known
    EXPECT_THAT(replay(), HasSubstr("loader_symbols_program.cc"));
    fs::remove_all(root());
    put("symbols_stripped", "/srv/bin/prog");
    record(stripped, {{"as_recorded", "", 0, false}});
    EXPECT_THAT(replay(), HasSubstr("as_recorded"));
}

TEST_F(Sysroot, MustBeAFolder) {
    record(complete);
    Transcript seen;
    EXPECT_FALSE(open_replay(std::vector{path}, seen, {{}, folder.path("nothing")}));
    EXPECT_FALSE(open_replay(std::vector{path}, seen, {{}, path}));
}

} // namespace
} // namespace auger
