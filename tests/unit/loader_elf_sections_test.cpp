// SPDX-License-Identifier: GPL-3.0-or-later
// Files whose section headers were taken away, as sstrip does: what runs still has names and can be
// unwound.
#include "loader/process/safe_open.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/reader/tables/unwind_compiler.h"
#include "tests/support/elf_header.h"

#include <gtest/gtest.h>

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <random>
#include <vector>

namespace auger {
namespace {

using File = std::shared_ptr<const ElfFile>;

File file_of(const std::string& content) {
    UniqueFd memory(memfd_create("elf", MFD_CLOEXEC));
    EXPECT_EQ(write(memory.get(), content.data(), content.size()),
              static_cast<ssize_t>(content.size()));
    auto file = ElfFile::open(std::move(memory), "memory");
    return file ? *file : nullptr;
}

// Up to the end of the last segment.
std::string without_sections(std::string content) {
    Elf64_Ehdr header;
    std::memcpy(&header, content.data(), sizeof header);
    uint64_t end = 0;
    for (size_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        std::memcpy(&segment, content.data() + header.e_phoff + i * sizeof segment, sizeof segment);
        end = std::max(end, segment.p_offset + segment.p_filesz);
    }
    header.e_shoff = 0;
    header.e_shnum = header.e_shstrndx = 0;
    std::memcpy(content.data(), &header, sizeof header);
    content.resize(end);
    return content;
}

// Of the libraries that this program runs with: stripped, as distributions ship them.
std::vector<std::string> libraries() {
    std::vector<std::string> paths;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* to) {
            if (info->dlpi_name && *info->dlpi_name == '/')
                static_cast<std::vector<std::string>*>(to)->push_back(info->dlpi_name);
            return 0;
        },
        &paths);
    return paths;
}

std::vector<std::string> names(const std::vector<ElfFunction>& functions) {
    std::vector<std::string> all;
    for (const ElfFunction& function : functions)
        all.emplace_back(function.name);
    return all;
}

TEST(FileWithoutSections, HasTheSymbolsThatTheLoaderHas) {
    size_t compared = 0;
    for (const std::string& path : libraries()) {
        const std::string content = *read_file(path);
        const File whole = file_of(content), bare = file_of(without_sections(content));
        ASSERT_TRUE(whole && bare) << path;
        EXPECT_FALSE(bare->has_section(".text"));
        if (whole->has_section(".symtab"))
            continue; // more than the loader has
        EXPECT_EQ(names(bare->functions()), names(whole->functions())) << path;
        EXPECT_EQ(bare->imports(), whole->imports()) << path;
        EXPECT_EQ(bare->build_id(), whole->build_id());
        compared += bare->functions().size();
    }
    EXPECT_GT(compared, 2000u); // libc and libstdc++ alone
}

TEST(FileWithoutSections, IsUnwoundByTheSameRules) {
    size_t compared = 0;
    for (const std::string& path : libraries()) {
        if (path.find("libstdc++") == path.npos && path.find("libc.so") == path.npos)
            continue;
        const std::string content = *read_file(path);
        const File whole = file_of(content), bare = file_of(without_sections(content));
        ASSERT_TRUE(whole && bare);
        const auto section = whole->section(".eh_frame"), found = bare->section(".eh_frame");
        ASSERT_TRUE(section && found) << path;
        EXPECT_EQ(found->address, section->address);
        EXPECT_EQ(found->offset, section->offset);
        // Behind the last entry there is only the mark of the end, if any.
        EXPECT_LE(found->size, section->size);
        EXPECT_GE(found->size + 8, section->size);
        const auto expected = compile_unwind_tables(*whole), tables = compile_unwind_tables(*bare);
        ASSERT_TRUE(expected && tables);
        EXPECT_EQ(tables->statistics.functions, expected->statistics.functions);
        for (const ElfFunction& function : whole->functions()) {
            const wire_unwind_rule* rule = tables->find(function.address);
            const wire_unwind_rule* right = expected->find(function.address);
            // What has no entry is told from code, which needs sections.
            if (!rule || !right)
                continue;
            EXPECT_EQ(std::memcmp(rule, right, sizeof *rule), 0) << path << " " << function.name;
            compared++;
        }
    }
    EXPECT_GT(compared, 2000u);
}

