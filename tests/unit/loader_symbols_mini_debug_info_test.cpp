// SPDX-License-Identifier: GPL-3.0-or-later
// Names from .gnu_debugdata, made as distributions make it: the symbols of a program, without its
// code, packed by xz into the stripped program.
#include "tests/support/temporary_folder.h"
#include "tests/unit/names_maker.h"

#include "loader/process/safe_open.h"
#include "loader/reader/names/mini_debug_info.h"
#include "loader/symbols/unpack_memory.h"

#include <gtest/gtest.h>

#include <lzma.h>

namespace auger {
namespace {

const std::string program = AUGER_SYMBOLS_DIR "/symbols_dwarf5";
constexpr const char* objcopy = "/usr/bin/objcopy";

std::string packed(const std::string& content) {
    std::string result(lzma_stream_buffer_bound(content.size()), '\0');
    size_t size = 0;
    EXPECT_EQ(lzma_easy_buffer_encode(
                  6, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const uint8_t*>(content.data()),
                  content.size(), reinterpret_cast<uint8_t*>(result.data()), &size, result.size()),
              LZMA_OK);
    result.resize(size);
    return result;
}

class MiniDebugInfo : public testing::Test {
  protected:
    void SetUp() override {
        if (!std::filesystem::exists(objcopy))
            GTEST_SKIP() << "not installed: objcopy";
        run({"--only-keep-debug", program, folder.path("debug")});
        run({"--strip-debug", folder.path("debug"), folder.path("symbols")});
    }
    static void run(const std::vector<std::string>& arguments) {
        std::string command = objcopy;
        for (const std::string& argument : arguments)
            command += " '" + argument + "'";
        ASSERT_EQ(std::system(command.c_str()), 0) << command;
    }
    // The path of the stripped program with these bytes in .gnu_debugdata.
    std::string with_section(const std::string& content) {
        folder.file("packed", content);
        run({"--strip-all", "--add-section", ".gnu_debugdata=" + folder.path("packed"), program,
             folder.path("stripped")});
        return folder.path("stripped");
    }
    std::shared_ptr<ModuleNames> names_of(const std::string& path) {
        ModuleSource source;
        source.kind = ModuleKind::file;
        source.path = path;
        source.file = std::move(*open_regular(path));
        return names_.maker.make(std::move(source));
    }
    // Of a function that no table of exports has.
    static uint64_t address_of(const std::string& name) {
        const auto file = ElfFile::open(std::move(*open_regular(program)), program);
        for (const ElfFunction& function : (*file)->functions())
            if (function.name == name)
                return function.address;
        return 0;
    }

    test::TemporaryFolder folder;
    test::Names names_{{"/nonexistent", "", -1}};
};

TEST_F(MiniDebugInfo, NamesOfAStrippedProgram) {
    const uint64_t address = address_of("fixture_leaf");
    ASSERT_NE(address, 0u);
    const std::string bare = with_section("");
    EXPECT_EQ(names_of(bare)->find(address), std::nullopt);
    const std::string path = with_section(packed(*read_file(folder.path("symbols"))));
    const auto names = names_of(path);
    EXPECT_EQ(names->find(address), "fixture_leaf");
    EXPECT_EQ(names->note, "");
}

TEST_F(MiniDebugInfo, BrokenAndHugeContentIsLeftOut) {
    const std::string good = packed(*read_file(folder.path("symbols")));
    const UniqueFd memory = unpack_memory();
    const auto inside = [&](const std::string& content) {
        const std::string path = with_section(content);
        const auto file = ElfFile::open(std::move(*open_regular(path)), path);
        return file ? mini_debug_file(**file, memory.get()) : nullptr;
    };
    EXPECT_TRUE(inside(good));
    EXPECT_FALSE(inside(good.substr(0, good.size() / 2)));
    EXPECT_FALSE(inside("not packed at all"));
    EXPECT_FALSE(inside(packed("not an ELF file")));
    std::string flipped = good;
    flipped[flipped.size() / 2] ^= 1;
    EXPECT_FALSE(inside(flipped));
    // A small section that unpacks to more than fits; the ELF file at its begin is not looked at.
    std::string huge = *read_file(folder.path("symbols"));
    huge.resize(size_t{65} << 20);
    EXPECT_FALSE(inside(packed(huge)));
    EXPECT_TRUE(inside(good));
    // Its reader does not die of it: what is not packed has its names.
    const std::string path = with_section(packed(huge));
    EXPECT_EQ(names_of(path)->note, names_of(with_section(""))->note);
}

} // namespace
} // namespace auger
