// SPDX-License-Identifier: GPL-3.0-or-later
// Tables on disk: what comes back is what was put there for this very file, or nothing.
#include "tests/support/temporary_folder.h"

#include "loader/process/safe_open.h"
#include "loader/reader/tables/unwind_compiler.h"
#include "loader/reader/tables/unwind_origin.h"
#include "loader/unwind/unwind_cache.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <random>
#include <thread>

namespace auger {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

std::shared_ptr<const ElfFile> open_file(const std::string& path) {
    auto fd = open_regular(path);
    auto file = fd ? ElfFile::open(std::move(*fd), path) : fd.error();
    return file ? *file : nullptr;
}

void store(const UnwindCache& cache, const ElfFile& file, const UnwindTables& tables) {
    cache.store(file.build_id(), encode_unwind_file(tables, file));
}

std::optional<UnwindTables> load(const UnwindCache& cache, const ElfFile& file) {
    const auto bytes = cache.load(file.build_id());
    return is_unwind_file_of(bytes, file) ? decode_unwind_file(bytes) : std::nullopt;
}

class UnwindCacheTest : public testing::Test {
  protected:
    void SetUp() override {
        file = open_file("/lib64/ld-linux-x86-64.so.2"); // small, and always there
        ASSERT_TRUE(file);
        ASSERT_NE(file->build_id(), "");
        auto compiled = compile_unwind_tables(*file);
        ASSERT_TRUE(compiled.ok());
        tables = std::move(*compiled);
        ASSERT_EQ(tables.tables.size(), 1u);
    }
    std::string cached() const { return folder.path("auger/unwind/" + file->build_id()); }
    std::string content() const { return *read_file(cached()); }

    TemporaryFolder folder;
    std::shared_ptr<const ElfFile> file;
    UnwindTables tables;
};

TEST_F(UnwindCacheTest, GivesBackWhatWasStored) {
    const UnwindCache cache(folder.path(""));
    ASSERT_TRUE(cache.usable());
    EXPECT_FALSE(load(cache, *file));
    store(cache, *file, tables);
    const auto loaded = load(UnwindCache(folder.path("")), *file);
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->tables, tables.tables);
    EXPECT_EQ(loaded->statistics.functions, tables.statistics.functions);
    struct stat status;
    ASSERT_EQ(stat(cached().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    ASSERT_EQ(stat(folder.path("auger/unwind").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path("auger/unwind")), {}), 1);
}

TEST_F(UnwindCacheTest, NoBitMayBeAnother) {
    const auto bytes = encode_unwind_file(tables, *file);
    ASSERT_TRUE(decode_unwind_file(bytes));
    EXPECT_TRUE(is_unwind_file_of(bytes, *file));
    auto changed = bytes;
    for (size_t i = 0; i < bytes.size(); i += i < 512 ? 1 : 37) {
        changed[i] ^= std::byte{1} << (i % 8);
        EXPECT_FALSE(decode_unwind_file(changed)) << "byte " << i;
        EXPECT_FALSE(is_unwind_file_of(changed, *file)) << "byte " << i;
        changed[i] = bytes[i];
    }
    // The header's part of the checksum depends on the seed, which is another each time.
    for (int round = 0; round < 16; ++round) {
        auto header = encode_unwind_file(tables, *file);
        for (size_t i = 0; i < 64; ++i) {
            header[i] ^= std::byte{1} << (i % 8);
            EXPECT_FALSE(is_unwind_file_of(header, *file)) << "byte " << i;
            header[i] ^= std::byte{1} << (i % 8);
        }
    }
    for (size_t size = 0; size < bytes.size(); size += size < 512 ? 1 : 97)
        EXPECT_FALSE(decode_unwind_file(Bytes(bytes).first(size))) << size << " bytes";
    changed.push_back({});
    EXPECT_FALSE(decode_unwind_file(changed));
}

// The same build id, but other call frame information: anybody can make such a file.
TEST_F(UnwindCacheTest, BuildIdsAreNotBelieved) {
    std::string copy = *read_file("/lib64/ld-linux-x86-64.so.2");
    const auto section = file->section(".eh_frame");
    ASSERT_TRUE(section);
    copy[section->offset + section->size / 2] ^= 0x40;
    const auto forged = open_file(folder.file("forged", copy));
    ASSERT_TRUE(forged);
    ASSERT_EQ(forged->build_id(), file->build_id());
    const UnwindCache cache(folder.path(""));
    store(cache, *forged, *compile_unwind_tables(*forged));
    EXPECT_TRUE(load(cache, *forged));
    EXPECT_FALSE(load(cache, *file));
}

TEST_F(UnwindCacheTest, LinksAndOthersFilesAreNotRead) {
    const UnwindCache cache(folder.path(""));
    store(cache, *file, tables);
    fs::rename(cached(), folder.path("elsewhere"));
    fs::create_symlink(folder.path("elsewhere"), cached());
    EXPECT_FALSE(load(cache, *file));
    // Storing replaces the link, not what it leads to.
    const std::string before = *read_file(folder.path("elsewhere"));
    store(cache, *file, tables);
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(cached())));
    EXPECT_EQ(*read_file(folder.path("elsewhere")), before);
    EXPECT_TRUE(load(cache, *file));
    fs::permissions(cached(), fs::perms(0666));
    EXPECT_FALSE(load(cache, *file));
    fs::permissions(cached(), fs::perms(0600));
    EXPECT_TRUE(load(cache, *file));
    if (geteuid() == 0) {
        ASSERT_EQ(chown(cached().c_str(), 65534, 65534), 0);
        EXPECT_FALSE(load(cache, *file));
    }
    fs::remove(cached());
    ASSERT_EQ(mkfifo(cached().c_str(), 0600), 0);
    EXPECT_FALSE(load(cache, *file)); // and does not wait for a writer
}

