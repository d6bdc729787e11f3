// SPDX-License-Identifier: GPL-3.0-or-later
// What reaches a terminal: hostile names, columns, layouts that add up, importers' traps.
#include "tests/unit/synthetic_stream.h"
#include "views/canvas.h"
#include "views/escape.h"
#include "views/exports/collapsed.h"
#include "views/flame_rows.h"
#include "views/format.h"
#include "views/frame_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace auger {
namespace {

TEST(Escape, SpellsOutWhatCouldActOnATerminal) {
    EXPECT_EQ(escape_untrusted("ns::f<int>(char const*)"), "ns::f<int>(char const*)");
    EXPECT_EQ(escape_untrusted("a\x1b[2Jb"), "a\\x1b[2Jb");
    EXPECT_EQ(escape_untrusted("a\r\n\t\x7f"), "a\\x0d\\x0a\\x09\\x7f");
    EXPECT_EQ(escape_untrusted(std::string_view("a\0b", 3)), "a\\x00b");
    EXPECT_EQ(escape_untrusted("\xc2\x9b"
                               "31m"),
              "\\u{9b}31m"); // CSI in one code point
    EXPECT_EQ(escape_untrusted("a\xe2\x80\xae"
                               "b"),
              "a\\u{202e}b"); // right-to-left override
    EXPECT_EQ(escape_untrusted("a\xe2\x81\xa6"
                               "b"),
              "a\\u{2066}b"); // isolate
    EXPECT_EQ(escape_untrusted("\xef\xbb\xbf"), "\\u{feff}");
    EXPECT_EQ(escape_untrusted("caf\xc3\xa9 \xe6\xbc\xa2"), "caf\xc3\xa9 \xe6\xbc\xa2");
}

TEST(Escape, SpellsOutInvalidUtf8) {
    EXPECT_EQ(escape_untrusted("\xff"), "\\xff");
    EXPECT_EQ(escape_untrusted("\xc0\xaf"), "\\xc0\\xaf");                   // overlong
    EXPECT_EQ(escape_untrusted("\xe0\x80\x80"), "\\xe0\\x80\\x80");          // overlong
    EXPECT_EQ(escape_untrusted("\xed\xa0\x80"), "\\xed\\xa0\\x80");          // surrogate
    EXPECT_EQ(escape_untrusted("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80"); // beyond Unicode
    EXPECT_EQ(escape_untrusted("\xe6\xbc"), "\\xe6\\xbc");                   // cut off
}

TEST(Escape, WhateverComesInIsHarmlessValidAndStable) {
    std::mt19937 random(2);
    for (int round = 0; round < 20'000; round++) {
        std::string raw(random() % 24, ' ');
        for (char& c : raw)
            c = static_cast<char>(random() % 4 ? random() : 0x80 | (random() % 0x40));
        std::string escaped = escape_untrusted(raw);
        for (size_t at = 0; at < escaped.size();) {
            uint32_t c = decode_utf8(escaped, at);
            ASSERT_NE(c, UINT32_MAX);
            ASSERT_FALSE(c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e));
        }
        ASSERT_EQ(escape_untrusted(escaped), escaped);
        size_t width = random() % 20;
        ASSERT_LE(text_width(elide_middle(escaped, width)), width);
    }
}

TEST(Escape, MeasuresWideAndCombiningCharacters) {
    EXPECT_EQ(text_width("abc"), 3u);
    EXPECT_EQ(text_width("\xe6\xbc\xa2\xe5\xad\x97"), 4u); // two ideographs
    EXPECT_EQ(text_width("e\xcc\x81"), 1u);                // e and an accent
    EXPECT_EQ(text_width("\xf0\x9f\x98\x80"), 2u);         // emoji
    EXPECT_EQ(elide_middle("abcdefghij", 7), "ab...ij");
    EXPECT_EQ(elide_middle("abcdefghij", 10), "abcdefghij");
    EXPECT_EQ(elide_middle("abcdefghij", 2), "..");
}

TEST(CanvasCells, HoldWideAndCombiningGraphemes) {
    Canvas canvas(4);
    canvas.put(0, 0,
               "\xe6\xbc\xa2"
               "e\xcc\x81x");
    ASSERT_EQ(canvas.row(0).size(), 4u);
    EXPECT_EQ(canvas.row(0)[1].text, "");
    EXPECT_EQ(canvas.row(0)[2].text, "e\xcc\x81");
    canvas.put(3, 1, "\xe6\xbc\xa2"); // half of it would not fit
    EXPECT_TRUE(canvas.row(1).empty());
    canvas.put(0, 2, "\x1b[0m");
    EXPECT_EQ(to_text(canvas).find('\x1b'), std::string::npos);
}

TEST(CanvasCells, ColourOnlyWhenAsked) {
    Canvas canvas(20);
    canvas.put(0, 0, "slow", Style::slow);
    canvas.put(5, 0, "plain");
    EXPECT_EQ(to_text(canvas), "slow plain\n");
    EXPECT_EQ(to_text(canvas, ColourMode::ansi8), "\x1b[31mslow \x1b[0mplain\n");
    EXPECT_NE(to_text(canvas, ColourMode::ansi256).find("38;5;"), std::string::npos);
    EXPECT_NE(to_text(canvas, ColourMode::truecolour).find("38;2;"), std::string::npos);
}

TEST(CanvasCells, LinesBreakAtSpaces) {
    Canvas canvas(10);
    canvas.add_line("one two three fourteenletters", Style::plain, 1);
    EXPECT_EQ(to_text(canvas), " one two\n three\n fourteenl\n etters\n");
}

TEST(Format, ThreeDigitsAndAUnit) {
    EXPECT_EQ(format_duration(0), "0 ns");
    EXPECT_EQ(format_duration(999), "999 ns");
    EXPECT_EQ(format_duration(1234), "1.23 us");
    EXPECT_EQ(format_duration(456'000), "456 us");
    EXPECT_EQ(format_duration(999'600), "1.00 ms");
    EXPECT_EQ(format_duration(12.34e9), "12.3 s");
    EXPECT_EQ(format_duration(3'725e9), "62 min 05 s");
    EXPECT_EQ(format_duration(-1.5e6), "-1.50 ms");
    EXPECT_EQ(format_duration(std::numeric_limits<double>::infinity()), "?");
    EXPECT_EQ(format_count(1234567), "1,234,567");
    EXPECT_EQ(format_count(-1234), "-1,234");
    EXPECT_EQ(format_count(999), "999");
    EXPECT_EQ(format_percent(0), "0.0 %");
    EXPECT_EQ(format_percent(0.0001), "<0.1 %");
    EXPECT_EQ(format_percent(0.9999), ">99.9 %");
    EXPECT_EQ(format_percent(1), "100.0 %");
    EXPECT_EQ(format_bytes(63'400'000), "63.4 MB");
}

TEST(Folded, FramesAreWhatImportersBear) {
    EXPECT_EQ(frame_text("(anonymous namespace)::f(int)"), "{anonymous}::f(int)");
    EXPECT_EQ(frame_text("a::(anonymous namespace)::f"), "a::{anonymous}::f");
    EXPECT_EQ(frame_text("(lambda(int))::operator()"), "{anonymous}::operator()");
    EXPECT_EQ(frame_text("a;b"), "a:b");
    EXPECT_EQ(frame_text("a\nb"), "a\\x0ab");
    EXPECT_EQ(frame_text("  f (x) "), "f (x)");
    EXPECT_EQ(frame_text(""), "[unknown]");
    EXPECT_EQ(frame_text("((("), "{anonymous}");
}

class RandomTree : public testing::Test {
  protected:
    RandomTree() {
        std::mt19937 random(11);
        for (int i = 0; i < 4000; i++) {
            std::vector<std::string> path;
            for (unsigned depth = random() % 9; depth; depth--)
                path.push_back("f" + std::to_string(random() % 12 * (random() % 12) / 11));
            stream.sample(1 + i, 1 + random() % 2, stream.stack(path), {}, random() % 1000);
        }
        tree = fold(model, {});
    }
    Model model;
    SyntheticStream stream{model};
    FlameTree tree;
};

TEST_F(RandomTree, FoldedCountsAddUp) {
    std::string text = collapsed_stacks(model, {});
    uint64_t sum = 0;
    for (size_t at = 0; at < text.size();) {
        size_t end = text.find('\n', at);
        std::string line = text.substr(at, end - at);
        ASSERT_TRUE(line.starts_with("service"));
        sum += std::stoull(line.substr(line.rfind(' ')));
        at = end + 1;
    }
    EXPECT_EQ(sum, 4000u);
}

TEST_F(RandomTree, RowsOfTheTextFlameAddUp) {
    for (double share : {0.0, 0.005, 0.05, 0.5}) {
        std::vector<FlameRow> rows = list_flame(tree, share);
        size_t nodes = 0;
        for (size_t i = 0; i < rows.size(); i++) {
            nodes += rows[i].chain.size() + rows[i].cut_frames;
            if (rows[i].chain.empty())
                continue;
            SampleSum below = rows[i].self;
            for (size_t j = i + 1; j < rows.size() && rows[j].indent > rows[i].indent; j++)
                if (rows[j].indent == rows[i].indent + 1)
                    below += rows[j].total;
            ASSERT_EQ(below.samples, rows[i].total.samples);
            ASSERT_EQ(below.weight_ns, rows[i].total.weight_ns);
        }
        EXPECT_EQ(nodes, tree.nodes.size()); // every frame is shown, or counted as cut
    }
}

} // namespace
} // namespace auger
