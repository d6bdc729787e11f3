// SPDX-License-Identifier: GPL-3.0-or-later
// Code read in processes of their own: the same places as when it is read here; no harm when such a
// process dies, is killed or has been taken over, and nothing said of files of another's.
#include "loader/probes/code_messages.h"
#include "loader/probes/program_compiler.h"
#include "loader/reader/matching/probe_match.h"
#include "tests/support/children.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/code_files.h"
#include "tests/unit/loader_matching_debug.h"
#include "tests/unit/loader_sites_source.h"
#include "tests/unit/loader_values_program.h"
#include "tests/unit/loader_values_requests.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <sys/stat.h>

namespace auger {
namespace {

using testing::Contains;
using testing::HasSubstr;

const std::string functions = AUGER_FIXTURES_DIR "/fixture_functions";
const std::string libc = "/usr/lib/x86_64-linux-gnu/libc.so.6";

class CodeReading : public testing::Test {
  protected:
    void add(const std::string& path, bool main_program) {
        files_.push_back({test::code_file(path), main_program});
        auto elf = ElfFile::open(std::move(*open_regular(path)), path);
        ASSERT_TRUE(elf) << path;
        auto debug = test::debug_of(*elf, path);
        const auto& apart = debug->debug_file();
        const bool stripped = !(*elf)->has_symbols() && apart && apart->has_symbols();
        modules_.push_back({std::make_shared<FunctionIndex>(*elf, stripped ? apart : nullptr), path,
                            main_program, debug});
    }
    Result<ProbeMatches> find(const std::string& text, const MatchOptions& options = {}) {
        ParsedProbe probe = parse_probe(text);
        EXPECT_TRUE(probe.pattern) << text;
        return readers_.find(*probe.pattern, files_, options);
    }
    std::string failure(const std::string& text) {
        const auto found = find(text);
        return found ? "found" : found.error().message();
    }
    // Names, and where they are.
    std::string found(const std::string& text) {
        const auto matches = find(text);
        if (!matches)
            return matches.error().message();
        std::string all;
        for (const PlaceMatch& place : matches->places)
            all += place.name + " in " +
                   std::filesystem::path(files_[place.module].file->path()).filename().string() +
                   "\n";
        return all;
    }
    static std::vector<pid_t> processes() {
        std::vector<pid_t> all;
        for (const pid_t launcher : test::children_of(getpid()))
            for (const pid_t reader : test::children_of(launcher))
                all.push_back(reader);
        return all;
    }
    // Another file than all others.
    std::string copy(const std::string& name, mode_t mode = 0755,
                     const std::string& of = functions) {
        const std::string path = folder_.file(name, *read_file(of) + name);
        EXPECT_EQ(chmod(path.c_str(), mode), 0);
        return path;
    }
    std::string copy_of_user(const std::string& name, uid_t user) {
        const std::string path = copy(name);
        EXPECT_EQ(chown(path.c_str(), user, user), 0);
        return path;
    }

