// SPDX-License-Identifier: GPL-3.0-or-later
// As limits_names_test.cpp, of code.
#include "tests/support/temporary_folder.h"
#include "tests/unit/code_files.h"
#include "tests/unit/symbols_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace auger {
namespace {

TEST(CodeReading, AFileThatTakesAllMemoryCostsItsOwnFunctions) {
    test::TemporaryFolder folder;
    // Of 150 MB.
    test::Readers readers({AUGER_FIXTURES_DIR "/fixture_confined", {"little-memory"}});
    std::vector<SearchedFile> files;
    for (const auto& [name, symbols] : {std::pair("good", 1000), std::pair("huge", 5'000'000)})
        files.push_back({test::code_file(folder.file(name, test::file_of_symbols(symbols))), true});
    const auto complete = [&](std::span<const SearchedFile> among) {
        return readers.complete("f", among, 5);
    };
    ASSERT_TRUE(files[0].file && files[1].file);
    for (int round = 0; round < 2; round++) {
        const auto found = readers.find(*parse_probe("f").pattern, files);
        ASSERT_TRUE(found) << found.error().message();
        for (const PlaceMatch& place : found->places)
            EXPECT_EQ(place.module, 0u);
        EXPECT_THAT(found->notes,
                    testing::Contains("huge could not be read: its reader crashed or was killed"));
        EXPECT_THAT(complete(files), testing::ElementsAre("f"));
    }
    // It was read alone, and is not read again.
    EXPECT_FALSE(readers.find(*parse_probe("huge:f").pattern, files));
}

} // namespace
} // namespace auger
