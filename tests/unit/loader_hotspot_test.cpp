// SPDX-License-Identifier: GPL-3.0-or-later
// HotSpot's compiled code and methods as a process has them, and as hostile ones claim them.
#include "loader/runtimes/hotspot/frame_reader.h"
#include "loader/runtimes/hotspot/layout.h"
#include "loader/runtimes/hotspot/line_table.h"
#include "tests/unit/hotspot_image.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

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

TEST(HotspotNumbers, OfOneToFiveBytes) {
    const auto number = [](std::initializer_list<unsigned> bytes) {
        const auto content = bytes_of(bytes);
        return HotspotNumbers(content, false).number();
    };
    EXPECT_EQ(number({0}), 0u);
    EXPECT_EQ(number({191, 7}), 191u);
    EXPECT_EQ(number({192, 0}), 192u);
    EXPECT_EQ(number({255, 1}), 255u + 64);
    EXPECT_EQ(number({192, 192, 1}), 192u + (192u << 6) + (1u << 12));
    EXPECT_EQ(number({255, 255, 255, 255, 255, 9}),
              255u + (255u << 6) + (255u << 12) + (255u << 18) + (255u << 24));
    const auto two = bytes_of({3, 4, 5});
    HotspotNumbers numbers(two, false);
    EXPECT_EQ(numbers.signed_number(), -2);
    EXPECT_EQ(numbers.signed_number(), 2);
    EXPECT_EQ(numbers.byte(), 5u);
    EXPECT_FALSE(numbers.failed());
    EXPECT_EQ(numbers.number(), 0u);
    EXPECT_TRUE(numbers.failed());
}

TEST(HotspotNumbers, SinceJdk20HaveNoZero) {
    const auto number = [](std::initializer_list<unsigned> bytes) {
        const auto content = bytes_of(bytes);
        return HotspotNumbers(content, true).number();
    };
    EXPECT_EQ(number({1}), 0u);
    EXPECT_EQ(number({191, 7}), 190u);
    EXPECT_EQ(number({192, 1}), 191u);
    EXPECT_EQ(number({255, 2}), 254u + 64);
    EXPECT_EQ(number({255, 255, 255, 255, 255, 9}),
              254u + (254u << 6) + (254u << 12) + (254u << 18) + (254u << 24));
    // None is anywhere in one, nor is a number read on behind it.
    for (const auto& zero : {bytes_of({0, 5}), bytes_of({200, 0, 5}), bytes_of({200, 200, 0, 5})}) {
        HotspotNumbers numbers(zero, true);
        EXPECT_EQ(numbers.number(), 0u);
        EXPECT_TRUE(numbers.failed());
    }
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
        EXPECT_EQ(hotspot_line(table, static_cast<uint32_t>(bytecode), false),
                  static_cast<uint32_t>(line))
            << bytecode;
    EXPECT_EQ(hotspot_line({}, 0, false), 0u);
    EXPECT_EQ(hotspot_line(bytes_of({0x2a, 0}), 4, false), 0u); // nothing before it
}

// A method with lines far from each other: its table as HotSpot 17, 21 and 25 had it in memory, and
// what javap said of its file ("line 13000: 19").
TEST(HotspotLines, AreJavaps) {
    const auto of_17 =
        bytes_of({0x04, 0x25, 0xff, 0x10, 0x16, 0xff, 0x04, 0xf8, 0x08, 0xff, 0x0a, 0xf0, 0xc6,
                  0x03, 0xff, 0xdc, 0x0a, 0xef, 0xc6, 0x03, 0xff, 0x0c, 0xf2, 0xc6, 0x03, 0x00});
    const auto of_21_and_25 =
        bytes_of({0x04, 0x25, 0xff, 0x11, 0x17, 0xff, 0x05, 0xf9, 0x09, 0xff, 0x0b, 0xf1, 0xc7,
                  0x04, 0xff, 0xdd, 0x0b, 0xf0, 0xc7, 0x04, 0xff, 0x0d, 0xf3, 0xc7, 0x04, 0x00});
    for (const auto& [bytecode, line] : {std::pair{0, 4},
                                         {4, 9},
                                         {11, 9},
                                         {12, 20},
                                         {14, 400},
                                         {19, 13000},
                                         {448, 13000},
                                         {449, 400},
                                         {455, 13001},
                                         {466, 13001}}) {
        const auto at = static_cast<uint32_t>(bytecode), expected = static_cast<uint32_t>(line);
        EXPECT_EQ(hotspot_line(of_17, at, false), expected) << bytecode;
        EXPECT_EQ(hotspot_line(of_21_and_25, at, true), expected) << bytecode;
    }
}

