// SPDX-License-Identifier: GPL-3.0-or-later
// Copies of one file, as containers have them, and files that only claim to be one.
#include "tests/support/temporary_folder.h"
#include "tests/support/wait.h"
#include "tests/unit/names_maker.h"

#include "loader/process/file_content.h"
#include "loader/process/safe_open.h"
#include "loader/reader/elf/elf_file.h"
#include "loader/symbols/module_table.h"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>

namespace auger {
namespace {

class Copies : public testing::Test {
  protected:
    // The file in `folder`, which is the root of the process that maps it, as /program.
    std::shared_ptr<ModuleNames> names(const test::TemporaryFolder& folder) {
        ModuleSource source;
        source.kind = ModuleKind::file;
        source.path = "/program";
        source.file = std::move(*open_regular(folder.path("program")));
        source.root = std::move(*open_folder(folder.path("")));
        return names_.maker.make(std::move(source));
    }
    // Nobody else's to write, and written long enough ago that a change would be seen.
    static void wait_until_settled(const std::string& path) {
        ASSERT_EQ(chmod(path.c_str(), 0755), 0);
        const auto file = *open_regular(path);
        ASSERT_TRUE(test::wait_until([&] { return !FileContent::of(file.get())->just_changed(); }));
    }
    static uint64_t address_of(const std::string& path, const std::string& name) {
        const auto file = *ElfFile::open(std::move(*open_regular(path)), path);
        for (const ElfFunction& function : file->functions())
            if (function.name == name)
                return function.address;
        return 0;
    }

    test::Names names_{{"/usr/lib/debug", "", -1}};
    const std::string program = AUGER_SYMBOLS_DIR "/symbols_dwarf5";
    const std::string stripped = AUGER_SYMBOLS_DIR "/symbols_stripped";
    test::TemporaryFolder one, two;
};

TEST_F(Copies, AreReadOnce) {
    const uint64_t leaf = address_of(program, "fixture_leaf");
    one.file("program", *read_file(program));
    two.file("program", *read_file(program));
    wait_until_settled(one.path("program"));
    const auto first = names(one);
    EXPECT_EQ(names(one), first);
    EXPECT_EQ(first->find(leaf), "fixture_leaf");
    // In another container it is somebody else's, who may say of it what he likes.
    const auto others = names(two);
    EXPECT_NE(others, first);
    EXPECT_EQ(others->find(leaf), "fixture_leaf");
}

// What only root can have written gives names to all copies of it.
TEST_F(Copies, OfOurOwnFilesAreTheirs) {
    one.file("program", *read_file(program));
    wait_until_settled(one.path("program"));
    ModuleSource source;
    source.kind = ModuleKind::file;
    source.path = "/program";
    source.file = std::move(*open_regular(one.path("program")));
    const auto ours = names_.maker.make(std::move(source));
    two.file("program", *read_file(program));
    ASSERT_EQ(chmod(two.path("program").c_str(), 0755), 0);
    EXPECT_EQ(names(two), ours);
}

// A copy that was something else while it was read.
TEST_F(Copies, OfWhatWasWrittenMeanwhileAreNone) {
    std::string forged = *read_file(program);
    for (size_t at = 0; (at = forged.find("fixture_leaf", at)) != forged.npos;)
        forged.replace(at, 12, "forged_names");
    one.file("program", forged);
    wait_until_settled(one.path("program"));
    const auto lie = names(one);
    const uint64_t leaf = address_of(program, "fixture_leaf");
    EXPECT_EQ(lie->find(leaf), "forged_names");
    one.file("program", *read_file(program)); // in its place
    two.file("program", *read_file(program));
    EXPECT_EQ(names(two)->find(leaf), "fixture_leaf");
}

TEST_F(Copies, ABuildIdAloneIsNotBelieved) {
    std::string forged = *read_file(program);
    const size_t name = forged.find("fixture_leaf", forged.size() / 2);
    ASSERT_NE(name, forged.npos); // in the table of strings, not in the DWARF before it
    for (size_t at = 0; (at = forged.find("fixture_leaf", at)) != forged.npos;)
        forged.replace(at, 12, "forged_names");
    one.file("program", forged);
    two.file("program", *read_file(program));
    const uint64_t leaf = address_of(program, "fixture_leaf");
    const auto lie = names(one), truth = names(two);
    ASSERT_EQ(lie->build_id, truth->build_id);
    EXPECT_EQ(lie->find(leaf), "forged_names");
    EXPECT_EQ(truth->find(leaf), "fixture_leaf");
}

// One container brings the debug file along, the other does not.
TEST_F(Copies, WithTheirOwnDebugFilesAreTheirOwn) {
    const std::string content = *read_file(stripped);
    const auto debug = stripped + ".debug";
    const std::string id =
        (*ElfFile::open(std::move(*open_regular(stripped)), stripped))->build_id();
    for (const auto* folder : {&one, &two})
        folder->file("program", content);
    const std::string place = one.path("usr/lib/debug/.build-id/" + id.substr(0, 2));
    std::filesystem::create_directories(place);
    std::filesystem::copy_file(debug, place + "/" + id.substr(2) + ".debug");
    const uint64_t leaf = address_of(debug, "fixture_leaf");
    const auto with = names(one), without = names(two);
    EXPECT_EQ(with->find(leaf), "fixture_leaf");
    EXPECT_EQ(without->find(leaf), std::nullopt);
}

// Not mapped: a mapping of what is gone would raise SIGBUS.
TEST_F(Copies, OneThatShrinksWhileItIsReadDoesNoHarm) {
    one.file("program", *read_file(program));
    const uint64_t leaf = address_of(program, "fixture_leaf");
    ModuleSource source;
    source.kind = ModuleKind::file;
    source.path = "/program";
    source.file = std::move(*open_regular(one.path("program")));
    std::filesystem::resize_file(one.path("program"), 8192); // after it was opened
    EXPECT_EQ(names_.maker.make(std::move(source))->find(leaf), std::nullopt);
    two.file("program", *read_file(program));
    const auto file = *ElfFile::open(std::move(*open_regular(two.path("program"))), "program");
    std::filesystem::resize_file(two.path("program"), 8192);
    EXPECT_LE(file->functions().size(), 100u); // opened whole: its tables are gone
}

} // namespace
} // namespace auger
