// SPDX-License-Identifier: GPL-3.0-or-later
// ELF files of a few kilobytes that claim to have gigabytes. Each is read in a process of its own
// that may have a few hundred megabytes more and some seconds of processor time. Not built with the
// address sanitizer, which reserves more than any bound.
#include "loader/process/safe_open.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/reader/names/elf_questions.h"
#include "tests/hostile/attack_files.h"
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace auger {
namespace {

using test::megabyte;

// All that is read of a file before anybody asks for more.
void read_whole(const ElfFile& file) {
    size_t bytes = file.needed().size() + file.imports().size() + file.build_id().size();
    for (const ElfFunction& function : file.functions())
        bytes += std::string(function.name).size();
    EXPECT_FALSE(file.section(".none"));
    EXPECT_EQ(file.read_section(".none", megabyte).size(), 0u);
    EXPECT_LT(bytes, 200 * megabyte);
}

std::shared_ptr<const ElfFile> open_elf(const std::string& path) {
    auto file = ElfFile::open(std::move(*open_regular(path)), path);
    return file ? *file : nullptr;
}

class ElfLimits : public testing::Test {
  protected:
    // What becomes of a process that does this.
    static void within_bounds(const std::function<void()>& work) {
        const pid_t child = fork();
        if (child == 0) {
            const rlimit memory = {600 * megabyte, 600 * megabyte}, time = {20, 20};
            setrlimit(RLIMIT_AS, &memory);
            setrlimit(RLIMIT_CPU, &time);
            try {
                work();
            } catch (const std::exception& error) {
                ADD_FAILURE() << error.what();
            }
            _exit(testing::Test::HasFailure() ? 1 : 0);
        }
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
        EXPECT_EQ(WEXITSTATUS(status), 0);
    }
    // All of them at once: what is kept of one adds to that of the next.
    static void read_within_bounds(const test::Paths& paths) {
        within_bounds([&] {
            std::vector<std::shared_ptr<const ElfFile>> files;
            for (const std::string& path : paths)
                if (files.push_back(open_elf(path)); files.back())
                    read_whole(*files.back());
        });
    }
    std::string folder() const { return folder_.path(""); }

    test::TemporaryFolder folder_;
};

TEST_F(ElfLimits, ManySectionsOfOneLongName) {
    read_within_bounds(test::many_sections_of_one_long_name(folder()));
}

TEST_F(ElfLimits, ManyLibrariesWhoseNamesOverlap) {
    read_within_bounds(test::many_libraries_whose_names_overlap(folder()));
}

TEST_F(ElfLimits, HolesForTablesOfStrings) {
    read_within_bounds(test::holes_for_tables_of_strings(folder()));
}

TEST_F(ElfLimits, ManyFunctionsWhoseNamesOverlap) {
    read_within_bounds(test::many_functions_whose_names_overlap(folder()));
}

TEST_F(ElfLimits, CompressedNamesOfSections) {
    // Not more, so that it could be inflated, again and again.
    read_within_bounds(test::compressed_names_of_sections(folder(), 200 * megabyte));
}

TEST_F(ElfLimits, ADebugLinkToATerabyte) {
    const std::string path = test::debug_link_to_a_terabyte(folder()).front();
    within_bounds([&] {
        const auto file = open_elf(path);
        ASSERT_TRUE(file && file->debug_link());
        const auto root = open_folder(folder_.path(""));
        DebugFolders folders;
        folders.own_root = root->get();
        EXPECT_FALSE(open_debug_file(*file, "/linking", folders));
    });
}

} // namespace
} // namespace auger
