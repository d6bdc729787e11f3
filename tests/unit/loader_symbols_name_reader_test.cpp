// SPDX-License-Identifier: GPL-3.0-or-later
// Names read in processes of their own: no harm when such a process dies of a file, is killed,
// hangs, or has been taken over by it, and none to the names of others' files.
#include "loader/process/safe_open.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/reader/names/elf_questions.h"
#include "loader/symbols/name_messages.h"
#include "tests/support/children.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait.h"
#include "tests/unit/names_maker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>

namespace auger {
namespace {

namespace messages = name_messages;
using testing::HasSubstr;

const std::string program = AUGER_SYMBOLS_DIR "/symbols_dwarf5";

class NameReaders : public testing::Test {
  protected:
    static ModuleSource source(const std::string& path) {
        ModuleSource source;
        source.kind = ModuleKind::file;
        source.path = path;
        source.file = std::move(*open_regular(path));
        return source;
    }
    std::shared_ptr<ModuleNames> names(const std::string& path) {
        return names_.maker.make(source(path));
    }
    // Another file than all others, and whose it is.
    std::string copy(const std::string& name, mode_t mode = 0755) {
        const std::string path = folder_.file(name, *read_file(program) + name);
        EXPECT_EQ(chmod(path.c_str(), mode), 0);
        return path;
    }
    std::vector<pid_t> readers() const {
        std::vector<pid_t> all;
        for (const pid_t launcher : test::children_of(getpid()))
            for (const pid_t reader : test::children_of(launcher))
                all.push_back(reader);
        return all;
    }

    static uint64_t leaf_of(const std::string& path) {
        const auto file = *ElfFile::open(std::move(*open_regular(path)), path);
        for (const ElfFunction& function : file->functions())
            if (function.name == "fixture_leaf")
                return function.address;
        return 0;
    }
    // Of a program whose root is the folder.
    std::shared_ptr<ModuleNames> generated(pid_t pid) {
        ModuleSource source;
        source.kind = ModuleKind::jit;
        source.namespace_pid = pid;
        source.uid = geteuid();
        source.root = std::move(*open_folder(folder_.path("")));
        return names_.maker.make(std::move(source));
    }

