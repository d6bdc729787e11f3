// SPDX-License-Identifier: GPL-3.0-or-later
// A separate debug file with the right build id that says what is not so: names are its affair, but
// where a breakpoint goes the file that is run has to confirm.
#include "loader/process/safe_open.h"
#include "loader/reader/matching/own_functions.h"
#include "loader/reader/matching/probe_match.h"
#include "loader/reader/names/elf_questions.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/loader_matching_debug.h"

#include <elf.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace auger {
namespace {

using testing::HasSubstr;

const std::string stripped = AUGER_SYMBOLS_DIR "/symbols_stripped";
const std::string genuine = AUGER_SYMBOLS_DIR "/symbols_stripped.debug";

std::shared_ptr<const ElfFile> open_elf(const std::string& path) {
    return *ElfFile::open(std::move(*open_regular(path)), path);
}

std::string content_of(const std::string& path) {
    std::ostringstream content;
    content << std::ifstream(path, std::ios::binary).rdbuf();
    return content.str();
}

class HostileDebugFile : public testing::Test {
  protected:
    ElfFunction leaf() {
        for (const ElfFunction& function : file_->functions())
            if (function.name == "fixture_leaf")
                return function;
        throw std::runtime_error("no fixture_leaf");
    }
    // With a symbol more: at so many bytes behind the leaf's first.
    std::string with_symbol(const std::string& name, uint64_t offset) {
        const std::string path = folder_.path("hostile");
        const uint64_t text = open_elf(stripped)->section(".text")->address;
        const std::string command =
            fmt::format("objcopy --add-symbol '{}=.text:{:#x},function,global' {} {}", name,
                        leaf().address + offset - text, genuine, path);
        EXPECT_EQ(std::system(command.c_str()), 0) << command;
        return path;
    }
    // With another size of the leaf.
    std::string with_size(uint64_t size) {
        std::string bytes = content_of(genuine);
        Elf64_Sym wanted{};
        wanted.st_value = leaf().address;
        wanted.st_size = leaf().size;
        // Value and size stand side by side at the end of a symbol; the symbols come last.
        const std::string_view was(reinterpret_cast<const char*>(&wanted.st_value), 16);
        const size_t at = bytes.rfind(was);
        EXPECT_NE(at, std::string::npos);
        wanted.st_size = size;
        bytes.replace(at, 16, was);
        return folder_.file("hostile", bytes);
    }
    static Result<ProbeMatches> match(const std::string& debug_file, const std::string& pattern) {
        const auto file = open_elf(stripped);
        const std::vector<ProbeModule> modules = {
            {std::make_shared<FunctionIndex>(file, open_elf(debug_file)), stripped, true,
             test::debug_of(file, stripped)}};
        return match_probe(*parse_probe(pattern).pattern, modules);
    }

    test::TemporaryFolder folder_;
    std::shared_ptr<const ElfFile> file_ = open_elf(genuine);
};

TEST_F(HostileDebugFile, TheGenuineOneIsBelieved) {
    const auto found = match(genuine, "fixture_leaf");
    ASSERT_TRUE(found) << found.error().message();
    ASSERT_EQ(found->places.size(), 1u);
    EXPECT_EQ(found->places[0].address, leaf().address);
    // All that a compiler made: it writes call frame information of each.
    const auto all = match(genuine, "fixture_*");
    ASSERT_TRUE(all) << all.error().message();
    for (const SkippedPlace& skipped : all->skipped)
        EXPECT_THAT(skipped.reason, testing::Not(HasSubstr("debug file"))) << skipped.name;
}

TEST_F(HostileDebugFile, PlacesNoBreakpointInTheMiddleOfAFunction) {
    for (uint64_t offset = 1; offset < 12; ++offset) {
        const std::string path = with_symbol("evil", offset);
        for (const std::string pattern : {"evil", "evil+0x0"}) {
            const auto found = match(path, pattern);
            for (const PlaceMatch& place : found ? found->places : std::vector<PlaceMatch>())
                EXPECT_EQ(place.mangled.find("evil"), std::string::npos) << pattern << offset;
        }
        const auto found = match(path, "evil");
        ASSERT_FALSE(found) << offset;
        EXPECT_THAT(found.error().message(), HasSubstr("separate debug file only")) << offset;
    }
}

TEST_F(HostileDebugFile, LengthensNoFunction) {
    const auto found = match(with_size(leaf().size + 5), "fixture_leaf");
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message(), HasSubstr("longer in the separate debug file"));
}

TEST_F(HostileDebugFile, GivesAFunctionNoPartsElsewhere) {
    const auto before = match(genuine, "main");
    ASSERT_TRUE(before) << before.error().message();
    for (uint64_t offset = 1; offset < 12; ++offset) {
        const auto found = match(with_symbol("main.cold", offset), "main");
        ASSERT_TRUE(found) << found.error().message();
        ASSERT_EQ(found->places[0].exits.size(), before->places[0].exits.size()) << offset;
        for (size_t i = 0; i < before->places[0].exits.size(); ++i)
            EXPECT_EQ(found->places[0].exits[i].code.address,
                      before->places[0].exits[i].code.address);
    }
}

TEST_F(HostileDebugFile, OfAnotherRootComesAfterOurs) {
    const std::string id = open_elf(stripped)->build_id();
    const auto store = [&](const std::string& root, const std::string& from) {
        const std::string to = folder_.path(root) + "/usr/lib/debug/.build-id/" + id.substr(0, 2);
        std::filesystem::create_directories(to);
        std::filesystem::copy_file(from, to + "/" + id.substr(2) + ".debug");
        return *open_folder(folder_.path(root));
    };
    const UniqueFd own = store("own", genuine), target = store("target", with_symbol("evil", 1));
    DebugFolders folders;
    folders.own_root = own.get();
    folders.target_root = target.get();
    ElfQuestions questions;
    const auto module = open_elf(stripped);
    const auto file = debug_file_by_build_id(id, module->fd(), folders, questions);
    ASSERT_TRUE(file);
    const auto elf = open_elf(*file);
    for (const ElfFunction& function : elf->functions())
        EXPECT_NE(function.name, "evil");
    // It is what a container has for itself.
    folders.own_root = -1;
    EXPECT_TRUE(debug_file_by_build_id(id, module->fd(), folders, questions));
}

TEST(OwnFunctions, AreConfirmedByTheFileAlone) {
    const OwnFunctions own(*open_elf(stripped));
    const auto debug = open_elf(genuine);
    size_t confirmed = 0, refused = 0;
    for (const ElfFunction& function : debug->functions())
        (own.size_at(function.address) ? confirmed : refused)++;
    EXPECT_GT(confirmed, 10u);
    // The linker's own start-up code (deregister_tm_clones ...) has no call frame information.
    EXPECT_LE(refused, 6u);
    EXPECT_FALSE(own.size_at(0));
}

} // namespace
} // namespace auger
