// SPDX-License-Identifier: GPL-3.0-or-later
// Ruby's layouts as hostile files claim them.
#include "loader/reader/runtimes/read_ruby.h"
#include "loader/runtimes/ruby/layout.h"
#include "loader/runtimes/ruby/ruby_file.h"

#include "loader/process/safe_open.h"
#include "loader/unwind/table_messages.h"

#include <gtest/gtest.h>

#include <string>

namespace auger {
namespace {

RubyFile file_of(uint32_t version) {
    RubyFile file;
    file.version = version;
    file.context = ThreadVariable{
        8, 16, ThreadVariable::Slot{ThreadVariable::Slot::Kind::module_and_offset, 0x3aea48, 0}};
    file.loop = {0x253060, 2922, 0x3b73d, 60};
    file.symbols = 0x3af1c0;
    return file;
}

TEST(RubyLayouts, AreToldByVersion) {
    const auto debian = ruby_layout(file_of(0x030102));
    ASSERT_TRUE(debian.ok());
    EXPECT_EQ(debian->frames.frame_bytes, 64u);
    EXPECT_EQ(debian->frames.context_machine, 144u);
    EXPECT_EQ(debian->frames.version, 0x0301u);
    EXPECT_EQ(debian->objects.body_lines, 120u);
    EXPECT_EQ(debian->objects.class_names, ruby_names_variables);
    for (const uint32_t version : {0x030007u, 0x03020bu, 0x030308u, 0x030401u}) {
        const auto layout = ruby_layout(file_of(version));
        ASSERT_TRUE(layout.ok()) << std::hex << version;
        EXPECT_GE(layout->frames.frame_bytes, uint32_t{WIRE_RUBY_FRAME_BYTES});
        // Behind what a walk reads of it.
        EXPECT_GE(layout->objects.body_lines, uint32_t{WIRE_RUBY_BODY_BYTES});
    }
    EXPECT_EQ(ruby_layout(file_of(0x030308))->frames.frame_bytes, 56u);
}

TEST(RubyLayouts, SayWhatTheyDoNotKnow) {
    const auto message = [](const RubyFile& file) {
        const auto layout = ruby_layout(file);
        return layout.ok() ? "known" : layout.error().message();
    };
    EXPECT_EQ(message(file_of(0x020704)),
              "show Ruby's functions of Ruby 2.7.4: auger knows the frames of 3.0 to 3.4 (the "
              "interpreter's own functions are shown instead)");
    EXPECT_NE(message(file_of(0x040000)).find("of Ruby 4.0.0: auger knows"), std::string::npos);
    EXPECT_NE(message(file_of(0)).find("does not say its version"), std::string::npos);
    RubyFile lacking = file_of(0x030102);
    lacking.context.reset();
    EXPECT_NE(message(lacking).find("(ruby_current_ec) is not known"), std::string::npos);
    lacking = file_of(0x030102);
    lacking.symbols = 0;
    EXPECT_NE(message(lacking).find("(ruby_global_symbols) is not known"), std::string::npos);
    for (const uint64_t size : {uint64_t{0}, uint64_t{(16 << 20) + 1}, UINT64_MAX}) {
        lacking = file_of(0x030102);
        lacking.loop.body_size = size;
        EXPECT_NE(message(lacking).find("(rb_vm_exec) is not known"), std::string::npos) << size;
    }
    lacking = file_of(0x030102);
    lacking.loop.cold_size = (16 << 20) + 1;
    EXPECT_NE(message(lacking), "known");
}

TEST(RubyFiles, AreSentWhole) {
    RubyFile without = file_of(0x030102);
    without.context.reset();
    for (const RubyFile& file : {file_of(0x030102), without}) {
        const std::string bytes = encode_ruby_file(file);
        EXPECT_LE(bytes.size(), 128u);
        EXPECT_EQ(decode_ruby_file(bytes), file);
        EXPECT_EQ(decode_ruby_file(bytes + '\0'), std::nullopt);
        for (size_t size = 0; size < bytes.size(); size++)
            EXPECT_EQ(decode_ruby_file(bytes.substr(0, size)), std::nullopt) << size;
    }
}

TEST(RubyFiles, ComeWithTheTables) {
    table_messages::Tables tables{};
    tables.ruby = file_of(0x030102);
    const std::string bytes = table_messages::tables(tables);
    const auto decoded = table_messages::tables(bytes);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->ruby, tables.ruby);
    EXPECT_FALSE(decoded->php);
}

TEST(RubyFiles, OthersAreNone) {
    const std::string path = "/proc/self/exe";
    const auto file = ElfFile::open(*open_regular(path), path);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(read_ruby(**file), std::nullopt);
}

} // namespace
} // namespace auger
