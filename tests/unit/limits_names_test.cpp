// SPDX-License-Identifier: GPL-3.0-or-later
// A file that takes more memory than its reader may have. Not built with the address sanitizer,
// which reserves more than any bound.
#include "loader/process/safe_open.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/names_maker.h"
#include "tests/unit/symbols_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace auger {
namespace {

TEST(NameReaders, AFileThatTakesAllMemoryCostsItsOwnNames) {
    test::TemporaryFolder folder;
    // Of 150 MB.
    test::Names names({"/nonexistent", "", -1},
                      {AUGER_FIXTURES_DIR "/fixture_confined", {"little-memory"}});
    const auto names_of = [&](const std::string& name, size_t symbols) {
        ModuleSource source;
        source.kind = ModuleKind::file;
        source.path = folder.file(name, test::file_of_symbols(symbols));
        source.file = std::move(*open_regular(source.path));
        return names.maker.make(std::move(source));
    };
    const auto good = names_of("good", 1000);
    EXPECT_EQ(good->find(0x1010), "f");
    const auto huge = names_of("huge", 5'000'000);
    EXPECT_EQ(huge->find(0x1010), std::nullopt);
    EXPECT_THAT(huge->note, testing::HasSubstr("its reader crashed or was killed"));
    EXPECT_EQ(good->find(0x1011), "f");
    EXPECT_EQ(good->note, "");
}

} // namespace
} // namespace auger