    const uint64_t leaf_ = leaf_of(program);
    test::TemporaryFolder folder_;
    test::Names names_{{"/nonexistent", "", -1}};
};

TEST_F(NameReaders, FilesOfOneOwnerAreReadTogether) {
    const auto one = names(copy("one")), two = names(copy("two"));
    EXPECT_EQ(one->find(leaf_), "fixture_leaf");
    EXPECT_EQ(two->find(leaf_), "fixture_leaf");
    EXPECT_EQ(readers().size(), 1u);
    // What others may write is nobody's.
    const auto open_to_all = names(copy("three", 0777)), to_group = names(copy("four", 0775));
    EXPECT_EQ(open_to_all->find(leaf_), "fixture_leaf");
    EXPECT_EQ(to_group->find(leaf_), "fixture_leaf");
    EXPECT_EQ(readers().size(), 3u);
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root to play two users";
    for (const uid_t user : {1u, 2u, 2u}) {
        const std::string path = copy("of" + std::to_string(user));
        EXPECT_EQ(chown(path.c_str(), user, user), 0);
        EXPECT_EQ(names(path)->find(leaf_), "fixture_leaf");
    }
    EXPECT_EQ(readers().size(), 5u);
}

// 64 processes at most. Who has one keeps it, though it is the oldest of all.
TEST_F(NameReaders, RoomIsMadeByWhoHasMost) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root to play two users";
    const auto of_user = [&](const std::string& name, uid_t user) {
        const std::string path = copy(name, 0777); // which takes a process by itself
        EXPECT_EQ(chown(path.c_str(), user, user), 0);
        auto made = names(path);
        EXPECT_EQ(made->find(leaf_), "fixture_leaf");
        return made;
    };
    const auto settled = [&] { return test::wait_until([&] { return readers().size() <= 64; }); };
    const auto others = of_user("others", 2);
    const std::vector<pid_t> first = readers();
    ASSERT_EQ(first.size(), 1u);
    std::vector<std::shared_ptr<ModuleNames>> many;
    for (int i = 0; i < 66; i++)
        many.push_back(of_user("many" + std::to_string(i), 1));
    EXPECT_TRUE(settled());
    EXPECT_EQ(readers().size(), 64u);
    EXPECT_THAT(readers(), testing::Contains(first[0]));
    // What lost its process gets another one when it is asked again.
    EXPECT_EQ(many.front()->find(leaf_), "fixture_leaf");
    EXPECT_TRUE(settled());
    EXPECT_THAT(readers(), testing::Contains(first[0]));
}

// When memory runs out the kernel ends these first, not auger or who is observed.
TEST_F(NameReaders, AreTheFirstToGoWhenMemoryRunsOut) {
    const auto one = names(program);
    EXPECT_EQ(one->find(leaf_), "fixture_leaf");
    const std::vector<pid_t> all = readers();
    ASSERT_FALSE(all.empty());
    for (const pid_t reader : all) {
        std::ifstream file("/proc/" + std::to_string(reader) + "/oom_score_adj");
        int score = 0;
        EXPECT_TRUE(file >> score);
        EXPECT_EQ(score, 1000);
    }
}

TEST_F(NameReaders, ThoseThatAreKilledAreReplaced) {
    const auto one = names(copy("one")), two = names(copy("two"));
    for (int round = 0; round < 3; round++) {
        ASSERT_EQ(readers().size(), 1u);
        ASSERT_EQ(kill(readers().front(), SIGKILL), 0);
        EXPECT_EQ(one->find(leaf_), "fixture_leaf");
        EXPECT_EQ(two->find(leaf_), "fixture_leaf");
        EXPECT_EQ(one->note + two->note, "");
        ASSERT_TRUE(test::wait_until([&] { return readers().size() == 1; }));
    }
}

TEST_F(NameReaders, GeneratedCodesToo) {
    std::filesystem::create_directory(folder_.path("tmp"));
    folder_.file("tmp/perf-7.map", "1000 10 JS:handle\n");
    const auto names = generated(7);
    EXPECT_EQ(names->find(0x1008), "JS:handle");
    ASSERT_EQ(readers().size(), 1u);
    ASSERT_EQ(kill(readers().front(), SIGKILL), 0);
    EXPECT_EQ(names->find(0x1008), "JS:handle"); // read anew
    EXPECT_EQ(names->symbols, 1u);
}

// A JIT that lets everybody write its map cannot be believed with its user's other programs.
TEST_F(NameReaders, GeneratedCodeOfWhichOthersTellIsReadAlone) {
    std::filesystem::create_directory(folder_.path("tmp"));
    const auto program_names = [&](pid_t pid, mode_t mode) {
        const std::string map =
            folder_.file("tmp/perf-" + std::to_string(pid) + ".map", "1000 10 JS:handle\n");
        EXPECT_EQ(chmod(map.c_str(), mode), 0);
        return generated(pid);
    };
    const auto one = program_names(7, 0644), two = program_names(8, 0600);
    EXPECT_EQ(readers().size(), 1u);
    const auto open_to_all = program_names(9, 0666);
    EXPECT_EQ(readers().size(), 2u);
    EXPECT_EQ(open_to_all->find(0x1008), "JS:handle");
    // Later, too.
    folder_.file("tmp/perf-7.map", "1000 10 JS:handle\n2000 10 JS:other\n");
    ASSERT_EQ(chmod(folder_.path("tmp/perf-7.map").c_str(), 0666), 0);
    EXPECT_TRUE(one->refresh());
    EXPECT_EQ(one->find(0x2008), "JS:other");
    EXPECT_EQ(readers().size(), 3u);
}

// What a process that took another one's place has read is new to those who ask what is.
TEST_F(NameReaders, WhatWasWrittenWhenOneWasReplacedIsTold) {
    std::filesystem::create_directory(folder_.path("tmp"));
    folder_.file("tmp/perf-7.map", "1000 10 JS:handle\n");
    const auto names = generated(7);
    EXPECT_TRUE(names->refresh()); // of the first reading
    EXPECT_FALSE(names->refresh());
    folder_.file("tmp/perf-7.map", "1000 10 JS:handle\n2000 10 JS:other\n");
    ASSERT_EQ(readers().size(), 1u);
    ASSERT_EQ(kill(readers().front(), SIGKILL), 0);
    EXPECT_TRUE(names->refresh());
    EXPECT_FALSE(names->refresh());
}

// Anybody can put a file beside root's, or map root's where he may write.
TEST_F(NameReaders, ADebugFileIsOfWhoOwnsTheModule) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root to play two users";
    const std::string stripped = AUGER_SYMBOLS_DIR "/symbols_stripped";
    const std::string module = folder_.file("symbols_stripped", *read_file(stripped));
    const std::string debug =
        folder_.file("symbols_stripped.debug", *read_file(stripped + ".debug"));
    const uint64_t leaf = leaf_of(debug);
    const auto named = [&] {
        ModuleSource in_folder = source(module);
        in_folder.path = "/symbols_stripped";
        in_folder.root = std::move(*open_folder(folder_.path("")));
        return names_.maker.make(std::move(in_folder))->find(leaf).has_value();
    };
    EXPECT_TRUE(named());
    ASSERT_EQ(chown(debug.c_str(), 1, 1), 0);
    EXPECT_FALSE(named());
    ASSERT_EQ(chown(module.c_str(), 1, 1), 0);
    EXPECT_TRUE(named());
}