TEST_F(UnwindCacheTest, FoldersOfOthersAreNotUsed) {
    const TemporaryFolder other;
    fs::create_directory_symlink(other.path(""), folder.path("auger"));
    EXPECT_FALSE(UnwindCache(folder.path("")).usable());
    fs::remove(folder.path("auger"));
    fs::create_directory(folder.path("auger"));
    fs::permissions(folder.path("auger"), fs::perms(0777));
    const UnwindCache cache(folder.path(""));
    EXPECT_FALSE(cache.usable());
    store(cache, *file, tables);
    EXPECT_FALSE(load(cache, *file));
    EXPECT_TRUE(fs::is_empty(folder.path("auger")));
    EXPECT_FALSE(UnwindCache("/proc/no/such/folder").usable());
}

TEST_F(UnwindCacheTest, WhatWasNotUsedForLongestGoes) {
    const uint64_t size = encode_unwind_file(tables, *file).size();
    const UnwindCache cache(folder.path(""), size * 3);
    const auto older = [&](const std::string& name, int hours) {
        const std::string path = folder.path("auger/unwind/" + name);
        std::ofstream(path) << std::string(size, 'x');
        fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    };
    older("aa", 3);
    older("bb", 2);
    older("cc", 1);
    store(cache, *file, tables);
    EXPECT_TRUE(load(cache, *file));
    EXPECT_FALSE(fs::exists(folder.path("auger/unwind/aa")));
    EXPECT_TRUE(fs::exists(folder.path("auger/unwind/cc")));
    // Being used counts, not being made.
    fs::last_write_time(cached(), fs::file_time_type::clock::now() - std::chrono::hours(9));
    EXPECT_TRUE(load(cache, *file));
    EXPECT_GT(fs::last_write_time(cached()),
              fs::file_time_type::clock::now() - std::chrono::hours(1));
}

TEST_F(UnwindCacheTest, ManyWritersAndReaders) {
    const UnwindCache cache(folder.path(""));
    store(cache, *file, tables);
    std::vector<std::thread> threads;
    std::atomic<int> broken = 0;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            for (int round = 0; round < 50; ++round) {
                if (i % 2)
                    store(cache, *file, tables);
                else if (const auto loaded = load(cache, *file);
                         !loaded || loaded->tables != tables.tables)
                    ++broken;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(broken, 0);
}

// Even were a checksum forged: tables that pass valid() lead to no place outside them.
TEST_F(UnwindCacheTest, ValidTablesStayWithinThemselves) {
    const UnwindTable& good = tables.tables[0];
    std::mt19937_64 random(1);
    size_t accepted = 0, refused = 0;
    for (int round = 0; round < 2000; ++round) {
        UnwindTable table = good;
        const auto broken = [&](auto& values) {
            auto* bytes = reinterpret_cast<uint8_t*>(values.data());
            bytes[random() % (values.size() * sizeof values[0])] ^= 1u << random() % 8;
        };
        switch (random() % 6) {
        case 0:
            broken(table.pages);
            break;
        case 1:
            broken(table.rows);
            break;
        case 2:
            broken(table.rules);
            break;
        case 3:
            table.size ^= uint64_t{1} << random() % 64;
            break;
        case 4:
            table.rows.resize(random() % table.rows.size());
            EXPECT_FALSE(table.valid()) << "pages lead beyond the rows";
            break;
        case 5:
            table.rules.resize(random() % table.rules.size());
            break;
        }
        if (!table.valid()) {
            ++refused;
            continue;
        }
        ++accepted;
        for (uint64_t address = table.base; address < table.base + table.size; address += 61)
            if (const wire_unwind_rule* rule = table.find(address)) {
                ASSERT_GE(rule, table.rules.data());
                ASSERT_LT(rule, table.rules.data() + table.rules.size());
            }
    }
    EXPECT_GT(accepted, 100u);
    EXPECT_GT(refused, 500u);
}

} // namespace
} // namespace auger
