// SPDX-License-Identifier: GPL-3.0-or-later
// V8's functions and code as a process has them, and as hostile ones claim them.
#include "loader/reader/runtimes/read_v8.h"
#include "loader/runtimes/v8/code_reader.h"
#include "loader/runtimes/v8/function_reader.h"
#include "loader/runtimes/v8/heap.h"
#include "loader/runtimes/v8/layout.h"
#include "loader/runtimes/v8/script_lines.h"
#include "loader/runtimes/v8/source_positions.h"
#include "loader/runtimes/v8/v8_file.h"
#include "tests/unit/v8_image.h"

#include "loader/process/safe_open.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace auger {
namespace {

using test::made_up_v8_file;
using test::V8Image;
using C = V8Constant;

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> values) {
    std::vector<std::byte> bytes;
    for (const unsigned value : values)
        bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

std::optional<uint32_t> position_in(const std::vector<std::byte>& table, uint32_t offset) {
    const auto found = v8_source_position(table, offset);
    return found ? std::optional(found->position) : std::nullopt;
}

std::vector<std::byte> table_of(const std::vector<std::pair<int64_t, int64_t>>& places) {
    std::vector<std::byte> bytes;
    for (const uint8_t byte : V8Image::position_table(places))
        bytes.push_back(static_cast<std::byte>(byte));
    return bytes;
}

TEST(V8SourcePositions, AreTheNearestBefore) {
    const auto raw = [](int64_t position) { return V8Image::raw(position); };
    const auto table =
        table_of({{-1, raw(54)}, {0, raw(74)}, {4, raw(81)}, {12, raw(300)}, {12, raw(80)}});
    for (const auto& [offset, position] :
         {std::pair{0, 74}, {1, 74}, {3, 74}, {4, 81}, {11, 81}, {12, 80}, {1000, 80}})
        EXPECT_EQ(position_in(table, static_cast<uint32_t>(offset)),
                  static_cast<uint32_t>(position))
            << offset;
    EXPECT_EQ(position_in({}, 0), std::nullopt);
    EXPECT_EQ(position_in(table_of({{4, raw(1)}}), 3), std::nullopt); // nothing before it
    EXPECT_EQ(position_in(table_of({{4, raw(1)}}), 4), 1u);
    // As V8 writes it: what is no statement has its offset's difference, and 1, with another sign.
    const auto written = bytes_of({1, 0xdc, 1, 2, 80, 9, 28, 17, 0xe8, 6});
    for (const auto& [offset, position] : {std::pair{0, 74}, {3, 74}, {4, 81}, {11, 81}, {12, 299}})
        EXPECT_EQ(position_in(written, static_cast<uint32_t>(offset)),
                  static_cast<uint32_t>(position))
            << offset;
}

TEST(V8SourcePositions, OfCodeNameInlinedFunctions) {
    constexpr auto raw = V8Image::raw;
    EXPECT_EQ(v8_source_position(raw(5, -1)), (V8SourcePosition{5, {}}));
    EXPECT_EQ(v8_source_position(raw(5, 0)), (V8SourcePosition{5, 0}));
    EXPECT_EQ(v8_source_position(raw((1 << 30) - 2, 65534)),
              (V8SourcePosition{(1 << 30) - 2, 65534}));
    EXPECT_EQ(v8_source_position(raw(-1, 3)), std::nullopt);
    EXPECT_EQ(v8_source_position(raw(5, 3) | 1), std::nullopt);
    EXPECT_EQ(v8_source_position(-2), std::nullopt);
    EXPECT_EQ(v8_source_position(table_of({{0, raw(9, -1)}, {3, raw(5, 0)}}), 7),
              (V8SourcePosition{5, 0}));
}

TEST(V8SourcePositions, HostileTables) {
    EXPECT_EQ(position_in(std::vector(1000, std::byte{0xff}), 9), std::nullopt);
    EXPECT_EQ(position_in(bytes_of({2, 0x84}), 9), std::nullopt); // cut
    EXPECT_EQ(position_in(bytes_of({2, 8, 2}), 9), 1u);           // likewise, the second one
    EXPECT_EQ(position_in(bytes_of({2, 10}), 9), std::nullopt);   // elsewhere
    EXPECT_EQ(position_in(bytes_of({2, 0}), 9), std::nullopt);    // none
    EXPECT_EQ(position_in(bytes_of({2, 7}), 9), std::nullopt);    // before the begin
    EXPECT_EQ(position_in(std::vector(1 << 20, std::byte{0}), 9), std::nullopt);
    // Steps, and together, more than any position is: what was before is right.
    EXPECT_EQ(position_in(table_of({{0, V8Image::raw(5)}, {1, int64_t{1} << 50}, {2, 8}}), 9), 5u);
    EXPECT_EQ(position_in(table_of({{0, V8Image::raw(5)}, {int64_t{1} << 50, 8}}), 9), 5u);
    std::vector<std::pair<int64_t, int64_t>> places;
    for (int64_t i = 0; i < 10; i++)
        places.emplace_back(i, V8Image::raw(5) + i * (int64_t{1} << 47));
    EXPECT_EQ(position_in(table_of(places), 9), 5u);
}

std::string text_of(const std::variant<V8Function, FunctionProblem>& answer) {
    if (const auto* const problem = std::get_if<FunctionProblem>(&answer))
        return test::text_of(*problem);
    const auto& function = std::get<V8Function>(answer);
    const auto number = [](const auto& value) {
        return value ? fmt::format("{}", *value) : std::string("?");
    };
    return fmt::format("{} {} {}-{} at {}", function.name, function.file, number(function.begin),
                       number(function.end), number(function.position));
}

class V8Functions : public testing::Test {
  protected:
    V8Image image;

    std::variant<V8Function, FunctionProblem> read(uint64_t second) {
        return read_v8_function(image.reader(), image.layout, V8Image::shared, second);
    }
    std::string text(uint32_t bytecode) {
        return text_of(read(V8Image::second(bytecode, image.cookie())));
    }
};

TEST_F(V8Functions, HaveANameAScriptAndAPlace) {
    EXPECT_EQ(text(0), "pay /srv/till.js 10-30 at 10");
    EXPECT_EQ(text(2), "pay /srv/till.js 10-30 at 10");
    EXPECT_EQ(text(3), "pay /srv/till.js 10-30 at 12");
    EXPECT_EQ(text(8), "pay /srv/till.js 10-30 at 22");
    const auto answer = read(V8Image::second(0, image.cookie()));
    const auto& script = std::get<V8Function>(answer).script;
    ASSERT_TRUE(script);
    EXPECT_EQ(script->pointer, V8Image::script);
    EXPECT_EQ(script->source, V8Image::source);
    EXPECT_EQ(script->id, 81);
    EXPECT_EQ(script->length, V8Image::text.size());
}

TEST_F(V8Functions, CompiledOnesHaveNoPlaceWithin) {
    EXPECT_EQ(text_of(read(uint64_t{WIRE_V8_COMPILED} << 32 | image.cookie())),
              "pay /srv/till.js 10-30 at ?");
}

TEST_F(V8Functions, WhatExecutesThemLeadsToTheBytecode) {
    image.put_object(V8Image::interpreter_data, 303);
    image.set(V8Image::interpreter_data, 8, V8Image::bytecode);
    image.set(V8Image::shared, 8, V8Image::interpreter_data);
    EXPECT_EQ(text(3), "pay /srv/till.js 10-30 at 12");
    image.put_object(V8Image::code, 304);
    image.set(V8Image::code, 8, V8Image::bytecode);
    image.set(V8Image::shared, 8, V8Image::code);
    EXPECT_EQ(text(3), "pay /srv/till.js 10-30 at 12");
    // Code of another compiler has something else there.
    image.set(V8Image::code, 8, V8Image::none);
    EXPECT_EQ(text(3), "pay /srv/till.js 10-30 at ?");
    image.set(V8Image::shared, 8, V8Image::none);
    EXPECT_EQ(text(3), "pay /srv/till.js 10-30 at ?");
}

TEST_F(V8Functions, OffsetsAreOfTheBytecode) {
    EXPECT_EQ(text(19), "pay /srv/till.js 10-30 at 22");
    EXPECT_EQ(text(20), "pay /srv/till.js 10-30 at ?");
    EXPECT_EQ(text_of(read(uint64_t{68} << 32 | image.cookie())), "pay /srv/till.js 10-30 at ?");
    EXPECT_EQ(text_of(read(uint64_t{0x3ffffff} << 32 | image.cookie())),
              "pay /srv/till.js 10-30 at ?");
    // While nobody has asked for positions there are none.
    image.set(V8Image::bytecode, 24, V8Image::integer(0));
    EXPECT_EQ(text(3), "pay /srv/till.js 10-30 at ?");
    image.set(V8Image::bytecode, 24, V8Image::positions);
    image.set(V8Image::positions, 16, V8Image::integer(-1));
    EXPECT_EQ(text(3), "pay /srv/till.js 10-30 at ?");
    image.set(V8Image::positions, 16, V8Image::integer((1 << 20) + 1));
    EXPECT_EQ(text(3), "pay /srv/till.js 10-30 at ?");
}

TEST_F(V8Functions, WithoutANameHaveTheInferredOne) {
    image.put_string(V8Image::name, "");
    EXPECT_EQ(text(3), "Till.pay /srv/till.js 10-30 at 12");
    image.set(V8Image::scope, 48, V8Image::integer(0));
    EXPECT_EQ(text(3), "Till.pay /srv/till.js 10-30 at 12");
    image.set(V8Image::scope, 64, V8Image::none);
    EXPECT_EQ(text(3), " /srv/till.js 10-30 at 12");
    // In a context, in place of on the stack.
    image.set(
        V8Image::scope, 8,
        V8Image::integer(V8Image::function_kind | V8Image::context_name | V8Image::inferred_name));
    image.put_string(V8Image::name, "pay");
    image.set(V8Image::scope, 48, V8Image::name);
    EXPECT_EQ(text(3), "pay /srv/till.js 10-30 at 12");
}

TEST_F(V8Functions, AScopeHasWhatItsFlagsSay) {
    const auto put_scope = [&](uint32_t flags, int32_t variables,
                               std::initializer_list<uint64_t> words) {
        image.set(V8Image::scope, 8, V8Image::integer(static_cast<int32_t>(flags)));
        image.set(V8Image::scope, 24, V8Image::integer(variables));
        image.put_words(V8Image::scope - V8Image::tag + 32, words);
    };
    const uint64_t begin = V8Image::integer(10), end = V8Image::integer(30), other = 0;
    put_scope(V8Image::function_kind, 0, {begin, end});
    EXPECT_EQ(text(3), " /srv/till.js 10-30 at 12");
    put_scope(V8Image::function_kind | V8Image::stack_name, 0, {V8Image::name, other, begin, end});
    EXPECT_EQ(text(3), "pay /srv/till.js 10-30 at 12");
    put_scope(V8Image::function_kind | V8Image::inferred_name, 0, {V8Image::inferred, begin, end});
    EXPECT_EQ(text(3), "Till.pay /srv/till.js 10-30 at 12");
    put_scope(V8Image::function_kind | V8Image::class_variable | V8Image::stack_name, 2,
              {other, other, other, other, other, V8Image::name, other, begin, end});
    EXPECT_EQ(text(3), "pay /srv/till.js 10-30 at 12");
    put_scope(V8Image::module_kind | V8Image::stack_name, 1,
              {other, other, other, V8Image::name, other, begin, end});
    EXPECT_EQ(text(3), "pay /srv/till.js 10-30 at 12");
    // Names of many variables are in a table.
    for (const int32_t variables : {74, 75}) {
        const uint32_t words = variables == 74 ? 2 * 74 : 1 + 75;
        put_scope(V8Image::function_kind | V8Image::stack_name, variables, {});
        image.put_words(V8Image::scope - V8Image::tag + 32 + 8 * words,
                        {V8Image::name, other, begin, end});
        EXPECT_EQ(text(3), "pay /srv/till.js 10-30 at 12") << variables;
    }
    // In versions since 13 the place comes first.
    image.layout.objects.scope_begins_with_place = 1;
    put_scope(V8Image::module_kind | V8Image::stack_name, 1,
              {begin, end, other, other, other, V8Image::name, other});
    EXPECT_EQ(text(3), "pay /srv/till.js 10-30 at 12");
    // That cannot be.
    for (const int32_t variables : {-1, (1 << 20) + 1}) {
        put_scope(V8Image::function_kind, variables, {});
        EXPECT_EQ(text(3), "(unreadable)") << variables;
    }
    put_scope(V8Image::function_kind, 0, {end, begin});
    EXPECT_EQ(text(3), " /srv/till.js ?-? at 12");
}

TEST_F(V8Functions, MayHaveANameAlone) {
    image.set(V8Image::shared, 24, V8Image::name);
    const uint32_t of_name =
        wire_v8_cookie(V8Image::name, V8Image::script, V8Image::literal, V8Image::unique);
    EXPECT_EQ(text_of(read(V8Image::second(3, of_name))), "pay /srv/till.js ?-? at 12");
    image.set(V8Image::shared, 24, 0);
    const uint32_t of_none = wire_v8_cookie(0, V8Image::script, V8Image::literal, V8Image::unique);
    EXPECT_EQ(text_of(read(V8Image::second(3, of_none))), " /srv/till.js ?-? at 12");
}

TEST_F(V8Functions, MayHaveNoScript) {
    image.set(V8Image::script, 48, V8Image::none);
    EXPECT_EQ(text(3), "pay  10-30 at 12");
    image.set(V8Image::script, 32, V8Image::none);
    const auto answer = read(V8Image::second(3, image.cookie()));
    EXPECT_EQ(std::get<V8Function>(answer).script->source, 0u);
    // Something else while it is debugged.
    image.put_object(V8Image::script, 308);
    EXPECT_EQ(text(3), "pay  10-30 at 12");
    EXPECT_FALSE(std::get<V8Function>(read(V8Image::second(3, image.cookie()))).script);
}

TEST_F(V8Functions, OthersAreGone) {
    const auto second = V8Image::second(3, image.cookie());
    EXPECT_EQ(text_of(read(second ^ 1)), "(gone)");
    const auto pages = image.pages;
    const auto changed = [&](uint32_t offset, auto value) {
        image.put(V8Image::shared - V8Image::tag + offset, value);
        const std::string text = text_of(read(second));
        image.pages = pages;
        return text;
    };
    EXPECT_EQ(changed(24, V8Image::name), "(gone)");
    EXPECT_EQ(changed(40, V8Image::none), "(gone)");
    EXPECT_EQ(changed(60, V8Image::literal + 1), "(gone)");
    EXPECT_EQ(changed(64, V8Image::unique + 1), "(gone)");
    EXPECT_EQ(text_of(read(second)), "pay /srv/till.js 10-30 at 12");
}

// It is read twice, and each time another one would have another name.
TEST_F(V8Functions, WhatMovesWhileItIsReadIsGone) {
    image.reads = 0;
    (void)text(3);
    const size_t reads = image.reads;
    ASSERT_GT(reads, 12u);
    const auto pages = image.pages;
    for (size_t at = 0; at < reads; at++) {
        image.pages = pages;
        image.reads = 0;
        image.before = [&](size_t now) {
            if (now == at)
                image.put_string(V8Image::name, "buy");
        };
        const std::string seen = text(3);
        EXPECT_TRUE(seen == "(gone)" || seen == "buy /srv/till.js 10-30 at 12" ||
                    seen == "pay /srv/till.js 10-30 at 12")
            << at << ": " << seen;
        EXPECT_NE(seen, at == 0 ? "(gone)" : "");
        // In the middle it is one name before and another one after.
        if (at == reads / 2) {
            EXPECT_EQ(seen, "(gone)");
        }
    }
    for (size_t at = 0; at < reads; at++) {
        image.pages = pages;
        image.reads = 0;
        image.before = [&](size_t now) {
            if (now == at)
                image.put(V8Image::shared - V8Image::tag + 64, V8Image::unique + 1);
        };
        // Once it has been read the second time it may change.
        const std::string seen = text(3);
        if (at <= reads / 2) {
            EXPECT_EQ(seen, "(gone)") << at;
        }
    }
}

TEST_F(V8Functions, WhatCannotBeReadSaysWhy) {
    for (const uint64_t at :
         {V8Image::shared, V8Image::scope, V8Image::script, V8Image::name, V8Image::inferred,
          V8Image::file, V8Image::bytecode, V8Image::positions, V8Image::source}) {
        const auto pages = image.pages;
        image.pages.erase(at / V8Image::page_bytes);
        image.answer = MemoryRead::unreadable;
        EXPECT_EQ(text(3), "(unreadable)") << at;
        image.answer = MemoryRead::late;
        EXPECT_EQ(text(3), "(late)") << at;
        image.pages = pages;
    }
}

TEST_F(V8Functions, NamesAreBounded) {
    image.put_string(V8Image::name, std::string(512, 'a'));
    EXPECT_EQ(std::get<V8Function>(read(V8Image::second(3, image.cookie()))).name,
              std::string(512, 'a'));
    image.put_string(V8Image::name, std::string(513, 'a'));
    EXPECT_EQ(std::get<V8Function>(read(V8Image::second(3, image.cookie()))).name,
              std::string(512, 'a') + "...");
}

// Of code in which 'one' is inlined, and in that 'two'.
class V8Code : public testing::Test {
  protected:
    static constexpr uint64_t code = V8Image::code, start = 0x7f0000004000;
    static constexpr uint64_t data = V8Image::more, literals = V8Image::more + 0x1000;
    static constexpr uint64_t inlining = V8Image::more + 0x2000, one = V8Image::more + 0x3000;
    static constexpr uint64_t two = V8Image::more + 0x4000;
    static constexpr uint32_t size = 0x200;
    static constexpr auto raw = V8Image::raw;
    V8Image image;

    V8Code() {
        image.set(code, 40, start);
        image.put(code - V8Image::tag + 52, size);
        image.set(code, 16, V8Image::positions);
        image.set(code, 8, data);
        put_array(data, {0, V8Image::integer(2), literals, 0, 0, 0, V8Image::shared, inlining});
        put_array(literals, {one + 2, two + 2, V8Image::none}); // weak
        // The first one at 22 of the function, the other one at 5 of that.
        image.set(inlining, 16, V8Image::integer(32));
        put_inlining(0, raw(22, -1), 0);
        put_inlining(1, raw(5, 0), 1);
        // From 0 on at 12 of the function; from 0x40 on at 7 of the first; from 0x80 on at 9 of the
        // other one.
        image.put_positions({{0, raw(12, -1)}, {0x40, raw(7, 0)}, {0x80, raw(9, 1)}});
    }
    void put_array(uint64_t object, std::initializer_list<uint64_t> words) {
        image.set(object, 16, V8Image::integer(static_cast<int32_t>(words.size())));
        image.put_words(object - V8Image::tag + 24, words);
    }
    void put_inlining(uint32_t number, int64_t position, int32_t function) {
        image.put(inlining - V8Image::tag + 24 + 16 * number, position);
        image.put(inlining - V8Image::tag + 32 + 16 * number, function);
    }
    std::string text(uint32_t offset, uint32_t cookie = wire_v8_code_cookie(start, size)) {
        const auto answer = read_v8_code_place(image.reader(), image.layout, code,
                                               uint64_t{offset} << 32 | cookie, V8Image::shared);
        if (const auto* const problem = std::get_if<FunctionProblem>(&answer))
            return text_of(*problem);
        const auto& place = std::get<V8CodePlace>(answer);
        std::string text;
        for (const auto& inlined : place.inlined)
            text += fmt::format("{} at {} in ",
                                inlined.shared == one   ? "one"
                                : inlined.shared == two ? "two"
                                                        : "?",
                                inlined.position);
        return text + (place.position ? fmt::format("{}", *place.position) : "?");
    }
};

TEST_F(V8Code, SaysWhatIsInlinedWhere) {
    EXPECT_EQ(text(0), "12");
    EXPECT_EQ(text(0x3f), "12");
    EXPECT_EQ(text(0x40), "one at 7 in 22");
    EXPECT_EQ(text(0x80), "two at 9 in one at 5 in 22");
    EXPECT_EQ(text(0x1ff), "two at 9 in one at 5 in 22");
    image.put_positions({});
    EXPECT_EQ(text(0x80), "?");
}

TEST_F(V8Code, ThatIsInItselfBeginsThere) {
    image.layout.walk.code_start = 0;
    image.layout.walk.code_instructions = 128;
    EXPECT_EQ(text(0), "(gone)");
    EXPECT_EQ(text(0x40, wire_v8_code_cookie(code - V8Image::tag + 128, size)), "one at 7 in 22");
}

TEST_F(V8Code, OfAnotherOneIsGone) {
    EXPECT_EQ(text(0, wire_v8_code_cookie(start + 64, size)), "(gone)");
    image.put(code - V8Image::tag + 52, size + 8);
    EXPECT_EQ(text(0), "(gone)");
    image.put(code - V8Image::tag + 52, size);
    image.reads = 0;
    (void)text(0x80);
    const size_t reads = image.reads;
    for (size_t at = 0; at < reads; at++) {
        put_inlining(1, raw(5, 0), 1);
        image.reads = 0;
        image.before = [&](size_t now) {
            if (now == at)
                put_inlining(1, raw(6, 0), 1);
        };
        const std::string seen = text(0x80);
        EXPECT_TRUE(seen == "(gone)" || seen == "two at 9 in one at 5 in 22" ||
                    seen == "two at 9 in one at 6 in 22")
            << at << ": " << seen;
        if (at == reads / 2) {
            EXPECT_EQ(seen, "(gone)");
        }
    }
}

TEST_F(V8Code, HostileOnes) {
    const auto with = [&](auto change) {
        const auto pages = image.pages;
        change();
        const std::string seen = text(0x80);
        image.pages = pages;
        return seen;
    };
    const std::string none = "(unreadable)";
    // Inlined in itself, in one that there is not, and functions that there are not.
    EXPECT_EQ(with([&] { put_inlining(0, raw(22, 0), 0); }), none);
    EXPECT_EQ(with([&] { put_inlining(0, raw(22, 2), 0); }), none);
    EXPECT_EQ(with([&] { put_inlining(0, 0, 0); }), none);
    EXPECT_EQ(with([&] { put_inlining(0, raw(22, -1), 2); }), none);
    EXPECT_EQ(with([&] { put_inlining(0, raw(22, -1), -1); }), none);
    EXPECT_EQ(with([&] { image.set(literals, 16, V8Image::integer(1)); }), none);
    EXPECT_EQ(with([&] { image.set(literals, 24, V8Image::integer(1)); }), none);
    EXPECT_EQ(with([&] { image.set(inlining, 16, V8Image::integer(31)); }), none);
    EXPECT_EQ(with([&] { image.set(inlining, 16, V8Image::integer(-1)); }), none);
    EXPECT_EQ(with([&] { image.set(data, 16, V8Image::integer(7)); }), none);
    EXPECT_EQ(with([&] { image.set(data, 72, one); }), none); // another function's
    EXPECT_EQ(with([&] { image.set(data, 40, V8Image::integer(1)); }), none);
    EXPECT_EQ(with([&] { image.set(data, 80, V8Image::integer(1)); }), none);
    EXPECT_EQ(with([&] { image.set(code, 8, V8Image::integer(0)); }), none);
    EXPECT_EQ(with([&] { image.set(code, 16, 0x666001); }), none);
    // Of no size that a table has.
    EXPECT_EQ(with([&] { image.set(V8Image::positions, 16, V8Image::integer(-1)); }), "?");
    EXPECT_EQ(with([&] { image.set(V8Image::positions, 16, V8Image::integer((4 << 20) + 1)); }),
              "?");
    EXPECT_EQ(with([] {}), "two at 9 in one at 5 in 22");
    image.answer = MemoryRead::late;
    EXPECT_EQ(with([&] { image.set(code, 16, 0x666001); }), "(late)");
}

TEST_F(V8Functions, ThatAreInlinedHaveTheirPlaceFromTheCode) {
    EXPECT_EQ(text_of(read_v8_inlined(image.reader(), image.layout, V8Image::shared, 25)),
              "pay /srv/till.js 10-30 at 25");
    // What is no function is none, whatever it looks like.
    image.put_object(V8Image::shared, 302);
    EXPECT_EQ(text_of(read_v8_inlined(image.reader(), image.layout, V8Image::shared, 25)),
              "(gone)");
    EXPECT_EQ(text(3), "(gone)");
}

} // namespace
} // namespace auger
