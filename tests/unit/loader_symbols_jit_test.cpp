// SPDX-License-Identifier: GPL-3.0-or-later
// Names of code that programs generate: jitdump files, and names that come late or change.
#include "tests/support/temporary_folder.h"
#include "tests/unit/jit_dump_bytes.h"

#include "loader/reader/names/appended_file.h"
#include "loader/reader/names/jit_dump.h"
#include "loader/symbols/generated_files.h"
#include "loader/symbols/module_map.h"
#include "loader/symbols/symbolizer.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace auger {
namespace {

using test::jit_dump_header;
using test::jit_load;
using test::jit_move;
using test::jit_record;
using test::number;

TEST(JitDump, IsKnownByItsName) {
    EXPECT_TRUE(is_jit_dump("/home/u/.debug/jit/java-jit/jit-4711.dump"));
    EXPECT_TRUE(is_jit_dump("jit-1.dump"));
    for (const char* other : {"", "/tmp/jit-.dump", "/tmp/jit-12.dumps", "/tmp/xjit-12.dump",
                              "/jit-12.dump/x", "/tmp/jit-1a.dump", "/tmp/jit-12", "jit-dump"})
        EXPECT_FALSE(is_jit_dump(other)) << other;
}

TEST(JitDump, LoadsAndMoves) {
    JitDump dump;
    const std::string text = jit_dump_header() + jit_load(0x1000, 0x10, "JS:~f /a b.js:1") +
                             jit_record(2, std::string(40, 'x')) + jit_load(0x2000, 0x20, "g") +
                             jit_move(0x2000, 0x3000, 0x20) + jit_record(99, "") +
                             jit_load(0x1008, 0x100, "h");
    EXPECT_EQ(dump.take(text, false), text.size());
    EXPECT_EQ(dump.find(0x1007), "JS:~f /a b.js:1");
    EXPECT_EQ(dump.find(0x1008), "h");
    EXPECT_EQ(dump.find(0x2000), std::nullopt);
    EXPECT_EQ(dump.find(0x301f), "g");
    EXPECT_EQ(dump.find(0x3020), std::nullopt);
    EXPECT_EQ(dump.skipped(), 0u);
}

TEST(JitDump, AnyCutGivesTheSame) {
    const std::string text = jit_dump_header() + jit_load(0x1000, 0x400, "first") +
                             jit_move(0x1000, 0x5000, 0x400) + jit_load(0x2000, 0x10, "second");
    for (size_t cut = 0; cut < text.size(); cut++) {
        JitDump dump;
        const uint64_t taken = dump.take(text.substr(0, cut), false);
        if (taken < text.size())
            dump.take(text.substr(taken), false);
        EXPECT_EQ(dump.find(0x5000), "first") << cut;
        EXPECT_EQ(dump.find(0x2000), "second") << cut;
        EXPECT_EQ(dump.size(), 2u) << cut;
    }
}

TEST(JitDump, SkipsAndCountsWhatDoesNotHoldTogether) {
    JitDump dump;
    dump.take(jit_dump_header() + jit_load(0x1000, 0, "empty") + jit_load(UINT64_MAX - 8, 9, "f") +
                  jit_load(0x1000, 8, "") + jit_record(0, "short") + jit_record(1, "short") +
                  jit_move(0x7000, 0x8000, 8) + jit_load(0x2000, 8, "good"),
              false);
    EXPECT_EQ(dump.skipped(), 6u);
    EXPECT_EQ(dump.size(), 1u);
    EXPECT_EQ(dump.find(0x2000), "good");
    EXPECT_FALSE(dump.damaged());
}

TEST(JitDump, WhatIsNoneIsRefused) {
    for (const std::string& header :
         {std::string(40, 'x'), number(0x4a695444, 4) + number(1, 4) + number(8, 4) + number(62, 4),
          number(0x4a695444, 4) + number(1, 4) + number(40, 4) + number(183, 4)}) {
        JitDump dump;
        EXPECT_EQ(dump.take(header + std::string(40, '\0') + jit_load(0x1000, 8, "f"), false), 0u);
        EXPECT_TRUE(dump.damaged());
    }
    // A record without a length: where the next one begins is not known.
    JitDump dump;
    dump.take(jit_dump_header() + jit_load(0x1000, 8, "f") + number(0, 16) +
                  jit_load(0x2000, 8, "g"),
              false);
    EXPECT_TRUE(dump.damaged());
    EXPECT_EQ(dump.find(0x1000), "f");
    EXPECT_EQ(dump.find(0x2000), std::nullopt);
}

TEST(JitDump, ANameEndsWithItsRecord) {
    JitDump dump;
    std::string load = jit_load(0x1000, 4096, "name"); // without code
    load.pop_back();
    load.replace(4, 4, number(load.size(), 4));
    dump.take(jit_dump_header() + load + jit_load(0x2000, 8, "g"), false);
    EXPECT_EQ(dump.find(0x1000), "name");
    EXPECT_EQ(dump.find(0x2000), "g");
}

TEST(JitDump, LongNamesAreCut) {
    JitDump dump;
    dump.take(jit_dump_header() + jit_load(0x1000, 8, std::string(100'000, 'x')), false);
    EXPECT_EQ(dump.find(0x1000), std::string(CodeRanges::name_limit, 'x'));
}

class JitDumpFiles : public testing::Test {
  protected:
    // Whether there was something new.
    bool read() {
        const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
        return file.read(fd.get(), dump).any;
    }
    bool trusted(uid_t uid) {
        const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
        return check_generated_file(fd.get(), path, uid).ok();
    }
    void append(const std::string& bytes) { std::ofstream(path, std::ios::app) << bytes; }

    test::TemporaryFolder folder;
    const std::string path = folder.file("jit-7.dump", "");
    JitDump dump;
    AppendedFile file{JitDump::size_limit};
};

TEST_F(JitDumpFiles, AreReadOnAsTheyGrow) {
    append(jit_dump_header() + jit_load(0x1000, 8, "f").substr(0, 57));
    read();
    EXPECT_EQ(dump.size(), 0u);
    append(jit_load(0x1000, 8, "f").substr(57) + jit_load(0x2000, 8, "g"));
    EXPECT_TRUE(read());
    EXPECT_EQ(dump.find(0x1000), "f");
    EXPECT_EQ(dump.find(0x2000), "g");
    EXPECT_FALSE(read());
}

// As a hostile one can: megabytes of code that are not there yet, then a file that is shorter.
TEST_F(JitDumpFiles, RecordsBeyondTheEndAndFilesThatShrink) {
    std::string load = jit_load(0x1000, 8, "f");
    load.replace(4, 4, number(UINT32_MAX, 4));
    append(jit_dump_header() + load);
    EXPECT_TRUE(read());
    EXPECT_EQ(dump.find(0x1000), "f");
    EXPECT_FALSE(read());
    std::filesystem::resize_file(path, 0);
    append(jit_dump_header());
    EXPECT_TRUE(read());
    EXPECT_EQ(dump.size(), 0u);
    append(jit_load(0x2000, 8, "g"));
    EXPECT_TRUE(read());
    EXPECT_EQ(dump.find(0x2000), "g");
}

TEST_F(JitDumpFiles, OthersFilesFoldersAndFifosAreRefused) {
    append(jit_dump_header());
    EXPECT_TRUE(trusted(getuid()));
    if (geteuid() == 0) {
        ASSERT_EQ(chown(path.c_str(), 1, 1), 0);
        EXPECT_FALSE(trusted(2));
        EXPECT_TRUE(trusted(1));
    }
    std::filesystem::remove(path);
    ASSERT_TRUE(std::filesystem::create_directory(path));
    EXPECT_FALSE(trusted(getuid()));
    std::filesystem::remove(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0666), 0);
    EXPECT_FALSE(trusted(getuid()));
}

// The program that generates code is this one.
class GeneratedNames : public testing::Test {
  protected:
    void SetUp() override {
        code_ = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(code_, MAP_FAILED);
        std::filesystem::remove(perf_map);
    }
    void TearDown() override {
        munmap(code_, 4096);
        if (dump_page_ != MAP_FAILED)
            munmap(dump_page_, 4096);
        std::filesystem::remove(perf_map);
    }
    uint64_t code(uint64_t offset = 0) const { return reinterpret_cast<uint64_t>(code_) + offset; }
    void begin_dump() {
        folder.file("jit-7.dump", jit_dump_header());
        const UniqueFd fd(open(dump.c_str(), O_RDONLY | O_CLOEXEC));
        dump_page_ = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 0);
        ASSERT_NE(dump_page_, MAP_FAILED);
    }
    static void append(const std::string& path, const std::string& text) {
        std::ofstream(path, std::ios::app) << text;
    }
    Location at(uint64_t offset) {
        EXPECT_TRUE(map.scan(getpid(), 1));
        return map.locate(getpid(), code(offset), 2);
    }
    // As it is known, after all that is written has been read.
    std::string name(const Location& location) {
        symbolizer.request(location);
        symbolizer.read_on();
        EXPECT_TRUE(
            symbolizer.wait_idle(std::chrono::steady_clock::now() + std::chrono::seconds(60)));
        return symbolizer.known(location).frames->front().function;
    }

    const std::string perf_map = fmt::format("/tmp/perf-{}.map", getpid());
    test::TemporaryFolder folder;
    const std::string dump = folder.path("jit-7.dump");
    ModuleTable modules;
    ModuleMap map{modules};
    Symbolizer symbolizer{modules};
    void* code_ = MAP_FAILED;
    void* dump_page_ = MAP_FAILED;
};

TEST_F(GeneratedNames, ComeWhenTheyHaveBeenWritten) {
    const Location here = at(8);
    EXPECT_EQ(modules.info(here.module).kind, ModuleKind::jit);
    EXPECT_EQ(name(here), "[unknown]");
    EXPECT_EQ(symbolizer.known(here).detail, Detail::offset); // there may be more to come
    const uint64_t before = symbolizer.generation();
    append(perf_map, fmt::format("{:x} 10 JS:~handle\n", code()));
    EXPECT_EQ(name(here), "JS:~handle");
    EXPECT_EQ(symbolizer.known(here).detail, Detail::full);
    EXPECT_GT(symbolizer.generation(), before);
}

TEST_F(GeneratedNames, AreReadFromADumpThatIsMappedLater) {
    EXPECT_EQ(name(at(8)), "[unknown]");
    begin_dump();
    append(dump, jit_load(code(), 16, "_ZN2js6handleEv"));
    EXPECT_EQ(name(at(8)), "js::handle()");
    std::filesystem::remove(dump); // as `node --perf-prof-delete-file` does
    EXPECT_EQ(name(at(20)), "[unknown]");
}

TEST_F(GeneratedNames, OfADumpThatWasDeletedAtOnce) {
    begin_dump();
    append(dump, jit_load(code(), 16, "f"));
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root to open what has no name";
    std::filesystem::remove(dump);
    EXPECT_EQ(name(at(8)), "f");
}

// What ran at an address keeps its name when other code comes there; what runs there from then on
// has the other one.
TEST_F(GeneratedNames, OfThePastStayThoseOfThePast) {
    begin_dump();
    append(dump, jit_load(code(), 16, "old") + jit_load(code(64), 16, "other"));
    const Location before = at(8), other = at(72), late = at(136);
    EXPECT_EQ(name(before), "old");
    EXPECT_EQ(name(other), "other");
    EXPECT_EQ(name(late), "[unknown]");
    EXPECT_TRUE(symbolizer.take_outdated().empty());
    append(dump, jit_load(code(), 16, "new"));
    EXPECT_EQ(name(before), "old");
    const std::set<ModuleId> outdated = symbolizer.take_outdated();
    EXPECT_EQ(outdated, std::set<ModuleId>{before.module});
    EXPECT_TRUE(symbolizer.take_outdated().empty());
    map.renew_jit(before.module);
    const Location now = at(8);
    EXPECT_NE(now.module, before.module);
    EXPECT_EQ(name(now), "new");
    EXPECT_EQ(name(at(72)), "other");
    EXPECT_EQ(name(before), "old");
    append(dump, jit_load(code(128), 16, "late"));
    EXPECT_EQ(name(late), "late");
    EXPECT_TRUE(symbolizer.take_outdated().empty());
}

} // namespace
} // namespace auger
