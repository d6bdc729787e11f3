// SPDX-License-Identifier: GPL-3.0-or-later
// HotSpot's tables, compiled code and methods as a process has them, and as hostile ones claim
// them.
#include "loader/reader/runtimes/read_hotspot.h"
#include "loader/runtimes/hotspot/frame_reader.h"
#include "loader/runtimes/hotspot/hotspot_file.h"
#include "loader/runtimes/hotspot/layout.h"
#include "loader/runtimes/hotspot/line_table.h"
#include "tests/unit/hotspot_image.h"

#include "loader/process/safe_open.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <limits>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace auger {
namespace {

using test::HotspotImage;

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> values) {
    std::vector<std::byte> bytes;
    for (const unsigned value : values)
        bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

std::string text_of(const HotspotFrameAnswer& answer) {
    if (const auto* const problem = std::get_if<HotspotFrameProblem>(&answer))
        return *problem == HotspotFrameProblem::gone   ? "(gone)"
               : *problem == HotspotFrameProblem::late ? "(late)"
                                                       : "(unreadable)";
    std::string text;
    for (const HotspotFunction& function : std::get<HotspotFrame>(answer))
        text += fmt::format("{}{} {}:{}", text.empty() ? "" : " in ", function.name, function.file,
                            function.line);
    return text;
}

TEST(HotspotTables, SayWhereThingsAre) {
    HotspotImage image;
    const auto layout = image.layout();
    ASSERT_TRUE(layout.ok()) << layout.error().message();
    const wire_hotspot& walk = layout->walk;
    EXPECT_EQ(walk.heaps[0].low, HotspotImage::code_low);
    EXPECT_EQ(walk.heaps[0].size, HotspotImage::code_high - HotspotImage::code_low);
    EXPECT_EQ(walk.heaps[0].segments, HotspotImage::segments);
    EXPECT_EQ(walk.heaps[0].segment_bits, 7u);
    EXPECT_EQ(walk.heaps[1].size, 0u);
    EXPECT_EQ(walk.interpreter, HotspotImage::interpreter);
    EXPECT_EQ(walk.interpreter_size, HotspotImage::interpreter_size);
    EXPECT_EQ(walk.block_blob, 16u);
    EXPECT_EQ(walk.block_used, 9u);
    EXPECT_EQ(walk.block_name, 16u + 80);
    EXPECT_EQ(walk.block_method, 16u + 104);
    EXPECT_EQ(walk.block_deopt_handler, 16u + 120);
    EXPECT_EQ(walk.block_deopt_mh_handler, 16u + 128);
    EXPECT_EQ(walk.block_compile_id, 16u + 300);
    EXPECT_EQ(walk.block_original_pc, 16u + 296);
    EXPECT_EQ(walk.block_pcs, 16u + 268);
    EXPECT_EQ(walk.block_pcs_end, 16u + 272);
    EXPECT_EQ(walk.nmethod_header_size, 352u);
    EXPECT_EQ(walk.method_const, 16u);
    EXPECT_EQ(walk.const_bytecode, 48u);
    EXPECT_EQ(layout->values[HotspotField::major_version], HotspotImage::version);
    EXPECT_EQ(layout->values[HotspotField::symbol_body], 6u);
}

std::string problem_of(HotspotImage& image) {
    const auto layout = image.layout();
    if (layout.ok())
        return "known";
    return layout.error().kind == Error::Kind::unsupported ? layout.error().message()
                                                           : "not yet: " + layout.error().cause;
}

TEST(HotspotTables, WithoutOneOfThemAreNoneThatAreKnown) {
    // While the dynamic linker is at work on them that is no news.
    const std::string unknown = "not yet: its structures are not those of 17";
    const size_t fields = HotspotImage().fields.size() - 1, sizes = HotspotImage().sizes.size() - 1;
    EXPECT_EQ(fields, static_cast<size_t>(HotspotField::count_));
    EXPECT_EQ(sizes, static_cast<size_t>(HotspotType::count_));
    for (size_t i = 0; i < fields; i++) {
        HotspotImage image;
        const HotspotImage::Field field = image.fields[i];
        image.fields[i].name += 'x';
        image.put_tables();
        EXPECT_EQ(problem_of(image), unknown) << field.name;
        image.fields[i] = field;
        image.fields[i].of += '*';
        image.put_tables();
        EXPECT_EQ(problem_of(image), unknown) << field.name;
        image.fields[i] = field;
        image.fields[i].is_static = !field.is_static;
        image.put_tables();
        EXPECT_EQ(problem_of(image), unknown) << field.name;
        image.fields[i] = field;
        image.put_tables();
        EXPECT_EQ(problem_of(image), "known") << field.name;
    }
    for (size_t i = 0; i < sizes; i++) {
        HotspotImage image;
        image.sizes[i].name += 'x';
        image.put_tables();
        EXPECT_EQ(problem_of(image), unknown) << i;
    }
}

TEST(HotspotTables, OfOtherVersionsAreSaid) {
    HotspotImage image;
    image.put(HotspotImage::version, int32_t{25});
    EXPECT_EQ(problem_of(image), "show Java's methods of HotSpot 25: auger knows the structures of "
                                 "17 (generated code is shown by its addresses instead)");
}

// It is said when nothing else is where it was, too.
TEST(HotspotTables, OfOtherVersionsHaveOtherFields) {
    HotspotImage image;
    image.fields.resize(1);
    image.put_tables();
    for (const int32_t not_said : {17, 0, -1}) {
        image.put(HotspotImage::version, not_said);
        EXPECT_EQ(problem_of(image), "not yet: its structures are not those of 17") << not_said;
    }
    image.put(HotspotImage::version, int32_t{25});
    EXPECT_NE(problem_of(image).find("of HotSpot 25"), std::string::npos);
}

TEST(HotspotTables, AreWaitedForWhileItStarts) {
    const std::string tables = "not yet: they are not there yet";
    HotspotImage image;
    for (const uint64_t variable : {HotspotImage::structs, HotspotImage::types, HotspotImage::heaps,
                                    HotspotImage::queue_at}) {
        const HotspotImage whole = image;
        image.put(variable, uint64_t{0});
        EXPECT_EQ(problem_of(image), tables);
        image.pages = whole.pages;
    }
    const HotspotImage whole = image;
    image.put(HotspotImage::heap + 24, uint64_t{0});
    EXPECT_EQ(problem_of(image), tables);
    image.pages = whole.pages;
    // The interpreter has not been made, or not all of it; or what it has left is not given back.
    const auto room = static_cast<int32_t>(HotspotImage::interpreter_room);
    for (const int32_t end : {0, room - 4096, room + 1}) {
        image.put(HotspotImage::queue + 28, end);
        EXPECT_EQ(problem_of(image), tables) << end;
    }
    for (const int32_t end : {room - 4095, room}) {
        image.put(HotspotImage::queue + 28, end);
        EXPECT_EQ(problem_of(image), "known") << end;
    }
}

TEST(HotspotTables, ThatDoNotEndAreLeft) {
    HotspotImage image;
    // Each entry is like the last one, on and on.
    const uint64_t type = HotspotImage::texts;
    for (uint64_t at = HotspotImage::struct_table; at < HotspotImage::struct_table + (1 << 20);
         at += 8)
        image.put(at, type);
    EXPECT_EQ(problem_of(image).substr(0, 7), "not yet");
    EXPECT_LE(image.reads, 1100u);
    // Nor does what they say.
    image.put(HotspotImage::structs, uint64_t{UINT64_MAX - 20});
    EXPECT_EQ(problem_of(image).substr(0, 7), "not yet");
}

TEST(HotspotTables, AreBounded) {
    const std::string cannot =
        "show Java's methods of a HotSpot: where it says that its structures "
        "are, they cannot be";
    for (size_t i = 0; i + 1 < HotspotImage().fields.size(); i++) {
        HotspotImage image;
        if (image.fields[i].is_static)
            continue;
        for (const uint64_t value : {uint64_t{4097}, uint64_t{1} << 20}) {
            image.fields[i].value = value;
            image.put_tables();
            EXPECT_EQ(problem_of(image).substr(0, cannot.size()), cannot) << image.fields[i].name;
        }
        image.fields[i].value = (1 << 20) + 1;
        image.put_tables();
        EXPECT_NE(problem_of(image), "known") << image.fields[i].name;
    }
    // What a walk reads at once, and none of it across two words.
    for (const uint64_t value : {uint64_t{WIRE_HOTSPOT_BLOCK_BYTES - 16 - 3}, uint64_t{302}}) {
        HotspotImage image;
        image.fields[24].value = value;
        ASSERT_EQ(image.fields[24].name, "_compile_id");
        image.put_tables();
        EXPECT_EQ(problem_of(image).substr(0, cannot.size()), cannot) << value;
    }
    for (const int32_t length : {0, -1, WIRE_HOTSPOT_HEAPS + 1}) {
        HotspotImage image;
        image.put(HotspotImage::array + 4, length);
        EXPECT_EQ(problem_of(image).substr(0, 7), "not yet") << length;
    }
    for (const int32_t bits : {-1, WIRE_HOTSPOT_SEGMENT_BITS + 1}) {
        HotspotImage image;
        image.put(HotspotImage::heap + 200, bits);
        EXPECT_EQ(problem_of(image).substr(0, 7), "not yet") << bits;
    }
    // Two heaps in one place.
    {
        HotspotImage image;
        image.put(HotspotImage::array + 4, int32_t{2});
        image.put(HotspotImage::elements + 8, HotspotImage::heap);
        EXPECT_EQ(problem_of(image).substr(0, 7), "not yet");
    }
    for (const uint64_t high : {uint64_t{0}, HotspotImage::code_low, UINT64_MAX}) {
        HotspotImage image;
        image.put(HotspotImage::heap + 32, high);
        EXPECT_EQ(problem_of(image).substr(0, 7), "not yet") << high;
    }
}

TEST(HotspotNumbers, OfOneToFiveBytes) {
    const auto number = [](std::initializer_list<unsigned> bytes) {
        const auto content = bytes_of(bytes);
        return HotspotNumbers(content).number();
    };
    EXPECT_EQ(number({0}), 0u);
    EXPECT_EQ(number({191, 7}), 191u);
    EXPECT_EQ(number({192, 0}), 192u);
    EXPECT_EQ(number({255, 1}), 255u + 64);
    EXPECT_EQ(number({192, 192, 1}), 192u + (192u << 6) + (1u << 12));
    EXPECT_EQ(number({255, 255, 255, 255, 255, 9}),
              255u + (255u << 6) + (255u << 12) + (255u << 18) + (255u << 24));
    const auto two = bytes_of({3, 4, 5});
    HotspotNumbers numbers(two);
    EXPECT_EQ(numbers.signed_number(), -2);
    EXPECT_EQ(numbers.signed_number(), 2);
    EXPECT_EQ(numbers.byte(), 5u);
    EXPECT_FALSE(numbers.failed());
    EXPECT_EQ(numbers.number(), 0u);
    EXPECT_TRUE(numbers.failed());
}

TEST(HotspotLines, AreTheNearestBefore) {
    // (0, 10), (5, 12), (5, 13), (2, 99), (40, 100)
    const auto table = bytes_of({0xff, 0, 20, 0x2a, 0x01, 0xff, 5, 172, 0xff, 76, 2, 0});
    for (const auto& [bytecode, line] : {std::pair{0, 10},
                                         {1, 10},
                                         {2, 99},
                                         {4, 99},
                                         {5, 12},
                                         {6, 13},
                                         {39, 13},
                                         {40, 100},
                                         {65535, 100}})
        EXPECT_EQ(hotspot_line(table, static_cast<uint32_t>(bytecode)), static_cast<uint32_t>(line))
            << bytecode;
    EXPECT_EQ(hotspot_line({}, 0), 0u);
    EXPECT_EQ(hotspot_line(bytes_of({0x2a, 0}), 4), 0u); // nothing before it
}

TEST(HotspotLines, HostileTables) {
    EXPECT_EQ(hotspot_line(std::vector(1000, std::byte{0xff}), 0), 0u);
    EXPECT_EQ(hotspot_line(bytes_of({0x01, 0xff}), 9), 1u);    // cut
    EXPECT_EQ(hotspot_line(bytes_of({0xff, 0, 1, 0}), 9), 0u); // line -1
    EXPECT_EQ(hotspot_line(std::vector(1 << 16, std::byte{0x07}), 9), 7u << 16);
}

class HotspotCode : public testing::Test {
  protected:
    HotspotImage image;
    const HotspotLayout layout = *image.layout();

    static uint32_t cookie(uint32_t id = HotspotImage::compile_id) {
        return wire_hotspot_code_cookie(HotspotImage::kind, HotspotImage::outer,
                                        HotspotImage::blob_size, id);
    }
    HotspotFrameAnswer read(uint64_t instruction, uint32_t cookie) {
        const uint64_t offset = HotspotImage::code + instruction - HotspotImage::blob;
        return read_hotspot_code(image.reader(), layout.values, layout.walk, HotspotImage::blob,
                                 offset << 32 | cookie);
    }
    std::string text(uint64_t instruction) { return text_of(read(instruction, cookie())); }
    // Of `outer`, which is in itself so often.
    HotspotFrameAnswer read_chain(uint32_t deep) {
        // Scope i is at 4 i + 1, and in the one before.
        for (uint32_t i = 0; i < deep; i++) {
            const uint32_t around = i ? 4 * (i - 1) + 1 : 0;
            const uint32_t low = around < 192 ? around : 192 + (around - 192) % 64;
            std::vector<uint8_t> bytes = {static_cast<uint8_t>(low)};
            if (around >= 192)
                bytes.push_back(static_cast<uint8_t>((around - low) >> 6));
            bytes.push_back(1);
            bytes.push_back(1);
            image.put_bytes(HotspotImage::blob + 0x1000 + 4 * i + 1, bytes.data(), bytes.size());
        }
        image.put(HotspotImage::blob + 112, HotspotImage::blob + 0x1000);
        image.put(HotspotImage::blob + 268, uint32_t{0x1800});
        image.put(HotspotImage::blob + 272, uint32_t{0x1810});
        image.put(HotspotImage::blob + 0x1804, int32_t{0x20});
        image.put(HotspotImage::blob + 0x1808, static_cast<int32_t>(4 * (deep - 1) + 1));
        return read(0, cookie());
    }
};

const std::string whole = "org.shop.Till.lambda$pay$0 org/shop/Till.java:99 in "
                          "org.shop.Till.pay org/shop/Till.java:12";
const std::string outer = "org.shop.Till.pay org/shop/Till.java:10";

TEST_F(HotspotCode, InlinedMethodsAreToldToo) {
    EXPECT_EQ(text(0), whole);
    EXPECT_EQ(text(0x20), whole);
    // Behind a place the next one counts, as for HotSpot.
    image.put_bytes(HotspotImage::blob + HotspotImage::scopes + 1, "\0\1\1", 3);
    EXPECT_EQ(text(0x21), outer);
    EXPECT_EQ(text(0x40), outer);
}

TEST_F(HotspotCode, WhereNothingIsKnownTheMethodIs) {
    EXPECT_EQ(text(0x41), "org.shop.Till.pay org/shop/Till.java:0");
    EXPECT_EQ(text(0x1001), "org.shop.Till.pay org/shop/Till.java:0");
    // Where it is entered.
    image.put_bytes(HotspotImage::blob + HotspotImage::scopes + 1, "\0\1\0", 3);
    EXPECT_EQ(text(0x30), outer);
    // Code that calls a native function has no places.
    image.put(HotspotImage::blob + 272, HotspotImage::pcs);
    EXPECT_EQ(text(0), "org.shop.Till.pay org/shop/Till.java:0");
}

TEST_F(HotspotCode, ThatIsNoMethodsHasItsKind) {
    image.put(HotspotImage::blob + 12, uint32_t{104});
    image.put_text(HotspotImage::kind, "StubRoutines (1)");
    const auto cookie = wire_hotspot_code_cookie(HotspotImage::kind, 0, HotspotImage::blob_size, 0);
    EXPECT_EQ(text_of(read(0, cookie)), "[stub: StubRoutines 1] :0");
    image.put_text(HotspotImage::kind, std::string(100, 'x'));
    EXPECT_EQ(text_of(read(0, cookie)), "[stub: " + std::string(64, 'x') + "] :0");
    image.put(HotspotImage::blob + 80, uint64_t{0x666000});
    EXPECT_EQ(text_of(read(0, wire_hotspot_code_cookie(0x666000, 0, HotspotImage::blob_size, 0))),
              "(unreadable)");
}

TEST_F(HotspotCode, OfAnotherCompilationIsGone) {
    EXPECT_EQ(text_of(read(0, cookie(HotspotImage::compile_id + 1))), "(gone)");
    image.put(HotspotImage::blob + 300, HotspotImage::compile_id + 1);
    EXPECT_EQ(text(0), "(gone)");
    image.put(HotspotImage::blob + 300, HotspotImage::compile_id);
    image.put(HotspotImage::blob + 104, HotspotImage::inner);
    EXPECT_EQ(text(0), "(gone)");
}

TEST_F(HotspotCode, ThatIsReplacedWhileItIsReadIsGone) {
    image.reads = 0;
    (void)read(0, cookie());
    const size_t reads = image.reads;
    ASSERT_GT(reads, 8u);
    // Its first page is read at the beginning, and again at the end.
    for (size_t at = 0; at < reads; at++) {
        image.put(HotspotImage::blob + 300, HotspotImage::compile_id);
        image.reads = 0;
        image.before = [&](size_t now) {
            if (now == at)
                image.put(HotspotImage::blob + 300, HotspotImage::compile_id + 1);
        };
        EXPECT_EQ(text(0), "(gone)") << at;
    }
}

TEST_F(HotspotCode, WhatCannotBeReadSaysWhy) {
    for (const uint64_t at :
         {HotspotImage::blob, HotspotImage::pool, HotspotImage::other_pool, HotspotImage::klass,
          HotspotImage::outer, HotspotImage::inner_const, HotspotImage::symbols}) {
        const auto pages = image.pages;
        image.pages.erase(at / HotspotImage::page_bytes);
        image.answer = MemoryRead::unreadable;
        EXPECT_EQ(text(0), "(unreadable)") << at;
        image.answer = MemoryRead::late;
        EXPECT_EQ(text(0), "(late)") << at;
        image.pages = pages;
    }
}

TEST_F(HotspotCode, HostilePlacesAndScopes) {
    const uint64_t scopes = HotspotImage::blob + HotspotImage::scopes;
    // A scope in itself, in one that comes later, and in one that is nowhere.
    for (const char* const around : {"\10\2\3", "\11\2\3", "\377\377\2\3"}) {
        image.put_bytes(scopes + 8, around, 4);
        EXPECT_EQ(text(0), "(unreadable)");
    }
    // One that comes later is none, even if it is one.
    image.put_bytes(scopes + 0x20, "\0\1\10", 3);
    image.put_bytes(scopes + 8, "\40\2\3", 3);
    EXPECT_EQ(text(0), "(unreadable)");
    image.put_bytes(scopes + 8, "\1\0\3", 3); // no method
    EXPECT_EQ(text(0), "(unreadable)");
    image.put_bytes(scopes + 8, "\1\2\3", 3);
    EXPECT_EQ(text(0), whole);
    image.put_place(0, 0x20, 0x100); // where the scopes end
    EXPECT_EQ(text(0), "(unreadable)");
    image.put_place(0, 0x20, 0xff); // cut
    image.put_bytes(scopes + 0xff, "\377", 1);
    EXPECT_EQ(text(0), "(unreadable)");
    image.put_place(0, 0x20, -1);
    EXPECT_EQ(text(0), "org.shop.Till.pay org/shop/Till.java:0");
    // As deep as is followed, and deeper.
    const auto chain = [&](uint32_t deep) {
        const auto answer = read_chain(deep);
        const auto* const frame = std::get_if<HotspotFrame>(&answer);
        return frame ? frame->size() : 0;
    };
    EXPECT_EQ(chain(2), 2u);
    EXPECT_EQ(chain(128), 128u);
    EXPECT_EQ(chain(129), 0u);
    // More places than any method has.
    image.put(HotspotImage::blob + 272, uint32_t{0x1800 + (1 << 20) + 1});
    EXPECT_EQ(text(0), "(unreadable)");
}

TEST_F(HotspotCode, NamesAreBounded) {
    image.symbol(1, std::string(1024, 'a'));
    EXPECT_EQ(std::get<HotspotFrame>(read(0x40, cookie()))[0].name,
              "org.shop.Till." + std::string(1024, 'a'));
    image.symbol(1, std::string(1025, 'a'));
    EXPECT_EQ(std::get<HotspotFrame>(read(0x40, cookie()))[0].name,
              "org.shop.Till." + std::string(1024, 'a') + "...");
    // A name that is not in the pool, but behind it.
    image.put(HotspotImage::pool_entries + 32, image.symbol(4, "other"));
    image.put(HotspotImage::outer_const + 34, uint16_t{4});
    EXPECT_EQ(text(0x40), "(unreadable)");
}

// A table of lines is as large as its method says, and may be read for each place where that is.
TEST_F(HotspotCode, LinesAreBounded) {
    constexpr uint64_t table = 128 << 10, all = 1 << 20;
    for (uint64_t at = 0; at < table + 2 * HotspotImage::page_bytes; at += HotspotImage::page_bytes)
        image.pages[(HotspotImage::outer_const + at) / HotspotImage::page_bytes];
    image.put(HotspotImage::outer_const + 24, static_cast<int32_t>((48 + 20 + table) / 8 + 1));
    const auto answer = read_chain(128);
    ASSERT_EQ(text_of(answer).find("unreadable"), std::string::npos);
    size_t with_lines = 0;
    for (const HotspotFunction& function : std::get<HotspotFrame>(answer))
        with_lines += function.line == 10;
    EXPECT_EQ(with_lines, all / table);
}

TEST_F(HotspotCode, HiddenClassesHaveTheirNamesOnly) {
    image.put(HotspotImage::klass + 40,
              image.symbol(0, "org/shop/Till$$Lambda$7+0x00007f10d8000a10"));
    image.put(HotspotImage::other_pool + 54, uint16_t{0}); // of no file
    EXPECT_EQ(text(0x40), "org.shop.Till$$Lambda$7.pay :12");
    image.put(HotspotImage::klass + 40, image.symbol(0, "Till"));
    image.put(HotspotImage::other_pool + 54, uint16_t{3});
    EXPECT_EQ(text(0x40), "Till.pay Till.java:12");
}

TEST_F(HotspotCode, MethodsWithoutLines) {
    image.put(HotspotImage::outer_const + 30, uint16_t{0});
    EXPECT_EQ(text(0x40), "org.shop.Till.pay org/shop/Till.java:0");
    image.put(HotspotImage::outer_const + 30, uint16_t{1});
    // The method ends before its lines do.
    image.put(HotspotImage::outer_const + 24, int32_t{8});
    EXPECT_EQ(text(0x40), "org.shop.Till.pay org/shop/Till.java:0");
    image.put(HotspotImage::outer_const + 24, int32_t{-1});
    EXPECT_EQ(text(0x40), "org.shop.Till.pay org/shop/Till.java:0");
}

TEST_F(HotspotCode, OfTheInterpreterIsAMethodAndABytecode) {
    const auto cookie =
        wire_hotspot_method_cookie(HotspotImage::outer_const, HotspotImage::pool, 1, 20);
    const auto read = [&](uint64_t bytecode, uint32_t cookie) {
        return text_of(read_hotspot_method(image.reader(), layout.values, HotspotImage::outer,
                                           bytecode << 32 | cookie));
    };
    EXPECT_EQ(read(0, cookie), outer);
    EXPECT_EQ(read(5, cookie), "org.shop.Till.pay org/shop/Till.java:12");
    EXPECT_EQ(read(5, cookie + 1), "(gone)");
    image.reads = 0;
    (void)read(0, cookie);
    const size_t reads = image.reads;
    for (size_t at = 0; at < reads; at++) {
        image.put(HotspotImage::outer_const + 32, uint16_t{20});
        image.reads = 0;
        image.before = [&](size_t now) {
            if (now == at)
                image.put(HotspotImage::outer_const + 32, uint16_t{21});
        };
        EXPECT_EQ(read(0, cookie), "(gone)") << at;
    }
    image.before = [](size_t) {};
    image.put(HotspotImage::outer + 16, uint64_t{0x666000});
    EXPECT_EQ(read(0, cookie), "(unreadable)");
}

TEST(HotspotFiles, AreSentWhole) {
    const HotspotFile file = {0x12f89f8, 0x12f89f0};
    const std::string bytes = encode_hotspot_file(file);
    EXPECT_EQ(decode_hotspot_file(bytes), file);
    EXPECT_EQ(decode_hotspot_file(bytes + '\0'), std::nullopt);
    for (size_t size = 0; size < bytes.size(); size++)
        EXPECT_EQ(decode_hotspot_file(bytes.substr(0, size)), std::nullopt) << size;
}

TEST(HotspotFiles, OthersAreNone) {
    const std::string path = "/proc/self/exe";
    const auto file = ElfFile::open(*open_regular(path), path);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(read_hotspot(**file), std::nullopt);
}

} // namespace
} // namespace auger