// The kernel's memory is an ELF file, too.
TEST_F(NameReaders, ADebugFileIsNoDumpOfMemory) {
    ElfQuestions questions;
    const std::string content = *read_file(program);
    const std::string id = *questions.build_id_of(open_regular(program)->get());
    const UniqueFd root = std::move(*open_folder(folder_.path("")));
    const std::string folder = folder_.path(".build-id/" + id.substr(0, 2));
    std::filesystem::create_directories(folder);
    const std::string path = folder + "/" + id.substr(2) + ".debug";
    const auto found = [&] {
        return debug_file_by_build_id(id, -1, {root.get(), -1, ""}, questions).has_value();
    };
    std::ofstream(path, std::ios::binary) << content;
    EXPECT_TRUE(found());
    std::string dump = content;
    dump[16] = 4; // e_type: ET_CORE
    std::ofstream(path, std::ios::binary) << dump;
    EXPECT_FALSE(found());
}

TEST_F(NameReaders, WhatBecomesOfBadOnesIsTold) {
    for (const auto& [behaviour, note] :
         {std::pair{"names-die", "its reader crashed or was killed"},
          std::pair{"names-talk-nonsense", "its reader sent an invalid answer"},
          std::pair{"names-promise", "its reader crashed or was killed"}}) {
        test::Names bad({"/nonexistent", "", -1},
                        {AUGER_FIXTURES_DIR "/fixture_confined", {behaviour}});
        const auto names = bad.maker.make(source(program));
        const AddressQuery query{leaf_, leaf_};
        EXPECT_EQ(names->names({&query, 1}),
                  std::vector<AddressName>({{offset_name(program, leaf_), false}}));
        EXPECT_THAT(names->note, HasSubstr(note)) << behaviour;
        EXPECT_EQ(names->dwarf(), nullptr);
    }
}

TEST_F(NameReaders, WhatDiedIsTriedAgainLater) {
    std::atomic<bool> stop{false};
    std::thread killer([&] {
        while (!stop)
            for (const pid_t reader : readers())
                kill(reader, SIGKILL);
    });
    std::shared_ptr<ModuleNames> made;
    for (int i = 0; i < 100 && !(made && made->put_off); i++) // one may be quicker than the killer
        made = names(copy("file" + std::to_string(i)));
    stop = true;
    killer.join();
    ASSERT_TRUE(made->put_off);
    EXPECT_EQ(made->find(leaf_), std::nullopt);
    EXPECT_THAT(made->note, HasSubstr("its reader")); // has died of it, or was ended
    made->try_again();
    EXPECT_FALSE(made->put_off);
    EXPECT_EQ(made->find(leaf_), "fixture_leaf");
    EXPECT_EQ(made->note, "");
}

TEST_F(NameReaders, WhatKillsItsReaderIsTriedThreeTimesMore) {
    using std::chrono::seconds;
    test::Names bad({"/nonexistent", "", -1},
                    {AUGER_FIXTURES_DIR "/fixture_confined", {"names-die"}});
    const auto names = bad.maker.make(source(program));
    for (const seconds pause : {seconds(1), seconds(2), seconds(4)}) {
        EXPECT_EQ(names->put_off, pause);
        names->try_again();
    }
    EXPECT_EQ(names->put_off, std::nullopt);
    EXPECT_THAT(names->note, HasSubstr("its reader crashed or was killed"));
    names->try_again();
    EXPECT_EQ(names->put_off, std::nullopt);
}