TEST(HotspotLines, HostileTables) {
    for (const bool without_zero : {false, true}) {
        EXPECT_EQ(hotspot_line(std::vector(1000, std::byte{0xff}), 0, without_zero), 0u);
        EXPECT_EQ(hotspot_line(bytes_of({0x01, 0xff}), 9, without_zero), 1u);    // cut
        EXPECT_EQ(hotspot_line(bytes_of({0xff, 0, 1, 0}), 9, without_zero), 0u); // line -1
        EXPECT_EQ(hotspot_line(std::vector(1 << 16, std::byte{0x07}), 9, without_zero), 7u << 16);
    }
    // What was known before a zero is.
    EXPECT_EQ(hotspot_line(bytes_of({0x2a, 0xff, 0, 9, 0x01}), 9, true), 2u);
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

// Where later versions have what tells of compiled code, and how they write it.
class HotspotVersions : public testing::TestWithParam<int32_t> {
  protected:
    HotspotImage image{GetParam()};
    const HotspotLayout layout = *image.layout();

    std::string text(uint64_t instruction) {
        const uint64_t offset = HotspotImage::code + instruction - HotspotImage::blob;
        const uint32_t cookie =
            wire_hotspot_code_cookie(HotspotImage::kind, HotspotImage::outer,
                                     HotspotImage::blob_size, HotspotImage::compile_id);
        return text_of(read_hotspot_code(image.reader(), layout.values, layout.walk,
                                         HotspotImage::blob, offset << 32 | cookie));
    }
};

TEST_P(HotspotVersions, TellInlinedMethodsAndLines) {
    EXPECT_EQ(text(0), whole);
    EXPECT_EQ(text(0x20), whole);
    EXPECT_EQ(text(0x40), "org.shop.Till.pay org/shop/Till.java:12");
    EXPECT_EQ(text(0x41), "org.shop.Till.pay org/shop/Till.java:0");
    // It calls a native function.
    image.put(HotspotImage::blob + 272,
              layout.values.has_immutable_data() ? HotspotImage::immutable_pcs : HotspotImage::pcs);
    EXPECT_EQ(text(0), "org.shop.Till.pay org/shop/Till.java:0");
}

TEST_P(HotspotVersions, TellStubsByTheirHeader) {
    if (layout.values.has_immutable_data())
        image.put(HotspotImage::blob + 14, uint16_t{64});
    else
        image.put(HotspotImage::blob + 12, uint32_t{64});
    const uint32_t cookie =
        wire_hotspot_code_cookie(HotspotImage::kind, 0, HotspotImage::blob_size, 0);
    EXPECT_EQ(text_of(read_hotspot_code(image.reader(), layout.values, layout.walk,
                                        HotspotImage::blob, cookie)),
              "[stub: nmethod] :0");
}

TEST_P(HotspotVersions, HostileScopesAreNotFollowed) {
    // A scope in itself, in a later one, in none that there is; one without a method.
    for (const auto& numbers : {std::vector<uint8_t>{8, 2, 3}, {9, 2, 3}, {190, 2, 3}, {1, 0, 3}}) {
        image.put_numbers(image.scopes_begin() + 8, numbers);
        EXPECT_EQ(text(0), "(unreadable)");
    }
    image.put_numbers(image.scopes_begin() + 8, {1, 2, 3});
    EXPECT_EQ(text(0), whole);
    image.put_place(0, 0x20, 0x1000); // behind them all
    EXPECT_EQ(text(0), "(unreadable)");
    image.put_place(0, 0x20, 8);
    // Methods that are none.
    image.put(image.methods_begin() + 8, uint64_t{0x666000});
    EXPECT_EQ(text(0), "(unreadable)");
}

class HotspotDataOnTheHeap : public HotspotVersions {};

TEST_P(HotspotDataOnTheHeap, IsNotFollowedAnywhere) {
    const auto pages = image.pages;
    const auto expect_unreadable = [&](uint64_t at, auto value) {
        image.put(HotspotImage::blob + at, value);
        EXPECT_EQ(text(0), "(unreadable)") << at << ' ' << value;
        image.pages = pages;
    };
    for (const uint64_t address : {uint64_t{0x666000}, UINT64_MAX, UINT64_MAX - 0x90, uint64_t{0}})
        expect_unreadable(112, address);
    // Where the scopes end: before they begin, or further away than they can be.
    expect_unreadable(288, HotspotImage::immutable_pcs_end - 1);
    expect_unreadable(288, uint32_t{0x80000000});
    // More places than any method has.
    expect_unreadable(272, HotspotImage::immutable_pcs + (1u << 20) + 16);
    if (layout.values.has_mutable_data()) {
        expect_unreadable(32, uint64_t{0x666000});
        expect_unreadable(32, UINT64_MAX - 7);
    } else {
        expect_unreadable(28, uint32_t{0xfffff000});
    }
    EXPECT_EQ(text(0), whole);
}

INSTANTIATE_TEST_SUITE_P(Each, HotspotVersions,
                         testing::Values(17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27));
INSTANTIATE_TEST_SUITE_P(Each, HotspotDataOnTheHeap, testing::Values(23, 24, 25, 26, 27));

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

} // namespace
} // namespace auger