TEST(FileWithoutSections, DamagedOnesDoNoHarm) {
    const std::vector<std::string> paths = libraries();
    const auto path = std::ranges::find_if(
        paths, [](const std::string& name) { return name.find("libgcc_s") != name.npos; });
    ASSERT_NE(path, paths.end());
    const std::string whole = without_sections(*read_file(*path));
    std::mt19937 random(5);
    for (int round = 0; round < 200; round++) {
        std::string damaged = whole;
        // The headers, the dynamic section and the hash table come first or at the end.
        for (int i = 0; i < 1 << (round % 8); i++)
            damaged[random() % 2 ? random() % std::min<size_t>(4096, damaged.size())
                                 : damaged.size() - 1 - random() % 8192] =
                static_cast<char>(random() % 3 ? random() : 0xff);
        if (round % 5 == 0)
            damaged.resize(random() % damaged.size());
        if (const File file = file_of(damaged)) {
            file->functions();
            compile_unwind_tables(*file).ok();
        }
    }
}

// A sparse file costs nothing, and has room for whatever it claims.
class Sparse : public testing::Test {
  protected:
    static constexpr uint64_t size = uint64_t{8} << 30;

    Result<std::shared_ptr<const ElfFile>> file(uint16_t count,
                                                const std::vector<Elf64_Shdr>& all) {
        Elf64_Ehdr header = test::elf_header();
        header.e_shoff = sizeof header;
        header.e_shnum = count;
        UniqueFd memory(memfd_create("sparse", MFD_CLOEXEC));
        EXPECT_EQ(ftruncate(memory.get(), size), 0);
        EXPECT_GT(pwrite(memory.get(), &header, sizeof header, 0), 0);
        EXPECT_GT(pwrite(memory.get(), all.data(), all.size() * sizeof all[0], sizeof header), 0);
        return ElfFile::open(std::move(memory), "sparse");
    }
    static Elf64_Shdr section(uint32_t type, uint64_t bytes, uint32_t link = 0) {
        Elf64_Shdr header{};
        header.sh_type = type;
        header.sh_offset = 1 << 20;
        header.sh_size = bytes;
        header.sh_link = link;
        header.sh_entsize = type == SHT_STRTAB ? 1 : sizeof(Elf64_Sym);
        return header;
    }
    // Kilobytes; of this whole program, whose other tests need some hundred megabytes.
    static long most_memory() {
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        return usage.ru_maxrss;
    }
};

TEST_F(Sparse, AHundredMillionSectionsAreRefused) {
    EXPECT_FALSE(file(0, {section(SHT_NULL, size / sizeof(Elf64_Shdr) - 10)}));
    EXPECT_TRUE(file(0, {section(SHT_NULL, 2), section(SHT_NULL, 0)})); // as huge objects say it
}

TEST_F(Sparse, HugeTablesAreLeftOut) {
    const long before = most_memory();
    const auto huge = section(SHT_SYMTAB, size / 2, 2), strings = section(SHT_STRTAB, size / 2);
    const auto opened = file(3, {section(SHT_NULL, 0), huge, strings});
    ASSERT_TRUE(opened);
    EXPECT_TRUE((*opened)->functions().empty());
    EXPECT_LT(most_memory() - before, 100 << 10);
}

// Thousands of them, read one after the other, would take longer than a test may.
TEST_F(Sparse, TablesOfAKindAreReadOnce) {
    std::vector<Elf64_Shdr> all(1, section(SHT_NULL, 0));
    all.push_back(section(SHT_STRTAB, 100 << 20));
    for (int i = 0; i < 5000; i++) {
        all.push_back(section(SHT_SYMTAB, 1 << 10, 1));
        all.push_back(section(SHT_DYNAMIC, 1 << 10, 1));
        all.push_back(section(SHT_NOTE, 1 << 20));
    }
    const auto opened = file(static_cast<uint16_t>(all.size()), all);
    ASSERT_TRUE(opened);
    EXPECT_TRUE((*opened)->functions().empty());
}

} // namespace
} // namespace auger
