// SPDX-License-Identifier: GPL-3.0-or-later
// Strings of V8's heap, and lines of its scripts, as a process has them, and as hostile ones claim
// them.
#include "loader/runtimes/v8/heap.h"
#include "loader/runtimes/v8/script_lines.h"
#include "tests/unit/v8_image.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace auger {
namespace {

using test::V8Image;

class V8Strings : public testing::Test {
  protected:
    V8Image image;

    std::string text(uint64_t string, size_t most = 100) {
        const ReadMemory read = image.reader();
        V8Heap heap(read, image.layout.objects);
        return heap.text(string, most).value_or("(none)");
    }
    void put_cons(uint64_t object, uint64_t first, uint64_t second, uint32_t length) {
        image.put_object(object, 0x10 | V8Image::one_byte);
        image.put(object - V8Image::tag + 20, length);
        image.set(object, 24, first);
        image.set(object, 40, second);
    }
};

TEST_F(V8Strings, OfAllKinds) {
    const uint64_t string = V8Image::more, other = V8Image::more + 0x1000;
    EXPECT_EQ(text(V8Image::name), "pay");
    image.put_string(string, std::string_view("gr\xf6\xdf"
                                              "e"));
    EXPECT_EQ(text(string), "größe");
    image.put_string(string, std::u16string_view(u"函数 \xd83d\xde00 \xd83d \xde00"));
    EXPECT_EQ(text(string), "函数 😀 \xef\xbf\xbd \xef\xbf\xbd");
    put_cons(string, V8Image::inferred, V8Image::name, 11);
    EXPECT_EQ(text(string), "Till.paypay");
    EXPECT_EQ(text(string, 9), "Till.payp...");
    EXPECT_EQ(text(string, 5), "Till....");
    // Thin: in place of one that is another now.
    image.put_object(other, 0x50 | V8Image::one_byte);
    image.put(other - V8Image::tag + 20, uint32_t{11});
    image.set(other, 32, string);
    EXPECT_EQ(text(other), "Till.paypay");
    // A slice of that.
    const uint64_t slice = other + 0x1000;
    image.put_object(slice, 0x30 | V8Image::one_byte);
    image.put(slice - V8Image::tag + 20, uint32_t{5});
    image.set(slice, 24, V8Image::integer(5));
    image.set(slice, 40, other);
    EXPECT_EQ(text(slice), "paypa");
    // Elsewhere.
    const uint64_t external = slice + 0x1000;
    image.put_object(external, 0x20 | V8Image::two_byte);
    image.put(external - V8Image::tag + 20, uint32_t{3});
    image.set(external, 48, 0x70002);
    image.put_bytes(0x70002, u"äöü", 6);
    EXPECT_EQ(text(external), "äöü");
}

TEST_F(V8Strings, HostileOnes) {
    const uint64_t string = V8Image::more;
    EXPECT_EQ(text(V8Image::none), "(none)");
    EXPECT_EQ(text(V8Image::name - 1), "(none)"); // no pointer
    EXPECT_EQ(text(0x666001), "(none)");
    image.put_object(string, 0x60); // of no kind
    EXPECT_EQ(text(string), "(none)");
    // In itself: of as many parts as one may have.
    put_cons(string, string, string, 50);
    EXPECT_EQ(text(string), "(none)");
    put_cons(string, V8Image::name, V8Image::name, 50);
    EXPECT_EQ(text(string), "(none)");
    put_cons(string, V8Image::name, V8Image::none, 4);
    EXPECT_EQ(text(string), "(none)");
    image.put_object(string, 0x50 | V8Image::one_byte);
    image.set(string, 32, string);
    EXPECT_EQ(text(string), "(none)");
    // A slice from behind its parent's end, and from before its begin.
    image.put_object(string, 0x30 | V8Image::one_byte);
    image.put(string - V8Image::tag + 20, uint32_t{2});
    image.set(string, 40, V8Image::name);
    for (const int32_t offset : {2, 3, INT32_MAX, -1}) {
        image.set(string, 24, V8Image::integer(offset));
        EXPECT_EQ(text(string), "(none)") << offset;
    }
    image.set(string, 24, V8Image::integer(1));
    EXPECT_EQ(text(string), "ay");
}

class V8ScriptLines : public testing::Test {
  protected:
    V8Image image;
    V8Script script{V8Image::script, V8Image::source, 81,
                    static_cast<uint32_t>(V8Image::text.size())};

