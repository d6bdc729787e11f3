// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/symbols/module_map.h"
#include "tests/unit/mapping_of.h"

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace auger {
namespace {

constexpr uint32_t ghost = 0x7ffffff0; // no process has this number: files behind it do not open

ProcessEvent mapping(uint64_t time, uint64_t start, uint64_t end, const char* path,
                     uint64_t inode = 1, uint64_t offset = 0) {
    ProcessEvent event;
    event.kind = ProcessEvent::Kind::mmap;
    event.pid = event.tid = ghost;
    event.time = time;
    event.address = start;
    event.length = end - start;
    event.offset = offset;
    event.inode = inode;
    event.device = 1;
    event.text = path;
    return event;
}

ProcessEvent happening(ProcessEvent::Kind kind, uint64_t time, uint32_t pid = ghost,
                       uint32_t parent = 0) {
    ProcessEvent event;
    event.kind = kind;
    event.pid = event.tid = pid;
    event.parent_pid = event.parent_tid = parent;
    event.time = time;
    return event;
}

class Map : public testing::Test {
  protected:
    std::string at(uint64_t address, uint64_t time, uint32_t pid = ghost) {
        const Location found = map.locate(static_cast<pid_t>(pid), address, time);
        return modules.info(found.module).path + "+" + std::to_string(found.address);
    }
    ModuleTable modules;
    ModuleMap map{modules};
};

TEST_F(Map, AForkedChildHadItsParentsMemoryUntilItExecutesAnother) {
    using Kind = ProcessEvent::Kind;
    constexpr auto pid = static_cast<pid_t>(ghost);
    map.apply(mapping(10, 0x1000, 0x2000, "/a"));
    map.apply(happening(Kind::fork, 20, ghost + 1, ghost));
    map.apply(happening(Kind::fork, 30, ghost + 2, ghost + 1));
    map.apply(happening(Kind::exec, 40, ghost + 1));
    EXPECT_EQ(map.lineage(pid, 50), std::vector{pid});
    EXPECT_EQ(map.lineage(pid + 1, 50), std::vector{pid + 1});
    EXPECT_EQ(map.lineage(pid + 1, 35), (std::vector{pid + 1, pid}));
    EXPECT_EQ(map.lineage(pid + 2, 50), (std::vector{pid + 2, pid + 1, pid}));
    EXPECT_EQ(map.lineage(1234, 50), std::vector<pid_t>{1234});
    // The parent's number, used again by its child's child.
    map.apply(happening(Kind::fork, 60, ghost, ghost + 2));
    EXPECT_EQ(map.lineage(pid, 70), (std::vector{pid, pid + 2, pid + 1, pid}));
    for (uint32_t i = 3; i < 13; i++)
        map.apply(happening(Kind::fork, 60 + i, ghost + i, ghost + i - 1));
    EXPECT_EQ(map.lineage(pid + 12, 100).size(), 1 + ModuleMap::most_forebears);
}

TEST_F(Map, AddressesBecomePlacesInModules) {
    map.apply(mapping(10, 0x1000, 0x2000, "/a", 1, 0x100));
    EXPECT_EQ(at(0x1010, 20), "/a+272");
    EXPECT_EQ(at(0x0fff, 20), "[unknown]+4095");
    EXPECT_EQ(at(0x2000, 20), "[unknown]+8192");
    EXPECT_EQ(at(0x1010, 20, 1234), "[unknown]+4112");
    EXPECT_EQ(map.locate(ghost, 0xffffffff81000000, 20).module, kernel_module);
}

TEST_F(Map, AReturnAddressBelongsToTheCallBeforeIt) {
    map.apply(mapping(10, 0x1000, 0x2000, "/a"));
    map.apply(mapping(10, 0x2000, 0x3000, "/b", 2));
    const Location end = map.locate(ghost, 0x2000, 20, true);
    EXPECT_EQ(modules.info(end.module).path, "/a");
    EXPECT_EQ(end.address, 0x1000u);
    EXPECT_TRUE(end.is_return);
}

TEST_F(Map, OldSamplesSeeWhatWasMappedThen) {
    map.apply(mapping(10, 0x1000, 0x3000, "/old", 1));
    map.apply(mapping(50, 0x2000, 0x4000, "/new", 2));
    EXPECT_EQ(at(0x2000, 49), "/old+4096");
    EXPECT_EQ(at(0x2000, 50), "/new+0");
    // The rest of the old one may be there still: the kernel tells of no unmapping.
    EXPECT_EQ(at(0x1000, 60), "/old+0");
}

TEST_F(Map, ExecReplacesTheImageAndKeepsTheOldForOldSamples) {
    map.apply(mapping(10, 0x1000, 0x2000, "/before", 1));
    map.apply(happening(ProcessEvent::Kind::exec, 50));
    map.apply(mapping(51, 0x1000, 0x2000, "/after", 2));
    EXPECT_EQ(at(0x1000, 49), "/before+0");
    EXPECT_EQ(at(0x1000, 51), "/after+0");
}

TEST_F(Map, AChildHasItsParentsMappingsAndGoesItsOwnWay) {
    map.apply(mapping(10, 0x1000, 0x2000, "/a", 1));
    map.apply(happening(ProcessEvent::Kind::fork, 20, ghost + 1, ghost));
    EXPECT_EQ(at(0x1000, 21, ghost + 1), "/a+0");
    auto exec = happening(ProcessEvent::Kind::exec, 30, ghost + 1);
    map.apply(exec);
    EXPECT_EQ(at(0x1000, 31, ghost + 1), "[unknown]+4096");
    EXPECT_EQ(at(0x1000, 31), "/a+0");
}

// The event of its birth was lost: the first that is heard of it is not all that it has mapped.
TEST_F(Map, AProcessThatIsHeardOfLateHasAllThatItHasMapped) {
    auto late = mapping(10, 0x1000, 0x2000, "/late", 1);
    late.pid = late.tid = static_cast<uint32_t>(getpid());
    map.apply(late);
    EXPECT_EQ(at(0x1000, 20, late.pid), "/late+0");
    const auto own = reinterpret_cast<uint64_t>(&happening);
    EXPECT_THAT(at(own, 20, late.pid),
                testing::StartsWith(std::filesystem::read_symlink("/proc/self/exe").string()));
}

TEST_F(Map, SaysOfWhichProcessesTheMappingsHaveChanged) {
    using Pids = std::set<pid_t>;
    map.apply(mapping(10, 0x1000, 0x2000, "/a", 1));
    EXPECT_EQ(map.take_changed(), Pids{static_cast<pid_t>(ghost)});
    EXPECT_EQ(map.take_changed(), Pids{});
    map.apply(happening(ProcessEvent::Kind::fork, 20, ghost + 1, ghost));
    EXPECT_EQ(map.take_changed(), Pids{static_cast<pid_t>(ghost + 1)});
    map.apply(happening(ProcessEvent::Kind::exec, 30, ghost + 1));
    map.apply(happening(ProcessEvent::Kind::exit, 40));
    EXPECT_EQ(map.take_changed(), (Pids{static_cast<pid_t>(ghost), static_cast<pid_t>(ghost + 1)}));
}

TEST_F(Map, AThreadIsNoNewProcess) {
    map.apply(mapping(10, 0x1000, 0x2000, "/a", 1));
    auto thread = happening(ProcessEvent::Kind::fork, 20, ghost, ghost);
    thread.tid = ghost + 5;
    map.apply(thread);
    auto end = happening(ProcessEvent::Kind::exit, 30);
    end.tid = ghost + 5;
    map.apply(end);
    EXPECT_FALSE(map.exited(ghost));
    EXPECT_FALSE(map.knows(ghost + 5));
}

TEST_F(Map, TheDeadStayKnownUpToTheLimit) {
    ModuleMap::Limits limits;
    limits.exited_processes = 2;
    ModuleMap small(modules, limits);
    for (uint32_t i = 0; i < 4; i++) {
        auto event = mapping(10, 0x1000, 0x2000, "/a", 1);
        event.pid = ghost + i;
        small.apply(event);
        small.apply(happening(ProcessEvent::Kind::exit, 20 + i, ghost + i));
    }
    EXPECT_FALSE(small.knows(ghost + 1));
    EXPECT_TRUE(small.exited(ghost + 3));
    EXPECT_EQ(small.locate(ghost + 3, 0x1000, 15).module, ModuleId{task_module.value + 1});
    EXPECT_EQ(small.forgotten_processes(), 2u);
}

TEST_F(Map, ANumberUsedAgainDoesNotMixTwoProcesses) {
    map.apply(mapping(10, 0x1000, 0x2000, "/first", 1));
    map.apply(happening(ProcessEvent::Kind::exit, 20));
    map.apply(happening(ProcessEvent::Kind::fork, 30, ghost, 1));
    map.apply(mapping(31, 0x1000, 0x2000, "/second", 2));
    EXPECT_EQ(at(0x1000, 15), "/first+0");
    EXPECT_EQ(at(0x1000, 40), "/second+0");
    EXPECT_FALSE(map.exited(ghost));
}

TEST_F(Map, AnonymousCodeIsTheProcessesJit) {
    map.apply(mapping(10, 0x1000, 0x2000, "//anon", 0));
    map.apply(mapping(10, 0x5000, 0x6000, "/memfd:jit (deleted)", 9));
    EXPECT_EQ(at(0x1010, 20), "[jit]+4112");
    EXPECT_EQ(at(0x5010, 20), "[jit]+20496");
    EXPECT_EQ(map.locate(ghost, 0x1010, 20).module, map.locate(ghost, 0x5010, 20).module);
}

TEST_F(Map, MappingsBeyondTheLimitAreCounted) {
    ModuleMap::Limits limits;
    limits.mappings_per_image = 3;
    ModuleMap small(modules, limits);
    for (uint64_t i = 1; i <= 5; i++)
        small.apply(mapping(i, i * 0x1000, i * 0x1000 + 0x1000, "/a", 1));
    EXPECT_EQ(small.refused_mappings(), 2u);
}

TEST_F(Map, ScanningAgainAddsNothingTwice) {
    ASSERT_TRUE(map.scan(getpid(), 100));
    const size_t before = map.mappings(getpid(), 200).size();
    ASSERT_GT(before, 1u);
    ASSERT_TRUE(map.scan(getpid(), 150));
    EXPECT_EQ(map.mappings(getpid(), 200).size(), before);
    // Own code: as linked, in the file that runs.
    const Location here = map.locate(getpid(), reinterpret_cast<uint64_t>(&happening), 1);
    EXPECT_TRUE(modules.info(here.module).path.ends_with("unit_loader"));
    EXPECT_FALSE(modules.info(here.module).build_id.empty());
    EXPECT_FALSE(map.scan(ghost, 1));
}

class Table : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "auger-table-XXXXXX";
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    // A file of that content, and what a mapping of it by this process looks like.
    Mapping make(const std::string& name, const std::string& content) {
        const std::string path = folder_ + "/" + name;
        std::ofstream(path) << content;
        return test::mapping_of(path);
    }
    std::string folder_;
};

TEST_F(Table, OneModuleForAFileHoweverOftenItIsMapped) {
    ModuleTable table;
    const Mapping a = make("a", "x");
    const ModuleId first = table.file_module(getpid(), a);
    EXPECT_EQ(table.file_module(getpid(), a), first);
    EXPECT_NE(table.file_module(getpid(), make("b", "x")), first);
}

TEST_F(Table, AFileWrittenInPlaceIsAnother) {
    ModuleTable table;
    const Mapping a = make("a", "x");
    const ModuleId first = table.file_module(getpid(), a);
    std::ofstream(folder_ + "/a", std::ios::app) << "more";
    EXPECT_NE(table.file_module(getpid(), a), first);
}

// Any program can do so thousands of times a second.
TEST_F(Table, AFileThatIsAnotherAtEveryLookIsGivenUp) {
    ModuleTable table;
    const Mapping a = make("a", "x");
    std::set<ModuleId> ids;
    for (int i = 0; i < 1000; i++) {
        ids.insert(table.file_module(getpid(), a));
        std::ofstream(folder_ + "/a", std::ios::app) << "more";
    }
    EXPECT_GT(ids.size(), 100u);
    EXPECT_LT(ids.size(), 300u);
    EXPECT_NE(table.source(*ids.rbegin()).error.find("changed too often"), std::string::npos);
    EXPECT_EQ(table.file_module(getpid(), make("b", "x")).value, ids.rbegin()->value + 1);
}

TEST_F(Table, KeepsNoMoreFilesOpenThanItMayAndOpensThemAgain) {
    ModuleTable::Limits limits;
    limits.open_files = 2;
    ModuleTable table(limits);
    std::vector<ModuleId> ids;
    for (const char* name : {"a", "b", "c", "d"})
        ids.push_back(table.file_module(getpid(), make(name, name)));
    EXPECT_EQ(table.open_files(), 2u);
    EXPECT_TRUE(table.source(ids[0]).file); // closed meanwhile
    EXPECT_EQ(table.open_files(), 2u);
    // Not the same file any more: better nothing than another's names.
    std::filesystem::remove(folder_ + "/b");
    std::ofstream(folder_ + "/b2") << "other";
    std::filesystem::rename(folder_ + "/b2", folder_ + "/b");
    const ModuleSource gone = table.source(ids[1]);
    EXPECT_FALSE(gone.file);
    EXPECT_FALSE(gone.error.empty());
}

TEST_F(Table, WhatThereIsTooMuchOfIsOneModule) {
    ModuleTable::Limits limits;
    limits.all = ModuleTable().size() + 2;
    ModuleTable table(limits);
    const Mapping a = make("a", "x");
    const ModuleId first = table.file_module(getpid(), a);
    EXPECT_NE(table.file_module(getpid(), make("b", "x")), first);
    EXPECT_EQ(table.left_out(), 0u);
    const ModuleId rest = table.file_module(getpid(), make("c", "x"));
    EXPECT_EQ(table.file_module(getpid(), make("d", "x")), rest);
    EXPECT_EQ(table.jit_module(getpid()), rest);
    EXPECT_EQ(table.left_out(), 3u);
    EXPECT_EQ(table.info(rest).path, "[further files of user " + std::to_string(geteuid()) + "]");
    EXPECT_NE(table.source(rest).error.find("more than"), std::string::npos);
    // Those that were there before stay what they are.
    EXPECT_EQ(table.file_module(getpid(), a), first);
}

TEST_F(Table, NobodyTakesTheRoomOfOthers) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root to play another user";
    ModuleTable::Limits limits;
    limits.of_user = 2;
    ModuleTable table(limits);
    std::set<ModuleId> theirs;
    for (const char* name : {"a", "b", "c", "d"}) {
        const Mapping mapping = make(name, name);
        ASSERT_EQ(chown((folder_ + "/" + name).c_str(), 64'001, 64'001), 0);
        theirs.insert(table.file_module(getpid(), mapping));
    }
    EXPECT_EQ(theirs.size(), 3u);
    EXPECT_EQ(table.left_out(), 2u);
    const ModuleId ours = table.file_module(getpid(), make("e", "e"));
    EXPECT_FALSE(theirs.contains(ours));
    EXPECT_TRUE(table.source(ours).file);
}