    test::TemporaryFolder folder_;
    test::Readers readers_;
    std::vector<SearchedFile> files_;
    std::vector<ProbeModule> modules_;
};

TEST_F(CodeReading, FindsWhatIsFoundHere) {
    add(test::sites_program("sites_plain"), true);
    add(functions, false);
    add(libc, false);
    const std::string line = "main.cc:" + std::to_string(test::marked_line("main.cc", "one"));
    for (const std::string& text : std::vector<std::string>{"main",
                                                            "*",
                                                            "libc:recv",
                                                            "libc:re*",
                                                            "libc:malloc",
                                                            "fixture_functions:*",
                                                            "nobody",
                                                            "mian",
                                                            "main+0x1",
                                                            "0x1000",
                                                            "libc:0x100000",
                                                            "send@*",
                                                            "recv@*",
                                                            "memcpy@*",
                                                            "nobody@*",
                                                            "main.cc:1",
                                                            "main.cc:30",
                                                            "nowhere.cc:1",
                                                            "recv@main.cc:1",
                                                            "nolib:recv",
                                                            "/nowhere/lib.so:recv",
                                                            libc + ":recv",
                                                            "libc:strlen",
                                                            line}) {
        for (const bool explain : {true, false}) {
            const ParsedProbe probe = parse_probe(text);
            ASSERT_TRUE(probe.pattern) << text;
            // As the console would say it.
            const auto here = match_probe(*probe.pattern, modules_, {5000, explain});
            const auto there = find(text, {5000, explain});
            EXPECT_EQ(code_messages::places({there}), code_messages::places({here})) << text;
        }
    }
    EXPECT_EQ(readers_.complete("re", files_, 50), complete_function("re", modules_, 50));
}

TEST_F(CodeReading, KnowsALibraryByAnyPathToIt) {
    add(functions, true);
    add(libc, false);
    std::filesystem::create_symlink(libc, folder_.path("link.so"));
    EXPECT_EQ(found(folder_.path("link.so") + ":recv"), found("libc:recv"));
}

TEST_F(CodeReading, OneProcessAnOwner) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root to play two users";
    add(copy_of_user("one", 1), true);
    add(copy_of_user("two", 2), true);
    add(libc, false);
    // In the main programs of both, who know nothing of each other.
    EXPECT_EQ(found("plain_function"), "plain_function in one\nplain_function in two\n");
    EXPECT_EQ(processes().size(), 3u);
    // It is somebody else's to search, and told of as if it were not.
    EXPECT_THAT(failure("libc:recvmsgg"), HasSubstr("did you mean"));
    EXPECT_THAT(failure("nolib:recvmsg"), HasSubstr("no mapped file is named nolib"));
    // What a main program has too many of is not looked for in libraries.
    EXPECT_THAT(find("*", {2, true}).error().message(), HasSubstr("more than the limit of 2"));
    // They hide what libraries have.
    EXPECT_EQ(found("main"), "main in one\nmain in two\n");
    EXPECT_EQ(found("recvmsg"), "recvmsg in libc.so.6\n");
    EXPECT_THAT(failure("nobody_at_all"), HasSubstr("no such function"));
    EXPECT_THAT(failure("plain_functoin"), HasSubstr("did you mean plain_function"));
    EXPECT_THAT(readers_.complete("plain_", files_, 10), Contains("plain_function"));
}

TEST_F(CodeReading, WhatOthersMayWriteIsReadApart) {
    add(copy("mine"), true);
    add(copy("to_all", 0777), true);
    add(copy("to_all_too", 0777), true);
    // The same group may write both.
    add(copy("to_group", 0775), true);
    add(copy("to_group_too", 0775), true);
    EXPECT_EQ(find("plain_function")->places.size(), 5u);
    EXPECT_EQ(processes().size(), 4u);
}

TEST_F(CodeReading, ProcessesThatAreKilledAreReplaced) {
    add(functions, true);
    add(libc, false);
    const std::string before = found("plain_function");
    for (int round = 0; round < 3; round++) {
        ASSERT_EQ(processes().size(), 1u);
        ASSERT_EQ(kill(processes().front(), SIGKILL), 0);
        EXPECT_EQ(found("plain_function"), before);
        EXPECT_EQ(found("libc:recvmsg"), "recvmsg in libc.so.6\n");
    }
}

TEST_F(CodeReading, WhatIsNoElfFileIsNone) {
    EXPECT_EQ(test::code_file(folder_.file("text", "no program")), nullptr);
    EXPECT_THAT(failure("main"), HasSubstr("no file of the target is known"));
    // One that lies about its sections.
    std::string bytes = read_file(functions)->substr(0, 200);
    files_.push_back({test::code_file(folder_.file("cut", bytes)), true});
    ASSERT_TRUE(files_.back().file);
    EXPECT_NE(failure("main"), "found");
}

TEST_F(CodeReading, FilesThatNobodyHasAreClosed) {
    add(functions, true);
    EXPECT_NE(found("plain_function"), "");
    ASSERT_EQ(processes().size(), 1u);
    const auto open_files = [&] {
        return std::distance(
            std::filesystem::directory_iterator("/proc/" + std::to_string(processes()[0]) + "/fd"),
            {});
    };
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root to look into confined processes";
    const auto before = open_files();
    for (int i = 0; i < 5; i++) {
        files_.push_back({test::code_file(copy("copy" + std::to_string(i))), false});
        EXPECT_NE(found("plain_function"), "");
        EXPECT_GT(open_files(), before);
        files_.pop_back();
    }
    EXPECT_NE(found("plain_function"), "");
    EXPECT_EQ(open_files(), before);
}

TEST_F(CodeReading, CompilesAsHere) {
    const test::ValuesProgram program("values_c_optimised");
    const auto file = test::code_file(program.path);
    for (const std::string text :
         {"req->peer->port == 3", "number > 3", "nobody", "ret < 0", "errno == 4", "arg0 and",
          "req->table[count] - ret > 3", "(Nobody *)arg0"}) {
        ProgramRequest request;
        request.conditions.only_if = text;
        request.traces_slow = true;
        const std::vector<pid_t> self = {getpid()};
        const auto here = compile_program(request, program.scope("members", self));
        const auto there = ProgramCompiler(readers_, request)
                               .compile({"members", file, program.address_of("members"), self});
        EXPECT_EQ(code_messages::program(there), code_messages::program(here)) << text;
    }
    // Nothing is asked of who is asked for nothing.
    test::Readers others;
    EXPECT_TRUE(ProgramCompiler(others, {}).compile({"members", file, 0, {}}));
}

uint64_t inode_of(const std::string& path) {
    struct stat status;
    return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

TEST_F(CodeReading, AFileThatKillsItsReaderCostsItsOwnFunctions) {
    add(copy("bad"), true);
    add(copy("good"), true);
    add(libc, false);
    test::Readers readers({AUGER_FIXTURES_DIR "/fixture_confined",
                           {"code-die-of", std::to_string(inode_of(folder_.path("bad")))}});
    const auto in = [&](const std::string& library) {
        return readers.find(*parse_probe(library + ":plain_function").pattern, files_);
    };
    const auto good = in("good");
    ASSERT_TRUE(good) << good.error().message();
    EXPECT_EQ(good->places.size(), 1u);
    EXPECT_FALSE(in("bad"));
    EXPECT_TRUE(in("good"));
    EXPECT_TRUE(readers.facts_of(files_[1].file));
    EXPECT_FALSE(readers.facts_of(files_[0].file));
}

TEST_F(CodeReading, WhatDoesNotHoldTogetherIsNotBelieved) {
    for (const auto& [behaviour, cause] :
         {std::pair{"code-die", "its reader crashed or was killed"},
          std::pair{"code-talk-nonsense", "its reader sent an invalid answer"},
          std::pair{"code-promise", "its reader crashed or was killed"}}) {
        files_.clear();
        add(copy("mine", 0775), true);
        test::Readers readers({AUGER_FIXTURES_DIR "/fixture_confined", {behaviour}});
        const auto found = readers.find(*parse_probe("main").pattern, files_);
        ASSERT_FALSE(found) << behaviour;
        EXPECT_THAT(found.error().message(), HasSubstr(cause)) << behaviour;
        EXPECT_FALSE(readers.facts_of(files_[0].file)) << behaviour;
        EXPECT_FALSE(readers.switches_in(files_[0].file)) << behaviour;
        EXPECT_FALSE(readers.go_places(files_[0].file)) << behaviour;
        EXPECT_FALSE(readers.needed(files_[0].file)) << behaviour;
        EXPECT_TRUE(readers.complete("m", files_, 5).empty()) << behaviour;
        ProgramRequest request = test::only_if("arg0");
        EXPECT_FALSE(ProgramCompiler(readers, request).compile({"f", files_[0].file, 0, {}}))
            << behaviour;
    }
}

TEST_F(CodeReading, WaitsForNoAnswerThatNobodyWaitsFor) {
    add(copy("mine", 0775), true);
    int asked = 0;
    test::Readers readers({AUGER_FIXTURES_DIR "/fixture_confined", {"code-never-answer"}},
                          [&] { return ++asked % 2 != 0; });
    for (int round = 1; round < 4; round++) {
        const auto found = readers.find(*parse_probe("main").pattern, files_);
        ASSERT_FALSE(found);
        EXPECT_THAT(found.error().message(), HasSubstr("interrupted"));
        EXPECT_EQ(asked, 2 * round); // it is asked anew each time
        EXPECT_TRUE(readers.take_interrupted());
        EXPECT_FALSE(readers.take_interrupted());
    }
}

// A main program that cannot be read is not passed over for a library that has such a function.
TEST_F(CodeReading, AMainProgramThatIsNotReadIsNoReasonToProbeALibrary) {
    add(copy("bad", 0775), true);
    add(functions, false);
    test::Readers readers({AUGER_FIXTURES_DIR "/fixture_confined",
                           {"code-die-of", std::to_string(inode_of(folder_.path("bad")))}});
    const auto found = readers.find(*parse_probe("plain_function").pattern, files_);
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message(), HasSubstr("bad could not be read"));
}

// A process that a file has taken over names places in another's file, or where no code is.
TEST_F(CodeReading, NobodyPlacesProbesInAnothersFile) {
    add(copy("mine", 0775), true);
    add(libc, false);
    const auto in_code = [&](size_t module, int64_t shift) {
        const CodeFile& file = *files_[module].file;
        for (const ElfSegment& segment : file.segments())
            if (segment.executable)
                return fmt::format("{},{:x},{:x}", module, segment.address + 64,
                                   segment.offset + 64 + static_cast<uint64_t>(shift));
        return std::string();
    };
    const auto lie = [&](const std::string& place) {
        test::Readers readers({AUGER_FIXTURES_DIR "/fixture_confined", {"code-lie", place}});
        const auto found = readers.find(*parse_probe("mine:main").pattern, {files_.data(), 2});
        return found ? "believed" : found.error().message();
    };
    ASSERT_TRUE(test::code_file(folder_.path("mine")));
    // Its own file is its own affair.
    EXPECT_EQ(lie(in_code(0, 0)), "believed");
    EXPECT_THAT(lie(in_code(1, 0)), HasSubstr("invalid answer"));
    EXPECT_THAT(lie(in_code(0, 1)), HasSubstr("invalid answer"));
    EXPECT_THAT(lie("2,1000,1000"), HasSubstr("invalid answer"));
    // The file's headers are no code.
    EXPECT_THAT(lie("0,0,0"), HasSubstr("invalid answer"));
    EXPECT_THAT(lie("0,ffffffffffff,40"), HasSubstr("invalid answer"));
    // A function is no call.
    test::Readers readers({AUGER_FIXTURES_DIR "/fixture_confined", {"code-lie", in_code(0, 0)}});
    EXPECT_FALSE(readers.find(*parse_probe("main@*").pattern, {files_.data(), 1}));
}

TEST_F(CodeReading, PlacesOutsideOfCodeAreNotBelieved) {
    add(functions, true);
    auto matches = *match_probe(*parse_probe("plain_function").pattern, modules_);
    const std::string honest = code_messages::places({matches});
    ASSERT_TRUE(code_messages::places(honest, 1));
    EXPECT_FALSE(code_messages::places(honest, 0)); // of a module that was not asked for
    for (size_t length = 0; length < honest.size(); length++)
        EXPECT_FALSE(code_messages::places(honest.substr(0, length), 1)) << length;
    matches.places[0].entry.cost = ProbeCost::refused;
    EXPECT_FALSE(code_messages::places(code_messages::places({matches}), 1));
}

} // namespace
} // namespace auger