    std::string text() {
        const auto answer = read_v8_lines(image.reader(), image.layout, script);
        if (const auto* const problem = std::get_if<FunctionProblem>(&answer))
            return test::text_of(*problem);
        const auto& lines = std::get<V8Lines>(answer);
        return lines.known ? fmt::format("{}", fmt::join(lines.ends, " ")) : "unknown";
    }
    template <typename Text>
    std::string of(const Text& characters) {
        image.put_string(V8Image::source, characters);
        script.length = static_cast<uint32_t>(characters.size());
        return text();
    }
};

TEST_F(V8ScriptLines, EndAsInJavaScript) {
    EXPECT_EQ(text(), "17 26 33 35");
    EXPECT_EQ(of(std::string_view("")), "");
    EXPECT_EQ(of(std::string_view("a")), "");
    EXPECT_EQ(of(std::string_view("a\r\nb\rc\n\r")), "2 4 6 7");
    EXPECT_EQ(of(std::string_view("\r\r\n")), "0 2");
    EXPECT_EQ(of(std::u16string_view(u"a\x2028"
                                     u"b\x2029\r\nü\n")),
              "1 3 5 7");
    // Across what is read at once.
    std::string long_one(40'000, 'x');
    long_one[16383] = '\r';
    long_one[16384] = '\n';
    long_one[39'999] = '\r';
    image.put_object(V8Image::source, 0x20 | V8Image::one_byte);
    script.length = static_cast<uint32_t>(long_one.size());
    image.put(V8Image::source - V8Image::tag + 20, script.length);
    image.set(V8Image::source, 48, 0x10000000);
    image.put_bytes(0x10000000, long_one.data(), long_one.size());
    EXPECT_EQ(text(), "16384 39999");
}

TEST_F(V8ScriptLines, OfTextsInOnePiece) {
    const uint64_t flat = V8Image::more;
    image.put_object(flat, 0x10 | V8Image::one_byte);
    image.put(flat - V8Image::tag + 20, script.length);
    image.set(flat, 24, V8Image::source);
    image.put_string(V8Image::more + 0x1000, "");
    image.set(flat, 40, V8Image::more + 0x1000);
    image.set(V8Image::script, 32, flat);
    script.source = flat;
    EXPECT_EQ(text(), "17 26 33 35");
    image.set(flat, 40, V8Image::name);
    image.put(flat - V8Image::tag + 20, script.length + 3);
    script.length += 3;
    EXPECT_EQ(text(), "unknown");
    script.source = 0;
    EXPECT_EQ(text(), "unknown");
}

TEST_F(V8ScriptLines, OfTextsThatAreNotTooLarge) {
    // Its characters are nowhere, so they would be missed.
    image.put_object(V8Image::source, 0x20 | V8Image::one_byte);
    image.set(V8Image::source, 48, 0x10000000);
    for (const uint32_t length : {16u << 20, (16u << 20) + 1, UINT32_MAX}) {
        image.put(V8Image::source - V8Image::tag + 20, length);
        script.length = length;
        EXPECT_EQ(text(), length == 16u << 20 ? "(unreadable)" : "unknown") << length;
    }
    image.answer = MemoryRead::late;
    image.put(V8Image::source - V8Image::tag + 20, uint32_t{5});
    script.length = 5;
    EXPECT_EQ(text(), "(late)");
}

TEST_F(V8ScriptLines, OfTheScriptThatWasMeant) {
    const auto whole = script;
    script.id = 82;
    EXPECT_EQ(text(), "(gone)");
    script = whole;
    script.length++;
    EXPECT_EQ(text(), "(gone)");
    script = whole;
    script.source = V8Image::name;
    EXPECT_EQ(text(), "(gone)");
    script = whole;
    image.reads = 0;
    (void)text();
    const size_t reads = image.reads;
    for (size_t at = 0; at < reads; at++) {
        image.set(V8Image::script, 72, V8Image::integer(81));
        image.reads = 0;
        image.before = [&](size_t now) {
            if (now == at)
                image.set(V8Image::script, 72, V8Image::integer(82));
        };
        const std::string seen = text();
        // The last page that is read is the source's.
        if (at + 2 < reads) {
            EXPECT_EQ(seen, "(gone)") << at;
        }
    }
    image.before = [](size_t) {};
    image.put_object(V8Image::script, 301);
    EXPECT_EQ(text(), "(gone)");
}

TEST(V8Places, AreLinesAndColumnsFromOneOn) {
    const V8Lines lines{.known = true, .ends = {17, 26, 33, 35}};
    for (const auto& [position, place] : {std::pair{0u, V8Place{1, 1}},
                                          {10u, {1, 11}},
                                          {17u, {1, 18}},
                                          {18u, {2, 1}},
                                          {26u, {2, 9}},
                                          {27u, {3, 1}},
                                          {36u, {5, 1}},
                                          {40u, {5, 5}}})
        EXPECT_EQ(v8_place(lines, position), place) << position;
    EXPECT_EQ(v8_place({.known = true}, 7), (V8Place{1, 8}));
    EXPECT_EQ(v8_place({}, 7), (V8Place{0, 0}));
}

} // namespace
} // namespace auger
