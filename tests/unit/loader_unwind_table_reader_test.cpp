// SPDX-License-Identifier: GPL-3.0-or-later
// Unwind tables compiled in a process of its own: the same tables, no harm when that process dies
// of a file, hangs, or has been taken over by it, and a cache that only trusted files get into.
#include "loader/process/safe_open.h"
#include "loader/process/trusted_file.h"
#include "loader/reader/tables/unwind_compiler.h"
#include "loader/reader/tables/unwind_origin.h"
#include "loader/unwind/table_messages.h"
#include "loader/unwind/table_reader.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>
#include <random>

namespace auger {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

const std::string path = "/lib64/ld-linux-x86-64.so.2"; // small, and always there

class TableReader : public testing::Test {
  protected:
    Result<UnwindTables> read(const ConfinedProgram& program, const UnwindCache* cache = nullptr,
                              const GoOn& go_on = {}) {
        auto processes = ConfinedProcesses::start(program);
        EXPECT_TRUE(processes);
        return read_unwind_tables(**processes, file.get(), path, cache, go_on);
    }
    std::string cause_of(const std::string& behaviour, const GoOn& go_on = {}) {
        const auto tables =
            read({AUGER_FIXTURES_DIR "/fixture_confined", {behaviour}}, nullptr, go_on);
        return tables ? "" : tables.error().cause;
    }

    TemporaryFolder folder;
    const UniqueFd file = *open_regular(path);
    const std::shared_ptr<const ElfFile> elf = *ElfFile::open(*open_regular(path), path);
    const UnwindTables expected = *compile_unwind_tables(*elf);
};

TEST_F(TableReader, TheTablesAreThoseOfTheCompiler) {
    const auto tables = read(reader_program());
    ASSERT_TRUE(tables) << tables.error().message();
    EXPECT_EQ(tables->tables, expected.tables);
    EXPECT_EQ(tables->statistics.functions, expected.statistics.functions);
}

TEST_F(TableReader, TheCacheHasWhatWasCompiled) {
    const UnwindCache cache(folder.path(""));
    const std::string cached = folder.path("auger/unwind/" + elf->build_id());
    ASSERT_TRUE(read(reader_program(), &cache));
    ASSERT_TRUE(fs::exists(cached));
    // That it is used is seen by an error in it, which only its checksum could have told.
    UnwindTables other = expected;
    other.statistics.functions += 1;
    cache.store(elf->build_id(), encode_unwind_file(other, *elf));
    const auto tables = read(reader_program(), &cache);
    ASSERT_TRUE(tables);
    EXPECT_EQ(tables->statistics.functions, other.statistics.functions);
    // Nothing of it is believed when it is broken, and then it is made anew.
    std::string bytes = *read_file(cached);
    bytes[bytes.size() / 2] ^= 1;
    cache.store(elf->build_id(), std::as_bytes(std::span(bytes)));
    const auto again = read(reader_program(), &cache);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->tables, expected.tables);
    EXPECT_NE(*read_file(cached), bytes);
}

TEST_F(TableReader, WhatBecomesOfBadOnesIsTold) {
    EXPECT_EQ(cause_of("die"), "its reader crashed or was killed");
    EXPECT_EQ(cause_of("never-answer", [] { return false; }), "it takes too long");
    EXPECT_EQ(cause_of("talk-nonsense"), "its reader sent an invalid answer");
    EXPECT_EQ(cause_of("promise"), "its reader crashed or was killed");
}

TEST_F(TableReader, OneThatDiedIsReplacedOnce) {
    const auto tables = read({AUGER_FIXTURES_DIR "/fixture_confined", {"die-once"}});
    ASSERT_TRUE(tables) << tables.error().message();
    EXPECT_EQ(tables->tables, expected.tables);
}

TEST_F(TableReader, WhatIsNoElfFileIsTold) {
    const std::string text = folder.file("text", "#!/bin/sh\n");
    const UniqueFd script = *open_regular(text);
    auto processes = ConfinedProcesses::start(reader_program());
    ASSERT_TRUE(processes);
    const auto tables = read_unwind_tables(**processes, script.get(), text, nullptr);
    ASSERT_FALSE(tables);
    EXPECT_NE(tables.error().cause, "its reader crashed or was killed");
}

// Whatever comes back, it is tables whose every index is within them, or nothing.
TEST(TableMessages, MutatedAnswersAreRefusedOrWhole) {
    const auto elf = *ElfFile::open(*open_regular(path), path);
    const auto bytes = encode_unwind_file(*compile_unwind_tables(*elf), *elf);
    const std::string opened = table_messages::opened({{}, elf->build_id()});
    const std::string answer = table_messages::tables({{}, false, bytes});
    std::mt19937_64 random(1);
    for (int i = 0; i < 10'000; i++) {
        std::string changed = i % 2 ? opened : answer.substr(0, 4096);
        changed[random() % changed.size()] ^= static_cast<char>(1u << random() % 8);
        changed.resize(random() % 4 ? changed.size() : random() % changed.size());
        if (i % 2) {
            const auto read = table_messages::opened(changed);
            EXPECT_TRUE(!read || read->build_id.find_first_not_of("0123456789abcdef") ==
                                     read->build_id.npos);
        } else if (const auto read = table_messages::tables(changed)) {
            EXPECT_FALSE(decode_unwind_file(read->file)); // its checksum is of all of it
        }
    }
}

TEST(TrustedFile, IsNobodyElses) {
    const TemporaryFolder folder;
    const std::string name = folder.file("file", "content");
    const auto trusted = [&] { return is_trusted_file(open_regular(name)->get()); };
    EXPECT_TRUE(trusted());
    fs::permissions(name, fs::perms(0664));
    EXPECT_FALSE(trusted());
    fs::permissions(name, fs::perms(0646));
    EXPECT_FALSE(trusted());
    fs::permissions(name, fs::perms(0644));
    EXPECT_TRUE(trusted());
    if (geteuid() == 0) {
        ASSERT_EQ(chown(name.c_str(), 65534, 65534), 0);
        EXPECT_FALSE(trusted());
    }
    EXPECT_FALSE(is_trusted_file(-1));
}

} // namespace
} // namespace auger