// Who has subordinate user ids is many users.
TEST_F(Table, ManyUsersLeaveRoomForOurs) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root to play other users";
    ModuleTable::Limits limits;
    limits.all = 2 * (ModuleTable().size() + 8);
    ModuleTable table(limits);
    uid_t user = 64'001;
    for (; table.left_out() == 0; user++) {
        ASSERT_LT(user, 64'001 + limits.all) << "nothing was left out";
        const std::string name = std::to_string(user);
        const Mapping mapping = make(name, name);
        ASSERT_EQ(chown((folder_ + "/" + name).c_str(), user, user), 0);
        table.file_module(getpid(), mapping);
    }
    EXPECT_GE(limits.all - table.size(), limits.all / 4 - 1); // less the one for what is left out
    const ModuleId ours = table.file_module(getpid(), make("ours", "ours"));
    EXPECT_EQ(table.info(ours).path, folder_ + "/ours");
    EXPECT_EQ(table.left_out(), 1u);
}

TEST_F(Table, AFileThatCannotBeOpenedSaysWhy) {
    ModuleTable table;
    Mapping absent = make("a", "x");
    std::filesystem::remove(folder_ + "/a");
    const ModuleId id = table.file_module(getpid(), absent);
    EXPECT_EQ(table.info(id).path, folder_ + "/a");
    EXPECT_NE(table.source(id).error.find("No such file"), std::string::npos);
}

} // namespace
} // namespace auger