// All names wait for the one that is being read.
TEST_F(NameReaders, WhoHadThreeGivenUpHasNoMore) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root to play two users";
    test::Names bad({"/nonexistent", "", -1},
                    {AUGER_FIXTURES_DIR "/fixture_confined", {"names-talk-nonsense"}});
    const auto note_of = [&](const std::string& name, uid_t user) {
        const std::string path = copy(name);
        EXPECT_EQ(chown(path.c_str(), user, user), 0);
        return bad.maker.make(source(path))->note;
    };
    for (const char* name : {"one", "two", "three"})
        EXPECT_THAT(note_of(name, 1), HasSubstr("its reader sent an invalid answer"));
    EXPECT_THAT(note_of("four", 1), HasSubstr("other files of its owner took too long"));
    EXPECT_THAT(note_of("five", 2), HasSubstr("its reader sent an invalid answer"));
    for (const char* name : {"six", "seven", "eight", "nine"}) // root's own count for nobody
        EXPECT_THAT(note_of(name, 0), HasSubstr("its reader sent an invalid answer"));
}

TEST_F(NameReaders, NoneAtAllIsTold) {
    ModuleNamesMaker maker({"/nonexistent", "", -1}, NameProcesses(nullptr, "it is not installed"),
                           names_.progress);
    const auto names = maker.make(source(program));
    EXPECT_EQ(names->find(leaf_), std::nullopt);
    EXPECT_THAT(names->note, HasSubstr("it is not installed"));
}

TEST(NameMessages, SayWhatTheyWereTold) {
    messages::Request request{messages::Kind::find, 7, "name", true, false, {{1, 2}, {~0ULL, 3}}};
    const auto asked = messages::request(messages::request(request));
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->kind, messages::Kind::find);
    EXPECT_EQ(asked->number, 7u);
    EXPECT_EQ(asked->name, "name");
    EXPECT_TRUE(asked->has_map && !asked->has_dump);
    ASSERT_EQ(asked->queries.size(), 2u);
    EXPECT_EQ(asked->queries[1].address, ~0ULL);
    EXPECT_EQ(asked->queries[1].place, 3u);

    const elf_messages::Opened opened{"", "00ff", DebugLink{"a.debug", 17}, true, false};
    EXPECT_EQ(elf_messages::opened(elf_messages::opened(opened)), opened);
    const messages::ReadSymbols symbols{12, messages::ReadSymbols::Dwarf::apart, true, "abcd"};
    EXPECT_EQ(messages::read_symbols(messages::read_symbols(symbols)), symbols);
    const messages::Refreshed refreshed{true, false, true, 1, 2, 3};
    EXPECT_EQ(messages::refreshed(messages::refreshed(refreshed)), refreshed);
    const std::vector<AddressName> names = {{"f", true}, {"m+0x10", false}};
    EXPECT_EQ(messages::names(messages::names(names), 2), names);
}

// auger opens files by what is answered.
TEST(NameMessages, LeadToNoOtherFile) {
    for (const char* id : {"../../../etc/shadow", "abc", "ABCD", "ab/d", "ab d"})
        EXPECT_FALSE(elf_messages::opened(elf_messages::opened({"", id, {}, true, true}))) << id;
    std::string raw = elf_messages::opened({"", "", DebugLink{"XXXXXXXX", 1}, true, true});
    const size_t at = raw.find("XXXXXXXX");
    ASSERT_NE(at, raw.npos);
    EXPECT_TRUE(elf_messages::opened(raw));
    for (const std::string name : {"../../ab", "/etc/xyz"})
        EXPECT_FALSE(elf_messages::opened(std::string(raw).replace(at, name.size(), name))) << name;
    for (const char* name : {"", ".", "..", "a/b"}) {
        const auto opened =
            elf_messages::opened(elf_messages::opened({"", "", DebugLink{name, 1}, 0, 0}));
        ASSERT_TRUE(opened) << name; // a file that says so has none
        EXPECT_FALSE(opened->link) << name;
    }
}

TEST(NameMessages, NonsenseIsNone) {
    const std::vector<AddressName> names = {{"f", true}};
    const std::string bytes = messages::names(names);
    EXPECT_FALSE(messages::names(bytes, 2));
    EXPECT_FALSE(messages::names(bytes + "x", 1));
    EXPECT_FALSE(messages::names(bytes.substr(0, bytes.size() - 1), 1));
    EXPECT_FALSE(messages::names(messages::names(std::vector<AddressName>{{"", false}}), 1));
    EXPECT_FALSE(messages::request(std::string(100, '\xff')));
}

} // namespace
} // namespace auger
